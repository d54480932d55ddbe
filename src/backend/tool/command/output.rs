//! What a program writes, and what that means where it failed.

use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;

use crate::base::size::show_size;

/// Most bytes of stderr that are kept, from its end.
pub const TAIL: usize = 4 << 10;
/// Most lines of stderr that are shown.
const TAIL_LINES: usize = 12;
/// How long a program that has ended is still read, where one that it started keeps its pipes open.
pub const LINGER: Duration = Duration::from_secs(2);

/// How a program ended.
pub struct Output {
    /// Its status.
    pub status: ExitStatus,
    /// All of its stdout.
    pub stdout: Vec<u8>,
    /// The end of its stderr.
    stderr: Vec<u8>,
}

/// Reads both outputs of a program to their ends and waits for its own.
///
/// # Errors
/// In words that follow the program's name: more than `limit` bytes of stdout, or a broken pipe.
pub async fn read(child: &mut Child, limit: usize) -> Result<Output, String> {
    let mut stdout = Vec::new();
    let mut stderr = Vec::new();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let status = {
        let both = async {
            let (whole, _) = tokio::join!(whole(out, &mut stdout, limit), tail(err, &mut stderr));
            whole
        };
        tokio::pin!(both);
        let ended = tokio::select! {
            read = &mut both => {
                read?;
                None
            }
            status = child.wait() => Some(status),
        };
        match ended {
            None => child.wait().await,
            Some(status) => {
                if let Ok(read) = tokio::time::timeout(LINGER, both).await {
                    read?;
                }
                status
            }
        }
    };
    let status = status.map_err(|error| format!("can't be waited for: {error}"))?;
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

async fn whole(
    from: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
    limit: usize,
) -> Result<(), String> {
    let Some(from) = from else { return Ok(()) };
    let read = from.take(limit as u64 + 1).read_to_end(into).await;
    read.map_err(|error| format!("can't be read: {error}"))?;
    match into.len() > limit {
        true => Err(format!("wrote more than {}", show_size(limit))),
        false => Ok(()),
    }
}

/// Reads to the end, and keeps the end of it.
pub async fn tail(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    let Some(mut from) = from else { return };
    let mut chunk = vec![0; TAIL];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        into.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let over = into.len().saturating_sub(TAIL);
        into.drain(..over);
    }
}

impl Output {
    /// Why it failed: what it says itself as `{"error": ..}`, or the end of its stderr.
    pub fn complaint(&self, program: &str) -> String {
        if let Ok(json) = serde_json::from_slice::<Json>(&self.stdout)
            && let Some(error) = json.get("error").filter(|error| !error.is_null())
        {
            let message = error.get("message").unwrap_or(error);
            return message
                .as_str()
                .map_or_else(|| message.to_string(), str::to_owned);
        }
        let how = match self.status.code() {
            Some(code) => format!("ended with status {code}"),
            None => format!("was ended by a {}", self.status),
        };
        match last_lines(&self.stderr).as_str() {
            "" => format!("the command `{program}` {how}"),
            lines => format!("the command `{program}` {how}: {lines}"),
        }
    }
}

/// The last lines of what a program has said, as many as are shown.
pub fn last_lines(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said.trim().lines().collect();
    let shown = lines.get(lines.len().saturating_sub(TAIL_LINES)..);
    shown.unwrap_or_default().join("\n")
}
