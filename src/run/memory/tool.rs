//! The tools of `std/memory`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::ir::ErrorKind;
use crate::run::model::CallContext;
use crate::run::store::StoreError;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};
use crate::value::{MAX_DEPTH, is_deeper};

use super::args::Args;
use super::{
    Access, Embedding, Filter, Item, MAX_VALUE, MOST_FOUND, Near, NewItem, Search, Write, WriteKey,
};
use crate::ir::memory::space::Pattern;

/// Most levels of lists and objects in a value: it is handed out inside of a list of items, which has to be a result itself.
const MOST_LEVELS: usize = MAX_DEPTH as usize - 10;

pub use crate::ir::flow::MEMORY as MODULE;

/// How memory works, where a project has something to say about it.
#[derive(Clone, Default)]
pub struct Settings {
    /// What finds items by meaning; without it a query is an error.
    pub embedding: Option<Embedding>,
    /// How long an item is kept that is put without a `ttl`; for good without.
    pub ttl: Option<Duration>,
    /// Whether the time of an item begins anew when it is read.
    pub refresh_on_read: bool,
}

/// Serves all tools of `std/memory`, on the store that the call's context brings.
#[derive(Clone, Default)]
pub struct MemoryTool {
    settings: Arc<Settings>,
}

impl MemoryTool {
    /// With these settings.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }

    async fn put(&self, args: &Args<'_>, cx: &CallContext) -> Result<Json, ToolError> {
        let (space, key) = (args.space()?, args.key()?);
        let value = args.json("value").clone();
        if value.is_null() {
            return Err(invalid(
                "`value` is missing: memory keeps no null; `memory_delete` takes a key out",
            ));
        }
        let size = value.to_string().len();
        if size > MAX_VALUE {
            return Err(invalid(format!(
                "a value in memory has at most {MAX_VALUE} bytes as JSON, this one has {size}"
            )));
        }
        if is_deeper(&value, MOST_LEVELS) {
            return Err(invalid(format!(
                "a value in memory is nested at most {MOST_LEVELS} levels deep, this one more"
            )));
        }
        let ttl = args.ttl()?.or(self.settings.ttl);
        let (mut vectors, mut embedder) = (Vec::new(), String::new());
        if let Some(embedding) = &self.settings.embedding {
            vectors = embedding.vectors(&embedding.texts(&value), cx).await?;
            if !vectors.is_empty() {
                embedding.embedder.name().clone_into(&mut embedder);
            }
        }
        let item = NewItem {
            space,
            key,
            value,
            ttl: ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)),
            vectors,
            embedder,
        };
        self.write(Write::Put(item), args.access, cx).await
    }

    async fn write(
        &self,
        write: Write,
        access: &Access,
        cx: &CallContext,
    ) -> Result<Json, ToolError> {
        let key = write_key(cx, &write);
        let made = access.with(|items| items.write(key, &write, access.now));
        Ok(json!(made.await?))
    }

    async fn get(&self, args: &Args<'_>) -> Result<Json, ToolError> {
        let (space, key, access) = (args.space()?, args.key()?, args.access);
        let refresh = self.settings.refresh_on_read;
        let found = access.with(|items| items.item(&space, &key, access.now, refresh));
        Ok(found.await?.as_ref().map_or(Json::Null, shown))
    }

    async fn search(&self, args: &Args<'_>, cx: &CallContext) -> Result<Json, ToolError> {
        let access = args.access;
        let search = Search {
            prefix: args.below("space")?,
            filter: Filter::parse(args.json("filter")).map_err(invalid)?,
            near: self.near(args.json("query"), cx).await?,
            limit: args.count("limit", 10),
            most_bytes: MOST_FOUND,
            offset: args.count("offset", 0),
            refresh: self.settings.refresh_on_read,
        };
        let found = access.with(|items| items.search(&search, access.now));
        let found = found.await?;
        let mut bytes = 0;
        for (fitting, item) in found.iter().enumerate() {
            bytes += item.value.to_string().len();
            if bytes > MOST_FOUND {
                return Err(invalid(format!(
                    "what is found takes more than {MOST_FOUND} bytes as JSON: the first {fitting} items fit (`limit: {fitting}`), \
                     and the next begin at `offset: {}`",
                    search.offset.saturating_add(fitting)
                )));
            }
        }
        Ok(found.iter().map(shown).collect())
    }

    /// What a query is near to.
    async fn near(&self, query: &Json, cx: &CallContext) -> Result<Option<Near>, ToolError> {
        let Some(query) = query.as_str() else {
            return Ok(None);
        };
        let Some(embedding) = &self.settings.embedding else {
            return Err(invalid(
                "nothing makes vectors of texts, so memory can't be searched by `query`: name a model under \
                 `memory: { embed: .. }` in graphc.yaml, or search without one",
            ));
        };
        if query.trim().is_empty() {
            return Err(invalid("`query` is empty: leave it out to get the newest"));
        }
        let mut vectors = embedding.vectors(&[query.to_owned()], cx).await?;
        Ok(vectors.pop().map(|vector| Near {
            embedder: embedding.embedder.name().to_owned(),
            vector,
        }))
    }

    async fn delete(&self, args: &Args<'_>, cx: &CallContext) -> Result<Json, ToolError> {
        let delete = Write::Delete {
            space: args.space()?,
            key: args.key()?,
        };
        self.write(delete, args.access, cx).await
    }

    async fn namespaces(&self, args: &Args<'_>) -> Result<Json, ToolError> {
        let depth = args.json("depth").as_u64();
        let depth = depth.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX));
        let pattern = Pattern::new(args.parts("prefix")?, depth).map_err(invalid)?;
        let access = args.access;
        let prefix = pattern.prefix().apart(&access.root);
        let found = access.with(|items| items.spaces(&prefix, access.now));
        let listed = pattern.of(found.await?).into_iter();
        let page = listed
            .skip(args.count("offset", 0))
            .take(args.count("limit", 100));
        Ok(page.map(|space| json!(space.parts())).collect())
    }
}

#[async_trait]
impl ToolBackend for MemoryTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let Some(access) = &cx.memory else {
            let name = &call.tool;
            return Err(invalid(format!(
                "`{name}` is no tool of `{MODULE}`, so it has no long-term memory"
            )));
        };
        let args = Args {
            args: &call.args,
            access,
        };
        match call.tool.as_str() {
            "memory_put" => self.put(&args, cx).await,
            "memory_get" => self.get(&args).await,
            "memory_search" => self.search(&args, cx).await,
            "memory_delete" => self.delete(&args, cx).await,
            "memory_namespaces" => self.namespaces(&args).await,
            other => Err(invalid(format!("`{MODULE}` has no tool `{other}`"))),
        }
    }
}

pub(super) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::InvalidRequest, message)
}

/// Which write a call makes. A thread that was deleted may come again under its id: its runs have other ids. And a call may come
/// again with something else to write, where what made the first was not kept (`--durability exit`) or the flow has changed: that is
/// another write. Vectors are none of it, for two made of the same text need not be equal.
fn write_key(cx: &CallContext, write: &Write) -> WriteKey {
    let written = match write {
        Write::Put(item) => json!([item.space.parts(), item.key, item.value, item.ttl]),
        Write::Delete { space, key } => json!([space.parts(), key]),
    };
    let mut hash = Sha256::new();
    let written = written.to_string();
    for name in [&cx.thread_id, &cx.run_id, &cx.idempotency_key, &written] {
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name.as_bytes());
    }
    let mut key = WriteKey::default();
    for (to, from) in key.iter_mut().zip(hash.finalize()) {
        *to = from;
    }
    key
}

/// An item as a flow gets it: a `MemoryItem`.
pub fn shown(item: &Item) -> Json {
    let time = |millis: i64| {
        let time = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
        time.to_string()
    };
    json!({
        "space": item.space.parts(),
        "key": item.key,
        "value": item.value,
        "created": time(item.created),
        "updated": time(item.updated),
        "score": item.score,
    })
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        ToolError::new(ErrorKind::Store, error.to_string())
    }
}
