//! The file that spares a walk: what base held when it was last walked. Owns its format.
//!
//! Layout: the length of the facts, the facts as JSON, then the commits by name, each with its generation. Numbers are
//! big-endian. The facts name a commit by its index among those.

use orchestrate_core::identifier::{SpecId, TaskId};
use serde::{Deserialize, Serialize};

use super::commits::Id;
use super::{Past, Place, Revert, Set, Trailers};
use crate::cache::{Kept, fingerprint};
use crate::layout::Layout;

const KEPT: Kept = Kept {
    name: "history",
    mark: b"orchestrate history  v2\n",
    rules: fingerprint(&[
        include_bytes!("../../../core/src/identifier.rs"),
        include_bytes!("../../../core/src/revert.rs"),
        include_bytes!("../../../core/src/trailer.rs"),
        include_bytes!("cache.rs"),
        include_bytes!("commits.rs"),
        include_bytes!("undone.rs"),
        include_bytes!("walk.rs"),
    ]),
};
/// The bytes of a commit: its name and its generation.
const COMMIT: usize = 24;

#[derive(Serialize, Deserialize)]
struct Facts {
    heads: Vec<Id>,
    trailers: Vec<TrailersRow>,
    reverts: Vec<RevertRow>,
}

/// The index of a commit, and its time.
type PlaceRow = (u32, i64);

#[derive(Serialize, Deserialize)]
struct TrailersRow {
    at: PlaceRow,
    tasks: Vec<(String, String)>,
    refused: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct RevertRow {
    at: PlaceRow,
    undoes: Vec<Id>,
    pull_requests: Vec<u64>,
}

/// Returns what was kept, nothing where that cannot be believed.
pub(super) fn read(layout: &Layout) -> Option<Past> {
    parse(&KEPT.read(layout)?)
}

/// Keeps what is known.
pub(super) fn write(layout: &Layout, past: &Past) {
    if let Some(body) = render(past) {
        KEPT.write(layout, &body);
    }
}

fn render(past: &Past) -> Option<Vec<u8>> {
    let place = |at: &Place| Some((past.commits.index(&at.commit)?, at.time));
    let trailers = past.trailers.iter().map(|found| {
        let tasks = found.tasks.iter();
        Some(TrailersRow {
            at: place(&found.at)?,
            tasks: tasks.map(|(spec, task)| (spec.to_string(), task.to_string())).collect(),
            refused: found.refused.clone(),
        })
    });
    let reverts = past.reverts.iter().map(|revert| {
        Some(RevertRow {
            at: place(&revert.at)?,
            undoes: revert.undoes.clone(),
            pull_requests: revert.pull_requests.clone(),
        })
    });
    let facts = serde_json::to_vec(&Facts {
        heads: past.heads.clone(),
        trailers: trailers.collect::<Option<_>>()?,
        reverts: reverts.collect::<Option<_>>()?,
    })
    .ok()?;
    let mut body = Vec::with_capacity(facts.len() + COMMIT * past.commits.sorted.len() + 4);
    body.extend(u32::try_from(facts.len()).ok()?.to_be_bytes());
    body.extend(facts);
    for (id, generation) in &past.commits.sorted {
        body.extend(id);
        body.extend(generation.to_be_bytes());
    }
    Some(body)
}

fn parse(body: &[u8]) -> Option<Past> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    let (facts, commits) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    let facts: Facts = serde_json::from_slice(facts).ok()?;
    let commits = set(commits)?;
    let trailers = facts.trailers.into_iter().map(|row| trailers(row, &commits));
    let reverts = facts.reverts.into_iter().map(|row| revert(row, &commits));
    let past = Past {
        heads: facts.heads,
        trailers: trailers.collect::<Option<_>>()?,
        reverts: reverts.collect::<Option<_>>()?,
        commits,
    };
    past.heads
        .iter()
        .all(|head| past.commits.contains(head))
        .then_some(past)
}

fn set(bytes: &[u8]) -> Option<Set> {
    let commits = bytes.chunks(COMMIT).map(|commit| {
        let (id, generation) = commit.split_first_chunk::<20>()?;
        Some((*id, u32::from_be_bytes(generation.try_into().ok()?)))
    });
    let sorted: Vec<(Id, u32)> = commits.collect::<Option<_>>()?;
    sorted
        .is_sorted_by(|left, right| left.0 < right.0)
        .then_some(Set { sorted })
}

fn place((index, time): PlaceRow, commits: &Set) -> Option<Place> {
    let (commit, generation) = *commits.sorted.get(usize::try_from(index).ok()?)?;
    Some(Place {
        commit,
        time,
        generation,
    })
}

fn trailers(row: TrailersRow, commits: &Set) -> Option<Trailers> {
    let tasks = row
        .tasks
        .iter()
        .map(|(spec, task)| Some((SpecId::parse(spec).ok()?, TaskId::parse(task).ok()?)));
    Some(Trailers {
        at: place(row.at, commits)?,
        tasks: tasks.collect::<Option<_>>()?,
        refused: row.refused,
    })
}

fn revert(row: RevertRow, commits: &Set) -> Option<Revert> {
    Some(Revert {
        at: place(row.at, commits)?,
        undoes: row.undoes,
        pull_requests: row.pull_requests,
    })
}
