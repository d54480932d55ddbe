//! What a tool reports while it works, as an event of the flow (`@progress`).
//!
//! A report that is not of the event's type is left out, and said once of the tool: it decides nothing about the call. While the
//! reader of events is behind, the newest report alone is held back for it; the `index` of those that come tells which are missing.

use std::future::Future;

use serde_json::Value as Json;

use crate::expr::accept::accept_fields;
use crate::ir::EventId;
use crate::run::event::{DuringCall, EventKind};
use crate::run::report::{Report, ReportReceiver};
use crate::run::task::TaskRun;

/// Reports of one call that are heard: what comes behind them is left out.
const MOST: u64 = 10_000;

/// The reports of one attempt at a call.
pub struct Progress<'r, 'a> {
    run: &'r TaskRun<'a>,
    tool: &'r str,
    event: EventId,
    /// Whose the next one is.
    of: DuringCall,
    /// How many were heard, those that were left out too.
    heard: u64,
    /// The newest one that was not sent yet, with its position.
    held: Option<(u64, Json)>,
}

impl<'r, 'a> Progress<'r, 'a> {
    /// Of an attempt at an effect.
    pub fn of(
        run: &'r TaskRun<'a>,
        (tool, event): (&'r str, EventId),
        (effect, attempt): (&str, u32),
    ) -> Self {
        Self {
            run,
            tool,
            event,
            of: DuringCall {
                tool: Some(tool.to_owned()),
                call: effect.to_owned(),
                attempt,
                index: 0,
                by: run.speaker(),
            },
            heard: 0,
            held: None,
        }
    }

    /// Waits for a call, and sends meanwhile what it reports.
    pub async fn during<T>(
        mut self,
        mut reports: ReportReceiver,
        call: impl Future<Output = T>,
    ) -> T {
        let mut call = std::pin::pin!(call);
        let result = loop {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => self.hear(report).await,
                result = &mut call => break result,
            }
        };
        while let Ok(report) = reports.try_recv() {
            self.hear(report).await;
        }
        self.send();
        result
    }

    async fn hear(&mut self, report: Report) {
        self.heard += 1;
        if self.heard > MOST {
            if self.heard == MOST + 1 {
                self.warn(&format!(
                    "reports more than {MOST} times in a call: what follows is left out"
                ));
            }
            return;
        }
        let flow = &self.run.around.cx.plan.flow;
        let event = &flow.events[self.event];
        let payload = report.and_then(|payload| {
            let fits = accept_fields(&payload, &event.fields, &flow.types);
            fits.map(|_| payload).map_err(|wrong| wrong.to_string())
        });
        match payload {
            Ok(payload) => {
                self.held = Some((self.of.index, payload));
                self.of.index += 1;
                if self.run.around.cx.reader_keeps_up().await {
                    self.send();
                }
            }
            Err(why) => self.warn(&format!(
                "reports what event `{}` does not take: {why}",
                event.name
            )),
        }
    }

    /// Sends what is held back.
    fn send(&mut self) {
        let Some((index, payload)) = self.held.take() else {
            return;
        };
        let name = self.run.around.cx.plan.flow.events[self.event].name.clone();
        let during = Some(DuringCall {
            index,
            ..self.of.clone()
        });
        let kind = EventKind::Custom {
            name,
            payload,
            during,
        };
        self.run.send(String::new(), kind);
    }

    fn warn(&self, why: &str) {
        let message = format!("tool `{}` {why}", self.tool);
        self.run.around.cx.warn(self.tool, message);
    }
}
