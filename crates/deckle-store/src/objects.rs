//! Reading and writing objects. Whatever is read is hashed again: damage is found here and never served.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use deckle_doc::Dialect;
use tokio::sync::RwLock;

use crate::error::StoreError;
use crate::ids::Tenant;
use crate::object::{CommitObject, ObjectId, ObjectKind, RawObject, TreeObject, delta};
use crate::sql::{Row, Scope, Tx, Value};

/// How many rows one statement carries: few enough for every engine's limit of parameters.
const ROWS: usize = 64;
/// How many bytes of trees one process keeps at hand.
const CACHE_BYTES: usize = 32 * 1024 * 1024;

/// Trees that were read lately. They never change, so nothing is ever stale; over its size it begins anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeCache(Arc<RwLock<(usize, TreeMap)>>);

type TreeMap = HashMap<(Tenant, ObjectId), Arc<TreeObject>>;

/// The objects of one tenant.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    scope: Scope,
    cache: TreeCache,
    /// How the documents are read.
    dialect: Dialect,
}

impl Objects {
    pub(crate) fn new(scope: Scope, cache: TreeCache) -> Self {
        Self { scope, cache, dialect: Dialect::Generic }
    }

    /// Returns how the documents are read.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Reads one object.
    pub(crate) async fn read(&self, id: ObjectId, kind: ObjectKind) -> Result<RawObject, StoreError> {
        let mut found = self.read_many(&[id]).await?;
        let object = found.remove(&id).ok_or_else(|| missing(id, kind))?;
        if object.kind() != kind {
            return Err(StoreError::Corrupt {
                what: format!("{} {id}", kind.as_str()),
                finding: format!("it is a {}", object.kind().as_str()),
            });
        }
        Ok(object)
    }

    /// Reads those of the objects that are stored with their bytes.
    pub(crate) async fn read_many(&self, ids: &[ObjectId]) -> Result<HashMap<ObjectId, RawObject>, StoreError> {
        let mut rows: HashMap<ObjectId, Stored> = HashMap::new();
        let mut wanted: BTreeSet<ObjectId> = ids.iter().copied().filter(|id| *id != ObjectId::EMPTY_TREE).collect();
        // Changes name the version they stand on, which may be one more change: depth is bounded, so this ends.
        while !wanted.is_empty() {
            let batch: Vec<ObjectId> = std::mem::take(&mut wanted).into_iter().collect();
            for ids in batch.chunks(ROWS * 4) {
                let holes: Vec<String> = (0..ids.len()).map(|at| format!("${}", at + 2)).collect();
                let sql =
                    format!("SELECT id, kind, base, data, size FROM objects WHERE tenant = $1 AND id IN ({})", holes.join(", "));
                for row in self.scope.fetch(&sql, ids.iter().map(|id| Value::from(*id)).collect()).await? {
                    let Some(stored) = Stored::read(&row)? else { continue };
                    if let Some(base) = stored.base
                        && !rows.contains_key(&base)
                    {
                        wanted.insert(base);
                    }
                    rows.insert(row.id(0)?, stored);
                }
            }
            wanted.retain(|id| !rows.contains_key(id));
        }
        let mut out = HashMap::new();
        for id in ids {
            if *id == ObjectId::EMPTY_TREE {
                out.insert(*id, RawObject::new(ObjectKind::Tree, Vec::new()));
            } else if let Some(stored) = rows.get(id) {
                let object = RawObject::new(stored.kind, resolve(*id, &rows)?);
                if stored.size != i64::try_from(object.data().len()).unwrap_or(-1) {
                    return Err(StoreError::Corrupt {
                        what: format!("{} {id}", stored.kind.as_str()),
                        finding: format!("its row says {} bytes, it has {}", stored.size, object.data().len()),
                    });
                }
                if object.id() != *id {
                    return Err(StoreError::Corrupt {
                        what: format!("{} {id}", stored.kind.as_str()),
                        finding: format!("its bytes are those of {}", object.id()),
                    });
                }
                out.insert(*id, object);
            }
        }
        Ok(out)
    }

    /// Reads the bytes of a file.
    pub(crate) async fn blob(&self, id: ObjectId) -> Result<Vec<u8>, StoreError> {
        Ok(self.read(id, ObjectKind::Blob).await?.data().to_vec())
    }

    /// Reads a document's text.
    pub(crate) async fn text(&self, id: ObjectId) -> Result<Arc<str>, StoreError> {
        let bytes = self.blob(id).await?;
        let text = String::from_utf8(bytes)
            .map_err(|_| StoreError::NotADocument { key: id.short(), why: "its bytes are not UTF-8".into() })?;
        Ok(text.into())
    }

    /// Reads a commit.
    pub(crate) async fn commit(&self, id: ObjectId) -> Result<CommitObject, StoreError> {
        CommitObject::parse(id, self.read(id, ObjectKind::Commit).await?.data())
    }

    /// Reads a folder.
    pub(crate) async fn tree(&self, id: ObjectId) -> Result<Arc<TreeObject>, StoreError> {
        let found = self.trees(&[id]).await?;
        found.get(&id).cloned().ok_or_else(|| missing(id, ObjectKind::Tree))
    }

    /// Reads folders; every one of them must be there.
    pub(crate) async fn trees(&self, ids: &[ObjectId]) -> Result<HashMap<ObjectId, Arc<TreeObject>>, StoreError> {
        let mut out = HashMap::with_capacity(ids.len());
        let mut wanted = Vec::new();
        {
            let cache = self.cache.0.read().await;
            for id in ids {
                match cache.1.get(&(self.scope.tenant().clone(), *id)) {
                    Some(tree) => drop(out.insert(*id, tree.clone())),
                    None => wanted.push(*id),
                }
            }
        }
        if wanted.is_empty() {
            return Ok(out);
        }
        let mut read = self.read_many(&wanted).await?;
        let mut cache = self.cache.0.write().await;
        for id in wanted {
            let Some(object) = read.remove(&id) else {
                if out.contains_key(&id) {
                    continue;
                }
                return Err(missing(id, ObjectKind::Tree));
            };
            let tree = Arc::new(TreeObject::parse(id, object.data())?);
            if cache.0 + object.data().len() > CACHE_BYTES {
                *cache = Default::default();
            }
            cache.0 += object.data().len();
            cache.1.insert((self.scope.tenant().clone(), id), tree.clone());
            out.insert(id, tree);
        }
        Ok(out)
    }

    /// Whether a blob is known to be no document.
    pub(crate) async fn is_opaque(&self, id: ObjectId) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM objects WHERE tenant = $1 AND id = $2 AND opaque = 1";
        Ok(self.scope.first(sql, vec![Value::from(id)]).await?.is_some())
    }

    /// Returns which of the tenant's blobs are known to be no documents.
    pub(crate) async fn opaque(&self) -> Result<BTreeSet<ObjectId>, StoreError> {
        let rows = self.scope.fetch("SELECT id FROM objects WHERE tenant = $1 AND opaque = 1", Vec::new()).await?;
        rows.iter().map(|row| row.id(0)).collect()
    }
}

fn missing(id: ObjectId, kind: ObjectKind) -> StoreError {
    StoreError::Corrupt { what: format!("{} {id}", kind.as_str()), finding: "it is not in the store".into() }
}

/// A row of the table.
struct Stored {
    kind: ObjectKind,
    base: Option<ObjectId>,
    data: Vec<u8>,
    size: i64,
}

impl Stored {
    /// Reads `id, kind, base, data, size`; nothing when the bytes are kept in the folder.
    fn read(row: &Row) -> Result<Option<Self>, StoreError> {
        let Some(data) = row.bytes_or_none(3)? else { return Ok(None) };
        let kind = ObjectKind::parse(row.text(1)?).ok_or_else(|| StoreError::Corrupt {
            what: format!("object {}", row.text(0).unwrap_or_default()),
            finding: "its kind is unknown".into(),
        })?;
        let base = row.text_or_none(2)?.map(str::parse).transpose()?;
        Ok(Some(Self { kind, base, data: data.to_vec(), size: row.int(4)? }))
    }
}

/// Follows the changes down to a whole version, and applies them upwards.
fn resolve(id: ObjectId, rows: &HashMap<ObjectId, Stored>) -> Result<Vec<u8>, StoreError> {
    let corrupt = |finding: &str| StoreError::Corrupt { what: format!("object {id}"), finding: finding.to_owned() };
    let mut chain = Vec::new();
    let mut at = rows.get(&id).ok_or_else(|| corrupt("it is not in the store"))?;
    while let Some(base) = at.base {
        chain.push(&at.data);
        at = rows.get(&base).ok_or_else(|| corrupt("the version it stands on is not in the store"))?;
        if chain.len() > rows.len() {
            return Err(corrupt("it stands on itself"));
        }
    }
    let mut bytes = at.data.clone();
    while let Some(change) = chain.pop() {
        bytes = delta::apply(&bytes, change).ok_or_else(|| corrupt("the change it is stored as does not fit"))?;
    }
    Ok(bytes)
}

/// Objects that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    objects: BTreeMap<ObjectId, (RawObject, Option<ObjectId>)>,
    opaque: BTreeMap<ObjectId, u64>,
    marked: BTreeSet<ObjectId>,
    bytes: usize,
}

impl Pending {
    /// Adds an object; returns its id.
    pub(crate) fn add(&mut self, object: RawObject) -> ObjectId {
        self.add_on(object, None)
    }

    /// Adds a blob that probably resembles an earlier version.
    pub(crate) fn add_on(&mut self, object: RawObject, base: Option<ObjectId>) -> ObjectId {
        let id = object.id();
        self.bytes += object.data().len();
        self.objects.insert(id, (object, base.filter(|base| *base != id)));
        id
    }

    /// Notes a file whose bytes stay where they are.
    pub(crate) fn add_opaque(&mut self, id: ObjectId, size: u64) {
        self.opaque.insert(id, size);
    }

    /// Notes that a blob is no document, although its bytes are stored.
    pub(crate) fn mark_opaque(&mut self, id: ObjectId) {
        self.marked.insert(id);
    }

    /// Returns how many bytes wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a waiting object.
    pub(crate) fn get(&self, id: ObjectId) -> Option<&RawObject> {
        self.objects.get(&id).map(|(object, _)| object)
    }

    /// Encodes what resembles an earlier version as a change of it. Reads, so it comes before the transaction.
    pub(crate) async fn pack(self, objects: &Objects) -> Result<Packed, StoreError> {
        let bases: Vec<ObjectId> = self.objects.values().filter_map(|(_, base)| *base).collect();
        let mut depths: HashMap<ObjectId, u64> = HashMap::new();
        for ids in bases.chunks(ROWS) {
            let holes: Vec<String> = (0..ids.len()).map(|at| format!("${}", at + 2)).collect();
            let sql = format!(
                "SELECT id, base, CASE WHEN base IS NULL THEN NULL ELSE substr(data, 1, 2) END FROM objects WHERE tenant = $1 AND data IS NOT NULL AND id IN ({})",
                holes.join(", ")
            );
            for row in objects.scope.fetch(&sql, ids.iter().map(|id| Value::from(*id)).collect()).await? {
                depths.insert(row.id(0)?, row.bytes_or_none(2)?.and_then(delta::depth).unwrap_or_default());
            }
        }
        let known: Vec<ObjectId> = depths.keys().copied().collect();
        let bases = objects.read_many(&known).await?;
        let mut rows = Vec::with_capacity(self.objects.len() + self.opaque.len());
        for (id, size) in self.opaque {
            rows.push(PackedRow { id, kind: ObjectKind::Blob, size: size as i64, opaque: true, base: None, data: None });
        }
        for (id, (object, base)) in self.objects {
            let change = base.and_then(|base| Some((base, bases.get(&base)?.data(), *depths.get(&base)?)));
            let change = change.and_then(|(base, bytes, depth)| Some((base, delta::encode(bytes, depth, object.data())?)));
            let size = object.data().len() as i64;
            let kind = object.kind();
            let (base, data) = match change {
                Some((base, data)) => (Some(base), data),
                None => (None, object.data().to_vec()),
            };
            rows.push(PackedRow { id, kind, size, opaque: self.marked.contains(&id), base, data: Some(data) });
        }
        Ok(Packed(rows))
    }
}

/// Objects as they will be stored.
#[derive(Debug, Default)]
#[must_use = "write() them"]
pub(crate) struct Packed(Vec<PackedRow>);

#[derive(Debug)]
struct PackedRow {
    id: ObjectId,
    kind: ObjectKind,
    size: i64,
    opaque: bool,
    base: Option<ObjectId>,
    data: Option<Vec<u8>>,
}

impl Packed {
    /// Writes them; those that are there already stay as they are.
    pub(crate) async fn write(self, tx: &mut Tx) -> Result<(), StoreError> {
        let mut rows = self.0.into_iter().peekable();
        while rows.peek().is_some() {
            // Whole batches share one prepared statement, and so do single rows.
            let mut batch: Vec<PackedRow> = rows.by_ref().take(ROWS).collect();
            if batch.len() == ROWS {
                insert(tx, batch).await?;
            } else {
                for row in batch.drain(..) {
                    insert(tx, vec![row]).await?;
                }
            }
        }
        Ok(())
    }
}

async fn insert(tx: &mut Tx, rows: Vec<PackedRow>) -> Result<(), StoreError> {
    let groups: Vec<String> = (0..rows.len())
        .map(|at| {
            let first = at * 6 + 2;
            format!("($1, ${}, ${}, ${}, ${}, ${}, ${})", first, first + 1, first + 2, first + 3, first + 4, first + 5)
        })
        .collect();
    let sql = format!(
        "INSERT INTO objects (tenant, id, kind, size, opaque, base, data) VALUES {} ON CONFLICT (tenant, id) DO UPDATE \
         SET data = excluded.data, base = excluded.base WHERE objects.data IS NULL AND excluded.data IS NOT NULL",
        groups.join(", ")
    );
    let mut values = Vec::with_capacity(rows.len() * 6);
    for row in rows {
        values.extend([
            Value::from(row.id),
            Value::from(row.kind.as_str()),
            Value::from(row.size),
            Value::from(row.opaque),
            Value::from(row.base),
            Value::from(row.data),
        ]);
    }
    tx.exec(&sql, values).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Clock;
    use crate::sql::args;
    use crate::store::Store;

    /// A store with objects of every kind, some of them stored as changes of others.
    async fn filled() -> (Objects, Vec<ObjectId>) {
        // In memory: what is damaged here is the content, not the disk.
        let disk = deckle_testkit::simdisk::SimDisk::new();
        let store = Store::open_with(&disk.url("s.db"), Clock::system()).await.unwrap();
        let objects = store.core(&Tenant::local(), &crate::ids::WorkspaceId::folder()).objects;
        let mut ids = Vec::new();
        let mut base = None;
        for n in 0..20 {
            let mut pending = Pending::default();
            let text = format!("{}\nversion {n}\n{}", "line\n".repeat(200), "end\n".repeat(200));
            let id = pending.add_on(RawObject::new(ObjectKind::Blob, text.into_bytes()), base);
            let entry = crate::object::TreeEntry { name: "a.md".into(), mode: crate::object::EntryMode::File, id };
            ids.push(pending.add(TreeObject::new(vec![entry]).to_raw()));
            ids.push(id);
            base = Some(id);
            let packed = pending.pack(&objects).await.unwrap();
            let mut tx = objects.scope.begin().await.unwrap();
            packed.write(&mut tx).await.unwrap();
            tx.commit().await.unwrap();
        }
        (objects, ids)
    }

    #[tokio::test]
    async fn every_damage_to_an_object_is_found_when_it_is_read() {
        let scale: u64 = std::env::var("DECKLE_PROVE_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
        let (objects, ids) = filled().await;
        assert_eq!(objects.read_many(&ids).await.unwrap().len(), ids.len());
        let row = |id: ObjectId| {
            let objects = objects.clone();
            async move {
                let sql = "SELECT data, base, kind, size FROM objects WHERE tenant = $1 AND id = $2";
                objects.scope.first(sql, args![id]).await.unwrap().unwrap()
            }
        };
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below.max(1) as u64) as usize
        };
        for n in 0..2_000 * scale {
            let (id, other) = (ids[random(ids.len())], ids[random(ids.len())]);
            let (good, donor) = (row(id).await, row(other).await);
            let mut data = good.bytes(0).unwrap().to_vec();
            let mut base = good.text_or_none(1).unwrap().map(str::to_owned);
            let mut size = good.int(3).unwrap();
            match n % 5 {
                0 => {
                    let at = random(data.len());
                    data[at] ^= 1 << random(8);
                }
                1 => data.truncate(random(data.len())),
                2 => (data, base) = (donor.bytes(0).unwrap().to_vec(), donor.text_or_none(1).unwrap().map(str::to_owned)),
                3 => base = Some(other.to_string()),
                _ => size += 1,
            }
            let same = data == good.bytes(0).unwrap()
                && base.as_deref() == good.text_or_none(1).unwrap()
                && size == good.int(3).unwrap();
            let update = "UPDATE objects SET data = $3, base = $4, size = $5 WHERE tenant = $1 AND id = $2";
            let mut tx = objects.scope.begin().await.unwrap();
            tx.exec(update, args![id, data, base, size]).await.unwrap();
            tx.commit().await.unwrap();
            match objects.read_many(&[id]).await {
                // The first byte of a change is its depth, which carries no content.
                Ok(read) => assert!(same || read[&id].id() == id, "damage {n} to {id} was served"),
                Err(StoreError::Corrupt { what, .. }) => {
                    assert!(what.contains(&id.to_string()), "{what} names another than {id}")
                }
                Err(other) => panic!("{other}"),
            }
            let mut tx = objects.scope.begin().await.unwrap();
            let good_values = args![id, good.bytes(0).unwrap().to_vec(), good.text_or_none(1).unwrap(), good.int(3).unwrap()];
            tx.exec(update, good_values).await.unwrap();
            tx.commit().await.unwrap();
        }
    }
}
