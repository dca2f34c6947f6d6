//! The file that spares a walk: what base held when it was last walked. Owns its format.
//!
//! Layout: the length of the facts, the facts as JSON, then the commits by name, each with its generation. Numbers are
//! big-endian.

use orchestrate_core::identifier::{SpecId, TaskId};
use serde::{Deserialize, Serialize};

use super::commits::Id;
use super::{Past, Place, Revert, Set, Trailers};
use crate::cache::{Kept, fingerprint};
use crate::layout::Layout;

const KEPT: Kept = Kept {
    name: "history",
    mark: b"orchestrate history  v1\n",
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

type PlaceRow = (Id, i64, u32);

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
    let place = |at: &Place| (at.commit, at.time, at.generation);
    let trailers = past.trailers.iter().map(|found| TrailersRow {
        at: place(&found.at),
        tasks: found
            .tasks
            .iter()
            .map(|(spec, task)| (spec.to_string(), task.to_string()))
            .collect(),
        refused: found.refused.clone(),
    });
    let reverts = past.reverts.iter().map(|revert| RevertRow {
        at: place(&revert.at),
        undoes: revert.undoes.clone(),
        pull_requests: revert.pull_requests.clone(),
    });
    let facts = serde_json::to_vec(&Facts {
        heads: past.heads.clone(),
        trailers: trailers.collect(),
        reverts: reverts.collect(),
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
    let past = Past {
        heads: facts.heads,
        commits: set(commits)?,
        trailers: facts.trailers.into_iter().map(trailers).collect::<Option<_>>()?,
        reverts: facts.reverts.into_iter().map(revert).collect(),
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

fn place((commit, time, generation): PlaceRow) -> Place {
    Place {
        commit,
        time,
        generation,
    }
}

fn trailers(row: TrailersRow) -> Option<Trailers> {
    let tasks = row
        .tasks
        .iter()
        .map(|(spec, task)| Some((SpecId::parse(spec).ok()?, TaskId::parse(task).ok()?)));
    Some(Trailers {
        at: place(row.at),
        tasks: tasks.collect::<Option<_>>()?,
        refused: row.refused,
    })
}

fn revert(row: RevertRow) -> Revert {
    Revert {
        at: place(row.at),
        undoes: row.undoes,
        pull_requests: row.pull_requests,
    }
}
