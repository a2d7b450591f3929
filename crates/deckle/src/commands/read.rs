//! Reading: get, outline, blocks, find, count.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use deckle_doc::jsonl::{self, IdOf, Options};
use deckle_doc::{Block, Diag, Dialect, DocKey, Ids, ParseError, Tree};
use deckle_edit::language::Predicate;
use deckle_edit::{Documents, Operation, read, read_value, sections};
use deckle_store::{NotDocument, Snapshot};
use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::context;
use crate::failure::Failure;

/// Reads a key; `.md` at the end is taken off, since people complete file names.
pub fn key(text: &str) -> Result<DocKey, Failure> {
    let bare = [".md", ".markdown", ".mdx"].iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text);
    Ok(DocKey::parse(bare.trim_start_matches("./"))?)
}

/// Says that there is no such document: which keys are like it, or that its file is kept and is no document.
pub async fn missing(key: &DocKey, snapshot: &Snapshot) -> Result<Failure, Failure> {
    if let Some(kept) = kept(key, snapshot).await? {
        return Ok(kept);
    }
    let name = key.name().to_lowercase();
    let all = snapshot.keys().await?;
    let near = all.iter().filter(|other| other.as_str().to_lowercase().contains(&name)).take(5).map(|key| format!("near: {key}"));
    Ok(Diag::new("no-document", format!("there is no document `{key}`")).at_all(near).hint("`deckle find` lists the keys").into())
}

/// Says why the file that a key names is no document, when there is such a file.
pub async fn kept(key: &DocKey, snapshot: &Snapshot) -> Result<Option<Failure>, Failure> {
    let others = snapshot.others().await?;
    let Some(file) = others.iter().find(|file| file.path.rsplit_once('.').is_some_and(|(stem, _)| stem == key.as_str())) else {
        return Ok(None);
    };
    let hint = match file.why {
        NotDocument::Opaque => "save it as UTF-8 (`iconv -f latin1 -t utf-8`), or split it; until then it is kept as it is",
        NotDocument::Link => "links are not followed; name the document that it points to",
        NotDocument::NotMarkdown | NotDocument::Name | NotDocument::Shadowed => {
            "give the file another name to make it a document"
        }
    };
    let message = format!("`{}` is no document: {}", file.path, file.why.as_str());
    Ok(Some(Diag::new("no-document", message).hint(hint).into()))
}

/// What of a document is wished for.
#[derive(Default)]
pub struct Wished<'w> {
    pub section: Option<&'w str>,
    pub block: Option<&'w str>,
    pub lines: Option<&'w str>,
    pub lens: bool,
    pub tokens: Option<usize>,
    pub from: Option<&'w str>,
}

pub async fn get(arguments: &Arguments, name: &str, wished: &Wished<'_>, branch: Option<&str>) -> Result<(), Failure> {
    let key = key(name)?;
    let workspace = context::open(arguments).await?;
    let snapshot = match branch {
        None => workspace.snapshot_of(std::slice::from_ref(&key)).await?,
        some => context::snapshot(&workspace, some).await?,
    };
    let Some(text) = snapshot.text(&key).await? else { return Err(missing(&key, &snapshot).await?) };
    let mut out = std::io::stdout().lock();
    if let Some(range) = wished.lines {
        for line in lines(range, &text)? {
            out.write_all(line.as_bytes())?;
        }
        return Ok(());
    }
    let Wished { section, block, lens, tokens, from, .. } = *wished;
    if section.is_none() && block.is_none() && !lens && tokens.is_none() && from.is_none() {
        out.write_all(text.as_bytes())?;
        return Ok(());
    }
    let tree = Tree::parse(text, snapshot.dialect()).map_err(|error| Failure::from(Diag::from(&error)))?;
    let ids = snapshot.ids(&key, &tree).await?;
    let known = |id: &str| {
        if ids.find(id).is_some() {
            return Ok(());
        }
        Err(Failure::from(
            Diag::new("no-block", format!("there is no block `{id}` in `{key}`")).hint("`deckle get KEY --lens` shows the ids"),
        ))
    };
    block.into_iter().chain(from).try_for_each(known)?;
    let scope = match (section, block) {
        (Some(section), _) => {
            let heading = sections::find(&key, &tree, &ids, section)?;
            Predicate::parse(&json!({ "$section": { "$id": ids.id(heading.index()).unwrap_or_default() } }))?
        }
        (None, Some(block)) => Predicate::parse(&json!({ "$id": block }))?,
        (None, None) => Predicate::default(),
    };
    let call = |id: &str| {
        let section = section.map(|section| format!(" --section '{section}'")).unwrap_or_default();
        let tokens = tokens.map(|tokens| format!(" --tokens {tokens}")).unwrap_or_default();
        let lens = if lens { " --lens" } else { "" };
        format!("deckle get {key}{section}{lens}{tokens} --from {id}")
    };
    let budget = tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(read::TOKEN_BYTES));
    let part = read::Part { scope: &scope, from, budget, call: &call };
    if lens {
        out.write_all(read::lens(&key, &tree, &ids, &part).as_bytes())?;
    } else if tokens.is_some() || from.is_some() {
        out.write_all(read::raw(&key, &tree, &ids, &part).as_bytes())?;
    } else {
        let narrowed = read::narrowed(&tree, &ids, &key, &scope);
        out.write_all(narrowed.as_bytes())?;
        if !narrowed.ends_with('\n') {
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// The lines of a range, counted from 1.
fn lines<'t>(range: &str, text: &'t str) -> Result<impl Iterator<Item = &'t str>, Failure> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let bad =
        || Failure::from(Diag::new("usage", format!("`{range}` is no range of lines")).hint("write `10-20`, counted from 1"));
    let first: usize = first.trim().parse().map_err(|_| bad())?;
    let last: usize = last.trim().parse().map_err(|_| bad())?;
    if first == 0 || last < first {
        return Err(bad());
    }
    Ok(text.split_inclusive('\n').skip(first - 1).take(last + 1 - first))
}

pub async fn outline(arguments: &Arguments, name: &str, branch: Option<&str>) -> Result<(), Failure> {
    let key = key(name)?;
    let workspace = context::open(arguments).await?;
    let snapshot = context::snapshot(&workspace, branch).await?;
    let Some(text) = snapshot.text(&key).await? else { return Err(missing(&key, &snapshot).await?) };
    let tree = Tree::parse(text, snapshot.dialect()).map_err(|error| Failure::from(Diag::from(&error)))?;
    let ids = snapshot.ids(&key, &tree).await?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let headings: Vec<Value> =
            tree.blocks().filter(|block| block.heading_level().is_some()).map(|block| read::block_entry(&block, &ids)).collect();
        writeln!(out, "{}", Value::Array(headings))?;
    } else {
        out.write_all(read::outline(&tree, &ids).as_bytes())?;
    }
    Ok(())
}

/// The tree of a file; without directives when they were not asked for.
fn parse(bytes: &[u8], dialect: Dialect, directives: bool) -> Result<Tree, ParseError> {
    let tree = Tree::parse_bytes(bytes, dialect)?;
    Ok(if directives { tree } else { Tree::parse_without_directives(tree.shared().clone(), dialect)? })
}

pub fn blocks(paths: &[PathBuf], dialect: &str, directives: bool, ids: bool, inline: bool) -> Result<(), Failure> {
    let dialect = Dialect::named(dialect).ok_or_else(|| {
        Failure::from(
            Diag::new("usage", format!("`{dialect}` is no dialect"))
                .hint("there are: generic vitepress docusaurus mkdocs obsidian myst"),
        )
    })?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut bad = 0;
    let mut one = |path: &std::path::Path| -> Result<(), Failure> {
        let name = path.display().to_string();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                bad += 1;
                eprintln!("error[file]: `{name}`: {error}");
                return Ok(());
            }
        };
        match parse(&bytes, dialect, directives) {
            Ok(tree) => {
                let derived = Derived(Ids::derive(&tree));
                let ids = ids.then_some(&derived as &dyn IdOf);
                writeln!(out, "{}", jsonl::line(&name, &tree, &Options { ids, inline }))?;
            }
            Err(error) => {
                bad += 1;
                eprintln!("{name}: {}", Diag::from(&error));
            }
        }
        Ok(())
    };
    if paths.is_empty() {
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            if !line.is_empty() {
                one(std::path::Path::new(&line))?;
            }
        }
    } else {
        for path in paths {
            one(path)?;
        }
    }
    out.flush()?;
    if bad > 0 { Err(Failure::Silent(1)) } else { Ok(()) }
}

/// The ids that a file's own bytes give.
#[derive(Debug)]
struct Derived(Ids);

impl IdOf for Derived {
    fn id_of(&self, block: &Block<'_>) -> String {
        self.0.id(block.index()).unwrap_or_default().to_owned()
    }
}

/// What `find` is asked.
pub struct Wanted<'a> {
    pub words: Option<&'a str>,
    pub filter: Option<&'a str>,
    pub keys: &'a [String],
    pub blocks: Option<&'a str>,
    pub matches: Option<&'a str>,
    pub sort: Option<&'a str>,
    pub limit: usize,
}

/// The filter that flags ask for.
pub fn filter_of(filter: Option<&str>, keys: &[String]) -> Result<Value, Failure> {
    let mut map = match filter {
        None => Map::new(),
        Some(text) => match read_value(text)? {
            Value::Object(map) => map,
            _ => {
                return Err(Diag::new("syntax", "the filter is not a mapping")
                    .hint("write `status: draft`, or `{ $key: notes/a }`")
                    .into());
            }
        },
    };
    if !keys.is_empty() {
        let keys: Result<Vec<String>, Failure> = keys.iter().map(|text| key(text).map(|key| key.to_string())).collect();
        let keys = keys?;
        let value = if let [one] = keys.as_slice() { json!(one) } else { json!({ "$in": keys }) };
        if map.insert("$key".into(), value).is_some() {
            return Err(Diag::new("syntax", "`--key` and a `$key` in the filter exclude one another")
                .hint("use one of them")
                .into());
        }
    }
    Ok(Value::Object(map))
}

pub async fn find(arguments: &Arguments, wanted: &Wanted<'_>, branch: Option<&str>) -> Result<(), Failure> {
    let mut filter = filter_of(wanted.filter, wanted.keys)?;
    let mut project = Map::new();
    if let Some(words) = wanted.words {
        let predicate = json!({ "$text": words });
        filter = json!({ "$and": [filter, { "$content": predicate }] });
        project.insert("hits".into(), json!({ "$blocks": predicate }));
    }
    if let Some(blocks) = wanted.blocks {
        let predicate = read_value(blocks)?;
        filter = json!({ "$and": [filter, { "$content": predicate }] });
        project.insert("blocks".into(), json!({ "$blocks": predicate }));
    }
    if let Some(pattern) = wanted.matches {
        filter = json!({ "$and": [filter, { "$content": { "$matches": pattern } }] });
        project.insert("matches".into(), json!({ "$matches": pattern }));
    }
    let mut document = json!({ "filter": filter, "limit": wanted.limit });
    if !project.is_empty() {
        document["addFields"] = Value::Object(project);
    }
    if let Some(sort) = wanted.sort {
        let (field, direction) = sort.rsplit_once(':').unwrap_or((sort, "1"));
        let direction: i64 = direction.parse().map_err(|_| {
            Failure::from(Diag::new("usage", format!("`{sort}` is no order")).hint("write `title:1` or `date:-1`"))
        })?;
        document["sort"] = json!({ field: direction });
    }
    let Operation::Find(find) = Operation::parse(&document)? else { return Ok(()) };
    let workspace = context::open(arguments).await?;
    let snapshot = context::snapshot(&workspace, branch).await?;
    let dialect = snapshot.dialect();
    let view = context::view(&snapshot, None, dialect).await?;
    let entries = read::find(&view, &find);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for entry in &entries {
        if arguments.json {
            writeln!(out, "{entry}")?;
            continue;
        }
        let name = entry["key"].as_str().unwrap_or_default();
        let key = key(name)?;
        let mut located = false;
        for field in ["hits", "blocks", "matches"] {
            for one in entry[field].as_array().into_iter().flatten() {
                located = true;
                let id = one["id"].as_str().unwrap_or_default();
                writeln!(out, "{} [{id}]", read::entry_line(&key, one))?;
            }
        }
        if !located {
            match entry["title"].as_str() {
                Some(title) => writeln!(out, "{name} — {title}")?,
                None => writeln!(out, "{name}")?,
            }
        }
    }
    out.flush()?;
    Ok(())
}

pub async fn count(arguments: &Arguments, filter: Option<&str>, branch: Option<&str>) -> Result<(), Failure> {
    let filter = deckle_edit::filter::Filter::parse(&filter_of(filter, &[])?)?;
    let workspace = context::open(arguments).await?;
    let snapshot = context::snapshot(&workspace, branch).await?;
    let view = context::view(&snapshot, None, snapshot.dialect()).await?;
    let number = filter.select(&view).len();
    debug_assert!(number <= view.keys().len());
    if arguments.json {
        say!("{}", json!({ "count": number }))
    } else {
        say!("{number}")
    }
    Ok(())
}
