//! The schema and its versions. A database of a newer version is refused before a byte of it changes.

use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::Pools;
use crate::error::StoreError;

/// Each step takes the schema from its index to the next; what was released never changes.
const STEPS: &[&str] = &[include_str!("schema/001.sql")];

/// The version of the schema that this program writes; it opens every earlier one.
pub const VERSION: i64 = STEPS.len() as i64;

/// The role whose powers every Postgres connection shrinks to: it owns nothing, so row-level security binds it.
const ROLE: &str = "deckle_app";

/// The lock that keeps two servers from migrating one database at once (any fixed number).
const MIGRATION_LOCK: i64 = 0x6465_636b_6c65;

/// Brings the schema up to date.
pub(super) async fn run(pools: &Pools) -> Result<(), StoreError> {
    match pools {
        Pools::Sqlite(pool) => {
            let mut connection = pool.acquire().await?;
            let found: i64 = sqlx::query("PRAGMA user_version").fetch_one(&mut *connection).await?.try_get(0)?;
            check(found)?;
            if found == VERSION {
                return Ok(());
            }
            drop(connection);
            let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
            let found: i64 = sqlx::query("PRAGMA user_version").fetch_one(&mut *tx).await?.try_get(0)?;
            check(found)?;
            for step in STEPS.iter().skip(usize::try_from(found).unwrap_or_default()) {
                sqlx::raw_sql(AssertSqlSafe((*step).to_owned())).execute(&mut *tx).await?;
            }
            sqlx::raw_sql(AssertSqlSafe(format!("PRAGMA user_version = {VERSION}"))).execute(&mut *tx).await?;
            tx.commit().await?;
        }
        Pools::Postgres(pool) => {
            let mut tx = pool.begin().await?;
            sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATION_LOCK).execute(&mut *tx).await?;
            // The connection dropped to the application's role; the schema belongs to whoever connected.
            sqlx::raw_sql("SET LOCAL ROLE NONE").execute(&mut *tx).await?;
            let known: bool =
                sqlx::query("SELECT to_regclass('deckle_schema') IS NOT NULL").fetch_one(&mut *tx).await?.try_get(0)?;
            let found: i64 =
                if known { sqlx::query("SELECT version FROM deckle_schema").fetch_one(&mut *tx).await?.try_get(0)? } else { 0 };
            check(found)?;
            if found < VERSION {
                if !known {
                    sqlx::raw_sql("CREATE TABLE deckle_schema (version BIGINT NOT NULL); INSERT INTO deckle_schema VALUES (0)")
                        .execute(&mut *tx)
                        .await?;
                }
                for step in STEPS.iter().skip(usize::try_from(found).unwrap_or_default()) {
                    sqlx::raw_sql(AssertSqlSafe(step.replace(" BLOB", " BYTEA"))).execute(&mut *tx).await?;
                }
                sqlx::query("UPDATE deckle_schema SET version = $1").bind(VERSION).execute(&mut *tx).await?;
                sqlx::raw_sql(AssertSqlSafe(lock_rows())).execute(&mut *tx).await?;
            }
            tx.commit().await?;
            // Connections made before the role could use the schema shrink now.
            let mut connection = pool.acquire().await?;
            drop_powers(&mut connection).await?;
        }
    }
    Ok(())
}

fn check(found: i64) -> Result<(), StoreError> {
    if found > VERSION { Err(StoreError::NewerSchema { found, known: VERSION }) } else { Ok(()) }
}

/// Row-level security on every table that names a tenant, binding the owner too, and a role that can do nothing else.
fn lock_rows() -> String {
    format!(
        "DO $$
         DECLARE one record;
         BEGIN
           BEGIN
             CREATE ROLE {ROLE} NOLOGIN NOBYPASSRLS;
           EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
           END;
           FOR one IN SELECT c.oid::regclass AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                      WHERE c.relkind = 'r' AND a.attname = 'tenant' AND c.relnamespace = current_schema()::regnamespace LOOP
             EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', one.name);
             EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', one.name);
             EXECUTE format('DROP POLICY IF EXISTS deckle_tenant ON %s', one.name);
             EXECUTE format('CREATE POLICY deckle_tenant ON %s USING (tenant = current_setting(''deckle.tenant'', true)) '
               || 'WITH CHECK (tenant = current_setting(''deckle.tenant'', true))', one.name);
             IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
               EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO {ROLE}', one.name);
             END IF;
           END LOOP;
           IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
             EXECUTE format('GRANT USAGE ON SCHEMA %I TO {ROLE}', current_schema());
             GRANT SELECT ON deckle_schema TO {ROLE};
             IF NOT pg_has_role(current_user, '{ROLE}', 'MEMBER') THEN
               EXECUTE format('GRANT {ROLE} TO %I', current_user);
             END IF;
           END IF;
         END $$"
    )
}

/// A client that stands still in the middle of a transaction holds rows that others wait for; the server throws it out.
pub(super) async fn bound(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("SET idle_in_transaction_session_timeout = '5s'").execute(connection).await?;
    Ok(())
}

/// Gives up what the application does not need: a superuser or an owner would see through row-level security.
pub(super) async fn drop_powers(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let usable: bool =
        sqlx::query("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(current_user, oid, 'MEMBER'))")
            .bind(ROLE)
            .fetch_one(&mut *connection)
            .await?
            .try_get(0)?;
    if usable {
        sqlx::raw_sql(AssertSqlSafe(format!("SET ROLE {ROLE}"))).execute(connection).await?;
    }
    Ok(())
}
