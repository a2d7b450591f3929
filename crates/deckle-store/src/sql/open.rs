//! Opening a database: what it is, what it promises, and which schema it holds.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use super::{Db, Pools, migrate};
use crate::error::StoreError;

/// How long a writer waits for another process before it says so. Longer than any transaction here, shorter than a
/// person's patience.
const BUSY: Duration = Duration::from_secs(20);
/// Readers never wait in WAL mode, and one connection writes; a handful serves a whole server.
const SQLITE_CONNECTIONS: u32 = 8;
/// Well below Postgres' own default of 100, so that several servers fit.
const POSTGRES_CONNECTIONS: u32 = 16;

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A file.
    Path(PathBuf),
    /// A file by URL, with SQLite's own parameters.
    Url(String),
    /// A server.
    Postgres(String),
}

impl Location {
    /// Reads `sqlite:PATH`, `postgres://…`, or a plain path.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let url = text.strip_prefix("sqlite:");
        let path = url.unwrap_or(text);
        if path.is_empty() || path.contains("://") {
            return Err(StoreError::Name {
                what: "database",
                name: text.into(),
                rule: "`sqlite:PATH` or `postgres://USER@HOST/NAME`",
            });
        }
        Ok(if url.is_some() { Self::Url(text.to_owned()) } else { Self::Path(PathBuf::from(path)) })
    }
}

/// Opens a database and brings its schema up to date.
///
/// # Errors
/// When it cannot be reached, or its schema is newer than this program.
pub(crate) async fn open(location: &Location) -> Result<Db, StoreError> {
    let db = match location {
        Location::Path(path) => Db::new(Pools::Sqlite(sqlite(SqliteConnectOptions::new().filename(path)).await?)),
        Location::Url(url) => Db::new(Pools::Sqlite(sqlite(SqliteConnectOptions::from_str(url)?).await?)),
        Location::Postgres(url) => Db::new(Pools::Postgres(postgres(url).await?)),
    };
    match migrate::run(&db.pools).await {
        Ok(()) => Ok(db),
        Err(error) => {
            db.close().await;
            Err(error)
        }
    }
}

async fn sqlite(options: SqliteConnectOptions) -> Result<sqlx::SqlitePool, StoreError> {
    let synchronous = if cfg!(sabotage = "skip_sync") { SqliteSynchronous::Off } else { SqliteSynchronous::Full };
    let options = options
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .statement_cache_capacity(200)
        .disable_statement_logging();
    Ok(SqlitePoolOptions::new()
        .max_connections(SQLITE_CONNECTIONS)
        .min_connections(0)
        .acquire_timeout(BUSY)
        .connect_with(options)
        .await?)
}

async fn postgres(url: &str) -> Result<sqlx::PgPool, StoreError> {
    let options = PgConnectOptions::from_str(url)?.application_name("deckle").disable_statement_logging();
    Ok(PgPoolOptions::new()
        .max_connections(POSTGRES_CONNECTIONS)
        .acquire_timeout(BUSY)
        .after_connect(|connection, _| {
            Box::pin(async move {
                migrate::bound(connection).await?;
                migrate::drop_powers(connection).await
            })
        })
        .connect_with(options)
        .await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_by_url_or_path() {
        assert_eq!(Location::parse("sqlite:a/b.db").unwrap(), Location::Url("sqlite:a/b.db".into()));
        assert_eq!(Location::parse("a/b.db").unwrap(), Location::Path("a/b.db".into()));
        assert_eq!(Location::parse("postgres://u@h/d").unwrap(), Location::Postgres("postgres://u@h/d".into()));
        assert!(Location::parse("mysql://x").is_err());
        assert!(Location::parse("").is_err());
    }
}
