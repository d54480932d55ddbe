//! How many `elif` stand in a row: the engine reads each inside of the one before, so there must be a bound.

use std::ops::Range;

/// Most `elif` of conditions that stand inside of each other, together.
pub const MOST: usize = 400;

/// The place of the `elif` that is one too many.
pub fn too_long(text: &str) -> Option<Range<usize>> {
    // How many each open statement has.
    let mut open: Vec<usize> = Vec::new();
    let mut all = 0;
    for (at, sign) in text.match_indices("{%") {
        let rest = text.get(at + sign.len()..)?;
        let inner = rest.trim_start_matches(['-', '+']).trim_start();
        let end = inner.find(|c: char| !c.is_alphabetic());
        let word = inner.get(..end.unwrap_or(inner.len()))?;
        match word {
            "if" | "for" => open.push(0),
            "elif" => {
                all += 1;
                open.last_mut().into_iter().for_each(|count| *count += 1);
                if all > MOST {
                    let start = text.len() - inner.len();
                    return Some(start..start + word.len());
                }
            }
            "endif" | "endfor" => all -= open.pop().unwrap_or(0).min(all),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MOST, too_long};

    #[test]
    fn what_has_ended_does_not_count() {
        let chain = |count| format!("{{% if a %}}{}{{% endif %}}", "{%- elif b %}".repeat(count));
        assert_eq!(too_long(&chain(MOST).repeat(3)), None);
        let long = chain(MOST + 1);
        let place = too_long(&long).expect("one too many");
        assert_eq!(&long[place], "elif");
    }
}
