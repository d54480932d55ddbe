//! The nodes that a scenario expects a run to pass.

use graphc::project::scenario::{PathStep, compare_path};

fn compare(expected: &str, actual: &str) -> Result<(), String> {
    let step = |word: &str| match word {
        "..." => PathStep::Any,
        name => PathStep::Node(name.to_owned()),
    };
    let expected: Vec<PathStep> = expected.split_whitespace().map(step).collect();
    let actual: Vec<&str> = actual.split_whitespace().collect();
    compare_path(&expected, &actual).map_err(|m| format!("{}: {m}", m.step))
}

#[test]
fn dots_skip_any_number_of_nodes() {
    assert_eq!(compare("a b c", "a b c"), Ok(()));
    assert_eq!(compare("a ... c", "a c"), Ok(()));
    assert_eq!(compare("a ... c", "a c b c"), Ok(()));
    assert_eq!(compare("...", ""), Ok(()));
    assert_eq!(compare("... b ... b", "a b c b"), Ok(()));
    assert_eq!(
        compare("a b", "a c"),
        Err("1: expected `b`, found `c`".into())
    );
    assert_eq!(
        compare("a b", "a"),
        Err("1: expected `b`, found the end".into())
    );
    assert_eq!(
        compare("a", "a b"),
        Err("1: expected the end, found `b`".into())
    );
    assert_eq!(
        compare("a ... d", "a b c"),
        Err("2: expected `d`, found `b`".into())
    );
}
