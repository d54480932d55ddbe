//! Types as texts, for messages.

use std::fmt;

use super::{RecordField, Type, TypeTable};

impl TypeTable {
    /// The type as it is written in a flow, for messages.
    pub fn show<'a>(&'a self, ty: &'a Type) -> impl fmt::Display + 'a {
        Shown { table: self, ty }
    }

    /// The type with its shape in place of its name, one level deep: `{ decision: "approve" |
    /// "reject", note: string? }` for a record, the members of an enum. For a person who is to give
    /// such a value and does not see the flow. A field that may be left out ends in `?` or shows its default.
    pub fn describe(&self, ty: &Type) -> String {
        match ty {
            Type::Record(id) => match self.records.get(*id) {
                Some(record) => {
                    let fields: Vec<String> = record.fields.iter().map(|f| self.entry(f)).collect();
                    format!("{{ {} }}", fields.join(", "))
                }
                None => self.show(ty).to_string(),
            },
            Type::Enum(id) => match self.enums.get(*id) {
                Some(declared) => {
                    let members = declared.members.iter().map(|m| format!("{:?}", m.name));
                    members.collect::<Vec<_>>().join(" | ")
                }
                None => self.show(ty).to_string(),
            },
            Type::List(of) => format!("a list of {}", self.describe(of)),
            Type::Map(of) => format!("a map of {}", self.describe(of)),
            Type::Nullable(of) => format!("{} or null", self.describe(of)),
            Type::Union(members) => {
                let members: Vec<String> = members.iter().map(|m| self.describe(m)).collect();
                members.join(" | ")
            }
            other => self.show(other).to_string(),
        }
    }

    /// A field of a described record.
    fn entry(&self, field: &RecordField) -> String {
        let ty = match field.ty.without_null() {
            // Its members are all that a person can write there.
            Type::Enum(_) => match &field.ty {
                Type::Nullable(of) => format!("({})?", self.describe(of)),
                ty => self.describe(ty),
            },
            _ => self.show(&field.ty).to_string(),
        };
        match &field.default {
            Some(default) => format!("{}: {ty} = {default}", field.name),
            // `json` may be null, and says so where that matters.
            None if !field.required() && !ty.ends_with('?') => format!("{}: {ty}?", field.name),
            None => format!("{}: {ty}", field.name),
        }
    }
}

struct Shown<'a> {
    table: &'a TypeTable,
    ty: &'a Type,
}

/// Members of a union that are shown one by one.
const MOST_SHOWN: usize = 8;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |ty| Shown {
            table: self.table,
            ty,
        };
        match self.ty {
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Float => f.write_str("float"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Json => f.write_str("json"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::List(of) => write!(f, "list<{}>", show(of)),
            Type::Map(of) => write!(f, "map<{}>", show(of)),
            Type::Nullable(of) => match **of {
                Type::Union(_) => write!(f, "({})?", show(of)),
                _ => write!(f, "{}?", show(of)),
            },
            Type::Union(members) => {
                // Beyond that a list says less than its beginning.
                let shown = if members.len() > MOST_SHOWN {
                    3
                } else {
                    members.len()
                };
                for (i, member) in members.iter().take(shown).enumerate() {
                    if i > 0 {
                        f.write_str(" | ")?;
                    }
                    write!(f, "{}", show(member))?;
                }
                match members.len() - shown {
                    0 => Ok(()),
                    more => write!(f, " | .. {more} more"),
                }
            }
            Type::Literal(text) => write!(f, "{text:?}"),
            Type::Enum(id) => f.write_str(self.table.enums.get(*id).map_or("?", |e| &e.name)),
            Type::Record(id) => f.write_str(self.table.records.get(*id).map_or("?", |r| &r.name)),
            Type::Optional(of) => write!(f, "optional<{}>", show(of)),
            Type::TypeValue => f.write_str("type"),
            Type::Never => f.write_str("nothing"),
            Type::Error => f.write_str("?"),
        }
    }
}
