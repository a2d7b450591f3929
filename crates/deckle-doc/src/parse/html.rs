//! HTML that starts a line: the seven conditions of CommonMark.

use memchr::memmem;

use crate::parse::chars::{is_blank, is_line_end};

/// Tags that open a block which a blank line ends.
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
/// Tags whose content is raw text.
const RAW_NAMES: [&str; 4] = ["pre", "script", "style", "textarea"];

/// What ends the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlEnd {
    /// `</pre>`, `</script>`, `</style>` or `</textarea>`.
    Raw,
    /// `-->`
    Comment,
    /// `?>`
    Instruction,
    /// `>`
    Declaration,
    /// `]]>`
    Data,
    /// A blank line.
    Blank,
}

impl HtmlEnd {
    /// Whether the line holds the end.
    pub(crate) fn is_in(self, line: &[u8]) -> bool {
        match self {
            HtmlEnd::Raw => {
                let mut rest = line;
                while let Some(at) = memmem::find(rest, b"</") {
                    rest = &rest[at + 2..];
                    let length = rest.iter().take(9).take_while(|byte| byte.is_ascii_alphabetic()).count();
                    if rest.get(length) == Some(&b'>') && is_name(&rest[..length], &RAW_NAMES) {
                        return true;
                    }
                }
                false
            }
            HtmlEnd::Comment => memmem::find(line, b"-->").is_some(),
            HtmlEnd::Instruction => memmem::find(line, b"?>").is_some(),
            HtmlEnd::Declaration => memchr::memchr(b'>', line).is_some(),
            HtmlEnd::Data => memmem::find(line, b"]]>").is_some(),
            HtmlEnd::Blank => false,
        }
    }
}

fn is_name(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns what ends the HTML block that `line` starts at its first byte, `<`. A complete tag of any other name doesn't interrupt
/// a paragraph.
pub(crate) fn start(line: &[u8], interrupting: bool) -> Option<HtmlEnd> {
    match *line.get(1)? {
        b'!' if line[2..].starts_with(b"--") => Some(HtmlEnd::Comment),
        b'!' if line[2..].starts_with(b"[CDATA[") => Some(HtmlEnd::Data),
        b'!' => line.get(2).filter(|byte| byte.is_ascii_alphabetic()).map(|_| HtmlEnd::Declaration),
        b'?' => Some(HtmlEnd::Instruction),
        b'/' => tag(line, 2, true, interrupting),
        _ => tag(line, 1, false, interrupting),
    }
}

fn tag(line: &[u8], at: usize, closing: bool, interrupting: bool) -> Option<HtmlEnd> {
    let rest = &line[at..];
    if !rest.first()?.is_ascii_alphabetic() {
        return None;
    }
    let length = rest.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'-').count();
    let (name, after) = (&rest[..length], rest.get(length).copied());
    if !matches!(after, None | Some(b' ' | b'\t' | b'/' | b'>')) {
        return None;
    }
    let slash = after == Some(b'/');
    if !slash && !closing && is_name(name, &RAW_NAMES) {
        return Some(HtmlEnd::Raw);
    }
    if is_name(name, &BLOCK_NAMES) {
        return (!slash || rest.get(length + 1) == Some(&b'>')).then_some(HtmlEnd::Blank);
    }
    if interrupting {
        return None;
    }
    let end = if closing { skip_blanks(rest, length) } else { open_tag_end(rest, length)? };
    let complete = rest.get(end) == Some(&b'>') && rest[end + 1..].iter().all(|&byte| is_blank(byte));
    complete.then_some(HtmlEnd::Blank)
}

fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && is_blank(line[at]) {
        at += 1;
    }
    at
}

/// Returns the place where the `>` of an open tag must be, after its attributes.
fn open_tag_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let blank = skip_blanks(line, at);
        match *line.get(blank)? {
            b'/' => return Some(blank + 1),
            byte if byte == b':' || byte == b'_' || byte.is_ascii_alphabetic() => {
                at = blank;
                while at < line.len() && (line[at].is_ascii_alphanumeric() || matches!(line[at], b'-' | b'.' | b':' | b'_')) {
                    at += 1;
                }
            }
            _ => return Some(blank),
        }
        let equals = skip_blanks(line, at);
        if line.get(equals) != Some(&b'=') {
            continue;
        }
        let value = skip_blanks(line, equals + 1);
        match *line.get(value)? {
            b'<' | b'=' | b'>' | b'`' => return None,
            quote @ (b'"' | b'\'') => {
                at = value + 1 + memchr::memchr(quote, &line[value + 1..])? + 1;
                if !matches!(line.get(at), Some(b'/' | b'>' | b' ' | b'\t')) {
                    return None;
                }
            }
            _ => {
                at = value;
                while at < line.len() && !matches!(line[at], b'"' | b'\'' | b'/' | b'<' | b'=' | b'>' | b'`' | b' ' | b'\t') {
                    at += 1;
                }
            }
        }
    }
}

/// Returns the length of the tag at the start of `text`: an open tag or a closing tag, which may hold line endings.
pub(crate) fn inline_tag(text: &[u8]) -> Option<usize> {
    let name = |from: usize| {
        let first = text.get(from).is_some_and(u8::is_ascii_alphabetic);
        first.then(|| from + text[from..].iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'-').count())
    };
    let space = |mut at: usize| {
        while text.get(at).is_some_and(|&byte| is_blank(byte) || is_line_end(byte)) {
            at += 1;
        }
        at
    };
    if text.get(1) == Some(&b'/') {
        let end = space(name(2)?);
        return (text.get(end) == Some(&b'>')).then_some(end + 1);
    }
    let mut at = name(1)?;
    loop {
        let next = space(at);
        match *text.get(next)? {
            b'>' => return Some(next + 1),
            b'/' => return (text.get(next + 1) == Some(&b'>')).then_some(next + 2),
            byte if next > at && (byte == b':' || byte == b'_' || byte.is_ascii_alphabetic()) => {
                at = next;
                while text.get(at).is_some_and(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'_'))
                {
                    at += 1;
                }
            }
            _ => return None,
        }
        let equals = space(at);
        if text.get(equals) != Some(&b'=') {
            continue;
        }
        let value = space(equals + 1);
        match *text.get(value)? {
            b'<' | b'=' | b'>' | b'`' => return None,
            quote @ (b'"' | b'\'') => at = value + 1 + memchr::memchr(quote, &text[value + 1..])? + 1,
            _ => {
                at = value;
                while text.get(at).is_some_and(|&byte| {
                    !matches!(byte, b'"' | b'\'' | b'<' | b'=' | b'>' | b'`') && !is_blank(byte) && !is_line_end(byte)
                }) {
                    at += 1;
                }
            }
        }
    }
}
