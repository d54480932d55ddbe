//! Tool calls that arrive in pieces.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::run::model::ToolCallRequest;

/// A piece of a call, or a whole one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Piece {
    index: Option<u64>,
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Option<String>,
    arguments: Option<Arguments>,
}

/// Text in the protocol; some servers send the object itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Arguments {
    Text(String),
    Json(serde_json::Value),
}

/// The calls of one reply, put together by index.
#[derive(Debug, Default)]
pub struct Calls {
    open: Vec<(u64, ToolCallRequest)>,
    /// Where the last call of an index is.
    at: BTreeMap<u64, usize>,
    /// Indices of calls that came without one, by id.
    index_of: BTreeMap<String, u64>,
}

impl Calls {
    /// Takes a piece in. It begins a call where its index is new; also where it has another id than
    /// the call of that index, because some servers give every call the index 0.
    pub fn add(&mut self, piece: Piece) {
        let id = piece.id.filter(|id| !id.is_empty());
        let last = self.open.last().map(|(index, _)| *index);
        let index = piece.index.unwrap_or_else(|| match &id {
            Some(id) => {
                let next = self.open.len() as u64;
                *self.index_of.entry(id.clone()).or_insert(next)
            }
            None => last.unwrap_or(0),
        });
        let found = self.at.get(&index).copied();
        let found = found.filter(|at| {
            let call = self.open.get(*at).map(|(_, call)| call);
            let other = |id: &String| call.is_some_and(|c| !c.id.is_empty() && c.id != *id);
            !id.as_ref().is_some_and(other)
        });
        let at = found.unwrap_or_else(|| {
            let call = ToolCallRequest {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            };
            self.open.push((index, call));
            let at = self.open.len() - 1;
            self.at.insert(index, at);
            at
        });
        let Some((_, call)) = self.open.get_mut(at) else {
            return;
        };
        if let Some(id) = id {
            call.id = id;
        }
        call.name += &piece.function.name.unwrap_or_default();
        match piece.function.arguments {
            None => {}
            Some(Arguments::Text(text)) => call.arguments += &text,
            Some(Arguments::Json(json)) => call.arguments += &json.to_string(),
        }
    }

    /// The calls in order of their indices.
    pub fn finish(&mut self) -> impl Iterator<Item = ToolCallRequest> + use<> {
        let mut calls = std::mem::take(self).open;
        calls.sort_by_key(|(index, _)| *index);
        calls.into_iter().map(|(_, call)| call)
    }
}
