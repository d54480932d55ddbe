//! Programs as tools.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::backend::mask;
use graphc::backend::secret::{Secret, Secrets};
use graphc::backend::tool::command::CommandTool;
use graphc::ir::ErrorKind;
use graphc::project::spec::command::CommandSpec;
use graphc::project::spec::command::absent::{Absent, absent};
use graphc::run::model::CallContext;
use graphc::run::tool::{ToolCall, ToolError};
use serde_json::{Value as Json, json};

use super::context::context;

fn spec(script: &str) -> CommandSpec {
    let path = std::env::var("PATH").unwrap();
    CommandSpec {
        run_secrets: Vec::new(),
        max_concurrency: None,
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        at: Vec::new(),
        env: vec![("PATH".into(), Secret::new(path))],
        secrets: Secrets::default(),
        timeout: None,
        limit: 1 << 20,
    }
}

async fn run(spec: CommandSpec, cx: &CallContext) -> Result<Json, ToolError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/backend");
    let call = ToolCall {
        tool: "search".into(),
        args: json!({ "query": "ü", "limit": 3 })
            .as_object()
            .unwrap()
            .clone(),
    };
    let secrets = Arc::new(spec.secrets.clone());
    let tool = mask::tool(Arc::new(CommandTool::new(spec, folder)), &secrets);
    tool.call(call, cx).await
}

async fn fail(script: &str) -> ToolError {
    run(spec(script), &context()).await.unwrap_err()
}

#[tokio::test]
async fn arguments_go_in_and_the_result_comes_out() {
    let echo = run(spec("cat"), &context()).await.unwrap();
    assert_eq!(echo, json!({ "query": "ü", "limit": 3 }));
    let deaf = run(spec("echo 7"), &context()).await.unwrap();
    assert_eq!(deaf, json!(7));
    assert_eq!(run(spec("true"), &context()).await.unwrap(), Json::Null);
}

#[tokio::test]
async fn it_sees_its_call_its_folder_and_nothing_else() {
    let script = r#"test -f command.rs || exit 9; printf '["%s","%s","%s"]' "$GRAPHC_IDEMPOTENCY_KEY" "$GRAPHC_TOOL" "$CARGO_MANIFEST_DIR""#;
    let seen = run(spec(script), &context()).await.unwrap();
    assert_eq!(
        seen,
        json!(["be2974546978e3739e6d6da85c4be9f3", "search", ""])
    );
}

#[tokio::test]
async fn failures_say_why() {
    let error = fail("echo 'first' >&2; echo 'no such table' >&2; exit 3").await;
    assert_eq!(error.kind, ErrorKind::ToolError);
    assert_eq!(
        error.message,
        "the command `sh` ended with status 3: first\nno such table"
    );
    let own = fail(r#"echo '{"error": "quota"}'; echo noise >&2; exit 1"#).await;
    assert_eq!(own.message, "quota");
    let nested = fail(r#"echo '{"error": {"message": "quota"}}'; exit 1"#).await;
    assert_eq!(nested.message, "quota");
    assert_eq!(
        fail("exit 4").await.message,
        "the command `sh` ended with status 4"
    );
    let killed = fail("kill -9 $$").await;
    assert!(killed.message.contains("signal: 9"), "{}", killed.message);
    let text = fail("echo hello there").await;
    assert!(text.message.contains("wrote no JSON"), "{}", text.message);
    assert!(
        text.message
            .contains("of tool `search` wrote no JSON (line 1, column 1); it begins: hello there"),
        "{}",
        text.message
    );
    let mut absent = spec("");
    absent.argv = vec!["no-such-program".into()];
    let error = run(absent, &context()).await.unwrap_err();
    assert!(
        error
            .message
            .contains("`no-such-program` could not be started"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_failure_leaves_doubt_where_the_program_has_not_said_no() {
    for script in ["kill -9 $$", "echo hello there", "printf '[1,'", "yes"] {
        assert!(fail(script).await.in_doubt, "{script}");
    }
    assert!(!fail("exit 4").await.in_doubt);
    let mut absent = spec("");
    absent.argv = vec!["no-such-program".into()];
    assert!(!run(absent, &context()).await.unwrap_err().in_doubt);
    let mut slow = spec("sleep 5");
    slow.timeout = Some(Duration::from_millis(20));
    assert!(run(slow, &context()).await.unwrap_err().in_doubt);
}

#[tokio::test]
async fn secrets_do_not_come_back_in_messages() {
    let mut leaking = spec("echo \"denied for $TOKEN\" >&2; exit 1");
    let token = Secret::new("hunter22");
    leaking.env.push(("TOKEN".into(), token.clone()));
    leaking.secrets.add(&token);
    let error = run(leaking, &context()).await.unwrap_err();
    assert!(
        error.message.ends_with("denied for ***"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn secrets_do_not_come_back_in_results() {
    let mut leaking = spec("echo \"[\\\"to $TOKEN\\\", 1]\"");
    let token = Secret::new("hunter22");
    leaking.env.push(("TOKEN".into(), token.clone()));
    leaking.secrets.add(&token);
    let result = run(leaking, &context()).await.unwrap();
    assert_eq!(result, serde_json::json!(["to ***", 1]));
}

#[tokio::test]
async fn output_is_bounded() {
    let mut endless = spec("yes");
    endless.limit = 1000;
    let started = Instant::now();
    let error = run(endless, &context()).await.unwrap_err();
    assert!(
        error.message.contains("more than 1000 bytes"),
        "{}",
        error.message
    );
    assert!(started.elapsed() < Duration::from_secs(10));
    let noisy =
        fail("i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1").await;
    assert!(noisy.message.len() < 5000);
    assert!(noisy.message.ends_with("line 19999"), "{}", noisy.message);
}

/// Whether a file still grows.
async fn grows(path: &Path) -> bool {
    let size = || std::fs::metadata(path).map_or(0, |file| file.len());
    let before = size();
    tokio::time::sleep(Duration::from_millis(300)).await;
    size() > before
}

#[tokio::test]
async fn time_and_cancellation_end_the_whole_group() {
    for cancelled in [false, true] {
        let file =
            std::env::temp_dir().join(format!("graphc-group-{}-{cancelled}", std::process::id()));
        let path = file.display();
        // The grandchild writes on until it is ended.
        let mut spec = spec(&format!(
            "(while true; do echo x >> {path}; sleep 0.05; done) & wait"
        ));
        spec.timeout = Some(Duration::from_millis(400)).filter(|_| !cancelled);
        let cx = context();
        let cancel = cx.cancel.clone();
        if cancelled {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(400)).await;
                cancel.cancel();
            });
        }
        let error = run(spec, &cx).await.unwrap_err();
        let kind = match cancelled {
            true => ErrorKind::Cancelled,
            false => ErrorKind::Timeout,
        };
        assert_eq!(error.kind, kind, "{}", error.message);
        assert!(file.exists());
        assert!(!grows(&file).await, "something still runs");
        std::fs::remove_file(&file).unwrap();
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_the_group_too() {
    let file = std::env::temp_dir().join(format!("graphc-dropped-{}", std::process::id()));
    let script = format!(
        "while true; do echo x >> {}; sleep 0.05; done",
        file.display()
    );
    let cx = context();
    let call = run(spec(&script), &cx);
    assert!(
        tokio::time::timeout(Duration::from_millis(400), call)
            .await
            .is_err()
    );
    assert!(file.exists());
    assert!(!grows(&file).await, "something still runs");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn programs_and_scripts_are_looked_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = |name: &str| Some(Absent::Program(name.to_owned()));
    for (argv, expected) in [
        (&["sh", "-c", "gone.sh"][..], None),
        (&["sh", "Cargo.toml"], None),
        (
            &["sh", "gone.sh"],
            Some(Absent::Script("gone.sh".to_owned())),
        ),
        (&["no-such-program", "x"], program("no-such-program")),
        (&["./gone", "x"], program("./gone")),
        #[cfg(unix)]
        (
            &["./Cargo.toml"],
            Some(Absent::NotExecutable("./Cargo.toml".to_owned())),
        ),
        (&["cat", "gone.txt"], None),
    ] {
        let mut spec = spec("");
        spec.argv = argv.iter().map(|word| (*word).to_owned()).collect();
        spec.env = vec![("PATH".into(), Secret::new("/nowhere:/bin:/usr/bin"))];
        assert_eq!(absent(&spec, folder), expected, "{argv:?}");
    }
}
