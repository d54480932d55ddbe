//! The README, those of the flows in `graphs/`, and the tour do what they say: console blocks are run, pictures are what `graphc viz` draws.
//!
//! `<!-- file NAME -->` before a block writes it to a file, `<!-- run -->` runs the commands of a console
//! block and compares what they print (stdout, then stderr), `<!-- run postgres -->` the same with a PostgreSQL database of its own
//! in `DATABASE_URL`, `<!-- viz FLOW -->` compares a drawing, `<!-- graphc .. -->` what that command prints.
//! `$ echo 'TEXT' | graphc ..` gives a command its input; how long a scenario took is left out.
//! All of a text in one folder that has a copy of `graphs/`, in the order of the text. In what is printed, `[..]` stands for
//! any text. `UPDATE=1` writes what differs anew, with ids and the ends of long lines cut.

use crate::cluster;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest line that the README shows whole.
const WIDTH: usize = 240;

/// What is left out of a line, or of the lines of an output.
const CUT: &str = "[..]";

struct Folder(PathBuf);

impl Folder {
    fn new(readme: &str) -> Self {
        let name = readme.replace('/', "-");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        copy(&project("graphs"), &path.join("graphs"));
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true if entry.file_name() == ".graphc" => {}
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// A folder, and the status of the last command in it.
struct Shell {
    folder: Folder,
    status: i32,
    /// The address of a database, once a block has asked for one.
    database: Option<String>,
    /// Whether this block asks for it.
    with_database: bool,
}

impl Shell {
    /// What a command line prints.
    fn run(&mut self, line: &str) -> String {
        if line == "echo $?" {
            return format!("{}\n", self.status);
        }
        let (input, line) = piped(line);
        let arguments = ["graphc ", "cargo run -- "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
            .unwrap_or_else(|| panic!("only `graphc` can be run, not `{line}`"));
        let database = self.database.as_ref().filter(|_| self.with_database);
        let output = Command::new(env!("CARGO_BIN_EXE_graphc"))
            .args(words(arguments))
            .current_dir(&self.folder.0)
            .env_remove("NO_COLOR")
            .env_remove("OPENAI_API_KEY")
            .env_remove("DATABASE_URL")
            .envs(database.map(|url| ("DATABASE_URL", url)))
            .env("COLUMNS", "100")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(|mut process| {
                // A command that has read nothing may be done already.
                let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
                process.wait_with_output()
            })
            .unwrap();
        self.status = output.status.code().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let lines = text.iter().flat_map(|text| text.lines());
        lines.map(|line| format!("{}\n", untimed(line))).collect()
    }
}

/// What `echo 'TEXT' | COMMAND` gives to a command, and the command.
fn piped(line: &str) -> (String, &str) {
    let echoed = line.strip_prefix("echo '");
    match echoed.and_then(|rest| rest.split_once("' | ")) {
        Some((text, command)) => (format!("{text}\n"), command),
        None => (String::new(), line),
    }
}

/// A line without the time that a scenario took, which is shown where it was long.
fn untimed(line: &str) -> &str {
    let line = line.trim_end();
    let time = line.rsplit_once(" (").filter(|(name, time)| {
        let seconds = time.strip_suffix(" s)").unwrap_or_default();
        name.starts_with("  ✓ ") && seconds.parse::<f64>().is_ok()
    });
    time.map_or(line, |(name, _)| name)
}

/// Words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in line.split('\'').enumerate() {
        let quoted = at % 2 == 1;
        for (i, piece) in part.split(' ').enumerate() {
            match quoted {
                true => words.last_mut().unwrap().push_str(match i {
                    0 => piece,
                    _ => " ",
                }),
                false if i > 0 => words.push(piece.to_owned()),
                false => words.last_mut().unwrap().push_str(piece),
            }
            if quoted && i > 0 {
                words.last_mut().unwrap().push_str(piece);
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a text is what was written, [`CUT`] standing for anything.
fn matches(written: &str, text: &str) -> bool {
    let Some((first, rest)) = written.split_once(CUT) else {
        return written == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once(CUT).unwrap_or(("", rest));
    for piece in middle.split(CUT) {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// A line as the README shows it: long ones and what differs from run to run cut.
fn shortened(line: &str) -> String {
    let mut line = line.to_owned();
    if let Some((before, rest)) = line.split_once("\"run_id\":\"")
        && let Some((_, after)) = rest.split_once('"')
    {
        line = format!("{before}\"run_id\":\"{CUT}\"{after}");
    }
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}{CUT}", &line[..at]),
        None => line,
    }
}

/// A README with each block as it is now; blocks that still say the same stay as they are.
fn replayed(name: &str, readme: &str) -> String {
    let mut shell = Shell {
        folder: Folder::new(name),
        status: 0,
        database: None,
        with_database: false,
    };
    let mut out = String::new();
    let mut task = None::<(String, String)>;
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if let Some(comment) = line.strip_prefix("<!-- ") {
            let words = comment.trim_end_matches(" -->");
            let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
            task = Some((verb.to_owned(), rest.to_owned()));
            continue;
        }
        let Some((verb, rest)) = task.take_if(|_| line.starts_with("```")) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = block
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>();
        let now = match verb.as_str() {
            "file" => {
                std::fs::write(shell.folder.0.join(rest), &block).unwrap();
                block
            }
            "run" => {
                shell.with_database = rest == "postgres";
                if shell.with_database {
                    let url = || cluster::shared().url();
                    shell.database.get_or_insert_with(url);
                }
                console(&mut shell, &block)
            }
            "viz" => shell.run(&format!("graphc viz {rest} --format mermaid")),
            "graphc" => shell.run(&format!("graphc {rest}")),
            other => panic!("`{other}` is nothing to do with a block"),
        };
        out.push_str(&now);
        out.push_str("```\n");
    }
    out
}

fn console(shell: &mut Shell, block: &str) -> String {
    let mut out = String::new();
    for part in block
        .split_inclusive('\n')
        .fold(Vec::<String>::new(), |mut parts, line| {
            match line.starts_with("$ ") {
                true => parts.push(line.to_owned()),
                false => parts
                    .last_mut()
                    .expect("a command comes first")
                    .push_str(line),
            }
            parts
        })
    {
        let (command, written) = part.split_once('\n').unwrap();
        let printed = shell.run(&command[2..]);
        let printed = match matches(written, &printed) {
            true => written.to_owned(),
            false => printed.lines().map(|line| shortened(line) + "\n").collect(),
        };
        out.push_str(command);
        out.push('\n');
        out.push_str(&printed);
    }
    out
}

/// The README, those of flows, and the tour.
fn readmes() -> Vec<String> {
    let flows = std::fs::read_dir(project("graphs")).unwrap();
    let flows = flows.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let flows = flows.map(|flow| format!("graphs/{flow}/README.md"));
    let mut all: Vec<String> = flows.filter(|path| project(path).is_file()).collect();
    all.extend(["README.md", "docs/tour.md"].map(str::to_owned));
    all.sort();
    all
}

/// `CASE=maestro` picks the texts with that in their names.
#[test]
fn the_readmes_do_what_they_say() {
    let case = std::env::var("CASE").unwrap_or_default();
    let mut report = String::new();
    for name in readmes().iter().filter(|name| name.contains(&case)) {
        let path = project(name);
        let written = std::fs::read_to_string(&path).unwrap();
        let replayed = replayed(name, &written);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &replayed).unwrap();
        } else if written != replayed {
            report += &format!("{name}\n{}\n", difference(&written, &replayed));
        }
    }
    assert!(
        report.is_empty(),
        "texts that say otherwise (UPDATE=1 writes them anew):\n{report}"
    );
}

fn difference(old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .header("written", "now")
        .to_string()
}

#[test]
fn cuts_match_anything() {
    assert!(matches("a\n", "a\n") && !matches("a\n", "ab\n"));
    assert!(matches("a[..]c\n", "a b c\n") && matches("a[..]\n", "abc\n"));
    assert!(!matches("a[..]c\n", "a b d\n") && !matches("", "a\n"));
    assert_eq!(
        piped("echo 'a b' | graphc c"),
        ("a b\n".to_owned(), "graphc c")
    );
    assert_eq!(piped("graphc c"), (String::new(), "graphc c"));
    assert_eq!(untimed("  ✓ a (b) (1.5 s)"), "  ✓ a (b)");
    assert_eq!(untimed("2 passed (1.5 s)"), "2 passed (1.5 s)");
    assert_eq!(words("a 'b c' d"), ["a", "b c", "d"]);
    assert_eq!(words("--answer '{\"a\": 1}'"), ["--answer", "{\"a\": 1}"]);
}
