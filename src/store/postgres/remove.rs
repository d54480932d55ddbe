//! Removes a thread.

use async_trait::async_trait;

use super::error::Stop;
use super::lease::Thread;
use super::name::key;
use super::session::{Session, Work};

const TRY: &str = "SELECT pg_try_advisory_xact_lock($1)";

/// Removes a thread; `false` where there was none.
pub(super) struct Remove<'a>(pub(super) Thread<'a>);

#[async_trait]
impl Work for Remove<'_> {
    type Out = bool;

    async fn run(&self, session: &mut Session) -> Result<bool, Stop> {
        let thread = self.0;
        let client = session.client.clone();
        client.batch_execute("BEGIN").await?;
        let locked = client.query_one(TRY, &[&thread.lock()]).await?;
        if !locked.try_get::<_, bool>(0)? {
            return Err(thread.busy(session).await.into());
        }
        let key = key(&[thread.id]);
        // Left by a writer that died. One that isn't quite dead waits here, and finds itself fenced off.
        client
            .execute("DELETE FROM leases WHERE key = $1", &[&key])
            .await?;
        let removed = client
            .query_opt("DELETE FROM threads WHERE key = $1 RETURNING id", &[&key])
            .await?;
        if let Some(removed) = &removed {
            let id: i64 = removed.try_get(0)?;
            for sql in [
                "DELETE FROM writes WHERE ctid = ANY (ARRAY(SELECT w.ctid \
                 FROM (SELECT id FROM fields WHERE thread = $1 OFFSET 0) f \
                 CROSS JOIN LATERAL (SELECT ctid FROM writes WHERE field = f.id OFFSET 0) w))",
                "DELETE FROM fields WHERE thread = $1",
                "DELETE FROM checkpoints WHERE thread = $1",
                "DELETE FROM effects WHERE thread = $1",
                "DELETE FROM effect_counts WHERE thread = $1",
            ] {
                client.execute(sql, &[&id]).await?;
            }
        }
        client.batch_execute("COMMIT").await?;
        Ok(removed.is_some())
    }
}
