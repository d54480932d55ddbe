//! The numbers of docs/runtime/bounds.md.

use std::time::Duration;

use graphc::embed::{
    CallContext, EngineBuilder, ErrorKind, RunOptions, ToolBackend, ToolCall, ToolError,
    async_trait, load,
};
use serde_json::{Value as Json, json};

use super::process::{folder, graphc, text};

/// 8 MB that each step writes anew.
#[cfg(target_os = "linux")]
#[test]
fn what_waits_to_be_written_is_bounded_in_bytes() {
    const FLOW: &str = "graph Main {
  state { in big: string, out n: int = 0, out copy: string = \"\" }
  start -> w
  node w: update { set { copy: state.big + string(state.n), n: state.n + 1 }  goto { when state.n < 40 -> w, else -> end } }
}
";
    let input = json!({ "big": "x".repeat(8_000_000) }).to_string();
    let folder = folder("bytes", &[("big.graph", FLOW), ("in.json", &input)]);
    for durability in ["async", "exit"] {
        let (output, most) = super::process::measured(
            &folder,
            &[
                "run",
                "big.graph",
                "--input",
                "@in.json",
                "--store",
                "sqlite:t.db",
                "--durability",
                durability,
            ],
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(most < 200, "{durability}: {most} MB");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// One placeholder that would take gigabytes.
#[cfg(target_os = "linux")]
#[test]
fn a_template_takes_no_more_than_its_bound() {
    let input = json!({ "xs": vec![1; 100_000], "s": "a".repeat(100_000) }).to_string();
    for (number, placeholder) in [
        "{{ state.xs | join(state.s) }}",
        "{{ state.s | replace('a', state.s) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{% for i in range(10000) %}{{ state.s }}{% endfor %}",
        "{{ state.s.replace('a', state.s) }}",
        "{% set ns = namespace(t=state.s) %}{% for i in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}",
        "{% set ns = namespace(t=[]) %}{% for i in range(9999) %}{% set ns.t = [ns.t, state.s ~ i] %}{% endfor %}",
        "{% for i in range(10000) %}{% set t %}{{ state.s }}{% endset %}{% endfor %}",
    ]
    .iter()
    .enumerate()
    {
        let flow = format!(
            "graph Main {{\n  state {{ in xs: list<int>, in s: string, out said: string = \"\" }}\n  start -> ask\n  \
             node ask: interrupt -> end {{ ask \"{placeholder}\" expect string set {{ said: answer }} }}\n}}\n"
        );
        let name = format!("template-{number}");
        let folder = folder(&name, &[("t.graph", &flow), ("in.json", &input)]);
        let args = ["run", "t.graph", "--input", "@in.json", "--store", "memory"];
        let (output, most) = super::process::measured(&folder, &args);
        assert_eq!(
            output.status.code(),
            Some(if placeholder.contains("format") { 1 } else { 4 }),
            "{placeholder}: {}",
            text(&output.stderr)
        );
        assert!(most < 300, "{placeholder}: {most} MB");
    }
}

/// What computes for long: an expression of nine million steps, and a template of as many.
const LONG: [&str; 2] = [
    "node one: update -> end { set { got: string(range(3000).filter(a, range(3000).all(b, a + b >= 0)).size()) } }",
    "node one: interrupt -> end {
    ask \"{% for a in range(9999) %}{% for b in range(280) %}{% if a > b %}{% endif %}{% endfor %}{% endfor %}\"
    expect string
    set { got: answer }
  }",
];

fn long(name: &str, node: &str) -> std::path::PathBuf {
    let flow = format!(
        "graph Main {{\n  state {{ in s: string, out got: string = \"\" }}\n  start -> one\n  {node}\n}}\n"
    );
    let input = json!({ "s": "a".repeat(4_000_000) }).to_string();
    folder(name, &[("l.graph", &flow), ("in.json", &input)])
}

#[test]
fn a_timeout_gets_through_to_what_computes() {
    for (number, node) in LONG.iter().enumerate() {
        let folder = long(&format!("late-{number}"), node);
        let args = [
            "run",
            "l.graph",
            "--input",
            "@in.json",
            "--store",
            "memory",
            "--timeout",
            "200ms",
        ];
        let output = graphc(&folder, &args).output().unwrap();
        let result: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["error"]["kind"], "timeout", "{node}: {result}");
    }
}

#[test]
fn a_signal_gets_through_to_what_computes() {
    for (number, node) in LONG.iter().enumerate() {
        let folder = long(&format!("signal-{number}"), node);
        let args = [
            "run",
            "l.graph",
            "--input",
            "@in.json",
            "--store",
            "sqlite:t.db",
        ];
        let child = graphc(&folder, &args).spawn().unwrap();
        // The beginning is kept before anything is computed.
        while !folder.join("t.db-wal").exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        let id = child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(130),
            "{node}: {}",
            text(&output.stderr)
        );
    }
}

/// The most programs that ran at a time, as they themselves say.
fn at_a_time(name: &str, bound: &str) -> usize {
    const FLOW: &str = "tool slow(n: int) -> int
graph Main {
  state { out got: list<int> via append }
  start -> each n in range(100) -> one with { n: n }
  node one: call slow(n: input.n) -> end { input { n: int } set { got: [result] } }
}
";
    let settings = format!(
        "tools:\n  slow: {{ command: [sh, -c, \"echo begin >> log; sleep 0.5; echo end >> log; echo 1\"]{bound} }}\n"
    );
    let folder = folder(name, &[("fan.graph", FLOW), ("graphc.yaml", &settings)]);
    let output = graphc(&folder, &["run", "fan.graph", "--store", "memory"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let (mut now, mut most) = (0_usize, 0);
    for line in log.lines() {
        match line {
            "begin" => now += 1,
            _ => now -= 1,
        }
        most = most.max(now);
    }
    assert_eq!(log.lines().count(), 200);
    most
}

#[test]
fn programs_run_sixty_four_at_a_time() {
    let most = at_a_time("fan", "");
    assert!((2..=64).contains(&most), "{most}");
}

#[test]
fn a_tool_runs_as_often_at_a_time_as_it_says() {
    let most = at_a_time("fan-3", ", max_concurrency: 3");
    assert!((1..=3).contains(&most), "{most}");
}

/// A tool that never ends.
struct Hangs;

#[async_trait]
impl ToolBackend for Hangs {
    async fn call(&self, _: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_cancelled_run_ends_a_tool_that_hangs() {
    const FLOW: &str = "tool hang() -> string @effect(write)
graph Main {
  state { out a: string = \"\" }
  start -> one
  node one: call hang() -> end { set { a: result } }
}
";
    let folder = folder("hang", &[("hang.graph", FLOW)]);
    let flow = load(folder.join("hang.graph")).unwrap();
    let engine = EngineBuilder::new(flow)
        .tool("hang", Hangs)
        .build()
        .unwrap();
    let options = RunOptions {
        cancel_grace: Some(Duration::from_millis(50)),
        ..RunOptions::default()
    };
    let cancel = options.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let entry = engine.entry().unwrap();
    let result = engine.start(entry, "t", &json!({}), options).await.unwrap();
    let error = result.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert!(error.message.contains("had not ended"), "{}", error.message);
}

/// The run is at its end: who tries it again by its status would do all once more.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_no_run_that_did_not_start() {
    const FLOW: &str = "graph Main {
  state { out n: int = 0 }
  start -> x
  node x: update -> end { set { n: 1 } }
}
";
    let folder = folder("full", &[("f.graph", FLOW)]);
    for more in [&[][..], &["--stream", "updates"][..]] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let args = [
            &["run", "f.graph", "--store", "sqlite:t.db", "--thread", "t"][..],
            more,
        ]
        .concat();
        let output = graphc(&folder, &args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("could not write to stdout"));
    }
}

/// Texts whose work would grow with the square of their size.
#[test]
fn settings_are_read_in_linear_time() {
    let deep = format!("x: {}", "[".repeat(100_000));
    let many: String = (0..50_000)
        .map(|n| format!("  t{n}: {{ command: [x] }}\n"))
        .collect();
    let many = format!("tools:\n{many}");
    for (text_of, says) in [
        (&deep, "brackets are open"),
        (&many, "more than 1000 entries"),
    ] {
        let flow = "graph A { state { out n: int = 0 } start -> x node x: update -> end { set { n: 1 } } }\n";
        let folder = folder("linear", &[("a.graph", flow), ("graphc.yaml", text_of)]);
        let output = graphc(&folder, &["check"]).output().unwrap();
        assert!(
            text(&output.stderr).contains(says),
            "{}",
            text(&output.stderr)
        );
    }
}
