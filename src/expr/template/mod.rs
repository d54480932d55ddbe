//! Templates: prompts and other texts with Jinja placeholders.
//!
//! Jinja's parser gives the syntax, and [`lower`](mod@lower) makes of it the [tree](crate::ast::template) that all read: statements
//! around expressions of the language.
//!
//! - [`check`](fn@check) finds what is wrong with one before it is used: syntax, names, fields, filters, nulls, each at its
//!   place in the file. Expressions are typed by [`infer`](super::infer).
//! - [`Template`] is compiled once and rendered many times, by [`eval`](super::eval).
//!
//! What differs from Jinja follows from the values: null prints nothing, counts as not `defined` and makes way for `default`;
//! a list, map or record prints as JSON; a time is a text.
//!
//! Reading order: [`lower`](mod@lower) and what it uses ([`syntax`], [`chain`], [`foreign`]), [`check`](mod@check), [`lost`],
//! [`placeholder`]; [`render`]; [`reads`](mod@reads) and [`printed`](mod@printed), which answer questions of other stages.

mod chain;
mod check;
mod foreign;
mod lost;
mod lower;
mod placeholder;
mod printed;
mod reads;
mod render;
mod syntax;

pub use super::function::jinja::{filters, tests};
pub use check::{check, check_knowing};
pub(crate) use lower::tree;
pub use printed::{Printed, printed};
pub use reads::reads;
pub use render::{Template, TemplateError};
