//! The parts of front matter that name and sort a document, read from YAML or TOML without a full parse: of a corpus, every
//! document's is read, and most of it is never asked for.

use deckle_doc::{Format, Kind, Tree};

/// What the front matter says.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    pub(crate) title: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) fields: Vec<(String, String)>,
}

impl Meta {
    pub(crate) fn of(tree: &Tree) -> Meta {
        let Some(block) = tree.root().first_child() else { return Meta::default() };
        let Kind::FrontMatter { format } = block.kind() else { return Meta::default() };
        let text = tree.source().get(block.inner()).unwrap_or_default();
        let mut meta = Meta { fields: fields(text, format), ..Meta::default() };
        for (key, value) in &meta.fields {
            match key.as_str() {
                "title" => meta.title = scalar(value).filter(|title| !title.is_empty()),
                "aliases" | "alias" => meta.aliases.extend(list(value)),
                "tags" | "tag" => {
                    let tags = list(value).into_iter().flat_map(|tag| {
                        let divided = !value.contains(['[', '\n']);
                        let words: Vec<String> =
                            if divided { tag.split([',', ' ']).map(str::to_owned).collect() } else { vec![tag] };
                        words
                    });
                    for tag in tags.map(|tag| tag.trim_start_matches('#').to_owned()).filter(|tag| !tag.is_empty()) {
                        if !meta.tags.contains(&tag) {
                            meta.tags.push(tag);
                        }
                    }
                }
                _ => {}
            }
        }
        meta
    }
}

/// The top-level keys with the text of their values, continuation lines included.
fn fields(text: &str, format: Format) -> Vec<(String, String)> {
    let mark = if format == Format::Yaml { ':' } else { '=' };
    let mut out: Vec<(String, String)> = Vec::new();
    let mut table = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if format == Format::Toml && trimmed.starts_with('[') && !line.contains('=') && trimmed.ends_with(']') {
            table = trimmed.trim_matches(['[', ']']).trim().to_owned();
            out.push((table.clone(), String::new()));
            continue;
        }
        let opens = !line.starts_with([' ', '\t', '-', '#', ']', '}']) && table.is_empty();
        let pair = if opens { line.split_once(mark) } else { None };
        match pair {
            Some((key, value)) if !key.trim().is_empty() => {
                let key = key.trim().trim_matches(['"', '\'']).to_owned();
                out.push((key, value.trim().to_owned()));
            }
            _ => {
                if let Some((_, value)) = out.last_mut()
                    && !trimmed.is_empty()
                    && !trimmed.starts_with('#')
                {
                    value.push('\n');
                    value.push_str(trimmed);
                }
            }
        }
    }
    out
}

/// A scalar without its quotes and comment.
fn scalar(value: &str) -> Option<String> {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            let end = rest.rfind(quote)?;
            let inner = &rest[..end];
            return Some(if quote == '"' { inner.replace("\\\"", "\"").replace("\\\\", "\\") } else { inner.replace("''", "'") });
        }
    }
    let first = value.lines().next().unwrap_or_default();
    if matches!(first.trim_end_matches(['-', '+']), ">" | "|") {
        return Some(value.lines().skip(1).collect::<Vec<_>>().join(" "));
    }
    let folded = value.lines().collect::<Vec<_>>().join(" ");
    let end = folded.find(" #").unwrap_or(folded.len());
    Some(folded[..end].trim().to_owned())
}

/// The entries of a list, in either style; of a scalar, the scalar.
fn list(value: &str) -> Vec<String> {
    let value = value.trim();
    let entries: Vec<String> = if let Some(inner) = value.strip_prefix('[') {
        let inner = inner.split(']').next().unwrap_or_default();
        inner.split(',').filter_map(scalar).collect()
    } else if value.starts_with("- ") || value.contains("\n- ") {
        value.lines().filter_map(|line| line.trim().strip_prefix("- ")).filter_map(scalar).collect()
    } else {
        scalar(value).into_iter().collect()
    };
    entries.into_iter().filter(|entry| !entry.is_empty() && entry != "null" && entry != "~").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deckle_doc::Dialect;

    #[test]
    fn names_and_tags_are_read_in_each_style() {
        let read = |text: &str| {
            let meta = Meta::of(&Tree::parse(text, Dialect::Generic).unwrap());
            format!("{:?} {:?} {:?} {}", meta.title, meta.aliases, meta.tags, meta.fields.len())
        };
        assert_eq!(
            read("---\ntitle: \"A: b\" # c\naliases:\n  - One two\n  - 'It''s'\ntags: [x, '#y', x]\n---\n"),
            r#"Some("A: b") ["One two", "It's"] ["x", "y"] 3"#
        );
        assert_eq!(
            read("---\ntitle: >-\n  Long\n  name\nalias: only\ntags: a, b\n---\n"),
            r#"Some("Long name") ["only"] ["a", "b"] 3"#
        );
        assert_eq!(
            read("+++\ntitle = 'T'\ntags = [\"q\",\n \"r\"]\n[params]\ntitle = 'no'\n+++\n"),
            r#"Some("T") [] ["q", "r"] 3"#
        );
        assert_eq!(read("# none\n"), "None [] [] 0");
    }
}
