//! JSON brought closer to a type: what a model wrote in another form than was asked for, where only one thing can be meant.
//!
//! Nothing is made up: a value that is missing stays missing, and what the result is worth is decided by
//! [`accept`]. Each part is looked at once, so the work grows with the JSON.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::base::cancel;
use crate::base::size::beginning;
use crate::expr::accept::accept;
use crate::expr::ty::{RecordField, RecordId, Type, TypeTable};

use super::field_names::{FieldNames, letters};
use super::find;
use super::parse::Slip;

/// A text of as many letters may have one that is wrong, missing or too many, and still name a member.
const LEAST_LETTERS: usize = 5;

/// Most repairs that are described, and most bytes of each.
const MOST_REPAIRS: usize = 20;
const LONGEST_REPAIR: usize = 300;

/// Reads JSON by a type, and says what it changed.
pub struct Coercion<'t> {
    types: &'t TypeTable,
    path: String,
    /// Whether keys that are no field's stay, and are refused: of a call, one that is left out may be what was meant.
    keeps_unknown: bool,
    /// Whether the run was stopped meanwhile: what was made then is not whole.
    pub is_stopped: bool,
    names: HashMap<RecordId, Rc<FieldNames>>,
    repairs: Vec<String>,
    repaired: usize,
}

/// Whether a type has no parts, so that a text can be its value.
pub fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int | Type::Float | Type::String | Type::Enum(_) | Type::Literal(_) => {
            true
        }
        Type::Nullable(of) => is_scalar(of),
        Type::Union(members) => members.iter().all(is_scalar),
        _ => false,
    }
}

impl<'t> Coercion<'t> {
    /// Without a change so far.
    pub fn new(types: &'t TypeTable) -> Self {
        Self {
            types,
            path: "$".to_owned(),
            keeps_unknown: false,
            is_stopped: false,
            names: HashMap::new(),
            repairs: Vec::new(),
            repaired: 0,
        }
    }

    /// Each change, such as `$.tags: one value for a list`; of many the first and how many more there are.
    pub fn into_repairs(mut self) -> Vec<String> {
        let more = self.repaired - self.repairs.len();
        let more = (more > 0).then(|| format!("and {more} more"));
        self.repairs.extend(more);
        self.repairs
    }

    /// A whole output. An object with one key around the value is taken off.
    pub fn whole(&mut self, json: Json, ty: &Type) -> Json {
        let json = match json {
            Json::Object(object) if self.is_wrapper(&object, ty) => {
                let (key, inside) = object.into_iter().next().unwrap_or_default();
                self.repaired(format!(
                    "an object with the one key `{key}` around the value"
                ));
                inside
            }
            json => json,
        };
        self.value(json, ty)
    }

    /// The arguments of a call.
    pub fn arguments(&mut self, json: Json, fields: &[RecordField]) -> Json {
        self.keeps_unknown = true;
        match self.parsed(json, Json::is_object) {
            Json::Object(object) => {
                let names = FieldNames::of(fields);
                Json::Object(self.fields(object, fields, &names))
            }
            other => other,
        }
    }

    fn repaired(&mut self, what: impl std::fmt::Display) {
        self.repaired += 1;
        if self.repairs.len() < MOST_REPAIRS {
            let repair = format!("{}: {what}", self.path);
            let repair = beginning(&repair, LONGEST_REPAIR).into_owned();
            self.repairs.push(repair);
        }
    }

    /// The fields of a record, and their names.
    fn record_fields(&mut self, id: RecordId) -> (&'t [RecordField], Rc<FieldNames>) {
        let types = self.types;
        let fields = types
            .records
            .get(id)
            .map_or(&[][..], |record| &record.fields);
        let names = self.names.entry(id);
        let names = names.or_insert_with(|| Rc::new(FieldNames::of(fields)));
        (fields, Rc::clone(names))
    }

    /// Whether an object has the value of a type under its one key, which is no field's.
    fn is_wrapper(&self, object: &Map<String, Json>, ty: &Type) -> bool {
        let (Some((key, inside)), 1) = (object.iter().next(), object.len()) else {
            return false;
        };
        match ty {
            Type::Nullable(of) => self.is_wrapper(object, of),
            Type::Record(id) => {
                let fields = self
                    .types
                    .records
                    .get(*id)
                    .map_or(&[][..], |record| &record.fields);
                inside.is_object() && FieldNames::of(fields).find(key).is_none()
            }
            Type::Union(members) if !is_scalar(ty) => {
                members.iter().all(|member| self.is_wrapper(object, member))
            }
            Type::List(_) => inside.is_array(),
            Type::Map(_) | Type::Json => false,
            _ => !inside.is_object() && !inside.is_array(),
        }
    }

    fn value(&mut self, json: Json, ty: &Type) -> Json {
        match ty {
            Type::Nullable(of) | Type::Optional(of) => match json {
                Json::Null => json,
                Json::String(text) if is_null(&text) && self.is_no(&text, of) => {
                    self.repaired("a text for null");
                    Json::Null
                }
                json => self.value(json, of),
            },
            Type::List(of) => self.list(json, of),
            Type::Map(of) => match self.parsed(json, Json::is_object) {
                Json::Object(entries) => {
                    let entries = entries.into_iter().map(|(key, entry)| {
                        let entry = self.part(&format!(".{key}"), |this| this.value(entry, of));
                        (key, entry)
                    });
                    Json::Object(entries.collect())
                }
                other => other,
            },
            Type::Record(id) => self.record(json, *id),
            Type::Union(members) => self.union(json, members),
            Type::Int | Type::Float => self.number(json),
            Type::Bool => self.bool(json),
            Type::String => self.text(json),
            Type::Enum(_) | Type::Literal(_) => self.member(json, &[ty]),
            _ => json,
        }
    }

    /// Whether a text is no value of a type.
    fn is_no(&self, text: &str, ty: &Type) -> bool {
        accept(&Json::from(text), ty, self.types).is_err()
    }

    fn part(&mut self, step: &str, read: impl FnOnce(&mut Self) -> Json) -> Json {
        self.is_stopped |= cancel::is_asked();
        if self.is_stopped {
            return Json::Null;
        }
        let len = self.path.len();
        self.path.push_str(step);
        let json = read(self);
        self.path.truncate(len);
        json
    }

    /// The JSON that a text holds, where that is what is wanted.
    fn parsed(&mut self, json: Json, wanted: fn(&Json) -> bool) -> Json {
        let Json::String(text) = &json else {
            return json;
        };
        let inside = find::values(text)
            .ok()
            .and_then(|found| found.into_iter().next());
        match inside {
            Some(found) if wanted(&found.json) && !found.slips.contains_key(&Slip::TextAround) => {
                self.repaired("JSON in a text");
                for slip in found.slips.keys() {
                    self.repaired(format!("{} in that text", slip.text()));
                }
                found.json
            }
            _ => json,
        }
    }

    fn list(&mut self, json: Json, of: &Type) -> Json {
        let items = match self.parsed(json, Json::is_array) {
            Json::Array(items) => items,
            Json::Null => return Json::Null,
            single => {
                self.repaired("one value for a list");
                vec![single]
            }
        };
        let items = items.into_iter().enumerate();
        Json::Array(
            items
                .map(|(at, item)| self.part(&format!("[{at}]"), |this| this.value(item, of)))
                .collect(),
        )
    }

    fn record(&mut self, json: Json, id: RecordId) -> Json {
        let (fields, names) = self.record_fields(id);
        let names_field = |item: &Json| {
            let object = item.as_object();
            object.is_some_and(|object| object.keys().any(|key| names.find(key).is_some()))
        };
        let json = match (json, fields) {
            (Json::Array(mut items), _) if items.len() == 1 && items.iter().all(names_field) => {
                self.repaired("a list of one for its element");
                items.pop().unwrap_or_default()
            }
            (list @ Json::Array(_), [field]) if matches!(field.ty, Type::List(_)) => {
                self.repaired(format!("the list of `{}` without its object", field.name));
                Json::Object(Map::from_iter([(field.outer_name().to_owned(), list)]))
            }
            (json, _) => self.parsed(json, Json::is_object),
        };
        match json {
            Json::Object(object) => Json::Object(self.fields(object, fields, &names)),
            other => other,
        }
    }

    fn fields(
        &mut self,
        object: Map<String, Json>,
        fields: &[RecordField],
        names: &FieldNames,
    ) -> Map<String, Json> {
        let mut out = Map::new();
        let mut named = HashSet::new();
        let given = |name: &str| object.contains_key(name);
        let mut renamed = Vec::new();
        for key in object.keys() {
            let at = names.find(key);
            named.extend(at);
            let field = at.and_then(|at| fields.get(at));
            let name = match field {
                Some(field) if key == &field.name || key == field.outer_name() => Some(key.clone()),
                Some(field) if !given(field.outer_name()) && !given(&field.name) => {
                    Some(field.outer_name().to_owned())
                }
                _ => None,
            };
            renamed.push((field, name));
        }
        // A key that is no field's may be the missing one in another spelling: it stays, and is reported.
        let mut fields = fields.iter().enumerate();
        let complete = fields.all(|(at, field)| !field.required() || named.contains(&at));
        for ((key, json), (field, name)) in object.into_iter().zip(renamed) {
            let (Some(field), Some(name)) = (field, name) else {
                if self.keeps_unknown || !complete {
                    out.insert(key, json);
                    continue;
                }
                self.repaired(format!("`{key}` is left out: it is no field"));
                continue;
            };
            if out.contains_key(&name) {
                self.repaired(format!("`{key}` is left out: `{name}` is there"));
                continue;
            }
            if name != key {
                self.repaired(format!("`{key}` for `{name}`"));
            }
            if json.is_null() && field.default.is_some() && !field.ty.admits_null() {
                self.repaired(format!("null for the default of `{name}`"));
                continue;
            }
            let json = self.part(&format!(".{name}"), |this| this.value(json, &field.ty));
            out.insert(name, json);
        }
        out
    }

    /// Of several types that one whose form the value has: the member of a text, the record that has most of its fields.
    fn union(&mut self, json: Json, members: &[Type]) -> Json {
        let json = match json {
            Json::String(_)
                if members
                    .iter()
                    .all(|member| matches!(member, Type::Record(_))) =>
            {
                self.parsed(json, Json::is_object)
            }
            json => json,
        };
        let named = |member: &&Type| matches!(member, Type::Enum(_) | Type::Literal(_));
        match &json {
            Json::Object(object) => {
                let mut best: Option<(i64, RecordId)> = None;
                for member in members {
                    let Type::Record(id) = member else { continue };
                    let (fields, names) = self.record_fields(*id);
                    let points = score(object, fields, &names);
                    let points = points.filter(|p| best.is_none_or(|(most, _)| *p > most));
                    best = points.map(|points| (points, *id)).or(best);
                }
                match best {
                    Some((_, id)) => self.record(json, id),
                    None => json,
                }
            }
            Json::Array(_) => match members
                .iter()
                .find(|member| matches!(member, Type::List(_)))
            {
                Some(member) => self.value(json, member),
                None => json,
            },
            Json::String(_) if members.contains(&Type::String) => json,
            _ => {
                let named: Vec<&Type> = members.iter().filter(named).collect();
                let before = self.repaired;
                let json = self.member(json, &named);
                let rest = members
                    .iter()
                    .find(|member| !named.contains(member) && is_scalar(member));
                match (self.repaired == before, rest) {
                    (true, Some(member)) => self.value(json, member),
                    _ => json,
                }
            }
        }
    }

    fn number(&mut self, json: Json) -> Json {
        let Json::String(text) = &json else {
            return json;
        };
        let plain = text.trim();
        let plain = plain.strip_prefix('+').unwrap_or(plain);
        // `.5` and `1.` are numbers of other languages.
        let padded = match (plain.strip_prefix('.'), plain.strip_suffix('.')) {
            (Some(rest), _) => format!("0.{rest}"),
            (_, Some(rest)) => rest.to_owned(),
            _ => plain.to_owned(),
        };
        match serde_json::from_str(&padded) {
            Ok(number @ Json::Number(_)) => {
                self.repaired("a number in a text");
                number
            }
            _ => json,
        }
    }

    fn bool(&mut self, json: Json) -> Json {
        let Json::String(text) = &json else {
            return json;
        };
        let value = match text.trim().to_lowercase().as_str() {
            "true" | "yes" => true,
            "false" | "no" => false,
            _ => return json,
        };
        self.repaired("a text for true or false");
        Json::Bool(value)
    }

    fn text(&mut self, json: Json) -> Json {
        match json {
            // A fraction would lose digits that a text has.
            Json::Number(_) | Json::Bool(_) if !json.is_f64() => {
                self.repaired("a number or true or false for a text");
                Json::String(json.to_string())
            }
            other => other,
        }
    }

    /// The member of enums and literals that a text names in another spelling: other capital letters, blanks or signs, else one letter
    /// (not the first) that is wrong, missing or too many. Only where one member alone is named so.
    fn member(&mut self, json: Json, of: &[&Type]) -> Json {
        let written = match &json {
            Json::String(text) => text.clone(),
            Json::Number(_) | Json::Bool(_) => json.to_string(),
            _ => return json,
        };
        let mut names: Vec<(&str, &str)> = Vec::new();
        for ty in of {
            match ty {
                Type::Literal(text) => names.push((text, text)),
                Type::Enum(id) => {
                    let declared = self.types.enums.get(*id);
                    if declared.is_some_and(|declared| declared.meant(&written).is_some()) {
                        return json;
                    }
                    for member in declared.iter().flat_map(|declared| &declared.members) {
                        names.push((&member.name, &member.name));
                        names.extend(
                            member
                                .aliases
                                .iter()
                                .map(|alias| (alias.as_str(), member.name.as_str())),
                        );
                    }
                }
                _ => {}
            }
        }
        let is_named = json.is_string() && names.iter().any(|(_, member)| *member == written);
        let plain = letters(&written);
        let same = |name: &str| letters(name) == plain;
        let near = |name: &str| is_one_edit(&letters(name), &plain);
        match only(&names, same).or_else(|| only(&names, near)) {
            Some(member) if !is_named => {
                self.repaired(format!("`{}` for `{member}`", written.escape_debug()));
                Json::from(member)
            }
            _ => json,
        }
    }
}

/// The member that a test holds for, where it holds for one alone.
fn only<'n>(names: &[(&str, &'n str)], test: impl Fn(&str) -> bool) -> Option<&'n str> {
    let mut found = names
        .iter()
        .filter(|(name, _)| test(name))
        .map(|(_, member)| *member);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// How well an object fits a record: fields that it has, less those that it lacks; none where a text that tells kinds apart is another's.
fn score(object: &Map<String, Json>, fields: &[RecordField], names: &FieldNames) -> Option<i64> {
    let mut given: HashMap<usize, &Json> = HashMap::new();
    for (key, json) in object {
        if let Some(at) = names.find(key) {
            given.entry(at).or_insert(json);
        }
    }
    let mut points = 0;
    for (at, field) in fields.iter().enumerate() {
        match (given.get(&at), &field.ty) {
            (Some(Json::String(text)), Type::Literal(wanted))
                if letters(text) != letters(wanted) =>
            {
                return None;
            }
            (Some(_), _) => points += 1,
            (None, _) if field.required() => points -= 1,
            (None, _) => {}
        }
    }
    Some(points)
}

fn is_null(text: &str) -> bool {
    ["null", "none", "n/a", ""].contains(&text.trim().to_lowercase().as_str())
}

/// Whether two words differ in one letter that is wrong, missing or too many, and not the first.
fn is_one_edit(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().min(b.len()) < LEAST_LETTERS
        || a.len().abs_diff(b.len()) > 1
        || a.first() != b.first()
    {
        return false;
    }
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(same..).unwrap_or(&[]), b.get(same..).unwrap_or(&[]));
    let behind = |letters: &[char]| letters.get(1..).map(<[char]>::to_vec).unwrap_or_default();
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => behind(a) == behind(b),
        std::cmp::Ordering::Less => a == behind(b),
        std::cmp::Ordering::Greater => behind(a) == b,
    }
}
