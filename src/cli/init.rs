//! `graphc init [DIR]`

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::base::name;

use super::{Context, Exit, Failure, files, present};

const EXAMPLES: &str = "\
Examples:
  graphc init                          in this folder
  graphc init desk                     in a new folder";

/// Files of a new project: path in the project, content.
pub const FILES: [(&str, &str); 5] = [
    ("desk.graph", include_str!("init/desk.graph")),
    ("desk.test.yaml", include_str!("init/desk.test.yaml")),
    ("graphc.yaml", include_str!("init/graphc.yaml")),
    (
        ".github/workflows/graphc.yml",
        include_str!("init/workflow.yml"),
    ),
    (".gitignore", include_str!("init/gitignore")),
];

/// What stands in the workflow for the digest of the program.
const DIGEST: &str = "@DIGEST@";

const NEXT: &str = "\
next:
  graphc check
  graphc test
  graphc run desk.graph --scenario answered";

/// Arguments of `graphc init`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Folder of the project; made where it isn't there
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// Writes the project. Nothing is written where one of its files is there already.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let folder = &args.folder;
    if folder.exists() && !folder.is_dir() {
        let path = files::shown(folder);
        return Err(Failure::unusable(format!("`{path}` is not a folder")));
    }
    let there: Vec<&str> = FILES
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| fs::symlink_metadata(folder.join(path)).is_ok())
        .collect();
    if !there.is_empty() {
        let (names, verb) = (name::list(there.iter().copied()), verb(there.len()));
        return Err(
            Failure::unusable(format!("{names} {verb} in `{}` already", folder.display()))
                .help("name another folder, or move what is there"),
        );
    }
    let digest = own_digest().map_err(|error| {
        Failure::unusable(format!("could not read the program itself: {error}"))
    })?;
    let mut written = Vec::new();
    for (path, content) in FILES {
        let path = folder.join(path);
        let content = present(content).replace(DIGEST, &digest);
        if let Err(error) = write_new(&path, &content) {
            // Half a project is worse than none; what can't be removed stays, and is named next time.
            written.iter().for_each(|path| drop(fs::remove_file(path)));
            let path = files::shown(&path);
            return Err(Failure::unusable(format!(
                "could not write `{path}`: {error}"
            )));
        }
        written.push(path);
    }
    for path in &written {
        context.say(&format!("wrote {}", files::shown(path)));
    }
    let next = present(NEXT);
    let next = next.trim_end();
    match folder.as_os_str() == "." {
        true => context.say(next),
        false => context.say(&next.replace("next:", &format!("next:\n  cd {}", folder.display()))),
    }
    Ok(Exit::Done)
}

/// The SHA-256 of the file that this process runs, in hexadecimal.
fn own_digest() -> std::io::Result<String> {
    let bytes = Sha256::digest(fs::read(std::env::current_exe()?)?);
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn verb(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Writes a file that must not be there yet, and makes its folder.
fn write_new(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(content.as_bytes())
}
