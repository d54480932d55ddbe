//! `graphc check --online`: what a flow needs is tried, on real servers of each kind, and none is asked for anything that costs or has an
//! effect. The talks are in tests/online, with the files of tests/online/flows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::cluster::Cluster;
use crate::talk::project;
use crate::{install, talk};

/// A test that waits longer than this for something has failed.
const LONGEST: Duration = Duration::from_secs(120);

#[test]
fn talks_go_as_they_are_written() {
    if install::said("python3", &["--version"]).is_none() {
        install::apt("python3");
    }
    let packages = install::npm(&["@copilotkit/aimock@1.43.0"]);
    let path = std::env::var("PATH").unwrap();
    let files = |_: &str| project("tests/online/flows");
    talk::play("tests/online", &files, (&path, &packages));
}

/// A fresh folder with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("online-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

fn online(folder: &Path, env: &[(&str, &str)]) -> Command {
    // Whoever starts the tests may ignore signals, as a shell does for what is in its background.
    let mut command = match cfg!(target_os = "linux") {
        true => Command::new("env"),
        false => Command::new(env!("CARGO_BIN_EXE_graphc")),
    };
    if cfg!(target_os = "linux") {
        command.args(["--default-signal=INT", env!("CARGO_BIN_EXE_graphc")]);
    }
    command
        .args(["check", "--online", "--format", "json"])
        .current_dir(folder)
        .envs(env.iter().copied())
        .stdin(Stdio::null());
    command
}

const QUERY: &str = r#"
tool orders(n: int) -> json @timeout(9s) @effect(read)
graph Main {
  state { out x: json = null }
  start -> a
  node a: call orders(n: 1) -> end { set { x: result } }
}
"#;

#[test]
fn databases_are_connected_to_and_read() {
    let settings = r#"
store: "${STORE_URL}"
tools: { orders: { sql: { database: "${ORDERS_URL}", query: "SELECT :n::int AS n" } } }
"#;
    let folder = folder("postgres", &[("a.graph", QUERY), ("graphc.yaml", settings)]);
    let cluster = Cluster::start(&[]);
    let url = cluster.url_of("nothing_is_made");
    let gone = "postgres://somebody:hush-hush@127.0.0.1:1/shop";
    for (store, orders, expected) in [
        (&*url, &*url, ["ok", "ok"]),
        (gone, &*url, ["missing", "ok"]),
        (&*url, gone, ["ok", "missing"]),
    ] {
        let env = [("STORE_URL", store), ("ORDERS_URL", orders)];
        let output = online(&folder, &env).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Json> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|row: &Json| row.get("probe").is_some())
            .collect();
        let state = |what: &str| {
            let row = rows.iter().find(|row| row["probe"] == what).unwrap();
            row["state"].as_str().unwrap().to_owned()
        };
        assert_eq!([state("store"), state("tool")], expected, "{text}");
        assert!(
            !text.contains("hush-hush") && !text.contains("somebody"),
            "{text}"
        );
        let status = i32::from(expected.contains(&"missing"));
        assert_eq!(output.status.code(), Some(status), "{text}");
    }
    // The store's schema was not made by looking.
    let server = graphc::store::Server::parse(&url, Path::new(".")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let count: i64 = runtime.block_on(async {
        let connection = server.connect().await.unwrap();
        let made = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'nothing_is_made'";
        connection.client.query_one(made, &[]).await.unwrap().get(0)
    });
    assert_eq!(count, 0);
}

const ASKING: &str = r#"
model writer = "silent/some"
tool look(n: int) -> json @timeout(9s) @effect(read)
graph Main {
  state { out x: json = null }
  start -> a
  node a: call look(n: 1) -> b { set { x: result } }
  node b: llm -> end { model writer prompt "Hello." set { x: reply.text } }
}
"#;

#[test]
fn ctrl_c_ends_it_and_what_it_has_started() {
    let settings = r#"
store: memory
providers: { silent: { kind: openai, base_url: "${SILENT_URL}" } }
mcp_servers: { slow: { command: [sh, slow.sh] } }
tools: { look: { mcp: { server: slow } } }
"#;
    let files = [
        ("a.graph", ASKING),
        ("graphc.yaml", settings),
        ("slow.sh", "echo $$ > started.txt\nsleep 600\n"),
    ];
    let folder = folder("ctrl-c", &files);
    // It takes connections and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut command = online(&folder, &[("SILENT_URL", &silent)]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (asked, _) = listener.accept().unwrap();
    let begun = Instant::now();
    let started = folder.join("started.txt");
    let server = loop {
        let text = std::fs::read_to_string(&started).unwrap_or_default();
        if let Ok(id) = text.trim().parse::<u32>() {
            break id;
        }
        assert!(begun.elapsed() < LONGEST, "the server is not started");
        std::thread::sleep(Duration::from_millis(20));
    };
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupted.unwrap().success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < LONGEST, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
    let alive = || {
        let mut ps = Command::new("ps");
        let output = ps
            .args(["-o", "stat=", "-p", &server.to_string()])
            .output()
            .unwrap();
        let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        !state.is_empty() && !state.starts_with('Z')
    };
    while alive() {
        assert!(begun.elapsed() < LONGEST, "the server lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(asked);
}
