//! Items beside items: the payload is a list, the target keeps its own kind of list.

use deckle_doc::{Block, Kind, Splice};

use super::{Context, Draft};
use crate::EditError;
use crate::fit::{self, Payload, marker_length};

/// Puts the items of the payload in front of an item, or behind it.
pub(super) fn beside(context: &Context<'_>, item: &Block<'_>, payload: &Payload, in_front: bool) -> Result<Draft, EditError> {
    let source = context.tree.source();
    let end = fit::line_end(source);
    let Some(list) = item.parent() else { return Ok(Draft::default()) };
    let Kind::List { ordered, tight, .. } = list.kind() else { return Ok(Draft::default()) };
    let texts = items(item, payload, if in_front { 0 } else { 1 })?;
    let start = item.content().start;
    let line = fit::line_start(source, start);
    // The blanks in front of the marker belong to the list's place.
    let lead: String = source[line..start].chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect();
    let gap = if tight { String::new() } else { format!("{}{end}", lead.trim_end()) };
    let joined = texts.iter().map(|text| fit::lines(text, &lead, end)).collect::<Vec<_>>().join(&format!("{end}{gap}{lead}"));
    let splice = if in_front {
        Splice::insert(start, format!("{joined}{end}{gap}{lead}"))
    } else {
        Splice::insert(fit::line_stop(source, item.content().end), format!("{end}{gap}{lead}{joined}"))
    };
    let at = splice.range.clone();
    let mut draft = Draft {
        splices: vec![splice],
        added: payload.tree.len() - 1,
        came: payload.kinds().split_off(1),
        touched: vec![at],
        ..Draft::default()
    };
    super::insert::grown(&mut draft, item, false);
    if in_front && ordered.is_some() && item.previous().is_none() {
        draft.named.retyped.insert(list.index());
    }
    Ok(draft)
}

/// The texts of the payload's items, with the markers of the target's list. `offset` is what the first number is past the target's.
pub(super) fn items(item: &Block<'_>, payload: &Payload, offset: u32) -> Result<Vec<String>, EditError> {
    let mut blocks = payload.blocks();
    let (Some(list), None) = (blocks.next(), blocks.next()) else { return Err(no_list()) };
    if !matches!(list.kind(), Kind::List { .. }) {
        return Err(no_list());
    }
    let text = item.text();
    let marker = &text[..marker_length(text)];
    let number: Option<u32> = marker[..marker.len() - 1].parse().ok();
    let mut out = Vec::new();
    for (place, one) in list.children().enumerate() {
        let text = one.text();
        let old = marker_length(text);
        let blanks = text[old..].bytes().take_while(|byte| *byte == b' ').count().clamp(1, 4);
        let new = match number {
            Some(number) => format!("{}{}", number + offset + place as u32, &marker[marker.len() - 1..]),
            None => marker.to_owned(),
        };
        let old_width = old + blanks;
        let new_width = new.len() + 1;
        let mut lines = text.split('\n');
        let first = lines.next().unwrap_or_default();
        let mut whole = format!("{new} {}", first.get(old..).unwrap_or_default().trim_start());
        for line in lines {
            whole.push('\n');
            let indent = line.bytes().take_while(|byte| *byte == b' ').count().min(old_width);
            if !line.trim().is_empty() {
                whole.push_str(&" ".repeat(new_width));
                whole.push_str(&line[indent..]);
            }
        }
        out.push(whole.trim_end().to_owned());
    }
    Ok(out)
}

fn no_list() -> EditError {
    EditError::Payload {
        why: "beside an item there can only be items".into(),
        hint: "write the content as one list: `- first` and `- second`".into(),
    }
}
