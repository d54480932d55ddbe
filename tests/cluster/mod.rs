//! A PostgreSQL server for tests: a temporary cluster that nothing else knows, reached by a socket in its folder.
//!
//! A shell is its guard: it starts the server, and stops it and removes the folder when this process has ended, however
//! it ends. Nothing of the server outlives the tests. Where the server's programs are missing they are installed
//! (`apt-get install -y postgresql`), and a test that needs them fails where that fails.

#![allow(dead_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use crate::install::{self, said};

/// What the guard does. Its arguments: the cluster's folder, then how to start the server. It reads a word a line.
const GUARD: &str = r#"
trap '' INT HUP TERM PIPE
folder=$1; shift
pid=
halt() { [ -z "$pid" ] || { kill "-$1" "$pid" 2>/dev/null; wait "$pid"; pid=; }; }
while read -r word rest; do
    case $word in
    start) ( ulimit -f "$rest"; exec "$@" ) </dev/null >>"$folder/log" 2>&1 & pid=$! ;;
    stop) halt INT; echo done ;;
    crash) halt QUIT; echo done ;;
    esac
done
halt QUIT
# Something may still be at work in it, if it was left while it was made.
tries=100
until rm -rf "$folder" 2>/dev/null || [ "$tries" = 0 ]; do sleep 0.1; tries=$((tries - 1)); done
"#;

/// A running server.
pub struct Cluster {
    folder: PathBuf,
    guard: Mutex<Guard>,
}

struct Guard {
    words: ChildStdin,
    answers: BufReader<ChildStdout>,
    _process: Child,
}

/// The server that all tests of this program share.
pub fn shared() -> &'static Cluster {
    static SHARED: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(&[]));
    &SHARED
}

impl Cluster {
    /// Makes a cluster and starts its server, with settings such as `work_mem=1MB`.
    pub fn start(settings: &[&str]) -> Cluster {
        let bin = programs();
        let folder = new_folder();
        let data = folder.join("data");
        let mut initdb = unprivileged(&folder, &bin.join("initdb"));
        initdb.arg("-D").arg(&data).args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--data-checksums",
            "--no-sync",
        ]);
        let mut server = unprivileged(&folder, &bin.join("postgres"));
        server.arg("-D").arg(&data);
        let sockets = format!("unix_socket_directories={}", folder.display());
        let common = [
            "listen_addresses=",
            &sockets,
            "fsync=off",
            "full_page_writes=off",
            "shared_buffers=32MB",
            "max_connections=200",
            "max_wal_size=256MB",
        ];
        for setting in common.iter().chain(settings) {
            server.args(["-c", setting]);
        }
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(&folder);
        guard.arg(server.get_program()).args(server.get_args());
        let mut guard = guard
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let cluster = Cluster {
            folder,
            guard: Mutex::new(Guard {
                words: guard.stdin.take().unwrap(),
                answers: BufReader::new(guard.stdout.take().unwrap()),
                _process: guard,
            }),
        };
        // Not before the guard is there, which removes what is made.
        let made = initdb.output().unwrap();
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "initdb: {said}");
        cluster.start_again();
        cluster
    }

    /// The address of a store that is all empty: a schema of its own.
    pub fn url(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        self.url_of(&format!("t{process}_{count}"))
    }

    /// The address of the store in a schema.
    pub fn url_of(&self, schema: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/postgres?schema={schema}")
    }

    /// Folder of the cluster: the server's socket, its `data` and its `log`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server that was stopped, and waits until it takes connections.
    pub fn start_again(&self) {
        self.start_limited("unlimited");
    }

    /// The same, with files that may not grow above so many blocks of 512 bytes: writes fail as on a full disk.
    pub fn start_limited(&self, blocks: &str) {
        writeln!(self.guard.lock().unwrap().words, "start {blocks}").unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let state = self.folder.join("data/postmaster.pid");
        while !std::fs::read_to_string(&state).is_ok_and(|text| text.contains("\nready")) {
            let log = || std::fs::read_to_string(self.folder.join("log"));
            assert!(Instant::now() < deadline, "the server: {:?}", log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends all connections and stops the server in order.
    pub fn stop(&self) {
        self.halt("stop");
    }

    /// Stops the server as if its machine had lost power, but that what the system has stays.
    pub fn crash(&self) {
        self.halt("crash");
    }

    fn halt(&self, word: &str) {
        let mut guard = self.guard.lock().unwrap();
        writeln!(guard.words, "{word}").unwrap();
        let mut answer = String::new();
        guard.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

/// A folder of its own, short enough for the path of a socket, that the server's user can reach.
fn new_folder() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut tmp = std::env::temp_dir();
    if tmp.as_os_str().len() > 60 {
        tmp = PathBuf::from("/tmp");
    }
    let folder = tmp.join(format!("graphc-pg-{}-{count}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A program that must not run as root, such as the server: where this is root, as a user who may do nothing, to whom the
/// folder is given.
pub fn unprivileged(folder: &Path, program: &Path) -> Command {
    if said("id", &["-u"]).as_deref() != Some("0") {
        return Command::new(program);
    }
    let user = ["postgres", "nobody"]
        .into_iter()
        .find(|user| said("id", &["-u", user]).is_some())
        .expect("no user `postgres` or `nobody` to run the server as");
    let owned = Command::new("chown").arg(user).arg(folder).status();
    assert!(owned.unwrap().success());
    let group = said("id", &["-g", user]).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", user, "--regid", &group, "--clear-groups", "--"])
        .arg(program);
    command
}

/// Folder of the server's programs, installed where they are missing.
fn programs() -> PathBuf {
    static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
        find().unwrap_or_else(|| {
            install::apt("postgresql");
            find().expect("PostgreSQL was installed, but there is no `initdb`")
        })
    });
    PROGRAMS.clone()
}

fn find() -> Option<PathBuf> {
    let version = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        name.split('.').next()?.parse::<u32>().ok()
    };
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut versions: Vec<PathBuf> = debian.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(version);
    let debian = versions.into_iter().rev().map(|path| path.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = said("pg_config", &["--bindir"]).map(PathBuf::from);
    debian
        .chain(named)
        .chain(std::env::split_paths(&path))
        .find(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
}
