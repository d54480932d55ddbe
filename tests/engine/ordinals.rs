//! Ids of effects.

use graphc::run::ordinal::{Of, Ordinals};

#[test]
fn like_is_counted_among_its_like() {
    let ordinals = Ordinals::default();
    let of = [
        Of::kind("uuid"),
        Of::named("tool", "pay"),
        Of::kind("uuid"),
        Of::node("ask", "a/b"),
    ];
    let ids = of.map(|of| ordinals.id(of));
    assert_eq!(ids, ["uuid@0", "tool:pay@0", "uuid@1", "ask@0"]);
}
