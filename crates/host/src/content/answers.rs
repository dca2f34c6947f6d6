//! What branches were compared with base, and what came of it. It follows from the commits alone, so it is kept in the
//! cache for as long as base stays where it is. Owns that file's format: JSON.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use orchestrate_core::content::Content;
use orchestrate_core::evidence::Base;
use orchestrate_core::identifier::CommitId;
use serde::{Deserialize, Serialize};

use crate::cache::{Kept, fingerprint};
use crate::history::Grafts;
use crate::layout::Layout;

const KEPT: Kept = Kept {
    name: "content",
    mark: b"orchestrate content  v1\n",
    rules: fingerprint(&[
        include_bytes!("../../../core/src/content.rs"),
        include_bytes!("../content.rs"),
        include_bytes!("../history/span.rs"),
        include_bytes!("answers.rs"),
        include_bytes!("changes.rs"),
        include_bytes!("held.rs"),
        // What libgit2 calls a patch-id is libgit2's.
        include_bytes!("../../../../Cargo.lock"),
    ]),
};
/// So many commits have to be looked at for new answers before they are kept.
const WORTH_KEEPING: usize = 64;

/// What this process, or one before it, has compared with one base.
#[derive(Default)]
pub(crate) struct Answers(RefCell<State>);

#[derive(Default)]
struct State {
    about: Option<About>,
    by_tip: BTreeMap<CommitId, Content>,
    /// How many commits were looked at for answers that the file does not have.
    looked_at: usize,
}

/// What the answers follow from besides a branch's tip.
#[derive(PartialEq, Eq)]
struct About {
    base: CommitId,
    counterpart: Option<CommitId>,
    grafts: Rc<Grafts>,
}

#[derive(Serialize, Deserialize)]
struct File {
    base: CommitId,
    counterpart: Option<CommitId>,
    by_tip: BTreeMap<CommitId, Content>,
}

impl Answers {
    /// Forgets what was said of another base, and reads what was kept of this one.
    pub(super) fn begin(&self, layout: &Layout, base: &Base, grafts: &Rc<Grafts>) {
        let about = About {
            base: base.commit.clone(),
            counterpart: base.counterpart.clone(),
            grafts: Rc::clone(grafts),
        };
        let mut state = self.0.borrow_mut();
        if state.about.as_ref() == Some(&about) {
            return;
        }
        // Where commits have other parents than they were stored with, their names do not tell what they hold.
        let kept = grafts.is_empty().then(|| read(layout)).flatten();
        let kept = kept.filter(|kept| kept.base == about.base && kept.counterpart == about.counterpart);
        *state = State {
            about: Some(about),
            by_tip: kept.map(|kept| kept.by_tip).unwrap_or_default(),
            looked_at: 0,
        };
    }

    pub(super) fn get(&self, tip: &CommitId) -> Option<Content> {
        self.0.borrow().by_tip.get(tip).cloned()
    }

    /// Adds an answer, for which so many commits were looked at.
    pub(super) fn add(&self, tip: &CommitId, content: &Content, looked_at: usize) {
        let mut state = self.0.borrow_mut();
        state.by_tip.insert(tip.clone(), content.clone());
        state.looked_at += looked_at;
    }

    /// Keeps the answers, if that is worth it.
    pub(crate) fn keep(&self, layout: &Layout) {
        let mut state = self.0.borrow_mut();
        if state.looked_at < WORTH_KEEPING {
            return;
        }
        state.looked_at = 0;
        let Some(about) = state.about.as_ref().filter(|about| about.grafts.is_empty()) else {
            return;
        };
        let file = File {
            base: about.base.clone(),
            counterpart: about.counterpart.clone(),
            by_tip: state.by_tip.clone(),
        };
        if let Ok(body) = serde_json::to_vec(&file) {
            KEPT.write(layout, &body);
        }
    }
}

fn read(layout: &Layout) -> Option<File> {
    serde_json::from_slice(&KEPT.read(layout)?).ok()
}
