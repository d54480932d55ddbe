//! A folder with the file of a thread's calls, and processes that get the thread on.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::child::{JOB, Job};
use super::judge::Line;
use super::world::{self, write};

/// A folder that goes when this is dropped.
pub struct Place {
    folder: PathBuf,
    flow: String,
    input: String,
    durability: String,
}

/// What became of a process.
pub enum Ended {
    Killed,
    /// The thread is done, or the job.
    Done {
        /// The thread's state, where it is done.
        state: Json,
        /// What the process did to the store.
        done: u64,
    },
}

impl Place {
    pub fn new(name: &str, flow: &str, input: &str, durability: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kill-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            flow: flow.to_owned(),
            input: input.to_owned(),
            durability: durability.to_owned(),
        }
    }

    /// One of the same flow, input and durability.
    pub fn another(&self, name: &str) -> Self {
        let own = self.folder.file_name().unwrap().to_str().unwrap();
        let own = own.trim_start_matches("kill-");
        Self::new(
            &format!("{own}-{name}"),
            &self.flow,
            &self.input,
            &self.durability,
        )
    }

    /// The address of a SQLite store of its own.
    pub fn sqlite(&self) -> String {
        format!("sqlite:{}", self.folder.join("threads.db").display())
    }

    /// Whether nothing of a run is kept before it ends (`exit`).
    pub fn is_kept_at_its_end(&self) -> bool {
        self.durability == "exit"
    }

    /// What a thread must have come to whoever was killed on the way. What a run that is as if it had not been has put into memory is
    /// there all the same: the next one says that its keys are known. Keys in results and permissions name the thread's life, which is each
    /// thread's own, and permissions when they were given.
    pub fn to_compare(&self, mut state: Json) -> Json {
        if let (true, Some(fields)) = (self.is_kept_at_its_end(), state.as_object_mut()) {
            fields.remove("made");
        }
        let life = regex::Regex::new("~[0-9a-f]{12}/").unwrap();
        let given = regex::Regex::new(r#""(at|life)":"[^"]*""#).unwrap();
        let text = state.to_string();
        let text = given.replace_all(&text, "\"$1\":\"\"");
        serde_json::from_str(&life.replace_all(&text, "/")).unwrap()
    }

    /// To get its thread on, until it is done or asked to stop.
    pub fn job(&self, url: &str) -> Job {
        Job {
            flow: self.flow.clone(),
            input: self.input.clone(),
            durability: self.durability.clone(),
            url: url.to_owned(),
            log: self.log_file(),
            doom: None,
            deed: None,
        }
    }

    /// Lets a process do a job, until it is done or its end comes.
    pub fn process(&self, job: &Job) -> Ended {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child::child", "--nocapture"])
            .env(JOB, serde_json::to_string(job).unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if output.status.signal() == Some(9) {
            let line = Line {
                what: "kill".to_owned(),
                ..Line::default()
            };
            write(&self.log_file(), &line);
            return Ended::Killed;
        }
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told = said.lines().find_map(|line| line.strip_prefix("done "));
        let told: Json = serde_json::from_str(told.unwrap()).unwrap();
        Ended::Done {
            state: told["state"].clone(),
            done: told["done"].as_u64().unwrap(),
        }
    }

    pub fn log(&self) -> Vec<Line> {
        world::read(&self.log_file())
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("calls.log")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What failed stays to be looked at.
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
