//! What an effect was asked with, beside its result in the journal.
//!
//! A fork has the results that its thread came to later, and these are of super-steps that the fork may come to another way:
//! under a changed flow, or where the thread was edited, or given a new input, behind the checkpoint. Where nothing but the
//! task's name said whose a result is, a call would be answered by that of another. So each result says what it answers, and
//! in a fork it answers that alone. Elsewhere a task that runs again asks the same, and under a changed flow a result is the
//! task's own whatever it would ask now. So it is in a fork of what it came to itself; and questions and handled errors of the
//! tasks that stood where it was forked are theirs, since these see what they saw then.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::value::Value;

use super::context::RunContext;
use super::effect::EffectScope;
use super::task::Surroundings;

/// The entry of an outcome that says what it answers: no field of a flow is called so.
const OF: &str = "@of";

/// The entry that says which fork has come to it: its life.
const IN: &str = "@in";

/// A request, as a short text that no other has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    digest: String,
    /// Whether it is of all that a task sees.
    seen: bool,
}

impl Request {
    /// Of what was asked.
    pub fn new(asked: &Json) -> Self {
        let digest = Sha256::digest(asked.to_string().as_bytes());
        let digits = digest.iter().take(12).map(|byte| format!("{byte:02x}"));
        Self {
            digest: digits.collect(),
            seen: false,
        }
    }

    /// Its text.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Of what is done about all that a task sees: a question, the way on from an error. The state is digested once for all tasks
    /// of a step (`questions_of_one_step` of benches/run.rs): each of them for itself would take time with its square.
    pub fn of_seen(around: &Surroundings<'_>, input: Option<&Value>) -> Self {
        let state = around.seen.get_or_init(|| state(around).digest);
        Self {
            seen: true,
            ..Self::new(&serde_json::json!([state, input.map(Value::to_stored)]))
        }
    }

    /// An outcome that says what it answers. One that is no object stays as it is.
    pub fn noted(&self, mut outcome: Json) -> Json {
        if let Some(entries) = outcome.as_object_mut() {
            entries.insert(OF.to_owned(), Json::String(self.digest.clone()));
        }
        outcome
    }

    /// Whether an outcome answers it in a fork of that life. What doesn't say what it answers was kept by an earlier version of the program.
    fn is_of(&self, outcome: &Json, life: Option<&str>) -> bool {
        let entry = |name: &str| outcome.get(name).and_then(Json::as_str);
        let own = life.is_some() && entry(IN) == life;
        own || entry(OF).is_none_or(|of| of == self.digest)
    }
}

/// An outcome that says what it answers, and that a fork of that life has come to it.
pub fn own(mut outcome: Json, life: &str) -> Json {
    if let Some(entries) = outcome.as_object_mut()
        && entries.contains_key(OF)
    {
        entries.insert(IN.to_owned(), Json::String(life.to_owned()));
    }
    outcome
}

/// Whether an entry of an outcome is none of the effect's own.
pub fn is_note(key: &str) -> bool {
    key == OF || key == IN
}

/// Of the fields that are kept.
fn state(around: &Surroundings<'_>) -> Request {
    let tracked = around.graph.fields.entries().filter_map(|(id, _)| {
        let value = around.fields.get(id.0 as usize).cloned().flatten()?;
        (!around.graph.untracked.contains(&id)).then(|| value.to_stored())
    });
    Request::new(&tracked.collect())
}

impl EffectScope {
    /// The id of an effect of that request: `id` itself, unless a fork has a result, the beginning of a call or a failed attempt, of
    /// another request there.
    pub fn of_request(&self, cx: &RunContext, id: &str, request: &Request) -> String {
        let mut own = id.to_owned();
        let Some(fork) = &cx.forked_from else {
            return own;
        };
        if request.seen && fork.stood_at(self.key()) {
            return own;
        }
        let life = cx.life.as_deref();
        let mut made = 0;
        let is_anothers = |id: &str| {
            let of_another = |id: &str| {
                let kept = cx.journal.finished(self.task(), id);
                kept.is_some_and(|kept| !request.is_of(kept, life))
            };
            let beside = ["^0", "!1"].map(|mark| format!("{id}{mark}"));
            of_another(id) || beside.iter().any(|id| of_another(id))
        };
        while is_anothers(&own) {
            made += 1;
            own = format!("{id}={made}");
        }
        own
    }
}

/// Values as what they are kept as.
pub fn stored<'v>(values: impl IntoIterator<Item = &'v Value>) -> Json {
    values.into_iter().map(Value::to_stored).collect()
}
