//! The packages of `.ci/packages/`: built of this program, installed by pip and npm from their files, and run. The hooks of
//! `.pre-commit-hooks.yaml` run in a repository by pre-commit itself (PyPI).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

use crate::install;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("packages")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(program: impl AsRef<OsStr>, args: &[&str], within: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(args).current_dir(within);
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn succeeds(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{words}");
    said
}

/// The packages, of a copy of the program without what only debuggers read.
fn packages(into: &Path) -> PathBuf {
    let program = into.join("graphc");
    let built = env!("CARGO_BIN_EXE_graphc");
    succeeds(&run("strip", &["-o", "graphc", built], into));
    let pack = project(".ci/packages/pack.py");
    let (pack, program) = (pack.to_str().unwrap(), program.to_str().unwrap());
    succeeds(&run("python3", &[pack, program, "dist"], into));
    into.join("dist")
}

fn named(dist: &Path, end: &str) -> String {
    let files = fs::read_dir(dist).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.to_str().unwrap().ends_with(end))
        .collect();
    assert_eq!(files.len(), 1, "{end}: {files:?}");
    files.pop().unwrap().to_str().unwrap().to_owned()
}

/// The version, a check that finds nothing, and one that does: with its status.
fn works(graphc: &Path, within: &Path) {
    let version = succeeds(&run(graphc, &["--version"], within));
    assert_eq!(
        version.trim(),
        concat!("graphc ", env!("CARGO_PKG_VERSION"))
    );
    succeeds(&run(graphc, &["init", "desk"], within));
    succeeds(&run(graphc, &["check", "desk"], within));
    fs::write(within.join("wrong.graph"), "graph A { start -> b }\n").unwrap();
    let wrong = run(graphc, &["check", "wrong.graph"], within);
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn pip_and_npm_install_the_program() {
    let place = folder("installed");
    let dist = packages(&place);

    let python = install::python(&["pre-commit==4.6.0"]);
    let wheel = named(&dist, ".whl");
    let pip = [
        "-m",
        "pip",
        "install",
        "--no-index",
        "--force-reinstall",
        "--quiet",
        &wheel,
    ];
    succeeds(&run(python.join("bin/python"), &pip, &place));
    let by_pip = folder("pip");
    works(&python.join("bin/graphc"), &by_pip);

    let npm = install::npm(&["semver@7.7.3"]);
    let prefix = npm.to_str().unwrap();
    let (main, platform) = (
        dist.join(format!("graphc-{}.tgz", env!("CARGO_PKG_VERSION"))),
        named(&dist, &format!("x64-{}.tgz", env!("CARGO_PKG_VERSION"))),
    );
    let files = [
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--no-save",
        "--prefix",
        prefix,
        main.to_str().unwrap(),
        &platform,
    ];
    succeeds(&run("npm", &files, &place));
    let by_npm = folder("npm");
    works(&npm.join("node_modules/.bin/graphc"), &by_npm);

    hooks(&python, &folder("hooks"));
}

/// A commit is held back where a flow is wrong, and mended where it is laid out otherwise.
fn hooks(python: &Path, place: &Path) {
    let source = place.join("source");
    fs::create_dir_all(&source).unwrap();
    fs::copy(
        project(".pre-commit-hooks.yaml"),
        source.join(".pre-commit-hooks.yaml"),
    )
    .unwrap();
    let git = |args: &[&str], within: &Path| {
        let who = [
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.com",
            "-c",
            "init.defaultBranch=main",
        ];
        succeeds(&run("git", &[&who[..], args].concat(), within))
    };
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "hooks"],
    ] {
        git(args, &source);
    }
    let revision = git(&["rev-parse", "HEAD"], &source);

    let work = place.join("work");
    fs::create_dir_all(&work).unwrap();
    let graphc = python.join("bin/graphc");
    succeeds(&run(&graphc, &["init", "."], &work));
    let config = format!(
        "repos:\n  - repo: {}\n    rev: {}\n    hooks: [{{ id: graphc-fmt }}, {{ id: graphc-check }}, {{ id: graphc-test }}]\n",
        source.display(),
        revision.trim(),
    );
    fs::write(work.join(".pre-commit-config.yaml"), config).unwrap();
    git(&["init", "-q"], &work);
    git(&["add", "-A"], &work);
    let path = format!(
        "{}:{}",
        python.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let all = || {
        let mut command = Command::new(python.join("bin/pre-commit"));
        command.args(["run", "--all-files"]).current_dir(&work);
        command
            .env("PATH", &path)
            .env("PRE_COMMIT_HOME", place.join("cache"));
        command.output().unwrap()
    };
    succeeds(&all());

    let flow = work.join("desk.graph");
    let good = fs::read_to_string(&flow).unwrap();
    fs::write(&flow, good.replacen("enum Route", "enum    Route", 1)).unwrap();
    git(&["add", "-A"], &work);
    assert!(!all().status.success());
    assert_eq!(fs::read_to_string(&flow).unwrap(), good);

    fs::write(&flow, good.replacen("start ->", "start -> nowhere ->", 1)).unwrap();
    git(&["add", "-A"], &work);
    let refused = all();
    let said = String::from_utf8_lossy(&refused.stdout);
    assert!(
        !refused.status.success() && said.contains("nowhere"),
        "{said}"
    );
}

/// The workflow of a new project names the digest of the program that made it.
#[test]
fn a_new_project_pins_the_program() {
    let place = folder("pinned");
    succeeds(&run(env!("CARGO_BIN_EXE_graphc"), &["init", "."], &place));
    let workflow = fs::read_to_string(place.join(".github/workflows/graphc.yml")).unwrap();
    let program = fs::read(env!("CARGO_BIN_EXE_graphc")).unwrap();
    let digest: String = Sha256::digest(program)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(
        workflow.contains(&format!("GRAPHC_SHA256: \"{digest}\"")),
        "{workflow}"
    );
}
