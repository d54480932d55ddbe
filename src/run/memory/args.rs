//! Arguments of the tools of `std/memory`.

use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::expr::ty::TypeTable;
use crate::ir::flow::CONSTANT;
use crate::run::tool::ToolError;
use crate::value::Value;

use super::Access;
use super::tool::invalid;
use crate::ir::memory::space::{self, Space};

/// Arguments, which are of their types.
pub(super) struct Args<'c> {
    pub(super) args: &'c JsonMap<String, Json>,
    pub(super) access: &'c Access,
}

impl Args<'_> {
    pub(super) fn json(&self, name: &str) -> &Json {
        self.args.get(name).unwrap_or(&Json::Null)
    }

    pub(super) fn count(&self, name: &str, default: usize) -> usize {
        let given = self.json(name).as_u64();
        given.map_or(default, |n| usize::try_from(n).unwrap_or(usize::MAX))
    }

    /// The parts of a namespace, constants of the run in their places.
    pub(super) fn parts(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let parts = self.json(name).as_array();
        let parts = parts.into_iter().flatten().filter_map(Json::as_str);
        let filled = parts.map(|part| match part.strip_prefix(CONSTANT) {
            None => Ok(part.to_owned()),
            Some(constant) => self.constant(constant),
        });
        filled.collect()
    }

    pub(super) fn constant(&self, name: &str) -> Result<String, ToolError> {
        let text = match self.access.context.get(name) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Number(number)) => number.to_string(),
            found => {
                let why = match found {
                    None => "the graph has no such constant",
                    Some(_) => "it is no text and no number",
                };
                let message = format!("`{CONSTANT}{name}` stands for nothing here: {why}");
                return Err(invalid(message));
            }
        };
        // What the run was given is a part as it is, and stands for nothing else.
        Space::new(vec![text.clone()])
            .map_err(|why| invalid(format!("`{CONSTANT}{name}` can't be a part: {why}")))?;
        Ok(text)
    }

    pub(super) fn space(&self) -> Result<Space, ToolError> {
        let space = Space::new(self.parts("space")?).map_err(invalid)?;
        Ok(space.apart(&self.access.root))
    }

    /// What namespaces begin with.
    pub(super) fn below(&self, name: &str) -> Result<Space, ToolError> {
        let prefix = Space::prefix(self.parts(name)?).map_err(invalid)?;
        Ok(prefix.apart(&self.access.root))
    }

    pub(super) fn key(&self) -> Result<String, ToolError> {
        let key = self.json("key").as_str().unwrap_or_default();
        space::key(key).map_err(invalid)?;
        Ok(key.to_owned())
    }

    pub(super) fn ttl(&self) -> Result<Option<Duration>, ToolError> {
        let given = self.json("ttl");
        if given.is_null() {
            return Ok(None);
        }
        let wrong = || invalid(format!("`ttl` is a time of at least 1ms, found {given}"));
        let ttl = accept(given, &Type::Duration, &TypeTable::default()).map_err(|_| wrong())?;
        match ttl {
            Value::Duration(ttl) if ttl.as_millis() > 0 => {
                Ok(Some(Duration::try_from(ttl).map_err(|_| wrong())?))
            }
            _ => Err(wrong()),
        }
    }
}
