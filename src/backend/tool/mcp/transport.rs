//! The way that messages take: the SDK's transports, with an eye on what comes.
//!
//! Progress is taken here, in the order in which it comes: the SDK hands notifications on in tasks of their own.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ProgressNotificationParam, ProgressToken, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map as JsonMap, Value as Json, json};
use tokio::sync::mpsc;

/// Reports of one call that may wait until it takes them; more are left out.
const WAITING: usize = 64;

/// Where the progress of calls goes.
#[derive(Clone, Default)]
pub struct Progress(Arc<Mutex<Routes>>);

#[derive(Default)]
struct Routes {
    to: HashMap<ProgressToken, mpsc::Sender<Json>>,
    /// What came before its call had said where it goes; the oldest are let go of.
    early: VecDeque<(ProgressToken, Json)>,
}

impl Progress {
    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reports of the call with that token, until it is [`forgotten`](Self::forget).
    pub fn of(&self, token: &ProgressToken) -> mpsc::Receiver<Json> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut routes = self.routes();
        let early = std::mem::take(&mut routes.early);
        for (of, report) in early {
            match of == *token {
                // There is room: as many wait here at most.
                true => _ = sender.try_send(report),
                false => routes.early.push_back((of, report)),
            }
        }
        routes.to.insert(token.clone(), sender);
        receiver
    }

    /// Nobody waits for that call any more.
    pub fn forget(&self, token: &ProgressToken) {
        self.routes().to.remove(token);
    }

    fn hear(&self, param: &ProgressNotificationParam) {
        let mut routes = self.routes();
        let report = report(param);
        if let Some(to) = routes.to.get(&param.progress_token) {
            // One that finds no room is left out.
            let _ = to.try_send(report);
            return;
        }
        if routes.early.len() >= WAITING {
            routes.early.pop_front();
        }
        let token = param.progress_token.clone();
        routes.early.push_back((token, report));
    }
}

/// What an event of the flow is given: `{ progress, total, message }`, the last two where the server says them.
fn report(param: &ProgressNotificationParam) -> Json {
    let mut report = JsonMap::new();
    report.insert("progress".to_owned(), json!(param.progress));
    if let Some(total) = param.total {
        report.insert("total".to_owned(), json!(total));
    }
    if let Some(message) = &param.message {
        report.insert("message".to_owned(), json!(message));
    }
    Json::Object(report)
}

/// A transport whose progress is taken out.
pub struct Watched<T> {
    /// The transport itself.
    pub inner: T,
    /// Where progress goes.
    pub progress: Progress,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if let JsonRpcMessage::Notification(notification) = &message
                && let ServerNotification::ProgressNotification(progress) =
                    &notification.notification
            {
                self.progress.hear(&progress.params);
                continue;
            }
            return Some(message);
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
