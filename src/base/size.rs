//! Sizes in the words of messages.

/// A number of bytes: in MiB where it has any, rounded down.
pub fn show_size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mib => format!("{mib} MiB"),
    }
}
