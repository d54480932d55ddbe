//! Long-term memory: values by namespace and key that outlast threads, found by filters and by meaning.
//!
//! [`ItemStore`] is what a store implements beside [`Store`](super::store::Store); [`Space`] is a namespace, [`Filter`] and
//! [`Search`] what is looked for, [`Embedder`] what makes vectors of texts and [`vector`] how near those are. [`MemoryTool`] serves the
//! tools of `std/memory` with it: to a flow they are tools like others, each call an effect in the journal.
//!
//! Not here: SQL, HTTP, `graphc.yaml`.

pub mod access;
mod args;
pub mod embed;
pub mod filter;
pub mod search;
pub mod tool;
pub mod vector;

use async_trait::async_trait;
use serde_json::Value as Json;

use super::store::StoreError;

pub use access::Access;
pub use embed::{Embedder, Embedding};
pub use filter::Filter;
pub use search::{Near, Search};
pub use tool::{MODULE, MemoryTool, Settings};

#[doc(no_inline)]
pub use crate::ir::memory::{FieldPath, Space};

/// Most bytes of a value as JSON.
pub const MAX_VALUE: usize = 1 << 20;

/// Most bytes of the values that a call of a flow may find, as JSON: all of them are one result, which the journal keeps.
pub const MOST_FOUND: usize = 16 << 20;

/// For how long a store knows which writes it has made, in milliseconds: a call that was cut off is made again within it
/// without undoing what others have written since.
pub const KNOWN_FOR: i64 = 90 * 24 * 3_600_000;

/// Keeps long-term memory. All implementations pass one suite (`tests/store`).
///
/// Times are milliseconds since 1970 by the clock of the run that asks. An item whose time is over by then is as if it were
/// not there, whether or not it has been swept away.
#[async_trait]
pub trait ItemStore: Send + Sync {
    /// Makes a write, once: where `known` was made before, nothing changes, whatever has been written since, and the result is
    /// that of then. `true` where a put's key is new, or a delete's key was there.
    ///
    /// # Errors
    /// Where the store can't be written; then nothing has changed.
    async fn write(&self, known: WriteKey, write: &Write, now: i64) -> Result<bool, StoreError>;

    /// The item under a key. With `refresh` its time begins anew.
    ///
    /// # Errors
    /// Where the store can't be read, or written for `refresh`.
    async fn item(
        &self,
        space: &Space,
        key: &str,
        now: i64,
        refresh: bool,
    ) -> Result<Option<Item>, StoreError>;

    /// The items in a namespace and below it that pass the filter: with [`Search::near`] those with a score first, the highest
    /// first; then, and where scores are equal, the latest updated first; then by namespace and key, as bytes.
    ///
    /// # Errors
    /// Where the store can't be read, or written for [`Search::refresh`].
    async fn search(&self, search: &Search, now: i64) -> Result<Vec<Item>, StoreError>;

    /// All namespaces with items that begin with `prefix`, in the order of their bytes.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn spaces(&self, prefix: &Space, now: i64) -> Result<Vec<Space>, StoreError>;
}

/// Which write it is: the same whenever it is made again, and no other's.
pub type WriteKey = [u8; 16];

/// A change to memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Keeps a value in place of what its key had. `created` of a key that is there stays.
    Put(NewItem),
    /// Takes a key out.
    Delete {
        /// Its namespace.
        space: Space,
        /// The key.
        key: String,
    },
}

/// What is put.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// Its namespace.
    pub space: Space,
    /// Its key.
    pub key: String,
    /// The value.
    pub value: Json,
    /// How long it is kept, in milliseconds; for good without.
    pub ttl: Option<i64>,
    /// Its vectors, each of length 1; none where nothing of it is found by meaning.
    pub vectors: Vec<Vec<f32>>,
    /// What made them: [`Embedder::name`]. Empty without vectors.
    pub embedder: String,
}

/// What memory holds under a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its namespace.
    pub space: Space,
    /// Its key.
    pub key: String,
    /// The value.
    pub value: Json,
    /// When the key was first put.
    pub created: i64,
    /// When it was last put.
    pub updated: i64,
    /// How near it is to what was searched for, from -1 to 1.
    pub score: Option<f32>,
}
