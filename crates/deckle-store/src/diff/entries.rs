//! Front matter, split into its keys at the top level. Nothing is interpreted: each entry is the lines of one key.

use std::collections::HashMap;
use std::ops::Range;

/// The lines of one key, or a comment that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The key; in TOML with the table before it. A comment has a name that no key has.
    pub(crate) name: String,
    /// Where it stands, without the line end.
    pub(crate) range: Range<usize>,
}

/// Splits the text between the fences.
pub(crate) fn split(text: &str, toml: bool) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut table = String::new();
    // Inside a string of several lines (TOML).
    let mut quote: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        if body.is_empty() {
            continue;
        }
        let name = if quote.is_some() {
            None
        } else if toml {
            toml_name(body, &mut table)
        } else {
            yaml_name(body)
        };
        if toml {
            quote = string_state(body, quote);
        }
        match (name, entries.last_mut()) {
            (None, Some(last)) => last.range.end = start + body.len(),
            (name, _) => {
                let name = name.unwrap_or_else(|| "#".to_owned());
                let ordinal = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
                let name = if *ordinal == 1 { name } else { format!("{name}#{ordinal}") };
                entries.push(Entry { name, range: start..start + body.len() });
            }
        }
    }
    entries
}

/// The key that a line of YAML begins at the top level; none when the line continues the one before.
fn yaml_name(line: &str) -> Option<String> {
    if line.starts_with('#') {
        return Some(line.to_owned());
    }
    let first = line.chars().next()?;
    if first.is_whitespace() || "-[]{}|>&*!%@`,?:".contains(first) {
        return None;
    }
    if let Some(quote) = ['"', '\''].into_iter().find(|quote| line.starts_with(*quote)) {
        let rest = line.get(1..)?;
        let end = rest.find(quote)?;
        let after = rest.get(end + 1..)?.trim_start();
        return (after == ":" || after.starts_with(": ")).then(|| rest[..end].to_owned());
    }
    let end = line.find(": ").or_else(|| line.strip_suffix(':').map(str::len))?;
    Some(line[..end].trim_end().to_owned())
}

/// The key or table that a line of TOML begins; none when the line continues the one before.
fn toml_name(line: &str, table: &mut String) -> Option<String> {
    if line.starts_with('#') {
        return Some(line.to_owned());
    }
    if line.starts_with('[') && line.split('#').next().is_some_and(|head| head.trim_end().ends_with(']')) {
        line.clone_into(table);
        return Some(line.to_owned());
    }
    let equals = line.find('=')?;
    let name = line[..equals].trim_end();
    let plain = !name.is_empty() && !line.starts_with([' ', '\t', ']', '}', ',']);
    plain.then(|| if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") })
}

/// Whether a line ends inside a string of several lines.
fn string_state<'q>(line: &str, mut quote: Option<&'q str>) -> Option<&'q str> {
    let mut rest = line;
    loop {
        match quote {
            Some(mark) => match rest.find(mark) {
                Some(at) => {
                    rest = &rest[at + mark.len()..];
                    quote = None;
                }
                None => return quote,
            },
            None => {
                let found = ["\"\"\"", "'''"].into_iter().filter_map(|mark| Some((rest.find(mark)?, mark))).min();
                let (at, mark) = found?;
                rest = &rest[at + mark.len()..];
                quote = Some(mark);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, toml: bool) -> Vec<(String, &str)> {
        split(text, toml).into_iter().map(|entry| (entry.name, &text[entry.range])).collect()
    }

    #[test]
    fn yaml_is_split_at_its_keys() {
        let text = "# top\ntitle: A: b\ntags:\n- a\n- b\n\n\"quoted key\": 1\nlong: |\n  title: not a key\n\nurl:x\nend:\r\n";
        let found = names(text, false);
        let keys: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(keys, ["# top", "title", "tags", "quoted key", "long", "end"]);
        assert_eq!(found[2].1, "tags:\n- a\n- b");
        assert_eq!(found[4].1, "long: |\n  title: not a key\n\nurl:x");
    }

    #[test]
    fn toml_is_split_at_its_keys() {
        let text = "title = \"a\"\nlist = [\n  1,\n]\ntext = \"\"\"\nkey = 1\n\"\"\"\n[params]\ntitle = 2\n";
        let found = names(text, true);
        let keys: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(keys, ["title", "list", "text", "[params]", "[params].title"]);
        assert_eq!(found[2].1, "text = \"\"\"\nkey = 1\n\"\"\"");
    }
}
