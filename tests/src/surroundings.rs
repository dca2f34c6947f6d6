//! What a test needs of the machine, and what is said when the machine does not have it.

use camino::{Utf8Path, Utf8PathBuf};

use crate::sandbox::Sandbox;

/// Says that something was not tested. A test that cannot run never fails for that.
#[expect(
    clippy::print_stderr,
    reason = "a test that is skipped says so where the runner shows it"
)]
pub fn skipped(what: &str) {
    eprintln!("skipped: {what}");
}

/// Returns whether this process may read what no mode allows, as root may.
#[must_use]
pub fn ignores_modes() -> bool {
    rustix::process::geteuid().is_root()
}

/// Something mounted inside a sandbox; unmounted when it is dropped, even by a test that fails.
#[derive(Debug)]
pub struct Mounted {
    path: Utf8PathBuf,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // What is still in use goes when its last user goes; a failure leaves a directory behind that shows it.
        let _ = rustix::mount::unmount(self.path.as_str(), rustix::mount::UnmountFlags::DETACH);
    }
}

/// Mounts a filesystem in memory of that many kibibytes over an empty directory, or returns nothing where the machine
/// does not allow it.
#[must_use]
pub fn small_disk(sandbox: &Sandbox, path: &Utf8Path, kibibytes: u32) -> Option<Mounted> {
    let size = format!("size={kibibytes}k,mode=0755");
    let output = sandbox.run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", path.as_str()])?;
    (output.exit == 0).then(|| Mounted { path: path.to_owned() })
}

/// Makes a directory read-only even for root, or returns nothing where the machine does not allow it.
#[must_use]
pub fn read_only(sandbox: &Sandbox, path: &Utf8Path) -> Option<Mounted> {
    let bound = sandbox.run("mount", &["--bind", path.as_str(), path.as_str()])?;
    let mounted = (bound.exit == 0).then(|| Mounted { path: path.to_owned() })?;
    let remounted = sandbox.run("mount", &["-o", "remount,ro,bind", path.as_str()])?;
    (remounted.exit == 0).then_some(mounted)
}

/// Returns the binary that can be killed at named points, where the caller of the tests has built one.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the caller of the tests says where the binary is"
)]
pub fn failpoint_binary() -> Option<String> {
    std::env::var("ORCHESTRATE_FAILPOINT_BINARY")
        .ok()
        .filter(|path| !path.is_empty())
}

/// Returns the directory of a real bundle of the corpus.
#[must_use]
pub fn corpus(bundle: &str) -> Option<Utf8PathBuf> {
    Some(corpus_root()?.join(bundle)).filter(|directory| directory.is_dir())
}

/// Returns the directory of the corpus, which lies beside the repository or where the caller says.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the caller of the tests says where the corpus is"
)]
pub fn corpus_root() -> Option<Utf8PathBuf> {
    let workspace = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let beside = workspace.parent()?.join("shared");
    let shared = std::env::var("ORCHESTRATE_SHARED").map_or(beside, Utf8PathBuf::from);
    Some(shared.join("corpus")).filter(|directory| directory.is_dir())
}

/// Returns every `gh` there is: the machine's, and those that the caller of the tests installed.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the caller of the tests says where it installed programs"
)]
pub fn every_gh() -> Vec<Utf8PathBuf> {
    let installed = std::env::var("ORCHESTRATE_TEST_GH").unwrap_or_default();
    let machine = ["/usr/local/bin/gh", "/usr/bin/gh"];
    machine
        .into_iter()
        .chain(installed.split(':'))
        .map(Utf8PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_file())
        .collect()
}
