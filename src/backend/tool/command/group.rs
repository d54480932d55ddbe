//! The process group of a program, so that what it started ends with it.

use tokio::process::{Child, Command};

/// Makes the program the leader of a group of its own.
#[cfg(unix)]
pub fn own(command: &mut Command) {
    command.process_group(0);
}

/// Windows has no process groups; there the program alone is ended, when it is dropped.
#[cfg(not(unix))]
pub fn own(_: &mut Command) {}

/// A group that is killed when this is dropped.
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    /// The group of a program that was started with [`own`].
    pub fn of(child: &Child) -> Self {
        #[cfg(not(unix))]
        let _ = child;
        Self {
            #[cfg(unix)]
            leader: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // An error means that nothing of the group is left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
