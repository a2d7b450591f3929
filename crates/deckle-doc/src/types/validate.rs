//! Which nestings are legal.

use crate::{Block, Tree};

use super::{Rules, TABLE, type_of};

/// An illegal nesting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Violation {
    /// What cannot stand where.
    pub message: String,
    /// The container's type.
    pub container: String,
    /// The type inside it.
    pub child: String,
    /// What may stand there.
    pub allowed: Vec<String>,
    /// How to restructure.
    pub advice: String,
    /// The types from the document down to the child.
    pub path: Vec<String>,
}

/// Returns every illegal nesting of a document, in document order.
#[must_use]
pub fn validate(tree: &Tree, rules: &Rules) -> Vec<Violation> {
    let mut found = Vec::new();
    for block in tree.blocks() {
        let Some(name) = type_of(&block) else { continue };
        let above: Vec<&'static str> =
            block.ancestors().filter_map(|above| type_of(&above)).filter(|name| holds(name, rules)).collect();
        if let Err(violation) = check_nesting(&above, name, rules) {
            found.push(violation);
        }
        if let Some(violation) = parts(&block, name) {
            found.push(violation);
        }
    }
    found
}

fn holds(name: &str, rules: &Rules) -> bool {
    rules.allowed(name).is_some()
}

/// Checks whether a block of type `child` may stand inside containers, the nearest first.
///
/// # Errors
/// When it may not; the violation says what may.
pub fn check_nesting(above: &[&str], child: &str, rules: &Rules) -> Result<(), Violation> {
    let own = TABLE.iter().find(|one| one.name == child);
    let path: Vec<String> = above.iter().rev().chain(std::iter::once(&child)).map(|name| (*name).to_owned()).collect();
    if let Some(whole) = own.and_then(|one| one.part_of)
        && above.first() != Some(&whole)
    {
        return Err(Violation {
            message: format!("`{child}` is a part of `{whole}` and can stand only there"),
            container: above.first().map_or_else(|| "document".to_owned(), |name| (*name).to_owned()),
            child: child.to_owned(),
            allowed: vec![whole.to_owned()],
            advice: format!("put it into a `{whole}`"),
            path,
        });
    }
    let Some(container) = above.first() else { return Ok(()) };
    let is_directive = own.is_some_and(|one| !one.names.is_empty() && !one.holds.is_empty());
    let itself = is_directive && above.contains(&child);
    let allowed = rules.allowed(container).unwrap_or_default();
    if !itself && allowed.iter().any(|name| name == child) {
        return Ok(());
    }
    let what = if itself {
        format!("`{child}` cannot go inside another `{child}`, at any depth")
    } else {
        format!("`{child}` cannot go inside `{container}`")
    };
    let usable: Vec<String> = allowed.iter().filter(|name| !above.contains(&name.as_str())).cloned().collect();
    let advice = if itself {
        format!(
            "close the outer `{child}` first and put the new one after it, or write the content as a paragraph or list inside"
        )
    } else {
        format!("put the `{child}` after the `{container}`, or write it as one of the types above")
    };
    Err(Violation { message: what, container: (*container).to_owned(), child: child.to_owned(), allowed: usable, advice, path })
}

/// The number of parts of a wrapper.
fn parts(block: &Block<'_>, name: &str) -> Option<Violation> {
    let own = TABLE.iter().find(|one| one.name == name)?;
    let (least, most) = own.parts?;
    let count = block.children().filter(|child| type_of(child).is_some_and(|name| own.holds.contains(&name))).count();
    (count > most || count < least).then(|| Violation {
        message: format!("`{name}` holds {count} part(s); it takes {least} to {most}"),
        container: name.to_owned(),
        child: own.holds.first().copied().unwrap_or_default().to_owned(),
        allowed: own.holds.iter().map(|name| (*name).to_owned()).collect(),
        advice: format!("give it {least} to {most} of `{}`", own.holds.first().copied().unwrap_or_default()),
        path: vec![name.to_owned()],
    })
}
