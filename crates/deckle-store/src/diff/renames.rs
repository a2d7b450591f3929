//! A rename and its link fixes.

use super::{Change, ChangeId, ChangeKind};

/// Makes link fixes and the rename that caused them need one another: without the rename the fixed links lead nowhere, without
/// the fixes the old ones do.
pub(super) fn tie(changes: &mut [Change]) {
    let renames: Vec<(ChangeId, String, String)> = changes
        .iter()
        .filter(|change| change.kind == ChangeKind::DocumentRenamed)
        .filter_map(|change| Some((change.id.clone(), change.before.clone()?, change.after.clone()?)))
        .collect();
    for (rename, from, to) in renames {
        let (from, to) = (last_part(&from), last_part(&to));
        let mut fixes = Vec::new();
        for change in changes.iter_mut() {
            let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
            let names = |text: &str, name: &str| text.contains(name);
            let inside = change.kind != ChangeKind::DocumentRenamed;
            if inside && from != to && names(before, from) && names(after, to) && !names(before, to) {
                change.needs.push(rename.clone());
                fixes.push(change.id.clone());
            }
        }
        if let Some(change) = changes.iter_mut().find(|change| change.id == rename) {
            change.needs.extend(fixes);
        }
    }
}

fn last_part(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
