//! Content gates: text that stands for text that was left out, and losses that nobody announced.

use deckle_doc::{InlineKind, Tree};

use crate::EditError;

/// The share of words that an edit may take from a block or document without saying so.
const MAX_SILENT_LOSS: f64 = 0.5;
/// Blocks and documents with fewer words than this may lose any share.
const MIN_WORDS: usize = 20;

/// Refuses a payload that elides: `… rows 8–150 unchanged`, `[rest of document]`, `// ... existing code ...`. A line that stands in `known`,
/// the document as it is, is text like any other.
///
/// # Errors
/// When it does.
pub fn elision(payload: &str, known: &str) -> Result<(), EditError> {
    for line in payload.lines() {
        if is_elision(line) && !known.contains(line.trim()) {
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
            || line.starts_with("/*")
            || line.starts_with("{/*")
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

/// Refuses a change that takes most of a text's links.
///
/// # Errors
/// When it does; the message names them.
pub fn links(what: &str, before: &[String], after: &[String]) -> Result<(), EditError> {
    let mut lost: Vec<&str> = before.iter().filter(|link| !after.contains(link)).map(String::as_str).collect();
    lost.dedup();
    if lost.len() < MIN_LINKS || lost.len() * 2 <= before.len() {
        return Ok(());
    }
    Err(EditError::Gate {
        message: format!("{what} would lose {} of {} links: {}", lost.len(), before.len(), lost.join(" ")),
        hint: "keep the links in what you send; if they are to go, say so with `removed: true`".into(),
    })
}

/// Refuses a document written anew that forgets keys of the front matter.
///
/// # Errors
/// When it does; the message names them.
pub fn front_matter(what: &str, before: &Tree, after: &Tree) -> Result<(), EditError> {
    let names = |tree: &Tree| -> Vec<String> {
        crate::documents::front_value(tree).as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
    };
    let kept = names(after);
    let lost: Vec<String> = names(before).into_iter().filter(|name| !kept.contains(name)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(EditError::Gate {
        message: format!("{what} would lose the front matter: {}", lost.join(" ")),
        hint: "send the front matter with the text; if it is to go, say so with `removed: true`, or `$unset` the keys".into(),
    })
}

/// Fewer links than this may go without a word.
const MIN_LINKS: usize = 2;

/// The destinations of a text's links, in order.
#[must_use]
pub(crate) fn destinations(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for block in tree.blocks().filter(|block| block.has_inlines() && block.text().contains('[')) {
        let source = block.tree().source();
        for inline in block.inlines() {
            match inline.kind {
                InlineKind::Link(target) | InlineKind::Image(target) => found.push(target.destination.of(source).to_owned()),
                InlineKind::Wikilink { .. } => found.push(source.get(inline.span.clone()).unwrap_or_default().to_owned()),
                _ => {}
            }
        }
    }
    found
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
