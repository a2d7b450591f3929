//! HTML blocks: the seven start and end conditions of the specification.

use super::cursor::{Ahead, trim_end};
use super::raw::Kind;
use super::{Leaf, Parser, Reading};

/// What ends an HTML block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A line with `</script>`, `</pre>`, `</style>` or `</textarea>`.
    Raw,
    /// A line with `-->`.
    Comment,
    /// A line with `?>`.
    Instruction,
    /// A line with `>`.
    Declaration,
    /// A line with `]]>`.
    Cdata,
    /// A blank line.
    Blank,
}

impl End {
    pub fn at_blank(self) -> bool {
        self == Self::Blank
    }

    /// Whether the line holds the end.
    pub fn is_in(self, line: &[u8]) -> bool {
        let has = |needle: &[u8]| memchr::memmem::find(line, needle).is_some();
        match self {
            Self::Raw => {
                ["</script>", "</pre>", "</style>", "</textarea>"].iter().any(|tag| find_ignoring_case(line, tag.as_bytes()))
            }
            Self::Comment => has(b"-->"),
            Self::Instruction => has(b"?>"),
            Self::Declaration => has(b">"),
            Self::Cdata => has(b"]]>"),
            Self::Blank => false,
        }
    }
}

fn find_ignoring_case(line: &[u8], tag: &[u8]) -> bool {
    memchr::memchr_iter(b'<', line).any(|at| line.get(at..at + tag.len()).is_some_and(|text| text.eq_ignore_ascii_case(tag)))
}

const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];

/// The names of condition 6, sorted.
const BLOCK_NAMES: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

impl Parser<'_> {
    pub(super) fn start_html(&mut self, line: &mut Reading<'_>, ahead: Ahead, in_paragraph: bool) -> bool {
        let text = &self.bytes[ahead.pos..line.cursor.end];
        let Some(end) = start_condition(text, in_paragraph) else { return false };
        self.make_room(line, false);
        let node = self.push(Kind::Html, line.block_start(), ahead.pos);
        self.extend(node, trim_end(self.bytes, ahead.pos, line.cursor.end));
        if !end.is_in(text) {
            self.leaf = Leaf::Html { node, end };
        }
        true
    }
}

fn start_condition(text: &[u8], in_paragraph: bool) -> Option<End> {
    let rest = text.get(1..)?;
    match rest.first()? {
        b'!' => {
            if rest.starts_with(b"!--") {
                return Some(End::Comment);
            }
            if rest.starts_with(b"![CDATA[") {
                return Some(End::Cdata);
            }
            return rest.get(1).is_some_and(u8::is_ascii_alphabetic).then_some(End::Declaration);
        }
        b'?' => return Some(End::Instruction),
        _ => {}
    }
    let closing = rest.first() == Some(&b'/');
    let name_start = usize::from(closing);
    let length = rest[name_start..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    let name = &rest[name_start..name_start + length];
    let after = rest.get(name_start + length);
    if !closing
        && matches!(after, None | Some(b' ' | b'\t' | b'>'))
        && RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw.as_bytes()))
    {
        return Some(End::Raw);
    }
    let lower = name.to_ascii_lowercase();
    let ends_name = match after {
        None | Some(b' ' | b'\t' | b'>') => true,
        Some(b'/') => rest.get(name_start + length + 1) == Some(&b'>'),
        _ => false,
    };
    if ends_name && BLOCK_NAMES.binary_search_by(|known| known.as_bytes().cmp(&lower)).is_ok() {
        return Some(End::Blank);
    }
    // Condition 7: one whole tag alone on the line, and not in a paragraph.
    if in_paragraph || RAW.iter().any(|raw| lower == raw.as_bytes()) && !closing {
        return None;
    }
    let length = whole_tag(text)?;
    text[length..].iter().all(|b| matches!(b, b' ' | b'\t')).then_some(End::Blank)
}

/// The length of the open or closing tag that `text` starts with, on one line.
pub(crate) fn whole_tag(text: &[u8]) -> Option<usize> {
    if text.first() != Some(&b'<') {
        return None;
    }
    let closing = text.get(1) == Some(&b'/');
    let mut at = if closing { 2 } else { 1 };
    if !text.get(at)?.is_ascii_alphabetic() {
        return None;
    }
    while text.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-') {
        at += 1;
    }
    let blanks = |mut at: usize| {
        while text.get(at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    };
    loop {
        let after = blanks(at);
        match text.get(after)? {
            b'>' => return Some(after + 1),
            b'/' if !closing => return (text.get(after + 1) == Some(&b'>')).then_some(after + 2),
            _ if closing || after == at => return None,
            _ => {}
        }
        at = after;
        if !text.get(at).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b':')) {
            return None;
        }
        while text.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-')) {
            at += 1;
        }
        let equals = blanks(at);
        if text.get(equals) != Some(&b'=') {
            continue;
        }
        at = blanks(equals + 1);
        match text.get(at)? {
            quote @ (b'"' | b'\'') => {
                at += 2 + memchr::memchr(*quote, &text[at + 1..])?;
            }
            _ => {
                let start = at;
                while text
                    .get(at)
                    .is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'=' | b'<' | b'>' | b'`'))
                {
                    at += 1;
                }
                if at == start {
                    return None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted() {
        assert!(BLOCK_NAMES.is_sorted());
    }

    #[test]
    fn tags() {
        for (text, length) in
            [("<a>", 3), ("<a/>", 4), ("</a >", 5), ("<a b=c d='e' f=\"g\">x", 19), ("<x-y z>", 7), ("<a b = c>", 9)]
        {
            assert_eq!(whole_tag(text.as_bytes()), Some(length), "{text}");
        }
        for text in ["<a", "<a b=>", "<1>", "</a b>", "<a'b'>", "<a b='c>", "< a>"] {
            assert_eq!(whole_tag(text.as_bytes()), None, "{text}");
        }
    }
}
