//! `prove edits`: random operations on a corpus, checked by something that knows nothing of the engine's own proof.

use std::path::Path;

use deckle_doc::{Dialect, DocKey, Tree};
use deckle_edit::prove;

use crate::Problems;

/// Larger documents are left out: an edit of one costs as much as of a hundred ordinary ones.
const MAX_BYTES: u64 = 200_000;

/// Tries `edits` random operations on the Markdown files below `corpus`.
pub fn run(corpus: &Path, seed: u64, edits: u64) -> Result<String, Problems> {
    let mut documents = Vec::new();
    collect(corpus, &mut documents)?;
    if documents.is_empty() {
        return Err(Problems::one(format!("no Markdown below {}", corpus.display())));
    }
    let report = prove::run(&documents, seed, edits);
    let line = format!("{} documents, seed {seed}; {}", documents.len(), report.line());
    if report.is_clean() {
        Ok(line)
    } else {
        let mut problems = report.problems;
        problems.push(line);
        Err(Problems(problems))
    }
}

fn collect(folder: &Path, documents: &mut Vec<(DocKey, Tree)>) -> Result<(), Problems> {
    let failed = |error: std::io::Error| Problems::one(format!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = std::fs::read_dir(folder).map_err(failed)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, documents)?;
        } else if path.extension().is_some_and(|end| end == "md") {
            let small = path.metadata().is_ok_and(|data| data.len() <= MAX_BYTES);
            let text = if small { std::fs::read_to_string(&path).ok() } else { None };
            if let (Some(text), Ok(key)) = (text, DocKey::parse("doc"))
                && let Ok(tree) = Tree::parse(text, Dialect::Generic)
            {
                documents.push((key, tree));
            }
        }
    }
    Ok(())
}
