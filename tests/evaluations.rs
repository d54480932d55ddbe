//! Evaluations of models behind HTTP: what they are asked, what is kept of it, and what becomes of one that is ended early.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::backend::server::{Reply, Server, events};

const KEY: &str = "key-of-the-provider-4711";

/// A project of its own in which models are served there.
fn project(name: &str, url: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("evaluations-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let given = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/evaluate");
    std::fs::copy(given.join("desk.graph"), folder.join("desk.graph")).unwrap();
    let settings = format!(
        "providers: {{ openai: {{ kind: openai, base_url: \"{url}\", api_key: \"${{THE_KEY}}\" }} }}\n"
    );
    std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
    let evaluation = r#"
flow: desk.graph
stage: Desk.sort
data: rows.jsonl
scorers:
  topic: { exact: output.topic }
  tone:  { model: openai/judge, system: "You judge.", prompt: "Is {{ output.topic }} right for: {{ input.question }}" }
"#;
    std::fs::write(folder.join("sort.evaluate.yaml"), evaluation).unwrap();
    folder
}

fn rows(folder: &Path, questions: &[&str]) {
    let rows = questions.iter().map(|question| {
        let row = json!({ "id": question, "input": { "question": question }, "expect": { "topic": "billing" } });
        format!("{row}\n")
    });
    std::fs::write(folder.join("rows.jsonl"), rows.collect::<String>()).unwrap();
}

fn graphc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command.current_dir(folder).args(args).env("THE_KEY", KEY);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn said(text: &str) -> Reply {
    let word = json!({ "choices": [{ "delta": { "content": text } }] });
    let stop = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 20, "completion_tokens": 5 } });
    events(&[
        &word.to_string(),
        &stop.to_string(),
        &usage.to_string(),
        "[DONE]",
    ])
}

fn result(folder: &Path) -> Json {
    let text = std::fs::read_to_string(folder.join("now.json")).unwrap();
    assert!(!text.contains(KEY), "{text}");
    serde_json::from_str(&text).unwrap()
}

async fn ended(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

fn told(output: &Output) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8(both).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_asked_for_real_and_another_judges_it() {
    let server = Server::start(vec![
        said(r#"{"topic": "billing", "urgent": false}"#),
        said(&format!(r#"{{"reason": "I know {KEY}", "score": 0.75}}"#)),
    ])
    .await;
    let folder = project("real", &server.url);
    rows(&folder, &["Where is my bill?"]);
    let args = [
        "evaluate",
        "sort.evaluate.yaml",
        "-o",
        "now.json",
        "--jobs",
        "1",
    ];
    let output = ended(graphc(&folder, &args)).await;
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(!told(&output).contains(KEY));
    let result = result(&folder);
    let run = &result["rows"][0]["runs"][0];
    assert_eq!(
        run["output"],
        json!({ "topic": "billing", "urgent": false })
    );
    assert_eq!(run["scores"]["topic"]["score"], 1.0);
    assert_eq!(run["scores"]["tone"]["score"], 0.75);
    assert_eq!(run["scores"]["tone"]["reason"], "I know ***");
    assert_eq!(
        run["usage"],
        json!({ "input_tokens": 20, "output_tokens": 5 })
    );
    let asked = server.asked();
    assert_eq!(asked[1].json()["model"], "judge");
    let messages = &asked[1].json()["messages"];
    assert_eq!(messages[0]["content"], "You judge.");
    assert_eq!(
        messages[1]["content"],
        "Is billing right for: Where is my bill?"
    );

    // What the model was asked is what the export trains on.
    let args = [
        "export",
        "desk.graph",
        "--stage",
        "Desk.sort",
        "--evaluation",
        "now.json",
    ];
    let output = ended(graphc(&folder, &args)).await;
    let line: Json = serde_json::from_slice(&output.stdout).unwrap();
    let asked = asked[0].json();
    assert_eq!(line["messages"][0], asked["messages"][0]);
    assert_eq!(line["messages"][1], asked["messages"][1]);
    assert_eq!(line["messages"][2]["role"], "assistant");
    std::fs::remove_dir_all(folder).unwrap();
}

/// What has run is written, and what was under way is not.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_keeps_what_has_run() {
    let server = Server::start(vec![
        said(r#"{"topic": "billing", "urgent": false}"#),
        said(r#"{"reason": "right", "score": 1}"#),
        Reply::Silence,
    ])
    .await;
    let folder = project("signal", &server.url);
    rows(&folder, &["first", "second", "third"]);
    let args = [
        "evaluate",
        "sort.evaluate.yaml",
        "-o",
        "now.json",
        "--jobs",
        "1",
    ];
    let child = graphc(&folder, &args).spawn().unwrap();
    while server.asked().len() < 3 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let waits = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = waits.await.unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", told(&output));
    let result = result(&folder);
    assert_eq!(result["complete"], false);
    let rows: Vec<&Json> = result["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["id"])
        .collect();
    assert_eq!(rows, ["first"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Beside each evaluation of the flows in `graphs/` is a data set with replies of its own, all of which are good.
#[tokio::test(flavor = "multi_thread")]
async fn data_sets_of_the_flows_pass_offline() {
    let graphs = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs");
    let mut folders = vec![graphs];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !name.ends_with(".evaluate.yaml") {
                continue;
            }
            seen += 1;
            let scripted = name.replace(".evaluate.yaml", ".scripted.jsonl");
            let args = ["evaluate", &name, "--data", &scripted, "--format", "json"];
            let output = ended(graphc(&folder, &args)).await;
            assert_eq!(output.status.code(), Some(0), "{name}: {}", told(&output));
            let result: Json = serde_json::from_slice(&output.stdout).unwrap();
            for (scorer, tally) in result["summary"]["scorers"].as_object().unwrap() {
                assert_eq!(
                    tally["passes"],
                    tally["runs"],
                    "{name}: {scorer}: {}",
                    told(&output)
                );
            }
        }
    }
    assert!(seen > 0);
}
