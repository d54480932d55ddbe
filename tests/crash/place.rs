//! A folder with a flow, its settings, its tools and its thread, and `graphc` processes in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::log::{self, Line};
use super::model;

/// The thread that all processes of a place work on.
pub const THREAD: &str = "t";

/// A folder that goes when this is dropped.
pub struct Place {
    pub folder: PathBuf,
    /// Processes started, which are known by their numbers.
    started: AtomicUsize,
}

/// A `graphc` process.
pub struct Process {
    pub child: Child,
    pub number: usize,
}

impl Place {
    /// `flow` names a file of tests/crash; each call of a tool takes `pause` seconds.
    pub fn new(name: &str, flow: &str, pause: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crash-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash");
        let text = std::fs::read_to_string(data.join(format!("{flow}.graph"))).unwrap();
        std::fs::write(folder.join("flow.graph"), &text).unwrap();
        std::fs::copy(data.join("tool.sh"), folder.join("tool.sh")).unwrap();
        std::fs::write(folder.join("calls.log"), "").unwrap();
        let url = model::serve(folder.join("calls.log"));
        let mut yaml = format!(
            "store: sqlite:store/threads.db\nproviders:\n  local: {{ kind: openai, base_url: \"{url}\", headers: {{ X-Caller: \"${{CALLER}}\" }} }}\ntools:\n"
        );
        for line in text.lines().filter_map(|line| line.strip_prefix("tool ")) {
            let tool = line.split('(').next().unwrap();
            yaml += &format!(
                "  {tool}: {{ command: [sh, tool.sh], env: {{ PAUSE: \"{pause}\", CALLER: \"${{CALLER}}\" }} }}\n"
            );
        }
        std::fs::write(folder.join("graphc.yaml"), yaml).unwrap();
        Self {
            folder,
            started: AtomicUsize::new(0),
        }
    }

    pub fn spawn(&self, args: &[&str]) -> Process {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
        command
            .current_dir(&self.folder)
            .args(args)
            .env("CALLER", number.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        Process { child, number }
    }

    /// Runs it to its end.
    pub fn end(&self, args: &[&str]) -> Ended {
        Ended::of(self.spawn(args))
    }

    pub fn run(&self, input: &str, more: &[&str]) -> Process {
        let args = ["run", "flow.graph", "--graph", "Main", "--thread", THREAD];
        self.spawn(&[&args[..], &["--input", input], more].concat())
    }

    pub fn resume(&self, more: &[&str]) -> Process {
        let args = ["resume", "flow.graph", "--thread", THREAD];
        self.spawn(&[&args[..], more].concat())
    }

    /// The thread as `graphc threads show` has it.
    pub fn thread(&self) -> Json {
        let ended = self.end(&["threads", "show", THREAD, "--format", "json"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        ended.json()
    }

    pub fn log(&self) -> Vec<Line> {
        log::read(&self.folder.join("calls.log"))
    }

    /// How often the log has such a line of a tool, or of a model where `model`.
    pub fn count(&self, what: &str, model: bool) -> usize {
        let log = self.log();
        let lines = log.iter();
        lines
            .filter(|line| line.is(what) && (line.tool == "model") == model)
            .count()
    }

    /// Waits until tools have begun or ended so many calls.
    pub fn until(&self, what: &str, count: usize) {
        self.wait(|| self.count(what, false) >= count);
    }

    /// Waits until models were asked so often.
    pub fn until_asked(&self, count: usize) {
        self.wait(|| self.count("begin", true) >= count);
    }

    fn wait(&self, over: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !over() {
            assert!(Instant::now() < deadline, "{:?}", self.log());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends a process as nothing else does, and notes it.
    pub fn kill(&self, mut process: Process) {
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        self.note_kill(process.number);
    }

    /// Notes that a process has lost what it had under way.
    pub fn note_kill(&self, number: usize) {
        let line = Line {
            what: "kill".to_owned(),
            caller: number.to_string(),
            ..Line::default()
        };
        log::write(&self.folder.join("calls.log"), &line);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What failed stays to be looked at.
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(process: Process) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = process.child.wait_with_output().unwrap();
        Self {
            status: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    pub fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"))
    }
}
