//! Programs that tests need and that the machine may lack.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What a program says on its stdout; `None` where it fails or is not there.
pub fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Installs a package with the system's own client, and fails where that fails.
pub fn apt(package: &str) {
    let apt = |args: &[&str]| {
        let mut command = match said("id", &["-u"]).as_deref() {
            Some("0") => Command::new("apt-get"),
            _ => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", "apt-get"]);
                sudo
            }
        };
        command
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .output()
    };
    let _ = apt(&["update"]);
    let ways = format!("the tests need `{package}`: install it (`apt-get install -y {package}`)");
    let output = apt(&["install", "-y", package]).unwrap_or_else(|error| panic!("{ways}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{ways}: {said}");
}

/// A folder below `CARGO_TARGET_TMPDIR` with these packages of npm, installed once. npm comes with the system's `npm` where it is
/// missing.
#[allow(dead_code)]
pub fn npm(packages: &[&str]) -> PathBuf {
    once("npm", packages, |folder| {
        if said("npm", &["--version"]).is_none() {
            apt("npm");
        }
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(folder)
            .args(packages);
        succeeds(npm);
    })
}

/// A virtual environment of Python below `CARGO_TARGET_TMPDIR` with these packages of PyPI, made once.
#[allow(dead_code)]
pub fn python(packages: &[&str]) -> PathBuf {
    once("python", packages, |folder| {
        if said("python3", &["-m", "venv", "-h"]).is_none() {
            apt("python3-venv");
        }
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(folder);
        succeeds(venv);
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet"]).args(packages);
        succeeds(pip);
    })
}

/// A folder for packages, filled where it does not hold just these.
fn once(kind: &str, packages: &[&str], fill: impl FnOnce(&Path)) -> PathBuf {
    // Tests of one binary run side by side, and want the same folder.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let name: String = packages
        .iter()
        .flat_map(|package| package.chars())
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{kind}-{name}"));
    let list = folder.join("installed.txt");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&list).ok().as_deref() != Some(&wanted) {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        fill(&folder);
        std::fs::write(list, wanted).expect("the list can be written");
    }
    folder
}

fn succeeds(mut command: Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}
