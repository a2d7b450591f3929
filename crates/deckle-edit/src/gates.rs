//! Content gates: text that stands for text that was left out, and losses that nobody announced.

use deckle_doc::Tree;

use crate::EditError;

/// The share of words that an edit may take from a block or document without saying so.
const MAX_SILENT_LOSS: f64 = 0.5;
/// Blocks and documents with fewer words than this may lose any share.
const MIN_WORDS: usize = 20;

/// Refuses a payload that elides: `… rows 8–150 unchanged`, `[rest of document]`, `// ... existing code ...`.
///
/// # Errors
/// When it does.
pub fn elision(payload: &str) -> Result<(), EditError> {
    for line in payload.lines() {
        if is_elision(line) {
            return Err(EditError::Gate {
                message: format!("`{}` stands for text that was left out", line.trim()),
                hint: "send the whole text of what you replace, or edit a smaller part with `$replaceText`; text that you do not send is not kept".into(),
            });
        }
    }
    Ok(())
}

fn is_elision(line: &str) -> bool {
    let lower = line
        .trim()
        .trim_matches(['<', '>', '!', '-', '/', '*', '#', '|', '[', ']', '(', ')', '_', ' ', '{', '}'])
        .trim()
        .to_lowercase();
    if lower.is_empty() || lower.chars().count() > 120 {
        return false;
    }
    let dotted = lower.starts_with("...") || lower.starts_with('…') || lower.ends_with("...") || lower.ends_with('…');
    let bracketed = {
        let line = line.trim();
        (line.starts_with('[') && line.ends_with(']'))
            || (line.starts_with('(') && line.ends_with(')'))
            || line.starts_with("<!--")
            || line.starts_with("//")
    };
    let says_rest = [
        "unchanged",
        "rest of the document",
        "rest of document",
        "rest of the file",
        "rest of file",
        "rest of the section",
        "rest of section",
        "rest of the page",
        "rest of the content",
        "remains the same",
        "remain the same",
        "stays the same",
        "same as before",
        "existing content",
        "existing code",
        "existing text",
        "content omitted",
        "omitted for brevity",
        "truncated",
        "previous content",
        "remaining rows",
        "remaining content",
        "remaining sections",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase));
    says_rest && (dotted || bracketed)
}

/// Refuses a change that takes more than half of a text's words.
///
/// # Errors
/// When it does; the hint says how to announce it.
pub fn loss(what: &str, before: &str, after: &str) -> Result<(), EditError> {
    let (had, has) = (count_words(before), count_words(after));
    if had >= MIN_WORDS && (has as f64) < had as f64 * (1.0 - MAX_SILENT_LOSS) {
        return Err(EditError::Gate {
            message: format!("{what} would go from {had} words to {has}"),
            hint: "if that is what you want, say so with `removed: true`; else edit the part that changes with `$replaceText`"
                .into(),
        });
    }
    Ok(())
}

/// Counts the words of a text.
#[must_use]
pub fn count_words(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
}

/// The words of a tree's body, front matter left out.
#[must_use]
pub fn body(tree: &Tree) -> &str {
    let start = tree
        .root()
        .first_child()
        .filter(|first| matches!(first.kind(), deckle_doc::Kind::FrontMatter { .. }))
        .map_or(0, |first| first.span().end);
    tree.source().get(start..).unwrap_or_default()
}

/// The words of the first heading of a text that is not parsed yet.
pub(crate) fn first_heading(content: &str) -> Option<String> {
    let tree = Tree::parse(content, deckle_doc::Dialect::Generic).ok()?;
    tree.blocks().find(|block| block.heading_level().is_some()).map(|block| block.plain_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elisions() {
        for line in [
            "… rows 8–150 unchanged",
            "[rest of document]",
            "<!-- existing content -->",
            "// ... existing code ...",
            "(remaining sections unchanged)",
            "| ... rows unchanged ... |",
        ] {
            assert!(is_elision(line), "{line}");
        }
        for line in [
            "And so on…",
            "The API is unchanged.",
            "...",
            "See [the rest](x.md) of the page",
            "The rest of the document explains why.",
        ] {
            assert!(!is_elision(line), "{line}");
        }
    }
}
