//! Long-term memory in the same database: [`mod@write`] changes it, [`find`] looks into it.

mod find;
mod write;

use async_trait::async_trait;

use super::PostgresStore;
use crate::run::memory::{Item, ItemStore, Search, Space, Write, WriteKey};
use crate::run::store::StoreError;

#[async_trait]
impl ItemStore for PostgresStore {
    async fn write(&self, known: WriteKey, write: &Write, now: i64) -> Result<bool, StoreError> {
        let write = write.clone();
        self.run(move |inner| async move {
            let made = write::Make {
                schema: &inner.address.schema,
                known,
                write: &write,
                now,
                sweeps: inner.memory_sweeps.is_due(),
            };
            inner.remember(&made).await
        })
        .await
    }

    async fn item(
        &self,
        space: &Space,
        key: &str,
        now: i64,
        refresh: bool,
    ) -> Result<Option<Item>, StoreError> {
        let name = (space.to_bytes(), key.to_owned());
        self.run(move |inner| async move {
            let failure = &inner.reads;
            let find = find::One {
                name: &name,
                now,
                failure,
            };
            let Some((item, ends)) = inner.read(&find).await? else {
                return Ok(None);
            };
            if refresh && ends {
                let names = std::slice::from_ref(&name);
                inner.remember(&write::Refresh { names, now }).await?;
            }
            Ok(Some(item))
        })
        .await
    }

    async fn search(&self, search: &Search, now: i64) -> Result<Vec<Item>, StoreError> {
        let search = search.clone();
        self.run(move |inner| async move {
            let find = find::Find {
                search: &search,
                now,
                failure: &inner.reads,
            };
            let (found, again) = inner.read(&find).await?;
            if !again.is_empty() {
                inner
                    .remember(&write::Refresh { names: &again, now })
                    .await?;
            }
            Ok(found)
        })
        .await
    }

    async fn spaces(&self, prefix: &Space, now: i64) -> Result<Vec<Space>, StoreError> {
        let prefix = prefix.clone();
        self.run(move |inner| async move {
            let list = find::Spaces {
                prefix: &prefix,
                now,
                failure: &inner.reads,
            };
            inner.read(&list).await
        })
        .await
    }
}
