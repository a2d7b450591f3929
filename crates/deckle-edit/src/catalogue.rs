//! Every code that an operation can be refused with: the source of `docs/errors.md`.

use std::fmt::Write as _;

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code, as it stands in `error[code]`.
    pub code: &'static str,
    /// When an operation is refused with it.
    pub when: &'static str,
    /// What its reader does next.
    pub next: &'static str,
}

/// The codes of operations, in the order in which an operation meets them.
pub const CODES: [Code; 21] = [
    Code {
        code: "syntax",
        when: "The operation is not of the language: an operator, a field or an argument that is unknown, missing or of another form.",
        next: "Take a word from the list in the hint.",
    },
    Code {
        code: "unguarded",
        when: "A strict surface (an agent's tools, MCP, `--strict`) got a change without the counts that it must state.",
        next: "Make a dry run, then add each `expect` that the message names with the count that you saw.",
    },
    Code {
        code: "no-document",
        when: "There is no document of that key.",
        next: "Take one of the keys that are near, or list the documents.",
    },
    Code {
        code: "expect-mismatch",
        when: "A guard does not agree with what is there; the places are listed, ten at most.",
        next: "Narrow the selection with `$within` or `$id`, or set `expect` to the count.",
    },
    Code {
        code: "nothing-selected",
        when: "An operator or a filter without a guard selects nothing.",
        next: "Take one of the blocks that are listed, or read the document again.",
    },
    Code {
        code: "stale",
        when: "A block reads otherwise than the caller last saw it, or it is gone.",
        next: "Look at the text as it is now, and send the edit again with it as the base.",
    },
    Code {
        code: "no-revision",
        when: "The revision in `base` is not one of the document's.",
        next: "Read the document again, and give the revision that the read names.",
    },
    Code {
        code: "wrong-type",
        when: "An operator cannot act on a block of this type.",
        next: "Use the operator or the selection that the hint names.",
    },
    Code {
        code: "anchor",
        when: "`from` does not occur exactly once in a selected block.",
        next: "Copy `from` from the text in the message, or make it longer.",
    },
    Code {
        code: "overlap",
        when: "Two operators touch the same bytes, or blocks would move into themselves.",
        next: "Make two operations of it, or narrow one selection.",
    },
    Code {
        code: "payload",
        when: "The content cannot stand at its place: a fence that is not closed, a row with other columns, text that would be read as other blocks.",
        next: "Write the content as the hint says.",
    },
    Code {
        code: "nesting",
        when: "A block would stand in a container that does not take it.",
        next: "Use what the hint lists as allowed, or put the block elsewhere.",
    },
    Code {
        code: "neighbour",
        when: "A block that the edit does not name would change: be swallowed, joined, retyped, or mean another definition.",
        next: "Do what the hint says, or select that block as well.",
    },
    Code {
        code: "content-gate",
        when: "On an agent's surface: the content stands for text that was left out, or much is lost that nobody announced.",
        next: "Send the whole text or a smaller edit; a loss that is meant is announced with `removed: true`.",
    },
    Code {
        code: "front-matter",
        when: "The front matter does not parse, or the value cannot be set in it.",
        next: "Repair the line that the message names by hand; until then the front matter is kept as it is.",
    },
    Code {
        code: "section",
        when: "No section, or more than one, has that name.",
        next: "Name one of the sections that are listed, by its path or its heading's id.",
    },
    Code {
        code: "document-exists",
        when: "There is a document of that key already.",
        next: "Change it with an update, or give `if_exists`.",
    },
    Code {
        code: "not-deleted",
        when: "There is no deleted document of that key to bring back.",
        next: "See whether the document is there, or create it.",
    },
    Code {
        code: "schema",
        when: "On a strict surface: the document would break the schema that it is bound to.",
        next: "Send the fields and sections that the message names.",
    },
    Code { code: "document-too-large", when: "The document would pass 8 MiB.", next: "Split the document into several." },
    Code {
        code: "document-too-deep",
        when: "Blocks would be nested more than 64 levels deep.",
        next: "Take out levels of quotes, lists or containers on the line that the message names.",
    },
];

/// `docs/errors.md`.
#[must_use]
pub fn page() -> String {
    let mut out = String::from(
        "# Errors of operations\n\n\
         Generated from the catalogue of `deckle-edit`; `UPDATE_DOCS=1 cargo test -p deckle-edit --test errors` writes it anew.\n\n\
         An operation that is refused writes nothing. The refusal says what was asked, what is there, what is allowed and what to do next, in one\n\
         form on every surface; at most ten places are listed:\n\n\
         ```\n\
         error[expect-mismatch]: `$replaceText` expects 1 block, selected 2\n\
         \u{20}\u{20}jon › Plans › \"He is wrapping up his business plan…\"\n\
         \u{20}\u{20}jon › Log › \"Still wrapping up…\"\n\
         hint: narrow the selection with `$within` or `$id`, or set `expect` to the count above\n\
         ```\n\n\
         | code | when | next |\n|---|---|---|\n",
    );
    for Code { code, when, next } in CODES {
        let _ = writeln!(out, "| `{code}` | {when} | {next} |");
    }
    out.push_str(
        "\nEvery code has a case in [`spec/`](../spec/README.md). A rename that the index plans itself may also be refused with a code of the\n\
         index: `same-key`, `retargets`, `unwritable-link`.\n",
    );
    out
}
