//! Keys as identities: templates that are filled with values, and pairs that have one order.

use deckle_doc::DocKey;

use crate::plan::Policy;
use crate::read::slug;
use crate::{EditError, gates};

/// Returns the key that a template means: `{{slug}}` is the title as a part of a key, `{{today}}` the date, `{{pair:a,b}}` the values of
/// `a` and `b` as slugs in their one order, and `{{name}}` the value of that name as a slug. A template that the policy names is looked up.
///
/// # Errors
/// When a value is missing, or the result is no key.
///
/// ```
/// use deckle_edit::{Policy, identity};
/// let values = [("one".to_owned(), "Zoe".to_owned()), ("two".to_owned(), "Ada L.".to_owned())];
/// let key = identity::key("talks/{{pair:one,two}}", &values, "", &Policy::person())?;
/// assert_eq!(key.as_str(), "talks/ada-l--zoe");
/// # Ok::<(), deckle_edit::EditError>(())
/// ```
pub fn key(template: &str, values: &[(String, String)], content: &str, policy: &Policy) -> Result<DocKey, EditError> {
    let template = policy.keys.get(template).map_or(template, String::as_str);
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            return Err(EditError::syntax(format!("`{template}` has a `{{{{` without `}}}}`"), "write `people/{{slug}}`"));
        };
        out.push_str(&filled(name.trim(), values, content, policy)?);
        rest = after;
    }
    out.push_str(rest);
    DocKey::parse(&out).map_err(|error| {
        EditError::syntax(error.to_string(), "a key is a path in the workspace without `.md`: `guides/quick-start`")
    })
}

fn filled(name: &str, values: &[(String, String)], content: &str, policy: &Policy) -> Result<String, EditError> {
    let given = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let missing = |name: &str| {
        EditError::syntax(format!("the key needs a value for `{name}`"), format!("write `values: {{ {name}: … }}` beside `key`"))
    };
    let slugged = |name: &str, text: Option<String>| {
        let text = slug(&text.ok_or_else(|| missing(name))?);
        if text.is_empty() { Err(missing(name)) } else { Ok(text) }
    };
    match name {
        "slug" => slugged("title", given("title").or_else(|| gates::first_heading(content))),
        "today" => policy.today.clone().ok_or_else(|| missing("today")),
        _ => match name.strip_prefix("pair:") {
            Some(pair) => {
                let mut names: Vec<String> =
                    pair.split(',').map(str::trim).map(|name| slugged(name, given(name))).collect::<Result<_, _>>()?;
                names.sort();
                Ok(names.join("--"))
            }
            None => slugged(name, given(name)),
        },
    }
}
