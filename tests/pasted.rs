//! Commands that are shown to be pasted.

use graphc::cli::running::pasted::quoted;

#[test]
fn words_survive_a_shell() {
    for (word, written) in [
        ("t-1", "t-1"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's", r"'it'\''s'"),
        ("$x;`y`", "'$x;`y`'"),
    ] {
        assert_eq!(quoted(word), written);
    }
}
