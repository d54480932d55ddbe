//! Types as JSON Schema (2020-12), in the form that model providers take for tools and structured output.
//!
//! Records stand in place, with all of their properties and no others, so that a schema reads without jumps; only a
//! record that holds itself goes to `$defs`.

use serde_json::{Map, Value as Json, json};

use super::ty::{EnumId, EnumMember, Record, RecordField, RecordId, Type, TypeTable};

/// The schema of a type.
pub fn json_schema(ty: &Type, types: &TypeTable) -> Json {
    let mut writer = Writer::new(types);
    let schema = writer.schema(ty);
    writer.finish(schema)
}

/// The schema of an object with these fields: parameters of a tool, an input, an event.
pub fn fields_schema(fields: &[RecordField], types: &TypeTable) -> Json {
    let mut writer = Writer::new(types);
    let schema = writer.object(fields);
    writer.finish(schema)
}

struct Writer<'a> {
    types: &'a TypeTable,
    /// Records that are being written, the outermost first.
    open: Vec<RecordId>,
    /// Records that hold themselves, with their schema once it is written.
    defs: Vec<(RecordId, Json)>,
}

impl<'a> Writer<'a> {
    fn new(types: &'a TypeTable) -> Self {
        Self {
            types,
            open: Vec::new(),
            defs: Vec::new(),
        }
    }

    fn finish(self, mut schema: Json) -> Json {
        if let (Json::Object(object), false) = (&mut schema, self.defs.is_empty()) {
            let defs: Map<String, Json> = self
                .defs
                .iter()
                .map(|(id, schema)| (self.def_name(*id), schema.clone()))
                .collect();
            object.insert("$defs".into(), Json::Object(defs));
        }
        schema
    }

    fn schema(&mut self, ty: &Type) -> Json {
        match ty {
            Type::Null => json!({ "type": "null" }),
            Type::Bool => json!({ "type": "boolean" }),
            Type::Int => json!({ "type": "integer" }),
            Type::Uint => json!({ "type": "integer", "minimum": 0 }),
            Type::Float => json!({ "type": "number" }),
            Type::String | Type::TypeValue | Type::Bytes => json!({ "type": "string" }),
            Type::Timestamp => json!({ "type": "string", "format": "date-time" }),
            Type::Duration => {
                json!({ "type": "string", "description": "a duration such as 1.5s, 10m or 2h" })
            }
            Type::Json | Type::Error | Type::Never => json!({}),
            Type::List(of) => json!({ "type": "array", "items": self.schema(of) }),
            Type::Map(of) => {
                json!({ "type": "object", "additionalProperties": self.schema(of) })
            }
            Type::Nullable(of) | Type::Optional(of) => {
                json!({ "anyOf": [self.schema(of), { "type": "null" }] })
            }
            Type::Union(members) => self.union(members),
            Type::Literal(text) => json!({ "type": "string", "enum": [text.to_string()] }),
            Type::Enum(id) => self.members(*id),
            Type::Record(id) => self.record(*id),
        }
    }

    fn union(&mut self, members: &[Type]) -> Json {
        let texts: Option<Vec<&str>> = members
            .iter()
            .map(|m| match m {
                Type::Literal(text) => Some(&**text),
                _ => None,
            })
            .collect();
        match texts {
            Some(texts) => json!({ "type": "string", "enum": texts }),
            None => {
                let all: Vec<Json> = members.iter().map(|m| self.schema(m)).collect();
                json!({ "anyOf": all })
            }
        }
    }

    fn members(&self, id: EnumId) -> Json {
        let Some(declared) = self.types.enums.get(id) else {
            return json!({ "type": "string" });
        };
        let names: Vec<&str> = declared.members.iter().map(|m| m.name.as_str()).collect();
        let documented = |m: &&EnumMember| !m.doc.is_empty() || !m.aliases.is_empty();
        let documented = declared.members.iter().filter(documented);
        let mut lines: Vec<String> = Some(declared.doc.clone())
            .filter(|doc| !doc.is_empty())
            .into_iter()
            .collect();
        lines.extend(documented.map(member));
        described(
            json!({ "type": "string", "enum": names }),
            &lines.join("\n"),
        )
    }

    fn record(&mut self, id: RecordId) -> Json {
        let Some(record) = self.types.records.get(id) else {
            return json!({ "type": "object" });
        };
        if self.open.contains(&id) || self.defs.iter().any(|(known, _)| *known == id) {
            self.refer(id);
            return json!({ "$ref": format!("#/$defs/{}", self.def_name(id)) });
        }
        self.open.push(id);
        let schema = described(self.object(&record.fields), &record.doc);
        self.open.pop();
        match self.defs.iter_mut().find(|(known, _)| *known == id) {
            Some((_, def)) => {
                *def = schema;
                json!({ "$ref": format!("#/$defs/{}", self.def_name(id)) })
            }
            None => schema,
        }
    }

    /// Sees to it that a record gets a place in `$defs`; its schema follows when it is closed.
    fn refer(&mut self, id: RecordId) {
        if !self.defs.iter().any(|(known, _)| *known == id) {
            self.defs.push((id, Json::Null));
        }
    }

    /// Two files may each have a record of one name: the later one is told apart by its id.
    fn def_name(&self, id: RecordId) -> String {
        let name = |r: &Record| r.name.clone();
        let own = self.types.records.get(id).map(name).unwrap_or_default();
        match self.types.record_named(&own) {
            Some(first) if first != id => format!("{own}_{}", id.0),
            _ => own,
        }
    }

    fn object(&mut self, fields: &[RecordField]) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in fields {
            let mut schema = described(self.schema(&field.ty), &field.doc);
            field.constraints.write(&field.ty, &mut schema);
            if let (Json::Object(object), Some(default)) = (&mut schema, &field.default) {
                object.insert("default".into(), default.clone());
            }
            properties.insert(field.outer_name().to_owned(), schema);
            if field.required() {
                required.push(field.outer_name());
            }
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// A line about a member of an enum.
fn member(member: &EnumMember) -> String {
    let also: Vec<String> = member
        .aliases
        .iter()
        .map(|alias| format!("{alias:?}"))
        .collect();
    let parts = [
        member.doc.clone(),
        match also.is_empty() {
            true => String::new(),
            false => format!("also known as {}", also.join(", ")),
        },
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("- {}: {}", member.name, parts.join("; "))
}

/// The schema with a doc comment as its description, in place of a more general one.
fn described(mut schema: Json, doc: &str) -> Json {
    if let (Json::Object(object), false) = (&mut schema, doc.is_empty()) {
        object.insert("description".into(), doc.into());
    }
    schema
}
