//! `command` tools: a program that takes the arguments as JSON on stdin and gives the result as JSON
//! on stdout.
//!
//! The program sees only the environment variables that it is allowed, runs in the folder of
//! `graphc.yaml`, and dies with its whole process group when the call ends early. [`input`] has its arguments ready, [`output`]
//! reads what it writes, [`side`] what it reports while it works.

mod input;
pub mod output;
mod side;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use crate::backend::group::Group;
use crate::backend::wire::{self, Bounds};
use crate::ir::ErrorKind;
use crate::project::spec::command::CommandSpec;
use crate::project::spec::command::absent::absent;
use crate::run::model::CallContext;
use crate::run::probe::{Probed, Problem};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use output::Output;
use side::SideFile;

/// Variable that holds the key which is the same for every attempt at one call: a hash, since the run's own names the thread.
pub const IDEMPOTENCY_VARIABLE: &str = "GRAPHC_IDEMPOTENCY_KEY";
/// Variable that holds the name of the tool, so that one program can serve several.
pub const TOOL_VARIABLE: &str = "GRAPHC_TOOL";

/// Variable that holds the path of the file that a program which reports adds lines to.
pub const PROGRESS_VARIABLE: &str = "GRAPHC_PROGRESS";

/// A program as it is started for a folder: whether a relative path counts from here or from `current_dir` depends on the platform.
pub fn program(name: &str, folder: &Path) -> PathBuf {
    let path = Path::new(name);
    match path.components().count() > 1 {
        true => folder.join(path),
        false => path.to_owned(),
    }
}

/// A program as a tool.
pub struct CommandTool {
    spec: CommandSpec,
    folder: PathBuf,
}

impl CommandTool {
    /// A program that runs in `folder`, the one of `graphc.yaml`.
    pub fn new(spec: CommandSpec, folder: impl Into<PathBuf>) -> Self {
        Self {
            spec,
            folder: folder.into(),
        }
    }

    fn program(&self) -> &str {
        self.spec.argv.first().map_or("", String::as_str)
    }

    fn spawn(
        &self,
        call: &ToolCall,
        (input, side): (&[u8], Option<&SideFile>),
        cx: &CallContext,
    ) -> Result<(Child, Group), ToolError> {
        let mut command = Command::new(program(self.program(), &self.folder));
        command
            .args(self.spec.argv.iter().skip(1))
            .current_dir(&self.folder)
            .env_clear()
            .envs(
                self.spec
                    .env
                    .iter()
                    .map(|(name, value)| (name, value.reveal())),
            )
            .envs(self.spec.run_secrets.iter().filter_map(|name| {
                let secret = cx.secrets.get(name)?;
                Some((name, secret.reveal()))
            }))
            .env(IDEMPOTENCY_VARIABLE, wire::key(&cx.idempotency_key))
            .env(TOOL_VARIABLE, &call.tool)
            .envs(side.map(|side| (PROGRESS_VARIABLE, side.path())))
            .stdin(input::ready(input).map_or_else(Stdio::piped, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Group::start(&mut command).map_err(|error| {
            let program = self.program();
            self.error(format!(
                "the command `{program}` could not be started: {error}"
            ))
        })
    }

    /// What the program reports to, where it does.
    fn side(&self, cx: &CallContext) -> Result<Option<SideFile>, ToolError> {
        let side = cx.reports.as_ref().map(|_| SideFile::new()).transpose();
        side.map_err(|error| self.error(format!("no file could be made for its reports: {error}")))
    }

    fn error(&self, message: impl AsRef<str>) -> ToolError {
        let message = self.spec.secrets.scrub(message.as_ref());
        ToolError::new(ErrorKind::ToolError, message)
    }

    /// Feeds the program and reads it until it has ended.
    async fn run(&self, mut child: Child, input: Vec<u8>) -> Result<Output, ToolError> {
        let stdin = child.stdin.take();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program that doesn't read its arguments closes the pipe, which is its right.
                let _ = stdin.write_all(&input).await;
            }
        };
        let read = output::read(&mut child, self.spec.limit);
        let ((), output) = tokio::join!(feed, read);
        output.map_err(|why| {
            self.error(format!("the command `{}` {why}", self.program()))
                .doubted()
        })
    }

    /// What the program's end means.
    fn result(&self, tool: &str, output: Output) -> Result<Json, ToolError> {
        let program = self.program();
        if !output.status.success() {
            let error = self.error(output.complaint(program));
            // One that says no says so itself; one that was killed has said nothing.
            return Err(match output.status.code() {
                Some(_) => error,
                None => error.doubted(),
            });
        }
        if output.stdout.trim_ascii().is_empty() {
            return Ok(Json::Null);
        }
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let wrote = String::from_utf8_lossy(&output.stdout);
            let begins = crate::base::size::excerpt(&self.spec.secrets.scrub(&wrote));
            let what = match error.is_eof() {
                true => "JSON that breaks off".to_owned(),
                false => format!("no JSON (line {}, column {})", error.line(), error.column()),
            };
            self.error(format!(
                "the command `{program}` of tool `{tool}` wrote {what}; it begins: {begins}; its result must be JSON on stdout, a text in quotes"
            ))
            .doubted()
        })
    }
}

#[async_trait]
impl ToolBackend for CommandTool {
    /// Nothing is run: a program need not have a way to be asked without an effect.
    async fn probe(&self) -> Probed {
        let (message, help) = match absent(&self.spec, &self.folder) {
            None => return Probed::Ok(format!("the program `{}` is there", self.program())),
            Some(absent) => absent.words("the tool"),
        };
        Problem::missing(message).help(help).into()
    }

    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let bounds = Bounds::new(cx, self.spec.timeout);
        let input = json!(call.args).to_string().into_bytes();
        // The group is dropped at every way out of here, and with the call itself: nothing it started lives on.
        let mut side = self.side(cx)?;
        let (child, _group) = self.spawn(&call, (&input, side.as_ref()), cx)?;
        let run = self.run(child, input);
        let output = match (&mut side, &cx.reports) {
            (Some(side), Some(reports)) => {
                let to = (reports, &self.spec.secrets);
                bounds.within(side.during(to, run)).await
            }
            _ => bounds.within(run).await,
        };
        let output = output.map_err(|mut failure| {
            if failure.kind == ErrorKind::Timeout {
                failure.message = format!(
                    "the command `{}` took too long: {}",
                    self.program(),
                    failure.message
                );
            }
            ToolError::from(failure)
        })??;
        self.result(&call.tool, output)
    }
}
