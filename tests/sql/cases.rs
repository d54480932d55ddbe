//! The files of cases.

use std::path::{Path, PathBuf};

/// A case: its name, and the lines below it.
pub struct Case {
    pub name: String,
    pub lines: Vec<String>,
}

/// A file: what stands above the first case, and the cases.
pub struct File {
    pub path: PathBuf,
    pub head: String,
    pub cases: Vec<Case>,
}

/// All files of a folder beside this one.
pub fn files(folder: &str) -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sql")
        .join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> File {
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut head, mut cases) = (String::new(), Vec::<Case>::new());
    for line in text.lines() {
        match (line.strip_prefix("== "), cases.last_mut()) {
            (Some(name), _) => cases.push(Case {
                name: name.to_owned(),
                lines: Vec::new(),
            }),
            (None, Some(case)) => case.lines.push(line.to_owned()),
            (None, None) => head += &format!("{line}\n"),
        }
    }
    File { path, head, cases }
}

/// Holds what was found against the file, or writes it there.
pub fn compare(file: &File, found: &[Case]) -> Vec<String> {
    if std::env::var_os("UPDATE").is_some() {
        let mut text = file.head.clone();
        for case in found {
            text += &format!("== {}\n{}\n", case.name, case.lines.join("\n"));
        }
        std::fs::write(&file.path, text).unwrap();
        return Vec::new();
    }
    let pairs = file.cases.iter().zip(found);
    let wrong = pairs.filter(|(expected, found)| expected.lines != found.lines);
    wrong
        .map(|(expected, found)| {
            let name = file.path.file_name().unwrap().display();
            format!(
                "{name}, `{}`: expected\n{}\nfound\n{}\n",
                expected.name,
                expected.lines.join("\n"),
                found.lines.join("\n")
            )
        })
        .collect()
}
