//! YAML with spans: enough of a tree to find a key's bytes.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A node and its bytes.
#[derive(Debug)]
pub(super) struct Node {
    pub shape: Shape,
    pub range: Range<usize>,
}

#[derive(Debug)]
pub(super) enum Shape {
    Scalar(ScalarStyle),
    Alias,
    /// Whether it is in flow style.
    List {
        flow: bool,
        items: Vec<Node>,
    },
    Mapping {
        flow: bool,
        entries: Vec<Entry>,
    },
}

/// One entry of a mapping.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: Option<String>,
    pub key: Range<usize>,
    pub value: Node,
}

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 64;

/// Reads the root of a YAML document.
pub(super) fn read(text: &str) -> Option<Node> {
    // The parser counts characters.
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len())).collect();
    let mut events = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let byte = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
        events.push((event, byte(span.start.index())..byte(span.end.index())));
    }
    let mut reader = Reader { text, events, at: 0 };
    while matches!(reader.events.get(reader.at)?.0, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing) {
        reader.at += 1;
    }
    reader.node(0)
}

struct Reader<'t> {
    text: &'t str,
    events: Vec<(Event<'t>, Range<usize>)>,
    at: usize,
}

impl Reader<'_> {
    fn node(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (event, range) = self.events.get(self.at)?.clone();
        self.at += 1;
        match event {
            Event::Scalar(_, style, ..) => Some(Node { shape: Shape::Scalar(style), range: self.scalar(style, range) }),
            Event::Alias(_) => Some(Node { shape: Shape::Alias, range }),
            Event::SequenceStart(..) => {
                let flow = self.text[range.start..].starts_with('[');
                let mut items = Vec::new();
                let mut end = range.end;
                while !matches!(self.events.get(self.at)?.0, Event::SequenceEnd) {
                    let item = self.node(depth + 1)?;
                    end = item.range.end.max(end);
                    items.push(item);
                }
                let closing = self.events.get(self.at)?.1.end;
                self.at += 1;
                Some(Node { shape: Shape::List { flow, items }, range: range.start..if flow { closing } else { end } })
            }
            Event::MappingStart(..) => {
                let flow = self.text[range.start..].starts_with('{');
                let mut entries: Vec<Entry> = Vec::new();
                let mut end = range.end;
                while !matches!(self.events.get(self.at)?.0, Event::MappingEnd) {
                    let name = match &self.events.get(self.at)?.0 {
                        Event::Scalar(text, ..) => Some(text.to_string()),
                        _ => None,
                    };
                    let key = self.node(depth + 1)?;
                    let value = self.node(depth + 1)?;
                    end = value.range.end.max(key.range.end).max(end);
                    entries.push(Entry { name, key: key.range, value });
                }
                let closing = self.events.get(self.at)?.1.end;
                self.at += 1;
                let start = if flow { range.start } else { entries.first().map_or(range.start, |entry| entry.key.start) };
                Some(Node { shape: Shape::Mapping { flow, entries }, range: start..if flow { closing } else { end } })
            }
            _ => None,
        }
    }

    /// A scalar's bytes, without blanks and line ends that the parser counts to it.
    fn scalar(&self, style: ScalarStyle, range: Range<usize>) -> Range<usize> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        match style {
            ScalarStyle::Plain => range.start..range.start + text.trim_end().len(),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                range.start..range.start + text.trim_end_matches([' ', '\t', '\n', '\r']).len()
            }
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => range.start..range.start + quoted(text),
        }
    }
}

/// The length of a quoted scalar: the parser counts the blanks and the comment behind it too.
fn quoted(text: &str) -> usize {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return text.len() };
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                chars.next();
            }
            // Two single quotes are one.
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
            }
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
