//! What is known of a document without its tree: names, headings, tags, links.

use std::collections::HashMap;
use std::ops::Range;

use deckle_doc::{BlockIndex, Kind, Tree};

use crate::link::{Link, links};
use crate::meta::Meta;

/// A heading and what it is called in links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The words, without markup.
    pub text: String,
    /// The fragment that names it: as GitHub makes it, or the `{#id}` that its author gave.
    pub slug: String,
    /// The block.
    pub block: BlockIndex,
    /// The bytes of its section, the heading's line included.
    pub section: Range<usize>,
}

/// The facts of one document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The front matter's title, else the first heading of level 1, else the first heading.
    pub title: Option<String>,
    /// Other names that wikilinks may use.
    pub aliases: Vec<String>,
    /// Tags of the front matter and `#tags` of the text, without `#`, in order, each once.
    pub tags: Vec<String>,
    /// The top-level keys of the front matter, in order, with their value as written.
    pub fields: Vec<(String, String)>,
    /// The headings in order.
    pub headings: Vec<Heading>,
    /// The links in order.
    pub links: Vec<Link>,
}

impl Facts {
    /// Reads the facts of a document.
    #[must_use]
    pub fn of(tree: &Tree) -> Facts {
        let meta = Meta::of(tree);
        let headings = headings(tree);
        let first = headings.iter().find(|heading| heading.level == 1).or(headings.first());
        let title = meta.title.or_else(|| first.map(|heading| heading.text.clone()));
        let mut tags = meta.tags;
        text_tags(tree, &mut tags);
        Facts { title, aliases: meta.aliases, tags, fields: meta.fields, headings, links: links(tree) }
    }

    /// Returns the names, besides the key, by which a wikilink may mean the document.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.title.iter().chain(&self.aliases).map(String::as_str)
    }

    /// Returns the heading that a fragment names: its slug, or its words as wikilinks write them.
    #[must_use]
    pub fn heading(&self, fragment: &str) -> Option<&Heading> {
        self.heading_index(fragment).and_then(|at| self.headings.get(at))
    }

    pub(crate) fn heading_index(&self, fragment: &str) -> Option<usize> {
        let last = fragment.rsplit('#').next().unwrap_or(fragment);
        let decoded = crate::link::destination::decoded(last);
        let slug = slug(&decoded);
        let by_slug = self.headings.iter().position(|heading| heading.slug == *decoded);
        let by_words = || self.headings.iter().position(|heading| heading.text.eq_ignore_ascii_case(&decoded));
        by_slug.or_else(by_words).or_else(|| self.headings.iter().position(|heading| heading.slug == slug))
    }
}

fn headings(tree: &Tree) -> Vec<Heading> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::new();
    for block in tree.blocks() {
        let Some(level) = block.heading_level() else { continue };
        let raw = tree.source().get(block.inner()).unwrap_or_default();
        let mut text = block.plain_text();
        let given = given_id(raw);
        if given.is_some()
            && let Some(open) = text.rfind("{#")
        {
            text.truncate(text[..open].trim_end().len());
        }
        let slug = match given {
            Some(id) => id.to_owned(),
            None => unique(slug(&text), &mut seen),
        };
        out.push(Heading { level, text, slug, block: block.index(), section: block.span().start..block.section_end() });
    }
    out
}

/// Returns the `id` of a heading that ends in `{#id}`.
fn given_id(raw: &str) -> Option<&str> {
    let (_, attributes) = raw.trim_end().strip_suffix('}')?.rsplit_once("{#")?;
    let id = attributes.split_whitespace().next()?;
    (!id.contains(['{', '}'])).then_some(id)
}

/// Returns the fragment that GitHub makes of a heading's words.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            ' ' => out.push('-'),
            '-' | '_' => out.push(c),
            c if c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ => {}
        }
    }
    out
}

fn unique(slug: String, seen: &mut HashMap<String, usize>) -> String {
    let Some(mut count) = seen.get(&slug).copied() else {
        seen.insert(slug.clone(), 0);
        return slug;
    };
    let name = loop {
        count += 1;
        let name = format!("{slug}-{count}");
        if !seen.contains_key(&name) {
            break name;
        }
    };
    seen.insert(slug, count);
    seen.insert(name.clone(), 0);
    name
}

/// Adds the `#tags` of running text: a `#` after a blank, then letters, of which one at least is no digit.
fn text_tags(tree: &Tree, tags: &mut Vec<String>) {
    for block in tree.blocks() {
        if !matches!(block.kind(), Kind::Paragraph | Kind::Cell) {
            continue;
        }
        let text = block.text();
        let bytes = text.as_bytes();
        for at in memchr::memchr_iter(b'#', bytes) {
            let opens = at == 0 || bytes.get(at - 1).is_some_and(u8::is_ascii_whitespace);
            if !opens {
                continue;
            }
            let rest = &text[at + 1..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '/'))).unwrap_or(rest.len());
            let tag = rest[..end].trim_end_matches(['/', '-']);
            if tag.chars().any(|c| !c.is_ascii_digit()) && !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deckle_doc::Dialect;

    #[test]
    fn slugs_are_githubs() {
        for (text, want) in [
            ("Hello, World!", "hello-world"),
            ("a  b", "a--b"),
            ("snake_case & `x.y`", "snake_case--xy"),
            ("Überblick №1", "überblick-1"),
            ("日本語 見出し", "日本語-見出し"),
        ] {
            assert_eq!(slug(text), want);
        }
    }

    #[test]
    fn equal_headings_are_numbered_and_given_ids_kept() {
        let tree = Tree::parse("# A\n\n## A\n\n## A-1\n\n### A\n\n## Über {#about}\n", Dialect::Generic).unwrap();
        let facts = Facts::of(&tree);
        let slugs: Vec<&str> = facts.headings.iter().map(|heading| heading.slug.as_str()).collect();
        assert_eq!(slugs, ["a", "a-1", "a-1-1", "a-2", "about"]);
        assert_eq!(facts.headings[4].text, "Über");
        assert_eq!(facts.heading("Über").map(|heading| heading.level), Some(2));
    }
}
