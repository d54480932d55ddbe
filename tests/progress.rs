//! A run as a person follows it.

use std::io::Write;
use std::sync::{Arc, Mutex};

use graphc::cli::running::run::progress::Progress;
use graphc::cli::running::run::watch::Shows;
use graphc::diag::render::Style;
use graphc::run::event::{Event, EventKind, Speaker};
use graphc::run::stream::{BYTES, EVENTS};

#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn word(node: &str, text: &str) -> Event {
    let task = format!("0:{node}");
    Event {
        seq: 0,
        ns: String::new(),
        step: 0,
        node: Some(node.to_owned()),
        id: String::new(),
        skipped: 0,
        thread_id: "t".into(),
        run_id: "r".into(),
        kind: EventKind::Token {
            text: text.to_owned(),
            model: "m".to_owned(),
            call: "model@0".to_owned(),
            attempt: 1,
            by: Speaker { task, send: None },
        },
    }
}

#[test]
fn what_waits_for_a_speaker_is_bounded() {
    let shown = Shown::default();
    let mut progress = Progress::to(Box::new(shown.clone()), Style::PLAIN);
    progress.event(word("a", "one "));
    let half = EVENTS / 2;
    for _ in 0..half {
        progress.event(word("b", "b"));
        progress.event(word("c", "c"));
    }
    progress.event(word("a", "two"));
    progress.pause();
    let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
    let (b, c) = ("b".repeat(half), "c".repeat(half));
    assert_eq!(
        text,
        format!("  one \n● b:\n  {b}\n● c:\n  {c}\n● a:\n  two")
    );
}

#[test]
fn a_few_large_words_are_bounded_too() {
    let shown = Shown::default();
    let mut progress = Progress::to(Box::new(shown.clone()), Style::PLAIN);
    progress.event(word("a", "one "));
    let large = "x".repeat(BYTES / 4);
    for _ in 0..20 {
        progress.event(word("b", &large));
    }
    assert!(shown.0.lock().unwrap().len() >= 16 * large.len());
}
