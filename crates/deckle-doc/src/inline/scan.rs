//! The inline phase: the algorithm in the appendix of the CommonMark specification 0.31, on spans.
//!
//! Constructs are found left to right; brackets and delimiter runs wait on stacks. Each search for a closer that failed is remembered, so
//! that the phase stays linear (the bounds are those of cmark).

use std::collections::HashMap;
use std::ops::Range;

use super::delimiters::Delimiters;
use super::view::View;
use super::{InlineKind, LinkForm, Target, links, literal};
use crate::kind::Span;
use crate::parse::{directive, html};
use crate::tree::Tree;

/// How far the parts of a text directive are looked for.
const MAX_DIRECTIVE: usize = 4096;

/// Something found: offsets into the view.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub kind: InlineKind,
    pub span: Range<usize>,
    pub content: Range<usize>,
}

/// An opening bracket that waits for its closing one.
struct Bracket {
    at: usize,
    image: bool,
    /// The delimiters above this are inside.
    bottom: Option<usize>,
    /// Whether another bracket follows it, so that what it opens is no label.
    nested: bool,
}

/// Closers that are known not to come.
#[derive(Default)]
struct Missing {
    comment: bool,
    instruction: bool,
    declaration: bool,
    cdata: bool,
    shortcode: [bool; 4],
    math: [bool; 2],
}

pub(super) struct Scanner<'v, 't> {
    tree: &'t Tree,
    view: &'v View<'t>,
    text: &'v [u8],
    found: Vec<Found>,
    brackets: Vec<Bracket>,
    /// Brackets below this open no link: a link was closed after them.
    inactive: usize,
    delimiters: Delimiters,
    missing: Missing,
    /// Where runs of backticks start, by their length; filled at the first one.
    ticks: Option<HashMap<usize, Vec<usize>>>,
}

impl<'v, 't> Scanner<'v, 't> {
    pub fn new(tree: &'t Tree, view: &'v View<'t>) -> Self {
        Self {
            tree,
            view,
            text: &view.bytes,
            found: Vec::new(),
            brackets: Vec::new(),
            inactive: 0,
            delimiters: Delimiters::default(),
            missing: Missing::default(),
            ticks: None,
        }
    }

    /// Returns everything but text, in no order.
    pub fn run(mut self) -> Vec<Found> {
        let mut at = 0;
        while let Some(step) = self.text[at..].iter().position(|byte| SPECIAL[usize::from(*byte)]) {
            at += step;
            at = self.step(at);
            if at >= self.text.len() {
                break;
            }
        }
        self.delimiters.process(None, &mut self.found);
        self.found
    }

    fn push(&mut self, kind: InlineKind, span: Range<usize>, content: Range<usize>) -> usize {
        let end = span.end;
        self.found.push(Found { kind, span, content });
        end
    }

    /// Reads what stands at a special byte; returns where to go on.
    fn step(&mut self, at: usize) -> usize {
        match self.text[at] {
            b'\\' => match self.text.get(at + 1) {
                Some(b'\n') => self.push(InlineKind::HardBreak, at..at + 2, at + 2..at + 2),
                Some(byte) if byte.is_ascii_punctuation() => at + 2,
                _ => at + 1,
            },
            b'\n' => self.line_end(at),
            b'`' => self.code(at),
            b'<' => self.angle(at),
            b'*' | b'_' | b'~' => self.delimiters.push_run(self.text, at),
            b'$' => self.math(at),
            b'{' => self.shortcode(at),
            b':' => self.directive(at),
            b'!' => match (self.text.get(at + 1), self.text.get(at + 2)) {
                (Some(b'['), Some(b'[')) => self.wikilink(at, true).unwrap_or_else(|| self.open(at, true)),
                (Some(b'['), _) => self.open(at, true),
                _ => at + 1,
            },
            b'[' => match self.text.get(at + 1) {
                Some(b'[') => self.wikilink(at, false).unwrap_or_else(|| self.open(at, false)),
                Some(b'^') => self.footnote(at).unwrap_or_else(|| self.open(at, false)),
                _ => self.open(at, false),
            },
            b']' => self.close(at),
            _ => at + 1,
        }
    }

    /// A line end: hard when two blanks stand before it. The blanks before it belong to it.
    fn line_end(&mut self, at: usize) -> usize {
        let blanks = self.text[..at].iter().rev().take_while(|byte| **byte == b' ').count();
        let kind = if blanks >= 2 { InlineKind::HardBreak } else { InlineKind::SoftBreak };
        let start = at - self.text[..at].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.push(kind, start..at + 1, at + 1..at + 1)
    }

    fn code(&mut self, at: usize) -> usize {
        let length = run(self.text, at);
        let text = self.text;
        let runs = self.ticks.get_or_insert_with(|| {
            let mut runs: HashMap<usize, Vec<usize>> = HashMap::new();
            let mut from = 0;
            while let Some(found) = memchr::memchr(b'`', &text[from..]) {
                let start = from + found;
                let length = run(text, start);
                runs.entry(length).or_default().push(start);
                from = start + length;
            }
            runs
        });
        let inside = at + length;
        let close = runs.get(&length).and_then(|starts| starts.get(starts.partition_point(|start| *start < inside)).copied());
        let Some(close) = close else { return inside };
        let (mut start, mut end) = (inside, close);
        let blank = |byte: u8| matches!(byte, b' ' | b'\n');
        // One blank on each side belongs to the markers, unless there is nothing else.
        if end - start >= 2 && blank(text[start]) && blank(text[end - 1]) && !text[start..end].iter().all(|byte| blank(*byte)) {
            (start, end) = (start + 1, end - 1);
        }
        self.push(InlineKind::Code, at..close + length, start..end)
    }

    fn angle(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if let Some(length) = literal::angle_link(rest) {
            return self.push(InlineKind::Autolink { bare: false }, at..at + length, at + 1..at + length - 1);
        }
        if let Some(length) = self.html(at) {
            return self.push(InlineKind::Html, at..at + length, at..at + length);
        }
        at + 1
    }

    /// The length of the inline HTML at a `<`.
    fn html(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        // Searches from `from` for a closer that a failed search has not ruled out.
        let until = |missing: &mut bool, from: usize, closer: &[u8]| {
            if *missing {
                return None;
            }
            let found = memchr::memmem::find(rest.get(from..)?, closer).map(|end| from + end + closer.len());
            *missing = found.is_none();
            found
        };
        if rest.starts_with(b"<!-->") {
            return Some(5);
        }
        if rest.starts_with(b"<!--->") {
            return Some(6);
        }
        if rest.starts_with(b"<!--") {
            return until(&mut self.missing.comment, 4, b"-->");
        }
        if rest.starts_with(b"<?") {
            return until(&mut self.missing.instruction, 2, b"?>");
        }
        if rest.starts_with(b"<![CDATA[") {
            return until(&mut self.missing.cdata, 9, b"]]>");
        }
        if rest.starts_with(b"<!") && rest.get(2).is_some_and(u8::is_ascii_alphabetic) {
            return until(&mut self.missing.declaration, 2, b">");
        }
        html::inline_tag(rest)
    }

    /// `$x$` as Pandoc reads it: no blank inside the dollars, no digit after. `$$x$$` has two.
    fn math(&mut self, at: usize) -> usize {
        let length = run(self.text, at);
        if length > 2 {
            return at + length;
        }
        let inside = at + length;
        if self.missing.math[length - 1] || self.text.get(inside).is_none_or(|byte| length == 1 && byte.is_ascii_whitespace()) {
            return inside;
        }
        let mut from = inside;
        let mut seen = false;
        while let Some(found) = memchr::memchr2(b'$', b'\\', &self.text[from..]) {
            let close = from + found;
            if self.text[close] == b'\\' {
                from = (close + 2).min(self.text.len());
                continue;
            }
            let closing = run(self.text, close);
            seen |= closing == length;
            let blank_before = length == 1 && self.text[close - 1].is_ascii_whitespace();
            let digit_after = length == 1 && self.text.get(close + closing).is_some_and(u8::is_ascii_digit);
            if closing == length && close > inside && !blank_before && !digit_after {
                return self.push(InlineKind::Math { display: length == 2 }, at..close + length, inside..close);
            }
            // A dollar that cannot close may open; look no further than it, so that the search stays linear.
            if closing == length {
                return inside;
            }
            from = close + closing;
        }
        self.missing.math[length - 1] = !seen;
        inside
    }

    /// `{{< … >}}`, `{{% … %}}`, `{% … %}`, `{{ … }}`: a template's, kept as it is.
    fn shortcode(&mut self, at: usize) -> usize {
        const FORMS: [(&[u8], &[u8]); 4] = [(b"{{<", b">}}"), (b"{{%", b"%}}"), (b"{%", b"%}"), (b"{{", b"}}")];
        let rest = &self.text[at..];
        let Some(form) = FORMS.iter().position(|(open, _)| rest.starts_with(open)) else { return at + 1 };
        let (open, close) = FORMS[form];
        if self.missing.shortcode[form] {
            return at + 1;
        }
        match memchr::memmem::find(&rest[open.len()..], close) {
            Some(length) => {
                let end = at + open.len() + length + close.len();
                self.push(InlineKind::Shortcode, at..end, at + open.len()..end - close.len())
            }
            None => {
                self.missing.shortcode[form] = true;
                at + 1
            }
        }
    }

    /// `:name[label]{attributes}`: a label or attributes must be there, so that `12:30` stays text.
    fn directive(&mut self, at: usize) -> usize {
        let colons = run(self.text, at);
        if colons > 1 {
            return at + colons;
        }
        // A name is short; what is longer is a path or an address.
        let limit = self.text.len().min(at + 1 + MAX_DIRECTIVE);
        let Some(parts) = directive::parts(self.text, at + 1, limit, true) else { return at + 1 };
        if parts.label == Span::NONE && parts.attributes == Span::NONE {
            return at + 1;
        }
        let span = |span: Span| span.some().map(|span| self.view.span(span.range()));
        let kind = InlineKind::Directive {
            name: self.view.span(parts.name.range()),
            label: span(parts.label),
            attributes: span(parts.attributes),
        };
        self.push(kind, at..parts.end, parts.name.range().end..parts.end)
    }

    /// `[[target#heading|alias]]`, `![[…]]`.
    fn wikilink(&mut self, at: usize, embed: bool) -> Option<usize> {
        let inside = at + usize::from(embed) + 2;
        let rest = &self.text[inside..];
        // The next bracket or line ending decides, so that the search is no longer than the text it passes.
        let length = memchr::memchr3(b'[', b']', b'\n', rest)?;
        if length == 0 || !rest[length..].starts_with(b"]]") {
            return None;
        }
        let inner = &rest[..length];
        // Brackets around a defined label are brackets around a link.
        if !embed && std::str::from_utf8(inner).is_ok_and(|label| self.tree.definition(label).is_some()) {
            return None;
        }
        // In a table the bar is escaped; the backslash is no part of the target.
        let bar = memchr::memchr(b'|', inner);
        let name_end = bar.map_or(length, |bar| if bar > 0 && inner[bar - 1] == b'\\' { bar - 1 } else { bar });
        let hash = memchr::memchr(b'#', &inner[..name_end]);
        let target = self.view.span(inside..inside + hash.unwrap_or(name_end));
        let heading = hash.map(|hash| self.view.span(inside + hash + 1..inside + name_end));
        let alias = bar.map(|bar| self.view.span(inside + bar + 1..inside + length));
        let kind = InlineKind::Wikilink { embed, target, heading, alias };
        Some(self.push(kind, at..inside + length + 2, inside..inside + length))
    }

    /// `[^label]`, when the label is defined.
    fn footnote(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at + 2..];
        let length = rest.iter().take(1000).position(|byte| matches!(byte, b']' | b'[' | b' ' | b'\t' | b'\n'))?;
        if rest[length] != b']' || length == 0 {
            return None;
        }
        let label = std::str::from_utf8(&rest[..length]).ok()?;
        self.tree.footnote(label)?;
        let span = self.view.span(at + 2..at + 2 + length);
        Some(self.push(InlineKind::FootnoteReference { label: span }, at..at + length + 3, at + 2..at + 2 + length))
    }

    fn open(&mut self, at: usize, image: bool) -> usize {
        if let Some(last) = self.brackets.last_mut() {
            last.nested = true;
        }
        self.brackets.push(Bracket { at, image, bottom: self.delimiters.last(), nested: false });
        at + 1 + usize::from(image)
    }

    fn close(&mut self, at: usize) -> usize {
        let Some(bracket) = self.brackets.pop() else { return at + 1 };
        let active = bracket.image || self.brackets.len() >= self.inactive;
        let inside = bracket.at + 1 + usize::from(bracket.image);
        let target = if active { self.target(&bracket, inside..at) } else { None };
        self.inactive = self.inactive.min(self.brackets.len());
        let Some((target, end)) = target else { return at + 1 };
        self.delimiters.process(bracket.bottom, &mut self.found);
        let kind = if bracket.image { InlineKind::Image(target) } else { InlineKind::Link(target) };
        if !bracket.image {
            self.inactive = self.brackets.len();
        }
        self.push(kind, bracket.at..end, inside..at)
    }

    /// What the brackets link to, and where it ends.
    fn target(&self, bracket: &Bracket, text: Range<usize>) -> Option<(Target, usize)> {
        let after = text.end + 1;
        if let Some(inline) = links::inline(self.text, after) {
            let target = Target {
                form: LinkForm::Inline,
                destination: self.view.span(inline.destination),
                title: inline.title.map(|title| self.view.span(title)),
                label: None,
            };
            return Some((target, inline.end));
        }
        let (form, label, end) = match links::label(self.text, after) {
            Some(label) if !label.is_empty() => (LinkForm::Full, label.clone(), label.end + 1),
            other => {
                // Without a label of its own, the text is the label; it may hold no bracket.
                if bracket.nested || text.len() > 999 {
                    return None;
                }
                match other {
                    Some(empty) => (LinkForm::Collapsed, text, empty.end + 1),
                    None => (LinkForm::Shortcut, text, after),
                }
            }
        };
        let name = std::str::from_utf8(&self.text[label.clone()]).ok()?;
        let definition = self.tree.definition(name)?;
        let crate::Kind::LinkDefinition { destination, title, .. } = definition.kind() else { return None };
        Some((Target { form, destination, title, label: Some(self.view.span(label)) }, end))
    }
}

/// The bytes at which something may start.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\\\n`<*_~${:![]";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
};

/// How often the byte at `at` is repeated.
pub(super) fn run(text: &[u8], at: usize) -> usize {
    text[at..].iter().take_while(|byte| **byte == text[at]).count()
}
