//! Secrets in all forms, said back by a server, a program and a model: none is printed or kept.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::process::{folder, graphc, text};

/// Of the environment, of `.env`, of a file, and of the run.
const ENV: &str = "env-s3cr3t+key/with\"quote=end";
const DOTENV: &str = "dot-s3cr3t-value";
const FILE: &str = "file-s3cr3t-value";
const RUN: &str = "run-s3cr3t-value";

const FLOW: &str = "\
tool ask(q: string) -> json @effect(read)
tool program(q: string) -> json @effect(read)
tool fails(q: string) -> json @effect(read)
tool inner(q: string) -> json @effect(read)
model m = \"local/m\"
graph Main {
  state { out a: json = null, out b: json = null, out said: string = \"\" }
  start -> one -> two -> called -> talk -> last -> end
  node one:  call ask(q: \"x\") { set { a: result } }
  node two:  call program(q: \"x\") { set { b: result } }
  node called: call inner(q: \"x\") { set { a: result } }
  node talk: agent { model m, prompt \"go\", tools [ask], set { said: reply.text } }
  node last: call fails(q: \"x\") { set { a: result } }
}
";

/// What a tool of the flow runs: its calls are masked, and have the secrets of the run, as those of the flow itself.
const INNER: &str = "\
tool own(q: string) -> json @effect(read)
tool ask(q: string) -> json @effect(read)
model m = \"local/m\"
graph Inner {
  state { in q: string, out a: json = null, out words: string = \"\" }
  start -> one -> talk -> end
  node one:  call own(q: state.q) { set { a: result } }
  node talk: agent { model m, prompt \"go\", tools [ask], set { words: reply.text } }
}
";

const SETTINGS: &str = "\
providers:
  local: { kind: openai, base_url: \"${URL}/v1\", api_key: \"${DOT}\" }
tools:
  ask:
    http:
      url: \"${URL}/echo\"
      query: { k: \"${ENV_KEY}\", r: \"{{ secrets.RUN_KEY }}\" }
      headers: { X-File: \"${file:key.txt}\", Authorization: \"Bearer {{ secrets.RUN_KEY }}\" }
  program: { command: [sh, -c, 'echo \"{\\\"is\\\": \\\"$RUN_KEY\\\"}\"'], secrets: [RUN_KEY] }
  inner: { graph: { file: inner.graph } }
  own: { command: [sh, -c, 'echo \"{\\\"own\\\": \\\"$INNER_KEY\\\", \\\"run\\\": \\\"$RUN_KEY\\\"}\"'], env: { INNER_KEY: \"${file:key.txt}\" }, secrets: [RUN_KEY] }
  fails: { http: { method: POST, url: \"${URL}/fail\", body: \"${ENV_KEY}\" } }
";

#[test]
fn no_secret_is_printed_or_kept_in_any_form() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            answer(stream.unwrap(), number);
        }
    });
    let dotenv = format!("# of this folder\nDOT={DOTENV}\n");
    let folder = folder(
        "secrets",
        &[
            ("f.graph", FLOW),
            ("inner.graph", INNER),
            ("graphc.yaml", SETTINGS),
            (".env", &dotenv),
            ("key.txt", &format!("{FILE}\n")),
        ],
    );
    let run = |args: &[&str]| {
        let mut command = graphc(&folder, args);
        command
            .env("URL", &url)
            .env("ENV_KEY", ENV)
            .env("RUN_KEY", RUN);
        command.output().unwrap()
    };
    let lacks = run(&["run", "f.graph", "--thread", "t"]);
    assert_eq!(lacks.status.code(), Some(2));
    assert!(
        text(&lacks.stderr).contains("--secret RUN_KEY"),
        "{}",
        text(&lacks.stderr)
    );
    let literal = run(&["run", "f.graph", "--secret", "RUN_KEY=value"]);
    assert!(text(&literal.stderr).contains("a command line is no place for a secret"));

    let mut seen: Vec<(String, Vec<u8>)> = Vec::new();
    let mut commands: Vec<Vec<&str>> = vec![
        vec![
            "run",
            "f.graph",
            "--thread",
            "t",
            "--secret",
            "RUN_KEY",
            "--stream",
            "messages,updates,values,custom,debug",
        ],
        vec!["resume", "f.graph", "--thread", "t", "--secret", "RUN_KEY"],
    ];
    commands
        .extend(["show", "state", "history", "export"].map(|about| vec!["threads", about, "t"]));
    for args in &commands {
        let output = run(args);
        seen.push((format!("stdout of {args:?}"), output.stdout));
        seen.push((format!("stderr of {args:?}"), output.stderr));
    }
    for entry in std::fs::read_dir(folder.join(".graphc")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            seen.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    // All of it was there to be seen.
    let first = text(&seen[0].1);
    assert!(first.contains("I know *** and *** and 1"), "{first}");
    assert!(
        first.contains("\\\"is\\\"") || first.contains("{\"is\":\"***\"}"),
        "{first}"
    );
    assert!(
        first.contains(r#""a":{"own":"***","run":"***"}"#),
        "{first}"
    );
    assert!(first.contains("server_error"), "{first}");
    let forms = ["s3cr3t", "s3cr3t%2Bkey"].map(str::to_owned).into_iter();
    let forms: Vec<String> = forms
        .chain([ENV, DOTENV, FILE, RUN].into_iter().flat_map(in_base64))
        .collect();
    for (place, bytes) in &seen {
        let shown = text(bytes);
        for form in &forms {
            assert!(
                !shown.contains(form.as_str()),
                "`{form}` in {place}: {shown}"
            );
        }
        let for_people = place.starts_with("stderr") || place.contains("\"show\"");
        assert!(
            !for_people || !shown.contains(['\u{1b}', '\u{202e}']),
            "{place}: {shown}"
        );
    }
}

/// Also where a tool of a tool needs it.
#[test]
fn a_run_without_a_secret_that_it_needs_does_not_begin() {
    const CALLS: &str = "\
tool inner(q: string) -> json @effect(read)
graph Main {
  state { out a: json = null }
  start -> one
  node one: call inner(q: \"x\") -> end { set { a: result } }
}
";
    let folder = folder(
        "lacks",
        &[
            ("f.graph", CALLS),
            ("inner.graph", INNER),
            ("graphc.yaml", SETTINGS),
            ("key.txt", FILE),
        ],
    );
    let mut command = graphc(&folder, &["run", "f.graph", "--thread", "t"]);
    command.env("URL", "http://127.0.0.1:1").env("DOT", DOTENV);
    let output = command.env("ENV_KEY", ENV).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(
        said.contains("tool `own` needs the secret `RUN_KEY` of the run"),
        "{said}"
    );
}

/// The digits that stand for a text wherever it stands in a longer one.
fn in_base64(secret: &str) -> Vec<String> {
    let cut = |ahead: usize| {
        let digits = STANDARD.encode([&vec![0; ahead], secret.as_bytes()].concat());
        digits[(8 * ahead).div_ceil(6)..(8 * (ahead + secret.len())) / 6].to_owned()
    };
    (0..3).map(cut).collect()
}

fn answer(stream: TcpStream, number: usize) {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        head.push(line.trim().to_owned());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let target = head[0].clone();
    let (status, kind, body) = if target.contains("/echo") {
        let basic: Vec<String> = [ENV, DOTENV, FILE, RUN]
            .map(|key| STANDARD.encode(format!("user:{key}")))
            .into();
        let said = json!({ "target": target, "head": head, "basic": basic, "number": number });
        (200, "application/json", said.to_string())
    } else if target.contains("/fail") {
        let said =
            json!({ "error": { "message": format!("no \u{1b}[31m\u{202e} for {}", text(&body)) } });
        (500, "application/json", said.to_string())
    } else {
        (200, "text/event-stream", words(&text(&body)))
    };
    let mut stream = reader.into_inner();
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
}

/// A model that says secrets in pieces, and calls a tool with one; then says it is done.
fn words(asked: &str) -> String {
    let asked: Json = serde_json::from_str(asked).unwrap();
    let again = asked["messages"].to_string().contains("tool_call_id");
    let piece = |delta: Json, finish: Json| {
        let event = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        format!("data: {event}\n\n")
    };
    let mut said = String::new();
    let key = ENV.split_at(9);
    for text in [
        "I know dot-s3",
        "cr3t-va",
        "lue and ",
        key.0,
        key.1,
        if again { " and 1" } else { " and 0" },
    ] {
        said += &piece(json!({ "content": text }), Json::Null);
    }
    if !again {
        let arguments = json!({ "q": format!("{ENV} {RUN}") }).to_string();
        let call = json!({ "index": 0, "id": "c1", "type": "function", "function": { "name": "ask", "arguments": arguments } });
        said += &piece(json!({ "tool_calls": [call] }), Json::Null);
    }
    said += &piece(json!({}), json!(if again { "stop" } else { "tool_calls" }));
    said + "data: [DONE]\n\n"
}
