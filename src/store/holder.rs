//! Who holds a thread, in words.

/// How a holder that was written down is named in a message.
pub(super) fn named(holder: String) -> String {
    match holder == this_process() {
        true => format!("another run of this process ({holder})"),
        false => holder,
    }
}

/// `process 4711 on build-3`.
pub(super) fn this_process() -> String {
    let id = std::process::id();
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let host = files
        .iter()
        .find_map(|file| std::fs::read_to_string(file).ok())
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok());
    match host.as_deref().map(str::trim) {
        Some(host) if !host.is_empty() => format!("process {id} on {host}"),
        _ => format!("process {id}"),
    }
}
