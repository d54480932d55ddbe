//! The texts that are changed: what the repository has of each kind, and what was found once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use graphc::compile::compile;

use super::chance::Chance;
use super::entry::{ENTRIES, Entry};

/// Texts by reader.
pub struct Corpus {
    readers: Vec<(&'static Entry, Vec<String>)>,
}

impl Corpus {
    /// Reads the repository.
    pub fn load() -> Self {
        let only = std::env::var("GRAPHC_FUZZ_ENTRY").ok();
        let wanted = |entry: &&Entry| {
            only.as_ref()
                .is_none_or(|only| only.split(',').any(|one| one == entry.name))
        };
        let mut kept: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (entry, _, text) in self::kept() {
            kept.entry(entry.name).or_default().push(text);
        }
        let readers = ENTRIES.iter().filter(wanted).map(|entry| {
            let mut texts = texts(entry.name);
            // A text that is long takes long; what it has is in shorter ones too.
            texts.retain(|text| text.len() < 12_000);
            texts.extend(
                kept.remove(entry.name)
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|text| text.len() < 12_000),
            );
            assert!(!texts.is_empty(), "there is no text for `{}`", entry.name);
            (entry, texts)
        });
        Self {
            readers: readers.collect(),
        }
    }

    /// One of the readers.
    pub fn entry(&self, chance: &mut Chance) -> &'static Entry {
        chance.pick(&self.readers).0
    }

    /// The texts of a reader.
    pub fn texts(&self, of: &Entry) -> &[String] {
        let reader = self.readers.iter().find(|(entry, _)| entry.name == of.name);
        &reader.unwrap().1
    }
}

/// The files of `tests/fuzz/corpus`: reader, name, text. What is no UTF-8 is read as the command's reader would not: with
/// replacement characters.
pub fn kept() -> Vec<(&'static Entry, String, String)> {
    let mut kept = Vec::new();
    for entry in ENTRIES {
        let folder = root().join("tests/fuzz/corpus").join(entry.name);
        for path in files(&folder, "") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let bytes = std::fs::read(&path).unwrap();
            kept.push((entry, name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    kept
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false if path.to_str().unwrap().ends_with(ending) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn read(folders: &[&str], ending: &str) -> Vec<String> {
    let paths = folders
        .iter()
        .flat_map(|folder| files(&root().join(folder), ending));
    paths
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect()
}

fn texts(entry: &str) -> Vec<String> {
    match entry {
        "eval" => expressions(),
        "template" => templates(),
        "config" => {
            let mut texts = read(&["tests/backend/config"], ".yaml");
            texts.extend(read(&["graphs"], "graphc.yaml"));
            texts
        }
        "scenario" => {
            let mut texts = read(&["graphs", "tests"], ".test.yaml");
            texts.extend(read(&["tests/fit", "tests/backend/scenario"], ".yaml"));
            texts
        }
        // Compiling all of them takes longer than a short run.
        "ir" => {
            let flows = flows();
            flows
                .iter()
                .step_by(12)
                .filter_map(|text| ir(text))
                .collect()
        }
        _ => flows(),
    }
}

fn flows() -> Vec<String> {
    let mut flows = read(&["graphs", "stdlib", "tests"], ".graph");
    for page in read(&["docs"], ".md") {
        let fences = page.split("```graph\n").skip(1);
        flows.extend(fences.filter_map(|fence| Some(fence.split_once("```")?.0.to_owned())));
    }
    flows
}

fn ir(text: &str) -> Option<String> {
    if text.len() > 2_000 {
        return None;
    }
    let files: BTreeMap<String, String> = [("main.graph".to_owned(), text.to_owned())].into();
    let flow = compile("main.graph", &files).flow?;
    serde_json::to_string(&flow).ok()
}

fn expressions() -> Vec<String> {
    let mut texts = Vec::new();
    for file in read(&["tests/cel"], ".json") {
        let cases: Vec<serde_json::Value> = serde_json::from_str(&file).unwrap();
        texts.extend(
            cases
                .iter()
                .filter_map(|case| Some(case["expr"].as_str()?.to_owned())),
        );
    }
    for file in read(&["tests/expr"], ".yaml") {
        let cases: Vec<serde_json::Value> = serde_yaml::from_str(&file).unwrap();
        texts.extend(
            cases
                .iter()
                .filter_map(|case| Some(case["expr"].as_str()?.to_owned())),
        );
    }
    for file in read(&["tests/infer"], ".txt") {
        texts.extend(
            file.split("\n\n")
                .filter_map(|case| Some(case.lines().next()?.to_owned())),
        );
    }
    texts
}

fn templates() -> Vec<String> {
    let files = read(&["tests/template"], ".txt");
    let cases = files.iter().flat_map(|file| file.split("\n===\n").skip(1));
    let mut texts: Vec<String> = cases
        .filter_map(|case| Some(case.split("\n---\n").next()?.to_owned()))
        .collect();
    for flow in flows() {
        texts.extend(flow.split("\"\"\"").skip(1).step_by(2).map(str::to_owned));
    }
    texts
}
