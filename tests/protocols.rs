//! The protocols of models against a server that others wrote (npm `@copilotkit/aimock`): what it answers arrives, and the five systems of
//! `graphs/` run unchanged on each of them. Each reply of a scenario is handed to the server, asked for there over the wire, and is what
//! the flow gets; the scenario is judged as ever.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::install;
use futures_util::{StreamExt, stream};
use graphc::backend::llm::{ApiKey, Kind, Provider, Settings};
use graphc::backend::secret::Secret;
use graphc::backend::wire::Wire;
use graphc::base::SourceMap;
use graphc::diag::render::{Style, human};
use graphc::embed::{async_trait, load};
use graphc::project::bindings::Bindings;
use graphc::project::config;
use graphc::project::scenario;
use graphc::run::model::{CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, ModelError};
use graphc::run::plan::plan;
use graphc::scenario::crash::Launcher;
use graphc::scenario::group::{self, Bench, answers_left, open_store, stage};
use graphc::scenario::play::How;
use graphc::scenario::{Observed, judge};
use serde_json::{Value as Json, json};

const START: &str = r#"
const { LLMock } = require("@copilotkit/aimock");
const mock = new LLMock({ port: 0 });
mock.start().then(() => console.log(mock.url));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
"#;

/// The server. It ends with its stdin, which is this process's.
struct Mock {
    url: String,
    child: Child,
    wire: Arc<Wire>,
    calls: AtomicU32,
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mock {
    fn start() -> Arc<Self> {
        let place = install::npm(&["@copilotkit/aimock@1.43.0"]);
        let mut child = Command::new("node")
            .args(["-e", START])
            .current_dir(place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut url).unwrap();
        // What it says further is of no interest, but must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Arc::new(Self {
            url: url.trim().to_owned(),
            child,
            wire: Wire::new(),
            calls: AtomicU32::new(0),
        })
    }

    /// Has the server answer the model of the name that is given with this.
    async fn answers(&self, response: Json, more: Json) -> String {
        let model = format!("m-{}", self.calls.fetch_add(1, Ordering::Relaxed));
        let mut fixture = json!({ "match": { "model": model }, "response": response });
        fixture
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let url = format!("{}/__aimock/fixtures", self.url);
        let post = self.wire.client().unwrap().post(url);
        let sent = post
            .json(&json!({ "fixtures": [fixture] }))
            .send()
            .await
            .unwrap();
        let status = sent.status();
        assert!(
            status.is_success(),
            "{status}: {}",
            sent.text().await.unwrap()
        );
        model
    }

    fn provider(&self, kind: Kind) -> Provider {
        let version = match kind {
            Kind::Gemini => "v1beta",
            _ => "v1",
        };
        let mut settings = Settings::new("mock", kind, &format!("{}/{version}", self.url));
        settings.api_key = ApiKey::Given(Secret::new("k-very-secret"));
        Provider::new(settings, Arc::clone(&self.wire))
    }
}

/// Has the replies of a scripted model come over the wire.
struct OverTheWire {
    mock: Arc<Mock>,
    kind: Kind,
    scripted: Arc<dyn ChatModel>,
}

#[async_trait]
impl ChatModel for OverTheWire {
    async fn stream(
        &self,
        mut request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let mut said = self.scripted.stream(request.clone(), cx).await?;
        let (mut text, mut calls, mut finish) = (String::new(), Vec::new(), "stop");
        while let Some(delta) = said.next().await {
            match delta? {
                ChatDelta::Text(more) => text += &more,
                ChatDelta::ToolCall(call) => calls.push(call),
                ChatDelta::Finish(reason) => finish = reason.word(),
                _ => {}
            }
        }
        let shown = calls
            .iter()
            .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }));
        let shown: Vec<Json> = shown.collect();
        let mut response = match shown.is_empty() {
            true => json!({}),
            false => json!({ "toolCalls": shown }),
        };
        // The server knows no empty text.
        if !text.is_empty() {
            response["content"] = text.into();
        }
        if finish == "length" {
            response["finishReason"] = "length".into();
        }
        request.model = self.mock.answers(response, json!({})).await;
        let provider = self.mock.provider(self.kind);
        let mut stream = provider.stream(request, cx).await?;
        let mut deltas = Vec::new();
        while let Some(delta) = stream.next().await {
            deltas.push(delta);
        }
        Ok(Box::pin(stream::iter(deltas)))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs")
}

/// The settings of a system, for the tools that its scenarios really call.
fn bindings(scenarios: &str) -> Bindings {
    let folder = folder().join(Path::new(scenarios).parent().unwrap());
    let text = std::fs::read_to_string(folder.join("graphc.yaml")).unwrap();
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", &text);
    let config = config::load(&sources, file, None, &|_| None);
    let config = config.unwrap_or_else(|found| panic!("{}", human(&found, &sources, Style::PLAIN)));
    Bindings {
        config,
        folder,
        sources: std::sync::Arc::new(sources),
        secrets: std::sync::Arc::default(),
    }
}

fn bench(flow: &str, scenarios: &str) -> Bench {
    let mut sources = SourceMap::new();
    let text = std::fs::read_to_string(folder().join(scenarios)).unwrap();
    let id = sources.add(scenarios, &text);
    let suite = scenario::load(&sources, id);
    let suite = suite.unwrap_or_else(|found| panic!("{}", human(&found, &sources, Style::PLAIN)));
    let flow = load(folder().join(flow)).unwrap();
    Bench {
        suite: Arc::new(suite),
        file: folder().join(scenarios),
        plan: Arc::new(plan(Arc::new(flow)).unwrap()),
        bindings: bindings(scenarios),
        record: false,
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_graphc").into(),
            args: vec!["play-scenario".into()],
            env: Vec::new(),
        },
    }
}

/// Plays the scenarios of a file; those that end their process are others' tests. Gives how many were played.
async fn play(mock: &Arc<Mock>, kind: Kind, flow: &str, scenarios: &str) -> usize {
    let bench = bench(flow, scenarios);
    let mut played = 0;
    for group in group::groups(&bench.suite, |_| true) {
        let all = group
            .scenarios
            .iter()
            .map(|index| &bench.suite.scenarios[*index]);
        if all.clone().any(|scenario| scenario.crash.is_some()) {
            continue;
        }
        let store = open_store(None);
        for (index, scenario) in group.scenarios.iter().zip(all) {
            let at = format!("{scenarios} `{}` on {}", scenario.name, kind.word());
            let stage = stage(scenario, &bench.plan, &bench.bindings, &store);
            let stage = stage.unwrap_or_else(|finding| panic!("{at}: {}", finding.message));
            let mock = Arc::clone(mock);
            let how = How {
                relay: Some(Arc::new(move |scripted| {
                    Arc::new(OverTheWire {
                        mock: Arc::clone(&mock),
                        kind,
                        scripted,
                    })
                })),
                ..How::default()
            };
            let told = group::alone(&bench, *index, &stage, how).await;
            let (told, _) = told.unwrap_or_else(|error| panic!("{at}: {error}"));
            let left = answers_left(&scenario.answers, &told);
            let flow = &bench.plan.flow;
            let observed = Observed::of(flow, stage.graph, &told);
            let findings = judge::judge(scenario, flow, stage.graph, &observed, &left);
            let findings: Vec<&String> = findings.iter().map(|finding| &finding.message).collect();
            assert!(findings.is_empty(), "{at}: {findings:#?}");
            played += 1;
        }
    }
    played
}

#[tokio::test(flavor = "multi_thread")]
async fn the_systems_run_on_every_protocol() {
    python();
    let mock = Mock::start();
    for (flow, scenarios) in [
        ("maestro/maestro.graph", "maestro/maestro.test.yaml"),
        ("cim/cim.graph", "cim/cim.test.yaml"),
        ("modes/modes.graph", "modes/mode1.test.yaml"),
        ("modes/modes.graph", "modes/mode3.test.yaml"),
        (
            "schema_design/schema_design.graph",
            "schema_design/schema_design.test.yaml",
        ),
        (
            "workflow_builder/workflow_builder.graph",
            "workflow_builder/workflow_builder.test.yaml",
        ),
    ] {
        for (_, kind) in Kind::ALL {
            let played = play(&mock, kind, flow, scenarios).await;
            assert!(played > 0, "{scenarios}");
        }
    }
}

fn python() {
    if install::said("python3", &["--version"]).is_none() {
        install::apt("python3");
    }
}

/// A server in Python whose streams are of odd forms.
struct Odd {
    port: String,
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    place: PathBuf,
}

impl Drop for Odd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Odd {
    fn start(name: &str) -> Self {
        python();
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/protocols/server.py");
        let mut child = Command::new("python3")
            .arg(server)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut port = String::new();
        said.read_line(&mut port).unwrap();
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("odd-{name}"));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        Self {
            port: port.trim().to_owned(),
            child,
            said,
            place,
        }
    }

    /// A run whose model streams that.
    fn run(&self, form: &str, timeout: &str) -> Command {
        let flow = format!(
            "model writer = \"odd/m\" {{ timeout {timeout}, max_tokens 10 }}\n\
             graph Main {{\n  state {{ out said: string = \"\", finish: string? }}\n  start -> say\n\
             node say: llm -> end {{ model writer  prompt \"Hi\"  set {{ said: reply.text, finish: reply.finish }} }}\n}}\n"
        );
        std::fs::write(self.place.join("f.graph"), flow).unwrap();
        let url = format!("http://127.0.0.1:{}/{form}", self.port);
        let settings = format!("providers: {{ odd: {{ kind: openai, base_url: '{url}' }} }}\n");
        std::fs::write(self.place.join("graphc.yaml"), settings).unwrap();
        let program = env!("CARGO_BIN_EXE_graphc");
        let mut command = Command::new("env");
        if cfg!(target_os = "linux") {
            command.arg("--default-signal=INT");
        }
        command.args([
            program, "run", "f.graph", "--store", "memory", "--stream", "messages",
        ]);
        command.current_dir(&self.place).stdin(Stdio::null());
        command
    }

    fn said(&self, form: &str, timeout: &str) -> (Option<i32>, String) {
        let output = self.run(form, timeout).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let said = text(output.stdout) + &text(output.stderr);
        (output.status.code(), said)
    }
}

/// Each of them took time that grew with the square of its size, or panicked.
#[test]
#[cfg(unix)]
fn streams_of_odd_forms_are_read_in_linear_time() {
    let odd = Odd::start("forms");
    for form in ["empty_lines", "mark", "many_calls"] {
        let (code, said) = odd.said(form, "60s");
        assert_eq!(code, Some(0), "{form}: {said}");
        assert!(said.contains(r#""ok""#), "{form}: {said}");
    }
    let (code, said) = odd.said("long_line", "60s");
    assert_eq!(code, Some(4), "{said}");
    let bound =
        "a line of the reply of `odd` is longer than 8 MiB, which is the most that is read of one";
    assert!(said.contains(bound), "{said}");
}

/// A server that sends without a pause holds up neither timers nor signals.
#[test]
#[cfg(unix)]
fn a_stream_without_end_ends_with_the_timeout_and_with_a_signal() {
    let mut odd = Odd::start("endless");
    let (code, said) = odd.said("endless", "300ms");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("timeout"), "{said}");
    let mut line = String::new();
    odd.said.read_line(&mut line).unwrap();
    let mut command = odd.run("endless", "10m");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    odd.said.read_line(&mut line).unwrap();
    assert_eq!(line, "endless\nendless\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
}
