//! What comes from outside takes no more than its bound, and what must not be seen is seen nowhere: watched on real processes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod outside {
    mod bounds;
    mod cancel;
    mod process;
    mod secrets;
    mod settings;
    #[cfg(target_os = "linux")]
    mod sizes;
}
