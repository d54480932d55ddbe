//! `graphc memory`

use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Value as Json, json};

use crate::ir::memory::space::Pattern;
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::memory::tool::shown;
use crate::run::memory::{Access, Filter, Item, Search, Space, Write};
use crate::run::store::StoreError;

use super::pasted::Pasted;
use super::run::process::runtime;
use super::storage::LookArgs;
use super::threads::table::table;
use super::threads::{Format, seconds};
use super::{Context, Exit, Failure, output};

const EXAMPLES: &str = "\
Examples:
  graphc memory                                 the namespaces that have items
  graphc memory list users/u-17 --limit 5       what lies in one and below it, the newest first
  graphc memory list '[\"a/b\"]' --format json    a namespace as JSON, where a part has a slash
  graphc memory get users/u-17 tea
  graphc memory delete users/u-17 tea";

/// Arguments of `graphc memory`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where.
    #[command(flatten)]
    pub look: LookArgs,
    /// What to do; `namespaces` where left out.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What is done with memory.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the namespaces that have items
    Namespaces {
        /// Those that begin so, `a/b` or a JSON list; `*` stands for any one part
        #[arg(value_name = "SPACE")]
        space: Option<String>,
    },
    /// List items of a namespace and of all below it, the latest put first
    List {
        /// The namespace, `a/b` or a JSON list; all where left out
        #[arg(value_name = "SPACE")]
        space: Option<String>,
        /// The most items
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// How many to leave out at the beginning
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u32,
    },
    /// Print the item under a key, as JSON
    Get {
        /// The namespace, `a/b` or a JSON list
        #[arg(value_name = "SPACE")]
        space: String,
        /// The key
        #[arg(value_name = "KEY")]
        key: String,
    },
    /// Take a key out
    Delete {
        /// The namespace, `a/b` or a JSON list
        #[arg(value_name = "SPACE")]
        space: String,
        /// The key
        #[arg(value_name = "KEY")]
        key: String,
    },
}

/// Looks into the long-term memory of the project around the current folder.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let (place, _) = args.look.place(context)?;
    // What isn't there is not made just to be looked into: it holds nothing.
    let store = match place.is_there() {
        true => place.open(false)?,
        false => Arc::new(crate::store::MemoryStore::new()),
    };
    let now = SystemAmbient.now().as_millisecond();
    let look = Look {
        pasted: Pasted::new(args.look.store.as_deref(), context),
        access: Access::new(Some(store), Arc::default(), now, Json::Null),
        shown: place.to_string(),
        format: args.look.format,
        context,
    };
    runtime()?.block_on(async {
        match args.action.unwrap_or(Action::Namespaces { space: None }) {
            Action::Namespaces { space } => look.namespaces(space.as_deref()).await,
            Action::List {
                space,
                limit,
                offset,
            } => look.list(space.as_deref(), limit, offset).await,
            Action::Get { space, key } => look.get(&space, &key).await,
            Action::Delete { space, key } => look.delete(&space, &key).await,
        }
    })?;
    Ok(Exit::Done)
}

/// The memory that is looked into.
struct Look<'c> {
    pasted: Pasted,
    access: Access,
    shown: String,
    format: Format,
    context: &'c Context,
}

impl Look<'_> {
    async fn namespaces(&self, space: Option<&str>) -> Result<(), Failure> {
        let pattern = Pattern::new(parts(space)?, None).map_err(Failure::unusable)?;
        let (prefix, now) = (pattern.prefix(), self.access.now);
        let found = self.access.with(|items| items.spaces(&prefix, now)).await;
        let listed = pattern.of(found.map_err(failed)?);
        if listed.is_empty() && self.format == Format::Human {
            self.nothing(space, false);
        }
        for space in listed {
            let line = match self.format {
                Format::Human => path(&space),
                Format::Json => json!({ "space": space.parts() }).to_string(),
            };
            output::print(&format!("{line}\n"))?;
        }
        Ok(())
    }

    async fn list(&self, space: Option<&str>, limit: u32, offset: u32) -> Result<(), Failure> {
        let search = Search {
            prefix: Space::prefix(parts(space)?).map_err(Failure::unusable)?,
            filter: Filter::default(),
            near: None,
            // One more than is shown tells whether there are more.
            limit: (limit as usize).saturating_add(1),
            most_bytes: usize::MAX,
            offset: offset as usize,
            refresh: false,
        };
        let now = self.access.now;
        let found = self.access.with(|items| items.search(&search, now)).await;
        let mut found = found.map_err(failed)?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        match self.format {
            Format::Json => {
                let lines = found.iter().map(|item| format!("{}\n", shown(item)));
                output::print(&lines.collect::<String>())?;
            }
            Format::Human if found.is_empty() => {
                let all = Space::prefix(Vec::new()).map_err(Failure::unusable)?;
                let any = self.access.with(|items| items.spaces(&all, now)).await;
                let any = !any.map_err(failed)?.is_empty();
                self.nothing(space.filter(|_| any && offset == 0), any && offset > 0);
            }
            Format::Human => {
                let row = |item: &Item| {
                    let json = shown(item);
                    let updated = json.get("updated").and_then(Json::as_str);
                    let updated = seconds(updated.unwrap_or_default());
                    let value = item.value.to_string();
                    let value = match value.char_indices().nth(60) {
                        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
                        None => value,
                    };
                    [path(&item.space), item.key.clone(), updated, value]
                };
                let rows: Vec<[String; 4]> = found.iter().map(row).collect();
                output::print(&table(["NAMESPACE", "KEY", "UPDATED", "VALUE"], &rows))?;
            }
        }
        if more {
            let next = u64::from(offset) + u64::from(limit);
            self.context.say(&format!(
                "more: add `--offset {next}`, or a higher `--limit`"
            ));
        }
        Ok(())
    }

    async fn get(&self, space: &str, key: &str) -> Result<(), Failure> {
        let (space, now) = (named(space)?, self.access.now);
        let found = self
            .access
            .with(|items| items.item(&space, key, now, false));
        match found.await.map_err(failed)? {
            Some(item) => output::print(&format!("{}\n", shown(&item))),
            None => Err(self.unknown(&space, key)),
        }
    }

    async fn delete(&self, space: &str, key: &str) -> Result<(), Failure> {
        let (space, now) = (named(space)?, self.access.now);
        let delete = Write::Delete {
            space: space.clone(),
            key: key.to_owned(),
        };
        // A write like no other: it is never made again.
        let known = uuid::Uuid::parse_str(&SystemAmbient.uuid(0)).unwrap_or_default();
        let made = self
            .access
            .with(|items| items.write(known.into_bytes(), &delete, now));
        match made.await.map_err(failed)? {
            true => self
                .context
                .say(&format!("deleted {key} of {}", path(&space))),
            false => return Err(self.unknown(&space, key)),
        }
        Ok(())
    }

    /// Says that nothing was found: in the whole memory, or at a namespace where others have items. `behind`: there is no more
    /// behind those that were to be left out.
    fn nothing(&self, space: Option<&str>, behind: bool) {
        let shown = &self.shown;
        self.context.say(&match (space, behind) {
            (_, true) => format!("no more in the memory of `{shown}`"),
            (None, _) => format!("nothing in the memory of `{shown}`"),
            (Some(space), _) => format!(
                "nothing at or below `{space}` in the memory of `{shown}`; `{}` lists the namespaces that have something",
                self.pasted.command(&["memory"])
            ),
        });
    }

    fn unknown(&self, space: &Space, key: &str) -> Failure {
        let (space, shown) = (path(space), &self.shown);
        Failure::unusable(format!("there is no key `{key}` in `{space}` of `{shown}`")).help(
            format!(
                "`{}` shows what there is",
                self.pasted.command(&["memory", "list"])
            ),
        )
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::unusable(error.to_string())
}

/// Parts of a namespace: `a/b`, or a JSON list.
fn parts(text: Option<&str>) -> Result<Vec<String>, Failure> {
    match text {
        None => Ok(Vec::new()),
        Some(text) if text.starts_with('[') => serde_json::from_str(text)
            .map_err(|error| Failure::unusable(format!("`{text}` is no list of texts: {error}"))),
        Some(text) => Ok(text.split('/').map(str::to_owned).collect()),
    }
}

fn named(text: &str) -> Result<Space, Failure> {
    Space::new(parts(Some(text))?).map_err(Failure::unusable)
}

/// A namespace as it may be written again.
fn path(space: &Space) -> String {
    let parts = space.parts();
    let plain = |part: &String| !part.contains('/') && !part.starts_with('[');
    match parts.iter().all(plain) {
        true => parts.join("/"),
        false => json!(parts).to_string(),
    }
}
