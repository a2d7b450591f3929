//! Whole histories: out to a git repository and in from one, with the ids that they have.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::{Git, data};
use crate::changes::Meta;
use crate::core::Line;
use crate::document::{MAX_DOCUMENT_BYTES, is_markdown};
use crate::error::StoreError;
use crate::ids::BranchId;
use crate::main_folder::blocking;
use crate::object::{CommitObject, EntryMode, ObjectId, ObjectKind, RawObject, TreeObject};
use crate::objects::{Objects, Pending};
use crate::oplog::{self, Detail, NewOp, OpKind};
use crate::refs;
use crate::workspace::Workspace;

/// How many bytes of objects one transaction carries.
const BATCH: usize = 8 * 1024 * 1024;

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportReport {
    /// The commit, with the id that it has here.
    pub commit: ObjectId,
    /// The ref that names it there.
    pub name: String,
    /// How many objects were written.
    pub objects: usize,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportReport {
    /// The commit, with the id that it had there.
    pub commit: ObjectId,
    /// How many objects were read.
    pub objects: usize,
}

/// Everything that a commit needs.
#[derive(Default)]
struct Reached {
    commits: Vec<ObjectId>,
    trees: Vec<ObjectId>,
    /// Each file's bytes, with a path at which they stand.
    blobs: HashMap<ObjectId, String>,
}

async fn reach(objects: &Objects, head: ObjectId) -> Result<Reached, StoreError> {
    let mut reached = Reached::default();
    let mut seen: BTreeSet<ObjectId> = BTreeSet::new();
    let mut stack = vec![head];
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let commit = objects.commit(id).await?;
        reached.commits.push(id);
        stack.extend(&commit.parents);
        let mut folders = vec![(String::new(), commit.tree)];
        while let Some((path, id)) = folders.pop() {
            if !seen.insert(id) {
                continue;
            }
            reached.trees.push(id);
            for entry in objects.tree(id).await?.entries() {
                let at = format!("{path}{}", entry.name);
                match entry.mode {
                    EntryMode::Folder => folders.push((format!("{at}/"), entry.id)),
                    EntryMode::Module => {}
                    _ => drop(reached.blobs.insert(entry.id, at)),
                }
            }
        }
    }
    Ok(reached)
}

impl Workspace {
    /// Writes the history of a branch, or of main, into a git repository, which is made when it is not there. Each commit has
    /// the id that it has here.
    ///
    /// # Errors
    /// When a file that was kept outside the store is no longer what it was, or git refuses.
    pub async fn export_git(&self, branch: Option<&BranchId>, dir: &Path) -> Result<ExportReport, StoreError> {
        let core = self.core();
        let line = branch.map_or(Line::Main, |id| Line::Branch(id.clone()));
        let head = core.head(&line).await?;
        let name = line.ref_name();
        let reached = reach(&core.objects, head).await?;
        let mut script: Vec<u8> = Vec::new();
        let ids: Vec<ObjectId> = reached.blobs.keys().copied().collect();
        for piece in ids.chunks(256) {
            let stored = core.objects.read_many(piece).await?;
            for id in piece {
                script.extend(b"blob\n");
                match stored.get(id) {
                    Some(object) => data(&mut script, object.data()),
                    None => data(&mut script, &self.outside_bytes(*id, reached.blobs.get(id).map_or("", String::as_str))?),
                }
            }
        }
        script.extend(b"done\n");
        let mut raw: Vec<RawObject> = Vec::new();
        for id in reached.trees.iter().rev() {
            raw.push(core.objects.read(*id, ObjectKind::Tree).await?);
        }
        for id in reached.commits.iter().rev() {
            raw.push(core.objects.read(*id, ObjectKind::Commit).await?);
        }
        let objects = reached.blobs.len() + raw.len();
        let (dir, ref_name) = (dir.to_path_buf(), name.clone());
        blocking(move || {
            std::fs::create_dir_all(&dir).map_err(|error| StoreError::io(&dir, error))?;
            let git = Git::at(&dir);
            if git.run(&["rev-parse", "--git-dir"], b"").is_err() {
                git.run(&["init", "--quiet", "--bare", "--object-format=sha1", "--initial-branch=main"], b"")?;
            }
            git.run_bytes(&["fast-import", "--quiet", "--done"], &script)?;
            for object in raw {
                // Bit for bit: git checks that it is well-formed, and the id says that it is the same.
                let written = git.run(&["hash-object", "-t", object.kind().as_str(), "-w", "--stdin"], object.data())?;
                if written.trim() != object.id().to_string() {
                    return Err(StoreError::Git {
                        message: format!("{} became {}", object.id(), written.trim()),
                        hint: "export into a repository with SHA-1 ids",
                    });
                }
            }
            git.run(&["update-ref", "-m", "deckle git export", &ref_name, &head.to_string()], b"")
        })
        .await?;
        Ok(ExportReport { commit: head, name, objects })
    }

    /// Reads a file that is kept in the folder only.
    fn outside_bytes(&self, id: ObjectId, path: &str) -> Result<Vec<u8>, StoreError> {
        let bytes = match self.main_folder() {
            Some(folder) => folder.read(path)?,
            None => None,
        };
        bytes.filter(|bytes| ObjectId::of(ObjectKind::Blob, bytes) == id).ok_or_else(|| StoreError::Corrupt {
            what: format!("`{path}`"),
            finding: format!("its bytes of {} are kept in the folder only, and it changed there", id.short()),
        })
    }

    /// Reads the history of a commit of a git repository, and makes it main. Only forwards: main must be empty, or an
    /// ancestor of that commit.
    ///
    /// # Errors
    /// When main is a folder, or would lose commits, or the repository cannot be read.
    pub async fn import_git(&self, dir: &Path, revision: &str, meta: &Meta) -> Result<ImportReport, StoreError> {
        if self.folder().is_some() {
            return Err(StoreError::Git {
                message: "main is a folder, which git already writes".into(),
                hint: "check the commit out with git; the next command sees it",
            });
        }
        let core = self.core();
        let main = core.head(&Line::Main).await?;
        let (git, asked) = (Git::at(dir), format!("{revision}^{{commit}}"));
        let reader = git.clone();
        let (commit, list) = blocking(move || {
            let commit = reader.run(&["rev-parse", "--verify", "--end-of-options", &asked], b"")?;
            let commit = commit.lines().last().unwrap_or_default().trim().to_owned();
            let list = reader.run_bytes(&["rev-list", "--objects", "--in-commit-order", &commit], b"")?;
            Ok((commit, list))
        })
        .await?;
        let head: ObjectId = commit.parse()?;
        // Paths may be any bytes; the ids before them are all that is needed.
        let ids: Vec<&[u8]> = list.split(|byte| *byte == b'\n').filter_map(|line| line.get(..40)).collect();
        let mut documents: BTreeSet<ObjectId> = BTreeSet::new();
        let mut commits: HashMap<ObjectId, CommitObject> = HashMap::new();
        let mut blobs: Vec<RawObject> = Vec::new();
        let mut pending = Pending::default();
        let mut objects = 0;
        for piece in ids.chunks(2_000) {
            let (reader, mut wanted) = (git.clone(), piece.join(&b'\n'));
            wanted.push(b'\n');
            let bytes = blocking(move || reader.run_bytes(&["cat-file", "--batch"], &wanted)).await?;
            for object in batch(&bytes)? {
                objects += 1;
                match object.kind() {
                    ObjectKind::Blob => blobs.push(object),
                    ObjectKind::Tree => {
                        let tree = TreeObject::parse(object.id(), object.data())?;
                        // Which blobs are documents only the trees can say.
                        let files = tree.entries().iter().filter(|entry| is_markdown(&entry.name));
                        documents.extend(files.filter(|entry| entry.mode != EntryMode::Folder).map(|entry| entry.id));
                        pending.add(object);
                    }
                    ObjectKind::Commit => {
                        commits.insert(object.id(), CommitObject::parse(object.id(), object.data())?);
                        pending.add(object);
                    }
                }
            }
        }
        for blob in blobs {
            let text = blob.data().len() <= MAX_DOCUMENT_BYTES && std::str::from_utf8(blob.data()).is_ok();
            if !(text && documents.contains(&blob.id())) {
                pending.mark_opaque(blob.id());
            }
            pending.add(blob);
            if pending.bytes() > BATCH {
                // Content that no ref names yet does no harm.
                let packed = std::mem::take(&mut pending).pack(&core.objects).await?;
                let mut tx = core.scope().begin().await?;
                packed.write(&mut tx).await?;
                tx.commit().await?;
            }
        }
        let mut ancestors = vec![head];
        let mut reached = BTreeSet::new();
        while let Some(id) = ancestors.pop() {
            if reached.insert(id) {
                ancestors.extend(commits.get(&id).map(|commit| commit.parents.clone()).unwrap_or_default());
            }
        }
        let empty = core.objects.commit(main).await?.tree == ObjectId::EMPTY_TREE;
        if !empty && !reached.contains(&main) {
            return Err(StoreError::Git {
                message: format!("main is at {}, which is no ancestor of {}", main.short(), head.short()),
                hint: "import into a new workspace, or merge in git first",
            });
        }
        let packed = pending.pack(&core.objects).await?;
        let mut tx = core.scope().begin().await?;
        packed.write(&mut tx).await?;
        let (before, after) = (Some(main), Some(head));
        let op = NewOp { kind: OpKind::Import, branch: None, meta, before, after, detail: Detail::default() };
        oplog::append(&mut tx, &core.id, core.now(), op).await?;
        if let Err(actual) = refs::move_to(&mut tx, &core.id, refs::MAIN, main, head).await? {
            return Err(StoreError::Moved { name: "main".into(), expected: main, actual: actual.unwrap_or(main) });
        }
        tx.commit().await?;
        Ok(ImportReport { commit: head, objects })
    }
}

/// Reads what `cat-file --batch` prints.
fn batch(bytes: &[u8]) -> Result<Vec<RawObject>, StoreError> {
    let wrong = || StoreError::Git { message: "an object cannot be read".into(), hint: "run `git fsck` in the repository" };
    let mut objects = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(wrong)?;
        let (header, tail) = rest.split_at(end);
        let mut words = std::str::from_utf8(header).map_err(|_| wrong())?.split(' ');
        let (id, kind) = (words.next(), words.next().and_then(ObjectKind::parse));
        let size: Option<usize> = words.next().and_then(|size| size.parse().ok());
        let (Some(id), Some(kind), Some(size)) = (id, kind, size) else { return Err(wrong()) };
        let object = RawObject::new(kind, tail.get(1..1 + size).ok_or_else(wrong)?.to_vec());
        if object.id().to_string() != id {
            let what = format!("{} {id} of the repository", kind.as_str());
            return Err(StoreError::Corrupt { what, finding: "its bytes have another id".into() });
        }
        objects.push(object);
        rest = tail.get(2 + size..).unwrap_or_default();
    }
    Ok(objects)
}
