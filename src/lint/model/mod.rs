//! Lints about models: what is asked of them, against what is known of them.
//!
//! [`families`] is the table of what is known; a model that it lacks is not judged, and where that matters it is
//! said (`unknown-family`).

pub mod ability;
pub mod context;
pub mod fallback;
mod families;
pub mod provider;
pub mod thinking;

pub use families::{Families, Family};
