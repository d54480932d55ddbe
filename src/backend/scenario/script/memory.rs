//! Long-term memory in a scenario: a thread's own, in the store that the scenario is played on.
//!
//! It lies apart from all other memory, so that what scenarios keep and what a project remembers don't mix. Texts are alike by the words that they share.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::project::scenario::Remembered;
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::memory::{
    Access, Embedder, Embedding, Filter, Item, MemoryTool, Search, Settings, Space, Write,
};
use crate::run::model::CallContext;
use crate::run::store::StoreError;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::{Script, turns};

/// Numbers of a vector.
const LENGTH: usize = 256;

fn tool() -> MemoryTool {
    MemoryTool::new(Arc::new(Settings {
        embedding: Some(Embedding {
            embedder: Arc::new(Words),
            fields: Vec::new(),
        }),
        ..Settings::default()
    }))
}

/// What the memory of a thread is apart by.
fn root(thread_id: &str) -> String {
    let digest = Sha256::digest(thread_id.as_bytes());
    let digest = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    digest.collect()
}

/// Keeps what a scenario begins with.
///
/// # Errors
/// In words, where the store has no memory or can't be written.
pub async fn seed(script: &Script, mut access: Access, thread_id: &str) -> Result<(), String> {
    access.root = root(thread_id);
    // Writes like no others: a thread of the same id begins so again.
    let run_id = SystemAmbient.uuid(0);
    let scenario = script.scenario();
    let tool = tool();
    for (index, Remembered { space, key, value }) in scenario.memory.iter().enumerate() {
        let call = ToolCall {
            tool: "memory_put".to_owned(),
            args: [
                ("space".to_owned(), json!(space)),
                ("key".to_owned(), json!(key)),
                ("value".to_owned(), value.clone()),
            ]
            .into_iter()
            .collect(),
        };
        let cx = CallContext {
            thread_id: thread_id.to_owned(),
            run_id: run_id.clone(),
            node: String::new(),
            send: None,
            ordinal: 0,
            attempt: 1,
            idempotency_key: index.to_string(),
            rank: Vec::new(),
            timeout: None,
            cancel: Default::default(),
            stop: Default::default(),
            memory: Some(access.clone()),
            nested: None,
            reports: None,
            secrets: Default::default(),
            waits: Default::default(),
        };
        let made = tool.call(call, &cx).await;
        made.map_err(|error| error.message)?;
    }
    Ok(())
}

/// All that the memory of a thread holds, by namespace and key.
///
/// # Errors
/// Where the store can't be read.
pub async fn remembered(access: &Access, thread_id: &str) -> Result<Vec<Json>, StoreError> {
    let mut found = held(access, thread_id).await?;
    found.sort_by(|a, b| (&a.space, &a.key).cmp(&(&b.space, &b.key)));
    let shown = found.into_iter().map(|item| {
        let Item {
            space, key, value, ..
        } = item;
        json!({ "space": space.parts(), "key": key, "value": value })
    });
    Ok(shown.collect())
}

/// Lets go of all that the memory of a thread holds: nobody else can find it.
///
/// # Errors
/// Where the store can't be read or written.
pub async fn forget(access: &Access, thread_id: &str) -> Result<(), StoreError> {
    for Item { space, key, .. } in held(access, thread_id).await? {
        let known = uuid::Uuid::parse_str(&SystemAmbient.uuid(0)).unwrap_or_default();
        let known = known.into_bytes();
        let delete = Write::Delete { space, key };
        access
            .with(|items| items.write(known, &delete, access.now))
            .await?;
    }
    Ok(())
}

async fn held(access: &Access, thread_id: &str) -> Result<Vec<Item>, StoreError> {
    let all = Search {
        prefix: Space::all().apart(&root(thread_id)),
        filter: Filter::default(),
        near: None,
        limit: usize::MAX,
        most_bytes: usize::MAX,
        offset: 0,
        refresh: false,
    };
    access.with(|items| items.search(&all, access.now)).await
}

/// Serves the tools.
pub struct OwnMemory {
    script: Arc<Script>,
    tool: MemoryTool,
}

impl OwnMemory {
    /// For the threads of a scenario.
    pub fn new(script: Arc<Script>) -> Self {
        Self {
            script,
            tool: tool(),
        }
    }
}

#[async_trait]
impl ToolBackend for OwnMemory {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let mut cx = turns::wait(&self.script, "tool", &call.tool, cx).await;
        self.script.count_call(&call.tool);
        if let Some(access) = &mut cx.memory {
            access.root = root(&cx.thread_id);
        }
        self.tool.call(call, &cx).await
    }
}

/// Makes vectors of the words of a text, without looking at what they mean.
struct Words;

#[async_trait]
impl Embedder for Words {
    fn name(&self) -> &str {
        "words"
    }

    async fn embed(&self, texts: &[String], _: &CallContext) -> Result<Vec<Vec<f32>>, ToolError> {
        let vectors = texts.iter().map(|text| {
            let mut vector = vec![0.0; LENGTH];
            let text = text.to_lowercase();
            let words = text.split(|c: char| !c.is_alphanumeric());
            for word in words.filter(|word| !word.is_empty()) {
                let digest = Sha256::digest(word.as_bytes());
                let place = digest.first().map_or(0, |byte| usize::from(*byte));
                if let Some(number) = vector.get_mut(place) {
                    *number += 1.0;
                }
            }
            vector
        });
        Ok(vectors.collect())
    }
}
