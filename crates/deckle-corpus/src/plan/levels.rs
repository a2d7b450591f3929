//! Headings of another level, and the blank lines that keep blocks apart.

use std::ops::Range;

use deckle_doc::{DocKey, Kind, Splice, Tree};

use crate::error::PlanError;

/// Returns the splices that move the headings of a range by some levels; headings inside quotes and lists keep theirs.
pub(crate) fn shift(key: &DocKey, tree: &Tree, range: Range<usize>, by: i32) -> Result<Vec<Splice>, PlanError> {
    let mut out = Vec::new();
    if by == 0 {
        return Ok(out);
    }
    for block in tree.root().children().filter(|block| range.contains(&block.content().start)) {
        let Kind::Heading { level, setext } = block.kind() else { continue };
        let new = i32::from(level) + by;
        let refuse = || PlanError::Level { key: key.clone(), heading: block.plain_text(), level: new.max(0) as usize };
        if !(1..=6).contains(&new) {
            return Err(refuse());
        }
        let content = block.content();
        if !setext {
            let marks = "#".repeat(new as usize);
            out.push(Splice::new(content.start..content.start + usize::from(level), marks));
            continue;
        }
        let words = block.inner();
        if new <= 2 {
            let text = tree.source().get(words.end..content.end).unwrap_or_default();
            let line = if new == 1 { "=" } else { "-" };
            let under = words.end + text.find(['=', '-']).unwrap_or(0);
            out.push(Splice::new(under..content.end, line.repeat(content.end - under)));
        } else if tree.source().get(words.clone()).is_some_and(|words| !words.contains('\n')) {
            out.push(Splice::insert(words.start, format!("{} ", "#".repeat(new as usize))));
            out.push(Splice::remove(words.end..content.end));
        } else {
            return Err(refuse());
        }
    }
    Ok(out)
}

/// Whether text ends where a block may start: at the start of the document or after a blank line.
pub(crate) fn blank_before(text: &str) -> bool {
    let mut lines = text.split('\n').rev();
    let open = lines.next().unwrap_or_default();
    open.trim().is_empty() && lines.next().is_none_or(|line| line.trim().is_empty())
}

/// Whether what follows a block's last line is a blank line or the end.
pub(crate) fn blank_after(text: &str) -> bool {
    let mut lines = text.split('\n');
    let rest = lines.next().unwrap_or_default();
    rest.trim().is_empty() && lines.next().is_none_or(|line| line.trim().is_empty())
}
