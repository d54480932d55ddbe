//! Names that a person may have meant.

/// Longest name that is compared, in bytes: of longer ones nobody knows which was meant.
const LONGEST: usize = 100;

/// Most candidates that are looked at for one name, and most of them whose distance is computed: a text with thousands of
/// unknown names among thousands of others takes a time that is bounded for each.
const MOST_CANDIDATES: usize = 2_000;
const MOST_DISTANCES: usize = 100;

/// Most names that [`list`] and [`either`] write out.
const LISTED: usize = 40;

/// The candidate closest to `written`, where one is close enough to be meant.
///
/// Close is an edit distance (with transpositions) of at most a third of the longer name, at
/// least 1; equal but for case always counts. Ties go to the one of the same length, then to the first candidate.
/// The first 2,000 candidates are looked at.
pub fn closest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if written.len() > LONGEST {
        return None;
    }
    let (length, letters) = (written.chars().count(), letters(written));
    let mut best: Option<((usize, usize), &str)> = None;
    let mut distances = 0;
    let candidates = candidates.into_iter().take(MOST_CANDIDATES);
    for candidate in candidates.filter(|candidate| *candidate != written) {
        let own = candidate.chars().count();
        let longer = length.max(own);
        let allowed = (longer / 3).max(1);
        let apart = length.abs_diff(own);
        let distance = match candidate.eq_ignore_ascii_case(written) {
            true => 0,
            false => {
                let least = apart.max(least_distance(letters, self::letters(candidate)));
                let closer = best.is_none_or(|(far, _)| (least, apart) < far);
                if least > allowed || !closer || distances == MOST_DISTANCES {
                    continue;
                }
                distances += 1;
                strsim::damerau_levenshtein(written, candidate)
            }
        };
        // Of one letter for another nothing is left that was meant.
        // Of two that are as close, letters in another order are the likelier slip.
        let far = (distance, apart);
        if distance <= allowed && distance < longer && best.is_none_or(|(least, _)| far < least) {
            best = Some((far, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The letters of a name, a bit each; some share one.
fn letters(name: &str) -> u64 {
    name.chars()
        .fold(0, |all, letter| all | 1 << (u32::from(letter) % 64))
}

/// The least edit distance of two names with these letters: each letter that only one of them has takes a step.
fn least_distance(one: u64, other: u64) -> usize {
    let only = (one & !other).count_ones().max((other & !one).count_ones());
    only as usize
}

/// The candidate that was certainly meant: one letter, no digit, (or the order of two) away, and no other that is close.
pub fn certain<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let near = |candidate: &&str| closest(written, [*candidate]).is_some();
    let mut near = candidates.into_iter().filter(near);
    let (first, other) = (near.next()?, near.next());
    let slip = first.chars().count() > 3 && strsim::damerau_levenshtein(written, first) == 1;
    // `text2` beside `text` is another thing that is missing, not a slip.
    let digits = |name: &str| name.chars().filter(char::is_ascii_digit).count();
    (slip && digits(written) == digits(first) && other.is_none_or(|other| other == first))
        .then_some(first)
}

/// ``did you mean `x`?``, where one of the candidates is close; a help line.
pub fn did_you_mean<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    closest(written, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// So many names a help line spells out.
const FEW: usize = 8;

/// So many names a help line counts. Thousands of findings may each have the same thousands of names to choose from.
const COUNTED: usize = 1_000;

/// The first names in backticks, and how many more there are: what there is to choose from, in a help line.
pub fn few<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut seen = std::collections::HashSet::new();
    let names = names.into_iter().filter(|name| seen.insert(*name));
    let names: Vec<&str> = names.take(COUNTED + 1).collect();
    match names.get(..FEW) {
        Some(first) if names.len() > FEW + 1 => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            let more = match names.len() > COUNTED {
                true => "many".to_owned(),
                false => (names.len() - FEW).to_string(),
            };
            format!("{} and {more} more", first.join(", "))
        }
        _ => list(names),
    }
}

/// `a`, `b` and `c`, each in backticks, for a message; `nothing` when there are none.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// `a`, `b` or `c`, each in backticks, for a message; `nothing` when there are none.
pub fn either<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let mut names = names.into_iter();
    let mut quoted: Vec<String> = names
        .by_ref()
        .take(LISTED)
        .map(|n| format!("`{n}`"))
        .collect();
    match names.count() {
        0 => {}
        more => quoted.push(format!("{more} others")),
    }
    match quoted.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
    }
}
