//! Cassettes: scenarios are recorded with a model server that nobody here wrote, and played without it. The files are in tests/record.

use crate::install;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const KEY: &str = "a-key-that-nobody-sees";

/// The mock server of npm, until it is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(place: &Path) -> Self {
        let packages = install::npm(&["@copilotkit/aimock@1.43.0"]);
        let mut command = Command::new("node");
        command.arg(packages.join("node_modules/@copilotkit/aimock/dist/cli.js"));
        command
            .args(["-p", "0", "-f"])
            .arg(place.join("fixtures.json"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("listening on ")?;
            Some(address.trim().to_owned())
        });
        let url = format!("{}/v1", address.expect("the server says where it listens"));
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A copy of the files.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record");
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("record-{name}"));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        for file in std::fs::read_dir(from).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), place.join(file.file_name())).unwrap();
        }
        Self(place)
    }

    fn test(&self, url: Option<&str>, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
        command.current_dir(&self.0).arg("test").args(args);
        command.stdin(Stdio::null()).env_remove("MOCK_URL");
        command.env_remove("MOCK_KEY");
        if let Some(url) = url {
            command.env("MOCK_URL", url).env("MOCK_KEY", KEY);
        }
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        let said = String::from_utf8(stderr).unwrap() + &String::from_utf8(stdout).unwrap();
        (status.code(), said)
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.0.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    fn cassette(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join("desk.cassettes").join(name)).unwrap_or_default()
    }
}

#[test]
fn what_is_recorded_is_played_without_a_server() {
    let place = Place::new("whole");
    let (status, said) = place.test(None, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("nothing is recorded for call 1 of model `writer` in `sort`"),
        "{said}"
    );
    assert!(said.contains("graphc test --record"), "{said}");

    // A server that is not there leaves no cassette behind.
    let (status, said) = place.test(Some("http://127.0.0.1:9/v1"), &["--record"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("failed: network") && !said.contains("recorded desk"),
        "{said}"
    );
    assert_eq!(place.cassette("an_order.yaml"), "");

    let server = Server::start(&place.0);
    let (status, said) = place.test(Some(&server.url), &["--record"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains("recorded desk.cassettes/an_order.yaml"),
        "{said}"
    );
    assert!(
        !said.contains("played"),
        "only what says `recorded`: {said}"
    );
    let cassette = place.cassette("an_order.yaml");
    place.edit("desk.test.yaml", "kind: order", "kind: complaint");
    let (status, said) = place.test(Some(&server.url), &["--record", "--filter", "an order"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(!said.contains("recorded desk"), "{said}");
    assert_eq!(
        place.cassette("an_order.yaml"),
        cassette,
        "a failure leaves the old one"
    );
    place.edit("desk.test.yaml", "kind: complaint", "kind: order");
    drop(server);

    assert!(cassette.contains("Where is my order A1?"), "{cassette}");
    assert!(
        cassette.contains("on its way, asked with ***"),
        "{cassette}"
    );
    assert!(!cassette.contains(KEY), "{cassette}");
    // Headers that are written out are no secrets, and what is asked with an answer is the same in the play.
    assert!(cassette.contains("node: sort"), "{cassette}");
    let again = "id: on its way, asked with ***";
    assert!(cassette.contains(again), "{cassette}");

    // `visits.test.yaml` has its process killed after the second of three calls that ask the same.
    let (status, said) = place.test(None, &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("4 passed"), "{said}");
}

#[test]
fn scenarios_that_would_share_a_cassette_are_refused() {
    let place = Place::new("shared");
    place.edit(
        "desk.test.yaml",
        "name: an order, killed on the way",
        "name: An-Order",
    );
    let (status, said) = place.test(None, &[]);
    assert_ne!(status, Some(0), "{said}");
    assert!(
        said.contains("`an order` and `An-Order` have the same cassette, `an_order.yaml`"),
        "{said}"
    );
}

#[test]
fn a_replay_says_what_has_changed() {
    let place = Place::new("changed");
    let server = Server::start(&place.0);
    let (status, said) = place.test(Some(&server.url), &["--record"]);
    assert_eq!(status, Some(0), "{said}");
    drop(server);
    place.edit(
        "desk.graph",
        "Sort this letter:",
        "Please sort this letter:",
    );
    place.edit("desk.graph", "max_tokens 200", "max_tokens 300");
    let (status, said) = place.test(None, &["--filter", "an order"]);
    assert_eq!(status, Some(1), "{said}");
    for line in [
        "call 1 of model `writer` in `sort` asks something else than was",
        "- Sort this letter:",
        "+ Please sort this letter:",
        "`settings.max_tokens` is 300, recorded 200",
        "record it again: graphc test --record",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("was not made"), "{said}");
}

#[test]
fn a_cassette_that_is_none_is_named() {
    let place = Place::new("broken");
    std::fs::create_dir_all(place.0.join("desk.cassettes")).unwrap();
    std::fs::write(
        place.0.join("desk.cassettes/an_order.yaml"),
        "scenario: an order\ncalls: 3\n",
    )
    .unwrap();
    let (status, said) = place.test(None, &["--filter", "an order"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("an_order.yaml` can't be read: calls:"),
        "{said}"
    );
}
