//! Models and tools whose calls are played from a cassette, or made for real and recorded.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Value as Json;

use crate::backend::scenario::cassette::{self, Answer, Call, Cassette, Failed, Kind};
use crate::backend::secret::Secrets;
use crate::ir::ErrorKind;
use crate::run::model::{
    CallContext, ChatDelta, ChatModel, ChatReply, ChatRequest, ChatStream, ModelError, Opaque,
    pieces,
};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::real::UnderWay;
use super::tape::{Playing, Recording, Tape};
use super::{Script, Start, turns};

/// What to do about a cassette that does not fit any more.
pub(super) const RECORD: &str = "record it again: graphc test --record";

impl Script {
    /// Plays what it has no replies for from a cassette.
    pub fn play_from(&self, cassette: Cassette) {
        self.state().tape = Tape::Plays(Playing::new(cassette));
    }

    /// Plays what it has no replies for from the cassette beside the file of its scenarios. Without one such calls fail.
    ///
    /// # Errors
    /// Why the cassette can't be read.
    pub fn play_from_file(&self, suite: &Path) -> Result<(), String> {
        if let Some(cassette) = cassette::load(suite, &self.scenario.name)? {
            self.play_from(cassette);
        }
        Ok(())
    }

    /// Writes what it has recorded beside the file of its scenarios, where it records.
    ///
    /// # Errors
    /// Why it can't be written: also where a call failed and did not succeed later, which would be on the cassette as a hole.
    pub fn save_recording(&self, suite: &Path) -> Result<(), String> {
        let state = self.state();
        let Tape::Records(recording) = &state.tape else {
            return Ok(());
        };
        let calls = recording.calls()?;
        let scenario = self.scenario.name.clone();
        cassette::save(suite, &Cassette { scenario, calls })
    }

    /// Has the calls that it has no replies for made, and records them. The secrets are hidden in their answers, for the run
    /// as well: what it asks later is then the same when it is played.
    pub fn record(&self, secrets: Secrets) {
        self.state().tape = Tape::Records(Recording::new(secrets));
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
    fn played(&self, call: Call, cx: &CallContext) -> Result<Answer, String> {
        let made = self.made_before(&call, cx);
        let mut state = self.state();
        let answer = match &mut state.tape {
            Tape::Plays(playing) => playing.answer(call, made),
            _ => Err(format!("nothing is recorded for {}", call.describe())),
        };
        if let Err(message) = &answer {
            let (first, changed) = message.split_once('\n').unwrap_or((message, ""));
            let name = &self.scenario.name;
            let lines = [&format!("scenario `{name}`: {first}"), changed, RECORD];
            let lines = lines.into_iter().filter(|line| !line.is_empty());
            state.unmatched.push(lines.collect::<Vec<_>>().join("\n"));
        }
        answer
    }

    /// How many calls of the node or tool an earlier process has played from the cassette, as far as a call now can tell.
    fn made_before(&self, call: &Call, cx: &CallContext) -> usize {
        if self.start == Start::Run {
            return 0;
        }
        // The replies of a node go before its recorded ones.
        let lists = &self.scenario.models;
        let (earlier, replies) = match call.call {
            Kind::Tool => (self.earlier.tools.get(&call.name), None),
            Kind::Model => {
                let own = lists.iter().find(|(node, _)| *node == call.node);
                (self.earlier.models.get(&call.node), own)
            }
        };
        let others = self.before(earlier, cx) + replies.map_or(0, |(_, own)| own.len() as u64);
        usize::try_from(cx.ordinal.saturating_sub(others)).unwrap_or(usize::MAX)
    }
}

/// The call that is to be answered.
fn called(kind: Kind, name: &str, cx: &CallContext, asked: Json) -> Call {
    Call {
        call: kind,
        name: name.to_owned(),
        node: cx.node.clone(),
        visit: 1,
        send: cx.send,
        request: cassette::request(&asked),
        asked,
        answer: Answer::Result(Json::Null),
    }
}

/// A call that is being made. One that nobody waits for any more, as after a timeout, has failed.
struct Made<'s> {
    script: &'s Script,
    call: Option<Call>,
    _under_way: UnderWay<'s>,
}

impl<'s> Made<'s> {
    fn begin(script: &'s Script, call: Call) -> Self {
        Self {
            script,
            call: Some(call),
            _under_way: UnderWay::begin(&script.under_way),
        }
    }

    /// Keeps the answer. Gives it as the cassette has it.
    fn answered(mut self, answer: Answer) -> Answer {
        let call = self.call.take();
        match (&mut self.script.state().tape, call) {
            (Tape::Records(recording), Some(call)) => recording.keep(Call { answer, ..call }),
            _ => answer,
        }
    }

    fn failed(&mut self, message: &str) {
        let Some(call) = self.call.take() else {
            return;
        };
        if let Tape::Records(recording) = &mut self.script.state().tape {
            recording.keep_failed(call, message.to_owned());
        }
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        self.failed("it was given up before it was answered");
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
    let asked = cassette::asked(&request);
    let call = called(Kind::Model, &request.model_name, cx, asked);
    let answer = match real.filter(|_| script.is_recording()) {
        None => script.played(call, cx),
        Some(real) => {
            let mut made = Made::begin(script, call);
            let reply = match real.stream(request, cx).await {
                Ok(stream) => whole(stream).await,
                Err(error) => Err(error),
            };
            let reply = reply.inspect_err(|error| made.failed(&error.message))?;
            Ok(made.answered(Answer::Reply(reply)))
        }
    };
    let reply = match answer {
        Ok(Answer::Reply(reply)) => Ok(reply),
        Ok(_) => Err("the cassette has no reply there".to_owned()),
        Err(message) => Err(message),
    };
    let reply = reply.map_err(|message| ModelError::new(ErrorKind::InvalidRequest, message))?;
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
async fn whole(mut stream: ChatStream) -> Result<ChatReply, ModelError> {
    let mut reply = ChatReply::default();
    while let Some(delta) = stream.next().await {
        reply.add(delta?);
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
        let recorded = called(Kind::Tool, &call.tool, cx, asked);
        let answer = match self.real.as_ref().filter(|_| self.script.is_recording()) {
            None => self.script.played(recorded, cx),
            Some(real) => {
                let _permit = real.acquire(cx).await?;
                let mut made = Made::begin(&self.script, recorded);
                let answer = match real.call(call, cx).await {
                    Ok(result) => Answer::Result(result),
                    // An answer of the tool; any other error is none, and may be tried again.
                    Err(ToolError { kind, message, .. }) if kind == ErrorKind::ToolError => {
                        Answer::Error(Failed { kind, message })
                    }
                    Err(error) => {
                        made.failed(&error.message);
                        return Err(error);
                    }
                };
                Ok(made.answered(answer))
            }
        };
        match answer {
            Ok(Answer::Result(result)) => Ok(result),
            Ok(Answer::Error(Failed { kind, message })) => Err(ToolError::new(kind, message)),
            Ok(Answer::Reply(_)) => Err(ToolError::new(
                ErrorKind::ToolError,
                "the cassette has no result there",
            )),
            Err(message) => Err(ToolError::new(ErrorKind::ToolError, message)),
        }
    }
}
