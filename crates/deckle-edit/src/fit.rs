//! Fitting a payload to its place: line ends, line prefixes, heading levels.

use std::mem::Discriminant;

use deckle_doc::{Block, Dialect, Kind, Tree};

use crate::EditError;

/// The line end that a document uses: that of its first line, or a line feed.
pub(crate) fn line_end(source: &str) -> &'static str {
    match memchr_line(source) {
        Some((_, "\r\n")) => "\r\n",
        Some((_, "\r")) => "\r",
        _ => "\n",
    }
}

fn memchr_line(source: &str) -> Option<(usize, &'static str)> {
    let at = source.find(['\n', '\r'])?;
    let rest = &source[at..];
    Some((
        at,
        if rest.starts_with("\r\n") {
            "\r\n"
        } else if rest.starts_with('\r') {
            "\r"
        } else {
            "\n"
        },
    ))
}

/// Where the line of a byte starts.
pub(crate) fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind(['\n', '\r']).map_or(if source.starts_with('\u{feff}') && at >= 3 { 3 } else { 0 }, |end| end + 1)
}

/// Where the line of a byte ends, before its line end.
pub(crate) fn line_stop(source: &str, at: usize) -> usize {
    source[at..].find(['\n', '\r']).map_or(source.len(), |end| at + end)
}

/// Where the next line starts.
pub(crate) fn next_line(source: &str, at: usize) -> usize {
    let stop = line_stop(source, at);
    if source[stop..].starts_with("\r\n") { stop + 2 } else { (stop + 1).min(source.len()) }
}

/// What stands in front of each later line of a block inside `container`.
pub(crate) fn child_prefix(container: &Block<'_>) -> String {
    let source = container.tree().source();
    let start = container.content().start;
    let base = || -> String {
        let from = line_start(source, start).min(start);
        source[from..start].chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect()
    };
    match container.kind() {
        Kind::Quote => base() + "> ",
        Kind::Item { .. } => base() + &" ".repeat(item_width(container)),
        Kind::FootnoteDefinition { .. } => base() + "    ",
        Kind::Admonition { form: deckle_doc::AdmonitionForm::Bang | deckle_doc::AdmonitionForm::Fold { .. }, .. } => {
            base() + "    "
        }
        Kind::List { .. } | Kind::Container(_) | Kind::Admonition { .. } => base(),
        _ => String::new(),
    }
}

/// The columns from an item's marker to its text; a tab goes on to the next fourth column.
fn item_width(item: &Block<'_>) -> usize {
    let text = item.text();
    let source = item.tree().source();
    let start = item.content().start;
    let advance = |column: usize, c: char| if c == '\t' { column / 4 * 4 + 4 } else { column + 1 };
    let before = source[line_start(source, start).min(start)..start].chars().fold(0, advance);
    let marker = marker_length(text);
    let rest = &text[marker..];
    let blanks = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    let ends = rest[blanks.len()..].starts_with(['\n', '\r']) || blanks.len() == rest.len();
    let columns = blanks.chars().fold(before + marker, advance) - before - marker;
    marker + if ends || columns == 0 || columns > 4 { 1 } else { columns }
}

/// The length of a list marker at the start of an item.
pub(crate) fn marker_length(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits + 1).min(text.len())
}

/// What stands in front of each later line of a block.
pub(crate) fn prefix_of(block: &Block<'_>) -> String {
    block.parent().map_or_else(String::new, |parent| child_prefix(&parent))
}

/// A piece of Markdown in a message: in quotes where it holds the mark that else stands around it.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains('`') { format!("\"{text}\"") } else { format!("`{text}`") }
}

/// A payload that is known to stand alone: every fence is closed, no front matter, not empty.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    /// The text without blank lines around it, with line feeds.
    pub text: String,
    /// Its tree.
    pub tree: Tree,
}

impl Payload {
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, EditError> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = text.trim_start_matches(['\n']).trim_end_matches(['\n', ' ', '\t']).to_owned();
        if text.trim().is_empty() {
            return Err(EditError::Payload { why: "it is empty".into(), hint: "to remove the block, use `$delete`".into() });
        }
        // A payload may start with a thematic break; read it so that this is not front matter.
        let guarded = format!("\n{text}");
        let tree = Tree::parse(guarded, dialect)?;
        let payload = Self { tree, text };
        payload.closed()?;
        Ok(payload)
    }

    /// A fence that the payload opens and does not close would take its neighbours in.
    fn closed(&self) -> Result<(), EditError> {
        for block in self.tree.blocks() {
            let open = match block.kind() {
                Kind::Code { fence: Some(fence), .. } => {
                    let last = block.text().lines().last().unwrap_or_default();
                    let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
                    let closes = block.text().lines().count() > 1
                        && last.len() >= fence.length as usize
                        && last.bytes().all(|byte| byte == fence.character);
                    (!closes).then(|| char::from(fence.character).to_string().repeat(fence.length as usize))
                }
                Kind::Container(directive) => {
                    let last = block.text().lines().last().unwrap_or_default();
                    let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
                    let closes = block.text().lines().count() > 1
                        && last.len() >= directive.colons as usize
                        && last.bytes().all(|byte| byte == b':');
                    (!closes).then(|| ":".repeat(directive.colons as usize))
                }
                // Elsewhere a line of `$$` opens a block of math that goes on to the end of the document.
                Kind::Paragraph => {
                    let marks = block.text().lines().filter(|line| line.trim_start_matches([' ', '>']).trim_end() == "$$");
                    (marks.count() % 2 == 1).then(|| "$$".to_owned())
                }
                Kind::Math => (!block.text().trim_end().ends_with("$$") || block.text().trim() == "$$").then(|| "$$".to_owned()),
                _ => None,
            };
            if let Some(fence) = open {
                let line = block.text().lines().next().unwrap_or_default();
                return Err(EditError::Payload {
                    why: format!("{} is not closed, so it would take in what follows", quoted(line)),
                    hint: format!("end it with a line {}", quoted(&fence)),
                });
            }
        }
        Ok(())
    }

    /// The kinds of all its blocks.
    pub fn kinds(&self) -> Vec<Discriminant<Kind>> {
        self.tree.blocks().map(|block| std::mem::discriminant(&block.kind())).collect()
    }

    /// The blocks of the payload, without what holds them.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.tree.root().children()
    }

    /// Moves its headings so that the first one has `level`.
    pub fn relevel(&self, level: u8) -> String {
        let headings: Vec<Block<'_>> = self.tree.blocks().filter(|block| block.heading_level().is_some()).collect();
        let Some(first) = headings.first().and_then(Block::heading_level) else { return self.text.clone() };
        let shift = i16::from(level) - i16::from(first);
        if shift == 0 {
            return self.text.clone();
        }
        let mut out = self.text.clone();
        for heading in headings.iter().rev() {
            let Kind::Heading { level: old, setext } = heading.kind() else { continue };
            let new = (i16::from(old) + shift).clamp(1, 6) as usize;
            // The tree was read with one line feed in front.
            let start = heading.content().start - 1;
            let end = heading.content().end - 1;
            if setext {
                let inner = heading.inner();
                let words = &self.tree.source()[inner.clone()];
                out.replace_range(start..end, &format!("{} {}", "#".repeat(new), words.replace('\n', " ")));
            } else {
                out.replace_range(start..start + usize::from(old), &"#".repeat(new));
            }
        }
        out
    }
}

/// Puts `prefix` in front of each line but the first, and the document's line ends between them. Blank lines get the prefix without its blanks.
pub(crate) fn lines(text: &str, prefix: &str, end: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push_str(end);
            out.push_str(if line.trim().is_empty() { prefix.trim_end() } else { prefix });
        }
        out.push_str(line);
    }
    out
}
