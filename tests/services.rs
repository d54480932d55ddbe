//! Scenarios that really call a service: an HTTP server in Python, started and ended by `graphc`, which notes what it is asked in
//! a file of its own. The files are in tests/services.

use crate::install;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A test that waits longer than this for something has failed.
const LONGEST: Duration = Duration::from_secs(120);

/// A copy of the files in a folder of its own.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        if install::said("python3", &["--version"]).is_none() {
            install::apt("python3");
        }
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/services");
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("services-{name}"));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        for file in std::fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), place.join(file.file_name())).unwrap();
        }
        Self(place)
    }

    fn graphc(&self, args: &[&str]) -> Command {
        let program = env!("CARGO_BIN_EXE_graphc");
        // Whoever starts the tests may ignore signals, as a shell does for what is in its background.
        let mut command = match cfg!(target_os = "linux") {
            true => Command::new("env"),
            false => Command::new(program),
        };
        if cfg!(target_os = "linux") {
            command.args(["--default-signal=INT,HUP,TERM", program]);
        }
        command.current_dir(&self.0).args(args);
        command.stdin(Stdio::null());
        command
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.graphc(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn output(&self, args: &[&str]) -> Output {
        self.graphc(args).output().unwrap()
    }

    /// What the services have noted under a word, in order.
    fn notes(&self, word: &str) -> Vec<String> {
        let notes = std::fs::read_to_string(self.0.join("notes.log")).unwrap_or_default();
        let notes = notes.lines().filter_map(|line| line.strip_prefix(word));
        notes.map(str::to_owned).collect()
    }

    /// Waits until the slow question is asked.
    fn is_asked(&self, child: &mut Child) {
        until("the slow question", || {
            assert!(child.try_wait().unwrap().is_none(), "graphc has ended");
            !self.notes("asked slow").is_empty()
        });
    }

    /// Waits until nothing of the services lives.
    fn is_left(&self) {
        let started = self.notes("started ");
        assert!(!started.is_empty());
        for process in started.iter().flat_map(|line| line.split(' ')) {
            until("the end of the services", || !lives(process));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for line in self.notes("started ") {
            let leader = line.split(' ').next().unwrap_or_default();
            let _ = signal("-KILL", &format!("-{leader}"));
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < LONGEST, "{what} did not come");
        sleep(Duration::from_millis(20));
    }
}

/// Whether a process is there and has not ended.
fn lives(process: &str) -> bool {
    let state = install::said("ps", &["-o", "stat=", "-p", process]);
    state.is_some_and(|state| !state.starts_with('Z'))
}

fn signal(signal: &str, to: &str) -> std::io::Result<Output> {
    Command::new("kill").args([signal, "--", to]).output()
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn scenarios_share_a_service_that_ends_behind_them() {
    let place = Place::new("shared");
    let output = place.output(&["test", "desk.test.yaml"]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(place.notes("started ").len(), 1);
    // The call that was cut off was made again, with the key that it had.
    let coffee = place.notes("asked coffee ");
    assert_eq!(coffee.len(), 2);
    assert_eq!(coffee[0], coffee[1]);
    assert_eq!(place.notes("asked black ").len(), 1);
    place.is_left();
}

#[test]
fn a_run_starts_the_services_of_its_scenario() {
    let place = Place::new("run");
    let output = place.output(&[
        "run",
        "desk.graph",
        "--scenario",
        "tea",
        "-i",
        "question=coffee",
    ]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(
        shown(&output).contains("coffee is black"),
        "{}",
        shown(&output)
    );
    place.is_left();
}

#[test]
fn a_service_that_ends_early_is_said() {
    let place = Place::new("early");
    let scenario = [
        "run",
        "desk.graph",
        "--scenario",
        "tea",
        "-i",
        "question=die",
    ];
    let output = place.output(&scenario);
    let said = shown(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    let early = "service `kb` ended before its scenarios did: exit status: 7";
    assert!(said.contains(early), "{said}");
    place.is_left();
}

#[test]
fn services_end_with_a_test_that_is_asked_to() {
    for asked in ["-INT", "-TERM", "-HUP"] {
        let place = Place::new(&format!("asked{asked}"));
        let mut child = place.start(&["test", "slow.test.yaml"]);
        place.is_asked(&mut child);
        signal(asked, &child.id().to_string()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(130),
            "{asked}: {}",
            shown(&output)
        );
        place.is_left();
    }
}

#[test]
fn services_end_with_a_run_that_is_stopped_at_once() {
    let place = Place::new("stopped");
    let mut child = place.start(&["run", "desk.graph", "--scenario", "slow"]);
    place.is_asked(&mut child);
    // The first lets the call under way be finished.
    signal("-INT", &child.id().to_string()).unwrap();
    sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    signal("-INT", &child.id().to_string()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    place.is_left();
}

#[test]
fn a_service_that_does_not_answer_is_said_with_its_stderr() {
    let place = Place::new("silent");
    let file = place.0.join("slow.test.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let silent = "[sh, -c, 'echo \"no room\" >&2; exec sleep 600'], within: 300ms, env: {} }\n";
    let (head, rest) = text.split_once("  kb:").unwrap();
    let (_, rest) = rest.split_once("scenarios:").unwrap();
    let service =
        format!("  kb: {{ ready: \"http://127.0.0.1:${{PORT}}/\", command: {silent}scenarios:");
    std::fs::write(&file, format!("{head}{service}{rest}")).unwrap();
    for args in [
        &["test", "slow.test.yaml"][..],
        &["run", "desk.graph", "--scenario", "slow"],
    ] {
        let output = place.output(args);
        assert!(!output.status.success());
        let said = shown(&output);
        assert!(
            said.contains("service `kb` was not ready within 300ms"),
            "{said}"
        );
        assert!(said.contains("no room"), "{said}");
    }
}

#[test]
fn a_process_that_is_killed_within_a_real_call_is_resumed() {
    let place = Place::new("killed");
    let scenario = ["--scenario", "slow", "--thread", "t"];
    let mut child = place.start(&[&["run", "desk.graph"], &scenario[..]].concat());
    place.is_asked(&mut child);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    let output = place.output(&[&["resume", "desk.graph"], &scenario[..]].concat());
    assert!(output.status.success(), "{}", shown(&output));
    assert!(
        shown(&output).contains("\"noted\":\"noted\""),
        "{}",
        shown(&output)
    );
    let asked = place.notes("asked slow ");
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1]);
}
