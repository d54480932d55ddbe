//! What a `command` tool would not find on this machine, without running anything.

use std::path::Path;

use super::CommandSpec;

/// What is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// The program.
    Program(String),
    /// The program is a file that may not be executed.
    NotExecutable(String),
    /// The script that an interpreter is given.
    Script(String),
}

impl Absent {
    /// Which word of the command it is.
    pub fn word(&self) -> usize {
        match self {
            Absent::Program(_) | Absent::NotExecutable(_) => 0,
            Absent::Script(_) => 1,
        }
    }

    /// What is wrong, and what to do; `whose` runs the command.
    pub fn words(&self, whose: &str) -> (String, &'static str) {
        match self {
            Absent::Program(program) => (
                format!("there is no program `{program}`, which {whose} runs"),
                "install it, or correct its name",
            ),
            Absent::NotExecutable(program) => (
                format!("the file `{program}`, which {whose} runs, is not executable"),
                "allow it by `chmod +x`, or run it by its interpreter",
            ),
            Absent::Script(script) => (
                format!("there is no file `{script}`, which {whose} runs"),
                "a path is one from the folder of graphc.yaml",
            ),
        }
    }
}

/// Programs whose first argument, where it is no option, is a file to run.
const INTERPRETERS: [&str; 13] = [
    "python", "python3", "node", "sh", "bash", "dash", "zsh", "ruby", "perl", "php", "lua",
    "Rscript", "julia",
];

/// What is not there, where something isn't. `folder` is the one that the program runs in.
pub fn absent(spec: &CommandSpec, folder: &Path) -> Option<Absent> {
    let program = spec.argv.first()?;
    if program.is_empty() {
        // A variable that isn't set, which is said.
        return None;
    }
    match found(spec, program, folder) {
        Found::Yes => {}
        Found::No => return Some(Absent::Program(program.clone())),
        Found::NotExecutable => return Some(Absent::NotExecutable(program.clone())),
    }
    let name = Path::new(program).file_name()?.to_str()?;
    let script = spec.argv.get(1)?;
    let runs_it = INTERPRETERS.contains(&name.trim_end_matches(".exe"));
    // `bash -c ..` and the like run what is written there.
    if !runs_it || script.is_empty() || script.starts_with('-') || folder.join(script).exists() {
        return None;
    }
    Some(Absent::Script(script.clone()))
}

/// How a program is found.
enum Found {
    Yes,
    NotExecutable,
    No,
}

/// Looks for a program: as a path, or in the folders of its own `PATH`, where what is not executable is passed over.
fn found(spec: &CommandSpec, program: &str, folder: &Path) -> Found {
    if Path::new(program).components().count() > 1 {
        let path = folder.join(program);
        return match (path.is_file(), is_executable(&path)) {
            (_, true) => Found::Yes,
            (true, false) => Found::NotExecutable,
            (false, false) => Found::No,
        };
    }
    let path = spec.env.iter().find(|(name, _)| name == "PATH");
    let Some((_, path)) = path else {
        // Without one the system has its own idea of where to look.
        return Found::Yes;
    };
    let named = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let mut folders = std::env::split_paths(path.reveal());
    let is_there = folders.any(|folder| {
        let names = [program, &named].into_iter();
        names
            .map(|name| folder.join(name))
            .any(|path| is_executable(&path))
    });
    match is_there {
        true => Found::Yes,
        false => Found::No,
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let file = std::fs::metadata(path).ok().filter(|file| file.is_file());
    file.is_some_and(|file| file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
