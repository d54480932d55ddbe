//! A project as its files say it, without anything that runs: which files belong together, and what they hold.
//!
//! Reading order: [`text`] (files), [`Project`] (which belong together), [`environment`] (`${NAME}`), [`yaml`] (trees with places), [`subset`]
//! (named parts of a tree), [`spec`] (what settings say of models and tools).

pub mod environment;
mod root;
pub mod spec;
pub mod subset;
pub mod text;
pub mod yaml;

pub use root::{Project, SETTINGS, canonical, here, relative};
