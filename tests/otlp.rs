//! How telemetry is sent: to a receiver that the test plays, which says what it answers and when.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::stream;
use graphc::embed::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, Engine, EngineBuilder,
    FinishReason, ModelError, RunOptions, RunState, Telemetry, TelemetrySettings, Usage,
    async_trait, load,
};
use serde_json::{Value as Json, json};
use tokio::sync::Notify;

/// Longest wait for what comes at once.
const SOON: Duration = Duration::from_secs(60);

const FLOW: &str = r#"
model writer = "mock/small" { timeout 60s }

graph Part {
  state { in n: int, out text: string = "" }
  start -> write
  node write: llm -> end { model writer, prompt "part {{ state.n }}", set { text: reply.text } }
}

graph Many {
  state { in numbers: list<int>, out texts: list<string> via append }
  start -> [each n in state.numbers -> parts with { n: n }]
  node parts: subgraph Part -> end { set { texts: [result.text] } }
}
"#;

/// A receiver of OTLP.
struct Receiver {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Requests with spans, as they came.
    traces: Mutex<Vec<Json>>,
    /// The last request with metrics.
    metrics: Mutex<Json>,
    /// What the next requests with spans are answered with; then 200. 0 is no answer: the connection is closed.
    answers: Mutex<VecDeque<u16>>,
    /// Whether requests are kept waiting.
    held: Mutex<bool>,
    let_go: Condvar,
}

impl Receiver {
    fn start(answers: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        shared.answers.lock().unwrap().extend(answers);
        let known = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&known);
                std::thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        Self { url, shared }
    }

    fn telemetry(&self) -> Telemetry {
        let env = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(self.url.clone()),
            "OTEL_EXPORTER_OTLP_TIMEOUT" => Some(SOON.as_millis().to_string()),
            _ => None,
        };
        let settings = TelemetrySettings::find(None, &env).unwrap().unwrap();
        Telemetry::start(settings).unwrap()
    }

    fn hold(&self, held: bool) {
        *self.shared.held.lock().unwrap() = held;
        self.shared.let_go.notify_all();
    }

    /// The spans of each request.
    fn requests(&self) -> Vec<Vec<Json>> {
        let requests = self.shared.traces.lock().unwrap();
        let spans = requests.iter().map(|body| {
            let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array();
            spans.unwrap().clone()
        });
        spans.collect()
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        loop {
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                // The other side has gone.
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let mut status = 200;
            if head.starts_with("POST /v1/traces ") {
                let body = serde_json::from_slice(&body).unwrap();
                self.traces.lock().unwrap().push(body);
                status = self.answers.lock().unwrap().pop_front().unwrap_or(200);
            } else if head.starts_with("POST /v1/metrics ") {
                *self.metrics.lock().unwrap() = serde_json::from_slice(&body).unwrap();
            }
            let held = self.held.lock().unwrap();
            drop(self.let_go.wait_while(held, |held| *held).unwrap());
            if status == 0 {
                return;
            }
            let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    }
}

/// A model that says the same to all.
struct Says;

#[async_trait]
impl ChatModel for Says {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        let parts = [
            ChatDelta::Text("x".to_owned()),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(parts.map(Ok))))
    }
}

/// A model each of whose calls takes so many tokens as the next number says.
struct Takes(Mutex<VecDeque<u64>>);

#[async_trait]
impl ChatModel for Takes {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        let usage = Usage {
            input_tokens: self.0.lock().unwrap().pop_front().unwrap(),
            ..Usage::default()
        };
        let parts = [
            ChatDelta::Text("x".to_owned()),
            ChatDelta::Usage(usage),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(parts.map(Ok))))
    }
}

/// A model that says that it was asked, and never answers.
struct Hangs(Arc<Notify>);

#[async_trait]
impl ChatModel for Hangs {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        self.0.notify_one();
        std::future::pending().await
    }
}

fn engine(name: &str, model: impl ChatModel + 'static) -> Engine {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = tmp.join(format!("otlp-{name}-{}.graph", std::process::id()));
    std::fs::write(&path, FLOW).unwrap();
    let flow = load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    EngineBuilder::new(flow).models(model).build().unwrap()
}

/// Runs `Many` over so many numbers, to its end.
async fn run(engine: &Engine, telemetry: &Telemetry, thread: &str, count: usize) {
    let options = RunOptions {
        observed: Some(telemetry.observed()),
        ..RunOptions::default()
    };
    let numbers: Vec<usize> = (0..count).collect();
    let graph = engine.graph("Many").unwrap();
    let input = json!({ "numbers": numbers });
    let result = engine.start(graph, thread, &input, options).await.unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
}

/// A task of `Many`, one in the graph that it calls, and that one's call.
const SPANS: usize = 3;

#[tokio::test]
async fn a_request_that_may_pass_later_is_made_again() {
    for (answers, requests, passes) in [
        (&[429][..], 2, true),
        (&[502], 2, true),
        (&[503, 504], 3, true),
        (&[0], 2, true),
        (&[503, 503, 503, 503], 3, false),
        (&[400], 1, false),
        (&[500], 1, false),
    ] {
        let receiver = Receiver::start(answers);
        let telemetry = receiver.telemetry();
        run(&engine("again", Says), &telemetry, "t", 1).await;
        let flushed = tokio::task::spawn_blocking(move || telemetry.flush(SOON));
        let flushed = flushed.await.unwrap();
        assert_eq!(flushed.is_ok(), passes, "{answers:?}: {flushed:?}");
        let seen = receiver.requests();
        assert_eq!(seen.len(), requests, "{answers:?}");
        assert!(seen.iter().all(|spans| *spans == seen[0]), "{answers:?}");
    }
}

#[tokio::test]
async fn many_spans_go_in_several_requests() {
    let receiver = Receiver::start(&[]);
    let telemetry = receiver.telemetry();
    run(&engine("many", Says), &telemetry, "t", 400).await;
    let flushed = tokio::task::spawn_blocking(move || telemetry.flush(SOON));
    flushed.await.unwrap().unwrap();
    let sizes: Vec<usize> = receiver.requests().iter().map(Vec::len).collect();
    assert!(sizes.iter().all(|size| *size <= 512), "{sizes:?}");
    assert!(sizes.len() > 1, "{sizes:?}");
    assert_eq!(sizes.iter().sum::<usize>(), SPANS * 400 + 1);
}

/// The bounds of tokens are 1, 4, 16 and so on.
#[tokio::test]
async fn a_value_on_a_bound_is_in_the_bucket_below() {
    let receiver = Receiver::start(&[]);
    let telemetry = receiver.telemetry();
    let tokens = Takes(Mutex::new([1, 2, 4, 1_000_000_000].into()));
    run(&engine("buckets", tokens), &telemetry, "t", 4).await;
    let flushed = tokio::task::spawn_blocking(move || telemetry.flush(SOON));
    flushed.await.unwrap().unwrap();
    let metrics = receiver.shared.metrics.lock().unwrap();
    let metrics = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array();
    let used = metrics
        .unwrap()
        .iter()
        .find(|metric| metric["name"] == "gen_ai.client.token.usage");
    let points = used.unwrap()["histogram"]["dataPoints"].as_array().unwrap();
    let is_input = |point: &&Json| point["attributes"].to_string().contains("\"input\"");
    let point = points.iter().find(is_input).unwrap();
    let counts = point["bucketCounts"].as_array().unwrap();
    assert_eq!((&counts[0], &counts[1]), (&json!(1), &json!(2)));
    assert_eq!(counts.last(), Some(&json!(1)));
    assert_eq!(point["count"], 4);
    assert_eq!((&point["min"], &point["max"]), (&json!(1.0), &json!(1e9)));
}

/// While the receiver answers nothing, 8192 spans wait beside the 512 that it was sent; the run does not wait.
#[tokio::test]
async fn spans_that_find_the_queue_full_are_left_out_and_counted() {
    let receiver = Receiver::start(&[]);
    receiver.hold(true);
    let telemetry = receiver.telemetry();
    let engine = engine("full", Says);
    let mut all = 0;
    while all <= 8192 + 512 {
        run(&engine, &telemetry, &format!("t{all}"), 900).await;
        all += SPANS * 900 + 1;
    }
    receiver.hold(false);
    let flushed = tokio::task::spawn_blocking(move || telemetry.flush(SOON));
    let why = flushed.await.unwrap().unwrap_err();
    let sent: usize = receiver.requests().iter().map(Vec::len).sum();
    let lost = all - sent;
    assert!(lost > 0);
    assert_eq!(
        why,
        format!("{lost} spans came faster than they could be sent")
    );
}

#[tokio::test]
async fn what_is_open_in_a_run_that_is_dropped_ends_as_cancelled() {
    let receiver = Receiver::start(&[]);
    let telemetry = receiver.telemetry();
    let asked = Arc::new(Notify::new());
    let engine = engine("dropped", Hangs(Arc::clone(&asked)));
    tokio::select! {
        () = run(&engine, &telemetry, "t", 1) => panic!("it has ended"),
        () = asked.notified() => {}
    }
    let flushed = tokio::task::spawn_blocking(move || telemetry.flush(SOON));
    flushed.await.unwrap().unwrap();
    let spans: Vec<Json> = receiver.requests().into_iter().flatten().collect();
    let mut names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let wanted = [
        "chat small",
        "invoke_workflow Many",
        "task parts",
        "task write",
    ];
    assert_eq!(names, wanted);
    for span in &spans {
        let attributes = span["attributes"].as_array().unwrap();
        let error = attributes.iter().find(|one| one["key"] == "error.type");
        assert_eq!(
            error.unwrap()["value"]["stringValue"],
            "cancelled",
            "{span}"
        );
    }
}
