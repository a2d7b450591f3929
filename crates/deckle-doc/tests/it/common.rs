//! Where test data is, and the variants of a document.

use std::path::{Path, PathBuf};

/// The folder with corpora and the reference parser, beside the checkout.
pub fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("DECKLE_SHARED").map_or(beside, PathBuf::from);
    assert!(
        path.join("corpora").is_dir(),
        "{} has no corpora: set DECKLE_SHARED to the folder `shared` beside the checkout",
        path.display()
    );
    path
}

/// The folder outside the checkout in which tools are installed.
pub fn cache() -> PathBuf {
    if let Some(cache) = std::env::var_os("DECKLE_CACHE") {
        return PathBuf::from(cache);
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"), PathBuf::from);
    base.join("deckle")
}

/// Every Markdown document of the corpora, by path.
pub fn corpora() -> Vec<(PathBuf, String)> {
    let mut documents = Vec::new();
    let mut folders = vec![shared().join("corpora")];
    let top = folders[0].clone();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md" || extension == "mdx" || extension == "markdown")
                && path.parent() != Some(&top)
            {
                documents.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    documents.sort();
    assert_eq!(documents.len(), 616, "the visible corpora have 616 documents");
    documents
}

/// The variants of a document that no corpus has: line ends, byte order mark, ends, blanks, tabs.
pub fn variants(text: &str) -> Vec<(&'static str, String)> {
    let lines = || text.split('\n');
    let mixed = |ends: &[&str]| {
        let mut out = String::new();
        for (place, line) in lines().enumerate() {
            if place > 0 {
                out.push_str(ends[place % ends.len()]);
            }
            out.push_str(line);
        }
        out
    };
    vec![
        ("as it is", text.to_owned()),
        ("CRLF", mixed(&["\r\n"])),
        ("CR", mixed(&["\r"])),
        ("mixed", mixed(&["\n", "\r\n", "\r"])),
        ("BOM", format!("\u{FEFF}{text}")),
        ("no final newline", text.trim_end_matches('\n').to_owned()),
        ("trailing blanks", mixed(&["  \n", "\t\n"])),
        ("tabs", text.replace("    ", "\t").replace("\n  ", "\n\t")),
        ("quoted", lines().map(|line| format!("> {line}\n")).collect()),
        ("in an item", format!("- {}", lines().collect::<Vec<_>>().join("\n  "))),
        ("NUL and form feed", text.replace(". ", ".\0\u{c}")),
    ]
}

/// A stream of numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

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
];
