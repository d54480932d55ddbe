//! Sizes and counts of docs/runtime/bounds.md: what is beyond one fails, says which, and takes little memory.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

use super::process::{folder, graphc, measured, text};

/// The server of `server.py`; it ends with this.
struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/outside/server.py");
        let mut child = Command::new("python3")
            .arg(script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut port).unwrap();
        Self(child, format!("http://127.0.0.1:{}", port.trim()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a run is given, and what its error is.
struct Case {
    name: &'static str,
    flow: &'static str,
    settings: &'static str,
    kind: &'static str,
    says: &'static str,
}

/// A tool's result goes to the output.
const CALL: &str = "tool get() -> json
graph Main {
  state { out got: json = null }
  start -> one
  node one: call get() -> end { set { got: result } }
}
";

const CASES: [Case; 11] = [
    Case {
        name: "output",
        flow: CALL,
        settings: "tools: { get: { command: [python3, -c, \"print('x' * (20 << 20))\"] } }",
        kind: "tool_error",
        says: "16 MiB",
    },
    Case {
        name: "depth",
        flow: CALL,
        settings: "tools: { get: { command: [python3, -c, \"print('[' * 110 + ']' * 110)\"] } }",
        kind: "invalid_output",
        says: "100",
    },
    Case {
        name: "http",
        flow: CALL,
        settings: "tools: { get: { http: { url: \"SERVER/large/20\" } } }",
        kind: "invalid_request",
        says: "16 MiB",
    },
    Case {
        name: "rows",
        flow: "tool get() -> list<json>
graph Main {
  state { out got: list<json> = [] }
  start -> one
  node one: call get() -> end { set { got: result } }
}
",
        settings: "tools:
  get:
    sql:
      database: sqlite:rows.db
      query: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n
",
        kind: "tool_error",
        says: "1000 rows",
    },
    Case {
        name: "query",
        flow: CALL,
        settings: "tools:
  get:
    sql:
      database: sqlite:rows.db
      query: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) AS i FROM n
      result: value
    timeout: 1s
",
        kind: "timeout",
        says: "1s",
    },
    Case {
        name: "reply",
        flow: "model m = \"local/large\"
graph Main {
  state { out got: string = \"\" }
  start -> one
  node one: llm -> end { model m  prompt \"go\"  set { got: reply.text } }
}
",
        settings: "providers: { local: { kind: openai, base_url: \"SERVER/v1\" } }",
        kind: "invalid_request",
        says: "MiB",
    },
    Case {
        name: "text",
        flow: "graph Main {
  state { out got: string = \"x\", out n: int = 0 }
  start -> one
  node one: update { set { got: state.got + state.got, n: state.n + 1 }  goto { when state.n < 40 -> one, else -> end } }
}
",
        settings: "",
        kind: "expression",
        says: "16 MiB",
    },
    Case {
        name: "steps",
        flow: "graph Main {
  state { out got: int = 0 }
  start -> one
  node one: update -> end { set { got: size(range(30000).filter(a, range(30000).exists(b, b > a + 30000))) } }
}
",
        settings: "",
        kind: "expression",
        says: "10",
    },
    Case {
        name: "steps-of-a-template",
        flow: "graph Main {
  state { out got: string = \"\" }
  start -> one
  node one: interrupt -> end {
    ask \"{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}\"
    expect string
    set { got: answer }
  }
}
",
        settings: "",
        kind: "expression",
        says: "10",
    },
    Case {
        name: "super-steps",
        flow: "graph Main {
  state { out n: int = 0 }
  start -> one
  node one: update { set { n: state.n + 1 }  goto { when state.n < 5000 -> one, else -> end } }
}
",
        settings: "",
        kind: "recursion_limit",
        says: "1000",
    },
    Case {
        name: "tasks",
        flow: "graph Main {
  state { out n: list<int> via append }
  start -> each n in range(100001) -> one with { n: n }
  node one: update -> end { input { n: int }  set { n: [input.n] } }
}
",
        settings: "",
        kind: "recursion_limit",
        says: "100000",
    },
];

fn result(output: &std::process::Output) -> Json {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", text(&output.stdout), text(&output.stderr)))
}

#[test]
fn what_is_beyond_a_bound_fails_and_takes_little() {
    let server = Server::start();
    let mut wrong = Vec::new();
    for case in &CASES {
        let settings = case.settings.replace("SERVER", &server.1);
        let folder = folder(
            &format!("size-{}", case.name),
            &[
                ("f.graph", case.flow),
                ("graphc.yaml", &settings),
                ("rows.db", ""),
            ],
        );
        let args = ["run", "f.graph", "--store", "memory", "--timeout", "2m"];
        let (output, most) = measured(&folder, &args);
        let result = result(&output);
        let error = &result["error"];
        let message = error["message"].as_str().unwrap_or_default();
        if error["kind"] != case.kind || !message.contains(case.says) || most > 400 {
            wrong.push(format!("{}: {most} MB, {result}", case.name));
        }
        let _ = std::fs::remove_dir_all(&folder);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first 128 are made, the model is told of the others.
#[test]
fn a_reply_has_one_hundred_and_twenty_eight_calls_made() {
    let server = Server::start();
    let flow = "model m = \"local/calls\"
tool look(n: int) -> int @effect(read)
graph Main {
  state { out got: string = \"\" }
  start -> one
  node one: agent -> end { model m  prompt \"go\"  tools [look]  max_turns 3  set { got: reply.text } }
}
";
    let settings = format!(
        "providers: {{ local: {{ kind: openai, base_url: \"{}/v1\" }} }}\n\
         tools: {{ look: {{ command: [sh, -c, \"echo made >> made; echo 1\"] }} }}\n",
        server.1
    );
    let folder = folder("calls", &[("f.graph", flow), ("graphc.yaml", &settings)]);
    let output = graphc(&folder, &["run", "f.graph", "--store", "memory"])
        .output()
        .unwrap();
    assert_eq!(
        result(&output)["output"]["got"],
        "ok",
        "{}",
        text(&output.stderr)
    );
    let made = std::fs::read_to_string(folder.join("made")).unwrap();
    assert_eq!(made.lines().count(), 128);
}

#[test]
fn requests_are_two_hundred_and_fifty_six_at_a_time() {
    let server = Server::start();
    let flow = "tool slow(n: int) -> int @effect(read)
tool most() -> int @effect(read)
graph Main {
  state { out got: list<int> via append, out most: int = 0 }
  start -> each n in range(600) -> one with { n: n } then count
  node one: call slow(n: input.n) { input { n: int }  set { got: [result] } }
  node count: call most() -> end { set { most: result } }
}
";
    let settings = format!(
        "tools:\n  slow: {{ http: {{ url: \"{0}/slow\" }} }}\n  most: {{ http: {{ url: \"{0}/most\" }} }}\n",
        server.1
    );
    let folder = folder("requests", &[("f.graph", flow), ("graphc.yaml", &settings)]);
    let output = graphc(&folder, &["run", "f.graph", "--store", "memory"])
        .output()
        .unwrap();
    let most = result(&output)["output"]["most"].as_u64().unwrap();
    assert!((200..=256).contains(&most), "{most}");
}

/// A file of 17 MiB in each place where one is read.
#[test]
fn a_file_beyond_sixteen_mib_is_not_read() {
    let large = "#".repeat(17 << 20);
    let input = json!({ "got": "x".repeat(17 << 20) }).to_string();
    let flow = "prompt p() = file \"p.md\"
graph Main {
  state { in out got: string = \"\" }
  start -> one
  node one: update -> end { set { got: state.got } }
}
";
    let small = [
        ("f.graph", flow),
        ("p.md", "hi"),
        ("graphc.yaml", "{}"),
        ("in.json", "{}"),
    ];
    for (name, text_of) in [
        ("f.graph", &large),
        ("p.md", &large),
        ("graphc.yaml", &large),
        ("in.json", &input),
    ] {
        let files = small.map(|(file, text)| (file, if file == name { text_of } else { text }));
        let folder: PathBuf = folder("file", &files);
        let args = ["run", "f.graph", "--store", "memory", "--input", "@in.json"];
        let (output, most) = measured(Path::new(&folder), &args);
        assert!(!output.status.success(), "{name}: {}", text(&output.stdout));
        assert!(
            text(&output.stderr).contains("16 MiB"),
            "{name}: {}",
            text(&output.stderr)
        );
        assert!(most < 200, "{name}: {most} MB");
    }
}
