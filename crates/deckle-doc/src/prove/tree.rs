//! The invariants of one tree.

use crate::{Block, Dialect, Tree};

/// Fails with what does not hold.
macro_rules! hold {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err(format!($($what)+));
        }
    };
}

/// Checks what holds of every tree: the bytes, the tiling, the order, the inline nodes. A text past a limit has no tree, and nothing to check.
///
/// # Errors
/// With the block and the text for which something does not hold.
pub fn tree(text: &str, dialect: Dialect) -> Result<(), String> {
    let Ok(tree) = Tree::parse(text, dialect) else { return Ok(()) };
    hold!(tree.emit() == text, "emit differs for {text:?}");
    hold!(tree.root().span() == (0..text.len()), "the root is {:?} of {text:?}", tree.root().span());
    for block in tree.blocks() {
        place(&block).map_err(|problem| format!("{problem}: {block:?} in {text:?}"))?;
        inlines(&block).map_err(|problem| format!("{problem}: {block:?} in {text:?}"))?;
    }
    Ok(())
}

/// The spans of a block lie in each other, in its parent, and right after its neighbour.
fn place(block: &Block<'_>) -> Result<(), String> {
    let parent = block.parent().ok_or("no parent")?;
    let (span, content, inner) = (block.span(), block.content(), block.inner());
    hold!(
        span.start <= content.start && content.start <= content.end && content.end <= span.end,
        "content {content:?} outside {span:?}"
    );
    hold!(content.start <= inner.start && inner.start <= inner.end && inner.end <= span.end, "inner {inner:?} outside {span:?}");
    let around = parent.content();
    hold!(around.start <= content.start && content.end <= around.end, "content {content:?} outside the parent's {around:?}");
    match block.previous() {
        Some(before) => hold!(before.span().end == span.start, "a gap after {:?}", before.span()),
        None => hold!(parent.span().start <= span.start, "it starts before its parent"),
    }
    hold!(block.next().is_some() || span.end <= parent.span().end, "it ends after its parent");
    hold!(block.previous().is_none_or(|before| before.next() == Some(*block)), "its neighbour has another neighbour");
    Ok(())
}

/// The inline nodes stand in order, in each other, and in the block.
fn inlines(block: &Block<'_>) -> Result<(), String> {
    let (content, inner) = (block.content(), block.inner());
    let mut at = inner.start;
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (place, inline) in block.inlines().iter().enumerate() {
        while open.last().is_some_and(|(last, _)| *last < place) {
            open.pop();
        }
        let end = open.last().map_or(inner.end.max(content.end), |(_, end)| *end);
        let (span, content) = (&inline.span, &inline.content);
        hold!(at <= span.start && span.start <= span.end && span.end <= end, "inline {inline:?} out of order");
        hold!(span.start <= content.start && content.end <= span.end, "inline {inline:?} with its content outside");
        at = span.start;
        open.push((place + inline.descendants as usize, span.end));
    }
    if block.first_child().is_none() {
        // They must not panic, whatever the block holds.
        let _ = (block.plain_text(), block.code());
    }
    Ok(())
}
