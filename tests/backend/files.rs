//! Files that are wrong: each case in `config/` and `scenario/` is a YAML file that ends in a comment
//! with what is reported about it. `UPDATE=1` writes those comments anew.
//!
//! Comment lines at the top set the stage: `# profile: NAME`, `# env: NAME=VALUE`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use graphc::base::SourceMap;
use graphc::diag::Diagnostics;
use graphc::project::{config, scenario};

const MARK: &str = "#---\n";

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/backend")
        .join(folder);
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn shown(found: &Diagnostics, sources: &SourceMap) -> String {
    let mut out = String::new();
    for finding in found.iter() {
        let at = sources.location(finding.span());
        let text = sources.text(finding.span());
        let (line, column) = (at.line, at.column);
        out += &format!(
            "# {line}:{column} `{text}`: {}\n",
            finding.message.replace('\n', "\n#   ")
        );
        if let Some(help) = &finding.help {
            out += &format!("#   help: {help}\n");
        }
    }
    out
}

fn check(folder: &str, read: impl Fn(&str, &SourceMap, graphc::base::FileId) -> String) {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for path in cases(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (yaml, expected) = text.split_once(MARK).unwrap_or((&text, ""));
        let mut sources = SourceMap::new();
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = sources.add(name, yaml);
        let found = read(yaml, &sources, file);
        if update {
            std::fs::write(&path, format!("{yaml}{MARK}{found}")).unwrap();
        } else if found != expected {
            wrong.push(format!("{name}: expected\n{expected}found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn settings<'a>(yaml: &'a str, key: &str) -> Vec<&'a str> {
    let lines = yaml.lines().take_while(|line| line.starts_with('#'));
    lines
        .filter_map(|line| line.strip_prefix(&format!("# {key}: ")))
        .collect()
}

#[test]
fn configs() {
    check("config", |yaml, sources, file| {
        let env: BTreeMap<&str, &str> = settings(yaml, "env")
            .iter()
            .map(|entry| entry.split_once('=').unwrap())
            .collect();
        let env = |name: &str| env.get(name).map(|value| (*value).to_owned());
        let profile = settings(yaml, "profile").first().copied();
        match config::load(sources, file, profile, &env) {
            Err(found) => shown(&found, sources),
            Ok(config) => {
                // A variable that isn't set counts once its entry is used; here all are.
                let missing = config.store.iter().flat_map(|e| &e.missing);
                let missing = missing.chain(config.providers.values().flat_map(|e| &e.missing));
                let missing = missing.chain(config.tools.values().flat_map(|e| &e.missing));
                let mut found = Diagnostics::new();
                missing.for_each(|finding| found.push(finding.clone()));
                let dump = format!(
                    "profile {:?}\nstore {:?}\nproviders {:#?}\ntools {:#?}\nmodels {:#?}\nlints {:#?}",
                    config.profile,
                    config.store.map(|e| e.value),
                    values(config.providers),
                    values(config.tools),
                    values(config.models),
                    values(config.lints),
                );
                let dump: String = dump.lines().map(|line| format!("#. {line}\n")).collect();
                shown(&found, sources) + &dump
            }
        }
    });
}

fn values<T>(entries: BTreeMap<String, config::Entry<T>>) -> BTreeMap<String, T> {
    entries
        .into_iter()
        .map(|(name, entry)| (name, entry.value))
        .collect()
}

#[test]
fn scenarios() {
    check("scenario", |_, sources, file| {
        match scenario::load(sources, file) {
            Err(found) => shown(&found, sources),
            Ok(suite) => {
                let dump = format!("flow {:?}\n{:#?}", suite.flow, suite.scenarios);
                dump.lines().map(|line| format!("#. {line}\n")).collect()
            }
        }
    });
}

/// A file that was cut off anywhere, or that lost a character, is reported or read, never a panic, and
/// what is reported stands within it.
#[test]
fn broken_files() {
    for folder in ["config", "scenario"] {
        for path in cases(folder) {
            let text = std::fs::read_to_string(path).unwrap();
            let yaml = text.split_once(MARK).unwrap().0;
            for at in (0..yaml.len())
                .step_by(37)
                .filter(|at| yaml.is_char_boundary(*at))
            {
                let cut = yaml[..at].to_owned();
                let after = yaml[at..].chars().next().map_or(0, char::len_utf8);
                let without = format!("{cut}{}", &yaml[at + after..]);
                let strange = format!("{cut}ü\u{1f600}{}", &yaml[at..]);
                for text in [cut, without, strange] {
                    broken(&text);
                }
            }
        }
    }
}

fn broken(text: &str) {
    let mut sources = SourceMap::new();
    let file = sources.add("broken.yaml", text);
    let config = config::load(&sources, file, Some("dev"), &|_| None).err();
    let scenario = scenario::load(&sources, file).err();
    for finding in config.into_iter().chain(scenario).flatten() {
        let span = finding.span();
        assert!(text.get(span.start as usize..span.end as usize).is_some());
    }
}
