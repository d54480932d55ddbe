//! Where a value comes from: a search backwards, from where it is used to where it was made.
//!
//! From a place and a path in scope, [`Search::source`] goes back over the ways that lead there, through writes of state fields, `let` names, sends,
//! called graphs and bodies of tools, until a source that is [`Wanted`], or until nothing is left. Where the rule lets them,
//! a person, a condition on the value, an overwritten field or a type without free text end a branch of it.
//!
//! What has once been found to come from nowhere is not searched again, so that all questions of a rule together cost no
//! more than places times fields.
//!
//! Reading order: [`leaf`] (paths), [`made`] (values by their parts), [`env`](mod@env) (scopes), [`value`] and [`function`] (expressions), `text` (templates),
//! [`vouch`] (conditions, with `bound`), [`shape`] (types), [`graph`] (places, and what is sent), [`search`], [`cross`] (one step back), `aside` (what runs beside), [`facts`],
//! [`write`](mod@write), [`resolve`], [`body`] (tools).

mod aside;
mod body;
mod bound;
mod context;
mod cross;
mod env;
mod facts;
mod function;
mod graph;
mod leaf;
mod made;
mod resolve;
mod search;
mod shape;
mod text;
mod value;
mod vouch;
mod write;

pub use env::{Env, env};
pub use leaf::{Leaf, Path, elements, leaves, text_leaves};
pub(super) use resolve::prompt_leaves;
pub use search::{Inside, Search, Trail};
pub use shape::{Wanted, is_plain};
pub use vouch::{Vouch, vetted};
