//! Values that must not be seen.

mod run;

use std::fmt;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

pub use run::RunSecrets;

/// A text that shows itself as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What must not be told, also not in a text that comes from outside. Besides a secret itself, its forms in addresses
/// (percent-encoded), JSON texts and base64 are looked for.
#[derive(Clone, Default)]
pub struct Secrets {
    all: Vec<Secret>,
    /// What is looked for in each place, made at its first use.
    masks: [OnceLock<Arc<Mask>>; 2],
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.all).finish()
    }
}

/// Where a text stands, which says how likely a secret is there by chance.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A message about something that failed.
    Message,
    /// What a tool gives or a model says: a plain address says where a service is, and results link to it.
    Result,
}

/// Shorter texts, such as `8080` and `prod`, occur by chance.
const SHORTEST: usize = 8;
/// Of longer secrets so many bytes are looked for: the search has a form for each place of base64.
const LONGEST: usize = 4096;
/// The least of base64 that is looked for.
const SHORTEST_BASE64: usize = 8;
/// What stands in a secret's place.
const HIDDEN: &str = "***";

impl Secrets {
    /// Adds one. Those of less than eight bytes are left out: hiding them would hide ordinary words.
    pub fn add(&mut self, secret: &Secret) {
        if secret.reveal().len() >= SHORTEST && !self.all.contains(secret) {
            self.all.push(secret.clone());
            self.masks = Default::default();
        }
    }

    /// Adds those of another.
    pub fn add_all(&mut self, others: &Secrets) {
        others.all.iter().for_each(|secret| self.add(secret));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The text with every secret in it as `***`.
    pub fn scrub(&self, text: &str) -> String {
        self.mask(Place::Message).hide(text)
    }

    /// A result with every secret in its texts as `***`.
    ///
    /// An address without a user, a query or a fragment is none here: it says where a service is, and results link to it.
    pub fn scrub_result(&self, result: Json) -> Json {
        let mask = self.mask(Place::Result);
        match mask.forms.is_empty() {
            true => result,
            false => mask.hide_tree(result),
        }
    }

    /// What a model says in pieces, with every secret as `***`, also one that is split over pieces.
    pub fn words(&self) -> Words {
        Words {
            mask: Arc::clone(self.mask(Place::Result)),
            held: String::new(),
        }
    }

    /// The same for words that came as a whole.
    pub fn scrub_words(&self, text: &str) -> String {
        self.mask(Place::Result).hide(text)
    }

    fn mask(&self, place: Place) -> &Arc<Mask> {
        let [message, result] = &self.masks;
        let cell = match place {
            Place::Message => message,
            Place::Result => result,
        };
        cell.get_or_init(|| {
            let all = self.all.iter().map(Secret::reveal);
            let open = |text: &str| matches!(place, Place::Message) || !is_plain_address(text);
            Arc::new(Mask::of(all.filter(|text| open(text))))
        })
    }
}

/// What is looked for in texts.
#[derive(Clone)]
struct Mask {
    /// The longest first.
    forms: Vec<String>,
    /// Any of them, the longest at a place, so that a secret within another leaves nothing of it. `None` where they are too much for one search; then no text is shown at all.
    any: Option<AhoCorasick>,
}

impl Mask {
    fn of<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut forms: Vec<String> = secrets.flat_map(forms).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        let any = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&forms);
        Self {
            forms,
            any: any.ok(),
        }
    }

    fn hide(&self, text: &str) -> String {
        match &self.any {
            _ if self.forms.is_empty() => text.to_owned(),
            Some(any) => {
                let mut hidden = String::with_capacity(text.len());
                any.replace_all_with(text, &mut hidden, |_, _, out| {
                    out.push_str(HIDDEN);
                    true
                });
                hidden
            }
            None => HIDDEN.to_owned(),
        }
    }

    /// As deep as what was read as JSON may be, which its reader bounds.
    fn hide_tree(&self, tree: Json) -> Json {
        match tree {
            Json::String(text) => Json::String(self.hide(&text)),
            Json::Array(items) => items.into_iter().map(|one| self.hide_tree(one)).collect(),
            Json::Object(entries) => {
                let entries = entries.into_iter();
                let hidden = entries.map(|(key, value)| (self.hide(&key), self.hide_tree(value)));
                Json::Object(hidden.collect())
            }
            other => other,
        }
    }

    /// Where the longest end of a text begins that a secret may begin with.
    fn open_end(&self, text: &str) -> usize {
        let longest = self.forms.first().map_or(0, String::len);
        let first = text.len().saturating_sub(longest.saturating_sub(1));
        let ends = text
            .char_indices()
            .map(|(at, _)| at)
            .skip_while(|at| *at < first);
        let mut open = ends.filter(|at| {
            let end = text.get(*at..).unwrap_or_default();
            let longer = |form: &&String| form.len() > end.len();
            self.forms
                .iter()
                .take_while(longer)
                .any(|form| form.starts_with(end))
        });
        open.next().unwrap_or(text.len())
    }
}

/// A text that comes in pieces. What may be the beginning of a secret is held back until it is seen to be none.
pub struct Words {
    mask: Arc<Mask>,
    held: String,
}

impl Words {
    /// What can be shown of the text so far, after what was shown before.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        if self.mask.forms.is_empty() {
            return std::mem::take(&mut self.held);
        }
        let Some(any) = &self.mask.any else {
            return self.end();
        };
        let open = self.mask.open_end(&self.held);
        let (mut shown, mut end) = (String::new(), 0);
        for found in any
            .find_iter(&self.held)
            .take_while(|found| found.start() < open)
        {
            shown += self.held.get(end..found.start()).unwrap_or_default();
            shown += HIDDEN;
            end = found.end();
        }
        shown += self.held.get(end..open).unwrap_or_default();
        self.held.drain(..end.max(open));
        shown
    }

    /// Whether nothing is held back.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// What is left at the end of the text.
    pub fn end(&mut self) -> String {
        self.mask.hide(&std::mem::take(&mut self.held))
    }
}

/// The forms that a secret is found in.
fn forms(secret: &str) -> Vec<String> {
    let longest = (0..=LONGEST.min(secret.len()))
        .rev()
        .find(|at| secret.is_char_boundary(*at));
    let secret = secret.get(..longest.unwrap_or(0)).unwrap_or(secret);
    let mut forms = vec![secret.to_owned()];
    let percent = utf8_percent_encode(secret, UNRESERVED).to_string();
    let plus = percent.replace("%20", "+");
    for form in [&percent, &plus] {
        forms.push(lower_digits(form));
        forms.push(form.clone());
    }
    let json = Json::from(secret).to_string();
    let json = json
        .trim_start_matches('"')
        .strip_suffix('"')
        .unwrap_or_default();
    let ascii = json.chars().map(|c| match c.is_ascii() {
        true => c.to_string(),
        false => c
            .encode_utf16(&mut [0; 2])
            .iter()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect(),
    });
    forms.push(ascii.collect());
    forms.push(json.to_owned());
    forms.push(json.replace('/', "\\/"));
    // What stands ahead of it, such as the user of `Authorization: Basic`, moves the digits by up to two bytes.
    for ahead in 0..3_usize {
        let bytes = [vec![0; ahead].as_slice(), secret.as_bytes()].concat();
        let (from, to) = ((8 * ahead).div_ceil(6), 8 * bytes.len() / 6);
        for engine in [&STANDARD, &URL_SAFE] {
            let digits = engine.encode(&bytes);
            let whole = digits.get(from..to).unwrap_or_default();
            if whole.len() >= SHORTEST_BASE64 {
                forms.push(whole.to_owned());
            }
        }
    }
    forms
}

/// All but what RFC 3986 calls unreserved.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A percent-encoded text with the digits `a` to `f`.
fn lower_digits(text: &str) -> String {
    let mut parts = text.split('%');
    let mut lower = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        lower += &format!("%{}{rest}", digits.to_lowercase());
    }
    lower
}

fn is_plain_address(text: &str) -> bool {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| !rest.contains(['@', '?', '#']))
}

impl<'a> Extend<&'a Secret> for Secrets {
    fn extend<T: IntoIterator<Item = &'a Secret>>(&mut self, secrets: T) {
        secrets.into_iter().for_each(|secret| self.add(secret));
    }
}
