//! Why a store failed.

use super::past::nearest;

/// Why a store failed. In all cases but [`StoreError::Corrupt`] nothing was written; or, where the answer to a commit was lost
/// on its way ([`StoreError::Unavailable`] says so), all of it or nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another writer holds the thread.
    #[error("thread `{thread_id}` is in use by {holder}")]
    Busy {
        /// The thread.
        thread_id: String,
        /// Who: host and process where known.
        holder: String,
    },
    /// Another writer has taken the thread since the lease was given.
    #[error("another process has taken over thread `{thread_id}`; nothing was written")]
    Fenced {
        /// The thread.
        thread_id: String,
    },
    /// A new thread was to have the id of one that is there.
    #[error("there is a thread `{thread_id}` already; nothing was written")]
    Exists {
        /// The thread.
        thread_id: String,
    },
    /// There is no such thread.
    #[error("there is no thread `{thread_id}`")]
    NoThread {
        /// The thread.
        thread_id: String,
    },
    /// The thread has no such checkpoint: it never had, or was compacted.
    #[error("thread `{thread_id}` has no checkpoint {seq}{}", nearest(*before, *after))]
    NoCheckpoint {
        /// The thread.
        thread_id: String,
        /// What was asked for.
        seq: u64,
        /// The nearest before it.
        before: Option<u64>,
        /// The nearest after it.
        after: Option<u64>,
    },
    /// It can't be reached, opened, read or written.
    #[error("{message}")]
    Unavailable {
        /// What failed, with the path or address.
        message: String,
    },
    /// It holds what no version of this program wrote.
    #[error("{message}")]
    Corrupt {
        /// What is wrong, and where.
        message: String,
    },
}

impl StoreError {
    /// Of a store that was written without a part of [`Store`](super::Store).
    pub(super) fn cannot(what: &str) -> Self {
        Self::Unavailable {
            message: format!("this store can't {what}: it was made for runs alone"),
        }
    }
}
