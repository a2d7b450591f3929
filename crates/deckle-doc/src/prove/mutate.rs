//! Variants and random changes of documents.

use crate::{Dialect, Tree};

/// A stream of numbers from a seed (SplitMix64, Steele and others 2014), so that a failure repeats.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number below `bound`; 0 when that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    /// Returns one of a list.
    ///
    /// # Panics
    /// When the list is empty.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Text that starts, ends or looks like something.
pub const PIECES: &[&str] = &[
    "",
    "\n",
    "\n\n",
    "x",
    "# h\n",
    "- ",
    "> ",
    "```\n",
    "---\n",
    "===\n",
    "    ",
    ":::note\n",
    ":::\n",
    "::::tabs[a]{b=c}\n",
    "::embed{x}\n",
    "|",
    "|-|-|\n",
    "[a]: /b\n",
    "\r",
    "\r\n",
    "<div>\n",
    "<Tabs>\n",
    "-->",
    "1. ",
    "[^a]: ",
    "\t",
    "| a | b |\n",
    "*",
    "**",
    "`",
    "[",
    "](",
    "]",
    "$",
    "$$\n",
    "\\",
    "é",
    "\u{FEFF}",
    "\0",
    "~~~",
    "+++\n",
    "[ ] ",
    ":m[x]",
    "[[k|t]]",
    "{{< x >}}",
    "&amp;",
    "<!--",
    "2) ",
    "* * *\n",
    "  ",
    "\u{a0}",
    "\u{c}",
    "!!! note \"T\"\n",
    "> [!tip]- t\n",
    "::: warning T\n",
    "```{note}\n",
    "import x from 'y'\n",
    "www.a.b/",
];

/// The variants of a document that no corpus has: line ends, byte order mark, ends, blanks, tabs, other containers around it.
#[must_use]
pub fn variants(text: &str) -> Vec<(&'static str, String)> {
    let unix = text.replace("\r\n", "\n");
    let ends = |ends: &[&str]| {
        let mut out = String::with_capacity(unix.len() + unix.len() / 16);
        for (place, line) in unix.split('\n').enumerate() {
            if place > 0 {
                out.push_str(ends[place % ends.len()]);
            }
            out.push_str(line);
        }
        out
    };
    vec![
        ("as it is", text.to_owned()),
        ("LF", unix.clone()),
        ("CRLF", ends(&["\r\n"])),
        ("CR", ends(&["\r"])),
        ("mixed", ends(&["\n", "\r\n", "\r"])),
        ("BOM", format!("\u{FEFF}{text}")),
        ("no final newline", text.trim_end_matches(['\n', '\r']).to_owned()),
        ("trailing blanks", ends(&["  \n", "\t\n"])),
        ("tabs", unix.replace("    ", "\t").replace("\n  ", "\n\t")),
        ("quoted", unix.split('\n').map(|line| format!("> {line}\n")).collect()),
        ("in an item", format!("- {}", ends(&["\n  "]))),
        ("NUL and form feed", text.replace(". ", ".\0\u{c}")),
    ]
}

/// Returns a part of a text, at most 1,500 bytes, with one to four pieces put in.
pub fn mutate(random: &mut Random, text: &str) -> String {
    let start = floor(text, random.below(text.len() + 1));
    let end = floor(text, (start + 1 + random.below(1_500)).min(text.len())).max(start);
    let mut part = text[start..end].to_owned();
    for _ in 0..1 + random.below(4) {
        let place = floor(&part, random.below(part.len() + 1));
        part.insert_str(place, random.pick(PIECES));
    }
    part
}

/// Splices a random piece into a text and compares with a full parse. Returns 1.
///
/// # Errors
/// When the trees differ.
pub fn splice(random: &mut Random, text: &str, dialect: Dialect) -> Result<u64, String> {
    let Ok(tree) = Tree::parse(text, dialect) else { return Ok(0) };
    let start = floor(text, random.below(text.len() + 1));
    let end = floor(text, (start + [0, 0, 1, 5, 40, 300][random.below(6)]).min(text.len())).max(start);
    let with = random.pick(PIECES);
    let spliced = tree.splice(start..end, with);
    if spliced == Tree::parse([&text[..start], with, &text[end..]].concat(), dialect) {
        Ok(1)
    } else {
        Err(format!("the splice of {with:?} at {start}..{end} is not the parse of the whole: {text:?}"))
    }
}

/// The last boundary of a character at or before `at`.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
