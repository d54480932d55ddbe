//! JSON Schema, as far as it decides whether values of a type are of it. What it says beyond that (patterns, bounds, conditions) is left to
//! who made it.

use std::cell::Cell;

use serde_json::Value as Json;

use crate::base::name;
use crate::base::size::excerpt;
use crate::expr::Type;
use crate::expr::ty::TypeTable;

/// References and levels that are followed; what lies deeper counts as fitting.
const DEPTH: u32 = 32;
/// Parts of a schema that are looked at, each as often as it is come to; the rest counts as fitting.
const PARTS: u32 = 20_000;

/// A comparison: who has the schema, for messages, and how much of it may still be looked at, since a schema may lead to itself on many ways.
pub struct Comparison {
    whose: &'static str,
    left: Cell<u32>,
}

impl Comparison {
    /// With a schema of that place: `at the server`.
    pub fn with(whose: &'static str) -> Self {
        Self {
            whose,
            left: Cell::new(PARTS),
        }
    }
}

/// A part of a schema.
#[derive(Clone, Copy)]
pub struct Schema<'a> {
    root: &'a Json,
    json: &'a Json,
    depth: u32,
    comparison: &'a Comparison,
}

/// Why a type does not fit, as what follows the name of the part.
pub type Fit = Result<(), String>;

impl<'a> Schema<'a> {
    /// A schema as a whole.
    pub fn of(root: &'a Json, comparison: &'a Comparison) -> Self {
        Schema {
            root,
            json: root,
            depth: 0,
            comparison,
        }
        .followed()
    }

    fn part(self, json: &'a Json) -> Self {
        let left = &self.comparison.left;
        left.set(left.get().saturating_sub(1));
        Schema {
            json,
            depth: self.depth + 1,
            ..self
        }
        .followed()
    }

    /// The schema that a `$ref` within the document leads to.
    fn followed(mut self) -> Self {
        while self.depth < DEPTH
            && let Some(path) = self.json.get("$ref").and_then(Json::as_str)
            && let Some(json) = path.strip_prefix('#').and_then(|at| self.root.pointer(at))
        {
            self.json = json;
            self.depth += 1;
        }
        self
    }

    /// A property of an object.
    pub fn property(self, name: &str) -> Option<Self> {
        Some(self.part(self.json.get("properties")?.get(name)?))
    }

    /// Names of the properties.
    pub fn properties(self) -> impl Iterator<Item = &'a str> {
        let properties = self.json.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(|(name, _)| &**name)
    }

    /// Names of the properties that must be there.
    pub fn required(self) -> impl Iterator<Item = &'a str> {
        let required = self.json.get("required").and_then(Json::as_array);
        required.into_iter().flatten().filter_map(Json::as_str)
    }

    /// Whether an object may have properties that are not named.
    pub fn is_open(self) -> bool {
        let more = self.json.get("additionalProperties");
        more.is_some_and(|more| *more != Json::Bool(false))
    }

    /// The alternatives of it; itself where it has none.
    fn alternatives(self) -> Vec<Self> {
        let keys = ["anyOf", "oneOf"].into_iter();
        let mut lists = keys.filter_map(|key| self.json.get(key)?.as_array());
        match lists.next() {
            Some(all) if !self.is_beyond() => all
                .iter()
                .flat_map(|one| self.part(one).alternatives())
                .collect(),
            _ => vec![self],
        }
    }

    /// Whether it lies deeper than is looked.
    fn is_beyond(self) -> bool {
        self.depth >= DEPTH || self.comparison.left.get() == 0
    }

    /// Whether values of that JSON type may be of it.
    fn is_for(self, word: &str) -> bool {
        let is = |ty: &Json| ty == word || (ty == "number" && word == "integer");
        match self.json.get("type") {
            Some(Json::Array(all)) => all.iter().any(is),
            Some(ty) => is(ty),
            None => true,
        }
    }

    /// The texts that alone are of it, where it lists them.
    fn texts(self) -> Option<Vec<&'a str>> {
        if let Some(only) = self.json.get("const").and_then(Json::as_str) {
            return Some(vec![only]);
        }
        let all = self.json.get("enum")?.as_array()?;
        all.iter().map(Json::as_str).collect()
    }

    /// Whether each value of a type is taken.
    ///
    /// # Errors
    /// Why not.
    pub fn takes(self, ty: &Type, types: &TypeTable) -> Fit {
        if self.is_beyond() {
            return Ok(());
        }
        match ty {
            Type::Json | Type::Error | Type::Never => return Ok(()),
            // Null is left out of what is sent.
            Type::Nullable(of) => return self.takes(of, types),
            Type::Union(members) => {
                return members.iter().try_for_each(|one| self.takes(one, types));
            }
            _ => {}
        }
        let mut why = None;
        for one in self.alternatives() {
            match one.takes_plain(ty, types) {
                Ok(()) => return Ok(()),
                Err(first) => _ = why.get_or_insert(first),
            }
        }
        why.map_or(Ok(()), Err)
    }

    fn takes_plain(self, ty: &Type, types: &TypeTable) -> Fit {
        let word = word(ty);
        if !self.is_for(word) {
            return Err(self.other_than(ty, types));
        }
        match ty {
            Type::String => match self.texts() {
                Some(texts) => Err(format!(
                    " is `string` in the flow, and one of {} {}",
                    name::list(texts),
                    self.comparison.whose
                )),
                None => Ok(()),
            },
            Type::Literal(_) | Type::Enum(_) => {
                let Some(texts) = self.texts() else {
                    return Ok(());
                };
                match members(ty, types).find(|member| !texts.contains(member)) {
                    Some(member) => Err(format!(
                        " may be `{member}` in the flow, and is one of {} {}",
                        name::list(texts),
                        self.comparison.whose
                    )),
                    None => Ok(()),
                }
            }
            Type::List(of) => self.inner("items").map_or(Ok(()), |inner| {
                inner
                    .takes(of, types)
                    .map_err(|why| format!(": an element{why}"))
            }),
            Type::Map(of) => self
                .inner("additionalProperties")
                .map_or(Ok(()), |inner| inner.takes(of, types)),
            Type::Record(id) => {
                let fields = types.records.get(*id).map(|record| &record.fields);
                let fields = fields.map(Vec::as_slice).unwrap_or_default();
                for field in fields {
                    let name = field.outer_name();
                    match self.property(name) {
                        Some(taken) => {
                            let fit = taken.takes(&field.ty, types);
                            fit.map_err(|why| format!(": field `{name}`{why}"))?;
                        }
                        None if self.is_open() || self.properties().next().is_none() => {}
                        None => {
                            let whose = self.comparison.whose;
                            return Err(format!(" has a field `{name}`, which it has not {whose}"));
                        }
                    }
                }
                let missing = self
                    .required()
                    .find(|needed| !fields.iter().any(|field| field.outer_name() == *needed));
                match missing {
                    Some(needed) => Err(format!(" lacks the field `{needed}`")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn inner(self, key: &str) -> Option<Self> {
        let inner = self.json.get(key).filter(|inner| inner.is_object())?;
        Some(self.part(inner))
    }

    fn other_than(self, ty: &Type, types: &TypeTable) -> String {
        let theirs = self.json.get("type").map(Json::to_string);
        let theirs = excerpt(&theirs.unwrap_or_default());
        let whose = self.comparison.whose;
        format!(" is `{}` in the flow and {theirs} {whose}", types.show(ty))
    }

    /// Whether what is of it can be of a type.
    ///
    /// # Errors
    /// Why not.
    pub fn gives(self, ty: &Type, types: &TypeTable) -> Fit {
        if self.is_beyond() || matches!(ty, Type::Json | Type::Error) {
            return Ok(());
        }
        match ty {
            Type::Nullable(of) => return self.gives(of, types),
            Type::Union(members) => {
                let mut fits = members.iter().map(|one| self.gives(one, types));
                return match fits.any(|fit| fit.is_ok()) {
                    true => Ok(()),
                    false => Err(self.other_than(ty, types)),
                };
            }
            _ => {}
        }
        let mut why = None;
        for one in self.alternatives() {
            match one.gives_plain(ty, types) {
                Ok(()) => return Ok(()),
                Err(first) => _ = why.get_or_insert(first),
            }
        }
        why.map_or(Ok(()), Err)
    }

    fn gives_plain(self, ty: &Type, types: &TypeTable) -> Fit {
        if !self.is_for(word(ty)) || (matches!(ty, Type::Int) && self.is_exactly("number")) {
            return Err(self.other_than(ty, types));
        }
        match ty {
            Type::List(of) => self.inner("items").map_or(Ok(()), |inner| {
                inner
                    .gives(of, types)
                    .map_err(|why| format!(": an element{why}"))
            }),
            Type::Record(id) => {
                let fields = types.records.get(*id).map(|record| &record.fields);
                for field in fields.into_iter().flatten() {
                    let name = field.outer_name();
                    match self.property(name) {
                        Some(given) => {
                            let fit = given.gives(&field.ty, types);
                            fit.map_err(|why| format!(": field `{name}`{why}"))?;
                        }
                        None if field.required() && !self.is_open() => {
                            return Err(format!(
                                " has no field `{name}` {}",
                                self.comparison.whose
                            ));
                        }
                        None => {}
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn is_exactly(self, word: &str) -> bool {
        self.json.get("type").is_some_and(|ty| ty == word)
    }
}

/// The type of JSON that values of a type are.
fn word(ty: &Type) -> &'static str {
    match ty {
        Type::Null => "null",
        Type::Bool => "boolean",
        Type::Int | Type::Uint => "integer",
        Type::Float => "number",
        Type::List(_) => "array",
        Type::Map(_) | Type::Record(_) => "object",
        _ => "string",
    }
}

/// The texts that a type is made of.
fn members<'t>(ty: &'t Type, types: &'t TypeTable) -> Box<dyn Iterator<Item = &'t str> + 't> {
    match ty {
        Type::Literal(text) => Box::new(std::iter::once(&**text)),
        Type::Enum(id) => {
            let members = types.enums.get(*id).map(|declared| &declared.members);
            Box::new(members.into_iter().flatten().map(|m| m.name.as_str()))
        }
        _ => Box::new(std::iter::empty()),
    }
}
