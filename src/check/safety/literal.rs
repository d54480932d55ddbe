//! Keys, tokens and passwords that stand in the flow's own texts: files, prompt files, comments.

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::diag::literal_secret::literal_secrets;

/// Reports them, each at its place.
pub fn literals(sources: &SourceMap, diags: &mut Diagnostics) {
    for (id, file) in sources.files() {
        let found = literal_secrets(id, &file.text);
        found.into_iter().for_each(|finding| diags.push(finding));
    }
}
