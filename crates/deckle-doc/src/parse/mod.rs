//! The block phase: bytes to the arena, one line at a time.

use crate::kind::Dialect;
use crate::limits::LimitError;
use crate::node::{Arena, Node, Tag};

/// Returns the blocks of a document.
pub(crate) fn document(source: &str, _dialect: Dialect) -> Result<Arena, LimitError> {
    let mut nodes = vec![Node {
        tag: Tag::Document,
        flag: 0,
        small: 0,
        start: 0,
        end: source.len() as u32,
        content_start: 0,
        content_end: source.trim_end().len() as u32,
        parent: 0,
        last: 1,
        extra: 0,
    }];
    let mut at = 0;
    let mut open = false;
    for line in source.split_inclusive('\n') {
        let trimmed = line.trim();
        let (start, end) = (at as u32, (at + line.len()) as u32);
        let content_start = start + (line.len() - line.trim_start().len()) as u32;
        let content_end = content_start + trimmed.len() as u32;
        at += line.len();
        if trimmed.is_empty() {
            open = false;
            if let [_, .., node] = nodes.as_mut_slice() {
                node.end = end;
            }
            continue;
        }
        let level = trimmed.bytes().take_while(|&byte| byte == b'#').count();
        let heading = (1..=6).contains(&level) && trimmed[level..].starts_with(' ');
        if open && !heading {
            if let [_, .., node] = nodes.as_mut_slice() {
                node.end = end;
                node.content_end = content_end;
            }
            continue;
        }
        open = !heading;
        let index = nodes.len() as u32;
        let (tag, flag) = if heading { (Tag::Heading, level as u8) } else { (Tag::Paragraph, 0) };
        nodes.push(Node { tag, flag, small: 0, start, end, content_start, content_end, parent: 0, last: index + 1, extra: 0 });
        nodes[0].last = index + 1;
    }
    Ok(Arena { nodes, infos: Vec::new(), alignments: Vec::new() })
}
