//! Talks with the program on a terminal: a case is a text file.
//!
//! A case is a talk in a fresh folder. `$ graphc ..` runs the command (`NAME=value` before it sets the
//! environment); below it stand its stdout, its stderr with `! ` before each line, and `? N` where the
//! status isn't 0. Where a folder has the name of the case, its files are there from the beginning. `$ write FILE TEXT` writes a file (`\n`, `\xNN` in the text), `$ ls` lists all files, `$ link TO FILE` and
//! `$ pipe FILE` make what their names say. Lines that begin with `#` are notes; `< FILE` at the end of a command is its
//! stdin, and with `| nobody` there its stdout has no reader. Ids and times that
//! differ from run to run are shown as `[ID]`, `[THREAD]`, `[TIME]`, `[SECONDS]` and `[MS]`. `UPDATE=1` rewrites what is below each
//! command. `CASE=name` has only the talks whose name contains `name`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// A folder of its own that goes when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
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

/// The program, in a folder.
pub fn graphc(folder: &Path) -> Command {
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

fn replay(path: &Path, case: &str) -> String {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let folder = Folder::new(&format!("talk-{name}"));
    let given = path.with_extension("");
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
    let replayed = replay(path, &written);
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

/// Plays the talks of a folder whose text is wanted.
pub fn play(folder: &str, wanted: impl Fn(&str) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let talks = std::fs::read_dir(folder).unwrap();
    let only = std::env::var("CASE").unwrap_or_default();
    let talks = talks.map(|entry| entry.unwrap().path());
    let talks: Vec<PathBuf> = talks
        .filter(|path| path.is_file())
        .filter(|path| path.file_stem().unwrap().to_str().unwrap().contains(&only))
        .filter(|path| wanted(&std::fs::read_to_string(path).unwrap()))
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
