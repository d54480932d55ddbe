//! Recorded scenarios: what is kept of calls, and what is played of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt;
use graphc::backend::scenario::cassette::{self, Answer};
use graphc::backend::scenario::{Script, Start};
use graphc::backend::secret::{Secret, Secrets};
use graphc::base::SourceMap;
use graphc::ir::ErrorKind;
use graphc::project::scenario::load;
use graphc::run::model::{CallContext, ChatReply, Opaque, ToolCallRequest};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use serde_json::{Value as Json, json};

use super::context::call;

/// Numbers its answers; asked to be late it gives none, asked to fail it does so once.
#[derive(Default)]
struct Desk {
    answers: AtomicU64,
    failures: AtomicU64,
}

#[async_trait]
impl ToolBackend for Desk {
    async fn call(&self, call: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        if call.args.contains_key("late") {
            std::future::pending::<()>().await;
        }
        if call.args.contains_key("fail") && self.failures.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(ToolError::new(ErrorKind::Network, "no way"));
        }
        let number = 1 + self.answers.fetch_add(1, Ordering::Relaxed);
        Ok(json!(format!("answer {number} of the frontdesk")))
    }
}

struct Case {
    suite: PathBuf,
    script: Arc<Script>,
    desk: Arc<Desk>,
}

fn script(start: Start) -> Arc<Script> {
    let mut sources = SourceMap::new();
    let text = "scenarios: [{ name: a case, recorded: true }]";
    let file = sources.add("a.test.yaml", text);
    Script::new(&load(&sources, file).unwrap(), 0, start).unwrap()
}

fn record(name: &str, secrets: Secrets) -> Case {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("recorded-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    let script = script(Start::Run);
    script.record(secrets);
    Case {
        suite: folder.join("a.test.yaml"),
        script,
        desk: Arc::default(),
    }
}

impl Case {
    /// Calls the tool for real.
    async fn call(&self, args: Json, cx: &CallContext) -> Result<Json, String> {
        ask(&self.script, Some(Arc::clone(&self.desk)), args, cx).await
    }

    fn save(&self) -> Result<(), String> {
        self.script.save_recording(&self.suite)
    }

    /// A process that goes on with it.
    fn resume(&self) -> Arc<Script> {
        self.save().unwrap();
        let script = script(Start::Resume);
        script.play_from_file(&self.suite).unwrap();
        script
    }
}

async fn ask(
    script: &Arc<Script>,
    desk: Option<Arc<Desk>>,
    args: Json,
    cx: &CallContext,
) -> Result<Json, String> {
    let tool = script.recorded_tool(desk.map(|desk| desk as Arc<dyn ToolBackend>));
    let call = ToolCall {
        tool: "status".into(),
        args: args.as_object().unwrap().clone(),
    };
    tool.call(call, cx).await.map_err(|error| error.message)
}

fn of_send(send: u32, ordinal: u64) -> CallContext {
    CallContext {
        send: Some(send),
        ..call("look", ordinal)
    }
}

#[tokio::test]
async fn a_resumed_process_goes_on_where_the_one_before_it_ended() {
    let case = record("resumed", Secrets::default());
    for ordinal in 0..3 {
        let _ = case.call(json!({}), &call("look", ordinal)).await.unwrap();
    }
    let played = case.resume();
    let answer = ask(&played, None, json!({}), &call("look", 2)).await;
    assert_eq!(answer.unwrap(), "answer 3 of the frontdesk");
    let more = ask(&played, None, json!({}), &call("look", 3)).await;
    let more = more.unwrap_err();
    assert!(
        more.contains("nothing more is recorded for call 4"),
        "{more}"
    );
}

#[tokio::test]
async fn tasks_side_by_side_that_were_cut_off_have_their_own_answers() {
    let case = record("sends", Secrets::default());
    for (ordinal, send) in [1, 0, 2].into_iter().enumerate() {
        let cx = of_send(send, ordinal as u64);
        let _ = case.call(json!({}), &cx).await.unwrap();
    }
    // The task of send 0 was done before.
    let played = case.resume();
    for (send, ordinal, number) in [(2, 2, 3), (1, 1, 1)] {
        let answer = ask(&played, None, json!({}), &of_send(send, ordinal)).await;
        assert_eq!(answer.unwrap(), format!("answer {number} of the frontdesk"));
    }
    let again = ask(&played, None, json!({}), &of_send(0, 3)).await;
    assert!(again.unwrap_err().contains("nothing more is recorded"));
}

#[tokio::test]
async fn a_failure_is_made_good_by_the_same_request_only() {
    let case = record("holes", Secrets::default());
    let failing = json!({ "fail": true });
    assert!(case.call(failing.clone(), &call("look", 0)).await.is_err());
    let _ = case.call(json!({}), &call("look", 1)).await.unwrap();
    let hole = case.save().unwrap_err();
    assert!(
        hole.contains("call 1 of tool `status` in `look` failed\nno way"),
        "{hole}"
    );
    let _ = case.call(failing, &call("look", 2)).await.unwrap();
    case.save().unwrap();
}

#[tokio::test]
async fn a_call_that_is_given_up_is_a_hole() {
    let case = record("given-up", Secrets::default());
    let cx = call("look", 0);
    let late = case.call(json!({ "late": true }), &cx);
    assert_eq!(late.now_or_never(), None);
    let hole = case.save().unwrap_err();
    assert!(
        hole.contains("it was given up before it was answered"),
        "{hole}"
    );
    assert!(!cassette::path(&case.suite, "a case").exists());
}

fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add(&Secret::new("frontdesk"));
    secrets
}

#[tokio::test]
async fn secrets_are_hidden_from_the_run_that_is_recorded_too_and_names_stay() {
    let case = record("secrets", secrets());
    let cx = call("frontdesk_sort", 0);
    let answer = case.call(json!({ "at": "the frontdesk" }), &cx).await;
    assert_eq!(answer.unwrap(), "answer 1 of the ***");
    case.save().unwrap();
    let text = std::fs::read_to_string(cassette::path(&case.suite, "a case")).unwrap();
    for part in [
        "node: frontdesk_sort",
        "at: the ***",
        "result: answer 1 of the ***",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_stands_in_a_reply_keeps_its_place() {
    let opaque = |at: usize, data: &str| Opaque {
        at,
        provider: "p".into(),
        data: json!({ "signed": data }),
    };
    let call = |arguments: &str| ToolCallRequest {
        id: "frontdesk-1".into(),
        name: "frontdesk".into(),
        arguments: arguments.into(),
    };
    let reply = |text: &str, opaque, arguments| {
        Answer::Reply(ChatReply {
            text: text.into(),
            opaque: vec![opaque],
            tool_calls: vec![call(arguments)],
            ..ChatReply::default()
        })
    };
    let before = reply(
        "at the frontdesk, é",
        opaque(18, "frontdesk"),
        "{\"at\":\"frontdesk\"}",
    );
    let after = reply("at the ***, é", opaque(12, "***"), "{\"at\":\"***\"}");
    assert_eq!(before.scrubbed(&secrets()), after);
}

#[test]
fn a_cassette_of_another_scenario_is_named() {
    let case = record("renamed", Secrets::default());
    case.save().unwrap();
    let error = cassette::load(&case.suite, "a-case").unwrap_err();
    assert!(
        error.contains("a_case.yaml` is of scenario `a case`, not of `a-case`"),
        "{error}"
    );
}
