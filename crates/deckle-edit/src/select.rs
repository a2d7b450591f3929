//! Which blocks a predicate selects.
//!
//! A predicate is evaluated against every block. `$section` and the containers select whole trees: the root and all below it. The result is a
//! set of blocks, each selected *alone* or *with its tree*; a block is selected with its tree when every clause says so, so that a clause that
//! looks at a block's own words never widens an edit to what lies below it.

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

/// Returns the blocks that a predicate selects, in document order.
#[must_use]
pub fn select(tree: &Tree, ids: &Ids, key: &DocKey, predicate: &Predicate) -> Vec<Selected> {
    search(tree, ids, key, predicate, false)
}

/// Returns the blocks for which a predicate holds themselves: of `$section` and the containers the root alone, with its tree.
#[must_use]
pub fn roots(tree: &Tree, ids: &Ids, key: &DocKey, predicate: &Predicate) -> Vec<Selected> {
    search(tree, ids, key, predicate, true)
}

fn search(tree: &Tree, ids: &Ids, key: &DocKey, predicate: &Predicate, roots: bool) -> Vec<Selected> {
    let matcher = Matcher { tree, ids, key };
    let compiled = matcher.compile(predicate, roots);
    let mut found = Vec::new();
    let root = tree.root();
    if compiled.names_document() && compiled.hold(&matcher, &root) != Hold::No {
        found.push(Selected { block: root.index(), tree: true });
    }
    for block in tree.blocks().filter(addressable) {
        match compiled.hold(&matcher, &block) {
            Hold::No => {}
            Hold::Node => found.push(Selected { block: block.index(), tree: false }),
            Hold::Tree => found.push(Selected { block: block.index(), tree: true }),
        }
    }
    found
}

/// Blocks that a predicate can select: not the front matter, nor the paragraph that is an item's own text.
pub(crate) fn addressable(block: &Block<'_>) -> bool {
    !matches!(block.kind(), Kind::FrontMatter { .. }) && !folds_into_item(block)
}

/// The bytes that a selected block takes with it.
pub(crate) fn extent(block: &Block<'_>, whole: bool) -> Range<usize> {
    if whole && block.heading_level().is_some() { block.span().start..block.section_end() } else { block.span() }
}

/// What a selected block takes with it, by position: the block, and after it everything below.
fn below(block: &Block<'_>) -> Range<u32> {
    let index = block.index().0;
    let last = if block.heading_level().is_some() { block.section().last().unwrap_or(*block) } else { *block };
    index..last.index().0 + 1 + last.descendants().len() as u32
}

/// Whether a block is selected, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    No,
    /// The block alone.
    Node,
    /// The block with all below it.
    Tree,
}

impl Hold {
    fn node(holds: bool) -> Self {
        if holds { Self::Node } else { Self::No }
    }

    fn tree(holds: bool) -> Self {
        if holds { Self::Tree } else { Self::No }
    }
}

struct Matcher<'t> {
    tree: &'t Tree,
    ids: &'t Ids,
    key: &'t DocKey,
}

/// A predicate with its scopes worked out for one document.
struct Compiled<'p> {
    clauses: Vec<Test<'p>>,
    /// Whether trees are looked at by their roots alone.
    roots: bool,
}

enum Test<'p> {
    Plain(&'p Clause),
    Type(&'static str, Compiled<'p>),
    /// Trees by their roots.
    Roots(Option<&'static str>, Compiled<'p>),
    /// Blocks inside trees, by position; sorted and apart.
    Trees(Vec<Range<u32>>),
    /// Anything below the top level.
    Nested,
    Contains(Vec<u32>),
    And(Vec<Compiled<'p>>),
    Or(Vec<Compiled<'p>>),
    Nor(Vec<Compiled<'p>>),
}

impl<'t> Matcher<'t> {
    fn compile<'p>(&self, predicate: &'p Predicate, roots: bool) -> Compiled<'p> {
        Compiled { clauses: predicate.clauses.iter().map(|clause| self.test(clause, roots)).collect(), roots }
    }

    fn test<'p>(&self, clause: &'p Clause, roots: bool) -> Test<'p> {
        let all = |list: &'p [Predicate]| list.iter().map(|one| self.compile(one, roots)).collect();
        match clause {
            Clause::Type(name, inner) => Test::Type(name, self.compile(inner, true)),
            Clause::Section(inner) if roots => Test::Roots(None, self.compile(inner, true)),
            Clause::Tree(name, inner) if roots => Test::Roots(Some(name), self.compile(inner, true)),
            Clause::Section(inner) => Test::Trees(self.trees(None, inner)),
            Clause::Tree(name, inner) => Test::Trees(self.trees(Some(name), inner)),
            Clause::Within(inner) if inner.clauses.is_empty() => Test::Nested,
            Clause::Within(inner) => {
                let compiled = self.compile(inner, true);
                Test::Trees(self.ranges(|block| compiled.hold(self, block) != Hold::No, |range| range.start + 1..range.end))
            }
            Clause::Contains(inner) => {
                let compiled = self.compile(inner, true);
                let inside = self.tree.blocks().filter(|block| addressable(block) && compiled.hold(self, block) != Hold::No);
                Test::Contains(inside.map(|block| block.index().0).collect())
            }
            Clause::And(list) => Test::And(all(list)),
            Clause::Or(list) => Test::Or(all(list)),
            Clause::Nor(list) => Test::Nor(all(list)),
            plain => Test::Plain(plain),
        }
    }

    /// The trees whose roots are sections (or blocks of a type) for which the predicate holds.
    fn trees(&self, name: Option<&'static str>, inner: &Predicate) -> Vec<Range<u32>> {
        let compiled = self.compile(inner, true);
        self.ranges(|block| is_root(block, name) && compiled.hold(self, block) != Hold::No, |range| range)
    }

    fn ranges(&self, wanted: impl Fn(&Block<'_>) -> bool, part: impl Fn(Range<u32>) -> Range<u32>) -> Vec<Range<u32>> {
        let mut found: Vec<Range<u32>> = Vec::new();
        for block in self.tree.blocks().filter(|block| addressable(block) && wanted(block)) {
            let range = part(below(&block));
            match found.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => found.push(range),
            }
        }
        found
    }
}

/// Whether a block is a section's heading, or of a type.
fn is_root(block: &Block<'_>, name: Option<&'static str>) -> bool {
    match name {
        Some(name) => is_type(block, name),
        None => block.heading_level().is_some(),
    }
}

impl Compiled<'_> {
    /// The document itself is selected by name alone.
    fn names_document(&self) -> bool {
        self.clauses.iter().any(|test| match test {
            Test::Type(name, _) => *name == "document",
            Test::And(all) | Test::Or(all) => all.iter().any(Self::names_document),
            _ => false,
        })
    }

    fn hold(&self, matcher: &Matcher<'_>, block: &Block<'_>) -> Hold {
        if self.roots {
            // A root is one when any clause says so.
            let mut found = Hold::Node;
            for test in &self.clauses {
                match test.hold(matcher, block) {
                    Hold::No => return Hold::No,
                    other => found = found.max(other),
                }
            }
            return found;
        }
        // With its tree only when every clause agrees.
        let mut found = if self.clauses.is_empty() { Hold::Node } else { Hold::Tree };
        for test in &self.clauses {
            found = found.min(test.hold(matcher, block));
            if found == Hold::No {
                break;
            }
        }
        found
    }
}

impl Test<'_> {
    fn hold(&self, matcher: &Matcher<'_>, block: &Block<'_>) -> Hold {
        let index = block.index().0;
        match self {
            Self::Plain(clause) => Hold::node(plain(clause, matcher, block)),
            Self::Type(name, inner) => Hold::node(is_type(block, name) && inner.hold(matcher, block) != Hold::No),
            Self::Roots(name, inner) => Hold::tree(is_root(block, *name) && inner.hold(matcher, block) != Hold::No),
            Self::Trees(ranges) => {
                let at = ranges.partition_point(|range| range.end <= index);
                Hold::tree(ranges.get(at).is_some_and(|range| range.contains(&index)))
            }
            Self::Nested => Hold::tree(
                block.parent().is_some_and(|parent| parent.kind() != Kind::Document)
                    || !crate::blocks::enclosing_headings(block).is_empty(),
            ),
            Self::Contains(inside) => {
                let range = below(block);
                let at = inside.partition_point(|other| *other <= index);
                Hold::node(inside.get(at).is_some_and(|other| range.contains(other)))
            }
            Self::And(all) => all.iter().map(|one| one.hold(matcher, block)).min().unwrap_or(Hold::Node),
            Self::Or(all) => all.iter().map(|one| one.hold(matcher, block)).max().unwrap_or(Hold::No),
            Self::Nor(all) => Hold::node(all.iter().all(|one| one.hold(matcher, block) == Hold::No)),
        }
    }
}

pub(crate) fn is_type(block: &Block<'_>, name: &str) -> bool {
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
        Clause::Text(TextTest::Contains(text)) => {
            crate::blocks::own_range(block).is_some() && contains_folded(own_text(block), text)
        }
        Clause::Text(TextTest::Is(text)) => {
            // The line end of code belongs to its fence.
            let own = own_text(block);
            let own = if matches!(block.kind(), Kind::Code { .. }) { own.trim_end_matches(['\n', '\r']) } else { own };
            same_folded(own, text) || block.heading_level().is_some() && same_folded(&block.plain_text(), text)
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

/// Whether a text is in another, whatever the case of either.
fn contains_folded(own: &str, wanted: &str) -> bool {
    if own.is_ascii() && wanted.is_ascii() {
        let (own, wanted) = (own.as_bytes(), wanted.as_bytes());
        return wanted.is_empty() || own.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted));
    }
    own.to_lowercase().contains(&wanted.to_lowercase())
}

fn same_folded(own: &str, wanted: &str) -> bool {
    own == wanted || own.eq_ignore_ascii_case(wanted) || !own.is_ascii() && own.to_lowercase() == wanted.to_lowercase()
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
