//! What is litter, and what is somebody's.

use std::time::{Duration, SystemTime};

use orchestrate_core::process::ProcessIdentity;

use super::*;

fn spec() -> SpecId {
    SpecId::parse("alpha").expect("a name")
}

fn layout() -> (tempfile::TempDir, Layout) {
    let (keep, layout) = Layout::of_an_empty_place();
    fs::create_dir_all(layout.primary.join("specs/alpha/.orchestrate/markers")).expect("made");
    (keep, layout)
}

fn write(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, text).expect("written");
}

#[expect(clippy::disallowed_methods, reason = "what is old is made so, not waited for")]
fn make_old(path: &Utf8Path) {
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7200);
    let opened = fs::File::open(path).expect("there");
    opened.set_modified(two_hours_ago).expect("a time");
}

fn found(layout: &Layout) -> Vec<String> {
    let found = find(layout, &[spec()]).expect("looked");
    found.iter().map(|litter| layout.shown(&litter.path)).collect()
}

#[test]
fn an_old_staged_file_that_nobody_has_open_is_litter() {
    let (_keep, layout) = layout();
    let places = [
        ".git/orchestrate/dispatch/alpha/.orchestrate-partial-111111",
        ".git/planwright/orchestrate/alpha/markers/.orchestrate-partial-zzzzzz",
        "specs/alpha/.orchestrate/markers/.orchestrate-partial-aaaaaa",
        "specs/alpha/.orchestrate-partial-Ab3dEf",
    ];
    for place in places {
        write(&layout.primary.join(place), "");
    }
    assert_eq!(found(&layout), [""; 0], "they are young");
    for place in places {
        make_old(&layout.primary.join(place));
    }
    assert_eq!(found(&layout), places);
    let held = fs::File::open(layout.primary.join(places[0])).expect("opened");
    assert!(!found(&layout).contains(&places[0].to_owned()), "a process has it open");
    drop(held);
    for litter in find(&layout, &[spec()]).expect("looked") {
        remove(&layout, &[spec()], &litter).expect("removed");
    }
    assert_eq!(found(&layout), [""; 0]);
}

#[test]
fn other_names_and_links_are_nobodys_business() {
    let (_keep, layout) = layout();
    for name in [
        ".orchestrate-notes.md",
        ".orchestrate-backup",
        ".orchestrate-partial-Ab3dE",
        ".orchestrate-partial-Ab3d.f",
        "notes",
    ] {
        let path = layout.primary.join("specs/alpha").join(name);
        write(&path, "");
        make_old(&path);
    }
    let target = layout.primary.join("target");
    write(&target, "a person's");
    make_old(&target);
    let link = layout.primary.join("specs/alpha/.orchestrate-partial-Ab3dEf");
    std::os::unix::fs::symlink(&target, link).expect("a link");
    assert_eq!(found(&layout), [""; 0]);
}

#[test]
fn a_staged_lock_goes_with_its_tower() {
    let (_keep, layout) = layout();
    let own = identity::current().expect("identity");
    let dead = ProcessIdentity {
        start: own.start + 1,
        ..own.clone()
    };
    let elsewhere = ProcessIdentity {
        host: "elsewhere".to_owned(),
        ..own.clone()
    };
    let nonce = |digit: &str| Nonce::parse(&digit.repeat(32)).expect("a nonce");
    for (digit, process) in [("a", own), ("b", dead), ("c", elsewhere)] {
        let directory = LockDirectory::Staging(spec(), nonce(digit));
        let owner = LockOwner::new(LockKind::Process, process, nonce(digit));
        write(
            &layout.path(&directory.owner()),
            &String::from_utf8_lossy(&owner.render()),
        );
    }
    let of = |digit: &str| format!("specs/alpha/.orchestrate.lock.new-{}", digit.repeat(32));
    assert_eq!(found(&layout), [of("b")]);
    make_old(&layout.primary.join(of("a")));
    make_old(&layout.primary.join(of("c")));
    assert_eq!(found(&layout), [of("b"), of("c")]);
    let all = find(&layout, &[spec()]).expect("looked");
    let removed: Vec<bool> = all
        .iter()
        .map(|litter| remove(&layout, &[spec()], litter).is_ok())
        .collect();
    assert_eq!(removed, [true, false], "nobody can tell of another machine");
    assert!(layout.primary.join(of("a")).exists() && layout.primary.join(of("c")).exists());
}

#[test]
fn what_lies_in_no_window_is_litter_and_what_may_be_at_work_is_not() {
    let (_keep, layout) = layout();
    let staging = layout.state().join("staging").join("d".repeat(32));
    let lock = layout
        .primary
        .join(format!("specs/alpha/.orchestrate.lock.old-{}", "e".repeat(32)));
    let aside = layout.state().join("migration/alpha.aside");
    write(&staging.join("HEAD"), "");
    write(&staging.join(".orchestrate-partial-Ab3dEf"), "");
    write(&lock.join(".orchestrate-partial-Ab3dEf"), "");
    write(&aside.join("before/tasks.md"), "");
    for path in [&staging, &lock, &aside] {
        make_old(path);
    }
    assert_eq!(found(&layout).len(), 3);
    let window = layout.state().join("lock/alpha");
    write(&window, "");
    let held = fs::File::open(&window).expect("opened");
    assert_eq!(found(&layout), [""; 0], "a tower may be in its window");
    drop(held);
    for litter in find(&layout, &[spec()]).expect("looked") {
        remove(&layout, &[spec()], &litter).expect("removed");
    }
    assert!(!staging.exists() && !lock.exists() && !aside.exists());
}

#[test]
fn a_lock_of_gits_is_told_and_left() {
    let (_keep, layout) = layout();
    let lock = layout.common.join("packed-refs.lock");
    write(&lock, "");
    make_old(&lock);
    let all = find(&layout, &[spec()]).expect("looked");
    assert_eq!(all.iter().map(|litter| &litter.path).collect::<Vec<_>>(), [&lock]);
    assert!(remove(&layout, &[spec()], &all[0]).is_err());
    assert!(lock.exists());
}
