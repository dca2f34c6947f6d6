//! The fence of a unit at origin: a ref for each of its tasks, and the commit that tells whose it is
//! (architecture §6, "Fence"; `contract/later.md §2.2`).
//!
//! The commit has no parents and an empty tree, so that no other commit leads to it and a plain push can only make the
//! ref, never move one. Its message says who made it, for people; that a fence is *ours* is never taken from there but
//! from the intent, which this clone wrote before it pushed.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::{CommitId, Nonce, SpecId, TaskId, Unit, printable};
use crate::process::ProcessIdentity;
use crate::time::Timestamp;

/// Where the fences of all bundles are.
pub const NAMESPACE: &str = "refs/planwright-fence/";
/// The first line of a fence commit's message.
const SUBJECT: &str = "orchestrate: a tower takes this unit";

/// Returns the ref of a task's fence. Members of a bundle have one each: a range is no task that evidence speaks of.
#[must_use]
pub fn reference(spec: &SpecId, task: &TaskId) -> String {
    format!("{}{task}", prefix(spec))
}

/// Returns what the names of a bundle's fences begin with.
#[must_use]
pub fn prefix(spec: &SpecId) -> String {
    format!("{NAMESPACE}{spec}/")
}

/// Returns the task of a bundle's fence by the ref's name; nothing for a name that is none of the bundle's, or that
/// names no task.
#[must_use]
pub fn task_of(spec: &SpecId, reference: &str) -> Option<TaskId> {
    TaskId::parse(reference.strip_prefix(&prefix(spec))?).ok()
}

/// Returns the ref of a unit's fence as the reference's verb names it: also a range, which no tower of ours fences.
#[must_use]
pub fn unit_reference(spec: &SpecId, unit: &Unit) -> String {
    format!("{}{unit}", prefix(spec))
}

/// Returns the bundle and the rest of a fence's name, whatever that rest is; nothing for a ref that is no fence.
#[must_use]
pub fn parts(reference: &str) -> Option<(SpecId, &str)> {
    let (spec, rest) = reference.strip_prefix(NAMESPACE)?.split_once('/')?;
    let spec = SpecId::parse(spec).ok()?;
    (!rest.is_empty()).then_some((spec, rest))
}

/// Who fences a unit, and what tells this fence from every other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    schema: u32,
    /// The tower.
    pub tower: ProcessIdentity,
    /// What tells the tower's clone from others of the machine.
    pub clone: Nonce,
    /// What tells this fence from every other.
    pub nonce: Nonce,
    /// When it was made.
    pub made: Timestamp,
}

impl Fence {
    /// Returns a new fence.
    #[must_use]
    pub fn new(tower: ProcessIdentity, clone: Nonce, nonce: Nonce, made: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            tower,
            clone,
            nonce,
            made,
        }
    }

    /// Returns the message of the fence's commit.
    #[must_use]
    pub fn message(&self) -> String {
        let body = String::from_utf8_lossy(&render_json(self)).into_owned();
        format!("{SUBJECT}\n\n{body}")
    }

    /// Returns the fence that a commit's message describes; nothing for any other commit.
    #[must_use]
    pub fn of_message(message: &[u8]) -> Option<Self> {
        let body = message.strip_prefix(SUBJECT.as_bytes())?.strip_prefix(b"\n\n")?;
        parse_json("fence", body).ok()
    }
}

/// Returns who fences a unit, for people, from the commit that the ref leads to.
///
/// Every other commit is read as the fence of a reference tower, which pushes the tip of the base and so says nothing
/// of itself.
#[must_use]
pub fn owner(commit: &CommitId, message: Option<&[u8]>) -> String {
    match message.map(Fence::of_message) {
        Some(Some(fence)) => format!(
            "a tower on {} (pid {}, since {})",
            printable(&fence.tower.host),
            fence.tower.pid,
            fence.made
        ),
        Some(None) => format!(
            "a tower that does not say which it is (its fence leads to {})",
            commit.short()
        ),
        None => format!("a tower that cannot be named (its fence leads to {})", commit.short()),
    }
}

/// What this clone is about to push, or has pushed, as the fence of one task. Written before the push: whatever happens
/// to it, the clone knows its own fence by the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceIntent {
    schema: u32,
    /// The fence.
    pub fence: Fence,
    /// Its commit.
    pub commit: CommitId,
}

impl FenceIntent {
    /// Returns the intent of pushing a fence.
    #[must_use]
    pub fn new(fence: Fence, commit: CommitId) -> Self {
        Self {
            schema: SCHEMA,
            fence,
            commit,
        }
    }

    /// Returns the intent in those bytes.
    ///
    /// # Errors
    /// When they are not an intent, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("fence intent", bytes)
    }

    /// Returns the intent's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}

/// What this clone knows of its own fences of one task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnFences {
    /// The fence that it pushes, or pushed last.
    pub intent: Option<FenceIntent>,
    /// The fence that it has given back last. Origin may have confirmed its removal falsely, so that it stands there
    /// still, and is this clone's to remove; it is never pushed again, so that an answer that lags cannot show it for a
    /// later one. Of those before it nothing is left: it was seen where they would stand.
    pub given_back: Option<FenceIntent>,
}

impl OwnFences {
    /// Returns the intent that the next push goes on from; none when its fence was given back.
    #[must_use]
    pub fn current(&self) -> Option<&FenceIntent> {
        self.intent
            .as_ref()
            .filter(|intent| !self.has_given_back(&intent.commit))
    }

    /// Returns whether the commit is the fence that this clone has given back.
    #[must_use]
    pub fn has_given_back(&self, fence: &CommitId) -> bool {
        self.given_back.as_ref().is_some_and(|intent| intent.commit == *fence)
    }

    /// Returns whether the commit is a fence of this clone.
    #[must_use]
    pub fn owns(&self, fence: &CommitId) -> bool {
        let is_pushed = self.intent.as_ref().is_some_and(|intent| intent.commit == *fence);
        is_pushed || self.has_given_back(fence)
    }
}

/// A fence as it stands at origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginFence {
    /// The commit that the ref leads to.
    pub commit: CommitId,
    /// That commit's message, where it could be had.
    pub message: Option<Vec<u8>>,
}

/// The fences of other clones, as they were seen at origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignFences {
    schema: u32,
    fences: BTreeMap<TaskId, ForeignFence>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ForeignFence {
    commit: CommitId,
    message: Option<String>,
}

impl ForeignFences {
    /// Returns the record of these fences.
    #[must_use]
    pub fn new<'a>(fences: impl Iterator<Item = (&'a TaskId, &'a OriginFence)>) -> Self {
        let record = |(task, fence): (&TaskId, &OriginFence)| {
            let message = fence.message.as_deref();
            let fence = ForeignFence {
                commit: fence.commit.clone(),
                message: message.map(|message| String::from_utf8_lossy(message).into_owned()),
            };
            (task.clone(), fence)
        };
        Self {
            schema: SCHEMA,
            fences: fences.map(record).collect(),
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fences.is_empty()
    }

    /// Returns the fences.
    #[must_use]
    pub fn fences(self) -> BTreeMap<TaskId, OriginFence> {
        let fence = |(task, fence): (TaskId, ForeignFence)| {
            let fence = OriginFence {
                commit: fence.commit,
                message: fence.message.map(String::into_bytes),
            };
            (task, fence)
        };
        self.fences.into_iter().map(fence).collect()
    }

    /// Returns the record in those bytes.
    ///
    /// # Errors
    /// When they are not one, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("record of foreign fences", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn fence(host: &str, pid: u32) -> Fence {
        let nonce = |digit: &str| Nonce::parse(&digit.repeat(32)).expect("nonce");
        let tower = ProcessIdentity {
            host: host.to_string(),
            boot: "b".to_string(),
            pid,
            start: 5,
        };
        Fence::new(tower, nonce("a"), nonce("b"), Timestamp::from_seconds(0))
    }

    fn commit() -> CommitId {
        CommitId::parse(&"c".repeat(40)).expect("commit")
    }

    #[test]
    fn names_are_those_of_the_contract() {
        let spec = SpecId::parse("alpha").expect("spec");
        let task = TaskId::parse("2.5").expect("task");
        assert_eq!(reference(&spec, &task), "refs/planwright-fence/alpha/2.5");
        assert_eq!(task_of(&spec, "refs/planwright-fence/alpha/2.5"), Some(task));
        for other in [
            "refs/planwright-fence/alpha/",
            "refs/planwright-fence/alpha/1-2",
            "refs/planwright-fence/alpha/x",
            "refs/planwright-fence/alphabet/1",
            "refs/planwright-fence/alpha/1/2",
            "refs/heads/alpha/1",
        ] {
            assert_eq!(task_of(&spec, other), None, "{other}");
        }
        let range = Unit::parse("1-2").expect("unit");
        assert_eq!(unit_reference(&spec, &range), "refs/planwright-fence/alpha/1-2");
        assert_eq!(parts("refs/planwright-fence/alpha/1-2"), Some((spec, "1-2")));
        for other in [
            "refs/planwright-fence/alpha",
            "refs/planwright-fence/A/1",
            "refs/heads/a/1",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn owners_are_named_as_far_as_they_say_who_they_are() {
        let ours = fence("beta\n\u{1b}[2J", 7).message();
        assert_eq!(
            owner(&commit(), Some(ours.as_bytes())),
            "a tower on beta[2J (pid 7, since 1970-01-01T00:00:00Z)"
        );
        assert_eq!(
            owner(&commit(), Some(b"feat: something\n")),
            "a tower that does not say which it is (its fence leads to ccccccc)"
        );
        assert_eq!(
            owner(&commit(), None),
            "a tower that cannot be named (its fence leads to ccccccc)"
        );
    }

    #[test]
    fn a_later_version_or_a_torn_message_is_no_fence_of_ours() {
        let message = fence("h", 1).message();
        assert_eq!(Fence::of_message(message.as_bytes()), Some(fence("h", 1)));
        assert_eq!(
            Fence::of_message(message.replace("\"schema\": 1", "\"schema\": 9").as_bytes()),
            None
        );
        let whole = message.trim_end().len();
        for length in 0..whole {
            assert_eq!(Fence::of_message(&message.as_bytes()[..length]), None, "{length}");
        }
    }

    #[test]
    fn a_fence_that_was_given_back_is_owned_and_never_current() {
        let commit = |digit: &str| CommitId::parse(&digit.repeat(40)).expect("commit");
        let intent = |digit| Some(FenceIntent::new(fence("h", 1), commit(digit)));
        let of = |pushed, given_back| OwnFences {
            intent: pushed,
            given_back,
        };
        let cases = [
            (of(None, None), None, ""),
            (of(intent("a"), None), Some("a"), "a"),
            (of(intent("a"), intent("a")), None, "a"),
            (of(None, intent("a")), None, "a"),
            (of(intent("b"), intent("a")), Some("b"), "ab"),
        ];
        for (own, current, owned) in cases {
            let found = own.current().map(|intent| intent.commit.clone());
            assert_eq!(found, current.map(commit), "{own:?}");
            for digit in ["a", "b", "c"] {
                assert_eq!(own.owns(&commit(digit)), owned.contains(digit), "{digit}: {own:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn both_come_back(host in "\\PC{0,20}", pid: u32) {
            let fence = fence(&host, pid);
            prop_assert_eq!(Fence::of_message(fence.message().as_bytes()), Some(fence.clone()));
            let intent = FenceIntent::new(fence, commit());
            prop_assert_eq!(FenceIntent::parse(&intent.render()), Ok(intent.clone()));
            let task = TaskId::parse("1").expect("task");
            let seen = OriginFence { commit: intent.commit, message: Some(intent.fence.message().into_bytes()) };
            let foreign = ForeignFences::new([(&task, &seen)].into_iter());
            let read = ForeignFences::parse(&foreign.render()).expect("its own bytes");
            prop_assert_eq!(read.fences(), BTreeMap::from([(task, seen)]));
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Fence::of_message(&bytes);
            let _ = FenceIntent::parse(&bytes);
        }
    }
}
