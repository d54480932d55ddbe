//! Regular expressions that a whole text has to match.

use regex_automata::util::syntax;

/// Whether a pattern is bound to both ends of a text: `^..$`. One that is not says nothing of what stands around its match.
pub fn is_anchored(pattern: &str) -> bool {
    let Ok(parsed) = syntax::parse(pattern) else {
        return false;
    };
    let of = parsed.properties();
    let mut begins = of.look_set_prefix().iter().map(|look| look.as_char());
    let mut ends = of.look_set_suffix().iter().map(|look| look.as_char());
    // `\A` and `\z`, which `^` and `$` mean where no flag says otherwise.
    begins.any(|look| look == 'A') && ends.any(|look| look == 'z')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends() {
        for pattern in ["^[a-z]+$", r"\Aa\z", "^a$|^b$", "^(?:a|b)$", "(^a$)"] {
            assert!(is_anchored(pattern), "{pattern}");
        }
        for pattern in ["[a-z]+", "^a", "a$", "^a|b$", "(?m)^a$", "$", "", "("] {
            assert!(!is_anchored(pattern), "{pattern}");
        }
    }
}
