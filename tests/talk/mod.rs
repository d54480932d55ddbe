//! Talks with `graphc` and servers, written down: a case is a text file, in a fresh folder with files of its own.
//!
//! `$ graphc ..` runs the command (`NAME=value` before it sets the environment); below it stand its stdout, its stderr with `! ` before each
//! line, and `? N` where the status isn't 0. `$ serve NAME WORDS` starts a server on the free port in its `PORT`, whose address is `NAME_URL`
//! (without `http://`: `NAME_HOST`) from there on; `$ stop NAME` kills it. `$ node FILE` shows what a script says, `$ cat FILE` a file, `$ sorted FILE` its lines sorted, `$ write FILE TEXT` writes one (`\n` in the text),
//! `$ left` shows what still runs in the folder. `UPDATE=1` rewrites what is below each command; `CASE=name` has the talks whose name
//! contains it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A test that waits longer than this for something has failed.
const LONGEST: Duration = Duration::from_secs(120);

/// A path of the project.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A talk under way.
struct Talk {
    folder: PathBuf,
    path: String,
    served: BTreeMap<String, Child>,
    env: Vec<(String, String)>,
}

impl Talk {
    /// In a fresh folder with the files of `files`, and what npm has installed in `packages`.
    fn new(name: &str, files: &Path, path: &str, packages: &Path) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("talk-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for file in std::fs::read_dir(files).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
        std::os::unix::fs::symlink(packages.join("node_modules"), folder.join("node_modules"))
            .unwrap();
        Self {
            folder: folder.canonicalize().unwrap(),
            path: path.to_owned(),
            served: BTreeMap::new(),
            env: Vec::new(),
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("USER", "tester")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    fn say(&mut self, line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match words[0].as_str() {
            "serve" => self.serve(&words[1], &words[2..]),
            "stop" => {
                let mut child = self.served.remove(&words[1]).unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
                String::new()
            }
            "cat" => match std::fs::read_to_string(self.folder.join(&words[1])) {
                Ok(text) => self.masked(&text),
                Err(_) => "there is no such file\n".to_owned(),
            },
            "sorted" => {
                let text = std::fs::read_to_string(self.folder.join(&words[1])).unwrap();
                let mut lines: Vec<&str> = text.lines().collect();
                lines.sort_unstable();
                lines.iter().map(|line| format!("{line}\n")).collect()
            }
            "write" => {
                let text = line.splitn(3, ' ').nth(2).unwrap().replace("\\n", "\n");
                let file = self.folder.join(&words[1]);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text + "\n").unwrap();
                String::new()
            }
            "left" => self.left(),
            "node" => {
                let output = self.command("node").args(&words[1..]).output().unwrap();
                self.masked(&String::from_utf8(output.stdout).unwrap())
            }
            _ => self.graphc(&words),
        }
    }

    fn serve(&mut self, name: &str, words: &[String]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = match self
            .env
            .iter()
            .find(|(known, _)| *known == format!("{name}_URL"))
        {
            // Once more, at the address that is known.
            Some((_, url)) => url.rsplit(':').next().unwrap().parse().unwrap(),
            None => listener.local_addr().unwrap().port(),
        };
        drop(listener);
        let mut command = self.command(&words[0]);
        let child = command
            .args(&words[1..])
            .env("PORT", port.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.served.insert(name.to_owned(), child);
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < LONGEST, "{name} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        let url = format!("http://127.0.0.1:{port}");
        self.env.push((format!("{name}_URL"), url));
        self.env
            .push((format!("{name}_HOST"), format!("127.0.0.1:{port}")));
        String::new()
    }

    fn graphc(&self, words: &[String]) -> String {
        let given = words.iter().take_while(|word| word.contains('=')).count();
        assert_eq!(words[given], "graphc", "a command that is not known");
        let mut command = self.command(env!("CARGO_BIN_EXE_graphc"));
        command.args(&words[given + 1..]);
        for word in &words[..given] {
            let (name, value) = word.split_once('=').unwrap();
            command.env(name, value);
        }
        let output = command.output().unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        for line in String::from_utf8(output.stderr).unwrap().lines() {
            let _ = writeln!(text, "{}", format!("! {line}").trim_end());
        }
        match output.status.code() {
            Some(0) => {}
            code => _ = writeln!(text, "? {}", code.unwrap_or(-1)),
        }
        self.masked(&text)
    }

    /// The text without what differs from run to run.
    fn masked(&self, text: &str) -> String {
        let text = text.replace(&*self.folder.to_string_lossy(), "[FOLDER]");
        let text = self.env.iter().fold(text, |text, (name, value)| {
            text.replace(value, &format!("[{name}]"))
        });
        let rules = [
            (r"t-[0-9a-z]{8}\b", "[THREAD]"),
            (r"[0-9a-f]{8}-[0-9a-f-]{27}", "[ID]"),
            (r"i-[0-9a-f]{12}", "[ID]"),
            (r"\(\d+\.\d s\)", "([TIME])"),
            (r"20\d\d-\d\d-\d\dT[\d:.]+Z", "[TIME]"),
            (r"\b(duration|wait)_ms=\d+", "${1}_ms=[MS]"),
        ];
        rules.iter().fold(text, |text, (rule, by)| {
            let rule = regex::Regex::new(rule).unwrap();
            rule.replace_all(&text, *by).into_owned()
        })
    }

    /// Programs that run in the folder and that this test has not started.
    fn left(&self) -> String {
        let own: Vec<u32> = self.served.values().map(Child::id).collect();
        let mut text = String::new();
        for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let id = process.file_name().to_string_lossy().parse::<u32>();
            let cwd = std::fs::read_link(process.path().join("cwd"));
            let (Ok(id), Ok(cwd)) = (id, cwd) else {
                continue;
            };
            if cwd.starts_with(&self.folder) && !own.contains(&id) {
                let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        for child in self.served.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a talk is with what is said now.
fn played(mut talk: Talk, text: &str) -> String {
    let mut played = String::new();
    // What stands between a command and the next one, or the next `#`, is its output.
    let (mut output, mut blank) = (false, false);
    for line in text.lines() {
        let command = line.strip_prefix("$ ");
        if command.is_none() && output && !line.starts_with('#') {
            blank = line.is_empty();
            continue;
        }
        if output && blank {
            played.push('\n');
        }
        let _ = writeln!(played, "{line}");
        played += &command.map_or_else(String::new, |command| talk.say(command));
        (output, blank) = (command.is_some(), false);
    }
    played
}

/// Plays the talks of a folder below tests, each with the files that `files` names for it. `installed` is the `PATH` and what npm has
/// installed.
///
/// # Panics
/// Where a talk goes otherwise than it is written.
pub fn play(folder: &str, files: &dyn Fn(&str) -> PathBuf, (path, packages): (&str, &Path)) {
    let case = std::env::var("CASE").unwrap_or_default();
    let update = std::env::var_os("UPDATE").is_some();
    let mut talks: Vec<PathBuf> = std::fs::read_dir(project(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|end| end == "txt"))
        .collect();
    talks.sort();
    let mut wrong = Vec::new();
    for file in talks {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&case) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let place = format!("{}-{name}", folder.replace('/', "-"));
        let now = played(Talk::new(&place, &files(&name), path, packages), &text);
        if now == text {
            continue;
        }
        match update {
            true => std::fs::write(&file, now).unwrap(),
            false => wrong.push(format!(
                "{name}:\n{}",
                similar::TextDiff::from_lines(&text, &now).unified_diff()
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
