//! Commits: a tree, what came before it, who made it and why.

use std::fmt;

use super::{ObjectId, ObjectKind, RawObject};
use crate::error::StoreError;

/// Who made a commit, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name, without `<`, `>` or a line end.
    pub name: String,
    /// The address, without `<`, `>` or a line end.
    pub email: String,
    /// Seconds since 1970.
    pub seconds: i64,
    /// The time zone as git writes it, such as `+0000`.
    pub zone: String,
}

impl Signature {
    /// Builds a signature in UTC; characters that would break git's header are dropped.
    pub fn new(name: &str, email: &str, seconds: i64) -> Self {
        let clean = |text: &str| text.replace(['<', '>', '\n', '\r', '\0'], "").trim().to_owned();
        let name = clean(name);
        let name = if name.is_empty() { "unknown".to_owned() } else { name };
        Self { name, email: clean(email).replace(' ', "-"), seconds, zone: "+0000".into() }
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('<')?;
        let (email, rest) = rest.split_once('>')?;
        let mut parts = rest.split_whitespace();
        let seconds = parts.next()?.parse().ok()?;
        let zone = parts.next()?.to_owned();
        Some(Self { name: name.trim_end().to_owned(), email: email.to_owned(), seconds, zone })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}> {} {}", self.name, self.email, self.seconds, self.zone)
    }
}

/// A state of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitObject {
    /// The root folder.
    pub tree: ObjectId,
    /// What came before; none for the first, two for a merge.
    pub parents: Vec<ObjectId>,
    /// Who wrote it.
    pub author: Signature,
    /// Who stored it.
    pub committer: Signature,
    /// Headers of git's that we keep and do not read, each with its lines as they stood.
    pub extra: String,
    /// Why.
    pub message: String,
}

impl CommitObject {
    /// Encodes the commit.
    pub fn to_raw(&self) -> RawObject {
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        text.push_str(&format!("author {}\ncommitter {}\n{}\n{}", self.author, self.committer, self.extra, self.message));
        RawObject::new(ObjectKind::Commit, text.into_bytes())
    }

    /// Decodes a commit.
    ///
    /// # Errors
    /// When the bytes are not a commit that we can write back as it is.
    pub fn parse(id: ObjectId, data: &[u8]) -> Result<Self, StoreError> {
        let corrupt = |why: &str| StoreError::Corrupt { what: format!("commit {id}"), finding: why.to_owned() };
        let text = std::str::from_utf8(data).map_err(|_| corrupt("it is not UTF-8"))?;
        let (headers, message) = text.split_once("\n\n").ok_or_else(|| corrupt("it has no message"))?;
        let (mut tree, mut parents, mut author, mut committer, mut extra) = (None, Vec::new(), None, None, String::new());
        for line in headers.split('\n') {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "tree" if tree.is_none() => tree = Some(rest.parse::<ObjectId>().map_err(|_| corrupt("its tree is no id"))?),
                "parent" if author.is_none() => {
                    parents.push(rest.parse::<ObjectId>().map_err(|_| corrupt("a parent is no id"))?);
                }
                "author" if author.is_none() => author = Signature::parse(rest),
                "committer" if committer.is_none() => committer = Signature::parse(rest),
                _ => {
                    extra.push_str(line);
                    extra.push('\n');
                }
            }
        }
        Ok(Self {
            tree: tree.ok_or_else(|| corrupt("it has no tree"))?,
            parents,
            author: author.ok_or_else(|| corrupt("it has no author"))?,
            committer: committer.ok_or_else(|| corrupt("it has no committer"))?,
            extra,
            message: message.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_reads_back() {
        let commit = CommitObject {
            tree: ObjectId::EMPTY_TREE,
            parents: vec![ObjectId::EMPTY_TREE],
            author: Signature::new("Ana <x>\n", "ana@deckle", 1),
            committer: Signature::new("", "a b", 2),
            extra: String::new(),
            message: "why\n\nmore\n".into(),
        };
        let raw = commit.to_raw();
        assert_eq!(CommitObject::parse(raw.id(), raw.data()).unwrap(), commit);
        assert_eq!(commit.author.name, "Ana x");
        assert_eq!(commit.committer.name, "unknown");
    }

    #[test]
    fn headers_that_we_do_not_know_stay() {
        let text = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@b> 1 +0200\ncommitter A <a@b> 1 +0200\n\
                    gpgsig -----BEGIN\n abc\n -----END\n\nsigned\n";
        let id = ObjectId::of(ObjectKind::Commit, text.as_bytes());
        let commit = CommitObject::parse(id, text.as_bytes()).unwrap();
        assert_eq!(commit.to_raw().id(), id);
    }
}
