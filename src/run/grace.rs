//! A call that a cancelled run waits for, but not without end.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::ir::ErrorKind;

use super::context::RunContext;
use super::tool::ToolError;

/// How long a cancelled run waits for the calls of tools that are under way.
pub const CANCEL_GRACE: Duration = Duration::from_secs(30);

/// Time that a backend has to end a call once it is told to.
const TO_END: Duration = Duration::from_secs(2);

/// Waits for a call. Once the run has been stopped for as long as its grace, `cancel` tells the backend to end it, and a call that does not
/// end then is dropped: whether it has happened is not known.
///
/// # Errors
/// Of the call; kind `cancelled` of one that was ended.
pub async fn within_grace<T>(
    cx: &RunContext,
    stop: &CancellationToken,
    (tool, cancel): (&str, &CancellationToken),
    call: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    tokio::pin!(call);
    let grace = cx.cancel_grace;
    tokio::select! {
        biased;
        done = &mut call => return done,
        () = async { stop.cancelled().await; tokio::time::sleep(grace).await } => cancel.cancel(),
    }
    let ended = tokio::time::timeout(TO_END, call).await;
    match ended {
        Ok(Ok(result)) => Ok(result),
        _ => Err(ToolError::new(
            ErrorKind::Cancelled,
            format!(
                "the run was cancelled, and tool `{tool}` had not ended {} later",
                crate::base::duration::show(grace)
            ),
        )
        .doubted()),
    }
}
