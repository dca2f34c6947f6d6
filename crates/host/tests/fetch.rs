//! A fetch from an origin that never answers ends all the same, and leaves nothing behind that stops the next one.

use std::time::{Duration, Instant};

use camino::Utf8Path;
use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_host::world::{RealWorld, WorldSettings};

const TERMS: FetchTerms = FetchTerms {
    fresh_seconds: 120,
    attempts: 2,
    attempt_limit: Duration::from_millis(300),
    pause: Duration::ZERO,
    future_is_fresh: false,
};

/// Makes a repository at that place whose origin is what a program says, and returns its World.
fn world(place: &Utf8Path, origin: &str) -> RealWorld {
    let repository = git2::Repository::init(place).expect("a repository");
    let mut settings = repository.config().expect("its settings");
    for (key, value) in [("protocol.ext.allow", "always"), ("remote.origin.url", origin)] {
        settings.set_str(key, value).expect("set");
    }
    let found = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"].map(Utf8Path::new);
    let git = found.into_iter().find(|path| path.is_file()).expect("git is installed");
    let settings = WorldSettings {
        git: Some(git.to_owned()),
        ..WorldSettings::default()
    };
    RealWorld::open(place, settings).expect("opens")
}

/// Verifies REQ-D2.2.
#[test]
fn an_origin_that_never_answers_is_a_failed_fetch() {
    let directory = tempfile::tempdir().expect("a directory");
    let place = Utf8Path::from_path(directory.path()).expect("utf-8");
    let place = place.canonicalize_utf8().expect("there");
    let started = Instant::now();
    let hanging = world(&place, "ext::sleep 600");
    for in_a_row in 1..=2 {
        match hanging.fetch_for(&place, &TERMS) {
            Fetch::Failed { why, in_a_row: told } => {
                assert_eq!(told, in_a_row);
                assert!(why.reason.contains("did not end within"), "{why}");
            }
            other @ (Fetch::NoRemote | Fetch::Fresh | Fetch::Fetched | Fetch::Refused(_)) => panic!("{other:?}"),
        }
    }
    assert!(started.elapsed() < Duration::from_secs(120), "it is bounded");
    assert!(
        !place.join(".claude").exists(),
        "nothing was fetched, so there is no stamp"
    );
    let missing = world(&place, "/no/such/place").fetch_for(&place, &TERMS);
    assert!(matches!(missing, Fetch::Failed { in_a_row: 3, .. }), "{missing:?}");
    let other = tempfile::tempdir().expect("a directory");
    let other = Utf8Path::from_path(other.path())
        .expect("utf-8")
        .canonicalize_utf8()
        .expect("there");
    git2::Repository::init_bare(&other).expect("an origin");
    assert_eq!(world(&place, other.as_str()).fetch_for(&place, &TERMS), Fetch::Fetched);
    assert_eq!(world(&place, other.as_str()).fetch_for(&place, &TERMS), Fetch::Fresh);
}
