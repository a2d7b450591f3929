//! Corpora for tests.

use std::path::{Path, PathBuf};

use deckle_corpus::{Corpus, path};
use deckle_doc::DocKey;

pub fn key(text: &str) -> DocKey {
    DocKey::parse(text).unwrap()
}

/// Reads documents out of one text: `//- key` starts each.
pub fn corpus(text: &str) -> Corpus {
    let mut corpus = Corpus::default();
    for part in text.split("//- ").skip(1) {
        let (name, body) = part.split_once('\n').unwrap();
        corpus.insert(key(name.trim()), body);
    }
    corpus
}

/// Writes documents as [`corpus`] reads them.
pub fn shown(corpus: &Corpus) -> String {
    corpus.documents().map(|(key, document)| format!("//- {key}\n{}", document.text())).collect()
}

pub fn shared() -> PathBuf {
    let given = std::env::var_os("DECKLE_SHARED").map(PathBuf::from);
    let shared = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    assert!(shared.join("corpora").is_dir(), "{} has no `corpora`: set DECKLE_SHARED to the folder that has", shared.display());
    shared
}

/// One of the real corpora.
pub fn real(name: &str) -> Corpus {
    let root = shared().join("corpora").join(name);
    let mut corpus = Corpus::default();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            let relative = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            if let Some(Ok(key)) = path::key_of(&relative) {
                corpus.insert(key, std::fs::read_to_string(&file).unwrap());
            }
        }
    }
    assert!(!corpus.is_empty(), "{} has no documents", root.display());
    corpus
}
