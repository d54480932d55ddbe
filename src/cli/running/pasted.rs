//! Commands that are shown to be pasted: with the options that this process was given, so that they work on the same things.

use super::Context;

/// What stands around the words of a command.
#[derive(Debug, Clone)]
pub struct Pasted {
    head: Vec<String>,
    tail: Vec<String>,
}

impl Pasted {
    /// With the folder, the settings and the store that were named on the command line.
    pub fn new(store: Option<&str>, context: &Context) -> Self {
        let path =
            |path: &Option<std::path::PathBuf>| path.as_ref().map(|p| p.display().to_string());
        let mut head = vec!["graphc".to_owned()];
        head.extend(option("-C", path(&context.directory).as_deref()));
        // It may be printed to where a password has no place.
        let store = store.map(crate::store::pasted);
        let mut tail = Vec::new();
        tail.extend(option("--store", store.as_deref()));
        tail.extend(option("--config", path(&context.config).as_deref()));
        tail.extend(option("--profile", context.profile.as_deref()));
        Self { head, tail }
    }

    /// The command of these words, as a shell takes it.
    pub fn command(&self, words: &[&str]) -> String {
        let words = words.iter().map(|word| quoted(word));
        let all = self.head.iter().cloned().chain(words);
        let all: Vec<String> = all.chain(self.tail.iter().cloned()).collect();
        all.join(" ")
    }
}

/// An option and its value, where it has one.
fn option(name: &str, value: Option<&str>) -> Vec<String> {
    let pair = value.map(|value| vec![name.to_owned(), quoted(value)]);
    pair.unwrap_or_default()
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
