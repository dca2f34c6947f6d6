//! Completing the checkout of a registered worktree, after a kill as well as for the first time.
//!
//! Git writes the files, so that its filters run; it never overwrites one. The worktree's own index appears last, and
//! tells a complete checkout from an unfinished one.

use std::fs;
use std::io::{self, ErrorKind};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::UnitName;
use orchestrate_core::world::{Checkout, Fault};

use crate::failpoint::reach;
use crate::files::disk_fault;
use crate::process::{Output, RunOptions, run_bounded};
use crate::repository::Repository;
use crate::worktree::make_directory;

/// What helps when git cannot check out.
const CHECKOUT_HINT: &str = "free some space, or mend what git says; the next step goes on from here";

/// What git may print about one file: a larger one is taken for changed, and left alone.
const LARGEST_BLOB: usize = 256 * 1024 * 1024;

/// Long enough for a checkout of a very large tree on a slow disk.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(900);

/// Completes a worktree: missing files, then the index, then the unlocking. Overwrites nothing but torn writes of an
/// earlier checkout, which are beginnings of what is to be written.
pub(crate) fn checkout(repository: &Repository, git: &Utf8Path, name: &UnitName) -> Result<Checkout, Fault> {
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
            program: git,
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
    if registration.is_locked_by_us() {
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
    program: &'a Utf8Path,
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
        run_bounded(self.program, arguments, &options)
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

    /// Writes what is missing and returns the paths that are in the way: files that stood there before and are neither
    /// what git would write nor the beginning of it. A file that git writes and then calls changed, because of its line
    /// ends or a filter, is in nobody's way.
    fn write_files(&self) -> Result<Vec<String>, Fault> {
        let is_there = |path: &&Utf8PathBuf| fs::symlink_metadata(self.worktree.join(path)).is_ok();
        let before = self.different()?;
        let mut in_the_way = Vec::new();
        for path in before.iter().filter(is_there) {
            match self.compare(path) {
                Compared::Whole => {}
                Compared::Beginning => fs::remove_file(self.worktree.join(path))
                    .map_err(|error| disk_fault(format!("cannot rewrite {path}"), &error))?,
                Compared::Other => in_the_way.push(path.to_string()),
            }
        }
        if !in_the_way.is_empty() {
            in_the_way.truncate(5);
            return Ok(in_the_way);
        }
        // Git reports the files that exist by its exit code; which of them matter was asked above.
        let written = self.run(&["checkout-index", "--all", "--quiet", "--index"])?;
        reach("checkout.half");
        match self.different()?.iter().find(|path| !is_there(path)) {
            Some(missing) => Err(Fault::new(
                format!("cannot write {missing} in {}", self.worktree),
                written.message(),
            )
            .with_hint(CHECKOUT_HINT)),
            None => Ok(Vec::new()),
        }
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

    /// Compares a file that stands there with what git would write. A true beginning of that is what a kill in mid-write
    /// left, and nothing in it is lost by writing the whole.
    fn compare(&self, path: &Utf8Path) -> Compared {
        let file = self.worktree.join(path);
        if !fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.file_type().is_file()) {
            return Compared::Other;
        }
        let Ok(whole) = self.git(&["cat-file", "--filters", &format!(":{path}")]) else {
            return Compared::Other;
        };
        match fs::read(&file) {
            Ok(content) if content == whole => Compared::Whole,
            Ok(content) if whole.starts_with(&content) => Compared::Beginning,
            Ok(_) | Err(_) => Compared::Other,
        }
    }
}

/// What a file is, beside what git would write.
enum Compared {
    Whole,
    Beginning,
    Other,
}
