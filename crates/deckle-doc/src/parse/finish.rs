//! The last pass: extents that tile, contents of containers, tight lists.

use super::raw::{Kind, Node};
use super::{NO_CLOSE, Parser};

impl Parser<'_> {
    pub(super) fn finish(mut self) -> Vec<Node> {
        self.close_to(1);
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes[0].end = count;
        self.tile();
        self.contents();
        self.tightness();
        self.nodes
    }

    /// A block ends where its next sibling starts, or else where its parent's closing part does.
    fn tile(&mut self) {
        let nodes = &mut self.nodes;
        for parent in 0..nodes.len() {
            let (span_end, end) = (nodes[parent].span.end, nodes[parent].end as usize);
            if nodes[parent].close == NO_CLOSE {
                nodes[parent].close = span_end;
            }
            let close = nodes[parent].close;
            let mut child = parent + 1;
            while child < end {
                let next = nodes[child].end as usize;
                nodes[child].span.end = if next < end { nodes[next].span.start } else { close };
                child = next;
            }
        }
    }

    /// A container's content reaches to the end of what it holds.
    fn contents(&mut self) {
        for index in (1..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            let (parent, content) = (node.parent as usize, node.content);
            let above = &mut self.nodes[parent].content;
            above.end = above.end.max(content.end);
            if parent == 0 {
                above.start = content.start;
            }
        }
    }

    /// A list is loose when a blank line stands between two of its items, or between two blocks of one.
    fn tightness(&mut self) {
        for list in 0..self.nodes.len() {
            if !matches!(self.nodes[list].kind, Kind::List { .. }) {
                continue;
            }
            let list_end = self.nodes[list].end as usize;
            let mut loose = false;
            let mut item = list + 1;
            while item < list_end && !loose {
                let item_end = self.nodes[item].end as usize;
                loose = item_end < list_end && self.blank_after(item);
                let mut child = item + 1;
                while child < item_end && !loose {
                    let next = self.nodes[child].end as usize;
                    loose = next < item_end && self.blank_after(child);
                    child = next;
                }
                item = item_end;
            }
            if let Kind::List { tight, .. } = &mut self.nodes[list].kind {
                *tight = !loose;
            }
        }
    }

    /// Whether a line without content stands between a block's content and the end of its extent.
    fn blank_after(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        let gap = &self.bytes[(node.content.end as usize).min(node.span.end as usize)..node.span.end as usize];
        let mut at = 0;
        let mut lines = 0;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &gap[at..]) {
            lines += 1;
            if lines == 2 {
                return true;
            }
            at += found + super::line_end(&gap[at + found..]);
        }
        false
    }
}
