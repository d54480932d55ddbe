//! Traces and metrics as a real receiver has them: Rotel, an OpenTelemetry collector (PyPI `rotel`), prints all that it was sent.

use crate::install;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for what comes at once.
const SOON: Duration = Duration::from_secs(60);

/// The receiver. What it prints goes to a file.
struct Receiver {
    child: Child,
    port: u16,
    printed: PathBuf,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Receiver {
    fn start(folder: &Path) -> Self {
        let place = install::python(&["rotel==0.0.1a15"]);
        let lib = std::fs::read_dir(place.join("lib")).unwrap();
        let program = lib
            .map(|python| {
                python
                    .unwrap()
                    .path()
                    .join("site-packages/rotel/rotel-agent")
            })
            .find(|program| program.is_file())
            .unwrap();
        let port = free_port();
        let printed = folder.join("received.txt");
        let child = Command::new(program)
            .args(["start", "--exporter", "blackhole"])
            .args(["--debug-log", "traces", "--debug-log", "metrics"])
            .args(["--debug-log-verbosity", "detailed"])
            .args(["--otlp-http-endpoint", &format!("127.0.0.1:{port}")])
            .args([
                "--otlp-grpc-endpoint",
                &format!("127.0.0.1:{}", free_port()),
            ])
            .stdin(Stdio::null())
            .stdout(File::create(&printed).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < SOON, "the receiver does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self {
            child,
            port,
            printed,
        }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All that it has printed, once that has `wanted` in it.
    fn text_with(&self, wanted: &str) -> String {
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(&self.printed).unwrap();
            if text.contains(wanted) {
                // It prints a request in pieces.
                std::thread::sleep(Duration::from_millis(500));
                if std::fs::read_to_string(&self.printed).unwrap() == text {
                    return text;
                }
            }
            assert!(begun.elapsed() < SOON, "no `{wanted}` in:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The spans that it has, once there is one whose name begins so.
    fn spans_with(&self, name: &str) -> Vec<Span> {
        spans(&self.text_with(&format!("Name           : {name}")))
    }
}

/// A span as the receiver prints it.
#[derive(Debug, Clone, Default)]
struct Span {
    trace: String,
    parent: String,
    id: String,
    name: String,
    kind: String,
    status: String,
    attributes: BTreeMap<String, String>,
    events: Vec<String>,
}

fn spans(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut in_event = false;
    for line in text.lines() {
        if line.starts_with("Span #") {
            spans.push(Span::default());
            in_event = false;
            continue;
        }
        let Some(span) = spans.last_mut() else {
            continue;
        };
        if line.starts_with("ResourceMetrics") || line.starts_with("ResourceSpans") {
            in_event = true;
        }
        let line = line.trim();
        if line.starts_with("Events:") || line.starts_with("SpanEvent #") {
            in_event = true;
        }
        if let Some(attribute) = line.strip_prefix("-> ") {
            let (key, value) = attribute.split_once(':').unwrap();
            let value = value.trim();
            let value = value
                .split_once('(')
                .map_or(value, |(_, inner)| inner.strip_suffix(')').unwrap_or(inner));
            match in_event {
                true => span.events.push(format!("{key}={value}")),
                false => {
                    span.attributes.insert(key.to_owned(), value.to_owned());
                }
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().to_owned();
        match key.trim() {
            _ if in_event => {}
            "Trace ID" => span.trace = value,
            "Parent ID" => span.parent = value,
            "ID" => span.id = value,
            "Name" => span.name = value,
            "Kind" => span.kind = value,
            "Status code" => span.status = value,
            _ => {}
        }
    }
    spans
}

/// `name < name around it < ..`, with the trace's top as the last.
fn paths(spans: &[Span]) -> Vec<String> {
    let by_id: BTreeMap<&str, &Span> = spans.iter().map(|span| (&*span.id, span)).collect();
    let mut paths: Vec<String> = spans
        .iter()
        .map(|span| {
            let mut names = vec![span.name.as_str()];
            let mut inner = span;
            while let Some(around) = by_id.get(&*inner.parent) {
                names.push(&around.name);
                inner = around;
            }
            names.join(" < ")
        })
        .collect();
    paths.sort();
    paths
}

/// The model's server: what it answers hangs on what it is asked. It ends with this value.
struct Model {
    child: Child,
    port: u16,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Model {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/telemetry/model.py"))
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut printed = child.stdout.take().unwrap();
        let mut byte = [0];
        while printed.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            port.push(byte[0].into());
        }
        let port = port.parse().unwrap();
        Self { child, port }
    }
}

const KEY: &str = "k-very-secret-0123";
const HEADER: &str = "h-very-secret-4567";

/// A folder with the flows, and a command that runs one there.
struct Project {
    folder: tempfile::Folder,
    model: Model,
}

impl Project {
    fn new(name: &str) -> Self {
        let folder = tempfile::Folder::new(name);
        let flows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/telemetry");
        for entry in std::fs::read_dir(flows).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        let model = Model::start(folder.path());
        Self { folder, model }
    }

    /// `graphc` with these arguments, whose telemetry goes to `endpoint`.
    fn command(&self, endpoint: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env(
                "MODEL_URL",
                format!("http://127.0.0.1:{}/v1", self.model.port),
            )
            .env("MODEL_KEY", KEY)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
            .env("OTEL_EXPORTER_OTLP_HEADERS", format!("api-key={HEADER}"))
            .env("OTEL_SERVICE_NAME", "desk-service")
            .env_remove("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, endpoint: &str, graph: &str, question: &str) -> Output {
        let question = format!("question={question}");
        let args = ["run", "desk.graph", "--graph", graph, "-i", &question];
        self.command(endpoint, &args).output().unwrap()
    }
}

/// A folder that is removed in the end.
mod tempfile {
    use std::path::{Path, PathBuf};

    pub struct Folder(PathBuf);

    impl Folder {
        pub fn new(name: &str) -> Self {
            let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let folder = tmp.join(format!("telemetry-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        pub fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn ended(output: &Output, status: i32) {
    let err = String::from_utf8_lossy(&output.stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{out}\n{err}");
}

/// What of the spans names the one: it is the only of that name.
fn only<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let named: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(named.len(), 1, "{name}: {spans:#?}");
    named[0]
}

#[track_caller]
fn has(span: &Span, attributes: &[(&str, &str)]) {
    for (name, value) in attributes {
        let known = span.attributes.get(*name).map(String::as_str);
        assert_eq!(known, Some(*value), "{name} of {span:#?}");
    }
}

#[test]
fn spans_nest_over_agents_tools_fan_outs_and_called_graphs() {
    let project = Project::new("nest");
    let receiver = Receiver::start(project.folder.path());
    ended(&project.run(&receiver.address(), "Desk", "what is it"), 0);
    let spans = receiver.spans_with("invoke_workflow Desk");
    let top = "invoke_workflow Desk";
    let agent = format!("invoke_agent answer < {top}");
    let tool = format!("execute_tool other < {agent}");
    let mut wanted = vec![
        top.to_owned(),
        agent.clone(),
        format!("chat small < {agent}"),
        format!("chat small < {agent}"),
        format!("execute_tool look < {agent}"),
        tool.clone(),
        format!("invoke_workflow Other < {tool}"),
        format!("task say < invoke_workflow Other < {tool}"),
        format!("chat small < task say < invoke_workflow Other < {tool}"),
        format!("task parts < {top}"),
        format!("task parts < {top}"),
        format!("task write < task parts < {top}"),
        format!("task write < task parts < {top}"),
        format!("chat small < task write < task parts < {top}"),
        format!("chat small < task write < task parts < {top}"),
    ];
    wanted.sort();
    assert_eq!(paths(&spans), wanted);
    let trace = &spans[0].trace;
    assert!(spans.iter().all(|span| span.trace == *trace));
    let chat = spans.iter().find(|span| span.name == "chat small");
    let chat = chat.unwrap();
    assert_eq!(chat.kind, "SPAN_KIND_CLIENT");
    has(
        chat,
        &[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", "openai"),
            ("gen_ai.request.model", "small"),
            ("gen_ai.request.max_tokens", "50"),
            ("gen_ai.usage.input_tokens", "11"),
            ("gen_ai.usage.output_tokens", "7"),
            ("graphc.model", "writer"),
        ],
    );
    has(
        only(&spans, "execute_tool look"),
        &[
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "look"),
            ("gen_ai.tool.call.id", "c1"),
        ],
    );
    let sends = spans.iter().filter(|span| span.name == "task parts");
    let mut sends: Vec<_> = sends.map(|span| &span.attributes["graphc.send"]).collect();
    sends.sort();
    assert_eq!(sends, ["0", "1"]);
    let text = receiver.text_with("gen_ai.execute_tool.duration");
    assert!(text.contains("service.name: Str(desk-service)"), "{text}");
    for metric in [
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.invoke_agent.duration",
    ] {
        assert!(
            text.contains(&format!("Name: {metric}")),
            "{metric}: {text}"
        );
    }
    // Five replies of 11 and 7 tokens.
    assert!(
        text.contains("Sum: 55") && text.contains("Sum: 35"),
        "{text}"
    );
    for hidden in [KEY, HEADER, "what is it", "found it", "the reply"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}

#[test]
fn errors_have_their_kind_and_retries_are_events() {
    let project = Project::new("fail");
    let receiver = Receiver::start(project.folder.path());
    ended(&project.run(&receiver.address(), "One", "bad"), 4);
    let spans = receiver.spans_with("invoke_workflow One");
    for name in ["chat small", "task ask", "invoke_workflow One"] {
        let span = only(&spans, name);
        assert_eq!(span.status, "STATUS_CODE_ERROR", "{span:#?}");
        has(span, &[("error.type", "invalid_request")]);
    }
    has(
        only(&spans, "invoke_workflow One"),
        &[("graphc.run.status", "failed")],
    );
    ended(&project.run(&receiver.address(), "One", "busy"), 0);
    let text = receiver.text_with("graphc.run.status: Str(done)");
    let spans = spans_of(&text, "done");
    let chat = only(&spans, "chat small");
    assert_ne!(chat.status, "STATUS_CODE_ERROR");
    assert!(
        chat.events.contains(&"error.type=rate_limit".to_owned()),
        "{chat:#?}"
    );
    // The provider's own words may hold what it was asked.
    assert!(!text.contains("do not like"), "{text}");
}

/// The spans of the run that ended so.
fn spans_of(text: &str, status: &str) -> Vec<Span> {
    let all = spans(text);
    let ended = |span: &&Span| {
        span.attributes
            .get("graphc.run.status")
            .is_some_and(|s| s == status)
    };
    let trace = all.iter().find(ended).unwrap().trace.clone();
    all.into_iter().filter(|span| span.trace == trace).collect()
}

#[test]
fn a_resume_goes_on_with_the_trace() {
    let project = Project::new("resume");
    let receiver = Receiver::start(project.folder.path());
    let address = receiver.address();
    let run = [
        "run",
        "desk.graph",
        "--graph",
        "Ask",
        "--thread",
        "t1",
        "-i",
        "question=x",
    ];
    ended(&project.command(&address, &run).output().unwrap(), 3);
    receiver.text_with("graphc.run.status: Str(interrupted)");
    let resume = ["resume", "desk.graph", "--thread", "t1", "--answer", "true"];
    ended(&project.command(&address, &resume).output().unwrap(), 0);
    let text = receiver.text_with("graphc.run.status: Str(done)");
    let spans = spans(&text);
    let runs: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "invoke_workflow Ask")
        .collect();
    assert_eq!(runs.len(), 2, "{spans:#?}");
    assert_eq!(runs[0].trace, runs[1].trace);
    assert_ne!(runs[0].id, runs[1].id);
    has(
        runs[0],
        &[
            ("graphc.run.resumed", "false"),
            ("gen_ai.conversation.id", "t1"),
        ],
    );
    has(runs[1], &[("graphc.run.resumed", "true")]);
    let asks: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "task confirm")
        .collect();
    has(asks[0], &[("graphc.interrupted", "true")]);
    // The journal has the reply: the model is asked once.
    only(&spans, "chat small");
}

#[test]
fn what_is_under_way_at_ctrl_c_is_sent() {
    let project = Project::new("cancel");
    let receiver = Receiver::start(project.folder.path());
    let args = ["run", "desk.graph", "--graph", "One", "-i", "question=slow"];
    let mut command = project.command(&receiver.address(), &args);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = project.folder.path().join("asked");
    let begun = Instant::now();
    while !asked.exists() {
        assert!(begun.elapsed() < SOON, "the model was not asked");
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    ended(&child.wait_with_output().unwrap(), 130);
    let spans = receiver.spans_with("invoke_workflow One");
    for name in ["chat small", "task ask", "invoke_workflow One"] {
        has(only(&spans, name), &[("error.type", "cancelled")]);
    }
}

#[test]
fn messages_are_told_where_asked_for_and_without_secrets() {
    let project = Project::new("content");
    let receiver = Receiver::start(project.folder.path());
    let question = format!("question=the key is {KEY} and {HEADER}, is it?");
    let args = ["run", "desk.graph", "--graph", "Desk", "-i", &question];
    let mut command = project.command(&receiver.address(), &args);
    let command = command.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    ended(&command.output().unwrap(), 0);
    let text = receiver.text_with("invoke_workflow Desk");
    for told in [
        "the key is *** and ***, is it?",
        "the reply",
        "gen_ai.tool.call.arguments",
        "found it",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    for hidden in [KEY, HEADER] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}

/// A run whose receiver is not as it should be is done all the same, and one warning says so.
fn is_done_with_a_warning(endpoint: &str) -> String {
    let project = Project::new(&format!("without-{}", endpoint.len()));
    let begun = Instant::now();
    let output = project.run(endpoint, "One", "x");
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    ended(&output, 0);
    let err = String::from_utf8(output.stderr).unwrap();
    let warnings = err.lines().filter(|line| line.contains("telemetry"));
    assert_eq!(warnings.count(), 1, "{err}");
    assert!(!err.contains(HEADER), "{err}");
    err
}

#[test]
fn a_receiver_that_is_absent_fails_no_run() {
    let absent = format!("http://127.0.0.1:{}", free_port());
    is_done_with_a_warning(&absent);
    let project = Project::new("absent-logged");
    let args = ["run", "desk.graph", "--graph", "One", "-i", "question=x"];
    let mut command = project.command(&absent, &args);
    let output = command.env("GRAPHC_LOG", "warn").output().unwrap();
    ended(&output, 0);
    let err = String::from_utf8(output.stderr).unwrap();
    let wanted = "WARN graphc::telemetry: telemetry not sent reason=";
    assert!(err.contains(wanted) && !err.contains(HEADER), "{err}");
}

#[test]
fn a_receiver_that_hangs_fails_no_run() {
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!(
        "http://127.0.0.1:{}/hangs",
        hangs.local_addr().unwrap().port()
    );
    let err = is_done_with_a_warning(&address);
    assert!(err.contains("has not answered within 2s"), "{err}");
}

#[test]
fn nothing_is_sent_unless_asked_for_and_one_line_of_the_settings_does() {
    let project = Project::new("settings");
    let receiver = Receiver::start(project.folder.path());
    let plain = |profile: &str| {
        let args = [
            "--profile",
            profile,
            "run",
            "desk.graph",
            "--graph",
            "One",
            "-i",
            "question=x",
        ];
        let mut command = project.command("", &args);
        command
            .env("RECEIVER", receiver.address())
            .env_remove("OTEL_SERVICE_NAME");
        ended(&command.output().unwrap(), 0);
    };
    plain("quiet");
    plain("traced");
    let text = receiver.text_with("invoke_workflow One");
    let spans = spans(&text);
    assert_eq!(spans.len(), 3, "{spans:#?}");
    assert!(text.contains("service.name: Str(from-settings)"), "{text}");
}

#[test]
fn a_run_that_the_timeout_of_its_tool_ends_is_sent_whole() {
    let project = Project::new("hang");
    let receiver = Receiver::start(project.folder.path());
    let args = ["run", "desk.graph", "--graph", "Hang"];
    let mut command = project.command(&receiver.address(), &args);
    ended(&command.output().unwrap(), 4);
    let spans = receiver.spans_with("invoke_workflow Hang");
    has(
        only(&spans, "execute_tool hang"),
        &[("error.type", "timeout")],
    );
    for name in ["invoke_workflow Other", "task say", "chat small"] {
        has(only(&spans, name), &[("error.type", "cancelled")]);
    }
}

#[test]
fn each_line_of_a_conversation_is_a_trace() {
    let project = Project::new("chat");
    let receiver = Receiver::start(project.folder.path());
    let lines = project.folder.path().join("lines");
    std::fs::write(&lines, "one\ntwo\n").unwrap();
    let args = [
        "chat",
        "desk.graph",
        "--graph",
        "Talk",
        "--thread",
        "c",
        "--store",
        "memory",
    ];
    let mut command = project.command(&receiver.address(), &args);
    command.stdin(File::open(lines).unwrap());
    ended(&command.output().unwrap(), 0);
    let spans = receiver.spans_with("invoke_workflow Talk");
    let runs = spans
        .iter()
        .filter(|span| span.name == "invoke_workflow Talk");
    let runs: Vec<&Span> = runs.collect();
    assert_eq!(runs.len(), 2, "{spans:#?}");
    assert_ne!(runs[0].trace, runs[1].trace);
    for run in runs {
        has(run, &[("gen_ai.conversation.id", "c")]);
    }
}

#[test]
fn a_secret_of_the_run_is_masked() {
    let project = Project::new("secret");
    let receiver = Receiver::start(project.folder.path());
    let secret = "s-very-secret-8901";
    let question = format!("question=is it {secret}?");
    let args = [
        "run",
        "desk.graph",
        "--graph",
        "One",
        "--thread",
        secret,
        "--store",
        "memory",
        "--secret",
        "TOKEN",
        "--log",
        "trace",
        "-i",
        &question,
    ];
    let mut command = project.command(&receiver.address(), &args);
    command
        .env("TOKEN", secret)
        .env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let output = command.output().unwrap();
    ended(&output, 0);
    let text = receiver.text_with("invoke_workflow One");
    assert!(
        text.contains("is it ***?") && !text.contains(secret),
        "{text}"
    );
    let logs = String::from_utf8(output.stderr).unwrap();
    assert!(
        logs.contains("call ended") && !logs.contains(secret),
        "{logs}"
    );
    for hidden in [KEY, HEADER, "is it", "the reply"] {
        assert!(!logs.contains(hidden), "{hidden} in {logs}");
    }
}

#[test]
fn an_evaluation_sends_the_runs_that_ask_real_models() {
    let project = Project::new("evaluate");
    let receiver = Receiver::start(project.folder.path());
    let args = [
        "evaluate",
        "ask.evaluate.yaml",
        "--repeats",
        "2",
        "--log",
        "info",
    ];
    let mut command = project.command(&receiver.address(), &args);
    let output = command.output().unwrap();
    ended(&output, 0);
    let spans = receiver.spans_with("invoke_workflow One");
    let runs = spans
        .iter()
        .filter(|span| span.name == "invoke_workflow One");
    let runs: Vec<&Span> = runs.collect();
    assert_eq!(runs.len(), 2, "{spans:#?}");
    assert_ne!(runs[0].trace, runs[1].trace);
    for run in runs {
        has(run, &[("gen_ai.conversation.id", "real")]);
    }
    let logs = String::from_utf8(output.stderr).unwrap();
    let ended = logs.lines().filter(|line| line.contains("run ended"));
    assert_eq!(ended.count(), 2, "{logs}");
}

#[test]
fn another_protocol_is_warned_of() {
    let project = Project::new("protocol");
    let receiver = Receiver::start(project.folder.path());
    let args = ["run", "desk.graph", "--graph", "One", "-i", "question=x"];
    let mut command = project.command(&receiver.address(), &args);
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let output = command.output().unwrap();
    ended(&output, 0);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.contains("`grpc`; telemetry is sent as `http/json`"),
        "{err}"
    );
    receiver.spans_with("invoke_workflow One");
}
