//! What is to be signed, and why: the texts as they would be signed, and what the last record says of them.

use orchestrate_core::identifier::SpecId;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::{Freshness, SignOffRecord, freshness, parse_sign_off};
use orchestrate_spec::edit::{before_changelog_entry, with_status};
use orchestrate_spec::{BundleTexts, ChangelogEntry, Status};

/// A bundle as it lies in the checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    /// The four authored files.
    pub(crate) texts: BundleTexts,
    /// The brief, if there is one.
    pub(crate) brief: Option<Vec<u8>>,
}

/// The commit that brought the last record, and the bundle as it was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Baseline {
    /// The commit, in words: its short name.
    pub(crate) commit: String,
    /// The bundle there.
    pub(crate) texts: BundleTexts,
}

/// What the walk is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Everything is shown: nothing was signed yet, or what was signed cannot be told.
    Whole {
        /// Why, in words.
        why: String,
        /// There is no complete record, so that this one cannot be about the wording only.
        first: bool,
    },
    /// What changed since the last record is shown.
    Delta(Baseline),
    /// Nothing that was signed has changed; only the record has to be made once more.
    ReAnchor {
        /// Why, in words.
        why: String,
        /// The hash in the last record.
        recorded: String,
        /// An entry of the changelog that tells of it already: this was begun before.
        cites: Option<ChangelogEntry>,
    },
}

/// What the last record says of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is signed as it lies there.
    Signed(SignOffRecord),
    /// It has to be signed.
    ToSign(Purpose),
}

/// Returns the texts as they would be signed: status `Ready` in each file that says `Draft`. A file that says anything
/// else is left, for the examination to find.
pub(crate) fn as_ready(texts: &BundleTexts) -> BundleTexts {
    let (Ok(draft), Ok(ready)) = (with_status(texts, Status::Draft), with_status(texts, Status::Ready)) else {
        return texts.clone();
    };
    let pick = |now: &[u8], draft: &[u8], ready: &[u8]| if now == draft { ready.to_vec() } else { now.to_vec() };
    BundleTexts {
        requirements: pick(&texts.requirements, &draft.requirements, &ready.requirements),
        design: pick(&texts.design, &draft.design, &ready.design),
        tasks: pick(&texts.tasks, &draft.tasks, &ready.tasks),
        test_spec: pick(&texts.test_spec, &draft.test_spec, &ready.test_spec),
    }
}

/// Returns what the last record says. `entries` are those of the bundle's changelog; `baseline` is the commit that brought
/// the record, or why there is none.
pub(crate) fn judge(
    spec: &SpecId,
    files: &Files,
    entries: &[ChangelogEntry],
    baseline: Result<Baseline, String>,
) -> Verdict {
    let ready = as_ready(&files.texts);
    let is_draft = ready != files.texts;
    let whole = |why: String, first| Verdict::ToSign(Purpose::Whole { why, first });
    let Some(brief) = &files.brief else {
        return whole("it was never signed".to_owned(), true);
    };
    let record = match parse_sign_off(spec, brief) {
        Ok(record) => record,
        Err(error) => return whole(format!("no sign-off of it counts: {error}"), true),
    };
    let fresh = match freshness(&record, &files.texts) {
        Ok(fresh) => fresh,
        Err(error) => return whole(error.to_string(), false),
    };
    match fresh {
        Freshness::Matches if is_draft => Verdict::ToSign(Purpose::Delta(Baseline {
            commit: "the last record".to_owned(),
            texts: files.texts.clone(),
        })),
        Freshness::Matches => Verdict::Signed(record),
        Freshness::PreChange { recorded, .. } => Verdict::ToSign(Purpose::ReAnchor {
            why: "its last record holds the older anchor, which hashed the status lines too".to_owned(),
            recorded,
            cites: None,
        }),
        Freshness::Changed { recorded, .. } => {
            Verdict::ToSign(changed(&record, recorded, &files.texts, entries, baseline))
        }
    }
}

fn changed(
    record: &SignOffRecord,
    recorded: String,
    texts: &BundleTexts,
    entries: &[ChangelogEntry],
    baseline: Result<Baseline, String>,
) -> Purpose {
    if let Some(entry) = told_already(record, texts, entries) {
        return Purpose::ReAnchor {
            why: "nothing but an entry of its changelog has changed since its last record".to_owned(),
            recorded,
            cites: Some(entry),
        };
    }
    let baseline = match baseline {
        Ok(baseline) => baseline,
        Err(why) => return unknown(&why),
    };
    match freshness(record, &baseline.texts) {
        Ok(Freshness::Matches | Freshness::PreChange { .. }) => {}
        Ok(Freshness::Changed { .. }) | Err(_) => {
            let Baseline { commit, .. } = baseline;
            return unknown(&format!(
                "{commit} brought the record, but its content is not what the record signs"
            ));
        }
    }
    match (content_anchor(&baseline.texts), content_anchor(texts)) {
        (Ok(before), Ok(now)) if before == now => Purpose::ReAnchor {
            why: format!("nothing that an anchor covers has changed since {}", baseline.commit),
            recorded,
            cites: None,
        },
        (_, _) => Purpose::Delta(baseline),
    }
}

fn unknown(why: &str) -> Purpose {
    Purpose::Whole {
        why: format!("what was signed last cannot be found, so everything is shown: {why}"),
        first: false,
    }
}

/// Returns the entry of the changelog without which the texts are what the record signs: what an earlier re-anchoring
/// that did not come to its end leaves, or a person who wrote the entry first.
fn told_already(record: &SignOffRecord, texts: &BundleTexts, entries: &[ChangelogEntry]) -> Option<ChangelogEntry> {
    let is_signed_without = |entry: &&ChangelogEntry| {
        before_changelog_entry(&texts.requirements, entry.line)
            .into_iter()
            .any(|requirements| {
                let without = BundleTexts {
                    requirements,
                    ..texts.clone()
                };
                let fresh = freshness(record, &without);
                matches!(fresh, Ok(Freshness::Matches | Freshness::PreChange { .. }))
            })
    };
    entries.iter().find(is_signed_without).cloned()
}
