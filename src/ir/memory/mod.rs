//! Names in long-term memory: namespaces, keys, and where the texts of an item stand that are found by meaning.

mod field_path;
pub mod space;

pub use field_path::{FieldPath, all_texts};
pub use space::Space;
