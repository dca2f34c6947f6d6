//! Everything that lies in a directory, to see what a command wrote and what it left alone.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;

/// The names, modes and contents of everything below a directory, `.git` included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    content: Vec<u8>,
}

impl Listing {
    /// Lists a directory.
    ///
    /// # Panics
    /// When something in it cannot be read.
    #[must_use]
    pub fn of(root: &Utf8Path) -> Self {
        let mut entries = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in directory.read_dir_utf8().expect("the directory is listed") {
                let path = entry.expect("the entry is read").into_path();
                let metadata = fs::symlink_metadata(&path).expect("the entry is looked at");
                let kind = metadata.file_type();
                let name = path.strip_prefix(root).map(Utf8Path::to_string).unwrap_or_default();
                let (name, content) = if kind.is_dir() {
                    open.push(path);
                    (format!("{name}/"), Vec::new())
                } else if kind.is_symlink() {
                    let target = path.read_link_utf8().expect("the link is read");
                    (name, target.into_string().into_bytes())
                } else if kind.is_file() {
                    (name, fs::read(&path).expect("the file is read"))
                } else {
                    (name, Vec::new())
                };
                entries.insert(
                    name,
                    Entry {
                        mode: metadata.mode(),
                        content,
                    },
                );
            }
        }
        Self { entries }
    }

    /// Returns what differs from an earlier listing: `+ new`, `- gone`, `~ changed`, in the order of the names.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Vec<String> {
        let mut changes = BTreeMap::new();
        for (name, entry) in &self.entries {
            match earlier.entries.get(name) {
                None => drop(changes.insert(name, format!("+ {name}"))),
                Some(before) if before != entry => drop(changes.insert(name, format!("~ {name}"))),
                Some(_) => {}
            }
        }
        for name in earlier.entries.keys().filter(|name| !self.entries.contains_key(*name)) {
            changes.insert(name, format!("- {name}"));
        }
        changes.into_values().collect()
    }
}
