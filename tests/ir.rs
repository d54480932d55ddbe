//! The IR of programs: every `tests/ir/*.graph` is compiled and compared with its snapshot, is the same
//! in every compilation, survives its own JSON, and is what the schema says.

use std::collections::BTreeMap;
use std::path::Path;

use graphc::compile::compile;
use graphc::expr::ty::ERROR_KINDS;
use graphc::ir::{self, ErrorKind, Flow};

fn flow(name: &str, files: &BTreeMap<String, String>) -> Flow {
    let compiled = compile(name, files);
    let findings: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.code.slug, d.message))
        .collect();
    compiled
        .flow
        .unwrap_or_else(|| panic!("{name} does not compile: {findings:#?}"))
}

fn cases() -> Vec<(String, BTreeMap<String, String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut files = BTreeMap::new();
    for (prefix, folder) in [("", folder.clone()), ("files/", folder.join("files"))] {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                files.insert(
                    prefix.to_owned() + &name,
                    std::fs::read_to_string(&path).unwrap(),
                );
            }
        }
    }
    let flows = |name: &&String| name.ends_with(".graph") && !name.contains('/');
    let names: Vec<String> = files.keys().filter(flows).cloned().collect();
    names
        .into_iter()
        .map(|name| (name, files.clone()))
        .collect()
}

#[test]
fn snapshots() {
    for (name, files) in cases() {
        let json = flow(&name, &files).to_json().unwrap();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("ir");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name.trim_end_matches(".graph"), json));
    }
}

#[test]
fn same_bytes_every_time() {
    for (name, files) in cases() {
        let (first, second) = (flow(&name, &files), flow(&name, &files));
        assert_eq!(
            first.to_json().unwrap(),
            second.to_json().unwrap(),
            "{name}"
        );
        assert_eq!(first.version(), second.version(), "{name}");
    }
}

#[test]
fn survives_its_json() {
    for (name, files) in cases() {
        let flow = flow(&name, &files);
        let back: Flow = serde_json::from_str(&flow.to_json().unwrap()).unwrap();
        assert_eq!(back, flow, "{name}");
        assert_eq!(back.version(), flow.version(), "{name}");
    }
}

#[test]
fn layout_is_no_part_of_the_version() {
    for (name, files) in cases() {
        let mut moved = files.clone();
        let text = moved.get_mut(&name).unwrap();
        *text = format!("// moved\n\n{text}");
        let (first, second) = (flow(&name, &files), flow(&name, &moved));
        assert_ne!(first, second, "{name}");
        assert_eq!(first.version(), second.version(), "{name}");
    }
}

/// A constant may have the keys that places stand under.
#[test]
fn constants_are_part_of_the_version() {
    let version = |constant: &str| {
        let text = format!(
            "graph Main {{\n  state {{ in out n: json = {constant} }}\n  start -> go\n  node go: update -> end\n}}\n"
        );
        let files = [("main.graph".to_owned(), text)].into();
        flow("main.graph", &files).version()
    };
    for key in ["at", "anchors", "files", "marks"] {
        let of = |value: &str| version(&format!("{{\"{key}\": {value}}}"));
        assert_ne!(of("[]"), of("[1]"), "{key}");
        assert_ne!(of("{\"a\": 1}"), of("{\"a\": 2}"), "{key}");
    }
}

#[test]
fn is_what_the_schema_says() {
    let schema = ir::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, files) in cases() {
        let json = serde_json::to_value(flow(&name, &files)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn kinds_of_errors_have_the_words_of_the_data() {
    for (kind, word) in ErrorKind::ALL.into_iter().zip(ERROR_KINDS) {
        assert_eq!((kind.word(), serde_json::json!(kind)), (word, word.into()));
    }
}
