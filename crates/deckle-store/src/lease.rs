//! Leases: who works on what, until when. Each taking of a lease gets a larger fence, so a holder that slept past its time
//! is told by its first write, however late that comes.

use std::time::Duration;

use crate::error::StoreError;
use crate::ids::Timestamp;
use crate::sql::{Tx, args};

/// A right that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// What it is a right to.
    pub name: String,
    /// Who holds it: one process, not one person.
    pub holder: String,
    /// Larger than that of any holder before.
    pub fence: i64,
    /// When it ends unless it is renewed.
    pub until: Timestamp,
}

/// When a lease may be taken although somebody holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOver<'a> {
    /// When its time is over.
    Expired,
    /// Also when its holder is this one, which the caller knows to be dead.
    Dead(&'a str),
}

/// Takes a lease, or says who holds it.
pub(crate) async fn take(
    tx: &mut Tx,
    name: &str,
    holder: &str,
    now: Timestamp,
    ttl: Duration,
    over: TakeOver<'_>,
) -> Result<Lease, StoreError> {
    let until = now.plus(ttl);
    let dead = match over {
        TakeOver::Expired => "",
        TakeOver::Dead(holder) => holder,
    };
    let row = tx
        .first(
            "INSERT INTO leases (tenant, name, holder, fence, until) VALUES ($1, $2, $3, 1, $4) \
             ON CONFLICT (tenant, name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, until = excluded.until \
             WHERE leases.until <= $5 OR leases.holder = $6 RETURNING fence",
            args![name, holder, until, now, dead],
        )
        .await?;
    if let Some(row) = row {
        return Ok(Lease { name: name.to_owned(), holder: holder.to_owned(), fence: row.int(0)?, until });
    }
    let row = tx.first("SELECT holder, until FROM leases WHERE tenant = $1 AND name = $2", args![name]).await?;
    let row = row.ok_or(StoreError::Locked)?;
    Err(StoreError::Held { name: name.to_owned(), holder: row.text(0)?.to_owned(), until: row.time(1)? })
}

/// Makes a lease last longer, as long as nobody took it.
pub(crate) async fn renew(tx: &mut Tx, lease: &Lease, now: Timestamp, ttl: Duration) -> Result<Lease, StoreError> {
    let until = now.plus(ttl);
    let done = tx
        .exec(
            "UPDATE leases SET until = $5 WHERE tenant = $1 AND name = $2 AND holder = $3 AND fence = $4",
            args![lease.name.as_str(), lease.holder.as_str(), lease.fence, until],
        )
        .await?;
    if done == 1 { Ok(Lease { until, ..lease.clone() }) } else { Err(StoreError::Fenced { name: lease.name.clone() }) }
}

/// Refuses a write whose lease was taken by another. It touches the row, so no other can take it before the transaction
/// is over. A lease whose time is over and that nobody took still holds: nothing contradicts it.
pub(crate) async fn check(tx: &mut Tx, lease: &Lease) -> Result<(), StoreError> {
    let done = tx
        .exec(
            "UPDATE leases SET fence = fence WHERE tenant = $1 AND name = $2 AND holder = $3 AND fence = $4",
            args![lease.name.as_str(), lease.holder.as_str(), lease.fence],
        )
        .await?;
    if done == 1 { Ok(()) } else { Err(StoreError::Fenced { name: lease.name.clone() }) }
}

/// Gives a lease back. The row stays, so that fences keep growing.
pub(crate) async fn release(tx: &mut Tx, lease: &Lease) -> Result<(), StoreError> {
    let done = tx
        .exec(
            "UPDATE leases SET until = 0, holder = '' WHERE tenant = $1 AND name = $2 AND holder = $3 AND fence = $4",
            args![lease.name.as_str(), lease.holder.as_str(), lease.fence],
        )
        .await?;
    if done == 1 { Ok(()) } else { Err(StoreError::Fenced { name: lease.name.clone() }) }
}
