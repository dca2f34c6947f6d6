//! Named points at which a test may kill the process with SIGKILL. Compiled to nothing in the default build.
//!
//! The build with the `failpoints` feature kills itself at the point named by `ORCHESTRATE_FAILPOINT`, at its n-th
//! passing when the value is `name:n`. Before that it adds a line `name pid` to the file `ORCHESTRATE_FAILPOINT_LOG`. With
//! the value `none` it kills nothing, and the file names every passing.
//!
//! What each point means for people stands in `docs/reference/crash-points.md`, which a test holds to be true.

/// Every failpoint: before and after each effect of the World, and inside the effects that have an inside.
pub const NAMES: &[&str] = &[
    "create-directory.before",
    "create-directory.after",
    "write.before",
    "write.staged",
    "write.after",
    "publish.before",
    "publish.after",
    "remove.before",
    "remove.half",
    "remove.after",
    "touch.before",
    "touch.after",
    "create-fence.before",
    "create-fence.after",
    "push-fences.before",
    "push-fences.after",
    "delete-fence.before",
    "delete-fence.after",
    "create-branch.before",
    "create-branch.after",
    "advance-branch.before",
    "advance-branch.after",
    "register-worktree.before",
    "register-worktree.staged",
    "register-worktree.published",
    "register-worktree.after",
    "retire-worktree.before",
    "retire-worktree.moved",
    "retire-worktree.looked",
    "retire-worktree.left",
    "retire-worktree.after",
    "clear-retired.before",
    "clear-retired.half",
    "clear-retired.registration",
    "clear-retired.after",
    "checkout.before",
    "checkout.half",
    "checkout.indexed",
    "checkout.after",
    "spawn.before",
    "spawn.started",
    "spawn.after",
    "fetch.before",
    "fetch.fetched",
    "fetch.after",
    "window.entered",
    "window.left",
    "worker.leased",
    "worker.recorded",
    "worker.started",
    "worker.ended",
];

/// Kills this process if the test asked for this point.
#[cfg(feature = "failpoints")]
pub fn reach(name: &str) {
    use std::sync::Mutex;
    static PASSED: Mutex<u64> = Mutex::new(0);
    #[expect(clippy::disallowed_methods, reason = "failpoints exist in test builds only")]
    let Ok(wanted) = std::env::var("ORCHESTRATE_FAILPOINT") else {
        return;
    };
    if wanted == "none" {
        return log(name);
    }
    let (point, count) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if point != name {
        return;
    }
    let Ok(mut passed) = PASSED.lock() else {
        return;
    };
    *passed += 1;
    if count.parse() == Ok(*passed) {
        log(name);
        let own = rustix::process::getpid();
        // A kill of oneself cannot fail in a way that matters: the test would see that the process went on.
        let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
    }
}

/// Tells the test which point killed which process.
#[cfg(feature = "failpoints")]
fn log(name: &str) {
    use std::io::Write;
    #[expect(clippy::disallowed_methods, reason = "failpoints exist in test builds only")]
    let Ok(path) = std::env::var("ORCHESTRATE_FAILPOINT_LOG") else {
        return;
    };
    let line = format!("{name} {}\n", std::process::id());
    let opened = std::fs::File::options().append(true).create(true).open(path);
    // A line that could not be written is a kill that the test does not count.
    let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Does nothing: this build has no failpoints.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn reach(_name: &str) {}

#[cfg(test)]
mod tests {
    use super::NAMES;

    /// The page says of each point what is durable after a kill there; the end-to-end tests hold that it is so.
    #[test]
    fn the_page_tells_of_each_point_once_in_this_order() {
        let page = include_str!("../../../docs/reference/crash-points.md");
        let told: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        assert_eq!(told, NAMES);
    }
}
