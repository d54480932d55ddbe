//! A project as its files say it, without anything that runs: which files belong together, and what they hold.
//!
//! Reading order: [`text`] (files), [`Project`] (which belong together), [`environment`] (`${NAME}`), [`yaml`] (trees with places), [`subset`]
//! (named parts of a tree), [`spec`] (what settings say of models and tools), [`config`]
//! (`graphc.yaml`), [`scenario`] (`NAME.test.yaml`), [`bindings`] (the settings of a scenario), [`fit`](mod@fit) (scenarios held against their flow),
//! [`lacking`] and [`run_secrets`] (what a flow needs of its settings and of its caller), [`tried`]
//! (whether the outside is there).

pub mod bindings;
pub mod config;
pub mod environment;
pub mod fit;
pub mod lacking;
mod root;
pub mod run_secrets;
pub mod scenario;
pub mod spec;
pub mod subset;
pub mod text;
pub mod tried;
pub mod yaml;

pub use root::{Project, SETTINGS, canonical, here, relative};
