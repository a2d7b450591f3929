//! The lines of a block without the prefixes of its containers, read again from the source: nothing is stored for them.

use std::ops::Range;

use crate::kind::{AdmonitionForm, Kind};
use crate::parse::cursor::Cursor;
use crate::tree::Block;

/// One line of a block's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the line starts, prefixes included.
    pub start: usize,
    /// The bytes after the containers' prefixes, up to the line ending.
    pub text: Range<usize>,
    /// The columns that are left of a tab which a prefix used in part; they stand before `text`.
    pub spaces: usize,
    /// The column at which `text` starts.
    pub column: usize,
}

/// See [`Block::lines`].
pub(crate) fn lines(block: &Block<'_>) -> Vec<Line> {
    let source = block.tree().source().as_bytes();
    let mut above: Vec<Block<'_>> =
        block.ancestors().filter(|above| !matches!(above.kind(), Kind::List { .. } | Kind::Document)).collect();
    above.reverse();
    let content = block.content();
    let mut lines = Vec::new();
    let mut at = source[..content.start].iter().rposition(|&byte| byte == b'\n' || byte == b'\r').map_or(0, |end| end + 1);
    if at < 3 && block.tree().source().starts_with('\u{FEFF}') {
        at = '\u{FEFF}'.len_utf8();
    }
    loop {
        let mut line = Cursor::line(source, at);
        prefix(&mut line, &above);
        lines.push(line_of(&line));
        at = line.next;
        if at >= content.end || at >= source.len() {
            return lines;
        }
    }
}

/// Takes the prefix bytes off: a tab that is used in part counts as used, and its rest as spaces.
fn line_of(line: &Cursor<'_>) -> Line {
    let mut at = line.at;
    let mut spaces = 0;
    let mut column = line.column;
    if at < line.end && line.src[at] == b'\t' && line.partly {
        spaces = 4 - column % 4;
        column += spaces;
        at += 1;
    }
    Line { start: line.start, text: at..line.end, spaces, column }
}

/// Moves over the prefixes of the containers, from the outermost in: markers on their first line, what continues them on later ones.
/// A line that doesn't continue one is lazy, and the rest of its prefixes are absent.
pub(crate) fn prefix(line: &mut Cursor<'_>, above: &[Block<'_>]) {
    for container in above {
        let opens = (line.start..line.end).contains(&container.content().start);
        let goes_on = match container.kind() {
            Kind::Quote => {
                let (columns, place) = line.indent();
                let marked = columns < 4 && place < line.end && line.src[place] == b'>';
                if marked {
                    line.move_over(place + 1);
                    line.skip_columns(1);
                }
                marked
            }
            Kind::Item { .. } if opens => {
                let goal = line.column + container.stored_indent();
                let place = line.indent().1;
                let marker = line.src[place..line.end].iter().take_while(|byte| byte.is_ascii_digit()).count() + 1;
                line.move_over((place + marker).min(line.end));
                line.skip_columns(goal.saturating_sub(line.column));
                true
            }
            Kind::FootnoteDefinition { label } if opens => {
                line.move_over(label.end as usize + 2);
                line.skip_columns(usize::MAX / 2);
                true
            }
            Kind::Admonition { form: AdmonitionForm::Bang | AdmonitionForm::Fold { .. }, .. }
            | Kind::FootnoteDefinition { .. } => indented(line, 4),
            Kind::Item { .. } => indented(line, container.stored_indent()),
            Kind::Container(_) | Kind::Admonition { .. } => {
                line.skip_columns(container.stored_indent());
                true
            }
            _ => true,
        };
        if !goes_on {
            return;
        }
    }
}

fn indented(line: &mut Cursor<'_>, columns: usize) -> bool {
    let (found, place) = line.indent();
    if place < line.end && found < columns {
        return false;
    }
    line.skip_columns(columns);
    true
}

/// See [`Block::code`].
pub(crate) fn code(block: &Block<'_>) -> Option<String> {
    let Kind::Code { fence, .. } = block.kind() else { return None };
    let source = block.tree().source();
    let (inner, all) = (block.inner(), lines(block));
    let mut indent = 4;
    if fence.is_some() {
        let first = all.first()?;
        let blanks = source[first.text.clone()].bytes().take_while(|&byte| byte == b' ').count();
        indent = first.spaces + blanks;
    }
    let mut out = String::new();
    for line in &all {
        if fence.is_some() && !(inner.start..inner.end).contains(&line.start) {
            continue;
        }
        let mut cursor = Cursor::line(source.as_bytes(), line.text.start);
        cursor.column = line.column;
        // What is left of a used tab comes first.
        let spaces = line.spaces.saturating_sub(indent);
        cursor.skip_columns(indent.saturating_sub(line.spaces));
        let rest = line_of(&cursor);
        out.extend(std::iter::repeat_n(' ', spaces + rest.spaces));
        out.push_str(&source[rest.text.start..line.text.end]);
        out.push('\n');
    }
    Some(out)
}
