//! A call that a cancelled run waits for, but not without end.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::ir::ErrorKind;

use super::tool::ToolError;

/// How long a cancelled run waits for the calls of tools that are under way.
pub const CANCEL_GRACE: Duration = Duration::from_secs(30);

/// Time that a backend has to end a call once it is told to.
const TO_END: Duration = Duration::from_secs(2);

/// The grace of a run that a call makes, of a call that itself has `grace`: its calls end before it is dropped.
pub fn nested_grace(grace: Duration) -> Duration {
    grace.saturating_sub(2 * TO_END)
}

/// Waits for a call. Once the run has been stopped for as long as `grace`, `cancel` tells the backend to end it, and a call that does not
/// end then is dropped: whether it has happened is not known.
///
/// # Errors
/// Of the call; kind `cancelled` of one that was ended, unless its error says that it has not happened.
pub async fn within_grace<T>(
    grace: Duration,
    stop: &CancellationToken,
    (tool, cancel): (&str, &CancellationToken),
    call: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    tokio::pin!(call);
    tokio::select! {
        biased;
        done = &mut call => return done,
        () = async { stop.cancelled().await; tokio::time::sleep(grace).await } => cancel.cancel(),
    }
    let ended = tokio::time::timeout(TO_END, call).await;
    match ended {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) if !error.in_doubt => Err(error),
        _ => {
            let mut message = "the run was cancelled".to_owned();
            if !grace.is_zero() {
                let grace = crate::base::duration::show(grace);
                message += &format!(", and tool `{tool}` had not ended {grace} later");
            }
            Err(ToolError::new(ErrorKind::Cancelled, message).doubted())
        }
    }
}
