//! Programs that tests need and that the machine may lack.

use std::process::Command;

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
