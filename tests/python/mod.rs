//! Python for the tests: the interpreter, and packages in a folder of the test's own.
//!
//! Where `python3` or its `venv` is missing it is installed (`apt-get install -y python3-venv`), and a test that needs it fails where that
//! fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install;

/// An interpreter that has these packages, at the versions that they name. The folder is kept: a second run installs nothing.
pub fn with_packages(folder: &Path, packages: &[&str]) -> PathBuf {
    let python = folder.join("bin/python");
    let marker = folder.join("installed");
    let wanted = packages.join(" ");
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return python;
    }
    let _ = std::fs::remove_dir_all(folder);
    let made = || run(Command::new("python3").args(["-m", "venv"]).arg(folder));
    if made().is_err() {
        install::apt("python3-venv");
        made().unwrap_or_else(|said| panic!("python3 -m venv: {said}"));
    }
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    run(Command::new(&python).args(pip).args(packages))
        .unwrap_or_else(|said| panic!("pip install {wanted}: {said}"));
    std::fs::write(marker, wanted).unwrap();
    python
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}
