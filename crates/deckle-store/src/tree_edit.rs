//! Changing some paths of a tree, and finding which paths two trees do not share. Both touch only folders on the way.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::error::StoreError;
use crate::object::{EntryMode, ObjectId, TreeEntry, TreeObject};
use crate::objects::{Objects, Pending};

/// One file in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path from the root, `/`-separated.
    pub path: Box<str>,
    /// What it is.
    pub mode: EntryMode,
    /// Its bytes.
    pub id: ObjectId,
}

/// Returns the folder part and the name of a path; the root folder is the empty text.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Builds the tree in which these paths are as given (absent: removed) and all others as in `root`.
pub(crate) async fn edit(
    objects: &Objects,
    root: ObjectId,
    changes: &BTreeMap<String, Option<(EntryMode, ObjectId)>>,
    pending: &mut Pending,
) -> Result<ObjectId, StoreError> {
    // Every folder on the way to a changed path.
    let mut touched: BTreeSet<String> = BTreeSet::from([String::new()]);
    for path in changes.keys() {
        let mut folder = split(path).0;
        while !folder.is_empty() && touched.insert(folder.to_owned()) {
            folder = split(folder).0;
        }
    }
    let mut folders: BTreeMap<String, BTreeMap<Box<str>, TreeEntry>> = BTreeMap::new();
    // In text order a folder comes before what is in it, so its parent was read already.
    for folder in &touched {
        let id = if folder.is_empty() {
            Some(root)
        } else {
            let (parent, name) = split(folder);
            let entry = folders.get(parent).and_then(|entries| entries.get(name));
            entry.filter(|entry| entry.mode == EntryMode::Folder).map(|entry| entry.id)
        };
        let entries = match id {
            Some(id) => objects.tree(id).await?.entries().iter().map(|entry| (entry.name.clone(), entry.clone())).collect(),
            None => BTreeMap::new(),
        };
        folders.insert(folder.clone(), entries);
    }
    for (path, change) in changes {
        let (folder, name) = split(path);
        let entries = folders.entry(folder.to_owned()).or_default();
        match change {
            Some((mode, id)) => drop(entries.insert(name.into(), TreeEntry { name: name.into(), mode: *mode, id: *id })),
            None => drop(entries.remove(name)),
        }
    }
    // Deepest first, so a folder's id is known when its parent is written.
    let mut order: Vec<&String> = touched.iter().collect();
    order.sort_by_key(|folder| std::cmp::Reverse(folder.matches('/').count() + usize::from(!folder.is_empty())));
    let mut result = ObjectId::EMPTY_TREE;
    for folder in order {
        let entries: Vec<TreeEntry> = folders.remove(folder).unwrap_or_default().into_values().collect();
        let empty = entries.is_empty();
        let id = if empty { ObjectId::EMPTY_TREE } else { pending.add(TreeObject::new(entries).to_raw()) };
        if folder.is_empty() {
            result = id;
        } else {
            let (parent, name) = split(folder);
            let entries = folders.entry(parent.to_owned()).or_default();
            if empty {
                // Git keeps no empty folders; a file that took the name meanwhile stays.
                if entries.get(name).is_some_and(|entry| entry.mode == EntryMode::Folder) {
                    entries.remove(name);
                }
            } else {
                entries.insert(name.into(), TreeEntry { name: name.into(), mode: EntryMode::Folder, id });
            }
        }
    }
    Ok(result)
}

/// Builds all trees of a list of files; returns the root.
pub(crate) fn build(files: &[FileEntry], pending: &mut Pending) -> ObjectId {
    let mut folders: BTreeMap<&str, Vec<TreeEntry>> = BTreeMap::new();
    folders.entry("").or_default();
    for file in files {
        let (mut folder, name) = split(&file.path);
        let entry = TreeEntry { name: name.into(), mode: file.mode, id: file.id };
        folders.entry(folder).or_default().push(entry);
        while !folder.is_empty() {
            folder = split(folder).0;
            folders.entry(folder).or_default();
        }
    }
    let mut order: Vec<&str> = folders.keys().copied().collect();
    order.sort_by_key(|folder| std::cmp::Reverse(folder.matches('/').count() + usize::from(!folder.is_empty())));
    let mut root = ObjectId::EMPTY_TREE;
    for folder in order {
        let entries = folders.remove(folder).unwrap_or_default();
        let id = if entries.is_empty() { ObjectId::EMPTY_TREE } else { pending.add(TreeObject::new(entries).to_raw()) };
        if folder.is_empty() {
            root = id;
        } else {
            let (parent, name) = split(folder);
            folders.entry(parent).or_default().push(TreeEntry { name: name.into(), mode: EntryMode::Folder, id });
        }
    }
    root
}

/// Lists every file of a tree, in path order.
pub(crate) async fn list(objects: &Objects, root: ObjectId) -> Result<Vec<FileEntry>, StoreError> {
    let mut files = Vec::new();
    let mut level = vec![(String::new(), root)];
    while !level.is_empty() {
        let ids: Vec<ObjectId> = level.iter().map(|(_, id)| *id).collect();
        let trees = objects.trees(&ids).await?;
        let mut next = Vec::new();
        for (folder, id) in level {
            let Some(tree) = trees.get(&id) else { continue };
            for entry in tree.entries() {
                let path = join(&folder, &entry.name);
                if entry.mode == EntryMode::Folder {
                    next.push((path, entry.id));
                } else {
                    files.push(FileEntry { path: path.into(), mode: entry.mode, id: entry.id });
                }
            }
        }
        level = next;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Finds one file.
pub(crate) async fn find(objects: &Objects, root: ObjectId, path: &str) -> Result<Option<FileEntry>, StoreError> {
    let mut tree = objects.tree(root).await?;
    let (folder, name) = split(path);
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        match tree.entry(part).filter(|entry| entry.mode == EntryMode::Folder) {
            Some(entry) => tree = objects.tree(entry.id).await?,
            None => return Ok(None),
        }
    }
    let entry = tree.entry(name).filter(|entry| entry.mode != EntryMode::Folder);
    Ok(entry.map(|entry| FileEntry { path: path.into(), mode: entry.mode, id: entry.id }))
}

/// Whether a new file can stand at a path: nothing is there, and no file is where a folder on the way must be.
pub(crate) async fn is_free(objects: &Objects, root: ObjectId, path: &str) -> Result<bool, StoreError> {
    let mut tree = objects.tree(root).await?;
    let (folder, name) = split(path);
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        match tree.entry(part) {
            Some(entry) if entry.mode == EntryMode::Folder => tree = objects.tree(entry.id).await?,
            Some(_) => return Ok(false),
            None => return Ok(true),
        }
    }
    Ok(tree.entry(name).is_none())
}

/// A path that two trees do not share: what stands there in the first and in the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathChange {
    pub(crate) path: String,
    pub(crate) before: Option<(EntryMode, ObjectId)>,
    pub(crate) after: Option<(EntryMode, ObjectId)>,
}

/// Lists the paths that differ, in path order; folders that are the same are never opened.
pub(crate) async fn diff(objects: &Objects, before: ObjectId, after: ObjectId) -> Result<Vec<PathChange>, StoreError> {
    diff_with(objects, &Pending::default(), before, after).await
}

/// The same, when trees of the second are not stored yet.
pub(crate) async fn diff_with(
    objects: &Objects,
    pending: &Pending,
    before: ObjectId,
    after: ObjectId,
) -> Result<Vec<PathChange>, StoreError> {
    let mut changes = Vec::new();
    let mut level = vec![(String::new(), Some(before), Some(after))];
    while !level.is_empty() {
        level.retain(|(_, a, b)| a != b);
        let mut ids: Vec<ObjectId> = level.iter().flat_map(|(_, a, b)| [*a, *b]).flatten().collect();
        let mut waiting = HashMap::new();
        for id in &ids {
            if let Some(object) = pending.get(*id) {
                waiting.insert(*id, Arc::new(TreeObject::parse(*id, object.data())?));
            }
        }
        ids.retain(|id| !waiting.contains_key(id));
        let mut trees = objects.trees(&ids).await?;
        trees.extend(waiting);
        let mut next = Vec::new();
        for (folder, a, b) in level {
            let entries = |id: Option<ObjectId>| id.and_then(|id| trees.get(&id)).cloned().unwrap_or_default();
            let (a, b): (Arc<TreeObject>, Arc<TreeObject>) = (entries(a), entries(b));
            let others: HashMap<&str, &TreeEntry> = b.entries().iter().map(|entry| (&*entry.name, entry)).collect();
            let known: BTreeSet<&str> = a.entries().iter().map(|entry| &*entry.name).collect();
            let pairs = a.entries().iter().map(|entry| (Some(entry), others.get(&*entry.name).copied()));
            let added = b.entries().iter().filter(|entry| !known.contains(&*entry.name)).map(|entry| (None, Some(entry)));
            for (old, new) in pairs.chain(added) {
                let Some(name) = old.or(new).map(|entry| &*entry.name) else { continue };
                if old.map(|entry| (entry.mode, entry.id)) == new.map(|entry| (entry.mode, entry.id)) {
                    continue;
                }
                let path = join(&folder, name);
                let sub = |entry: Option<&TreeEntry>| entry.filter(|entry| entry.mode == EntryMode::Folder).map(|entry| entry.id);
                let file = |entry: Option<&TreeEntry>| {
                    entry.filter(|entry| entry.mode != EntryMode::Folder).map(|entry| (entry.mode, entry.id))
                };
                if sub(old).is_some() || sub(new).is_some() {
                    next.push((path.clone(), sub(old), sub(new)));
                }
                if file(old).is_some() || file(new).is_some() {
                    changes.push(PathChange { path, before: file(old), after: file(new) });
                }
            }
        }
        level = next;
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}
