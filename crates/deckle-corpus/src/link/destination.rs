//! Paths as they are written in destinations: decoded, joined, and written again in the author's way.

use std::borrow::Cow;

/// Returns the text that a segment of a destination means: escapes and percent-encoding resolved.
pub(crate) fn decoded(raw: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'%', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let bytes = raw.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match byte {
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => {
                out.push(bytes[at + 1]);
                at += 2;
            }
            b'%' => match (hex(at + 1), hex(at + 2)) {
                (Some(high), Some(low)) => {
                    out.push((high * 16 + low) as u8);
                    at += 3;
                }
                _ => {
                    out.push(byte);
                    at += 1;
                }
            },
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Whether a destination names another site or a protocol: `https:…`, `mailto:…`, `//host`.
pub(crate) fn is_external(raw: &str) -> bool {
    if raw.starts_with("//") {
        return true;
    }
    let Some(colon) = raw.find(':') else { return false };
    let scheme = &raw[..colon];
    scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Returns the path that `path` is from `folder`, without `.`; what leaves the root starts with `..`.
pub(crate) fn joined(folder: &str, path: &str) -> String {
    let mut out: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if out.last().is_some_and(|last| *last != "..") => {
                out.pop();
            }
            _ => out.push(segment),
        }
    }
    out.join("/")
}

/// Returns the way from a folder to a path: `../a/b`, `b`; the empty text from a folder to itself.
pub(crate) fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    let to: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut out: Vec<&str> = vec![".."; from.len() - shared];
    out.extend(to.iter().skip(shared));
    out.join("/")
}

/// How an author writes the characters that a destination can't hold as they are.
pub(crate) struct Spelling<'r> {
    /// The segments of the old destination: what stays is written as it was.
    known: Vec<(Cow<'r, str>, &'r str)>,
    /// Whether blanks may stand as they are.
    angle: bool,
    /// Whether letters outside ASCII were encoded.
    encodes_letters: bool,
    /// Whether anything was encoded.
    encodes: bool,
    /// Whether it stands in an attribute, which a quote would end.
    html: bool,
}

impl<'r> Spelling<'r> {
    pub(crate) fn of(raw: &'r str, angle: bool, html: bool) -> Spelling<'r> {
        let known: Vec<_> = raw.split('/').map(|segment| (decoded(segment), segment)).collect();
        let encodes = known.iter().any(|(plain, raw)| plain != raw && raw.contains('%'));
        let encodes_letters = known.iter().any(|(plain, raw)| !plain.is_ascii() && raw.is_ascii());
        Spelling { known, angle, encodes_letters, encodes, html }
    }

    /// Writes a path.
    pub(crate) fn write(&self, path: &str) -> String {
        path.split('/').map(|segment| self.segment(segment)).collect::<Vec<_>>().join("/")
    }

    fn segment(&self, segment: &str) -> String {
        if let Some((_, raw)) = self.known.iter().find(|(plain, _)| plain == segment) {
            return (*raw).to_owned();
        }
        let mut out = String::with_capacity(segment.len());
        for c in segment.chars() {
            let plain = match c {
                '%' | '#' | '?' | '<' | '>' | '"' | '\\' | '|' | '`' | '&' | '*' | '[' | ']' | '$' | '{' | '}' => false,
                '\'' => !self.html,
                ' ' => self.angle && !self.encodes,
                '(' | ')' => self.angle,
                c if c.is_whitespace() => false,
                c => c.is_ascii() || !self.encodes_letters,
            };
            if plain {
                out.push(c);
            } else {
                let mut buffer = [0; 4];
                c.encode_utf8(&mut buffer).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_related() {
        assert_eq!(joined("a/b", "../c/./d"), "a/c/d");
        assert_eq!(joined("a", "../../x"), "../x");
        for (folder, path) in [("", "x/y"), ("a/b", "a/c"), ("a", "a/b/c"), ("a/b/c", "z"), ("a", "a"), ("a/b", "../x")] {
            assert_eq!(joined(folder, &relative(folder, path)), path);
        }
    }

    #[test]
    fn what_stays_is_spelt_as_it_was() {
        let spelling = Spelling::of("../My%20notes/caf%c3%a9\\_x.md", false, false);
        assert_eq!(spelling.write("../../My notes/café_x.md"), "../../My%20notes/caf%c3%a9\\_x.md");
        assert_eq!(spelling.write("ü (1).md"), "%C3%BC%20%281%29.md");
        assert_eq!(Spelling::of("a b.md", true, false).write("c d.md"), "c d.md");
        assert_eq!(Spelling::of("a.md", false, false).write("ü d.md"), "ü%20d.md");
    }

    #[test]
    fn schemes_are_external() {
        for raw in ["https://a.b", "mailto:x@y", "//cdn/x", "vscode+x:y"] {
            assert!(is_external(raw), "{raw}");
        }
        for raw in ["a/b", "./a:b", "#x", "/x", "c:x"] {
            assert!(!is_external(raw), "{raw}");
        }
    }
}
