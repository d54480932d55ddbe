//! The process that reads inputs.

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::corpus::Corpus;
use super::entry::{self, Entry};
use super::mutate;

/// Stack of the thread that reads: that of a program's main thread. The command has eight times that.
const STACK: usize = 8 << 20;

/// The exit status that says "this input panics".
pub const PANICS: i32 = 86;

/// How many findings end a run.
const MOST: usize = 25;

static LAST: Mutex<String> = Mutex::new(String::new());

/// Does what the environment asks for, if it asks.
pub fn run() {
    let var = |name: &str| std::env::var(name).ok();
    let Some(folder) = var("GRAPHC_FUZZ_FOLDER").map(PathBuf::from) else {
        return;
    };
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let payload = info.payload();
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said = said
            .or(payload.downcast_ref::<&str>().copied())
            .unwrap_or("");
        *LAST.lock().unwrap() = format!("{place}: {said}");
    }));
    let number = |name: &str| var(name).and_then(|text| text.parse::<u64>().ok());
    let replay = var("GRAPHC_FUZZ_REPLAY");
    let (seed, from) = (number("GRAPHC_FUZZ_SEED"), number("GRAPHC_FUZZ_FROM"));
    let time = Duration::from_millis(number("GRAPHC_FUZZ_TIME").unwrap_or(0));
    let worker = std::thread::Builder::new().stack_size(STACK);
    let worker = worker.spawn(move || match replay {
        Some(name) => replayed(&folder, &name),
        None => {
            many(&folder, seed.unwrap_or(0), from.unwrap_or(0), time);
            0
        }
    });
    let status = worker.unwrap().join().unwrap_or(PANICS);
    std::process::exit(status);
}

/// Reads one input; the reason why it panics is written beside it.
fn replayed(folder: &Path, entry: &str) -> i32 {
    let entry = entry::named(entry).unwrap();
    let text = std::fs::read(folder.join("replay")).unwrap();
    match read(entry, &String::from_utf8_lossy(&text)) {
        Ok(()) => 0,
        Err(why) => {
            std::fs::write(folder.join("why"), why).unwrap();
            PANICS
        }
    }
}

fn read(entry: &Entry, text: &str) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(|| (entry.read)(text)))
        .map_err(|_| LAST.lock().unwrap().clone())
}

fn many(folder: &Path, seed: u64, from: u64, time: Duration) {
    let corpus = Corpus::load();
    let begin = Instant::now();
    let mut said: Vec<String> = Vec::new();
    let mut number = from;
    while begin.elapsed() < time && said.len() < MOST {
        let mut chance = Chance::of(seed, number);
        let entry = corpus.entry(&mut chance);
        let text = mutate::changed(&mut chance, corpus.texts(entry));
        // Whoever watches finds the input here when this process is gone.
        let mut file = std::fs::File::create(folder.join("current")).unwrap();
        writeln!(file, "{} {number}", entry.name).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        drop(file);
        if let Err(why) = read(entry, &text) {
            let place = why.split(": ").next().unwrap_or("").to_owned();
            if !said.contains(&place) {
                let path = folder.join(format!("panic-{number}"));
                std::fs::write(path, format!("{} {why}\n\0{text}", entry.name)).unwrap();
                said.push(place);
            }
        }
        number += 1;
    }
    std::fs::write(folder.join("done"), number.to_string()).unwrap();
}
