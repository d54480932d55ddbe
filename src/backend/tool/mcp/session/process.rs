//! The program that a server is.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::backend::group::Group;
use crate::backend::tool::command::output::{LINGER, TAIL, last_lines};
use crate::backend::tool::command::program;
use crate::project::spec::command::CommandSpec;

/// A program under way. It is killed with all that it has started when this is dropped.
pub struct Process {
    child: Child,
    /// Dropped behind the child, whose pipes are closed by then.
    group: Group,
    /// The end of its stderr, as far as it has come.
    said: Arc<Mutex<Vec<u8>>>,
    /// Cancelled once its stderr is over.
    over: CancellationToken,
}

impl Process {
    /// Starts it in a folder.
    ///
    /// # Errors
    /// Where that fails.
    pub fn start(spec: &CommandSpec, folder: &Path) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let name = spec.argv.first().map_or("", String::as_str);
        let env = spec.env.iter();
        let mut command = Command::new(program(name, folder));
        command
            .args(spec.argv.iter().skip(1))
            .current_dir(folder)
            .env_clear()
            .envs(env.map(|(name, value)| (name, value.reveal())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let (mut child, group) = Group::start(&mut command)?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(stdout), Some(stdin), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let over = CancellationToken::new();
        tokio::spawn(listen(stderr, Arc::clone(&said), over.clone().drop_guard()));
        let process = Self {
            child,
            group,
            said,
            over,
        };
        Ok((process, stdout, stdin))
    }

    /// The last lines of its stderr, where it has ended or does so at once.
    pub async fn last_words(&self) -> String {
        let _ = timeout(LINGER, self.over.cancelled()).await;
        last_lines(&self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits a while for it to end by itself, and kills what is left of its group.
    pub async fn end(mut self, grace: Duration) {
        let _ = timeout(grace, self.child.wait()).await;
        drop(self.group);
    }
}

/// Keeps the end of what a program says.
async fn listen(
    mut stderr: ChildStderr,
    said: Arc<Mutex<Vec<u8>>>,
    _over: tokio_util::sync::DropGuard,
) {
    let mut chunk = vec![0; TAIL];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let over = said.len().saturating_sub(TAIL);
        said.drain(..over);
    }
}
