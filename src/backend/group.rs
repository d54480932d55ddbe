//! The process group of a program, so that what it started ends with it.
//!
//! All groups of this process are known here: where it ends at once, without its calls being dropped, [`end_all`] ends
//! them first.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::process::{Child, Command};

/// The groups that live, by the id of their leader.
static LIVE: Mutex<Live> = Mutex::new(Live {
    leaders: BTreeSet::new(),
    ended: false,
});

struct Live {
    leaders: BTreeSet<i32>,
    /// Whether all were ended: then no further program is started.
    ended: bool,
}

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group that is killed when this is dropped.
pub struct Group {
    leader: Option<i32>,
}

impl Group {
    /// Starts a program as the leader of a group of its own. Windows has no process groups; there the program alone is
    /// ended, when it is dropped.
    ///
    /// # Errors
    /// Where the program can't be started, or all were ended.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        #[cfg(unix)]
        command.process_group(0);
        // Held while it starts, so that none starts unseen.
        let mut live = live();
        if live.ended {
            return Err(io::Error::other("the process is ending"));
        }
        let child = command.spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        live.leaders.extend(leader);
        Ok((child, Self { leader }))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(leader) = self.leader else { return };
        let mut live = live();
        live.leaders.remove(&leader);
        kill(leader);
    }
}

/// Kills all programs that are under way, with what they have started. None is started afterwards.
pub fn end_all() {
    let mut live = live();
    live.ended = true;
    for leader in std::mem::take(&mut live.leaders) {
        kill(leader);
    }
}

#[cfg(unix)]
fn kill(leader: i32) {
    if let Some(leader) = rustix::process::Pid::from_raw(leader) {
        // An error means that nothing of the group is left.
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_: i32) {}
