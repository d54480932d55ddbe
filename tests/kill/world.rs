//! What the flows touch: tools and a model that note each call in a file that outlives the process.
//!
//! The model's replies depend on the request alone, so that it answers alike whoever asks again: "TOOL N times" in the last
//! user message is N calls of that tool, one after the other, then a text. Each result names the call's key.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use graphc::ir::ErrorKind;
use graphc::run::ambient::Ambient;
use graphc::run::interrupt::{Answer, OpenInterrupt};
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
    ToolCallRequest,
};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use serde_json::{Value as Json, json};

use super::judge::Line;

/// How long a call takes.
const PAUSE: Duration = Duration::from_millis(2);

/// Adds a line; it is there whole or not at all.
pub fn write(log: &Path, line: &Line) {
    let text = serde_json::to_string(line).unwrap() + "\n";
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(log)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

pub fn read(log: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A clock that stands, and no chance: what two stores hold of the same thread is the same.
pub struct Still;

impl Ambient for Still {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn uuid(&self, ordinal: u64) -> String {
        format!("id {ordinal}")
    }

    fn random(&self, _: u64) -> f64 {
        0.5
    }
}

pub struct World {
    pub log: PathBuf,
}

impl World {
    async fn call(
        &self,
        name: &str,
        key: &str,
        args: String,
        fails: impl Fn(&[Line]) -> bool,
    ) -> bool {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let caller = std::process::id().to_string();
        let mut line = Line {
            what: "begin".to_owned(),
            who: format!("{caller}-{}", CALLS.fetch_add(1, Ordering::Relaxed)),
            caller,
            tool: name.to_owned(),
            key: key.to_owned(),
            args,
        };
        let fails = fails(&read(&self.log));
        write(&self.log, &line);
        tokio::time::sleep(PAUSE).await;
        line.what = if fails { "fail" } else { "end" }.to_owned();
        write(&self.log, &line);
        !fails
    }
}

#[async_trait]
impl ToolBackend for World {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let key = &cx.idempotency_key;
        let args = Json::Object(call.args).to_string();
        // `flaky` fails twice before it succeeds.
        let fails = |log: &[Line]| {
            let failed = log
                .iter()
                .filter(|line| line.what == "fail" && line.key == *key);
            call.tool == "flaky" && failed.count() < 2
        };
        match World::call(self, &call.tool, key, args.clone(), fails).await {
            true => Ok(result(&call.tool, &args, key)),
            false => Err(ToolError::new(ErrorKind::ToolError, "busy")),
        }
    }
}

#[async_trait]
impl ChatModel for World {
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let messages: Vec<Json> = request
            .messages
            .iter()
            .map(|message| message.to_json())
            .collect();
        let key = &cx.idempotency_key;
        let args = format!("{} messages", messages.len());
        World::call(self, "model", key, args, |_| false).await;
        let reply = reply(&messages, key);
        Ok(Box::pin(stream::iter(reply.into_iter().map(Ok))))
    }
}

impl World {
    /// What a person says: to a question of the flow by the question alone, to one whether a call has happened by what the world has
    /// seen of it.
    pub fn answer(&self, thread_id: &str, open: &OpenInterrupt) -> Answer {
        let value = match open.effect.split_once('?') {
            // Of a call that nobody has permitted.
            None if open.ask.get("tool").is_some() => json!({ "decision": "refuse" }),
            None => json!({ "go": true, "note": format!("noted {}", open.ask["n"]) }),
            Some((effect, _)) => {
                let key = format!("{thread_id}/{}#{effect}", open.task);
                self.has_happened(open, &key)
            }
        };
        Answer {
            interrupt: Some(open.id.clone()),
            value,
        }
    }

    fn has_happened(&self, open: &OpenInterrupt, key: &str) -> Json {
        let log = read(&self.log);
        let begun = log.iter().find(|line| line.is("begin") && line.key == key);
        let Some(begun) = begun else {
            return json!({ "happened": false });
        };
        if !log.iter().any(|line| line.ends(begun)) {
            let line = Line {
                what: "end".to_owned(),
                ..begun.clone()
            };
            write(&self.log, &line);
        }
        let tool = open.ask["tool"].as_str().unwrap();
        let args = open.ask["args"].to_string();
        json!({ "happened": true, "result": result(tool, &args, key) })
    }
}

/// What a call gives.
fn result(tool: &str, args: &str, key: &str) -> Json {
    json!({ "tool": tool, "args": args, "key": format!("<key {key}>") })
}

fn reply(messages: &[Json], key: &str) -> Vec<ChatDelta> {
    let asked = messages.iter().rev().find(|m| m["role"] == "user").unwrap();
    let words: Vec<&str> = asked["content"].as_str().unwrap().split(' ').collect();
    let [.., tool, times, _] = words.as_slice() else {
        panic!("no task in {asked}");
    };
    let done = messages.iter().filter(|m| m["role"] == "tool").count();
    let text = ChatDelta::Text(format!("{done} so far <key {key}>"));
    if done >= times.parse().unwrap() {
        return vec![text, ChatDelta::Finish(FinishReason::Stop)];
    }
    let call = ChatDelta::ToolCall(ToolCallRequest {
        id: format!("c{done}"),
        name: (*tool).to_owned(),
        arguments: json!({ "n": done }).to_string(),
    });
    vec![text, call, ChatDelta::Finish(FinishReason::ToolCalls)]
}
