//! The one way to the database. A statement needs a [`Scope`] or a [`Tx`], those need a [`Tenant`], and `$1` of every
//! statement *is* that tenant, so a query without one cannot be written here. Two engines, one dialect.

mod migrate;
mod open;
mod value;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{AssertSqlSafe, PgPool, Postgres, Sqlite, SqlitePool};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::error::StoreError;
use crate::ids::Tenant;
pub use migrate::VERSION as SCHEMA_VERSION;
pub(crate) use open::{Location, open};
pub(crate) use value::{Row, Value, args};

/// The two engines.
#[derive(Clone, Debug)]
pub(crate) enum Pools {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// An open database.
#[derive(Clone, Debug)]
pub(crate) struct Db {
    pools: Pools,
    /// SQLite has one writer; waiting here is fair, waiting in the busy handler is not.
    writer: Arc<Mutex<()>>,
    /// Set once a commit failed in the disk below it: from then on nothing more is acknowledged.
    failed: Arc<AtomicBool>,
}

/// A database seen by one tenant.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    db: Db,
    tenant: Tenant,
}

/// A transaction of one tenant.
pub(crate) struct Tx {
    inner: Inner,
    tenant: Tenant,
    failed: Arc<AtomicBool>,
    /// Held until the transaction is over.
    _writer: Option<OwnedMutexGuard<()>>,
}

enum Inner {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

impl Db {
    fn new(pools: Pools) -> Self {
        Self { pools, writer: Arc::default(), failed: Arc::default() }
    }

    /// Narrows the database to one tenant.
    pub(crate) fn scope(&self, tenant: &Tenant) -> Scope {
        Scope { db: self.clone(), tenant: tenant.clone() }
    }

    /// Asks SQLite about its own file; Postgres checks its pages itself.
    pub(crate) async fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let Pools::Sqlite(pool) = &self.pools else { return Ok(Vec::new()) };
        let rows = sqlx::query("PRAGMA integrity_check(20)").fetch_all(pool).await?;
        let lines = rows.iter().map(|row| sqlx::Row::try_get::<String, _>(row, 0)).collect::<Result<Vec<_>, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        match &self.pools {
            Pools::Sqlite(pool) => pool.close().await,
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

/// The statement as it is run; one sabotage build forgets the tenant here.
fn text(sql: &str) -> AssertSqlSafe<String> {
    debug_assert!(sql.contains("tenant"), "BUG: a statement without a tenant: {sql}");
    if cfg!(sabotage = "no_tenant_filter") && sql.trim_start().starts_with("SELECT") {
        return AssertSqlSafe(sql.replace("tenant = $1", "$1 = $1"));
    }
    AssertSqlSafe(sql.to_owned())
}

impl Scope {
    /// Returns the tenant.
    pub(crate) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Runs a query; `$1` is the tenant, `$2` the first of `values`.
    pub(crate) async fn fetch(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        match &self.db.pools {
            Pools::Sqlite(pool) => {
                let query = value::bind_sqlite(sqlx::query(text(sql)), &self.tenant, values);
                query.fetch_all(pool).await?.iter().map(value::from_sqlite).collect()
            }
            Pools::Postgres(pool) => {
                let mut connection = pool.acquire().await?;
                name_tenant(&mut connection, &self.tenant, false).await?;
                let query = value::bind_postgres(sqlx::query(text(sql)), &self.tenant, values);
                query.fetch_all(&mut *connection).await?.iter().map(value::from_postgres).collect()
            }
        }
    }

    /// Runs a query that answers with one row at most.
    pub(crate) async fn first(&self, sql: &str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.fetch(sql, values).await?.into_iter().next())
    }

    /// Begins a transaction that may write.
    pub(crate) async fn begin(&self) -> Result<Tx, StoreError> {
        if self.db.failed.load(Ordering::SeqCst) {
            return Err(StoreError::ReadOnly);
        }
        let (inner, writer) = match &self.db.pools {
            Pools::Sqlite(pool) => {
                let writer = self.db.writer.clone().lock_owned().await;
                (Inner::Sqlite(pool.begin_with("BEGIN IMMEDIATE").await?), Some(writer))
            }
            Pools::Postgres(pool) => {
                let mut tx = pool.begin().await?;
                name_tenant(&mut tx, &self.tenant, true).await?;
                (Inner::Postgres(tx), None)
            }
        };
        Ok(Tx { inner, tenant: self.tenant.clone(), failed: self.db.failed.clone(), _writer: writer })
    }
}

/// Tells Postgres whose rows this connection may see: row-level security is the second lock behind `$1`.
async fn name_tenant(
    connection: &mut sqlx::PgConnection,
    tenant: &Tenant,
    only_this_transaction: bool,
) -> Result<(), StoreError> {
    sqlx::query("SELECT set_config('deckle.tenant', $1, $2)")
        .bind(tenant.as_str())
        .bind(only_this_transaction)
        .execute(connection)
        .await?;
    Ok(())
}

impl Tx {
    /// Runs a query inside the transaction.
    pub(crate) async fn fetch(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let done = match &mut self.inner {
            Inner::Sqlite(tx) => {
                let query = value::bind_sqlite(sqlx::query(text(sql)), &self.tenant, values);
                query.fetch_all(&mut **tx).await.map(|rows| rows.iter().map(value::from_sqlite).collect())
            }
            Inner::Postgres(tx) => {
                let query = value::bind_postgres(sqlx::query(text(sql)), &self.tenant, values);
                query.fetch_all(&mut **tx).await.map(|rows| rows.iter().map(value::from_postgres).collect())
            }
        };
        done.map_err(|error| self.failure(error))?
    }

    /// Runs a query that answers with one row at most.
    pub(crate) async fn first(&mut self, sql: &str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.fetch(sql, values).await?.into_iter().next())
    }

    /// Runs a statement; returns how many rows it touched.
    pub(crate) async fn exec(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        let done = match &mut self.inner {
            Inner::Sqlite(tx) => {
                let query = value::bind_sqlite(sqlx::query(text(sql)), &self.tenant, values);
                query.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
            Inner::Postgres(tx) => {
                let query = value::bind_postgres(sqlx::query(text(sql)), &self.tenant, values);
                query.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
        };
        done.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: sqlx::Error) -> StoreError {
        failure(error, &self.failed)
    }

    /// Makes it true and durable. When the disk below refuses, nothing is acknowledged from then on: after a failed sync
    /// nobody can say which pages reached the disk, and asking again would say "done" without doing it.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let done = match self.inner {
            Inner::Sqlite(tx) => tx.commit().await,
            Inner::Postgres(tx) => tx.commit().await,
        };
        done.map_err(|error| failure(error, &self.failed))
    }
}

/// Reads an error; one of the disk closes the store for writing.
fn failure(error: sqlx::Error, failed: &AtomicBool) -> StoreError {
    let error = StoreError::from(error);
    if matches!(error, StoreError::Disk { .. }) {
        failed.store(true, Ordering::SeqCst);
    }
    error
}
