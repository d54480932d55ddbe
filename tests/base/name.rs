//! Lists of names, and names that are close.

use graphc::base::name::{certain, few};

#[test]
fn few_counts_what_it_leaves_out() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    assert_eq!(
        few(names),
        "`a`, `b`, `c`, `d`, `e`, `f`, `g`, `h` and 2 more"
    );
    assert_eq!(few(names.into_iter().take(2)), "`a` and `b`");
}

#[test]
fn certain_is_one_slip_and_no_other_name_near() {
    assert_eq!(certain("wrok", ["work", "rest"]), Some("work"));
    assert_eq!(certain("wrok", ["work", "wok", "wrote"]), None);
    assert_eq!(certain("wrk_it", ["work_at"]), None);
    assert_eq!(certain("ab", ["abc"]), None);
    assert_eq!(certain("text2", ["text"]), None);
}
