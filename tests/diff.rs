//! What `graphc diff` finds: every `tests/diff/*.graph` holds two versions of a flow, the new one below
//! `// ---- new`, and has its findings in a snapshot beside it. And how it reads flows out of commits.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use graphc::compile::compile;
use graphc::diag::render;
use graphc::ir::Flow;
use graphc::ir::diff::diff;

fn compiled(text: &str) -> Flow {
    let files = BTreeMap::from([("case.graph".to_owned(), text.to_owned())]);
    let compiled = compile("case.graph", &files);
    let (found, sources) = (&compiled.diagnostics, &compiled.sources);
    let shown = || render::human(found, sources, render::Style::PLAIN);
    compiled.flow.unwrap_or_else(|| panic!("{}", shown()))
}

fn findings(case: &str) -> String {
    let (old, new) = case.split_once("// ---- new\n").unwrap();
    let mut out = String::new();
    let mut group = "";
    for finding in diff(&compiled(old), &compiled(new)) {
        if group != finding.group.word() {
            group = finding.group.word();
            writeln!(out, "{group}").unwrap();
        }
        let place = |place: Option<graphc::ir::Place>| place.map_or(0, |place| place.line);
        let (old, new) = (place(finding.old), place(finding.new));
        let (side, code, message) = (finding.side.word(), finding.code, &finding.message);
        writeln!(out, "  {side} {old}/{new} [{code}] {message}").unwrap();
    }
    out
}

#[test]
fn versions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diff");
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "graph")
        {
            continue;
        }
        cases += 1;
        let case = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        insta::with_settings!({
            snapshot_path => &folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name.clone(), findings(&case));
        });
        // Nothing changes from a version to itself.
        for version in case.split("// ---- new\n") {
            let flow = compiled(version);
            assert!(diff(&flow, &flow).is_empty(), "{name}");
        }
    }
    assert!(cases > 3);
}

/// Changes of a flow's JSON, one at a time: each leaf, and each element and key taken out. Places and what serves them
/// alone are left as they are, and nothing else is.
struct Mutations {
    /// The way to each part.
    paths: Vec<String>,
}

impl Mutations {
    fn of(flow: &serde_json::Value) -> Self {
        let mut paths = Vec::new();
        let mut waiting = vec![(String::new(), flow)];
        while let Some((path, json)) = waiting.pop() {
            let mut visit = |key: &str, json| {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                paths.push(path.clone());
                waiting.push((path, json));
            };
            match json {
                serde_json::Value::Object(entries) => {
                    for (key, json) in entries {
                        let place = json.get("column").is_some() || key == "anchors";
                        if !(place || key == "files" && path.is_empty()) {
                            visit(key, json);
                        }
                    }
                }
                serde_json::Value::Array(items) => {
                    items
                        .iter()
                        .enumerate()
                        .for_each(|(i, json)| visit(&i.to_string(), json));
                }
                _ => {}
            }
        }
        Self { paths }
    }

    /// The flow with the part at a path in other forms, as far as they are flows.
    fn at(flow: &serde_json::Value, path: &str) -> Vec<Flow> {
        use serde_json::Value as Json;
        let changed: Vec<Json> = match flow.pointer(path).unwrap() {
            Json::Bool(set) => vec![Json::Bool(!set)],
            Json::Number(number) if number.is_u64() => vec![(number.as_u64().unwrap() + 1).into()],
            Json::Number(number) => vec![(number.as_f64().unwrap() + 0.5).into()],
            // Another text; where it is a word of the IR, another of these.
            Json::String(text) => {
                let others = [
                    "int", "string", "timeout", "out", "write", "any_last", "thread",
                ];
                let others = others.into_iter().filter(|other| other != text);
                std::iter::once(format!("{text}x").into())
                    .chain(others.map(Json::from))
                    .collect()
            }
            Json::Null => vec![true.into()],
            _ => Vec::new(),
        };
        let put = |json: Json| {
            let mut form = flow.clone();
            *form.pointer_mut(path).unwrap() = json;
            serde_json::from_value::<Flow>(form).ok()
        };
        let changed = changed.into_iter().find_map(put);
        let (above, key) = path.rsplit_once('/').unwrap();
        let mut form = flow.clone();
        let gone = match form.pointer_mut(above).unwrap() {
            Json::Object(entries) => entries.remove(&key.replace("~1", "/").replace("~0", "~")),
            Json::Array(items) => Some(items.remove(key.parse().unwrap())),
            _ => None,
        };
        let gone = gone.and_then(|_| serde_json::from_value(form).ok());
        let flows = changed.into_iter().chain(gone);
        // A form that means the same, such as a key without which a part has its default.
        flows
            .filter(|form: &Flow| serde_json::to_value(form).unwrap() != *flow)
            .collect()
    }
}

/// How many changes of a flow were tried, at most about `most`, and those that nothing is said of.
fn passed_over(name: &str, version: &str, most: usize) -> (usize, Vec<String>) {
    let files = BTreeMap::from([("case.graph".to_owned(), version.to_owned())]);
    let Some(flow) = compile("case.graph", &files).flow else {
        return (0, Vec::new());
    };
    let json = serde_json::to_value(&flow).unwrap();
    let paths = Mutations::of(&json).paths;
    let each = paths.len().div_ceil(most);
    let (mut tried, mut silent) = (0, Vec::new());
    // Another part of each flow, by its length.
    for part in paths.iter().skip(version.len() % each).step_by(each) {
        for other in Mutations::at(&json, part) {
            tried += 1;
            if diff(&flow, &other).is_empty() {
                let was = json.pointer(part).unwrap();
                silent.push(format!("{name} {part} {was}"));
            }
        }
    }
    (tried, silent)
}

/// Whatever of the IR is another is said, in every flow of these tests and in a part of each that the engine's tests run.
#[test]
fn nothing_of_a_flow_is_passed_over() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut versions = Vec::new();
    for (folder, most) in [("diff", 4_000), ("run", 12)] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "graph")
            {
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let each = text.split("// ---- new\n");
            versions.extend(each.map(|version| (name.clone(), version.to_owned(), most)));
        }
    }
    let next = AtomicUsize::new(0);
    let found = Mutex::new((0, Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, version, most)) =
                    versions.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let (tried, silent) = passed_over(name, version, *most);
                    let mut found = found.lock().unwrap();
                    found.0 += tried;
                    found.1.extend(silent);
                }
            });
        }
    });
    let (tried, silent) = found.into_inner().unwrap();
    assert!(tried > 2_000, "{tried}");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// A repository in a folder of its own.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("diff-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn git(&self, args: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(&self.0)
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(args)
            .status();
        assert!(status.unwrap().success(), "{args:?}");
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Status, stdout, stderr.
    fn graphc(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_graphc"))
            .args(args)
            .current_dir(&self.0)
            // The folder of the tests lies in a repository itself.
            .env("GIT_CEILING_DIRECTORIES", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

const TYPES: &str = "type Doc { id: string }\n";
const FLOW: &str = "import { Doc } from \"./types.graph\"\ngraph Main {\n  state { in doc: Doc, out a: string = \"\" }\n  start -> x\n  node x: llm -> end { model m, prompt file \"prompts/x.md\", set { a: reply.text } }\n}\nmodel m = \"openai/gpt\"\n";

#[test]
fn a_commit_is_read_with_all_its_files() {
    let repository = Repository::new("commit");
    repository.git(&["init", "-q"]);
    repository.write("flows/types.graph", TYPES);
    repository.write("flows/main.graph", FLOW);
    repository.write("flows/prompts/x.md", "Answer {{ state.doc.id }}.\n");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "one"]);
    repository.git(&["tag", "one"]);
    let same = repository.graphc(&["diff", "flows/main.graph", "--against", "git:one"]);
    assert_eq!(same, (0, String::new(), "nothing changes\n".to_owned()));

    repository.write(
        "flows/types.graph",
        "type Doc { id: string, title: string }\n",
    );
    repository.write("flows/prompts/x.md", "Answer {{ state.doc.title }}.\n");
    let (status, found, said) =
        repository.graphc(&["diff", "flows/main.graph", "--against", "git:one"]);
    assert_eq!(status, 1, "{said}");
    assert!(
        found.contains("`Doc.title` is new and has no default"),
        "{found}"
    );
    assert!(found.contains("at flows/main.graph:3:11"), "{found}");
    assert!(found.contains("`prompt` of node `x`"), "{found}");

    // What is gone now is still there in the commit; what is new was not.
    repository.write("flows/new.graph", FLOW);
    for (args, why) in [
        (
            ["diff", "flows/new.graph", "--against", "git:one"],
            "there is no `flows/new.graph` in `one`",
        ),
        (
            ["diff", "flows/main.graph", "--against", "git:gone"],
            "git knows no revision `gone`",
        ),
        (
            ["diff", "flows/main.graph", "--against", "git:--help"],
            "git knows no revision `--help`",
        ),
        (
            ["diff", "flows/main.graph", "--against", "one"],
            "`--against` takes `git:REV`",
        ),
    ] {
        let (status, _, said) = repository.graphc(&args);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(why), "{said}");
    }

    // A version that never compiled has its errors said.
    repository.write("flows/main.graph", "graph Main { state { } }\n");
    repository.git(&["commit", "-qam", "broken"]);
    repository.write("flows/main.graph", FLOW);
    let (status, _, said) =
        repository.graphc(&["diff", "flows/main.graph", "--against", "git:HEAD"]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("flows/main.graph (HEAD)"), "{said}");
}

#[test]
fn outside_of_a_repository() {
    let folder = Repository::new("outside");
    folder.write("a.graph", TYPES);
    let (status, _, said) = folder.graphc(&["diff", "a.graph", "--against", "git:main"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("is in no git repository"), "{said}");
}

#[test]
fn an_audit_says_what_a_change_widens() {
    let repository = Repository::new("audit");
    let settings = "providers:\n  hosted: { kind: openai, base_url: \"https://a.example/v1\", api_key: \"${KEY}\" }\n";
    let old = "model m = \"hosted/x\" { max_tokens 100 }\ntool look(q: string) -> string\ngraph Main {\n  state { out a: string = \"\", ok: bool = false }\n  tools [look]\n  start -> ask\n  node ask: interrupt { ask \"go on?\", expect bool, set { ok: answer }, goto { when state.ok -> x else -> end } }\n  node x: agent -> end { model m, prompt \"hi\", tools [look], max_turns 2, set { a: reply.text } }\n}\n";
    repository.git(&["init", "-q"]);
    repository.write("graphc.yaml", settings);
    repository.write("main.graph", old);
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "one"]);
    let args = ["audit", "main.graph", "--against", "git:HEAD"];
    let (status, sheet, said) = repository.graphc(&args);
    assert_eq!((status, said.as_str()), (0, ""));
    assert!(sheet.ends_with("wider        nothing\n"), "{sheet}");

    let new = old
        .replace("max_turns 2", "max_turns 5")
        .replace(
            "tool look",
            "tool pay(sum: int) -> string @effect(write)\ntool look",
        )
        .replace("[look]", "[look, pay]")
        .replace("start -> ask", "start { when state.ok -> x else -> ask }");
    repository.write("main.graph", &new);
    let tool = "tools:\n  look: { http: { url: \"https://b.example/q\" } }\n";
    repository.write("graphc.yaml", &format!("{settings}{tool}"));
    let (status, sheet, said) = repository.graphc(&args);
    assert_eq!((status, said.as_str()), (1, ""), "{sheet}");
    let wider = sheet.split_once("wider").unwrap().1;
    let lines: Vec<&str> = wider.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "model calls: at most 5, was at most 2",
            "output tokens: at most 500, was at most 200",
            "tool pay (write) is in reach",
            "tool look is served by http, was by unbound",
            "tool look can be reached without Main.ask",
            "the scope of graph Main has pay",
            "data goes to b.example: tool look",
            "data goes to where nobody has said: tool pay, which nothing serves",
        ]
    );
    let json = repository.graphc(&[&args[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.1).unwrap();
    assert_eq!(json["wider"].as_array().unwrap().len(), lines.len());
}
