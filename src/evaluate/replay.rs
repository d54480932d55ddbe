//! What models were asked in a thread: it is run again, in a copy in memory, with all that its journal has.
//!
//! A thread keeps what models have said, and of what they were asked only a digest. A fork of it with all later results makes the
//! same requests, is answered from the journal where the digest is the same, and calls nothing; so a request that is shown here
//! is the one that the reply is of, and where the flow asks otherwise by now, there is none.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::ir::{ErrorKind, Flow};
use crate::run::ambient::SystemAmbient;
use crate::run::backends::Backends;
use crate::run::engine::{Engine, Fork, RunOptions, StartError};
use crate::run::exchange::Watcher;
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};
use crate::run::plan::Plan;
use crate::run::store::{
    Checkpoint, Effects, ListedEffect, Record, Source, Store, StoreError, ThreadInfo,
};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};
use crate::store::MemoryStore;

use super::sheet::Call;

/// Records that are read at a time.
const PAGE: usize = 1000;

/// What came of a thread.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Calls of models, in the order in which their replies were read.
    pub calls: Vec<Call>,
    /// Why a part of it can't be run again, in words.
    pub failed: Option<String>,
}

/// Runs a thread again, from each input and each edit on.
///
/// # Errors
/// Where the store can't be read.
pub async fn replay(
    store: &Arc<dyn Store>,
    thread: &ThreadInfo,
    plan: &Arc<Plan>,
) -> Result<Replayed, StoreError> {
    let (copy, starts) = copied(store, thread).await?;
    let mut replayed = Replayed::default();
    for (number, at) in starts.into_iter().enumerate() {
        let to = format!("{}+{number}", thread.thread_id);
        match once(&copy, &thread.thread_id, (at, &to), plan).await {
            Ok(calls) => {
                for call in calls {
                    // What an edit has left as it was is come to twice.
                    if !replayed.calls.contains(&call) {
                        replayed.calls.push(call);
                    }
                }
            }
            Err(error) => replayed.failed = Some(error.to_string()),
        }
    }
    Ok(replayed)
}

async fn once(
    store: &Arc<dyn Store>,
    from: &str,
    (at, to): (u64, &str),
    plan: &Arc<Plan>,
) -> Result<Vec<Call>, StartError> {
    let engine = Engine {
        plan: Arc::clone(plan),
        backends: nothing(&plan.flow),
        store: Some(Arc::clone(store)),
        ambient: Arc::new(SystemAmbient),
    };
    let fork = Fork {
        from,
        at,
        to,
        effects: Effects::All,
    };
    engine.fork(&fork).await?;
    let seen: Arc<Mutex<Vec<Call>>> = Arc::default();
    let keeps = Arc::clone(&seen);
    let options = RunOptions {
        calls: Some(Watcher::new(move |exchange| {
            let mut seen = keeps.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(Call::of(exchange));
        })),
        ..RunOptions::default()
    };
    // It may well end with a failure: where the journal ends, nothing answers.
    engine.resume(to, &[], options).await?;
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *seen))
}

/// Backends that refuse all: what is not in the journal was never said.
fn nothing(flow: &Flow) -> Backends {
    let (model, tool) = (Arc::new(Nothing), Arc::new(Nothing));
    let models = flow.models.iter();
    let tools = flow.tools.iter().map(|of| match of.body {
        Some(_) => None,
        None => Some(Arc::clone(&tool) as Arc<dyn ToolBackend>),
    });
    let nodes = flow.graphs.iter().flat_map(|graph| &graph.nodes);
    let externs = nodes.filter_map(|node| match &node.work {
        crate::ir::Work::Extern { name, .. } => Some(name.clone()),
        _ => None,
    });
    Backends {
        models: models
            .map(|_| Arc::clone(&model) as Arc<dyn ChatModel>)
            .collect(),
        tools: tools.collect(),
        externs: externs
            .map(|name| (name, Arc::new(Nothing) as Arc<_>))
            .collect(),
    }
}

struct Nothing;

const NOT_KEPT: &str = "the journal has no result of this";

#[async_trait]
impl ChatModel for Nothing {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        Err(ModelError::new(ErrorKind::InvalidRequest, NOT_KEPT))
    }
}

#[async_trait]
impl ToolBackend for Nothing {
    async fn call(&self, _: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        Err(ToolError::new(ErrorKind::InvalidRequest, NOT_KEPT))
    }
}

#[async_trait]
impl crate::run::extern_node::ExternNode for Nothing {
    async fn run(
        &self,
        _: crate::run::extern_node::ExternCall,
        _: &CallContext,
    ) -> Result<serde_json::Map<String, Json>, ToolError> {
        Err(ToolError::new(ErrorKind::InvalidRequest, NOT_KEPT))
    }
}

/// The thread in a store of its own, and the checkpoints that its runs and edits begin at.
async fn copied(
    store: &Arc<dyn Store>,
    thread: &ThreadInfo,
) -> Result<(Arc<dyn Store>, Vec<u64>), StoreError> {
    let id = &thread.thread_id;
    let checkpoints = checkpoints(store, id).await?;
    let mut effects = effects(store, id).await?.into_iter().peekable();
    let starts = checkpoints
        .iter()
        .filter(|checkpoint| match checkpoint.source {
            Source::Input => checkpoint.frame.is_empty(),
            Source::Update => true,
            Source::Step => false,
        });
    let mut starts: Vec<u64> = starts.map(|checkpoint| checkpoint.seq).collect();
    // A thread that was compacted begins with a step.
    let first = checkpoints.first().map(|checkpoint| checkpoint.seq);
    if let Some(first) = first.filter(|first| !starts.contains(first)) {
        starts.insert(0, first);
    }
    let mut records = vec![Record::Status(thread.status.clone())];
    for checkpoint in checkpoints {
        let earlier = |listed: &ListedEffect| match listed.behind {
            Some(behind) => behind < checkpoint.seq,
            // Of an earlier version: at the end of its super-step.
            None => listed.effect.root_step < checkpoint.root_step,
        };
        while let Some(listed) = effects.next_if(earlier) {
            records.push(Record::Effect(listed.effect));
        }
        records.push(Record::Checkpoint(checkpoint));
    }
    records.extend(effects.map(|listed| Record::Effect(listed.effect)));
    let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let lease = copy.acquire(id).await?;
    copy.append(&lease, &records).await?;
    copy.release(lease).await?;
    Ok((copy, starts))
}

async fn checkpoints(store: &Arc<dyn Store>, id: &str) -> Result<Vec<Checkpoint>, StoreError> {
    let mut all: Vec<Checkpoint> = Vec::new();
    loop {
        let after = all.last().map(|checkpoint| checkpoint.seq);
        let page = store.checkpoints(id, after, PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

async fn effects(store: &Arc<dyn Store>, id: &str) -> Result<Vec<ListedEffect>, StoreError> {
    let mut all: Vec<ListedEffect> = Vec::new();
    loop {
        let after = all.last().map(|listed| listed.position);
        let page = store.effects(id, after, PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}
