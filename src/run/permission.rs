//! Permissions: which calls a person has agreed to ahead of them.
//!
//! A permission belongs to the run and behaves like a field: a task sees those of the beginning of its super-step and those that
//! it was given itself; a commit takes them over in the order of the tasks; a called graph begins with those of the task that
//! calls it, and hands on what it was given when it ends well. A checkpoint keeps what has changed, under a name that no field
//! has.
//!
//! What a person of another thread has agreed to, which a fork has from its origin, permits no call that is really made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::request::Request;

mod frame;
mod lasting;

pub use frame::{FramePermissions, PERMISSIONS, of_thread, of_value};
pub use lasting::{Lasting, PERMISSION};

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
    /// A digest of the pins that were shown with the question.
    pub pins: String,
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
    /// Whether it is that of a thread which this one was forked from, so that it permits no call here. It is noted where it is shown.
    #[serde(skip)]
    pub inherited: bool,
}

impl Permission {
    /// Whether the answer was given on a thread with that life, or on one that is no fork (`None`).
    pub fn is_of(&self, fork: Option<Option<&str>>) -> bool {
        fork.is_none_or(|life| self.life.as_deref() == life)
    }

    /// The entry of a result's and a thread's `permissions` (docs/cli/result.md).
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
            if self.inherited {
                entries.insert("inherited".to_owned(), true.into());
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
        /// A digest of the pins that were shown with it.
        pins: String,
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
    /// The call: its task, its question's id and a digest of its arguments.
    pub call: String,
}

/// What a permission is found by: no two of a run have the same. Those of one tool and its arguments stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Id {
    /// The tool.
    pub tool: String,
    /// A digest of the arguments; empty for any.
    pub args: String,
    /// The question.
    pub question: String,
    /// A digest of the pins that were shown with it.
    pub pins: String,
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
            args: permission.args.as_ref().map(digest).unwrap_or_default(),
            question: permission.question.clone(),
            pins: permission.pins.clone(),
            answer: permission.answer.clone(),
            index: permission.index,
        }
    }
}

/// Permissions for one call that a call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once {
    /// It needs none, or there is none.
    None,
    /// Of its own arguments alone.
    Own,
    /// One that other arguments may use as well.
    Any,
}

/// A value as a short text.
pub fn digest(json: &Json) -> String {
    Request::new(json).digest().to_owned()
}

/// The permissions that a task sees: what is different from those that it began with, which it shares with others.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    base: Option<Arc<Permissions>>,
    /// `None` where one of the base is taken back.
    own: BTreeMap<Id, Option<Permission>>,
    /// By question and pins, of those that were ever given here.
    of_question: BTreeMap<(String, String), BTreeSet<Id>>,
}

impl Permissions {
    /// Those, to be changed without changing them for others.
    pub fn over(base: Arc<Permissions>) -> Self {
        Self {
            base: Some(base),
            ..Self::default()
        }
    }

    /// Takes a change over.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Answered { question, pins } => {
                let asked = (question.clone(), pins.clone());
                let mut ids = BTreeSet::new();
                self.given_by(&asked, &mut ids);
                self.of_question.remove(&asked);
                let base = self.base.clone();
                for id in ids {
                    match base.as_ref().and_then(|base| base.get(&id)) {
                        Some(_) => _ = self.own.insert(id, None),
                        None => _ = self.own.remove(&id),
                    }
                }
            }
            Change::Given(permission) => {
                let id = Id::of(permission);
                let asked = (id.question.clone(), id.pins.clone());
                let of_question = self.of_question.entry(asked).or_default();
                of_question.insert(id.clone());
                self.own.insert(id, Some((**permission).clone()));
            }
            Change::Used(claim) => {
                if let Some(permission) = self.get(&claim.permission) {
                    let mut permission = permission.clone();
                    permission.used = Some(claim.call.clone());
                    self.own.insert(claim.permission.clone(), Some(permission));
                }
            }
        }
    }

    fn get(&self, id: &Id) -> Option<&Permission> {
        match self.own.get(id) {
            Some(own) => own.as_ref(),
            None => self.base.as_ref()?.get(id),
        }
    }

    fn given_by(&self, asked: &(String, String), found: &mut BTreeSet<Id>) {
        if let Some(base) = &self.base {
            base.given_by(asked, found);
        }
        found.extend(self.of_question.get(asked).into_iter().flatten().cloned());
    }

    /// Those from an id on, as long as they are of its tool and, where it has any, its arguments.
    fn from<'p>(&'p self, from: &Id, found: &mut BTreeMap<&'p Id, &'p Permission>) {
        if let Some(base) = &self.base {
            base.from(from, found);
        }
        let like = |id: &Id| id.tool == from.tool && id.args == from.args;
        for (id, own) in self.own.range(from..).take_while(|(id, _)| like(id)) {
            match own {
                Some(permission) => _ = found.insert(id, permission),
                None => _ = found.remove(id),
            }
        }
    }

    /// Those that cover a call of a tool with these arguments, in a fixed order: for all calls before those for one, for
    /// these arguments alone before those for any.
    pub fn covering(&self, tool: &str, args: &Json) -> Vec<(&Id, &Permission)> {
        let mut all = Vec::new();
        for of in [digest(args), String::new()] {
            let from = Id {
                tool: tool.to_owned(),
                args: of,
                ..Id::default()
            };
            let mut found = BTreeMap::new();
            self.from(&from, &mut found);
            all.extend(found);
        }
        let covers = |of: Option<&Json>| of.is_none_or(|of| of == args);
        all.retain(|(_, permission)| covers(permission.args.as_ref()));
        all.sort_by_key(|(_, permission)| permission.once);
        all
    }

    /// Which permissions for one call a call of a tool may use: none where it needs none.
    pub fn once(&self, tool: &str, args: &Json) -> Once {
        let covering = self.covering(tool, args);
        let open = covering.iter().filter(|(_, one)| one.used.is_none());
        let mut open = open.map(|(_, one)| one);
        match open.clone().any(|one| !one.once) {
            true => Once::None,
            false if open.clone().any(|one| one.args.is_none()) => Once::Any,
            false => open.next().map_or(Once::None, |_| Once::Own),
        }
    }

    /// All of them, by tool and arguments.
    pub fn all(&self) -> Vec<&Permission> {
        let mut all: Vec<&Permission> = self.found().into_values().collect();
        let args = |one: &Permission| one.args.as_ref().map(Json::to_string);
        all.sort_by_cached_key(|one| (one.tool.clone(), args(one)));
        all
    }

    fn found(&self) -> BTreeMap<&Id, &Permission> {
        let mut found = match &self.base {
            Some(base) => base.found(),
            None => BTreeMap::new(),
        };
        for (id, own) in &self.own {
            match own {
                Some(permission) => _ = found.insert(id, permission),
                None => _ = found.remove(id),
            }
        }
        found
    }

    fn len(&self) -> usize {
        self.own.len()
    }
}
