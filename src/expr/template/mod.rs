//! Templates: prompts and other texts with Jinja placeholders.
//!
//! - [`check`](fn@check) finds what is wrong with one before it is used: syntax, names, fields, filters, nulls, each at its
//!   place in the file.
//! - [`Template`] is compiled once and rendered many times. Lists and maps are shown to the engine as they are,
//!   not copied.
//!
//! The language is minijinja's, with strict undefined names and a bound on work, and these differences that follow from the
//! values: null prints nothing, counts as not `defined` and makes way for `default`; a list, map or record prints as JSON.
//!
//! Reading order: [`check`](mod@check) and what it uses ([`statement`], [`expression`], [`narrow`],
//! [`filter`], [`placeholder`], [`place`], [`syntax`]); then [`render`], [`object`] and [`method`].

mod applied;
mod argument;
mod chain;
mod check;
mod expression;
mod filter;
mod foreign;
mod format;
mod gives;
mod keyword;
mod language;
mod lost;
mod method;
mod namespace;
mod narrow;
mod object;
mod operation;
mod parts;
mod place;
mod placeholder;
mod printed;
mod reads;
mod receiver;
mod render;
mod statement;
mod syntax;

pub use check::{check, check_knowing};
pub use filter::{filters, tests};
pub use printed::{Printed, printed};
pub use reads::reads;
pub use render::{Template, TemplateError};
