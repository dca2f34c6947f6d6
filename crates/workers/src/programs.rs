//! Where programs are, asked through a trait so that no test needs a real one.

use std::ffi::{OsStr, OsString};

use camino::Utf8PathBuf;

/// What finds programs.
pub trait Programs {
    /// Returns the absolute path of a program, by its name or by an absolute path; nothing where there is none.
    fn resolve(&self, name: &str) -> Option<Utf8PathBuf>;
}

/// The programs of a search path. Its relative entries do not count: they would let a repository name the program.
#[derive(Debug, Clone)]
pub struct SearchPath {
    absolute: OsString,
}

impl SearchPath {
    /// Returns the programs of a `PATH`.
    #[must_use]
    pub fn new(path: Option<&OsStr>) -> Self {
        let entries = path.map(std::env::split_paths).into_iter().flatten();
        let absolute = entries.filter(|entry| entry.is_absolute());
        // An entry that was split off holds no separator, so that joining cannot fail.
        Self {
            absolute: std::env::join_paths(absolute).unwrap_or_default(),
        }
    }
}

impl Programs for SearchPath {
    fn resolve(&self, name: &str) -> Option<Utf8PathBuf> {
        let is_relative_path = name.contains('/') && !name.starts_with('/');
        if is_relative_path {
            return None;
        }
        let found = which::which_in_global(name, Some(&self.absolute)).ok()?.next()?;
        Utf8PathBuf::from_path_buf(found)
            .ok()
            .filter(|found| found.is_absolute())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_absolute_entries_and_names_count() {
        let directory = tempfile::tempdir().expect("directory");
        let program = directory.path().join("tool");
        std::fs::write(&program, "").expect("file");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let program = Utf8PathBuf::try_from(program).expect("utf8");
        let path = std::env::join_paths([OsStr::new("."), OsStr::new(""), directory.path().as_os_str()]).expect("path");
        let programs = SearchPath::new(Some(&path));
        assert_eq!(programs.resolve("tool"), Some(program.clone()));
        assert_eq!(programs.resolve(program.as_str()), Some(program));
        for absent in ["./tool", "target/tool", "no-such-tool", "", "/no/such/tool"] {
            assert_eq!(programs.resolve(absent), None, "{absent:?}");
        }
        assert_eq!(SearchPath::new(None).resolve("tool"), None);
        // The tests' own directory holds a Cargo.toml; a relative entry must not find what lies there.
        assert_eq!(SearchPath::new(Some(OsStr::new(".:src"))).resolve("lib.rs"), None);
    }
}
