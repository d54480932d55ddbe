//! Permissions: which calls a person has agreed to ahead of them.
//!
//! A permission belongs to the run and behaves like a field: a task sees those of the beginning of its super-step and those that
//! it was given itself; a commit takes them over in the order of the tasks; a called graph begins with those of the task that
//! calls it, and hands on what it was given when it ends well. A checkpoint keeps what has changed, under a name that no field
//! has.
//!
//! What a person of another thread has agreed to, which a fork has from its origin, permits no call that is really made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::value::{List, Value};

use super::store::{Change as Kept, EffectRecord, FieldWrite, FrameImage};
use super::work::approve::USED;

/// Name under which a checkpoint keeps them.
pub const PERMISSIONS: &str = "#permissions";

/// Changes that are kept, at least, before all permissions are written again.
const SMALLEST_SNAPSHOT: usize = 64;

/// A person's yes to calls of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Permission {
    /// The tool.
    pub tool: String,
    /// The arguments that it is for, by the names that the outside knows them by; `None` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// Whether it is for one call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// The question: its path, with the indices of sends.
    pub question: String,
    /// What of it was shown with the question.
    pub shown: Json,
    /// The answer: its task and effect.
    pub answer: String,
    /// Among those that the answer has given.
    pub index: u32,
    /// Who answered.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
    /// The life of the thread that the question was answered on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<String>,
    /// The call that has used it up, by its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
}

impl Permission {
    /// The entry of a result's and a thread's `permissions` (docs/cli.md).
    pub fn to_json(&self) -> Json {
        let mut json = serde_json::json!({
            "tool": self.tool, "question": self.question, "by": self.by, "at": self.at
        });
        if let Some(entries) = json.as_object_mut() {
            if let Some(args) = &self.args {
                entries.insert("args".to_owned(), args.clone());
            }
            if self.once {
                entries.insert("once".to_owned(), true.into());
                entries.insert("used".to_owned(), self.used.is_some().into());
            }
        }
        json
    }
}

/// What an answer, or a call, does to the permissions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A question has been answered: what it permitted before is not permitted any more.
    Answered {
        /// Its path, with the indices of sends.
        question: String,
        /// What was shown with it.
        shown: Json,
    },
    /// A permission is given.
    Given(Box<Permission>),
    /// A permission for one call is used up.
    Used(Claim),
}

/// The use of a permission for one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Which permission.
    pub permission: Id,
    /// The task of the call.
    pub task: String,
}

/// What a permission is found by: no two of a run have the same. Those of one tool and its arguments stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Id {
    /// The tool.
    pub tool: String,
    /// The arguments, as text; empty for any.
    pub args: String,
    /// The question.
    pub question: String,
    /// What was shown with it, as text.
    pub shown: String,
    /// The answer: its task and effect.
    pub answer: String,
    /// Among those that the answer has given.
    pub index: u32,
}

impl Id {
    /// Of a permission.
    pub fn of(permission: &Permission) -> Self {
        Self {
            tool: permission.tool.clone(),
            args: key(permission.args.as_ref()),
            question: permission.question.clone(),
            shown: permission.shown.to_string(),
            answer: permission.answer.clone(),
            index: permission.index,
        }
    }
}

/// The permissions that a task sees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Permissions {
    given: BTreeMap<Id, Permission>,
    /// By question and what was shown with it.
    of_question: BTreeMap<(String, String), BTreeSet<Id>>,
}

/// The arguments of a permission as text: none has the text of any.
fn key(args: Option<&Json>) -> String {
    args.map(Json::to_string).unwrap_or_default()
}

impl Permissions {
    /// Takes a change over.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Answered { question, shown } => {
                let asked = (question.clone(), shown.to_string());
                for id in self.of_question.remove(&asked).unwrap_or_default() {
                    self.given.remove(&id);
                }
            }
            Change::Given(permission) => {
                let id = Id::of(permission);
                let asked = (id.question.clone(), id.shown.clone());
                self.of_question
                    .entry(asked)
                    .or_default()
                    .insert(id.clone());
                self.given.insert(id, (**permission).clone());
            }
            Change::Used(claim) => {
                if let Some(permission) = self.given.get_mut(&claim.permission) {
                    permission.used = Some(claim.task.clone());
                }
            }
        }
    }

    /// Those that cover a call of a tool with these arguments, in a fixed order: for all calls before those for one, for
    /// these arguments alone before those for any.
    pub fn covering(&self, tool: &str, args: &Json) -> Vec<(&Id, &Permission)> {
        let mut found = Vec::new();
        for args in [key(Some(args)), key(None)] {
            let from = Id {
                tool: tool.to_owned(),
                args: args.clone(),
                ..Id::default()
            };
            let of = self.given.range(from..);
            found.extend(of.take_while(|(id, _)| id.tool == tool && id.args == args));
        }
        found.sort_by_key(|(_, permission)| permission.once);
        found
    }

    /// Whether there are any for one call of a tool that is not made yet.
    pub fn has_once(&self, tool: &str) -> bool {
        let from = Id {
            tool: tool.to_owned(),
            ..Id::default()
        };
        let of_tool = self.given.range(from..);
        let mut of_tool = of_tool.take_while(|(id, _)| id.tool == tool);
        of_tool.any(|(_, permission)| permission.once && permission.used.is_none())
    }

    /// All of them, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = &Permission> {
        self.given.values()
    }

    fn len(&self) -> usize {
        self.given.len()
    }
}

/// The permissions of a frame, and how much of them its checkpoints have.
#[derive(Debug, Clone, Default)]
pub struct FramePermissions {
    /// At the beginning of the super-step.
    now: Arc<Permissions>,
    /// What has changed since the frame began: what a called graph hands on.
    changes: Vec<Change>,
    /// Changes kept since all were written.
    kept: usize,
}

impl FramePermissions {
    /// Of a called graph that begins with those of its caller.
    pub fn of_call(now: Arc<Permissions>) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// Takes in what a checkpoint has.
    pub fn load(&mut self, image: &FrameImage) {
        self.changes = changes(image);
        self.kept = self.changes.len();
        let now = Arc::make_mut(&mut self.now);
        self.changes.iter().for_each(|change| now.apply(change));
    }

    /// At the beginning of the super-step.
    pub fn now(&self) -> &Arc<Permissions> {
        &self.now
    }

    /// What has changed since the frame began.
    pub fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// Takes over what a super-step has changed; gives back what its checkpoint keeps of it. A run's own graph (`root`) hands nothing
    /// on: it keeps what there is, once the changes outnumber that.
    pub fn accept(&mut self, changed: Vec<Change>, root: bool) -> Option<FieldWrite> {
        if changed.is_empty() {
            return None;
        }
        let now = Arc::make_mut(&mut self.now);
        changed.iter().for_each(|change| now.apply(change));
        self.kept += changed.len();
        self.changes.extend(changed.iter().cloned());
        let change = if root && self.kept > SMALLEST_SNAPSHOT.max(2 * self.now.len()) {
            let all = self.now.all().cloned().map(Box::new).map(Change::Given);
            self.changes = all.collect();
            self.kept = self.changes.len();
            Kept::Put(Value::List(stored(&self.changes).collect::<List>()))
        } else {
            Kept::Append(stored(&changed).collect())
        };
        Some(FieldWrite {
            field: PERMISSIONS.to_owned(),
            change,
        })
    }
}

/// Changes as a checkpoint keeps them.
fn stored(changes: &[Change]) -> impl Iterator<Item = Value> {
    let json = changes
        .iter()
        .filter_map(|change| serde_json::to_value(change).ok());
    json.map(|json| Value::from_json(&json))
}

/// The changes that a frame's checkpoints have.
fn changes(image: &FrameImage) -> Vec<Change> {
    let field = image.fields.get(PERMISSIONS);
    field.map_or_else(Vec::new, |field| changes_of(&field.value))
}

fn changes_of(kept: &Value) -> Vec<Change> {
    let list = kept.as_list().into_iter().flat_map(List::iter);
    list.filter_map(|change| serde_json::from_value(change.to_json()).ok())
        .collect()
}

/// The permissions of what a checkpoint keeps under their name.
pub fn of_value(kept: &Value) -> Vec<Permission> {
    all_of(changes_of(kept))
}

/// The permissions of a run, with those that calls under way have not handed on.
pub fn of_frames(frames: &[FrameImage]) -> Vec<Permission> {
    all_of(frames.iter().flat_map(changes))
}

fn all_of(changes: impl IntoIterator<Item = Change>) -> Vec<Permission> {
    let mut all = Permissions::default();
    changes.into_iter().for_each(|change| all.apply(&change));
    all.given.into_values().collect()
}

/// Uses of permissions for one call, in the super-step of the run's own graph that is under way: they count at once, also for tasks
/// that do not see each other's changes, and where the call or the graph around it fails.
#[derive(Debug, Default)]
pub struct Uses(Mutex<BTreeMap<Id, String>>);

impl Uses {
    fn uses(&self) -> MutexGuard<'_, BTreeMap<Id, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in those that an earlier process has kept.
    pub fn load(&self, effects: &[EffectRecord]) {
        let kept = effects.iter().filter(|effect| effect.kind == USED);
        let kept = kept.filter_map(|effect| Claim::deserialize(&effect.outcome).ok());
        self.uses()
            .extend(kept.map(|claim| (claim.permission, claim.task)));
    }

    /// Whether a call may use a permission: nobody has, or that very call has begun to.
    pub fn claim(&self, permission: &Id, call: &str) -> bool {
        let mut uses = self.uses();
        match uses.get(permission) {
            Some(user) => user == call,
            None => {
                uses.insert(permission.clone(), call.to_owned());
                true
            }
        }
    }

    /// Whether any call has used a permission.
    pub fn has(&self, permission: &Id) -> bool {
        self.uses().contains_key(permission)
    }

    /// The uses so far, for a commit of the run's own graph, which keeps them.
    pub fn take(&self) -> Vec<Change> {
        let uses = std::mem::take(&mut *self.uses());
        let used = uses.into_iter();
        used.map(|(permission, task)| Change::Used(Claim { permission, task }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(args: Option<Json>, question: &str, at: &str) -> Change {
        Change::Given(Box::new(Permission {
            tool: "wipe".to_owned(),
            shown: json!({ "args": args }),
            args,
            once: false,
            question: question.to_owned(),
            answer: format!("0:{question}#{at}"),
            index: 0,
            by: "ann".to_owned(),
            at: at.to_owned(),
            life: None,
            used: None,
        }))
    }

    #[test]
    fn the_same_question_takes_its_earlier_yes_back() {
        let args = json!({ "id": "a" });
        let mut all = Permissions::default();
        all.apply(&given(Some(args.clone()), "ask", "1"));
        all.apply(&given(Some(json!({ "id": "b" })), "ask", "2"));
        all.apply(&given(Some(args.clone()), "other", "3"));
        assert_eq!(all.covering("wipe", &args).len(), 2);
        all.apply(&Change::Answered {
            question: "ask".to_owned(),
            shown: json!({ "args": { "id": "a" } }),
        });
        let left: Vec<&str> = all.all().map(|one| one.at.as_str()).collect();
        assert_eq!(left, ["3", "2"]);
    }

    #[test]
    fn without_arguments_it_covers_any() {
        let mut all = Permissions::default();
        all.apply(&given(None, "ask", "1"));
        assert_eq!(all.covering("wipe", &json!({ "id": "a" })).len(), 1);
        assert!(all.covering("pay", &json!({})).is_empty());
    }
}
