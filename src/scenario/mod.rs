//! Running scenarios: what drives a flow through one, what is seen of it, and what is judged.
//!
//! A scenario file is read by [`crate::project::scenario`] and held against its flow by [`crate::project::fit`]; models and tools are played
//! by [`crate::backend::scenario`]. Here a scenario is played ([`play`]) on a clock of
//! its own ([`ambient`]), all that happens is written down as [`sighting`]s, also by a process that is
//! killed on the way ([`doom`], [`crash`]), put together ([`observed`], [`order`]) and compared with what
//! the file expects ([`judge`]). [`coverage`] counts which nodes, routes and arms were seen. [`group`]
//! runs the scenarios that share a thread, in order. A [`tape`] has all events of a scenario, for who compares ways of playing it.
//!
//! Not here: finding files, compiling them, reports.

pub mod ambient;
pub mod answers;
pub mod coverage;
pub mod crash;
pub mod doom;
pub mod group;
pub mod judge;
pub mod observed;
pub mod order;
pub mod play;
mod routes;
pub mod sighting;
pub mod tape;
pub mod watch;

pub use coverage::Coverage;
pub use group::{Group, Verdict, groups};
pub use judge::Finding;
pub use observed::Observed;
pub use tape::Tape;
