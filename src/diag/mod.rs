//! What the compiler tells people: diagnostics, their codes and pages, and the forms they are shown in.
//!
//! A rule makes a [`Diagnostic`] with one of the [`codes`] and pushes it into [`Diagnostics`]. Nothing
//! here knows what a graph is; nothing here prints: renderers give back text.

pub mod codes;
pub mod diagnostic;
pub mod fact;
pub mod literal_secret;
pub mod page;
pub mod render;

pub use codes::{Code, Level};
pub use diagnostic::{Diagnostic, Diagnostics, Edit, Label};
pub use fact::{Fact, Home};
pub use page::Page;
