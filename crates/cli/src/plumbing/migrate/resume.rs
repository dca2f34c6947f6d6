//! What is done with a migration that was cut short: completed, forgotten, or left to a person.

use orchestrate_core::place::BundleFile;
use orchestrate_host::unfinished::Change;

/// What becomes of an earlier run's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resume {
    /// Every file is as it was before or as it is to be: these are still to be written.
    Complete(Vec<BundleFile>),
    /// None of them was written, or all were and the files went on from there: they say nothing any more.
    Obsolete,
    /// Some were written, and these files are neither as they were nor as they were to be.
    Blocked(Vec<BundleFile>),
}

/// Judges the changes of an earlier run by what the files hold now.
pub(super) fn resume<'a>(changes: &[Change], current: impl Fn(BundleFile) -> Option<&'a [u8]>) -> Resume {
    let holds = |change: &&Change, bytes: &[u8]| current(change.file) == Some(bytes);
    let is_authored = |change: &&Change| change.file != BundleFile::KickoffBrief;
    let files: Vec<&Change> = changes.iter().filter(is_authored).collect();
    if !files.iter().any(|change| holds(change, &change.after)) {
        return Resume::Obsolete;
    }
    let foreign: Vec<BundleFile> = changes
        .iter()
        .filter(|change| !holds(change, &change.before) && !holds(change, &change.after))
        .map(|change| change.file)
        .collect();
    if foreign.is_empty() {
        let is_missing = |change: &&Change| !holds(change, &change.after);
        Resume::Complete(changes.iter().filter(is_missing).map(|change| change.file).collect())
    } else if files.iter().any(|change| holds(change, &change.before)) {
        Resume::Blocked(foreign)
    } else {
        Resume::Obsolete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_cut_short_is_judged_by_what_the_files_hold() {
        let files = [BundleFile::Design, BundleFile::Tasks, BundleFile::KickoffBrief];
        let changes = files.map(|file| Change {
            file,
            before: b"o".to_vec(),
            after: b"n".to_vec(),
        });
        let judge = |now: &str| {
            let bytes = now.as_bytes();
            resume(&changes, |file| {
                let index = files.iter().position(|one| *one == file)?;
                bytes.get(index..=index).filter(|byte| *byte != b"-")
            })
        };
        let [design, tasks, brief] = files;
        for (now, expected) in [
            ("ooo", Resume::Obsolete),
            ("xoo", Resume::Obsolete),
            ("noo", Resume::Complete(vec![tasks, brief])),
            ("ono", Resume::Complete(vec![design, brief])),
            ("nno", Resume::Complete(vec![brief])),
            ("nnn", Resume::Complete(Vec::new())),
            ("nox", Resume::Blocked(vec![brief])),
            ("no-", Resume::Blocked(vec![brief])),
            ("nnx", Resume::Obsolete),
            ("xno", Resume::Obsolete),
            ("xxo", Resume::Obsolete),
        ] {
            assert_eq!(judge(now), expected, "{now}");
        }
    }
}
