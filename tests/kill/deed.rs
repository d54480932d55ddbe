//! What people do to a thread from outside of any run, as `graphc threads` and `graphc resume --migrate` do it.

use graphc::run::engine::{Edit, Engine, Fork, RunOptions, StartError, Written};
use graphc::run::store::{Effects, Keep};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::child::THREAD;

/// The thread that a fork makes.
pub const FORK: &str = "f";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// `threads fork` of the newest checkpoint, with the results that came later.
    Fork,
    /// `threads fork --afresh` of an earlier one.
    ForkAfresh,
    /// `threads fork --set .. --as-node .. --frame ..`
    ForkEdited,
    /// `threads state --set .. --as ..`
    Edit,
    /// The same in a called graph under way.
    EditInside,
    /// `threads compact --keep 1`
    Compact,
    /// `threads delete`
    Delete,
    /// `resume --migrate`, under a changed flow.
    Migrate,
}

impl Deed {
    /// Whether it makes a thread.
    pub fn forks(self) -> bool {
        matches!(self, Self::Fork | Self::ForkAfresh | Self::ForkEdited)
    }

    /// Whether it may be done again where it is done: it would come to something else.
    pub fn repeats(self) -> bool {
        !matches!(self, Self::Edit | Self::EditInside)
    }

    pub async fn act(self, engine: &Engine) -> Result<(), StartError> {
        let store = engine.store.clone().unwrap();
        let newest = match store.thread(THREAD).await? {
            Some(info) => info.checkpoint,
            None => 0,
        };
        let fork = |at, effects| Fork {
            from: THREAD,
            at,
            to: FORK,
            effects,
        };
        match self {
            Self::Fork => {
                engine.fork(&fork(newest, Effects::All)).await?;
            }
            Self::ForkAfresh => {
                engine.fork(&fork(newest - 1, Effects::Before)).await?;
            }
            Self::ForkEdited => {
                let fork = fork(newest, Effects::Before);
                engine.fork_edited(&fork, &inside()).await?;
            }
            Self::Edit => {
                engine.edit(THREAD, &around()).await?;
            }
            Self::EditInside => {
                engine.edit(THREAD, &inside()).await?;
            }
            Self::Compact => {
                let lease = store.acquire(THREAD).await?;
                store.compact(&lease, Keep::Newest(1)).await?;
                store.release(lease).await?;
                store.reclaim().await?;
            }
            Self::Delete => {
                store.delete(THREAD).await?;
            }
            Self::Migrate => {
                let options = RunOptions {
                    migrate: true,
                    ..RunOptions::default()
                };
                let result = engine.resume(THREAD, &[], options).await?;
                assert_eq!(result.error, None);
            }
        }
        Ok(())
    }
}

/// An edit of `loop`: its last round begins anew.
fn around() -> Edit {
    Edit {
        frame: None,
        writes: vec![Written {
            field: "rounds".to_owned(),
            value: json!(0),
            replace: true,
        }],
        as_node: Some("work".to_owned()),
    }
}

/// An edit of a graph that `ask_inside` calls: its question is asked anew.
fn inside() -> Edit {
    Edit {
        frame: Some("first".to_owned()),
        writes: vec![Written {
            field: "notes".to_owned(),
            value: json!(["by hand"]),
            replace: false,
        }],
        as_node: Some("prepare".to_owned()),
    }
}
