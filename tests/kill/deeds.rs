//! Deeds whose process is killed at each thing that it does to the store: the thread is as it was or as it is to be, and goes on.

use std::time::Duration;

use graphc::run::engine::StartError;
use graphc::run::store::{RunState, Store, StoreError};
use serde_json::Value as Json;
use tokio::runtime::Runtime;

use super::child::{Hand, Job, THREAD};
use super::deed::{Deed, FORK};
use super::doom::{Doom, Moment};
use super::place::{Ended, Place};
use super::{judge, kept, points};

/// When, of each thing that a deed does.
const MOMENTS: [Moment; 7] = [
    Moment::Before,
    Moment::During(30),
    Moment::During(100),
    Moment::During(300),
    Moment::During(900),
    Moment::During(2500),
    Moment::After,
];

/// Points of a deed on a store, where nothing else is asked for.
const POINTS: usize = 3;

/// What is done to which thread.
pub struct Case {
    pub name: &'static str,
    pub deed: Deed,
    /// A file of tests/crash.
    pub flow: &'static str,
    pub input: &'static str,
    /// The super-steps that the thread has made; else it waits for answers.
    pub steps: Option<u64>,
    /// The flow that the deed is done under, where it is another one.
    pub later: Option<&'static str>,
}

/// All that a store has of the thread, and of the one that is made of it.
type Dumps = [String; 2];

async fn dumps(store: &dyn Store) -> Dumps {
    [dump(store, THREAD).await, dump(store, FORK).await]
}

async fn dump(store: &dyn Store, id: &str) -> String {
    let info = store.thread(id).await.unwrap();
    let image = store.load(id).await.unwrap();
    let history = store.history(id, None, 1000).await.unwrap();
    let checkpoints = store.checkpoints(id, None, 1000).await.unwrap();
    let effects = store.effects(id, None, 1000).await.unwrap();
    let effects = effects.into_iter().map(|e| (e.behind, e.effect));
    let effects: Vec<_> = effects.collect();
    let mut states = Vec::new();
    for at in &history {
        states.push(store.state(id, &at.frame, at.seq).await.unwrap());
    }
    format!("{info:#?}\n{image:#?}\n{history:#?}\n{checkpoints:#?}\n{effects:#?}\n{states:#?}")
}

/// A place with its thread.
struct Bench<'c> {
    case: &'c Case,
    place: Place,
    job: Job,
    /// Under the flow that the thread began with.
    first: Hand,
    /// Under that of the deed.
    hand: Hand,
    before: Dumps,
}

impl<'c> Bench<'c> {
    async fn new(case: &'c Case, place: Place, url: String) -> Self {
        let job = place.job(&url);
        let first = Hand::still(job.clone());
        let begun = first.start(case.steps).await.unwrap();
        let stands = [RunState::Interrupted, RunState::Cancelled];
        assert!(stands.contains(&begun.state), "{:?}", begun.error);
        let hand = Hand::still(Job {
            flow: case.later.unwrap_or(case.flow).to_owned(),
            ..job.clone()
        });
        let before = dumps(store(&first)).await;
        Self {
            case,
            place,
            job,
            first,
            hand,
            before,
        }
    }

    async fn dumps(&self) -> Dumps {
        dumps(store(&self.hand)).await
    }

    /// Does the deed here, once nobody holds the thread.
    async fn act(&self) -> Result<(), StartError> {
        loop {
            match self.case.deed.act(&self.hand.engine).await {
                // A server needs a moment to see that the process before has died.
                Err(StartError::Store(StoreError::Busy { .. })) => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                done => return done,
            }
        }
    }

    /// Gets all that is there to its end.
    async fn ends(&self) -> [Option<Json>; 2] {
        let mut ends = [None, None];
        for (id, end) in [THREAD, FORK].iter().zip(&mut ends) {
            if store(&self.hand).thread(id).await.unwrap().is_some() {
                *end = self.hand.to_the_end(id).await;
            }
        }
        ends
    }

    /// What a process has left that was killed at it.
    async fn check(&self, after: &Dumps) {
        let found = self.dumps().await;
        if found == self.before {
            self.act().await.unwrap();
        } else if self.case.deed == Deed::Migrate {
            // It is of the later version as a whole: the earlier one is refused, and changes nothing.
            let refused = self.first.engine.resume(THREAD, &[], <_>::default()).await;
            let version = matches!(refused, Err(StartError::Version { .. }));
            assert!(version, "{:?}", refused.map(|result| result.state));
            assert_eq!(found, self.dumps().await);
            self.act().await.unwrap();
        } else {
            assert_eq!(found, *after);
            let again = match self.case.deed.repeats() {
                true => self.act().await,
                false => Ok(()),
            };
            match again {
                Err(StartError::Store(StoreError::Exists { .. })) => {
                    assert!(self.case.deed.forks());
                }
                again => assert!(again.is_ok() && !self.case.deed.forks()),
            }
        }
        if self.case.deed != Deed::Migrate {
            assert_eq!(self.dumps().await, *after);
        }
    }
}

fn store(hand: &Hand) -> &dyn Store {
    &**hand.engine.store.as_ref().unwrap()
}

/// What an undisturbed deed leaves, and what comes of that.
struct Calm<'c> {
    case: &'c Case,
    place: Place,
    after: Dumps,
    ends: [Option<Json>; 2],
}

impl<'c> Calm<'c> {
    async fn new(case: &'c Case, place: Place, url: String) -> Self {
        let bench = Bench::new(case, place, url).await;
        bench.act().await.unwrap();
        let after = bench.dumps().await;
        assert_ne!(bench.before, after, "nothing was done");
        let ends = bench.ends().await;
        Self {
            case,
            place: bench.place,
            after,
            ends,
        }
    }

    /// Has a process do the deed on a thread of its own, and holds what it leaves against this. Gives back how many things it did to the
    /// store, where it was not killed.
    async fn strike(&self, doom: Option<Doom>, place: Place, url: String) -> Option<u64> {
        let bench = Bench::new(self.case, place, url).await;
        let job = Job {
            flow: bench.hand.job.flow.clone(),
            deed: Some(self.case.deed),
            doom,
            ..bench.job.clone()
        };
        let ended = tokio::task::block_in_place(|| bench.place.process(&job));
        if self.case.deed != Deed::Migrate && doom.is_none() {
            assert_eq!(bench.dumps().await, self.after);
        } else {
            bench.check(&self.after).await;
            assert_eq!(bench.ends().await, self.ends, "{doom:?}");
            judge::judge(&bench.place.log(), &self.place.log());
            kept::judge(&bench.place.log(), &self.place.log());
        }
        match ended {
            Ended::Done { done, .. } => Some(done),
            Ended::Killed => None,
        }
    }
}

pub fn torment(case: &Case, kind: &str, url: impl Fn(&Place) -> String) {
    let runtime = Runtime::new().unwrap();
    let name = format!("{}-{kind}", case.name);
    let place = Place::new(&name, case.flow, case.input, "async");
    let address = url(&place);
    let calm = runtime.block_on(Calm::new(case, place, address));
    let strike = |doom, name: &str| {
        let place = calm.place.another(name);
        let address = url(&place);
        runtime.block_on(calm.strike(doom, place, address))
    };
    let done = strike(None, "count").unwrap();
    let all = done as usize * MOMENTS.len();
    let tried = points(all, POINTS);
    for point in &tried {
        let mut doom = Doom {
            at: (point / MOMENTS.len()) as u64 + 1,
            moment: MOMENTS[point % MOMENTS.len()],
            asked: None,
        };
        // What is kept together depends on timing: a process may come to its end with fewer appends.
        while let Some(done) = strike(Some(doom), &point.to_string()) {
            assert!(doom.at > done && done > 0, "{doom:?} was passed by");
            doom.at = done;
        }
    }
    println!("{name}: {} of {all} points", tried.len());
}

macro_rules! cases {
    ($($name:ident: $deed:ident $flow:literal $input:literal $steps:expr, $later:expr;)*) => {
        $(
            mod $name {
                use super::*;
                const CASE: Case = Case {
                    name: stringify!($name),
                    deed: Deed::$deed,
                    flow: $flow,
                    input: $input,
                    steps: $steps,
                    later: $later,
                };

                #[test]
                fn sqlite() {
                    torment(&CASE, "sqlite", Place::sqlite);
                }

                #[test]
                fn postgres() {
                    torment(&CASE, "postgres", |_| crate::cluster::shared().url());
                }
            }
        )*
    };
}

cases! {
    a_fork_of_a_thread_that_waits: Fork "ask_inside" "{}" None, None;
    a_fork_of_an_earlier_checkpoint: ForkAfresh "nested" "{\"task\": \"step 2 times\"}" Some(5), None;
    a_fork_that_is_edited: ForkEdited "ask_inside" "{}" None, None;
    an_edit: Edit "loop" "{\"task\": \"step 3 times\"}" Some(1), None;
    an_edit_inside_of_a_call: EditInside "ask_inside" "{}" None, None;
    a_compaction: Compact "nested" "{\"task\": \"step 2 times\"}" Some(5), None;
    a_deletion: Delete "ask_inside" "{}" None, None;
    a_migration: Migrate "ask" "{}" None, Some("ask_changed");
}
