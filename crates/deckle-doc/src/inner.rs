//! What lies inside a block's markers.

use std::ops::Range;

use crate::kind::{Kind, Span};
use crate::tree::{Block, Callout};

/// See [`Block::inner`].
pub(crate) fn inner(block: &Block<'_>) -> Range<usize> {
    let content = block.content();
    let text = block.text();
    match block.kind() {
        Kind::Heading { setext: false, level } => {
            let from = content.start + usize::from(level).min(text.len());
            trim(block, from..heading_end(text, content.start).max(from))
        }
        Kind::Heading { setext: true, .. } => trim(block, content.start..content.start + last_line(text)),
        Kind::Code { fence: Some(_), .. } => {
            let first = content.start + line_end(text, 0);
            first..block.fence_close().unwrap_or(content.end).max(first)
        }
        Kind::FrontMatter { .. } => content.start + line_end(text, 0)..content.start + last_line(text),
        Kind::Math => {
            let (first, last) = (line_end(text, 0), last_line(text));
            let fenced = text.get(2..first).is_some_and(|rest| rest.trim().is_empty()) && text[last..].trim_end().ends_with("$$");
            if fenced && first <= last { content.start + first..content.start + last } else { math_in_text(text, content) }
        }
        Kind::Quote | Kind::Item { .. } | Kind::Container(_) | Kind::FootnoteDefinition { .. } | Kind::Admonition { .. } => {
            match (block.first_child(), block.last_child()) {
                (Some(first), Some(last)) => first.span().start..last.span().end,
                _ => content.end..content.end,
            }
        }
        _ => content,
    }
}

/// `$$x$$` without its dollars.
fn math_in_text(text: &str, content: Range<usize>) -> Range<usize> {
    if text.len() >= 4 && text.ends_with("$$") {
        content.start + 2..content.end - 2
    } else {
        (content.start + 2).min(content.end)..content.end
    }
}

fn trim(block: &Block<'_>, range: Range<usize>) -> Range<usize> {
    let text = &block.tree().source()[range.clone()];
    let words = text.trim_matches([' ', '\t', '\r', '\n']);
    if words.is_empty() {
        return range.start..range.start;
    }
    let start = range.start + (text.len() - text.trim_start_matches([' ', '\t', '\r', '\n']).len());
    start..start + words.len()
}

/// Where a heading's words end: before a closing run of `#` that stands after a blank.
fn heading_end(text: &str, start: usize) -> usize {
    let words = text.trim_end_matches([' ', '\t']);
    let bare = words.trim_end_matches('#');
    let closing = bare.len() < words.len() && (bare.is_empty() || bare.ends_with([' ', '\t']));
    start + if closing { bare.len() } else { words.len() }
}

fn line_end(text: &str, from: usize) -> usize {
    let rest = &text.as_bytes()[from..];
    match rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
        Some(at) if rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n') => from + at + 2,
        Some(at) => from + at + 1,
        None => text.len(),
    }
}

fn last_line(text: &str) -> usize {
    text.bytes().rposition(|byte| byte == b'\n' || byte == b'\r').map_or(0, |at| at + 1)
}

/// See [`Block::callout`].
pub(crate) fn callout(block: &Block<'_>) -> Option<Callout> {
    if block.kind() != Kind::Quote {
        return None;
    }
    let first = block.first_child().filter(|child| child.kind() == Kind::Paragraph)?;
    let text = first.text();
    let line = &text[..text.find(['\n', '\r']).unwrap_or(text.len())];
    let name = line.strip_prefix("[!")?;
    let length = name.find(']')?;
    let named = length > 0 && name[..length].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !named {
        return None;
    }
    let start = first.content().start;
    let mut after = 2 + length + 1;
    let fold = match line.as_bytes().get(after) {
        Some(b'-') => Some(false),
        Some(b'+') => Some(true),
        _ => None,
    };
    after += usize::from(fold.is_some());
    let rest = &line[after..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim();
    let title_at = start + after + (rest.len() - rest.trim_start().len());
    Some(Callout {
        name: Span::new(start + 2, start + 2 + length),
        fold,
        title: (!title.is_empty()).then(|| Span::new(title_at, title_at + title.len())),
    })
}
