//! `${NAME}`, `${public:NAME}` and `${file:PATH}` in the texts of `graphc.yaml`.

use std::cell::{Cell, RefCell};

use serde_json::Value as Json;

use crate::base::secret::{Secret, Secrets};
use crate::diag::Diagnostic;
use crate::project::yaml::{Cursor, show_path};

use super::Entry;

/// The environment, as one entry of the file uses it.
pub struct Variables<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
    secrets: RefCell<Secrets>,
    missing: RefCell<Vec<Diagnostic>>,
    /// Whether something was reported that is no variable.
    faulty: Cell<bool>,
}

/// What a text becomes that is filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It is used as it is.
    Plain,
    /// It is a template; what comes from the environment must not act as one.
    Template,
    /// It is used as it is, and must not stand in the file.
    Secret,
}

impl<'a> Variables<'a> {
    /// Over an environment.
    pub fn new(env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            env,
            secrets: RefCell::default(),
            missing: RefCell::default(),
            faulty: Cell::default(),
        }
    }

    /// A variable of the environment itself.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// The text at `cursor` with its variables filled in: `${NAME}`, `${NAME:-default}`, `${file:PATH}`, `${public:NAME}`, which is no
    /// secret; `$${` is `${`.
    pub fn text(&self, cursor: &Cursor<'_>, form: Form) -> Option<String> {
        let text = cursor.text()?;
        Some(self.fill(text, cursor, form))
    }

    /// The tree at `cursor` with the variables of its texts filled in.
    pub fn tree(&self, cursor: &Cursor<'_>) -> Json {
        match cursor.json() {
            Json::String(text) => Json::String(self.fill(text, cursor, Form::Plain)),
            Json::Array(_) => {
                let items = cursor.items();
                items.iter().map(|item| self.tree(item)).collect()
            }
            Json::Object(_) => {
                let entries = cursor.entries().into_iter();
                let filled = entries.map(|(key, value)| (key.to_owned(), self.tree(&value)));
                Json::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    /// As [`Variables::text`], for what must not be seen and so must come from the environment.
    pub fn secret(&self, cursor: &Cursor<'_>) -> Option<Secret> {
        let text = cursor.text()?;
        if !text.contains("${") {
            let message = format!("`{}` must come from the environment", cursor.key());
            let help = "write `${NAME}` and set that variable";
            cursor.report(cursor.finding(message).help(help));
            return None;
        }
        Some(Secret::new(self.fill(text, cursor, Form::Secret)))
    }

    /// A text with its variables filled in.
    pub fn fill(&self, text: &str, cursor: &Cursor<'_>, form: Form) -> String {
        fill(text, |inner| self.value(inner, cursor, form)).unwrap_or_else(|before| {
            let help = "close it: `${NAME}`; the two characters themselves are written `$${`";
            let message = "`${` has no `}`";
            cursor.report(cursor.finding(message).help(help));
            self.faulty.set(true);
            before
        })
    }

    fn value(&self, inner: &str, cursor: &Cursor<'_>, form: Form) -> String {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let (name, is_public) = match name.strip_prefix("public:") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let file = name.strip_prefix("file:").filter(|_| !is_public);
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_name = is_name || file.is_some_and(|path| !path.is_empty());
        if !is_name {
            let message = format!("`{name}` is no name of an environment variable");
            let arg = name
                .starts_with("args.")
                .then(|| format!("write `{{{{ {name} }}}}`"));
            cursor.report(cursor.finding(message).maybe_help(arg));
            self.faulty.set(true);
            return String::new();
        }
        // As in a shell, `:-` also stands in for a variable that is set to nothing. An empty secret is none.
        let may_be_empty = default.is_none() && form != Form::Secret;
        let set = (self.env)(name).filter(|value| may_be_empty || !value.is_empty());
        match (set, default) {
            (Some(value), _) => {
                if !is_public {
                    self.add_secret(&value);
                }
                match form {
                    Form::Plain | Form::Secret => value,
                    Form::Template => inert(&value),
                }
            }
            (None, Some(default)) => default.to_owned(),
            (None, None) => {
                let place = show_path(cursor.path());
                let message = match file {
                    Some(path) => format!("the file `{path}` can't be read, which `{place}` needs"),
                    None => {
                        let how = match (self.env)(name) {
                            Some(_) => "empty",
                            None => "not set",
                        };
                        format!("the environment variable `{name}` is {how}, which `{place}` needs")
                    }
                };
                let help = match form {
                    _ if file.is_some() => {
                        "its path is one from the folder of graphc.yaml".to_owned()
                    }
                    Form::Secret => "set it".to_owned(),
                    _ => format!("set it, or write `${{{name}:-default}}`"),
                };
                let finding = cursor.finding(message).help(help);
                self.missing.borrow_mut().push(finding);
                String::new()
            }
        }
    }

    /// A value that must not be seen, and the password in it where it is an address.
    fn add_secret(&self, value: &str) {
        let mut secrets = self.secrets.borrow_mut();
        secrets.add(&Secret::new(value));
        let address = url::Url::parse(value).ok();
        if let Some(password) = address.as_ref().and_then(|address| address.password()) {
            let password = percent_encoding::percent_decode_str(password);
            secrets.add(&Secret::new(&*password.decode_utf8_lossy()));
        }
    }

    /// Whether all variables needed so far are set, so that what they make up can be checked.
    pub fn all_set(&self) -> bool {
        self.missing.borrow().is_empty() && !self.faulty.get()
    }

    /// What was filled in so far.
    pub fn secrets(&self) -> Secrets {
        self.secrets.borrow().clone()
    }

    /// An entry that used them.
    pub fn entry<T>(self, value: T, cursor: &Cursor<'_>) -> Entry<T> {
        Entry {
            value,
            span: Some(cursor.key_span()),
            missing: self.missing.into_inner(),
            secrets: self.secrets.into_inner(),
        }
    }
}

/// A text with a value in place of each `${..}`; `$${` is `${`.
///
/// # Errors
/// What stands before a `${` that has no `}`.
pub fn fill(text: &str, mut value: impl FnMut(&str) -> String) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            out += before;
            out += "${";
            rest = after;
            continue;
        }
        out += before;
        let Some((inner, after)) = after.split_once('}') else {
            return Err(out);
        };
        out += &value(inner);
        rest = after;
    }
    Ok(out + rest)
}

/// A text as a template that gives it.
fn inert(text: &str) -> String {
    let opens = ["{{", "{%", "{#"].iter().any(|open| text.contains(open));
    match opens {
        false => text.to_owned(),
        true => text.replace('{', "{{ '{' }}"),
    }
}
