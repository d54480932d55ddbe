//! How long is waited between attempts, and for what kinds of errors there are any.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use graphc::embed::{ChatDelta, ChatModel, FinishReason, ModelError};
use graphc::ir::ErrorKind;
use graphc::run::ambient::{Ambient, SystemAmbient};
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::event::{EventKind, Mode};
use graphc::run::store::RunState;
use graphc::run::stream::channel;
use graphc::run::tool::ToolError;
use jiff::Timestamp;
use serde_json::json;

use super::flow::{Model, Tool, begin, engine};

/// A clock that doesn't wait and keeps what it was to wait for; chance is always the same.
struct Noted {
    waits: Mutex<Vec<Duration>>,
    chance: f64,
}

impl Ambient for Noted {
    fn now(&self) -> Timestamp {
        SystemAmbient.now()
    }

    fn uuid(&self, ordinal: u64) -> String {
        SystemAmbient.uuid(ordinal)
    }

    fn random(&self, _: u64) -> f64 {
        self.chance
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.waits.lock().unwrap().push(duration);
        Box::pin(std::future::ready(()))
    }
}

fn flow(policy: &str) -> String {
    format!(
        "
tool fetch(id: string) -> string
graph Main {{
  state {{ out got: string = \"\" }}
  start -> get
  node get: call fetch(id: \"x\") -> end {{ retry {{ {policy} }} set {{ got: result }} }}
}}
"
    )
}

/// The waits in milliseconds of a call that fails with these errors and then gets its result, as they were made and as they
/// were told.
async fn waits(policy: &str, chance: f64, errors: Vec<ToolError>) -> (Vec<u64>, RunState) {
    let left = Mutex::new(errors.into_iter());
    let tool = Tool::new(move |_| {
        let next = left.lock().unwrap().next();
        async move { next.map_or(Ok(json!("got")), Err) }
    });
    let (engine, graph) = engine(&flow(policy), None, Some(tool));
    let ambient = Arc::new(Noted {
        waits: Mutex::default(),
        chance,
    });
    let engine = Engine {
        ambient: Arc::clone(&ambient) as Arc<dyn Ambient>,
        ..engine
    };
    let (sink, mut events) = channel([Mode::Tasks]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Retrying { wait_ms, .. } = event.kind {
            told.push(wait_ms);
        }
    }
    let made = ambient.waits.lock().unwrap();
    let made: Vec<u64> = made.iter().map(|wait| wait.as_millis() as u64).collect();
    assert_eq!(made, told);
    (told, run.state)
}

fn of(kind: ErrorKind, count: usize) -> Vec<ToolError> {
    (0..count).map(|_| ToolError::new(kind, "no")).collect()
}

#[tokio::test]
async fn waits_grow_by_the_factor_up_to_the_longest() {
    let policy = "attempts 6, initial 100ms, factor 3.0, max 1s, jitter false, on [network]";
    let (waits, state) = waits(policy, 0.9, of(ErrorKind::Network, 5)).await;
    assert_eq!(waits, [100, 300, 900, 1000, 1000]);
    assert_eq!(state, RunState::Done);
}

#[tokio::test]
async fn chance_spreads_waits_by_up_to_a_half() {
    let policy = "attempts 4, initial 100ms, on [network]";
    let (least, _) = waits(policy, 0.0, of(ErrorKind::Network, 3)).await;
    let (most, _) = waits(policy, 1.0, of(ErrorKind::Network, 3)).await;
    assert_eq!(least, [100, 200, 400]);
    assert_eq!(most, [150, 300, 600]);
}

#[tokio::test]
async fn a_server_that_says_when_is_not_asked_before() {
    let policy = "attempts 4, initial 1s, max 20s, jitter false, on [rate_limit]";
    let mut errors = of(ErrorKind::RateLimit, 3);
    // Longer than the policy would wait, shorter than it would wait then, and longer than it ever waits.
    errors[0].retry_after = Some(Duration::from_secs(7));
    errors[1].retry_after = Some(Duration::from_millis(10));
    errors[2].retry_after = Some(Duration::from_secs(3600));
    let (waits, state) = waits(policy, 0.5, errors).await;
    assert_eq!(waits, [7_000, 2_000, 20_000]);
    assert_eq!(state, RunState::Done);
}

#[tokio::test]
async fn only_the_kinds_of_a_policy_are_tried_again() {
    let policy = "attempts 3, initial 1ms, on [timeout, server_error]";
    for kind in [ErrorKind::Timeout, ErrorKind::ServerError] {
        let (waits, state) = waits(policy, 0.0, of(kind, 1)).await;
        assert_eq!((waits.len(), state), (1, RunState::Done), "{kind:?}");
    }
    for kind in [ErrorKind::Network, ErrorKind::Auth, ErrorKind::ToolError] {
        let (waits, state) = waits(policy, 0.0, of(kind, 1)).await;
        assert_eq!((waits.len(), state), (0, RunState::Failed), "{kind:?}");
    }
    // Without a list: what may pass by itself.
    for (kind, again) in [
        (ErrorKind::Timeout, 1),
        (ErrorKind::RateLimit, 1),
        (ErrorKind::ServerError, 1),
        (ErrorKind::Network, 1),
        (ErrorKind::InvalidOutput, 1),
        (ErrorKind::ToolError, 0),
        (ErrorKind::Auth, 0),
        (ErrorKind::InvalidRequest, 0),
        (ErrorKind::ContentFilter, 0),
    ] {
        let (waits, _) = waits("attempts 2", 0.0, of(kind, 1)).await;
        assert_eq!(waits.len(), again, "{kind:?}");
    }
}

/// A run that is cancelled while it waits does not wait any longer, and a resume makes the attempts that are left.
#[tokio::test]
async fn a_wait_ends_where_the_run_is_cancelled() {
    let tool = Tool::new(|_| async { Err(ToolError::new(ErrorKind::Network, "no")) });
    let policy = "attempts 3, initial 1h, max 3h, jitter false, on [network]";
    let (engine, graph) = engine(&flow(policy), None, Some(Arc::clone(&tool)));
    let options = RunOptions::default();
    let cancel = options.cancel.clone();
    let input = json!({});
    let run = engine.start(graph, "t", &input, options);
    let stop = async {
        while tool.calls().is_empty() {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (run, ()) = tokio::join!(run, stop);
    assert_eq!(run.unwrap().state, RunState::Cancelled);
    let noted = Arc::new(Noted {
        waits: Mutex::default(),
        chance: 0.0,
    });
    let again = Engine {
        ambient: Arc::clone(&noted) as Arc<dyn Ambient>,
        ..engine
    };
    let run = again.resume("t", &[], RunOptions::default()).await.unwrap();
    assert_eq!(run.state, RunState::Failed);
    assert_eq!(tool.calls().len(), 3);
    // One of the two that were left.
    assert_eq!(*noted.waits.lock().unwrap(), [Duration::from_secs(7200)]);
}

/// A resume after an error that leads to no fallback begins with the model that had it.
#[tokio::test]
async fn a_resume_asks_the_model_whose_error_led_to_no_fallback() {
    let text = "
model first = \"local/a\" { fallback [second], fallback_on [rate_limit] }
model second = \"local/b\"
graph Main {
  state { out said: string = \"\" }
  start -> ask
  node ask: llm -> end { model first  prompt \"go\"  set { said: reply.text } }
}
";
    let asked: Arc<Mutex<Vec<&str>>> = Arc::default();
    let model = |name: &'static str, errors: &'static [ErrorKind]| {
        let asked = Arc::clone(&asked);
        let left = Mutex::new(errors.iter().copied());
        let reply = [
            ChatDelta::Text("here".to_owned()),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Arc::new(Model(Box::new(move |_| {
            asked.lock().unwrap().push(name);
            match left.lock().unwrap().next() {
                Some(kind) => Err(ModelError::new(kind, "failed")),
                None => Ok(Box::pin(stream::iter(reply.clone().map(Ok)))),
            }
        }))) as Arc<dyn ChatModel>
    };
    let first = model("first", &[ErrorKind::Auth, ErrorKind::RateLimit]);
    let second = model("second", &[ErrorKind::Network]);
    let (mut engine, graph) = engine(text, Some(Model(Box::new(|_| unreachable!()))), None);
    engine.backends.models = [first, second].into_iter().collect();
    let failed = begin(&engine, graph).await;
    assert_eq!(failed.error.unwrap().kind, ErrorKind::Auth);
    let options = RunOptions::default;
    let failed = engine.resume("t", &[], options()).await.unwrap();
    assert_eq!(failed.error.unwrap().kind, ErrorKind::Network);
    let done = engine.resume("t", &[], options()).await.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    let asked = asked.lock().unwrap();
    assert_eq!(*asked, ["first", "first", "second", "first"]);
}
