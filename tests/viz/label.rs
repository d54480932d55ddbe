//! Texts in a drawing, cut to their place.

use graphc::viz::label::{brief, condition, middle, short, wrap};

#[test]
fn long_texts_are_cut_between_characters() {
    assert_eq!(short("a ==\n   \"b\""), "a == \"b\"");
    let long = "ü".repeat(60);
    assert_eq!(short(&long), format!("{0}ü…{0}", "ü".repeat(23)));
    assert_eq!(middle("state.kind == Kind.first", 14), "state.k….first");
}

#[test]
fn conditions_keep_beginning_and_end() {
    assert_eq!(condition("a == b", 10, 2), ["a == b"]);
    let cut = condition(
        "state.last != null && state.last.outcome == Outcome.passed",
        16,
        2,
    );
    assert!(
        cut.len() <= 2 && cut.concat().ends_with("passed"),
        "{cut:?}"
    );
    assert_eq!(condition("a\nb\nc", 10, 2), ["· a", "… 2 more"]);
    assert_eq!(condition("", 10, 2), Vec::<String>::new());
}

#[test]
fn lines_are_wrapped_at_words_and_cut_at_the_last() {
    assert_eq!(wrap("one two three", 7, 3), ["one two", "three"]);
    assert_eq!(wrap("abcdefghij", 4, 9), ["abcd", "efgh", "ij"]);
    assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
    assert_eq!(wrap("", 7, 2), Vec::<String>::new());
    assert_eq!(brief("First one. Second one."), ["First one"]);
    assert_eq!(brief("Reads e.g\nmore.\n\nRest"), ["Reads e.g more"]);
}
