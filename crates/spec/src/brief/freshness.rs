//! Whether a record still signs the texts (`contract/core.md §3.7, §3.8`).

use super::SignOffRecord;
use crate::anchor::{AnchorError, AnchorForm, content_anchor, snapshot_anchor, whole_files_anchor};
use crate::edit::with_status;
use crate::{BundleTexts, Status};

/// Every status that a header may have had when the record was made.
const STATUSES: [Status; 6] = [
    Status::Draft,
    Status::Ready,
    Status::Active,
    Status::Done,
    Status::Retired,
    Status::Superseded,
];

/// Whether a record still signs the texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a stale sign-off must stop the step"]
pub enum Freshness {
    /// The texts are the ones that were signed.
    Matches,
    /// The texts have changed since.
    Changed {
        /// The hash in the record.
        recorded: String,
        /// The hash of the texts now, by the record's form.
        now: String,
    },
    /// The texts are the ones that were signed, by a rule that hashed the status lines too (`contract/core.md §3.7`);
    /// at most the status was moved on since. Somebody has to sign once more.
    PreChange {
        /// The hash in the record.
        recorded: String,
        /// The content anchor of the texts now.
        now: String,
    },
}

/// Compares a record with the texts of the same commit.
///
/// # Errors
/// When the texts cannot be hashed; then they are not the ones that were signed.
pub fn freshness(record: &SignOffRecord, texts: &BundleTexts) -> Result<Freshness, AnchorError> {
    let now = record.form.anchor(texts)?;
    let recorded = record.anchor.clone();
    if now == recorded {
        return Ok(Freshness::Matches);
    }
    if !is_pre_change(record, texts) {
        return Ok(Freshness::Changed { recorded, now });
    }
    let now = content_anchor(texts)?;
    Ok(Freshness::PreChange { recorded, now })
}

/// Returns whether the record was made from these texts, under any status, by a rule that hashed the status lines.
fn is_pre_change(record: &SignOffRecord, texts: &BundleTexts) -> bool {
    let is_recorded = |texts: &BundleTexts| match record.form {
        AnchorForm::WholeFiles => whole_files_anchor(texts) == record.anchor,
        AnchorForm::Canonical => {
            whole_files_anchor(texts) == record.anchor
                || snapshot_anchor(texts).is_ok_and(|older| older == record.anchor)
        }
    };
    is_recorded(texts)
        || STATUSES
            .into_iter()
            .any(|status| with_status(texts, status).is_ok_and(|restated| is_recorded(&restated)))
}
