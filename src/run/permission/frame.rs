//! The permissions of a frame, and what its checkpoints have of them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::run::engine::live;
use crate::run::store::{Change as FieldChange, FieldWrite, FrameImage, StoreError, ThreadImage};
use crate::value::{List, Value};

use super::{Change, Lasting, Permission, Permissions};

/// Name under which a checkpoint keeps them.
pub const PERMISSIONS: &str = "#permissions";

/// Changes that are kept, at least, before all permissions are written again.
const SMALLEST_SNAPSHOT: usize = 64;

/// The permissions of a frame, and how much of them its checkpoints have.
#[derive(Debug, Clone, Default)]
pub struct FramePermissions {
    /// At the beginning of the super-step.
    now: Arc<Permissions>,
    /// What has changed since the frame began: what a called graph hands on.
    changes: Vec<Change>,
    /// Changes kept since all were written.
    kept: usize,
}

impl FramePermissions {
    /// Of a called graph that begins with those of its caller.
    pub fn of_call(now: Arc<Permissions>) -> Self {
        Self {
            now: Arc::new(Permissions::over(now)),
            ..Self::default()
        }
    }

    /// Takes in what a checkpoint has.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where it can't be read: a permission that was taken back must not count.
    pub fn load(&mut self, image: &FrameImage) -> Result<(), StoreError> {
        self.changes = changes(image)?;
        self.kept = self.changes.len();
        let now = Arc::make_mut(&mut self.now);
        self.changes.iter().for_each(|change| now.apply(change));
        Ok(())
    }

    /// At the beginning of the super-step.
    pub fn now(&self) -> &Arc<Permissions> {
        &self.now
    }

    /// All of them, with those uses.
    pub fn all_with(&self, uses: Vec<Change>) -> Vec<Permission> {
        let mut now = Permissions::over(Arc::clone(&self.now));
        uses.iter().for_each(|used| now.apply(used));
        now.all().into_iter().cloned().collect()
    }

    /// What has changed since the frame began.
    pub fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    /// Takes over what a super-step has changed; gives back what its checkpoint keeps of it. A run's own graph (`root`) hands nothing
    /// on: it keeps what there is, once the changes outnumber that.
    pub fn accept(&mut self, changed: Vec<Change>, root: bool) -> Option<FieldWrite> {
        if changed.is_empty() {
            return None;
        }
        let now = Arc::make_mut(&mut self.now);
        changed.iter().for_each(|change| now.apply(change));
        self.kept += changed.len();
        self.changes.extend(changed.iter().cloned());
        let change = if root && self.kept > SMALLEST_SNAPSHOT.max(2 * self.now.len()) {
            let all = self
                .now
                .all()
                .into_iter()
                .cloned()
                .map(Box::new)
                .map(Change::Given);
            self.changes = all.collect();
            self.kept = self.changes.len();
            FieldChange::Put(Value::List(stored(&self.changes).collect::<List>()))
        } else {
            FieldChange::Append(stored(&changed).collect())
        };
        Some(FieldWrite {
            field: PERMISSIONS.to_owned(),
            change,
        })
    }
}

/// Changes as a checkpoint keeps them.
fn stored(changes: &[Change]) -> impl Iterator<Item = Value> {
    let json = changes
        .iter()
        .filter_map(|change| serde_json::to_value(change).ok());
    json.map(|json| Value::from_json(&json))
}

/// The changes that a frame's checkpoints have.
fn changes(image: &FrameImage) -> Result<Vec<Change>, StoreError> {
    let field = image.fields.get(PERMISSIONS);
    field.map_or(Ok(Vec::new()), |field| changes_of(&field.value))
}

fn changes_of(kept: &Value) -> Result<Vec<Change>, StoreError> {
    let list = kept.as_list().into_iter().flat_map(List::iter);
    list.map(|change| read(&change.to_json())).collect()
}

/// What a thread has kept of permissions.
///
/// # Errors
/// [`StoreError::Corrupt`] where it is something else.
pub(super) fn read<'j, T: Deserialize<'j>>(kept: &'j Json) -> Result<T, StoreError> {
    T::deserialize(kept).map_err(|error| StoreError::Corrupt {
        message: format!(
            "what people have permitted can't be read: {error}; a later version of this program may have kept it"
        ),
    })
}

/// The permissions of what a checkpoint keeps under their name.
///
/// # Errors
/// [`StoreError::Corrupt`].
pub fn of_value(kept: &Value) -> Result<Vec<Permission>, StoreError> {
    Ok(all_of(changes_of(kept)?))
}

/// The permissions of a run, with those that calls under way have not handed on, and with their uses in the super-step under way.
///
/// # Errors
/// [`StoreError::Corrupt`].
pub fn of_thread(image: &ThreadImage) -> Result<Vec<Permission>, StoreError> {
    let frames = live(&image.frames);
    let frames = frames.iter().map(changes).collect::<Result<Vec<_>, _>>()?;
    let lasting = Lasting::default();
    lasting.load(&image.effects)?;
    let changes = frames.into_iter().flatten();
    Ok(all_of(changes.chain(lasting.uses())))
}

fn all_of(changes: impl IntoIterator<Item = Change>) -> Vec<Permission> {
    let mut all = Permissions::default();
    changes.into_iter().for_each(|change| all.apply(&change));
    all.all().into_iter().cloned().collect()
}
