//! What comes from outside takes no more than its bound, and what must not be seen is seen nowhere: watched on real processes.

mod bounds;
mod cancel;
mod process;
mod secrets;
mod settings;
#[cfg(target_os = "linux")]
mod sizes;
