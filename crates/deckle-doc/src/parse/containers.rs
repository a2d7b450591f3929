//! Containers: which open ones a line continues, and which it opens.

use super::cursor::{Ahead, trim_end};
use super::raw::Kind;
use super::{Leaf, OpenKind, Parser, Reading};
use crate::kind::Span;
use crate::limits::LimitError;

impl Parser<'_> {
    /// Matches the line against the open containers. Returns true when the line closes a directive and is thereby used up.
    pub(super) fn match_containers(&mut self, line: &mut Reading<'_>) -> bool {
        while line.matched < self.open.len() {
            let ahead = line.cursor.ahead();
            let open = self.open[line.matched];
            let continues = match open.kind {
                OpenKind::Document | OpenKind::List { .. } => true,
                OpenKind::Quote => {
                    let marked = ahead.indent < 4 && ahead.byte == b'>';
                    if marked {
                        line.cursor.jump(ahead);
                        line.cursor.skip_bytes(1);
                        line.cursor.skip_columns(1);
                    }
                    marked
                }
                OpenKind::Item { width } => {
                    if ahead.is_blank() {
                        // An item that starts with a blank line ends at a second one.
                        let has_content = self.nodes.len() as u32 > open.node + 1;
                        if has_content {
                            line.cursor.skip_columns(width);
                        }
                        has_content
                    } else if ahead.indent >= width {
                        line.cursor.skip_columns(width);
                        true
                    } else {
                        false
                    }
                }
                OpenKind::Indented => {
                    let continues = ahead.is_blank() || ahead.indent >= 4;
                    if continues {
                        line.cursor.skip_columns(4);
                    }
                    continues
                }
                OpenKind::Directive { byte, mark, indent } => {
                    if ahead.indent < 4 && self.closes(byte, mark, ahead, line.cursor.end) {
                        self.close_to(line.matched + 1);
                        let node = &mut self.nodes[open.node as usize];
                        node.close = line.start as u32;
                        node.content.end = trim_end(self.bytes, ahead.pos, line.cursor.end) as u32;
                        self.close_to(line.matched);
                        return true;
                    }
                    line.cursor.skip_columns(indent);
                    true
                }
            };
            if !continues {
                break;
            }
            line.matched += 1;
        }
        false
    }

    /// Whether the line is a closing fence of at least `mark` bytes.
    fn closes(&self, byte: u8, mark: usize, ahead: Ahead, end: usize) -> bool {
        let text = &self.bytes[ahead.pos..end];
        let length = text.iter().take_while(|b| **b == byte).count();
        length >= mark && text[length..].iter().all(|b| matches!(b, b' ' | b'\t'))
    }

    /// Starts what blocks the line starts, and gives the rest to a leaf.
    pub(super) fn start_blocks(&mut self, line: &mut Reading<'_>) -> Result<(), LimitError> {
        loop {
            let ahead = line.cursor.ahead();
            if ahead.is_blank() {
                self.blank_line(line);
                return Ok(());
            }
            // A paragraph that this line would continue, were nothing to start here.
            let paragraph = match self.leaf {
                Leaf::Paragraph { node } => Some(node),
                _ => None,
            };
            // Only when all its containers are continued does it count as interrupted.
            let interrupts = paragraph.is_some() && line.matched == self.open.len();
            if ahead.indent >= 4 {
                if paragraph.is_none() {
                    self.start_indented(line);
                    return Ok(());
                }
            } else {
                match ahead.byte {
                    b'>' => {
                        self.open_quote(line, ahead)?;
                        continue;
                    }
                    b'#' if self.start_atx(line, ahead) => return Ok(()),
                    b'`' | b'~' => {
                        if self.open_fence_directive(line, ahead)? || self.start_fence(line, ahead) {
                            return Ok(());
                        }
                    }
                    b'<' if self.start_html(line, ahead, paragraph.is_some()) => return Ok(()),
                    b':' => {
                        if self.open_directive(line, ahead)? || self.start_leaf_directive(line, ahead) {
                            return Ok(());
                        }
                    }
                    b'[' if self.open_footnote(line, ahead)? => continue,
                    b'!' | b'?' if self.open_admonition(line, ahead)? => return Ok(()),
                    _ => {}
                }
                if interrupts && matches!(ahead.byte, b'=' | b'-') && self.underline(line, ahead) {
                    return Ok(());
                }
                if matches!(ahead.byte, b'*' | b'-' | b'_') && self.start_break(line, ahead) {
                    return Ok(());
                }
                if matches!(ahead.byte, b'*' | b'-' | b'+' | b'0'..=b'9') && self.open_item(line, ahead, interrupts)? {
                    continue;
                }
                if interrupts && matches!(ahead.byte, b'|' | b'-' | b':') && self.start_table(line, ahead) {
                    return Ok(());
                }
            }
            self.text_line(line, ahead, paragraph);
            return Ok(());
        }
    }

    /// Closes what the line does not continue, before a block starts; a list that is innermost takes only items.
    pub(super) fn make_room(&mut self, line: &mut Reading<'_>, for_item: bool) {
        let mut keep = line.matched;
        if !for_item && keep > 1 && matches!(self.open[keep - 1].kind, OpenKind::List { .. }) {
            keep -= 1;
        }
        self.close_to(keep);
        line.matched = self.open.len();
    }

    fn open_quote(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> Result<(), LimitError> {
        self.make_room(line, false);
        let node = self.push(Kind::Quote, line.block_start(), ahead.pos);
        self.extend(node, ahead.pos + 1);
        self.enter(node, OpenKind::Quote)?;
        line.cursor.jump(ahead);
        line.cursor.skip_bytes(1);
        line.cursor.skip_columns(1);
        line.matched = self.open.len();
        line.opened_at = Some(line.cursor.pos);
        Ok(())
    }

    fn open_footnote(&mut self, line: &mut Reading<'_>, ahead: Ahead) -> Result<bool, LimitError> {
        let text = &self.bytes[ahead.pos..line.cursor.end];
        if !text.starts_with(b"[^") {
            return Ok(false);
        }
        let mut at = 2;
        loop {
            match text.get(at) {
                None | Some(b'[' | b' ' | b'\t') => return Ok(false),
                Some(b']') if at == 2 => return Ok(false),
                Some(b']') => break,
                Some(b'\\') if matches!(text.get(at + 1), Some(b'[' | b']' | b'\\')) => at += 2,
                Some(_) => at += 1,
            }
            // The limit of the specification for link labels.
            if at > 1001 {
                return Ok(false);
            }
        }
        if text.get(at + 1) != Some(&b':') {
            return Ok(false);
        }
        let label = Span::new(ahead.pos + 2, ahead.pos + at);
        self.make_room(line, false);
        let node = self.push(Kind::FootnoteDefinition { label }, line.block_start(), ahead.pos);
        self.extend(node, ahead.pos + at + 2);
        self.enter(node, OpenKind::Indented)?;
        line.cursor.jump(ahead);
        line.cursor.skip_bytes(at + 2);
        // Blanks after the colon are eaten, so no indented code can start there.
        let after = line.cursor.ahead();
        if !after.is_blank() {
            line.cursor.jump(after);
        }
        line.matched = self.open.len();
        line.opened_at = Some(line.cursor.pos);
        Ok(true)
    }
}
