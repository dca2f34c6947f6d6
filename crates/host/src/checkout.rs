//! Completing the checkout of a registered worktree, after a kill as well as for the first time.
//!
//! Git writes the files, so that its filters run; it never overwrites one. The worktree's own index appears last, and
//! tells a complete checkout from an unfinished one.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::UnitName;
use orchestrate_core::world::{Checkout, Fault};

use crate::failpoint::reach;
use crate::files::disk_fault;
use crate::process::{Output, RunOptions, run_bounded};
use crate::repository::Repository;
use crate::worktree::{LOCK_REASON, make_directory};

/// What helps when git cannot check out.
const CHECKOUT_HINT: &str = "free some space, or mend what git says; the next step goes on from here";

/// What git may print about one file: a larger one is taken for changed, and left alone.
const LARGEST_BLOB: usize = 256 * 1024 * 1024;

/// Long enough for a checkout of a very large tree on a slow disk.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(900);

/// Completes a worktree: missing files, then the index, then the unlocking. Overwrites nothing but torn writes of an
/// earlier checkout, which are beginnings of what is to be written.
pub(crate) fn checkout(repository: &Repository, name: &UnitName) -> Result<Checkout, Fault> {
    reach("checkout.before");
    let layout = &repository.layout;
    let operation = format!("cannot check out the worktree of {name}");
    let Some(registration) = repository.registration(name)? else {
        return Err(Fault::new(operation, "it is not registered").with_hint("step again"));
    };
    make_directory(layout, &registration.path, &registration.git_directory, &operation)?;
    if !registration.has_index {
        let staged = registration.git_directory.join("orchestrate.index");
        let index = StagedIndex {
            worktree: &registration.path,
            path: &staged,
        };
        index
            .break_lock()
            .map_err(|error| disk_fault(operation.clone(), &error))?;
        index.git(&["read-tree", "HEAD"])?;
        let in_the_way = index.write_files()?;
        if !in_the_way.is_empty() {
            return Ok(Checkout::InTheWay { paths: in_the_way });
        }
        fs::rename(&staged, registration.git_directory.join("index"))
            .map_err(|error| disk_fault(operation.clone(), &error))?;
        reach("checkout.indexed");
    }
    if registration
        .locked
        .as_deref()
        .is_some_and(|reason| reason.starts_with(LOCK_REASON))
    {
        match fs::remove_file(registration.git_directory.join("locked")) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(disk_fault(operation, &error)),
            Ok(()) | Err(_) => {}
        }
    }
    reach("checkout.after");
    Ok(Checkout::Complete)
}

/// An index beside the worktree's own, so that its own appears only when every file is there.
struct StagedIndex<'a> {
    worktree: &'a Utf8Path,
    path: &'a Utf8Path,
}

impl StagedIndex<'_> {
    /// Removes git's lock of this index, which a git that was killed in an earlier checkout leaves behind and no git
    /// gets past. The index is ours alone, and who comes here found no process in the worktree and has the claim.
    fn break_lock(&self) -> io::Result<()> {
        match fs::remove_file(format!("{}.lock", self.path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, Fault> {
        let options = RunOptions {
            directory: Some(self.worktree),
            environment: &[("GIT_INDEX_FILE", self.path.as_str())],
            timeout: CHECKOUT_TIMEOUT,
            output_limit: LARGEST_BLOB,
            ..RunOptions::default()
        };
        run_bounded(Utf8Path::new("git"), arguments, &options)
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, Fault> {
        let output = self.run(arguments)?;
        if output.success() {
            Ok(output.stdout)
        } else {
            Err(self.failed(arguments, &output))
        }
    }

    fn failed(&self, arguments: &[&str], output: &Output) -> Fault {
        let operation = format!("git {} failed in {}", arguments.join(" "), self.worktree);
        Fault::new(operation, output.message()).with_hint(CHECKOUT_HINT)
    }

    /// Writes what is missing and returns the paths that are in the way.
    fn write_files(&self) -> Result<Vec<String>, Fault> {
        // Git reports the files that exist by its exit code; which of them matter is asked of the index below.
        let first = self.run(&["checkout-index", "--all", "--quiet", "--index"])?;
        reach("checkout.half");
        let mut different = self.different()?;
        let torn: Vec<Utf8PathBuf> = different
            .iter()
            .filter(|path| self.is_torn_write(path))
            .cloned()
            .collect();
        if !torn.is_empty() {
            for path in &torn {
                fs::remove_file(self.worktree.join(path))
                    .map_err(|error| disk_fault(format!("cannot rewrite {path}"), &error))?;
            }
            let _ = self.run(&["checkout-index", "--all", "--quiet", "--index"])?;
            different = self.different()?;
        }
        if let Some(missing) = different
            .iter()
            .find(|path| fs::symlink_metadata(self.worktree.join(path)).is_err())
        {
            return Err(
                Fault::new(format!("cannot write {missing} in {}", self.worktree), first.message())
                    .with_hint(CHECKOUT_HINT),
            );
        }
        Ok(different.into_iter().take(5).map(Utf8PathBuf::into_string).collect())
    }

    /// Returns the paths whose file is missing or differs from what the index names.
    fn different(&self) -> Result<Vec<Utf8PathBuf>, Fault> {
        // It ends with 1 where some path needs an update, which is just what is asked next. Anything else means that
        // the index could not be brought up to date, and then every file would look different.
        let refresh = ["update-index", "-q", "--refresh"];
        let refreshed = self.run(&refresh)?;
        if !matches!(refreshed.status.code(), Some(0 | 1)) {
            return Err(self.failed(&refresh, &refreshed));
        }
        let listed = self.git(&["diff-files", "--name-only", "-z", "--ignore-submodules=all"])?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names
            .map(|name| Utf8PathBuf::from(String::from_utf8_lossy(name).into_owned()))
            .collect())
    }

    /// Returns whether the file is a true beginning of what the checkout would write: a kill in mid-write left it, and
    /// nothing in it is lost by writing the whole.
    fn is_torn_write(&self, path: &Utf8Path) -> bool {
        let file = self.worktree.join(path);
        if !fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.file_type().is_file()) {
            return false;
        }
        let Ok(whole) = self.git(&["cat-file", "--filters", &format!(":{path}")]) else {
            return false;
        };
        let mut content = Vec::new();
        let read = fs::File::open(&file).and_then(|mut file| file.read_to_end(&mut content));
        read.is_ok() && content.len() < whole.len() && whole.starts_with(&content)
    }
}
