//! What a round's repositories look like at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::failure::{Context, Result};

use super::place::{Place, SPEC};
use super::plan::Plan;
use super::processes::End;
use super::scene::Scene;

/// Returns what each unit depends on.
pub(super) fn dependencies(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let tasks = 1..=plan.tasks();
    tasks.map(|task| (task.to_string(), plan.needs(task))).collect()
}

/// Returns every commit that some ref leads to, at origin or in a clone.
pub(super) fn reachable(scene: &Scene) -> Result<BTreeSet<String>> {
    let mut reachable = at_origin(scene, "--all")?;
    for place in scene.places() {
        let listed = place.git(&["rev-list", "--all"])?;
        reachable.extend(listed.lines().map(str::to_owned));
    }
    Ok(reachable)
}

/// Returns every commit that a ref of origin leads to, or all of them.
pub(super) fn at_origin(scene: &Scene, reference: &str) -> Result<BTreeSet<String>> {
    let listed = scene.git_at_origin(&["rev-list", reference])?;
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Returns what is wrong with the repositories themselves.
pub(super) fn state_faults(scene: &Scene, signed: &str) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let changed = scene.git_at_origin(&["diff", "--name-only", signed, "refs/heads/main", "--", "specs"])?;
    if !changed.is_empty() {
        faults.push(format!("the bundle changed on main: {changed}"));
    }
    for place in &scene.hosts {
        let name = &place.name;
        let checked = place.run_git(None, &["fsck", "--no-dangling", "--no-progress"])?;
        if checked.end != End::Exit(0) {
            let said = [checked.stdout.trim(), checked.stderr.trim()].concat();
            faults.push(format!("git fsck in {name}: {said}"));
        }
        let unclean = place.git(&["status", "--porcelain"])?;
        if !unclean.is_empty() {
            faults.push(format!("the primary checkout of {name} is not clean: {unclean}"));
        }
        let mut locks = Vec::new();
        find_locks(&place.repository.join(".git"), &mut locks)?;
        faults.extend(
            locks
                .iter()
                .map(|path| format!("a lock of git was left behind: {}", path.display())),
        );
        faults.extend(double_places(place)?);
    }
    faults.extend(kept_fences(scene)?);
    Ok(faults)
}

fn find_locks(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let operation = || format!("cannot list {}", directory.display());
    for entry in std::fs::read_dir(directory).context(operation)? {
        let entry = entry.context(operation)?;
        if entry.file_type().context(operation)?.is_dir() {
            find_locks(&entry.path(), found)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "lock") {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Returns units that have a second branch or a second worktree in a checkout.
fn double_places(place: &Place) -> Result<Vec<String>> {
    let branches = place.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/planwright"])?;
    let worktrees = place.git(&["worktree", "list", "--porcelain"])?;
    let checked_out: Vec<&str> = worktrees
        .lines()
        .filter_map(|line| line.strip_prefix("branch refs/heads/"))
        .collect();
    let mut faults = Vec::new();
    let mut units = BTreeSet::new();
    for branch in branches.lines() {
        let unit = branch.rsplit_once("task-").map_or(branch, |(_, unit)| unit);
        if !units.insert(unit.to_owned()) {
            faults.push(format!("unit {unit} has a second branch {branch}"));
        }
        if checked_out.iter().filter(|other| **other == branch).count() > 1 {
            faults.push(format!("unit {unit} has several worktrees"));
        }
    }
    Ok(faults)
}

/// Returns the fences that nobody collected although everything has landed.
fn kept_fences(scene: &Scene) -> Result<Vec<String>> {
    let prefix = format!("refs/planwright-fence/{SPEC}");
    let kept = scene.git_at_origin(&["for-each-ref", "--format=%(refname)", &prefix])?;
    Ok(kept
        .lines()
        .map(|reference| format!("{reference} is still at origin"))
        .collect())
}
