//! A lease that goes back also where its holder is dropped on the way.

use std::sync::Arc;

use crate::run::store::{Lease, Store};

/// A lease that is given back when it is dropped: a caller may stop waiting at any point.
pub(super) struct HeldLease {
    store: Arc<dyn Store>,
    lease: Option<Lease>,
}

impl HeldLease {
    pub(super) fn new(store: &Arc<dyn Store>, lease: Lease) -> Self {
        Self {
            store: store.clone(),
            lease: Some(lease),
        }
    }

    /// The lease, for whoever gives it back from now on.
    pub(super) fn take(mut self) -> Option<Lease> {
        self.lease.take()
    }

    /// The lease, while it is held.
    pub(super) fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    pub(super) async fn give_back(self) {
        let store = self.store.clone();
        if let Some(lease) = self.take() {
            // A lease that can't be given back ends with this process.
            let _ = store.release(lease).await;
        }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        let (Some(lease), Ok(runtime)) = (self.lease.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let store = self.store.clone();
        runtime.spawn(async move { store.release(lease).await });
    }
}
