//! Which blocks a predicate selects.

use std::ops::Range;

use deckle_doc::Ids;
use deckle_doc::{Block, BlockIndex, DocKey, Kind, Tree};

use crate::blocks::{folds_into_item, own_text, type_name};
use crate::language::{Clause, Predicate, TextTest};
use crate::links;

/// A selected block, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The block.
    pub block: BlockIndex,
    /// Whether what is below it is selected with it.
    pub tree: bool,
}

/// Returns the blocks for which a predicate holds, in document order.
#[must_use]
pub fn select(tree: &Tree, ids: &Ids, key: &DocKey, predicate: &Predicate) -> Vec<Selected> {
    let matcher = Matcher { tree, ids, key };
    let compiled = matcher.compile(predicate);
    let whole = predicate.selects_trees();
    std::iter::once(tree.root())
        .chain(tree.blocks())
        .filter(|block| addressable(block) && compiled.holds(&matcher, block))
        .map(|block| Selected { block: block.index(), tree: whole || block.kind() == Kind::Document })
        .collect()
}

/// Blocks that a predicate can select: not the front matter, nor the paragraph that is an item's own text. The document only by name.
fn addressable(block: &Block<'_>) -> bool {
    !matches!(block.kind(), Kind::FrontMatter { .. }) && !folds_into_item(block)
}

/// The bytes that a selected block takes with it.
pub(crate) fn extent(block: &Block<'_>, whole: bool) -> Range<usize> {
    if !whole {
        return match block.kind() {
            Kind::Item { .. }
            | Kind::Quote
            | Kind::List { .. }
            | Kind::Container(_)
            | Kind::Admonition { .. }
            | Kind::FootnoteDefinition { .. } => block.span(),
            _ => block.span(),
        };
    }
    if block.heading_level().is_some() { block.span().start..block.section_end() } else { block.span() }
}

struct Matcher<'t> {
    tree: &'t Tree,
    ids: &'t Ids,
    key: &'t DocKey,
}

/// A predicate with its scopes worked out for one document.
struct Compiled<'p> {
    clauses: Vec<Test<'p>>,
}

enum Test<'p> {
    Plain(&'p Clause),
    Type(&'static str, Compiled<'p>),
    Section(Compiled<'p>),
    /// Interiors: byte ranges, and whether a block that starts the range is inside.
    Within(Vec<Range<usize>>),
    /// Anything below the top level.
    Nested,
    Contains(Vec<usize>),
    And(Vec<Compiled<'p>>),
    Or(Vec<Compiled<'p>>),
    Nor(Vec<Compiled<'p>>),
}

impl<'t> Matcher<'t> {
    fn compile<'p>(&self, predicate: &'p Predicate) -> Compiled<'p> {
        Compiled { clauses: predicate.clauses.iter().map(|clause| self.test(clause)).collect() }
    }

    fn test<'p>(&self, clause: &'p Clause) -> Test<'p> {
        let all = |list: &'p [Predicate]| list.iter().map(|one| self.compile(one)).collect();
        match clause {
            Clause::Type(name, inner) | Clause::Tree(name, inner) => Test::Type(name, self.compile(inner)),
            Clause::Section(inner) => Test::Section(self.compile(inner)),
            Clause::Within(inner) if inner.clauses.is_empty() => Test::Nested,
            Clause::Within(inner) => {
                let compiled = self.compile(inner);
                let roots = self.tree.blocks().filter(|block| addressable(block) && compiled.holds(self, block));
                Test::Within(roots.map(|root| interior(&root)).collect())
            }
            Clause::Contains(inner) => {
                let compiled = self.compile(inner);
                let inside = self.tree.blocks().filter(|block| addressable(block) && compiled.holds(self, block));
                Test::Contains(inside.map(|block| block.content().start).collect())
            }
            Clause::And(list) => Test::And(all(list)),
            Clause::Or(list) => Test::Or(all(list)),
            Clause::Nor(list) => Test::Nor(all(list)),
            plain => Test::Plain(plain),
        }
    }
}

/// What is inside a root: a section without its heading, a container without its own text.
fn interior(root: &Block<'_>) -> Range<usize> {
    if root.heading_level().is_some() {
        return root.span().end..root.section_end();
    }
    match root.first_child() {
        // An item's own text is the item.
        Some(first) if matches!(root.kind(), Kind::Item { .. }) => first.content().start + 1..root.span().end,
        Some(first) => first.content().start..root.span().end,
        None => root.span().end..root.span().end,
    }
}

impl Compiled<'_> {
    fn holds(&self, matcher: &Matcher<'_>, block: &Block<'_>) -> bool {
        // Without a clause everything matches but the document itself.
        if block.kind() == Kind::Document {
            return self.clauses.iter().any(|test| matches!(test, Test::Type("document", _)));
        }
        self.clauses.iter().all(|test| test.holds(matcher, block))
    }
}

impl Test<'_> {
    fn holds(&self, matcher: &Matcher<'_>, block: &Block<'_>) -> bool {
        match self {
            Self::Plain(clause) => plain(clause, matcher, block),
            Self::Type(name, inner) => is_type(block, name) && inner.clauses.iter().all(|test| test.holds(matcher, block)),
            Self::Section(inner) => {
                block.heading_level().is_some() && inner.clauses.iter().all(|test| test.holds(matcher, block))
            }
            Self::Within(ranges) => ranges.iter().any(|range| range.contains(&block.content().start)),
            Self::Nested => {
                block.parent().is_some_and(|parent| parent.kind() != Kind::Document)
                    || !crate::blocks::enclosing_headings(block).is_empty()
            }
            Self::Contains(starts) => {
                let range = interior(block);
                starts.iter().any(|start| range.contains(start))
            }
            Self::And(all) => all.iter().all(|one| one.holds(matcher, block)),
            Self::Or(all) => all.iter().any(|one| one.holds(matcher, block)),
            Self::Nor(all) => !all.iter().any(|one| one.holds(matcher, block)),
        }
    }
}

fn is_type(block: &Block<'_>, name: &str) -> bool {
    let actual = type_name(block);
    actual == name
        // The names that the language shares with IWE are wider than ours: a paragraph of math or one image is a paragraph there.
        || name == "paragraph" && matches!(actual, "math" | "image")
        || name == "quote" && actual == "callout" && block.kind() == Kind::Quote
        || name == "directive" && matches!(block.kind(), Kind::Container(_) | Kind::Leaf(_))
}

fn plain(clause: &Clause, matcher: &Matcher<'_>, block: &Block<'_>) -> bool {
    let source = matcher.tree.source();
    match clause {
        Clause::Text(TextTest::Contains(text)) => own_text(block).to_lowercase().contains(&text.to_lowercase()),
        Clause::Text(TextTest::Is(text)) => {
            let own = own_text(block);
            own.to_lowercase() == text.to_lowercase()
                || block.heading_level().is_some() && block.plain_text().to_lowercase() == text.to_lowercase()
        }
        Clause::Matches(pattern) => crate::blocks::own_range(block).is_some() && pattern.is_match(own_text(block)),
        Clause::References(key) => links::block_links(block).any(|link| link.points_to(matcher.key, key)),
        Clause::Id(wanted) => matcher.ids.id(block.index()).is_some_and(|id| wanted.iter().any(|one| one == id)),
        Clause::Checked(state) => block.kind() == Kind::Item { task: Some(*state) },
        Clause::Attr(wanted) => wanted.iter().all(|(name, value)| attribute(block, name).is_some_and(|found| found == *value)),
        Clause::Name(wanted) => name(block).is_some_and(|name| name.eq_ignore_ascii_case(wanted)),
        Clause::Lang(wanted) => match block.kind() {
            Kind::Code { info, .. } => info.of(source).split([' ', '\t', '{', ',']).next() == Some(wanted.as_str()),
            _ => false,
        },
        Clause::Level(level) => block.heading_level().map(u64::from) == Some(*level),
        Clause::Column(head) => column(block, head),
        _ => false,
    }
}

/// The name of a directive or callout.
pub(crate) fn name<'t>(block: &Block<'t>) -> Option<&'t str> {
    let source = block.tree().source();
    match block.kind() {
        Kind::Container(directive) | Kind::Leaf(directive) => Some(directive.name.of(source)),
        Kind::Admonition { name, .. } => Some(name.of(source)),
        Kind::Quote => block.callout().map(|callout| callout.name.of(source)),
        _ => None,
    }
}

/// The value of a directive's attribute: `name=value`, `name="value"`, `#id`, `.class`, or a bare name, which is `true`.
pub(crate) fn attribute(block: &Block<'_>, wanted: &str) -> Option<String> {
    let (Kind::Container(directive) | Kind::Leaf(directive)) = block.kind() else { return None };
    let attributes = directive.attributes?.of(block.tree().source());
    crate::ops::attributes::read(attributes)
        .into_iter()
        .find(|attribute| attribute.name == wanted)
        .map(|attribute| attribute.value)
}

fn column(block: &Block<'_>, wanted: &str) -> bool {
    if block.kind() != Kind::Cell {
        return false;
    }
    let Some(row) = block.parent() else { return false };
    let place = row.children().position(|cell| cell == *block).unwrap_or(0);
    if wanted.parse::<usize>().is_ok_and(|number| number == place + 1) {
        return true;
    }
    let head = row.parent().and_then(|table| table.first_child()).and_then(|head| head.children().nth(place));
    head.is_some_and(|head| head.plain_text().eq_ignore_ascii_case(wanted))
}
