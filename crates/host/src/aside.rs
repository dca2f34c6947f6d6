//! The command that moves away what stands where something of ours belongs. It removes nothing and writes over nothing
//! (law L5): the name it moves to is free, and what had it before stays. The words are for a shell in the primary checkout.

use camino::Utf8Path;

use crate::layout::Layout;
use crate::shell::word;

/// Returns the command that moves what is at a path to a free name beside it.
#[must_use]
pub fn command(layout: &Layout, path: &Utf8Path) -> String {
    command_into(layout, path, path.parent().unwrap_or(&layout.primary))
}

/// Returns the command that moves what is at a path to a free name in another directory, where a name beside it would
/// be taken for something.
#[must_use]
pub fn command_into(layout: &Layout, path: &Utf8Path, directory: &Utf8Path) -> String {
    let name = path.file_name().unwrap_or_default();
    let first = std::iter::once(format!("{name}.aside"));
    let later = (2_u32..).map(|number| format!("{name}.aside-{number}"));
    let mut names = first.chain(later).map(|name| directory.join(name));
    // What cannot be looked at may be there.
    let is_free = |path: &Utf8Path| {
        path.symlink_metadata()
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    let aside = names
        .by_ref()
        .take(1000)
        .find(|path| is_free(path))
        .or_else(|| names.next())
        .unwrap_or_else(|| directory.join(name));
    format!("mv {} {}", operand(layout, path), operand(layout, &aside))
}

/// A name that begins like an option is none.
fn operand(layout: &Layout, path: &Utf8Path) -> String {
    let shown = layout.shown(path);
    if shown.starts_with('-') {
        word(&format!("./{shown}"))
    } else {
        word(&shown)
    }
}

#[cfg(test)]
mod tests {
    use camino::{Utf8Path, Utf8PathBuf};

    use super::*;

    fn layout(primary: &Utf8Path) -> Layout {
        Layout {
            primary: primary.to_owned(),
            common: primary.join(".git"),
            marker_override: None,
        }
    }

    /// Verifies REQ-F2.4.
    #[test]
    fn what_was_moved_away_before_is_not_written_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let primary = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("UTF-8");
        let layout = layout(&primary);
        let path = primary.join("logs");
        assert_eq!(command(&layout, &path), "mv logs logs.aside");
        std::fs::write(primary.join("logs.aside"), "kept").expect("written");
        assert_eq!(command(&layout, &path), "mv logs logs.aside-2");
        std::os::unix::fs::symlink("nowhere", primary.join("logs.aside-2")).expect("linked");
        assert_eq!(command(&layout, &path), "mv logs logs.aside-3");
    }

    /// Verifies REQ-F2.4.
    #[test]
    fn names_are_one_word_each_and_lead_there_from_the_primary_checkout() {
        let layout = Layout {
            primary: "/a/b c/checkout".into(),
            common: "/a/b c/common".into(),
            marker_override: None,
        };
        let path = layout.common.join("worktrees/x");
        assert_eq!(
            command_into(&layout, &path, &layout.common),
            "mv ../common/worktrees/x ../common/x.aside"
        );
        let path = layout.primary.join("it's");
        assert_eq!(command(&layout, &path), "mv 'it'\\''s' 'it'\\''s.aside'");
        let path = layout.primary.join("-n");
        assert_eq!(command(&layout, &path), "mv ./-n ./-n.aside");
    }
}
