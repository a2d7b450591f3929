//! Extract: a section becomes a document, and a link takes its place.

use std::collections::BTreeSet;
use std::ops::Range;

use deckle_doc::{Block, DocKey, InlineKind, Tree};

use super::recipe::{Piece, Recipe};
use super::{Plan, engine, levels};
use crate::corpus::{Corpus, Document};
use crate::error::PlanError;
use crate::facts::Facts;
use crate::link::destination::{Spelling, relative};
use crate::link::{LinkKind, Target};
use crate::names::fold;
use crate::path;

/// How the link that takes a section's place is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkStyle {
    /// As most links of the document, else of the corpus, are.
    #[default]
    Habit,
    /// `[[key]]`
    Wikilink,
    /// `![[key]]`
    Embed,
    /// `[Title](path.md)`
    Markdown,
}

/// What is to be extracted, and to where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The document that holds the section.
    pub from: DocKey,
    /// The section: its heading's words, its slug, or the headings to it divided by ` › `.
    pub section: String,
    /// The new document.
    pub to: DocKey,
    /// The link that takes its place.
    pub style: LinkStyle,
}

impl Corpus {
    /// Plans to make a section a document of its own. Its heading becomes the first level, the definitions that it uses come
    /// along, links to its headings find them in the new document, and a link takes its place.
    ///
    /// # Errors
    /// When there is no such document or section, several sections answer, the new key is taken, or a link can't keep its meaning.
    pub fn extract(&self, what: &Extract) -> Result<Plan, PlanError> {
        let (from, to) = (&what.from, &what.to);
        let document = self.get(from).ok_or_else(|| self.not_found(from))?;
        if self.names().find(to.as_str()).is_some() {
            return Err(PlanError::Exists { key: to.clone() });
        }
        let tree = document.tree().map_err(|limit| PlanError::Limit { key: from.clone(), limit: *limit })?;
        let block = section(from, tree, document.facts(), &what.section)?;
        let text = tree.source();
        let start = block.span().start;
        let end = block.section().last().unwrap_or(block).content().end;
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };

        let lift = i32::from(block.heading_level().unwrap_or(1)) - 1;
        let shape = levels::shift(from, tree, start..end, -lift)?;
        let mut new = vec![Piece::Source { key: from.clone(), range: start..end, shape }];
        for range in definitions(document, tree, std::slice::from_ref(&(start..end))) {
            new.push(Piece::Text(format!("{line}{line}")));
            new.push(Piece::Source { key: from.clone(), range, shape: Vec::new() });
        }
        new.push(Piece::Text(line.to_owned()));

        let rest = [0..start, end..text.len()];
        let mut host = vec![Piece::Source { key: from.clone(), range: 0..start, shape: Vec::new() }];
        let opens = levels::blank_before(&text[..start]);
        let closes = levels::blank_after(&text[end..]);
        let link = self.link_to(document, from, to, &block.plain_text(), what.style);
        host.push(Piece::Text(format!("{}{link}{}", if opens { "" } else { line }, if closes { "" } else { line })));
        host.push(Piece::Source { key: from.clone(), range: end..text.len(), shape: Vec::new() });
        let mut ended = text.ends_with('\n') && end < text.len();
        for range in definitions(document, tree, &rest) {
            host.push(Piece::Text(if ended { line.to_owned() } else { format!("{line}{line}") }));
            host.push(Piece::Source { key: from.clone(), range, shape: Vec::new() });
            host.push(Piece::Text(line.to_owned()));
            ended = true;
        }

        let mut recipe = Recipe::default();
        recipe.documents.insert(to.clone(), new);
        recipe.documents.insert(from.clone(), host);
        let plan = engine::plan(self, &recipe)?;
        if !plan.after.references(from).contains(to) {
            let meant = format!("`{to}`");
            return Err(PlanError::Unwritable { key: from.clone(), written: link, meant });
        }
        Ok(plan)
    }

    /// Writes a link to a document that is not there yet.
    fn link_to(&self, document: &Document, from: &DocKey, to: &DocKey, title: &str, style: LinkStyle) -> String {
        let style = if style == LinkStyle::Habit { self.style(from) } else { style };
        if style == LinkStyle::Markdown {
            let ending =
                if path::ENDINGS.iter().any(|ending| document.text().contains(&format!("{ending})"))) || !self.is_bare(from) {
                    path::ENDINGS[0]
                } else {
                    ""
                };
            let way = relative(from.folder().unwrap_or_default(), to.as_str());
            let destination = Spelling::of("", false, false).write(&format!("{way}{ending}"));
            let mut text = String::with_capacity(title.len());
            for c in title.chars() {
                if matches!(c, '\\' | '[' | ']' | '*' | '_' | '`' | '<' | '&' | '$' | '~' | '!' | ':') {
                    text.push('\\');
                }
                text.push(c);
            }
            return format!("[{text}]({destination})");
        }
        let alone = self.names().ending_in(to.name()).is_empty();
        let mark = if style == LinkStyle::Embed { "!" } else { "" };
        format!("{mark}[[{}]]", if alone { to.name() } else { to.as_str() })
    }

    /// Whether links to documents, of this one or else of all, are wikilinks or paths.
    fn style(&self, from: &DocKey) -> LinkStyle {
        let count = |key: &DocKey| {
            let mut counts = (0, 0);
            for reference in self.outgoing(key).into_iter().filter(|reference| reference.link.kind.is_edge()) {
                match reference.target {
                    Target::Document(target) if target != key && reference.link.kind.is_wiki() => counts.0 += 1,
                    Target::Document(target) if target != key => counts.1 += 1,
                    _ => {}
                }
            }
            counts
        };
        let mut counts = count(from);
        if counts.0 == counts.1 {
            counts = self.keys().map(count).fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        }
        if counts.0 > counts.1 { LinkStyle::Wikilink } else { LinkStyle::Markdown }
    }

    /// Whether the paths to documents that this document writes have no ending.
    fn is_bare(&self, from: &DocKey) -> bool {
        let Some(document) = self.get(from) else { return false };
        let paths = self.outgoing(from).into_iter().filter(|reference| {
            matches!(reference.link.kind, LinkKind::Inline | LinkKind::Definition) && !reference.link.path.is_empty()
        });
        let mut paths = paths.filter(|reference| reference.target.document().is_some()).peekable();
        paths.peek().is_some() && paths.all(|reference| path::ending(reference.link.path_text(document.text())).is_none())
    }
}

/// Returns the heading of the one section of that name.
fn section<'t>(key: &DocKey, tree: &'t Tree, facts: &Facts, name: &str) -> Result<Block<'t>, PlanError> {
    let wanted = fold(name.trim());
    let mut path: Vec<(u8, &str)> = Vec::new();
    let mut all = Vec::new();
    for heading in &facts.headings {
        // A section inside a quote or a list has no end that a link could take the place of.
        let block = tree.block(heading.block);
        if block.parent() != Some(tree.root()) {
            continue;
        }
        path.retain(|(above, _)| *above < heading.level);
        path.push((heading.level, &heading.text));
        let names = path.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(" › ");
        all.push((names, heading, block));
    }
    let by_path: Vec<_> = all.iter().filter(|(path, _, _)| fold(path) == wanted).collect();
    let by_slug = || all.iter().filter(|(_, heading, _)| heading.slug == name.trim()).collect::<Vec<_>>();
    let by_text = || all.iter().filter(|(_, heading, _)| fold(&heading.text) == wanted).collect::<Vec<_>>();
    let mut found = by_path;
    if found.is_empty() {
        found = by_text();
    }
    if found.is_empty() {
        found = by_slug();
    }
    match found.as_slice() {
        [(_, _, block)] => Ok(*block),
        found => Err(PlanError::Section {
            key: key.clone(),
            section: name.to_owned(),
            found: found.iter().map(|(path, heading, _)| format!("{path} (#{})", heading.slug)).collect(),
            all: all.iter().map(|(path, _, _)| path.clone()).collect(),
        }),
    }
}

/// Returns the definitions of links and footnotes that text in `ranges` uses and that stand outside of them.
fn definitions(document: &Document, tree: &Tree, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let facts = document.facts();
    let mut taken: Vec<Range<usize>> = ranges.to_vec();
    let mut found: BTreeSet<(usize, usize)> = BTreeSet::new();
    loop {
        let within = |at: usize| taken.iter().any(|range| range.contains(&at));
        let mut more: BTreeSet<(usize, usize)> = BTreeSet::new();
        for link in facts.links.iter().filter(|link| !link.kind.owns_destination() && within(link.span.start)) {
            let definition = facts.links.iter().find(|other| other.kind == LinkKind::Definition && other.path == link.path);
            more.extend(
                definition
                    .filter(|definition| !within(definition.span.start))
                    .map(|definition| (definition.span.start, definition.span.end)),
            );
        }
        for block in
            tree.blocks().filter(|block| block.has_inlines() && within(block.content().start) && block.text().contains("[^"))
        {
            for node in block.inlines() {
                let InlineKind::FootnoteReference { label } = node.kind else { continue };
                let note = tree.footnote(label.of(tree.source())).map(|note| note.content());
                more.extend(note.filter(|note| !within(note.start)).map(|note| (note.start, note.end)));
            }
        }
        if more.is_empty() {
            return found.into_iter().map(|(start, end)| start..end).collect();
        }
        taken.extend(more.iter().map(|(start, end)| *start..*end));
        found.extend(more);
    }
}
