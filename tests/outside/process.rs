//! A `graphc` process in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A fresh folder with these files.
pub fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outside-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

pub fn graphc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it to its end; with the most memory that it had beside its own program file, in MB.
#[cfg(target_os = "linux")]
pub fn measured(folder: &Path, args: &[&str]) -> (Output, u64) {
    let child = graphc(folder, args).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // The line is gone once the process has ended.
        while let Some(taken) = taken(&status) {
            most = taken.max(most);
            std::thread::sleep(Duration::from_millis(5));
        }
        most
    });
    let output = child.wait_with_output().unwrap();
    (output, watch.join().unwrap() / 1024)
}

#[cfg(target_os = "linux")]
fn taken(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    // A program of a debug build has a file of 150 MB, of which half is read in.
    Some(kib("VmHWM:")?.saturating_sub(kib("RssFile:")?))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
