//! Models and tools whose calls are played from a cassette, or made for real and recorded.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Value as Json;

use crate::backend::scenario::cassette::{self, Answer, Call, Cassette, Failed, Kind, Reply};
use crate::backend::secret::Secrets;
use crate::ir::ErrorKind;
use crate::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, ModelError, Opaque, pieces,
};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::real::UnderWay;
use super::{Script, turns};

/// What to do about a cassette that does not fit any more.
pub(super) const RECORD: &str = "record it again: graphc test --record";

/// What becomes of calls that a recorded scenario has no replies for.
#[derive(Debug, Default)]
pub enum Tape {
    /// There is no cassette: they fail.
    #[default]
    Missing,
    /// They are answered from it; the flags say which calls have been.
    Plays(Cassette, Vec<bool>),
    /// They are made, and kept here.
    Records(Recording),
}

/// Calls that are made and kept.
#[derive(Debug, Default)]
pub struct Recording {
    calls: Vec<Call>,
    /// Calls whose last attempt failed, with what was wrong.
    failed: Vec<(Call, String)>,
}

impl Recording {
    fn keep(&mut self, mut call: Call) {
        self.failed.retain(|(other, _)| !other.is_beside(&call));
        // Attempts that failed are no calls of their own here.
        let before = self.calls.iter().filter(|other| other.is_beside(&call));
        call.visit = 1 + before.count() as u64;
        self.calls.push(call);
    }
}

impl Tape {
    /// A tape that plays a cassette.
    pub fn playing(cassette: Cassette) -> Self {
        let used = vec![false; cassette.calls.len()];
        Tape::Plays(cassette, used)
    }

    /// Calls that were recorded and not made.
    pub fn left(&self) -> Vec<String> {
        match self {
            Tape::Plays(cassette, used) => {
                let calls = cassette.calls.iter().zip(used);
                calls
                    .filter(|(_, used)| !**used)
                    .map(|(call, _)| call.describe())
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The answer to a call: of those of its node and visit, or at another visit, the one that was asked the same.
    ///
    /// # Errors
    /// That there is none, with what differs from the one that would be next.
    fn answer(&mut self, call: &Call) -> Result<Answer, String> {
        let Tape::Plays(cassette, used) = self else {
            return Err(format!("nothing is recorded for {}", call.describe()));
        };
        let beside = |at: &usize| {
            cassette
                .calls
                .get(*at)
                .is_some_and(|one| one.is_beside(call))
        };
        let free = |at: &usize| used.get(*at) == Some(&false);
        let open: Vec<usize> = (0..cassette.calls.len())
            .filter(free)
            .filter(beside)
            .collect();
        let of = |at: &usize| cassette.calls.get(*at);
        let same = |at: &&usize| of(at).is_some_and(|one| one.request == call.request);
        let same_visit =
            |at: &&usize| same(at) && of(at).is_some_and(|one| one.visit == call.visit);
        let found = open
            .iter()
            .find(same_visit)
            .or_else(|| open.iter().find(same));
        if let Some(found) = found.copied() {
            if let Some(used) = used.get_mut(found) {
                *used = true;
            }
            let answer = cassette.calls.get(found).map(|one| one.answer.clone());
            return answer.ok_or_else(|| call.describe());
        }
        match open.first().and_then(of) {
            None => Err(format!("nothing more is recorded for {}", call.describe())),
            Some(next) => {
                let changed = cassette::changes(&next.asked, &call.asked);
                Err(format!(
                    "{} asks something else than was recorded\n{}",
                    call.describe(),
                    changed.join("\n")
                ))
            }
        }
    }
}

impl Script {
    /// Plays what it has no replies for from a cassette.
    pub fn play_from(&self, cassette: Cassette) {
        self.state().tape = Tape::playing(cassette);
    }

    /// Plays what it has no replies for from the cassette beside the file of its scenarios. Without one such calls fail.
    ///
    /// # Errors
    /// Why the cassette can't be read.
    pub fn play_from_file(&self, suite: &Path) -> Result<(), String> {
        if let Some(cassette) = cassette::load(&cassette::path(suite, &self.scenario.name))? {
            self.play_from(cassette);
        }
        Ok(())
    }

    /// Writes what it has recorded beside the file of its scenarios, where it records.
    ///
    /// # Errors
    /// Why it can't be written: also where a call failed and did not succeed later, which would be on the cassette as a hole.
    pub fn save_recording(&self, suite: &Path, secrets: &Secrets) -> Result<(), String> {
        let state = self.state();
        let Tape::Records(recording) = &state.tape else {
            return Ok(());
        };
        if let Some((call, message)) = recording.failed.first() {
            let call = call.describe();
            return Err(format!("nothing is recorded: {call} failed\n{message}"));
        }
        let scenario = self.scenario.name.clone();
        let path = cassette::path(suite, &scenario);
        let calls = recording.calls.clone();
        cassette::save(&path, &Cassette { scenario, calls }, secrets)
    }

    /// Has the calls that it has no replies for made, and records them.
    pub fn record(&self) {
        self.state().tape = Tape::Records(Recording::default());
    }

    /// Whether it records.
    pub fn is_recording(&self) -> bool {
        matches!(self.state().tape, Tape::Records(_))
    }

    /// A tool whose calls are on the cassette; `real` makes them where it is recorded.
    pub fn recorded_tool(
        self: &Arc<Self>,
        real: Option<Arc<dyn ToolBackend>>,
    ) -> Arc<dyn ToolBackend> {
        let script = Arc::clone(self);
        Arc::new(RecordedTool { script, real })
    }

    /// The answer that the cassette has. A call that it has none for fails the scenario.
    fn played(&self, call: &Call) -> Result<Answer, String> {
        let mut state = self.state();
        let answer = state.tape.answer(call);
        if let Err(message) = &answer {
            let (first, changed) = message.split_once('\n').unwrap_or((message, ""));
            let name = &self.scenario.name;
            let lines = [&format!("scenario `{name}`: {first}"), changed, RECORD];
            let lines = lines.into_iter().filter(|line| !line.is_empty());
            state.unmatched.push(lines.collect::<Vec<_>>().join("\n"));
        }
        answer
    }

    fn keep(&self, call: Call) {
        if let Tape::Records(recording) = &mut self.state().tape {
            recording.keep(call);
        }
    }

    fn keep_failed(&self, call: &Call, message: &str) {
        if let Tape::Records(recording) = &mut self.state().tape {
            recording.failed.push((call.clone(), message.to_owned()));
        }
    }

    /// The call that is to be answered. Its visit is counted as calls are played.
    fn called(&self, kind: Kind, name: &str, cx: &CallContext, asked: Json) -> Call {
        let request = cassette::request(&asked);
        let answer = Answer::Result(Json::Null);
        let mut call = Call {
            call: kind,
            name: name.to_owned(),
            node: cx.node.clone(),
            visit: 1,
            send: cx.send,
            request,
            asked,
            answer,
        };
        if let Tape::Plays(cassette, used) = &self.state().tape {
            let calls = cassette.calls.iter().zip(used);
            let before = calls
                .filter(|(other, used)| **used && other.is_beside(&call))
                .count();
            call.visit = 1 + before as u64;
        }
        call
    }
}

/// The reply to a model call that the scenario has no replies for.
///
/// # Errors
/// The real model's, where it is recorded; that nothing is recorded.
pub async fn reply(
    script: &Arc<Script>,
    real: Option<&Arc<dyn ChatModel>>,
    request: ChatRequest,
    cx: &CallContext,
) -> Result<ChatStream, ModelError> {
    let call = script.called(
        Kind::Model,
        &request.model_name,
        cx,
        cassette::asked(&request),
    );
    let reply = match real.filter(|_| script.is_recording()) {
        None => match script.played(&call) {
            Ok(Answer::Reply(reply)) => reply,
            Ok(_) => {
                return Err(ModelError::new(
                    ErrorKind::InvalidRequest,
                    "the cassette has no reply there",
                ));
            }
            Err(message) => return Err(ModelError::new(ErrorKind::InvalidRequest, message)),
        },
        Some(real) => {
            let _under_way = UnderWay::begin(&script.under_way);
            let reply = match real.stream(request, cx).await {
                Ok(stream) => whole(stream).await,
                Err(error) => Err(error),
            };
            let reply = reply.inspect_err(|error| script.keep_failed(&call, &error.message))?;
            script.keep(Call {
                answer: Answer::Reply(reply.clone()),
                ..call
            });
            reply
        }
    };
    let mut deltas = Vec::new();
    for piece in pieces(&reply.text, &reply.opaque) {
        match piece {
            Ok(text) => {
                let words = text.split_inclusive(char::is_whitespace);
                deltas.extend(words.map(|word| ChatDelta::Text(word.to_owned())));
            }
            Err(Opaque { provider, data, .. }) => deltas.push(ChatDelta::Opaque {
                provider: provider.clone(),
                data: data.clone(),
            }),
        }
    }
    deltas.extend(reply.tool_calls.into_iter().map(ChatDelta::ToolCall));
    deltas.push(ChatDelta::Usage(reply.usage));
    deltas.extend(reply.finish.map(ChatDelta::Finish));
    Ok(Box::pin(stream::iter(deltas.into_iter().map(Ok))))
}

/// A stream read to its end.
async fn whole(mut stream: ChatStream) -> Result<Reply, ModelError> {
    let mut reply = Reply::default();
    while let Some(delta) = stream.next().await {
        match delta? {
            ChatDelta::Text(text) => reply.text.push_str(&text),
            ChatDelta::Reasoning(_) => {}
            ChatDelta::Opaque { provider, data } => {
                let at = reply.text.len();
                reply.opaque.push(Opaque { at, provider, data });
            }
            ChatDelta::ToolCall(call) => reply.tool_calls.push(call),
            ChatDelta::Usage(usage) => reply.usage = usage,
            ChatDelta::Finish(finish) => reply.finish = Some(finish),
        }
    }
    Ok(reply)
}

struct RecordedTool {
    script: Arc<Script>,
    real: Option<Arc<dyn ToolBackend>>,
}

#[async_trait]
impl ToolBackend for RecordedTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let cx = &turns::wait(&self.script, "tool", &call.tool, cx).await;
        self.script.count_call(&call.tool);
        let asked = Json::Object(call.args.clone());
        let recorded = self.script.called(Kind::Tool, &call.tool, cx, asked);
        let Some(real) = self.real.as_ref().filter(|_| self.script.is_recording()) else {
            return match self.script.played(&recorded) {
                Ok(Answer::Result(result)) => Ok(result),
                Ok(Answer::Error(Failed { kind, message })) => Err(ToolError::new(kind, message)),
                Ok(Answer::Reply(_)) => Err(ToolError::new(
                    ErrorKind::ToolError,
                    "the cassette has no result there",
                )),
                Err(message) => Err(ToolError::new(ErrorKind::ToolError, message)),
            };
        };
        let _under_way = UnderWay::begin(&self.script.under_way);
        let result = real.call(call, cx).await;
        let answer = match &result {
            Ok(result) => Answer::Result(result.clone()),
            // An answer of the tool; any other error is none, and may be tried again.
            Err(error) if error.kind == ErrorKind::ToolError => Answer::Error(Failed {
                kind: error.kind,
                message: error.message.clone(),
            }),
            Err(error) => {
                self.script.keep_failed(&recorded, &error.message);
                return result;
            }
        };
        self.script.keep(Call { answer, ..recorded });
        result
    }
}
