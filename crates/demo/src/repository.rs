//! Making the throw-away repository, and knowing it again.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::world::Fault;

use crate::git::{Actor, Git};
use crate::project::{BUNDLE, SPEC, START};

/// The file in the git common directory by which the demo knows its own repository again.
const MARK: &str = "orchestrate-demo";

/// Settings of the repository itself, so that the user's own cannot change what happens in it.
const SETTINGS: &[(&str, &str)] = &[
    ("commit.gpgSign", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("core.excludesFile", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.whitespace", "blank-at-eol,blank-at-eof,space-before-tab"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("user.email", Actor::Person.email()),
    ("user.name", Actor::Person.name()),
];

/// Makes an empty directory for the demo and returns its physical path.
///
/// # Errors
/// When the given one is no empty directory, or none can be made.
pub(crate) fn make_directory(wanted: Option<Utf8PathBuf>) -> Result<Utf8PathBuf, Fault> {
    let operation = "cannot make a directory for the demo";
    let fault = |cause: String| {
        Fault::new(operation, cause).with_hint("give the demo a directory that is empty or not there yet")
    };
    let made = match wanted {
        Some(path) => {
            fs::create_dir_all(&path).map_err(|error| fault(format!("{path}: {error}")))?;
            let mut entries = path
                .read_dir_utf8()
                .map_err(|error| fault(format!("{path}: {error}")))?;
            if entries.next().is_some() {
                return Err(fault(format!("{path} is not empty")));
            }
            path
        }
        None => {
            let made = tempfile::Builder::new().prefix("orchestrate-demo-").tempdir();
            let kept = made.map_err(|error| fault(error.to_string()))?.keep();
            Utf8PathBuf::from_path_buf(kept)
                .map_err(|path| fault(format!("its path is not UTF-8: {}", path.display())))?
        }
    };
    made.canonicalize_utf8()
        .map_err(|error| fault(format!("{made}: {error}")))
}

/// Makes the repository in an empty directory: the project, the unsigned bundle, and the settings that make `program`
/// the tower's worker.
///
/// # Errors
/// When git or the disk refuses.
pub(crate) fn make(directory: &Utf8Path, program: &Utf8Path) -> Result<(), Fault> {
    let git = Git {
        directory,
        actor: Actor::Person,
    };
    git.text(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
    for (key, value) in SETTINGS {
        git.text(&["config", "--local", key, value])?;
    }
    write(
        &directory.join(".git").join(MARK),
        "Made by orchestrate demo, which acts in no other repository.\n",
    )?;
    write(&directory.join(".git/info/exclude"), ".claude/\n.orchestrate*\n")?;
    for file in START {
        write(&directory.join(file.path), file.text)?;
    }
    git.text(&["add", "--all"])?;
    git.commit("chore: start the project\n")?;
    for (file, text) in BUNDLE {
        write(&bundle_directory(directory).join(file.name()), text)?;
    }
    git.text(&["add", "--all"])?;
    git.commit(&format!("docs({SPEC}): draft the spec\n"))?;
    write(
        &directory.join(".claude/planwright.local.yml"),
        &configuration(program)?,
    )
}

/// Returns where the bundle lies.
pub(crate) fn bundle_directory(directory: &Utf8Path) -> Utf8PathBuf {
    directory.join("specs").join(SPEC)
}

/// Returns the machine-local settings. They win over those of the user, and repeat the defaults that matter here.
fn configuration(program: &Utf8Path) -> Result<String, Fault> {
    let fault = |cause: String| Fault::new("cannot name this program as the demo's worker", cause);
    let words = [program.as_str(), "demo", "--worker"];
    let list = serde_json::to_string(&words).map_err(|error| fault(error.to_string()))?;
    // A value ends at the first `#`, even inside quotes; written as an escape it is part of the name.
    let list = list.replace('#', "\\u0023");
    Ok(format!(
        "# The demo's worker is this program itself, by a script: nothing is asked of any model.\n\
         dispatch_backend: command\n\
         dispatch_backend_per_spec: {{}}\n\
         command_backend: {list}\n\
         base_branch: main\n\
         max_parallel_units: 3\n"
    ))
}

/// Returns whether the git common directory is one that the demo made.
pub(crate) fn is_ours(common: &Utf8Path) -> bool {
    fs::symlink_metadata(common.join(MARK)).is_ok_and(|metadata| metadata.is_file())
}

/// Writes a file and makes the directories above it. Programs in `bin` may be executed.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn write(path: &Utf8Path, text: &str) -> Result<(), Fault> {
    let fault = |error: std::io::Error| Fault::new(format!("cannot write {path}"), error.to_string());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(fault)?;
    }
    fs::write(path, text).map_err(fault)?;
    if path.parent().and_then(Utf8Path::file_name) == Some("bin") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(fault)?;
    }
    Ok(())
}

/// Returns what a file holds, nothing where there is none.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(path: &Utf8Path) -> Result<Option<Vec<u8>>, Fault> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Fault::new(format!("cannot read {path}"), error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_empty_directory_is_taken() {
        let outer = tempfile::tempdir().expect("directory");
        let outer = Utf8PathBuf::try_from(outer.path().canonicalize().expect("path")).expect("utf8");
        let fresh = outer.join("a/b");
        assert_eq!(make_directory(Some(fresh.clone())), Ok(fresh.clone()));
        assert_eq!(make_directory(Some(fresh.clone())), Ok(fresh.clone()));
        fs::write(fresh.join("x"), "").expect("write");
        let refused = make_directory(Some(fresh.clone())).expect_err("not empty");
        assert_eq!(refused.cause, format!("{fresh} is not empty"));
        assert!(make_directory(Some(fresh.join("x"))).is_err());
    }

    #[test]
    fn the_worker_is_named_whatever_the_programs_path_holds() {
        let text = configuration(Utf8Path::new("/a b/\"#\\/ö")).expect("text");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("command_backend: "))
            .expect("line");
        assert!(!line.contains('#'));
        let words: Vec<String> = serde_json::from_str(line).expect("a list");
        assert_eq!(words, ["/a b/\"#\\/ö", "demo", "--worker"]);
    }
}
