//! The bytes of changes: how the stretch between two blocks that stayed is divided among the blocks that went and came in it.

use std::ops::Range;

use super::outline::{Outline, Role, Sort};

/// A splice of the text before, as a part of one change.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The change, by its element.
    pub(crate) owner: usize,
    /// The bytes that go.
    pub(crate) range: Range<usize>,
    /// The text that comes.
    pub(crate) with: String,
    /// The blocks' own text inside of `with`; the rest are gaps. None when nothing comes.
    pub(crate) body: Option<Range<usize>>,
    /// The blocks' own bytes among those that go.
    pub(crate) gone: Option<Range<usize>>,
    /// The atoms of before that go.
    pub(crate) old: Range<usize>,
    /// The atoms of after that come.
    pub(crate) new: Range<usize>,
}

/// Returns a text with parts applied; none when two of them overlap.
pub(crate) fn spliced(text: &str, parts: &[&Part]) -> Option<String> {
    let mut order: Vec<&Part> = parts.to_vec();
    order.sort_by_key(|part| (part.range.start, part.range.end));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for part in order {
        if part.range.start < done {
            return None;
        }
        out.push_str(&text[done..part.range.start]);
        out.push_str(&part.with);
        done = part.range.end;
    }
    out.push_str(&text[done..]);
    Some(out)
}

/// Atoms of one block that went or came, side by side.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) owner: usize,
    pub(crate) atoms: Range<usize>,
}

/// What lies between two atoms that stayed.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// The atom before it, in the old and in the new version.
    pub(crate) left: (usize, usize),
    pub(crate) gone: Vec<Run>,
    pub(crate) come: Vec<Run>,
}

/// How the bytes are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Each block with the gap after it.
    Trailing,
    /// Each block with the gap before it.
    Leading,
    /// All in one.
    Whole,
}

/// Both versions.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) old: &'a Outline<'a>,
    pub(crate) new: &'a Outline<'a>,
}

impl Sides<'_> {
    /// Whether the blocks of a stretch can only be decided about together.
    pub(crate) fn is_coupled(&self, stretch: &Stretch) -> bool {
        !stretch.gone.is_empty() && !stretch.come.is_empty() && self.style(stretch) == Style::Whole
    }

    fn style(&self, stretch: &Stretch) -> Style {
        let (first, last) = (self.old.gap(stretch.left.0), self.last_gap(self.old, &stretch.gone, stretch.left.0));
        let (new_first, new_last) = (self.new.gap(stretch.left.1), self.last_gap(self.new, &stretch.come, stretch.left.1));
        let (gone, come) = (&stretch.gone, &stretch.come);
        match (gone.first(), come.first()) {
            (None, _) => {
                if first.strip_prefix(new_first).is_some_and(|rest| new_last.ends_with(rest)) {
                    Style::Trailing
                } else if first.strip_suffix(new_last).is_some_and(|rest| new_first.starts_with(rest)) {
                    Style::Leading
                } else {
                    Style::Whole
                }
            }
            (Some(_), None) if first == new_first => Style::Trailing,
            (Some(_), None) if last == new_first => Style::Leading,
            (Some(_), None) => Style::Whole,
            (Some(gone_first), Some(come_first)) => {
                let divides = |gap: &str, right: (&Outline<'_>, usize), left: (&Outline<'_>, usize)| {
                    let lines = gap.matches(['\n', '\r']).count() - gap.matches("\r\n").count();
                    let sort = |(outline, atom): (&Outline<'_>, usize)| outline.nodes[outline.atoms[atom].node].sort;
                    let lined = |sort| matches!(sort, Sort::Row | Sort::Delimiter | Sort::Entry);
                    let item = sort(right) == Sort::Item && right.0.atoms[right.1].role == Role::Open;
                    lines > 1 || (lines == 1 && (item || (lined(sort(right)) && lined(sort(left)))))
                };
                let ends = |runs: &[Run]| runs.last().map_or(0, |run| run.atoms.end - 1);
                let (come_last, gone_last) = ((self.new, ends(come)), (self.old, ends(gone)));
                if first == new_first && divides(new_last, (self.old, gone_first.atoms.start), come_last) {
                    Style::Trailing
                } else if last == new_last && divides(new_first, (self.new, come_first.atoms.start), gone_last) {
                    Style::Leading
                } else {
                    Style::Whole
                }
            }
        }
    }

    fn last_gap<'o>(&self, outline: &'o Outline<'_>, runs: &[Run], left: usize) -> &'o str {
        outline.gap(runs.last().map_or(left, |run| run.atoms.end - 1))
    }

    /// Divides a stretch in which something went or came.
    pub(crate) fn divide(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let mut owners = stretch.gone.iter().chain(&stretch.come).map(|run| run.owner);
        let first = owners.next();
        let alone = owners.all(|owner| Some(owner) == first);
        match self.style(stretch) {
            _ if alone => self.whole(stretch, out),
            Style::Trailing => self.trailing(stretch, out),
            Style::Leading => self.leading(stretch, out),
            Style::Whole if stretch.gone.is_empty() => self.added(stretch, out),
            Style::Whole => self.removed(stretch, out),
        }
    }

    fn start(&self, outline: &Outline<'_>, run: &Run) -> usize {
        outline.atoms[run.atoms.start].range.start
    }

    fn end(&self, outline: &Outline<'_>, run: &Run) -> usize {
        outline.atoms[run.atoms.end - 1].range.end
    }

    /// Where the first atom after the stretch begins.
    fn right(&self, outline: &Outline<'_>, runs: &[Run], left: usize) -> usize {
        outline.gap_range(runs.last().map_or(left, |run| run.atoms.end - 1)).end
    }

    fn removal(&self, run: &Run, range: Range<usize>, with: &str) -> Part {
        let gone = Some(self.start(self.old, run)..self.end(self.old, run));
        Part { owner: run.owner, range, with: with.to_owned(), body: None, gone, old: run.atoms.clone(), new: 0..0 }
    }

    fn addition(&self, run: &Run, range: Range<usize>, before: &str, after: &str) -> Part {
        let text = &self.new.source()[self.start(self.new, run)..self.end(self.new, run)];
        let body = Some(before.len()..before.len() + text.len());
        let with = [before, text, after].concat();
        Part { owner: run.owner, range, with, body, gone: None, old: 0..0, new: run.atoms.clone() }
    }

    fn trailing(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let gap = self.old.gap_range(stretch.left.0);
        let right = self.right(self.old, &stretch.gone, stretch.left.0);
        // Without anything gone the new blocks stand inside of the old gap.
        let point = match stretch.gone.first() {
            Some(first) => self.start(self.old, first),
            None => gap.start + self.new.gap(stretch.left.1).len(),
        };
        let rest = if stretch.gone.is_empty() { gap.end - point } else { 0 };
        for (at, run) in stretch.come.iter().enumerate() {
            let after = self.new.gap(run.atoms.end - 1);
            let kept = if at + 1 == stretch.come.len() { after.len() - rest } else { after.len() };
            out.push(self.addition(run, point..point, "", &after[..kept]));
        }
        for (at, run) in stretch.gone.iter().enumerate() {
            let end = stretch.gone.get(at + 1).map_or(right, |next| self.start(self.old, next));
            out.push(self.removal(run, self.start(self.old, run)..end, ""));
        }
    }

    fn leading(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let gap = self.old.gap_range(stretch.left.0);
        let mut from = gap.start;
        for run in &stretch.gone {
            let end = self.end(self.old, run);
            out.push(self.removal(run, from..end, ""));
            from = end;
        }
        let point = match stretch.gone.last() {
            Some(last) => self.end(self.old, last),
            None => gap.end - self.last_gap(self.new, &stretch.come, stretch.left.1).len(),
        };
        let skip = if stretch.gone.is_empty() { point - gap.start } else { 0 };
        for (at, run) in stretch.come.iter().enumerate() {
            let before = self.new.gap(run.atoms.start - 1);
            out.push(self.addition(run, point..point, if at == 0 { &before[skip..] } else { before }, ""));
        }
    }

    /// Several blocks come and the gap changes: the first takes the old gap with it.
    fn added(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let gap = self.old.gap_range(stretch.left.0);
        for (at, run) in stretch.come.iter().enumerate() {
            let after = self.new.gap(run.atoms.end - 1);
            let (range, before) = if at == 0 { (gap.clone(), self.new.gap(stretch.left.1)) } else { (gap.end..gap.end, "") };
            out.push(self.addition(run, range, before, after));
        }
    }

    /// Several blocks go and the gap changes: the first takes the old gap with it.
    fn removed(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let gap = self.old.gap_range(stretch.left.0);
        let right = self.right(self.old, &stretch.gone, stretch.left.0);
        for (at, run) in stretch.gone.iter().enumerate() {
            let end = stretch.gone.get(at + 1).map_or(right, |next| self.start(self.old, next));
            let (start, with) = if at == 0 { (gap.start, self.new.gap(stretch.left.1)) } else { (self.start(self.old, run), "") };
            out.push(self.removal(run, start..end, with));
        }
    }

    /// One change owns the whole stretch; what the gaps at its ends have in common stays.
    fn whole(&self, stretch: &Stretch, out: &mut Vec<Part>) {
        let owner = stretch.gone.first().or(stretch.come.first()).map_or(0, |run| run.owner);
        let (old_left, new_left) = (self.old.gap_range(stretch.left.0), self.new.gap_range(stretch.left.1));
        let mut range = old_left.start..self.right(self.old, &stretch.gone, stretch.left.0);
        let mut with = new_left.start..self.right(self.new, &stretch.come, stretch.left.1);
        let (old, new) = (self.old.source(), self.new.source());
        let mut prefix = common(old[old_left.clone()].bytes(), new[new_left.clone()].bytes());
        if old[..old_left.start + prefix].ends_with('\r') && prefix > 0 {
            prefix -= 1;
        }
        range.start += prefix;
        with.start += prefix;
        // Of a gap that stands at both ends, the part at its start is kept already.
        let old_last = range.start.max(range.end - self.last_gap(self.old, &stretch.gone, stretch.left.0).len())..range.end;
        let new_last = with.start.max(with.end - self.last_gap(self.new, &stretch.come, stretch.left.1).len())..with.end;
        let mut suffix = common(old[old_last].bytes().rev(), new[new_last].bytes().rev());
        if old[range.end - suffix..].starts_with('\n') && suffix > 0 && old[..range.end - suffix].ends_with('\r') {
            suffix -= 1;
        }
        range.end -= suffix;
        with.end -= suffix;
        let atoms = |runs: &[Run]| match (runs.first(), runs.last()) {
            (Some(first), Some(last)) => first.atoms.start..last.atoms.end,
            _ => 0..0,
        };
        let bytes = |outline: &Outline<'_>, runs: &[Run]| match (runs.first(), runs.last()) {
            (Some(first), Some(last)) => Some(self.start(outline, first)..self.end(outline, last)),
            _ => None,
        };
        out.push(Part {
            owner,
            body: bytes(self.new, &stretch.come).map(|body| body.start - with.start..body.end - with.start),
            gone: bytes(self.old, &stretch.gone),
            with: new[with].to_owned(),
            range,
            old: atoms(&stretch.gone),
            new: atoms(&stretch.come),
        });
    }
}

fn common(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
