//! A document as its diff and its merge see it: nodes in preorder, and *atoms*, the runs of bytes that are compared and moved
//! as one. A paragraph is an atom; a callout has one for its first line and one for its last; an item one for its marker and
//! one for its check box; front matter one for each key. What lies between two atoms is a *gap*: blanks, line ends and the `>`
//! of quotes, nothing else. So atoms and gaps together are the document, byte for byte.

use std::ops::Range;

use deckle_doc::{Block, BlockIndex, Ids, Kind, Tree};

use super::entries;

/// One version of a document.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Its blocks.
    pub tree: &'a Tree,
    /// Their ids.
    pub ids: &'a Ids,
}

/// What a node is. Two nodes are compared only when this is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sort {
    Document,
    FrontMatter,
    Entry,
    Heading,
    Paragraph,
    Quote,
    List,
    Item,
    Code,
    Html,
    Divider,
    Table,
    Row,
    Delimiter,
    Footnote,
    Definition,
    Container,
    Leaf,
    Math,
    Callout,
    Opaque,
}

impl Sort {
    fn of(kind: Kind) -> Sort {
        match kind {
            Kind::Document => Sort::Document,
            Kind::FrontMatter { .. } => Sort::FrontMatter,
            Kind::Heading { .. } => Sort::Heading,
            Kind::Paragraph => Sort::Paragraph,
            Kind::Quote => Sort::Quote,
            Kind::List { .. } => Sort::List,
            Kind::Item { .. } => Sort::Item,
            Kind::Code { .. } => Sort::Code,
            Kind::Html => Sort::Html,
            Kind::Break => Sort::Divider,
            Kind::Table { .. } => Sort::Table,
            Kind::Row { .. } | Kind::Cell => Sort::Row,
            Kind::FootnoteDefinition { .. } => Sort::Footnote,
            Kind::LinkDefinition { .. } => Sort::Definition,
            Kind::Container(_) => Sort::Container,
            Kind::Leaf(_) => Sort::Leaf,
            Kind::Math => Sort::Math,
            Kind::Admonition { .. } => Sort::Callout,
            Kind::Opaque { .. } => Sort::Opaque,
        }
    }

    /// Names it for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sort::Document => "document",
            Sort::FrontMatter => "front matter",
            Sort::Entry => "front matter key",
            Sort::Heading => "heading",
            Sort::Paragraph => "paragraph",
            Sort::Quote => "quote",
            Sort::List => "list",
            Sort::Item => "item",
            Sort::Code => "code",
            Sort::Html => "html",
            Sort::Divider => "divider",
            Sort::Table => "table",
            Sort::Row => "row",
            Sort::Delimiter => "table delimiter",
            Sort::Footnote => "footnote",
            Sort::Definition => "link definition",
            Sort::Container => "container",
            Sort::Leaf => "directive",
            Sort::Math => "math",
            Sort::Callout => "callout",
            Sort::Opaque => "opaque",
        }
    }

    /// Whether its parts are nodes of their own.
    fn is_opened(self) -> bool {
        matches!(self, Sort::Quote | Sort::List | Sort::Item | Sort::Table | Sort::Container | Sort::Callout | Sort::Footnote)
    }
}

/// Which part of its node an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// What opens a container; of the document, its very start.
    Open,
    /// The check box of an item.
    Mark,
    /// All of a node without parts.
    Text,
    /// What closes a container; of the document, its very end.
    Close,
}

#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) node: usize,
    pub(crate) role: Role,
    pub(crate) range: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) sort: Sort,
    /// The block's id; of a front matter key, its name.
    pub(crate) id: String,
    pub(crate) parent: usize,
    pub(crate) depth: usize,
    /// The index after its last descendant.
    pub(crate) last: usize,
    /// Its atoms, those of its descendants included.
    pub(crate) atoms: Range<usize>,
    /// The block; front matter keys and table delimiters are not blocks of their own.
    pub(crate) block: Option<BlockIndex>,
    /// How many columns a table has.
    pub(crate) columns: u32,
}

/// All nodes and atoms of one version.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) version: Version<'a>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) atoms: Vec<Atom>,
}

impl<'a> Outline<'a> {
    pub(crate) fn new(version: Version<'a>) -> Self {
        let mut outline = Outline { version, nodes: Vec::new(), atoms: Vec::new() };
        let source = version.tree.source();
        let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let root = outline.open(Sort::Document, String::new(), 0, 0, None);
        outline.atom(root, Role::Open, 0..start);
        let mut children = version.tree.root().children().peekable();
        if children.peek().is_none_or(|first| !matches!(first.kind(), Kind::FrontMatter { .. })) {
            // Front matter is always there, if only as a place: both sides may write it first.
            let node = outline.open(Sort::FrontMatter, String::new(), root, 1, None);
            outline.close(node);
        }
        for child in children {
            outline.visit(child, root, 1, None);
        }
        outline.atom(root, Role::Close, source.len()..source.len());
        outline.close(root);
        outline.absorb();
        outline
    }

    fn open(&mut self, sort: Sort, id: String, parent: usize, depth: usize, block: Option<BlockIndex>) -> usize {
        let at = self.atoms.len();
        self.nodes.push(Node { sort, id, parent, depth, last: 0, atoms: at..at, block, columns: 0 });
        self.nodes.len() - 1
    }

    fn close(&mut self, node: usize) {
        let (last, end) = (self.nodes.len(), self.atoms.len());
        self.nodes[node].last = last;
        self.nodes[node].atoms.end = end;
    }

    fn atom(&mut self, node: usize, role: Role, range: Range<usize>) {
        self.atoms.push(Atom { node, role, range });
    }

    /// Adds a block. `mark` is where the check box may begin when it is the first of an item.
    fn visit(&mut self, block: Block<'_>, parent: usize, depth: usize, mark: Option<usize>) {
        let sort = Sort::of(block.kind());
        let id = self.version.ids.id(block.index()).unwrap_or_default().to_string();
        let source = self.version.tree.source();
        let content = block.content();
        if let Some(item) = mark {
            // `[x] ` stands before the content of the first block of the item.
            let lead = &source[block.span().start..content.start.max(block.span().start)];
            if let (Some(from), Some(to)) = (lead.find('['), lead.rfind(']')) {
                let start = block.span().start;
                self.atom(item, Role::Mark, start + from..start + to + 1);
            }
        }
        let node = self.open(sort, id, parent, depth, Some(block.index()));
        match (sort, block.first_child()) {
            (Sort::FrontMatter, _) => self.front_matter(block, node, depth),
            (_, Some(first)) if sort.is_opened() => {
                if let Kind::Table { columns } = block.kind() {
                    self.nodes[node].columns = columns;
                }
                let open = trimmed(source, content.start.min(first.span().start)..first.span().start);
                if !open.is_empty() {
                    self.atom(node, Role::Open, open);
                }
                let checked = matches!(block.kind(), Kind::Item { task: Some(_) });
                let mut end = first.span().start;
                for (at, child) in block.children().enumerate() {
                    self.visit(child, node, depth + 1, (checked && at == 0).then_some(node));
                    if sort == Sort::Table && at == 0 {
                        self.delimiter(child, node, depth + 1);
                    }
                    end = child.span().end;
                }
                let close = trimmed(source, end..block.span().end);
                if !close.is_empty() {
                    self.atom(node, Role::Close, close);
                }
            }
            _ => self.atom(node, Role::Text, content),
        }
        self.close(node);
    }

    /// Adds the line under a table's head.
    fn delimiter(&mut self, head: Block<'_>, table: usize, depth: usize) {
        let range = trimmed(self.version.tree.source(), head.content().end..head.span().end);
        if !range.is_empty() {
            let node = self.open(Sort::Delimiter, String::new(), table, depth, None);
            self.atom(node, Role::Text, range);
            self.close(node);
        }
    }

    fn front_matter(&mut self, block: Block<'_>, node: usize, depth: usize) {
        let (content, inner) = (block.content(), block.inner());
        let source = self.version.tree.source();
        self.atom(node, Role::Open, trimmed(source, content.start..inner.start));
        let toml = matches!(block.kind(), Kind::FrontMatter { format: deckle_doc::Format::Toml });
        for entry in entries::split(&source[inner.clone()], toml) {
            let child = self.open(Sort::Entry, entry.name, node, depth + 1, None);
            self.atom(child, Role::Text, inner.start + entry.range.start..inner.start + entry.range.end);
            self.close(child);
        }
        let close = trimmed(source, inner.end..content.end);
        if !close.is_empty() {
            self.atom(node, Role::Close, close);
        }
    }

    /// Makes sure that gaps hold nothing but blanks: what a dialect writes between two blocks belongs to the atom before.
    fn absorb(&mut self) {
        let source = self.version.tree.source();
        for at in 1..self.atoms.len() {
            let gap = self.atoms[at - 1].range.end..self.atoms[at].range.start;
            let text = source.get(gap.clone()).unwrap_or_default();
            if !text.bytes().all(is_gap) {
                let kept = text.trim_end_matches(|c: char| c.is_ascii() && is_gap(c as u8)).len();
                self.atoms[at - 1].range.end = gap.start + kept;
            }
        }
    }

    pub(crate) fn source(&self) -> &'a str {
        self.version.tree.source()
    }

    pub(crate) fn atom_text(&self, atom: usize) -> &'a str {
        &self.source()[self.atoms[atom].range.clone()]
    }

    /// Returns the bytes between an atom and the next.
    pub(crate) fn gap(&self, atom: usize) -> &'a str {
        &self.source()[self.gap_range(atom)]
    }

    pub(crate) fn gap_range(&self, atom: usize) -> Range<usize> {
        match self.atoms.get(atom + 1) {
            Some(next) => self.atoms[atom].range.end..next.range.start,
            None => self.source().len()..self.source().len(),
        }
    }

    /// Returns where a node stands, from its first atom to its last.
    pub(crate) fn range(&self, node: usize) -> Range<usize> {
        let atoms = &self.nodes[node].atoms;
        match (self.atoms.get(atoms.start), atoms.end.checked_sub(1)) {
            (Some(first), Some(last)) if !atoms.is_empty() => first.range.start..self.atoms[last].range.end,
            _ => 0..0,
        }
    }

    /// Returns the source of a node, from its first atom to its last.
    pub(crate) fn text(&self, node: usize) -> &'a str {
        &self.source()[self.range(node)]
    }

    pub(crate) fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let last = self.nodes[node].last;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            (next < last).then(|| {
                let child = next;
                next = self.nodes[child].last;
                child
            })
        })
    }

    pub(crate) fn descendants(&self, node: usize) -> Range<usize> {
        node + 1..self.nodes[node].last
    }

    /// Returns the atom of a node itself that has a role.
    pub(crate) fn own(&self, node: usize, role: Role) -> Option<usize> {
        // Own atoms stand before the first child or after the last.
        let atoms = self.nodes[node].atoms.clone();
        let is_it = |atom: &usize| self.atoms[*atom].node == node && self.atoms[*atom].role == role;
        match role {
            Role::Close => atoms.end.checked_sub(1).filter(|atom| atoms.contains(atom)).filter(is_it),
            _ => atoms.take(2).find(is_it),
        }
    }

    /// Whether it has no nodes inside.
    pub(crate) fn is_leaf(&self, node: usize) -> bool {
        self.nodes[node].last == node + 1
    }

    pub(crate) fn parents(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors((node != 0).then(|| self.nodes[node].parent), |&at| (at != 0).then(|| self.nodes[at].parent))
    }

    /// Returns the headings under which a node stands, the outermost first.
    pub(crate) fn section(&self, node: usize) -> Vec<String> {
        let mut top = node;
        while top != 0 && self.nodes[top].parent != 0 {
            top = self.nodes[top].parent;
        }
        let mut path: Vec<(u8, String)> = Vec::new();
        for child in self.children(0).take_while(|child| *child < top) {
            self.step_section(child, &mut path);
        }
        path.into_iter().map(|(_, title)| title).collect()
    }

    /// Takes one node at the top into a path of headings.
    pub(crate) fn step_section(&self, node: usize, path: &mut Vec<(u8, String)>) {
        let block = self.nodes[node].block.map(|index| self.version.tree.block(index));
        if let Some((level, block)) = block.and_then(|block| Some((block.heading_level()?, block))) {
            path.retain(|(outer, _)| *outer < level);
            path.push((level, block.plain_text().trim().to_owned()));
        }
    }
}

fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'>')
}

/// Shortens a range by the gap characters at its ends; the `>` that opens a quote stays.
fn trimmed(source: &str, range: Range<usize>) -> Range<usize> {
    let text = &source[range.clone()];
    let end = text.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let text = &text[..end];
    let bare = text.trim_start_matches([' ', '\t', '\r', '\n', '>']);
    // An opening that is nothing but markers keeps its last one.
    let start = if bare.is_empty() { text.rfind('>').unwrap_or(text.len()) } else { text.len() - bare.len() };
    range.start + start..range.start + end
}

/// Returns the line end that a text uses.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deckle_doc::Dialect;

    fn drawn(text: &str) -> String {
        let tree = Tree::parse(text, Dialect::Generic).unwrap();
        let ids = Ids::derive(&tree);
        let outline = Outline::new(Version { tree: &tree, ids: &ids });
        let mut out = String::new();
        let mut done = 0;
        for (at, atom) in outline.atoms.iter().enumerate() {
            let node = &outline.nodes[atom.node];
            assert_eq!(outline.gap(at), &text[atom.range.end..atom.range.end + outline.gap(at).len()]);
            assert!(atom.range.start >= done, "atoms are in order");
            done = atom.range.end;
            let indent = "  ".repeat(node.depth);
            out.push_str(&format!(
                "{indent}{}.{:?} {:?} gap {:?}\n",
                node.sort.name(),
                atom.role,
                outline.atom_text(at),
                outline.gap(at)
            ));
        }
        out
    }

    #[test]
    fn a_document_is_atoms_and_gaps() {
        insta::assert_snapshot!(drawn("---\ntitle: x # c\ntags:\n- a\n---\n\n# H\n\n> a\n> more\n>\n> b\n\n- one\n  - two\n- [x] three\n\n  para\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n:::note[T]\nhi\n:::\nlast"), @r##"
        document.Open "" gap ""
          front matter.Open "---" gap "\n"
            front matter key.Text "title: x # c" gap "\n"
            front matter key.Text "tags:\n- a" gap "\n"
          front matter.Close "---" gap "\n\n"
          heading.Text "# H" gap "\n\n"
          quote.Open ">" gap " "
            paragraph.Text "a\n> more" gap "\n>\n> "
            paragraph.Text "b" gap "\n\n"
            item.Open "-" gap " "
              paragraph.Text "one" gap "\n  "
                item.Open "-" gap " "
                  paragraph.Text "two" gap "\n"
            item.Open "- [x]" gap " "
              paragraph.Text "three" gap "\n\n  "
              paragraph.Text "para" gap "\n\n"
            row.Text "| a | b |" gap "\n"
            table delimiter.Text "|---|---|" gap "\n"
            row.Text "| 1 | 2 |" gap "\n\n"
          container.Open ":::note[T]" gap "\n"
            paragraph.Text "hi" gap "\n"
          container.Close ":::" gap "\n"
          paragraph.Text "last" gap ""
        document.Close "" gap ""
        "##);
    }
}
