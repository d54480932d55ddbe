//! What a tool reports while it works (`@progress`): the way from a backend to the call that waits for it.
//!
//! A backend of any kind reports through [`CallContext::reports`](super::model::CallContext::reports), as the side channel of a `command`
//! tool and the stream of an `http` tool do: progress notifications of a protocol for tools (MCP) belong there too. What is reported
//! is held to the event's type by the call ([`work::progress`](super::work::progress)).

use serde_json::Value as Json;
use tokio::sync::mpsc;

/// Reports that may wait for the call to take them: it takes them at once, so this bounds what is read ahead.
const WAITING: usize = 64;

/// A report, or why it can't be one.
pub type Report = Result<Json, String>;

/// Where the backend of a call reports.
#[derive(Debug, Clone)]
pub struct Reports(mpsc::Sender<Report>);

/// The call's end.
pub type ReportReceiver = mpsc::Receiver<Report>;

impl Reports {
    /// Both ends of one call's reports.
    pub fn channel() -> (Reports, ReportReceiver) {
        let (reports, heard) = mpsc::channel(WAITING);
        (Reports(reports), heard)
    }

    /// Reports: the payload of the tool's event, or in words what was wrong with one. Nobody hears it any more when the call has ended.
    pub async fn send(&self, report: Report) {
        let _ = self.0.send(report).await;
    }
}
