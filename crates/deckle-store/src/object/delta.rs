//! A small edit of a document is stored as the middle that changed between the beginning and the end that did not.

/// A chain longer than this would make reading the last version slow; the next is stored whole.
const MAX_DEPTH: u64 = 12;
/// Below this size the saving is not worth a second read.
const MIN_SIZE: usize = 512;

/// Encodes `new` as a change of `base`, when that saves at least half. `base_depth` is how many changes `base` itself
/// stands on.
pub(crate) fn encode(base: &[u8], base_depth: u64, new: &[u8]) -> Option<Vec<u8>> {
    if base_depth >= MAX_DEPTH || new.len() < MIN_SIZE {
        return None;
    }
    let prefix = base.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (base_rest, new_rest) = (base.get(prefix..)?, new.get(prefix..)?);
    let suffix = base_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = new_rest.get(..new_rest.len() - suffix)?;
    if middle.len() > new.len() / 2 {
        return None;
    }
    let mut out = Vec::with_capacity(middle.len() + 16);
    for number in [base_depth + 1, prefix as u64, suffix as u64] {
        put(&mut out, number);
    }
    out.extend_from_slice(middle);
    Some(out)
}

/// Returns how many changes this one stands on.
pub(crate) fn depth(delta: &[u8]) -> Option<u64> {
    take(&mut &*delta)
}

/// Applies a change to its base.
pub(crate) fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    let _depth = take(&mut rest)?;
    let prefix = usize::try_from(take(&mut rest)?).ok()?;
    let suffix = usize::try_from(take(&mut rest)?).ok()?;
    let head = base.get(..prefix)?;
    let tail = base.get(base.len().checked_sub(suffix)?..)?;
    Some([head, rest, tail].concat())
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(base in "[ab]{0,900}", cut in 0_usize..900, put in "[abc]{0,300}") {
            let at = cut.min(base.len());
            let new = format!("{}{put}{}", &base[..at], &base[at..]);
            if let Some(delta) = encode(base.as_bytes(), 3, new.as_bytes()) {
                prop_assert_eq!(depth(&delta), Some(4));
                prop_assert_eq!(apply(base.as_bytes(), &delta).unwrap(), new.into_bytes());
            }
        }

        #[test]
        fn damage_is_no_panic(base in prop::collection::vec(any::<u8>(), 0..40), delta in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = apply(&base, &delta);
        }
    }

    #[test]
    fn a_small_edit_of_a_large_document_is_small() {
        let base = "word ".repeat(20_000);
        let new = base.replacen("word", "other", 1);
        assert!(encode(base.as_bytes(), 0, new.as_bytes()).unwrap().len() < 32);
        assert!(encode(base.as_bytes(), MAX_DEPTH, new.as_bytes()).is_none());
    }
}
