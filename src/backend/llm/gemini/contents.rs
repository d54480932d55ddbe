//! The conversation: contents of the user and the model, one after the other.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::backend::llm::message::{self, Call, Message, Part, held};
use crate::project::spec::provider::Kind;
use crate::value::List;

/// The signature of a call that another model made: <https://ai.google.dev/gemini-api/docs/thought-signatures>.
const FOREIGN: &str = "skip_thought_signature_validator";

/// What a request says of a conversation.
#[derive(Debug, Default)]
pub struct Conversation<'m> {
    /// All system messages, as parts.
    pub system: Vec<Json>,
    /// Roles and their parts. Results of tools are the user's.
    pub contents: Vec<(&'static str, Vec<Json>)>,
    /// Tools by the ids of their calls.
    called: BTreeMap<&'m str, &'m str>,
    /// Whether calls need a signature.
    signed: bool,
}

impl<'m> Conversation<'m> {
    /// That of a request. `signed`: whether the model refuses calls without a signature.
    pub fn of(messages: &'m List, signed: bool) -> Self {
        let mut conversation = Self {
            signed,
            ..Self::default()
        };
        for message in message::read(messages) {
            conversation.add(message);
        }
        conversation
    }

    fn add(&mut self, message: Message<'m>) {
        match message.role {
            "system" => self
                .system
                .extend(message.parts.into_iter().filter_map(part)),
            "tool" => {
                let name = self.called.get(message.answers).copied();
                let response = json!({ "functionResponse": {
                    "id": message.answers,
                    "name": name.unwrap_or(message.name),
                    "response": { "result": message.text() },
                } });
                self.content("user", vec![response]);
            }
            "assistant" => {
                let calls = message.calls.iter().map(|call| (call.id, call.name));
                self.called.extend(calls);
                self.content("model", spoken(message, self.signed));
            }
            _ => {
                let parts = message.parts.into_iter().filter_map(part);
                self.content("user", parts.collect());
            }
        }
    }

    fn content(&mut self, role: &'static str, parts: Vec<Json>) {
        if parts.is_empty() {
            return;
        }
        match self.contents.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => self.contents.push((role, parts)),
        }
    }
}

/// What the model said: signatures of its thoughts stand at the text or the call that they came with.
fn spoken(message: Message<'_>, signed: bool) -> Vec<Json> {
    let mut parts = Vec::new();
    let mut of_calls = BTreeMap::new();
    for part in message.parts {
        match part {
            Part::Opaque(provider, data) if provider == Kind::Gemini.word() => {
                let signature = data.get("thoughtSignature").cloned().unwrap_or_default();
                if let Some(call) = data.get("call").and_then(Json::as_str) {
                    of_calls.insert(call.to_owned(), signature);
                    continue;
                }
                let last = parts.last_mut().and_then(Json::as_object_mut);
                match last.filter(|last| !last.contains_key("thoughtSignature")) {
                    Some(last) => {
                        last.insert("thoughtSignature".to_owned(), signature);
                    }
                    None => parts.push(json!({ "text": "", "thoughtSignature": signature })),
                }
            }
            part => parts.extend(self::part(part)),
        }
    }
    // Of calls in parallel the first has the signature.
    if let Some(first) = message.calls.first()
        && signed
        && of_calls.is_empty()
    {
        of_calls.insert(first.id.to_owned(), FOREIGN.into());
    }
    parts.extend(message.calls.into_iter().map(|call| {
        let Call { id, name, .. } = call;
        let signature = of_calls.remove(id);
        let args = call.object();
        let mut part = json!({ "functionCall": { "id": id, "name": name, "args": args } });
        if let (Some(signature), Some(part)) = (signature, part.as_object_mut()) {
            part.insert("thoughtSignature".to_owned(), signature);
        }
        part
    }));
    parts
}

fn part(part: Part<'_>) -> Option<Json> {
    Some(match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Image(url, _) => match held(url) {
            Some((kind, data)) => json!({ "inlineData": { "mimeType": kind, "data": data } }),
            None => json!({ "fileData": { "mimeType": kind_of(url), "fileUri": url } }),
        },
        Part::Opaque(..) => return None,
        Part::Other(part) => part,
    })
}

/// The media type of a picture, by the end of its address.
fn kind_of(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let ending = path.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => "image/jpeg",
    }
}
