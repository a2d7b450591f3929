//! Where test data is.

use std::path::{Path, PathBuf};

/// The folder with corpora and the reference parser, beside the checkout.
pub fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("DECKLE_SHARED").map_or(beside, PathBuf::from);
    assert!(
        path.join("corpora").is_dir(),
        "{} has no corpora: set DECKLE_SHARED to the folder `shared` beside the checkout",
        path.display()
    );
    path
}

/// The folder outside the checkout in which tools are installed.
pub fn cache() -> PathBuf {
    if let Some(cache) = std::env::var_os("DECKLE_CACHE") {
        return PathBuf::from(cache);
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"), PathBuf::from);
    base.join("deckle")
}

/// Every Markdown document of the corpora, by path.
pub fn corpora() -> Vec<(PathBuf, String)> {
    let mut documents = Vec::new();
    let mut folders = vec![shared().join("corpora")];
    let top = folders[0].clone();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md" || extension == "mdx" || extension == "markdown")
                && path.parent() != Some(&top)
            {
                documents.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    documents.sort();
    assert_eq!(documents.len(), 616, "the visible corpora have 616 documents");
    documents
}

/// How many times the usual count is tried: `DECKLE_PROVE_SCALE`, 1 in the test command.
pub fn scale() -> usize {
    std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}
