//! Values filled into a text as C's `printf` does: `"%-8.2f" | format(x)`.

use crate::value::Value;

use super::super::args::Computed;
use super::super::format::exponent;
use super::list::bounded;
use super::operator::whole;
use super::print::printed;

/// Widest field of a `format`, and most digits.
const MOST_WIDTH: usize = 10_000;

/// A verb of a format: `%-8.2f`.
struct Verb {
    flags: String,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

/// Fills values into a text.
pub(super) fn format(of: &str, values: &[Value]) -> Computed {
    let mut values = values.iter();
    let (mut out, mut rest) = (String::new(), of);
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let (verb, behind) = read_verb(behind)?;
        rest = behind;
        match verb.letter {
            '%' => out.push('%'),
            _ => {
                let value = values.next().ok_or("there are fewer values than verbs")?;
                out.push_str(&filled(&verb, value)?);
            }
        }
        bounded(out.len())?;
    }
    out.push_str(rest);
    match values.next() {
        Some(_) => Err("there are more values than verbs".to_owned()),
        None => Ok(out.into()),
    }
}

fn read_verb(text: &str) -> Result<(Verb, &str), String> {
    let rest = text.trim_start_matches(['-', '+', ' ', '0', '#']);
    let flags = text.get(..text.len() - rest.len()).unwrap_or_default();
    let (width, rest) = read_size(rest)?;
    let (precision, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let (precision, rest) = read_size(rest)?;
            (Some(precision.unwrap_or(0)), rest)
        }
        None => (None, rest),
    };
    let letter = rest.chars().next().ok_or("the text ends after `%`")?;
    let verb = Verb {
        flags: flags.to_owned(),
        width: width.unwrap_or(0),
        precision,
        letter,
    };
    Ok((verb, rest.get(letter.len_utf8()..).unwrap_or_default()))
}

/// A width or a number of digits, where there is one.
fn read_size(text: &str) -> Result<(Option<usize>, &str), String> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match text.get(..text.len() - rest.len()) {
        None | Some("") => Ok((None, text)),
        Some(digits) => match digits.parse().ok().filter(|size| *size <= MOST_WIDTH) {
            Some(size) => Ok((Some(size), rest)),
            None => Err(format!("a width is a number up to {MOST_WIDTH}")),
        },
    }
}

fn filled(verb: &Verb, value: &Value) -> Result<String, String> {
    let has = |flag: char| verb.flags.contains(flag);
    let wrong = || format!("`%{}` has no meaning for `{}`", verb.letter, value.kind());
    let digits = verb.precision.unwrap_or(6);
    let number_of = || match value {
        Value::Float(float) => Ok(*float),
        value => whole(value).map(|int| int as f64).ok_or_else(wrong),
    };
    let int_of = || whole(value).ok_or_else(wrong);
    let sign = |negative: bool| match negative {
        true => "-",
        false if has('+') => "+",
        false if has(' ') => " ",
        false => "",
    };
    let (sign, body) = match verb.letter {
        's' => {
            let text = printed(value)?;
            let most = verb.precision.unwrap_or(usize::MAX);
            ("", text.chars().take(most).collect())
        }
        'd' | 'i' => {
            let int = int_of()?;
            (
                sign(int < 0),
                format!("{:0>1$}", int.unsigned_abs(), verb.precision.unwrap_or(0)),
            )
        }
        'x' | 'X' | 'o' => {
            let int = int_of()?;
            let size = int.unsigned_abs();
            let (mark, body) = match verb.letter {
                'x' => ("0x", format!("{size:x}")),
                'X' => ("0X", format!("{size:X}")),
                _ => ("0o", format!("{size:o}")),
            };
            (
                sign(int < 0),
                format!("{}{body}", if has('#') { mark } else { "" }),
            )
        }
        'f' | 'F' => {
            let float = number_of()?;
            (sign(float < 0.0), format!("{:.digits$}", float.abs()))
        }
        'e' | 'E' => {
            let float = number_of()?;
            let text = exponent(float.abs(), digits);
            let text = if verb.letter == 'E' {
                text.to_uppercase()
            } else {
                text
            };
            (sign(float < 0.0), text)
        }
        letter => return Err(format!("`%{letter}` is no verb")),
    };
    let missing = verb.width.saturating_sub(sign.len() + body.chars().count());
    Ok(match (has('-'), has('0') && verb.letter != 's') {
        (true, _) => format!("{sign}{body}{}", " ".repeat(missing)),
        (false, true) => format!("{sign}{}{body}", "0".repeat(missing)),
        (false, false) => format!("{}{sign}{body}", " ".repeat(missing)),
    })
}
