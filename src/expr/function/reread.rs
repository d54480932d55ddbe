//! What the searches of a pattern read again.
//!
//! A search takes linear time, but it may read on behind its match, to see whether a longer one follows, and the next search reads all of
//! that again. The regex engine does not say how far it has read. So its automaton is run here beside it.

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};

/// Bytes that may be read again and are not counted: short texts can do no harm.
const FREE: usize = 16 << 20;

/// Counts bytes that are read again.
#[derive(Default)]
pub(super) struct Reread {
    /// As many as it could be.
    possible: usize,
    /// The pattern's automaton, once it is needed; `None` inside where there is none for the pattern.
    automaton: Option<Option<(DFA, Cache)>>,
    /// As many as it was, behind those that are free.
    pub bytes: usize,
}

impl Reread {
    /// Counts a search from `from` that has found a match with that end.
    pub fn count(&mut self, pattern: &str, text: &str, (from, end): (usize, usize)) {
        let rest = text.len().saturating_sub(end);
        self.possible = self.possible.saturating_add(rest);
        if self.possible <= FREE {
            return;
        }
        let automaton = self.automaton.get_or_insert_with(|| {
            let dfa = DFA::builder()
                .configure(DFA::config().unicode_word_boundary(true))
                .build(pattern)
                .ok()?;
            let cache = dfa.create_cache();
            Some((dfa, cache))
        });
        let stop = automaton
            .as_mut()
            .and_then(|(dfa, cache)| stop(dfa, cache, text, from));
        self.bytes += stop.map_or(rest, |stop| stop.saturating_sub(end));
    }
}

/// Where a search from `from` stops reading, to one or two bytes: an automaton sees that a match has ended behind the byte
/// that follows it. `None` where the automaton can't tell.
fn stop(dfa: &DFA, cache: &mut Cache, text: &str, from: usize) -> Option<usize> {
    let input = Input::new(text).range(from..);
    let mut state = dfa.start_state_forward(cache, &input).ok()?;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        state = dfa.next_state(cache, state, byte).ok()?;
        if state.is_dead() {
            return Some(at);
        }
        if state.is_quit() {
            return None;
        }
    }
    Some(text.len())
}
