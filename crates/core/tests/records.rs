//! Every record format: what is written is read back, and whatever bytes stand there are an answer, never a panic.

use orchestrate_core::identifier::{BackendName, BaseName, CommitId, Nonce, UnitName};
use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::{LaunchRecord, WorkerEnd};
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::time::Timestamp;
use proptest::prelude::*;

prop_compose! {
    fn processes()(host in "\\PC{0,12}", boot in "[0-9a-f-]{0,36}", pid: u32, start: u64) -> ProcessIdentity {
        ProcessIdentity { host, boot, pid, start }
    }
}

fn nonces() -> impl Strategy<Value = Nonce> {
    any::<[u8; 16]>().prop_map(Nonce::from_bytes)
}

fn manners() -> impl Strategy<Value = LaunchManner> {
    prop_oneof![
        Just(LaunchManner::Background),
        Just(LaunchManner::Foreground),
        Just(LaunchManner::Printed)
    ]
}

prop_compose! {
    fn dispatches()(
        name in "[a-z][a-z0-9-]{0,8}:task-[0-9]{1,3}",
        start in "[0-9a-f]{40}",
        (tower, attempt, dispatched) in (processes(), nonces(), 0i64..4_000_000_000),
        (launched_before, given_up) in (proptest::option::of(nonces()), any::<bool>()),
        (manner, argv, prompt) in (manners(), proptest::collection::vec("\\PC{0,20}", 0..4), ".{0,80}"),
    ) -> DispatchRecord {
        let dispatched = Timestamp::from_seconds(dispatched);
        let attempt = Attempt { tower, attempt, dispatched, launched_before };
        let backend = BackendName::parse("command").expect("backend");
        let launch = LaunchOrder { backend, manner, argv, prompt };
        let name = UnitName::parse(&name).expect("name");
        let base = BaseName::parse("main").expect("base");
        let start = CommitId::parse(&start).expect("commit");
        let record = DispatchRecord::new(name, base, start, "0".repeat(40), attempt, launch);
        if given_up { record.give_up() } else { record }
    }
}

prop_compose! {
    fn launches()(
        attempt in nonces(),
        launched in 0i64..4_000_000_000,
        runner in proptest::option::of(processes()),
        ended in proptest::option::of((0i64..4_000_000_000, "\\PC{0,20}")),
    ) -> LaunchRecord {
        let mut record = LaunchRecord::new(attempt, Timestamp::from_seconds(launched), runner);
        record.ended = ended.map(|(at, status)| WorkerEnd { at: Timestamp::from_seconds(at), status });
        record
    }
}

prop_compose! {
    fn owners()(detached: bool, process in processes(), nonce in nonces()) -> LockOwner {
        LockOwner::new(if detached { LockKind::Detached } else { LockKind::Process }, process, nonce)
    }
}

/// A cut or changed copy of some bytes: what a torn or flipped write leaves.
fn damaged(bytes: &[u8], at: usize, with: Option<u8>) -> Vec<u8> {
    let at = at % bytes.len().max(1);
    match with {
        None => bytes[..at].to_vec(),
        Some(byte) => {
            let mut changed = bytes.to_vec();
            changed[at] = byte;
            changed
        }
    }
}

proptest! {
    /// Verifies REQ-H1.3.
    #[test]
    fn records_round_trip(dispatch in dispatches(), launch in launches(), owner in owners()) {
        prop_assert_eq!(DispatchRecord::parse(&dispatch.render()), Ok(dispatch));
        prop_assert_eq!(LaunchRecord::parse(&launch.render()), Ok(launch));
        prop_assert_eq!(LockOwner::parse(&owner.render()), Ok(owner));
    }

    /// A torn record is a fault, never another record: its last byte closes it.
    /// Verifies REQ-H1.3.
    #[test]
    fn a_torn_record_is_a_fault(dispatch in dispatches(), launch in launches(), owner in owners(), at: usize) {
        // The line feed at the end is the one byte that may be missing.
        let torn = |bytes: Vec<u8>| damaged(&bytes[..bytes.len() - 1], at, None);
        prop_assert!(DispatchRecord::parse(&torn(dispatch.render())).is_err());
        prop_assert!(LaunchRecord::parse(&torn(launch.render())).is_err());
        prop_assert!(LockOwner::parse(&torn(owner.render())).is_err());
    }

    /// Whatever a flipped byte makes of it, the names in it are still checked names.
    #[test]
    fn a_changed_record_is_a_fault_or_well_formed(dispatch in dispatches(), at: usize, with: u8) {
        if let Ok(read) = DispatchRecord::parse(&damaged(&dispatch.render(), at, Some(with))) {
            prop_assert!(UnitName::parse(&read.name().to_string()).is_ok());
            prop_assert!(CommitId::parse(read.start.as_str()).is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(DispatchRecord::parse(&bytes).is_err());
        prop_assert!(LaunchRecord::parse(&bytes).is_err());
        prop_assert!(LockOwner::parse(&bytes).is_err());
    }
}

#[test]
fn a_record_of_a_later_version_is_named_and_not_read() {
    let later = br#"{"schema":2,"kind":"process","process":{},"nonce":"x"}"#;
    let fault = LockOwner::parse(later).expect_err("later");
    assert!(fault.to_string().contains("schema 2"), "{fault}");
}
