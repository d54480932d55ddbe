//! `graphc threads delete`

use super::super::{Context, Failure};
use super::{Shelf, failed};

/// Deletes threads; none where one of them isn't there.
pub async fn run(shelf: &Shelf, threads: &[String], context: &Context) -> Result<(), Failure> {
    for thread in threads {
        shelf.thread(thread).await?;
    }
    for thread in threads {
        let (store, info) = match shelf.thread(thread).await {
            Ok(found) => found,
            // Named twice.
            Err(_) => continue,
        };
        let store = store.clone();
        if store.delete(thread).await.map_err(failed)? {
            let graph = info.status.graph;
            let checkpoints = info.checkpoint;
            context.say(&format!(
                "deleted {thread} (graph {graph}, checkpoint {checkpoints})"
            ));
        }
    }
    Ok(())
}
