//! Texts in an SVG: how wide they are, and what is escaped.

use graphc::viz::svg::measure::{Face, width};
use graphc::viz::svg::xml::{escaped, px};

#[test]
fn wide_characters_count_more() {
    assert!(width("iii", Face::Prose(10.0)) < width("mmm", Face::Prose(10.0)));
    assert!(width("ab", Face::Code(10.0)) < width("日本", Face::Code(10.0)));
    assert_eq!(width("", Face::Code(10.0)), 0.0);
}

#[test]
fn nothing_breaks_out() {
    assert_eq!(
        escaped("a<b> & \"c\" 'd'\u{1}"),
        "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"
    );
    assert_eq!(
        (px(1.0), px(-0.01), px(2.25)),
        ("1".into(), "0".into(), "2.2".into())
    );
}
