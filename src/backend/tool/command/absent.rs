//! What a `command` tool would not find on this machine, without running anything.

use std::path::Path;

use super::CommandSpec;

/// What is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// The program.
    Program(String),
    /// The script that an interpreter is given.
    Script(String),
}

impl Absent {
    /// Which word of the command it is.
    pub fn word(&self) -> usize {
        match self {
            Absent::Program(_) => 0,
            Absent::Script(_) => 1,
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
    if !is_there(spec, program, folder) {
        return Some(Absent::Program(program.clone()));
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

/// Whether a program can be found: as a path, or in one of the folders of its own `PATH`.
fn is_there(spec: &CommandSpec, program: &str, folder: &Path) -> bool {
    if Path::new(program).components().count() > 1 {
        return folder.join(program).is_file();
    }
    let path = spec.env.iter().find(|(name, _)| name == "PATH");
    let Some((_, path)) = path else {
        // Without one the system has its own idea of where to look.
        return true;
    };
    let endings = std::env::consts::EXE_SUFFIX;
    std::env::split_paths(path.reveal()).any(|folder| {
        folder.join(program).is_file() || folder.join(format!("{program}{endings}")).is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::secret::{Secret, Secrets};

    fn spec(argv: &[&str]) -> CommandSpec {
        CommandSpec {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            at: Vec::new(),
            env: vec![(
                "PATH".to_owned(),
                Secret::new("/nowhere:/bin:/usr/bin".to_owned()),
            )],
            run_secrets: Vec::new(),
            secrets: Secrets::default(),
            max_concurrency: None,
            timeout: None,
            limit: 1,
        }
    }

    #[test]
    fn programs_and_scripts_are_looked_for() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = |name: &str| Some(Absent::Program(name.to_owned()));
        for (argv, expected) in [
            (&["sh", "-c", "gone.sh"][..], None),
            (&["sh", "Cargo.toml"], None),
            (
                &["sh", "gone.sh"],
                Some(Absent::Script("gone.sh".to_owned())),
            ),
            (&["no-such-program", "x"], program("no-such-program")),
            (&["./gone", "x"], program("./gone")),
            (&["./Cargo.toml"], None),
            (&["cat", "gone.txt"], None),
        ] {
            assert_eq!(absent(&spec(argv), folder), expected, "{argv:?}");
        }
    }
}
