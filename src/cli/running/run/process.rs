//! What a process that runs flows has of its own: threads, and ids of new threads of a flow.

use tokio::runtime::Runtime;

use super::super::Failure;

/// Stack of the threads that run tasks: expressions nest.
const STACK_BYTES: usize = 16 << 20;

/// The threads that tasks run on.
pub fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| Failure::unusable(format!("could not start a thread: {error}")))
}

/// An id that can be read out: `t-` and eight letters and digits that aren't taken for others.
pub fn new_thread() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = uuid::Uuid::new_v4().as_u128();
    let letter = |index: u32| {
        let five = (bits >> (5 * index)) as usize & 31;
        LETTERS.get(five).copied().map_or('0', char::from)
    };
    format!("t-{}", (0..8).map(letter).collect::<String>())
}
