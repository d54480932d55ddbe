//! What becomes of calls that a recorded scenario has no replies for: they are played from its cassette, or made and kept.

use std::collections::BTreeMap;

use crate::backend::scenario::cassette::{self, Answer, Call, Cassette, Kind};
use crate::backend::secret::Secrets;

/// Where the answers of such calls come from.
#[derive(Debug, Default)]
pub enum Tape {
    /// There is no cassette: they fail.
    #[default]
    Missing,
    /// They are answered from it.
    Plays(Playing),
    /// They are made, and kept here.
    Records(Recording),
}

/// A call of a cassette, with its position there.
type Placed<'c> = (usize, &'c Call);

/// A cassette that is played.
#[derive(Debug)]
pub struct Playing {
    cassette: Cassette,
    /// Which of its calls this process has made.
    used: Vec<bool>,
    /// How many calls of each subject the process before this one has made.
    made: BTreeMap<(Kind, String), usize>,
}

/// Calls that are made and kept, without secrets.
#[derive(Debug, Default)]
pub struct Recording {
    secrets: Secrets,
    calls: Vec<Call>,
    /// Calls whose last attempt failed, with what was wrong.
    failed: Vec<(Call, String)>,
}

impl Recording {
    /// An empty one. The secrets are hidden in what it keeps.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Keeps a call. Gives its answer as the cassette has it.
    pub fn keep(&mut self, call: Call) -> Answer {
        // Attempts at the same that failed are no calls of their own here.
        self.failed
            .retain(|(other, _)| !other.is_beside(&call) || other.request != call.request);
        let before = self.calls.iter().filter(|other| other.is_beside(&call));
        let visit = 1 + before.count() as u64;
        let answer = call.answer.scrubbed(&self.secrets);
        self.calls.push(Call {
            visit,
            asked: self.secrets.scrub_result(call.asked),
            answer: answer.clone(),
            ..call
        });
        answer
    }

    /// Notes an attempt that failed.
    pub fn keep_failed(&mut self, call: Call, message: String) {
        self.failed.push((call, message));
    }

    /// The calls.
    ///
    /// # Errors
    /// A call that failed and did not succeed later, which would be a hole.
    pub fn calls(&self) -> Result<Vec<Call>, String> {
        match self.failed.first() {
            None => Ok(self.calls.clone()),
            Some((call, message)) => {
                let call = call.describe();
                Err(format!("nothing is recorded: {call} failed\n{message}"))
            }
        }
    }
}

impl Playing {
    /// A cassette of which nothing is played yet.
    pub fn new(cassette: Cassette) -> Self {
        Self {
            used: vec![false; cassette.calls.len()],
            made: BTreeMap::new(),
            cassette,
        }
    }

    /// Calls that were recorded and not made.
    pub fn left(&self) -> Vec<String> {
        let calls = self.cassette.calls.iter().zip(&self.used);
        let left = calls.filter(|(_, used)| !**used);
        left.map(|(call, _)| call.describe()).collect()
    }

    /// The answer to a call: of those of its node and visit, or at another visit, the one that was asked the same. `made` is
    /// how many calls of its subject seem to have been made before this process.
    ///
    /// # Errors
    /// That there is none, with what differs from the one that would be next.
    pub fn answer(&mut self, call: Call, made: usize) -> Result<Answer, String> {
        // Calls side by side come in any order: the first of them says it.
        let known = self.made.entry(call.subject()).or_insert(made);
        let made = (*known).min(made);
        *known = made;
        let (made, next) = self.open(&call, made);
        let own = |(_, other): &(usize, &Call)| other.is_beside(&call);
        let played = self.cassette.calls.iter().zip(&self.used);
        let played = played.filter(|(other, used)| **used && other.is_beside(&call));
        let visit = 1 + (played.count() + made.iter().filter(|one| own(one)).count()) as u64;
        let mut open: Vec<(usize, &Call)> = next.iter().copied().filter(own).collect();
        if !next.is_empty() {
            // Of calls side by side others may have been made than those which were answered first.
            open.extend(made.into_iter().filter(own));
        }
        let call = Call {
            visit,
            ..call.clone()
        };
        let same = |(_, one): &&(usize, &Call)| one.request == call.request;
        let visited = open.iter().filter(same).find(|(_, one)| one.visit == visit);
        match (visited.or_else(|| open.iter().find(same)), open.first()) {
            (Some((at, found)), _) => {
                let (at, answer) = (*at, found.answer.clone());
                if let Some(used) = self.used.get_mut(at) {
                    *used = true;
                }
                Ok(answer)
            }
            (None, None) => Err(format!("nothing more is recorded for {}", call.describe())),
            (None, Some((_, next))) => {
                let changed = cassette::changes(&next.asked, &call.asked);
                let call = call.describe();
                let changed = changed.join("\n");
                Err(format!(
                    "{call} asks something else than was recorded\n{changed}"
                ))
            }
        }
    }

    /// The calls of the same subject that this process has not made: the first `made`, which an earlier one has made, and the others.
    fn open(&self, call: &Call, made: usize) -> (Vec<Placed<'_>>, Vec<Placed<'_>>) {
        let subject = call.subject();
        let calls = self.cassette.calls.iter().enumerate();
        let mut open: Vec<(usize, &Call)> = calls
            .filter(|(at, other)| self.used.get(*at) == Some(&false) && other.subject() == subject)
            .collect();
        let next = open.split_off(made.min(open.len()));
        (open, next)
    }
}
