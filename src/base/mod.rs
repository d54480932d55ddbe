//! What every other module stands on: where text came from, typed indices, names that are close, spans of
//! time as they are written, paths to parts of values, sets of numbers, what logs are about, values that must not be seen, the bounds of templates, and
//! whether what computes is to stop.
//!
//! Nothing here knows of graphs, diagnostics or values; nothing here does I/O.

pub mod access_path;
pub mod bit_set;
pub mod cancel;
pub mod credential;
pub mod duration;
pub mod foreign;
pub mod id;
pub mod index;
pub mod log;
pub mod name;
pub mod secret;
pub mod shared;
pub mod size;
pub mod source;
pub mod span;

pub use access_path::AccessPath;
pub use id::IdVec;
pub use index::NameIndex;
pub use shared::{SharedMap, SharedSet};
pub use source::{Location, SourceFile, SourceMap};
pub use span::{FileId, Span, Spanned};
