//! What stands where a bundle belongs (`contract/core.md §2.1`).

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::BundleFile;
use orchestrate_host::specs::{Child, ChildKind};

use super::Target;

/// A place where a bundle belongs.
pub(super) enum Place {
    Bundle {
        spec: SpecId,
        directory: Utf8PathBuf,
        shown: String,
    },
    Refused(Refused),
}

/// Something that stands where a bundle belongs and is none. Always an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its name, printable.
    pub(crate) name: String,
    /// Its path as the person would write it.
    pub(crate) shown: String,
    /// Why it is no bundle.
    pub(crate) why: String,
    /// What helps.
    pub(crate) help: &'static str,
}

/// Returns whether one of a bundle's files stands directly in the directory, whatever it is.
pub(super) fn is_bundle(directory: &Utf8Path) -> bool {
    BundleFile::AUTHORED
        .iter()
        .any(|file| std::fs::symlink_metadata(directory.join(file.name())).is_ok())
}

pub(super) fn the_bundle(target: &Target) -> Place {
    let shown = target.shown.clone();
    let physical = target.directory.canonicalize_utf8();
    let name = physical
        .as_deref()
        .unwrap_or(&target.directory)
        .file_name()
        .unwrap_or("/");
    let is_link = std::fs::symlink_metadata(&target.directory).is_ok_and(|metadata| metadata.is_symlink());
    if is_link && !target.may_be_link {
        return Place::Refused(linked(printable(name), shown));
    }
    match SpecId::parse(name) {
        Ok(spec) => Place::Bundle {
            spec,
            directory: target.directory.clone(),
            shown,
        },
        Err(_) => Place::Refused(badly_named(printable(name), shown)),
    }
}

/// Returns what an entry of a root is; nothing when it is none of a root's affair.
pub(super) fn place_of(root: &Target, child: &Child) -> Option<Place> {
    let lossy = child.name.to_string_lossy();
    if lossy.starts_with('.') {
        return None;
    }
    let name = printable(&lossy);
    let shown = format!("{}/{name}", root.shown.trim_end_matches('/'));
    match child.kind {
        ChildKind::Other => None,
        ChildKind::LinkToDirectory => Some(Place::Refused(linked(name, shown))),
        ChildKind::Directory => match child.name.to_str() {
            Some(plain) if is_accumulator(plain) => None,
            Some(plain) => Some(match SpecId::parse(plain) {
                Ok(spec) => Place::Bundle {
                    directory: root.directory.join(plain),
                    spec,
                    shown,
                },
                Err(_) => Place::Refused(badly_named(name, shown)),
            }),
            None => Some(Place::Refused(badly_named(name, shown))),
        },
    }
}

/// Returns whether the name is that of an accumulator, which is no bundle (`contract/core.md §0.3`).
fn is_accumulator(name: &str) -> bool {
    name.len() <= 64 && name.strip_prefix('_').is_some_and(|rest| SpecId::parse(rest).is_ok())
}

fn linked(name: String, shown: String) -> Refused {
    Refused {
        name,
        shown,
        why: "a symbolic link stands where a bundle belongs; bundles must be real directories".to_owned(),
        help: "put the directory itself there, or move the link elsewhere",
    }
}

fn badly_named(name: String, shown: String) -> Refused {
    let what = if name.starts_with('_') {
        "an accumulator's name (_, then a-z, 0-9 and '-', at most 64)"
    } else {
        "a spec's name (a-z, 0-9 and '-', at most 64, not starting with '-')"
    };
    Refused {
        name,
        shown,
        why: format!("the directory's name is not {what}"),
        help: "rename it, or move it out of the directory of bundles",
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn child(name: &[u8], kind: ChildKind) -> Option<String> {
        let root = Target {
            directory: "/r".into(),
            shown: "specs/".to_owned(),
            may_be_link: false,
        };
        let child = Child {
            name: OsString::from_vec(name.to_vec()),
            kind,
        };
        place_of(&root, &child).map(|place| match place {
            Place::Bundle { directory, shown, .. } => format!("{shown} at {directory}"),
            Place::Refused(refused) => format!("{}: {}", refused.shown, refused.why),
        })
    }

    #[test]
    fn entries_of_a_root() {
        use ChildKind::{Directory, LinkToDirectory, Other};
        for (name, kind, starts) in [
            (&b"alpha"[..], Directory, Some("specs/alpha at /r/alpha")),
            (b"alpha", Other, None),
            (b"alpha", LinkToDirectory, Some("specs/alpha: a symbolic link")),
            (
                b"_observations",
                LinkToDirectory,
                Some("specs/_observations: a symbolic link"),
            ),
            (b".hidden", LinkToDirectory, None),
            (b".git", Directory, None),
            (b"_observations", Directory, None),
            (
                b"_",
                Directory,
                Some("specs/_: the directory's name is not an accumulator's"),
            ),
            (
                b"_Bad",
                Directory,
                Some("specs/_Bad: the directory's name is not an accumulator's"),
            ),
            (
                b"Alpha",
                Directory,
                Some("specs/Alpha: the directory's name is not a spec's"),
            ),
            (b"a b", Directory, Some("specs/a b: the directory's name")),
            (b"-rf", Directory, Some("specs/-rf: the directory's name")),
            (b"a\nb\x1b[2J", Directory, Some("specs/ab[2J: the directory's name")),
            (
                b"\xff\xfe",
                Directory,
                Some("specs/\u{fffd}\u{fffd}: the directory's name"),
            ),
            (b"README.md", Other, None),
        ] {
            let found = child(name, kind);
            match starts {
                None => assert_eq!(found, None, "{name:?} {kind:?}"),
                Some(start) => {
                    let found = found.unwrap_or_default();
                    assert!(found.starts_with(start), "{name:?} {kind:?}: {found}");
                }
            }
        }
        let long = [b"_".to_vec(), vec![b'a'; 64]].concat();
        assert!(child(&long, Directory).is_some_and(|found| found.contains("accumulator")));
        assert_eq!(child(&long[..64], Directory), None);
        assert!(child(&[b'a'; 65], Directory).is_some_and(|found| found.contains("spec's name")));
    }
}
