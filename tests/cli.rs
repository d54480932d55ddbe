//! The command line, run as a process: the talks of tests/cli (see [`crate::terminal`]), and what no talk can hold.

use std::process::{Command, Stdio};

use graphc::base::SourceMap;
use graphc::diag::{Diagnostics, render};

use crate::terminal::{Folder, graphc, play};

#[test]
fn every_talk_goes_as_written() {
    play("tests/cli", |_| true);
}

#[test]
fn completions_name_every_command() {
    let folder = Folder::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = graphc(&folder.0)
            .args(["completions", shell])
            .output()
            .unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        for command in [
            "init", "check", "build", "run", "resume", "threads", "viz", "eval", "explain",
        ] {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(output.status.success() && output.stderr.is_empty());
    }
}

/// Every command has examples in its help, on stdout.
#[test]
fn every_help_has_examples() {
    use clap::CommandFactory;
    let folder = Folder::new("help");
    let command = graphc::cli::Cli::command();
    for command in command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        let name = command.get_name();
        let output = graphc(&folder.0).args([name, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(
            help.contains(&format!("Examples:\n  graphc {name}")),
            "{help}"
        );
        assert!(output.status.success() && output.stderr.is_empty());
    }
}

/// How long the store takes for a record has no say in which task gets which reply.
#[test]
fn replies_go_to_the_same_tasks_in_every_run() {
    let folder = Folder::new("turns");
    let flow = r#"
        model w = "openai/gpt-5-mini"
        /// Looks it up.
        tool look(
          /// What.
          q: string
        ) -> string @timeout(5s)
        graph Fan {
          state { in topics: list<string>, out found: map<string> via merge }
          start -> [each t in state.topics -> dig with { t: t }]
          node dig: subgraph One -> end
        }
        graph One {
          state { in t: string, out found: map<string> via merge }
          start -> ask
          node ask: agent -> end {
            model w
            prompt "{{ state.t }}"
            tools [look]
            max_turns 4
            set { found: {state.t: reply.text} }
          }
        }
    "#;
    let found = r#"{"a":"one","b":"two","c":"three"}"#;
    let look = "{tool_calls: [{name: look, args: {q: x}}]}";
    let suite = format!(
        "scenarios:\n  - name: all\n    input: {{ topics: [a, b, c] }}\n    models: {{ dig/ask: [ {look}, {look}, {look}, {{text: one}}, {{text: two}}, {{text: three}} ] }}\n    tools: {{ look: [ {{result: r}}, {{result: r}}, {{result: r}} ] }}\n    expect: {{ output: {{ found: {found} }} }}\n"
    );
    std::fs::write(folder.0.join("f.graph"), flow).unwrap();
    std::fs::write(folder.0.join("f.test.yaml"), suite).unwrap();
    let run = |args: &[&str]| {
        let output = graphc(&folder.0).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..5 {
        run(&["test", "f.graph"]);
        for store in ["memory", "sqlite:t.db"] {
            for durability in ["sync", "async"] {
                let kept = ["--store", store, "--durability", durability];
                let said = run(&[&["run", "f.graph", "--scenario", "all"], &kept[..]].concat());
                assert!(said.contains(found), "{said}");
            }
        }
    }
}

/// The flow of a new project reads without a finding; its settings, scenarios and workflow are YAML.
#[test]
fn a_new_project_is_well_formed() {
    for (path, content) in graphc::cli::init::FILES {
        assert!(content.ends_with('\n') && !content.contains('\t'), "{path}");
        if path.ends_with("graph") {
            let mut sources = SourceMap::new();
            let mut found = Diagnostics::new();
            graphc::parse::parse(content, sources.add(path, content), &mut found);
            let shown = render::human(&found, &sources, render::Style::PLAIN);
            assert!(found.is_empty(), "{shown}");
        }
        if path.ends_with("yaml") || path.ends_with("yml") {
            let parsed: Result<serde_yaml::Value, _> = serde_yaml::from_str(content);
            assert!(parsed.is_ok_and(|value| value.is_mapping()), "{path}");
        }
    }
}

/// A line that is too long is passed over as a whole.
#[test]
fn a_line_of_a_conversation_has_a_bound() {
    let folder = Folder::new("chat-lines");
    let flow = "graph Echo {\n  state { in out messages: list<message> via add_messages, out n: int = 0 }\n  start -> a\n  node a: update -> end { set { messages: [assistant(\"<\" + string(size(state.messages)) + \">\")] } }\n}\n";
    std::fs::write(folder.0.join("echo.graph"), flow).unwrap();
    let long = "x".repeat((4 << 20) + 7);
    std::fs::write(folder.0.join("lines"), format!("a\n{long}\nb")).unwrap();
    let lines = std::fs::File::open(folder.0.join("lines")).unwrap();
    let mut command = graphc(&folder.0);
    command.args(["chat", "echo.graph", "--store", "memory"]);
    let output = command.stdin(lines).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("a line has at most 4 MiB"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "<1>\n<3>\n");
}

/// Waits until the command's stderr has a line that holds the text.
#[cfg(unix)]
fn heard(lines: &mut impl Iterator<Item = std::io::Result<String>>, text: &str) -> String {
    let mut lines = lines.map(Result::unwrap);
    lines.find(|line| line.contains(text)).unwrap()
}

#[cfg(unix)]
#[test]
fn a_watched_flow_is_checked_again_until_ctrl_c() {
    use std::io::BufRead;
    let folder = Folder::new("watch");
    let file = folder.0.join("a.graph");
    let flow = |name: &str| {
        format!(
            "graph A {{\n  state {{ out n: int = 0 }}\n  start -> {name}\n  node one: update -> end {{ set {{ n: 1 }} }}\n}}\n"
        )
    };
    std::fs::write(&file, flow("none")).unwrap();
    let mut command = graphc(&folder.0);
    command.args(["check", "--watch"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stderr = child.stderr.take().unwrap();
    let mut lines = std::io::BufReader::new(stderr).lines();
    heard(&mut lines, "has no node `none`");
    heard(&mut lines, "watching; Ctrl-C ends");
    std::fs::write(&file, flow("one")).unwrap();
    heard(&mut lines, "changed: a.graph");
    heard(&mut lines, "no problems");
    heard(&mut lines, "watching; Ctrl-C ends");
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// A file that a flow lacks, and scenarios that a flow had not, are seen as they come.
#[cfg(unix)]
#[test]
fn a_watched_flow_is_checked_again_when_a_missing_file_comes() {
    use std::io::BufRead;
    let folder = Folder::new("watch-missing");
    let flow = "model w = \"openai/gpt-5-mini\" { timeout 60s, max_tokens 9 }\ngraph A {\n  state { out n: string = \"\" }\n  start -> x\n  node x: llm -> end {\n    model w\n    prompt file \"prompts/p.md\"\n    set { n: reply.text }\n  }\n}\n";
    std::fs::write(folder.0.join("a.graph"), flow).unwrap();
    let mut command = graphc(&folder.0);
    command
        .args(["check", "--watch", "a.graph"])
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stderr = child.stderr.take().unwrap();
    let mut lines = std::io::BufReader::new(stderr).lines();
    heard(&mut lines, "`prompts/p.md` can't be read");
    heard(&mut lines, "watching; Ctrl-C ends");
    std::fs::create_dir(folder.0.join("prompts")).unwrap();
    heard(&mut lines, "watching; Ctrl-C ends");
    std::fs::write(folder.0.join("prompts/p.md"), "Say it.\n").unwrap();
    heard(&mut lines, "no problems");
    heard(&mut lines, "watching; Ctrl-C ends");
    std::fs::write(folder.0.join("a.test.yaml"), "scenaros: []\n").unwrap();
    heard(&mut lines, "changed: a.test.yaml");
    heard(&mut lines, "`scenaros` is no key");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// While words of several models come at the same time, on a terminal.
#[cfg(unix)]
#[test]
fn a_log_begins_on_a_line_of_its_own() {
    let folder = Folder::new("log-lines");
    let flow = r#"
        model w = "mock/w"
        graph Fan {
          state { in topics: list<string>, out texts: list<string> via append }
          start -> [each t in state.topics -> parts with { t: t }]
          node parts: subgraph One -> end { set { texts: [result.text] } }
        }
        graph One {
          state { in t: string, out text: string = "" }
          start -> say
          node say: llm -> end { model w, prompt "{{ state.t }}", set { text: reply.text } }
        }
    "#;
    std::fs::write(folder.0.join("fan.graph"), flow).unwrap();
    let replies = format!(
        "[{}]",
        "{ text: \"one two three four five six\" }, ".repeat(8)
    );
    let scenarios = format!(
        "scenarios:\n  - name: all\n    input: {{ topics: [a, b, c, d, e, f, g, h] }}\n    models: {{ parts/say: {replies} }}\n"
    );
    std::fs::write(folder.0.join("fan.test.yaml"), scenarios).unwrap();
    let terminal =
        "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut command = Command::new("python3");
    command
        .args([
            "-c",
            terminal,
            env!("CARGO_BIN_EXE_graphc"),
            "run",
            "fan.graph",
        ])
        .args(["--scenario", "all", "--store", "memory", "--log", "debug"])
        .current_dir(&folder.0)
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    assert!(
        shown.contains("five") && shown.contains("call ended"),
        "{shown}"
    );
    let begins = regex::Regex::new(r"^20\d\d-\d\d-\d\dT[\d:.]+Z ").unwrap();
    let logs = shown.lines().filter(|line| line.contains("graphc::run"));
    for line in logs {
        assert!(begins.is_match(line), "{line:?} in\n{shown}");
    }
    assert!(shown.lines().all(|line| !line.is_empty()), "{shown}");
}
