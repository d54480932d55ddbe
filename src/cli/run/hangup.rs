//! Whether SIGHUP says anything to this process.
//!
//! `nohup` has it ignored, so that a run outlives its terminal; whoever listens to it undoes that. What the process was
//! started with is only to be read where the system tells, so elsewhere it is left alone: it ends the process there.

/// Number of the signal.
const HANGUP: u32 = 1;

/// Whether it may be listened to. What was found first counts: listening changes what the system tells.
pub fn may_be_heard() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status");
        status.is_ok_and(|status| is_ignored(&status) == Some(false))
    })
}

/// Whether a process with that status ignores it; `None` where that isn't said.
fn is_ignored(status: &str) -> Option<bool> {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask & (1 << (HANGUP - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_says_what_is_ignored() {
        let status = |mask| format!("Name:\tx\nSigIgn:\t{mask}\n");
        assert_eq!(is_ignored(&status("0000000000001001")), Some(true));
        assert_eq!(is_ignored(&status("0000000000001000")), Some(false));
        assert_eq!(is_ignored("Name:\tx\n"), None);
    }
}
