//! The command line, run as a process: a case is a text file under tests/cli.
//!
//! A case is a talk in a fresh folder. `$ graphc ..` runs the command (`NAME=value` before it sets the
//! environment); below it stand its stdout, its stderr with `! ` before each line, and `? N` where the
//! status isn't 0. Where a folder has the name of the case, its files are there from the beginning. `$ write FILE TEXT` writes a file (`\n`, `\xNN` in the text), `$ ls` lists all files, `$ link TO FILE` and
//! `$ pipe FILE` make what their names say. Lines that begin with `#` are notes; `< FILE` at the end of a command is its
//! stdin, and with `| nobody` there its stdout has no reader. Ids and times that
//! differ from run to run are shown as `[ID]`, `[THREAD]`, `[TIME]`, `[SECONDS]` and `[MS]`. `UPDATE=1` rewrites what is below each
//! command. `CASE=name cargo test --test commands cli::` has only the talks whose name contains `name`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use graphc::base::SourceMap;
use graphc::diag::{Diagnostics, render};

/// A folder of its own that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn graphc(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        // Who answers where no `--by` says it.
        .env("USER", "tester")
        .stdin(Stdio::null());
    command
}

/// Words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut pieces = text.split('\\');
    bytes.extend(pieces.next().unwrap().bytes());
    for piece in pieces {
        let (byte, rest) = match piece.strip_prefix('n') {
            Some(rest) => (b'\n', rest),
            None => {
                let hex = piece.strip_prefix('x').unwrap();
                (u8::from_str_radix(&hex[..2], 16).unwrap(), &hex[2..])
            }
        };
        bytes.push(byte);
        bytes.extend(rest.bytes());
    }
    bytes
}

fn files(folder: &Path, below: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path(), &format!("{name}/"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// What stands below a command when it has run.
fn answer(line: &str, folder: &Path) -> String {
    let mut words = words(line);
    match words[0].as_str() {
        "ls" => {
            return files(folder, "")
                .iter()
                .map(|file| format!("{file}\n"))
                .collect();
        }
        "write" => {
            let path = folder.join(&words[1]);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, unescaped(&words[2])).unwrap();
            return String::new();
        }
        #[cfg(unix)]
        "link" => {
            std::os::unix::fs::symlink(&words[1], folder.join(&words[2])).unwrap();
            return String::new();
        }
        "pipe" => {
            let made = Command::new("mkfifo").arg(folder.join(&words[1])).status();
            assert!(made.unwrap().success());
            return String::new();
        }
        _ => {}
    }
    let mut command = graphc(folder);
    let unread = words.ends_with(&["|".to_owned(), "nobody".to_owned()]);
    if unread {
        words.truncate(words.len() - 2);
    }
    if let [.., less, file] = words.as_slice()
        && less == "<"
    {
        command.stdin(std::fs::File::open(folder.join(file)).unwrap());
        words.truncate(words.len() - 2);
    }
    while let Some((name, value)) = words[0].split_once('=') {
        command.env(name, value);
        words.remove(0);
    }
    assert_eq!(words[0], "graphc", "{line}");
    command.args(&words[1..]);
    let output = match unread {
        false => command.output().unwrap(),
        true => {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            command.stdout(writer).stderr(Stdio::piped());
            command.spawn().unwrap().wait_with_output().unwrap()
        }
    };
    let mut text = String::from_utf8(output.stdout).unwrap();
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        writeln!(text, "{}", format!("! {line}").trim_end()).unwrap();
    }
    match output.status.code().unwrap() {
        0 => {}
        status => writeln!(text, "? {status}").unwrap(),
    }
    stable(&text)
        .replace('\u{1b}', "\\e")
        .replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The text without what differs from run to run.
fn stable(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, shown) in [
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
            "[ID]",
        ),
        (r#""life":"[0-9a-f]{12}""#, r#""life":"[ID]""#),
        (r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
        (r"\bt-[0-9a-hjkmnp-tv-z]{8}\b", "[THREAD]"),
        // A scenario's own time is shown where it took long, which differs from machine to machine.
        (r"(?m)^((?:! )? +[✓✗] .*) \(\d+\.\d s\)$", "$1"),
        (r"\(\d+\.\d s\)", "([SECONDS])"),
        (r#"\b((?:took|duration)_ms"?[:=])\d+"#, "${1}[MS]"),
        (r#" time="\d+\.\d+""#, r#" time="[SECONDS]""#),
    ] {
        let pattern = regex::Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, shown).into_owned();
    }
    text
}

fn replay(name: &str, case: &str) -> String {
    let folder = Folder::new(&format!("talk-{name}"));
    let given = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cli")
        .join(name);
    if given.is_dir() {
        for file in files(&given, "") {
            std::fs::copy(given.join(&file), folder.0.join(&file)).unwrap();
        }
    }
    let mut out = String::new();
    for line in case.lines() {
        let below = match line.strip_prefix("$ ") {
            Some(command) => answer(command, &folder.0),
            None if line.starts_with('#') => String::new(),
            None => continue,
        };
        // A blank line before each command and each note, but none between a note and its command.
        if out
            .lines()
            .last()
            .is_some_and(|last| !last.starts_with('#'))
        {
            out.push('\n');
        }
        write!(out, "{line}\n{below}").unwrap();
    }
    out
}

/// How a talk goes, where that isn't as it is written; `UPDATE` writes it down.
fn goes_otherwise(path: &Path) -> Option<String> {
    let written = std::fs::read_to_string(path).unwrap();
    let replayed = replay(path.file_stem().unwrap().to_str().unwrap(), &written);
    if written == replayed {
        return None;
    }
    match std::env::var_os("UPDATE") {
        Some(_) => {
            std::fs::write(path, replayed).unwrap();
            None
        }
        None => Some(format!("{}\n{replayed}", path.display())),
    }
}

#[test]
fn every_talk_goes_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let talks = std::fs::read_dir(folder).unwrap();
    let only = std::env::var("CASE").unwrap_or_default();
    let talks = talks.map(|entry| entry.unwrap().path());
    let talks: Vec<PathBuf> = talks
        .filter(|path| path.is_file())
        .filter(|path| path.file_stem().unwrap().to_str().unwrap().contains(&only))
        .collect();
    let cases = talks.len();
    let (left, wrong) = (Mutex::new(talks), Mutex::new(Vec::new()));
    // Each has a folder of its own.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = { left.lock().unwrap().pop() } {
                    wrong.lock().unwrap().extend(goes_otherwise(&path));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(cases > 0);
    assert!(
        wrong.is_empty(),
        "these go otherwise (UPDATE=1 accepts):\n{}",
        wrong.join("\n")
    );
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
