//! Quotas: reserved before work, settled after it, so that many runs at once cannot spend more than there is.

use std::time::Duration;

use crate::error::StoreError;
use crate::ids::{Clock, RunId, SessionId, TeamId, Tenant, Timestamp, UserId};
use crate::sql::{Row, Scope, Tx, args};
use crate::store::Store;

/// The quotas and the usage of a tenant. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Quotas {
    scope: Scope,
    clock: Clock,
}

/// What a team may use of a resource in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The team.
    pub team: TeamId,
    /// What is counted, such as `tokens`.
    pub resource: String,
    /// How much there is in a period.
    pub allowed: i64,
    /// How much of it was used.
    pub used: i64,
    /// How much is held for work that goes on.
    pub reserved: i64,
    /// How long a period is.
    pub period: Duration,
    /// When the next one begins.
    pub resets_at: Timestamp,
}

/// An amount that is held for work that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "settle() or release() it"]
pub struct Reservation {
    /// Its id; the same id a second time is the same reservation.
    pub id: String,
    /// How much is held.
    pub amount: i64,
    /// When it falls back to the quota unless it is settled.
    pub until: Timestamp,
}

/// Tokens that a model used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// An id of the caller's: the same one a second time is counted once.
    pub id: String,
    /// The person who drove it.
    pub person: UserId,
    /// The team that pays.
    pub team: Option<TeamId>,
    /// The session.
    pub session: Option<SessionId>,
    /// The run.
    pub run: Option<RunId>,
    /// The model.
    pub model: String,
    /// Tokens in, without the cached ones.
    pub input: i64,
    /// Tokens in that were cached.
    pub cached: i64,
    /// Tokens out.
    pub output: i64,
}

/// Usage added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageTotal {
    /// Requests to a model.
    pub requests: i64,
    /// Tokens in, without the cached ones.
    pub input: i64,
    /// Tokens in that were cached.
    pub cached: i64,
    /// Tokens out.
    pub output: i64,
}

impl Store {
    /// Returns the quotas and the usage of a tenant.
    pub fn quotas(&self, tenant: &Tenant) -> Quotas {
        Quotas { scope: self.db.scope(tenant), clock: self.clock.clone() }
    }
}

const COLUMNS: &str = "team, resource, allowed, used, reserved, period, resets_at";

fn read(row: &Row) -> Result<Quota, StoreError> {
    Ok(Quota {
        team: TeamId::parse(row.text(0)?)?,
        resource: row.text(1)?.to_owned(),
        allowed: row.int(2)?,
        used: row.int(3)?,
        reserved: row.int(4)?,
        period: Duration::from_millis(u64::try_from(row.int(5)?).unwrap_or_default()),
        resets_at: row.time(6)?,
    })
}

impl Quotas {
    /// Sets what a team may use. What it used already stays used.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set(&self, team: &TeamId, resource: &str, allowed: i64, period: Duration) -> Result<(), StoreError> {
        let resets_at = self.clock.now().plus(period);
        let period = i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
        let mut tx = self.scope.begin().await?;
        tx.exec(
            "INSERT INTO quotas (tenant, team, resource, allowed, used, reserved, period, resets_at) VALUES ($1, $2, $3, $4, 0, 0, $5, $6) \
             ON CONFLICT (tenant, team, resource) DO UPDATE SET allowed = excluded.allowed, period = excluded.period",
            args![team.as_str(), resource, allowed, period, resets_at],
        )
        .await?;
        tx.commit().await
    }

    /// Returns a quota as it is now; nothing when the team may use as much as it likes.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn get(&self, team: &TeamId, resource: &str) -> Result<Option<Quota>, StoreError> {
        let mut tx = self.scope.begin().await?;
        self.settle_time(&mut tx, team, resource).await?;
        let sql = format!("SELECT {COLUMNS} FROM quotas WHERE tenant = $1 AND team = $2 AND resource = $3");
        let quota = tx.first(&sql, args![team.as_str(), resource]).await?.as_ref().map(read).transpose()?;
        tx.commit().await?;
        Ok(quota)
    }

    /// Holds an amount for work that is about to begin. Ask for the most that it can use.
    ///
    /// # Errors
    /// When less than that is left; the error says how much and until when.
    pub async fn reserve(
        &self,
        id: &str,
        team: &TeamId,
        resource: &str,
        amount: i64,
        ttl: Duration,
    ) -> Result<Reservation, StoreError> {
        let until = self.clock.now().plus(ttl);
        let mut tx = self.scope.begin().await?;
        self.settle_time(&mut tx, team, resource).await?;
        let held = tx.first("SELECT amount, until FROM reservations WHERE tenant = $1 AND id = $2", args![id]).await?;
        if let Some(row) = held {
            return Ok(Reservation { id: id.to_owned(), amount: row.int(0)?, until: row.time(1)? });
        }
        let done = tx
            .exec(
                "UPDATE quotas SET reserved = reserved + $4 WHERE tenant = $1 AND team = $2 AND resource = $3 AND used + reserved + $4 <= allowed",
                args![team.as_str(), resource, amount.max(0)],
            )
            .await?;
        if done == 0 {
            let sql = format!("SELECT {COLUMNS} FROM quotas WHERE tenant = $1 AND team = $2 AND resource = $3");
            let Some(row) = tx.first(&sql, args![team.as_str(), resource]).await? else {
                // No quota: nothing to hold, and nothing to settle.
                return Ok(Reservation { id: id.to_owned(), amount, until });
            };
            let quota = read(&row)?;
            return Err(StoreError::Quota {
                team: team.to_string(),
                resource: resource.to_owned(),
                left: (quota.allowed - quota.used - quota.reserved).max(0),
                asked: amount,
                resets_at: quota.resets_at,
            });
        }
        tx.exec(
            "INSERT INTO reservations (tenant, id, team, resource, amount, until) VALUES ($1, $2, $3, $4, $5, $6)",
            args![id, team.as_str(), resource, amount.max(0), until],
        )
        .await?;
        tx.commit().await?;
        Ok(Reservation { id: id.to_owned(), amount, until })
    }

    /// Replaces what was held by what was used. A second time changes nothing.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn settle(&self, reservation: &Reservation, used: i64) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        let row = tx
            .first(
                "DELETE FROM reservations WHERE tenant = $1 AND id = $2 RETURNING team, resource, amount",
                args![reservation.id.as_str()],
            )
            .await?;
        if let Some(row) = row {
            tx.exec(
                "UPDATE quotas SET used = used + $4, reserved = reserved - $5 WHERE tenant = $1 AND team = $2 AND resource = $3",
                args![row.text(0)?, row.text(1)?, used.max(0), row.int(2)?],
            )
            .await?;
        }
        tx.commit().await
    }

    /// Gives back what was held.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn release(&self, reservation: &Reservation) -> Result<(), StoreError> {
        self.settle(reservation, 0).await
    }

    /// Begins a new period when the last one is over, and takes back what dead work holds.
    async fn settle_time(&self, tx: &mut Tx, team: &TeamId, resource: &str) -> Result<(), StoreError> {
        let now = self.clock.now();
        tx.exec(
            "UPDATE quotas SET used = 0, resets_at = resets_at + period * ((CAST($4 AS BIGINT) - resets_at) / period + 1) \
             WHERE tenant = $1 AND team = $2 AND resource = $3 AND resets_at <= $4 AND period > 0",
            args![team.as_str(), resource, now],
        )
        .await?;
        let dead = tx
            .fetch(
                "DELETE FROM reservations WHERE tenant = $1 AND team = $2 AND resource = $3 AND until <= $4 RETURNING amount",
                args![team.as_str(), resource, now],
            )
            .await?;
        let mut amount = 0;
        for row in &dead {
            amount += row.int(0)?;
        }
        if amount > 0 {
            tx.exec(
                "UPDATE quotas SET reserved = reserved - $4 WHERE tenant = $1 AND team = $2 AND resource = $3",
                args![team.as_str(), resource, amount],
            )
            .await?;
        }
        Ok(())
    }

    /// Notes what a model used.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn record(&self, usage: &Usage) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        tx.exec(
            "INSERT INTO usage (tenant, id, person, team, session, run, model, input, cached, output, at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (tenant, id) DO NOTHING",
            args![
                usage.id.as_str(),
                usage.person.as_str(),
                usage.team.as_ref().map(TeamId::as_str),
                usage.session.as_ref().map(SessionId::as_str),
                usage.run.as_ref().map(RunId::as_str),
                usage.model.as_str(),
                usage.input,
                usage.cached,
                usage.output,
                self.clock.now(),
            ],
        )
        .await?;
        tx.commit().await
    }

    /// Adds up what was used since a moment: by everybody, or by one session.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn total(&self, since: Timestamp, session: Option<&SessionId>) -> Result<UsageTotal, StoreError> {
        let row = self
            .scope
            .first(
                "SELECT COUNT(*), CAST(COALESCE(SUM(input), 0) AS BIGINT), CAST(COALESCE(SUM(cached), 0) AS BIGINT), \
                 CAST(COALESCE(SUM(output), 0) AS BIGINT) FROM usage WHERE tenant = $1 AND at >= $2 AND ($3 = '' OR session = $3)",
                args![since, session.map_or("", SessionId::as_str)],
            )
            .await?;
        let Some(row) = row else { return Ok(UsageTotal::default()) };
        Ok(UsageTotal { requests: row.int(0)?, input: row.int(1)?, cached: row.int(2)?, output: row.int(3)? })
    }
}
