//! Who writes a thread.
//!
//! A writer holds an advisory lock of the database, on a connection that is there for such locks alone, and the row of
//! `leases`. The server drops the lock when the connection ends, however the process dies; the row's token is what every
//! append is checked against, under a lock of the row, so that a writer whose connection is gone can't mix its
//! records into another's. So the lock says to others that a writer is alive, and the token alone who may write: a writer
//! that has lost the lock writes on, and takes the lock again where the token is still its own ([`Retake`]).

use async_trait::async_trait;
use futures_util::future::join;

use super::error::Stop;
use super::name::{self, kept, key};
use super::session::{Session, Work};
use crate::run::store::StoreError;
use crate::store::holder::{self, this_process};

const TRY: &str = "SELECT pg_try_advisory_lock($1)";

const GIVE: &str = "INSERT INTO leases AS l (key, thread_id, token, holder) \
    VALUES ($1, $2, nextval('tokens'), $3) \
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, holder = excluded.holder \
    WHERE l.token < excluded.token RETURNING token";

const END: &str = "DELETE FROM leases WHERE key = $1 AND token = $2";

const UNLOCK: &str = "SELECT pg_advisory_unlock($1)";

const TOKEN: &str = "SELECT token FROM leases WHERE key = $1";

const HOLDER: &str = "SELECT holder FROM leases WHERE key = $1";

/// A lock by a key of eight bytes has the first four as `classid`.
const HELD: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks \
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND ((classid::bigint << 32) | objid::bigint) = $1)";

/// A thread of a schema.
#[derive(Clone, Copy)]
pub(super) struct Thread<'a> {
    pub(super) schema: &'a str,
    pub(super) id: &'a str,
}

impl Thread<'_> {
    /// Key of its advisory lock.
    pub(super) fn lock(&self) -> i64 {
        name::lock(&["graphc", "thread", self.schema, self.id])
    }

    /// The error of who finds it locked.
    pub(super) async fn busy(&self, session: &mut Session) -> StoreError {
        // A guess is better than no message.
        let holder: Option<String> = async {
            let find = session.statement(HOLDER).await.ok()?;
            let row = session.client.query_opt(&find, &[&key(&[self.id])]).await;
            row.ok()??.try_get(0).ok()
        }
        .await;
        StoreError::Busy {
            thread_id: self.id.to_owned(),
            holder: holder.map_or_else(|| "another process".to_owned(), holder::named),
        }
    }
}

/// Takes a thread; gives the token.
pub(super) struct Acquire<'a>(pub(super) Thread<'a>);

#[async_trait]
impl Work for Acquire<'_> {
    type Out = u64;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<u64, Stop> {
        let thread = self.0;
        let take = session.statement(TRY).await?;
        let lock = thread.lock();
        let locked = session.client.query_one(&take, &[&lock]).await?;
        if !locked.try_get::<_, bool>(0)? {
            return Err(thread.busy(session).await.into());
        }
        let given = give(session, thread).await;
        if given.is_err() {
            // Where this fails too, the connection is as good as gone, and the lock with it.
            let _ = session.client.execute(UNLOCK, &[&lock]).await;
        }
        given
    }
}

async fn give(session: &mut Session, thread: Thread<'_>) -> Result<u64, Stop> {
    let give = session.statement(GIVE).await?;
    let (id, holder) = (kept(thread.id), this_process());
    let row = session
        .client
        .query_one(&give, &[&key(&[thread.id]), &id, &holder])
        .await?;
    Ok(row.try_get::<_, i64>(0)?.unsigned_abs())
}

/// What became of a thread whose lock went with its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retaken {
    /// It is locked again.
    Locked,
    /// Somebody has the lock, perhaps the connection that was lost: it has to be tried again.
    Waits,
    /// Another process has taken the thread over.
    TakenOver,
}

/// Takes the lock of a thread again that is written with a token.
pub(super) struct Retake<'a>(pub(super) Thread<'a>, pub(super) u64);

#[async_trait]
impl Work for Retake<'_> {
    type Out = Retaken;

    async fn run(&self, session: &mut Session) -> Result<Retaken, Stop> {
        let Self(thread, token) = *self;
        let take = session.statement(TRY).await?;
        let lock = thread.lock();
        let locked = session.client.query_one(&take, &[&lock]).await?;
        let locked: bool = locked.try_get(0)?;
        let own = is_latest(session, thread, token).await;
        if locked && !matches!(own, Ok(true)) {
            // Where this fails, the connection is as good as gone, and the lock with it.
            let _ = session.client.execute(UNLOCK, &[&lock]).await;
        }
        Ok(match (own?, locked) {
            (false, _) => Retaken::TakenOver,
            (true, true) => Retaken::Locked,
            (true, false) => Retaken::Waits,
        })
    }
}

/// Whether nobody has taken a thread since the token was given.
async fn is_latest(session: &mut Session, thread: Thread<'_>, token: u64) -> Result<bool, Stop> {
    let find = session.statement(TOKEN).await?;
    let key = key(&[thread.id]);
    let row = session.client.query_opt(&find, &[&key]).await?;
    let latest: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
    Ok(latest.is_some_and(|latest| latest.unsigned_abs() == token))
}

/// Gives threads back.
pub(super) struct Release<'a>(pub(super) &'a [(Thread<'a>, u64)]);

#[async_trait]
impl Work for Release<'_> {
    type Out = ();

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        let end = session.statement(END).await?;
        let unlock = session.statement(UNLOCK).await?;
        for (thread, token) in self.0 {
            let key = key(&[thread.id]);
            let token = i64::try_from(*token).unwrap_or(-1);
            let lock = thread.lock();
            let (ended, unlocked) = join(
                session.client.execute(&end, &[&key, &token]),
                session.client.query(&unlock, &[&lock]),
            )
            .await;
            unlocked?;
            // A row that stays is replaced by the next writer's.
            ended?;
        }
        Ok(())
    }
}

/// Whether anybody holds a thread.
pub(super) struct IsHeld<'a>(pub(super) Thread<'a>);

#[async_trait]
impl Work for IsHeld<'_> {
    type Out = bool;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<bool, Stop> {
        let held = session.statement(HELD).await?;
        let row = session.client.query_one(&held, &[&self.0.lock()]).await?;
        Ok(row.try_get(0)?)
    }
}
