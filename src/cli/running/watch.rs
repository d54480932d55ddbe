//! `graphc check --watch`: checks again whenever a file changes that the answer may depend on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::run::signals;
use super::scenes::ENDING;
use super::{Context, Exit, Failure};
use crate::cli::check::{Args, find, show};
use crate::project::{self, SETTINGS};

/// After a change, how long it must be quiet: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(80);

/// Checks, and again after each change, until Ctrl-C ends the process with its status.
pub fn watch(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::unusable("stdin can't be watched").help("name files or folders"));
    }
    end_on_signal()?;
    let (said, heard) = channel();
    let watcher = notify::recommended_watcher(move |event| {
        // Nobody listens any more: the process is about to end.
        let _ = said.send(event);
    });
    let mut watched = Watched {
        watcher: watcher.map_err(|error| unwatched(&error))?,
        trees: BTreeSet::new(),
        folders: BTreeSet::new(),
        files: BTreeSet::new(),
        absent: BTreeSet::new(),
    };
    watched.named(args)?;
    loop {
        match find(args, context) {
            Ok(found) => {
                show(&found, args.format, context)?;
                let texts = found.sources.files();
                let texts = texts.map(|(_, file)| PathBuf::from(&*file.name));
                let settings = found.settings_read().map(Path::to_owned);
                watched.read(texts.chain(settings));
                watched.missed(&found.absent);
            }
            // A file that is gone may come again.
            Err(failure) => failure.say(),
        }
        context.say("watching; Ctrl-C ends");
        let changed = watched.change(&heard)?;
        context.say(&format!("\nchanged: {changed}"));
    }
}

/// What is looked at.
struct Watched {
    watcher: RecommendedWatcher,
    /// Folders that the system tells of, with all below them.
    trees: BTreeSet<PathBuf>,
    /// Folders that it tells of alone.
    folders: BTreeSet<PathBuf>,
    /// Files that were read, besides flows and settings.
    files: BTreeSet<PathBuf>,
    /// Files that were asked for and were not there.
    absent: BTreeSet<PathBuf>,
}

impl Watched {
    /// Looks at what the arguments name: folders with all below them.
    fn named(&mut self, args: &Args) -> Result<(), Failure> {
        let here = [PathBuf::from(".")];
        let paths = match args.paths.as_slice() {
            [] => &here,
            paths => paths,
        };
        for path in paths {
            let path = project::canonical(path)?;
            match path.is_dir() {
                true => self.folder(path, RecursiveMode::Recursive)?,
                false => {
                    let folder = path.parent().unwrap_or(&path).to_owned();
                    self.folder(folder, RecursiveMode::NonRecursive)?;
                }
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: PathBuf, mode: RecursiveMode) -> Result<(), Failure> {
        let below = |tree: &PathBuf| folder.starts_with(tree);
        if self.folders.contains(&folder) || self.trees.iter().any(below) {
            return Ok(());
        }
        let started = self.watcher.watch(&folder, mode);
        started.map_err(|error| unwatched(&error))?;
        match mode {
            RecursiveMode::Recursive => self.trees.insert(folder),
            RecursiveMode::NonRecursive => self.folders.insert(folder),
        };
        Ok(())
    }

    /// Looks at the files that a check has read, wherever they are.
    fn read(&mut self, files: impl Iterator<Item = PathBuf>) {
        // The standard library and what is gone has no place.
        let files: Vec<PathBuf> = files.filter_map(|file| file.canonicalize().ok()).collect();
        for file in files {
            if let Some(folder) = file.parent() {
                // A folder that can't be looked at leaves the rest to be.
                let _ = self.folder(folder.to_owned(), RecursiveMode::NonRecursive);
            }
            self.files.insert(file);
        }
    }

    /// Looks where files may come that were not there.
    fn missed(&mut self, files: &[PathBuf]) {
        self.absent = files.iter().cloned().collect();
        for file in files {
            let there = file.ancestors().skip(1).find(|folder| folder.is_dir());
            if let Some(folder) = there {
                let _ = self.folder(folder.to_owned(), RecursiveMode::NonRecursive);
            }
        }
    }

    /// Waits for a change, and until it is quiet; gives the name of the first file.
    fn change(&self, heard: &Receiver<notify::Result<Event>>) -> Result<String, Failure> {
        let gone = || Failure::unusable("the system no longer says what changes");
        let mut first = None;
        loop {
            let event = match first {
                None => heard.recv().map_err(|_| gone())?,
                Some(_) => match heard.recv_timeout(QUIET) {
                    Ok(event) => event,
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                },
            };
            if let Ok(event) = event {
                first = first.or(self.matters(&event));
            }
        }
        Ok(first.unwrap_or_default())
    }

    /// The name of the event's file, where a check may depend on it.
    fn matters(&self, event: &Event) -> Option<String> {
        if matches!(event.kind, EventKind::Access(_)) {
            return None;
        }
        let depends = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let own = name.ends_with(".graph") || name.ends_with(ENDING);
            // A folder that comes may hold the file.
            let comes = || self.absent.iter().any(|file| file.starts_with(path));
            (own && !name.starts_with('.'))
                || name == SETTINGS
                || self.files.contains(*path)
                || comes()
        };
        let path = event.paths.iter().find(depends)?;
        let name = path.file_name().unwrap_or_default();
        Some(name.to_string_lossy().into_owned())
    }
}

fn unwatched(error: &notify::Error) -> Failure {
    Failure::unusable(format!("can't watch the files: {error}"))
        .help("run `graphc check` without `--watch`")
}

/// Ends the process on Ctrl-C, from a thread of its own: the others wait for files.
fn end_on_signal() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::unusable(format!("can't listen for Ctrl-C: {error}")))?;
    thread::spawn(move || {
        runtime.block_on(signals::wait());
        std::process::exit(Exit::Cancelled.status().into());
    });
    Ok(())
}
