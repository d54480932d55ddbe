//! What `graphc diff` finds: every `tests/diff/*.graph` holds two versions of a flow, the new one below
//! `// ---- new`, and has its findings in a snapshot beside it. And how it reads flows out of commits.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

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
const FLOW: &str = "import { Doc } from \"./types.graph\"\ngraph Main {\n  state { in doc: Doc, out a: string = \"\" }\n  start -> x\n  node x: llm -> end { model m, prompt file \"prompts/x.md\", set { a: string(reply.content) } }\n}\nmodel m = \"openai/gpt\"\n";

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
    let old = "model m = \"hosted/x\" { max_tokens 100 }\ntool look(q: string) -> string\ngraph Main {\n  state { out a: string = \"\", ok: bool = false }\n  tools [look]\n  start -> ask\n  node ask: interrupt { ask \"go on?\", expect bool, set { ok: answer }, goto { when state.ok -> x else -> end } }\n  node x: agent -> end { model m, prompt \"hi\", tools [look], max_turns 2, set { a: string(reply.content) } }\n}\n";
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
        ]
    );
    let json = repository.graphc(&[&args[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.1).unwrap();
    assert_eq!(json["wider"].as_array().unwrap().len(), lines.len());
}
