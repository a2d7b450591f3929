//! Two parsers' blocks of one document, in the format of `deckle blocks`.

use std::collections::HashMap;

use serde_json::Value;

/// What two parsers have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// How many blocks the reference has.
    pub total: usize,
    /// How many differ in type, detail, depth or canonical span: those that we lack, or those that only we have, whichever are more.
    pub different: usize,
    /// The first block of the reference that we lack, or that only we have.
    pub first: Option<String>,
}

/// A block as it is compared: its depth, type, detail and canonical span.
type Flat = (usize, String, String, usize, usize);

/// Compares two lines of JSON.
#[must_use]
pub fn agreement(source: &str, ours: &Value, theirs: &Value) -> Agreement {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    flatten(source.as_bytes(), &ours["blocks"], 0, &mut one);
    flatten(source.as_bytes(), &theirs["blocks"], 0, &mut other);
    let mut left: HashMap<&Flat, usize> = HashMap::new();
    for block in &one {
        *left.entry(block).or_default() += 1;
    }
    let mut found = Agreement { total: other.len(), ..Agreement::default() };
    let mut same = 0;
    for block in &other {
        match left.get_mut(block) {
            Some(count) if *count > 0 => {
                *count -= 1;
                same += 1;
            }
            _ => found.first = found.first.or(Some(format!("only the reference has {block:?}"))),
        }
    }
    if found.first.is_none() {
        let extra = one.iter().find(|block| left.get(block).is_some_and(|count| *count > 0));
        found.first = extra.map(|block| format!("only we have {block:?}"));
    }
    found.different = one.len().max(other.len()) - same;
    found
}

fn flatten(source: &[u8], blocks: &Value, depth: usize, out: &mut Vec<Flat>) {
    for block in blocks.as_array().into_iter().flatten() {
        let text = |at: usize| block[at].as_str().unwrap_or_default().to_owned();
        let place = |at: usize| block[at].as_u64().unwrap_or_default() as usize;
        let kind = text(0);
        let (start, end) = canonical(source, &kind, place(2), place(3));
        out.push((depth, kind, text(1), start, end));
        flatten(source, &block[4], depth + 1, out);
    }
}

/// From the first byte that is not blank to the last byte of content: trailing lines of blanks and `>` are none, nor are a cell's pipes.
/// An empty cell has no place to compare.
fn canonical(source: &[u8], kind: &str, mut start: usize, mut end: usize) -> (usize, usize) {
    end = end.min(source.len());
    let cell = kind == "tableCell";
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    while start < end && (blank(source[start]) || cell && source[start] == b'|') {
        start += 1;
    }
    loop {
        while end > start && (blank(source[end - 1]) || cell && source[end - 1] == b'|' && source[end - 2] != b'\\') {
            end -= 1;
        }
        let line = source[..end].iter().rposition(|&byte| byte == b'\n' || byte == b'\r').map_or(0, |at| at + 1);
        if cell || line <= start || !source[line..end].iter().all(|&byte| blank(byte) || byte == b'>') {
            break;
        }
        end = line;
    }
    if cell && start >= end { (0, 0) } else { (start, end) }
}
