//! `graphc threads delete`

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::backend::scenario::forget;
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::memory::Access;

use super::super::{Context, Failure, output};
use super::{Format, Shelf, failed};

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
            if store.memory().is_some() {
                // What scenarios have had it remember is found by nobody else.
                let now = SystemAmbient.now().as_millisecond();
                let access = Access::new(Some(store.clone()), Arc::default(), now, Json::Null);
                forget(&access, thread).await.map_err(failed)?;
            }
            let graph = info.status.graph;
            let checkpoints = info.checkpoint;
            context.say(&format!(
                "deleted {thread} (graph {graph}, checkpoint {checkpoints})"
            ));
            if let Format::Json = shelf.format {
                let line = json!({
                    "thread_id": thread,
                    "graph": graph,
                    "checkpoint_id": checkpoints.to_string(),
                });
                output::print(&format!("{line}\n"))?;
            }
        }
    }
    Ok(())
}
