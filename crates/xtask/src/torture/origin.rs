//! The bare repository that the clones of a round share, which notes who pushed what, and fails for a while.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::failure::{Context, Result};

use super::place::{Place, WHO, copy_tree, write};
use super::random::Random;

/// What a push runs into before anything is changed. `JOURNAL` and `WHO` stand for what they name.
const PRE_RECEIVE: &str = "#!/bin/sh
weather=
[ ! -e weather ] || read -r weather <weather
[ \"$weather\" != refuses ] || exit 1
if [ \"$weather\" = slow ]; then
  turns=30000
  while [ \"$turns\" -gt 0 ]; do turns=$((turns - 1)); done
fi
while read -r old new reference; do
  printf '{\"event\":\"pushed\",\"who\":\"%s\",\"reference\":\"%s\",\"old\":\"%s\",\"new\":\"%s\"}\\n' \\
    \"$WHO\" \"$reference\" \"$old\" \"$new\" >>'JOURNAL'
done
";
/// What follows a change: whoever pushed may never learn of it.
const POST_RECEIVE: &str = "#!/bin/sh
weather=
[ ! -e weather ] || read -r weather <weather
[ \"$weather\" != cuts-off ] || kill -9 \"$PPID\"
";
/// The programs at origin's end. They run on another machine, so no kill of a client's group reaches them.
const ENDS: &[(&str, &str)] = &[
    ("remote.origin.receivepack", "setsid git-receive-pack"),
    ("remote.origin.uploadpack", "setsid git-upload-pack"),
];

/// How origin answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weather {
    /// As it should.
    Clear,
    /// Not at all.
    Gone,
    /// Every push is rejected.
    Refuses,
    /// A push takes its time.
    Slow,
    /// A push is done, and the connection ends before its answer.
    CutsOff,
}

impl Weather {
    /// Returns one of them, mostly a clear one.
    pub(super) fn random(random: &mut Random) -> Self {
        match random.below(10) {
            0 => Self::Gone,
            1 => Self::Refuses,
            2 => Self::Slow,
            3 => Self::CutsOff,
            _ => Self::Clear,
        }
    }
}

/// The shared repository.
pub(super) struct Origin {
    path: PathBuf,
}

impl Origin {
    /// Makes the origin of a checkout, which becomes a clone of it.
    pub(super) fn of(first: &Place) -> Result<Self> {
        let origin = Self {
            path: first.folder.join("origin.git"),
        };
        copy_tree(&first.repository.join(".git"), &origin.path)?;
        fs::remove_file(origin.path.join("index")).context(|| "cannot make the origin".to_owned())?;
        let there = origin.path.to_string_lossy();
        let settings = [("core.bare", "true"), ("receive.autogc", "false")];
        for (key, value) in settings {
            first.git(&["--git-dir", &there, "config", key, value])?;
        }
        let journal = first.folder.join("journal");
        let text = PRE_RECEIVE.replace("$WHO", &format!("${WHO}"));
        origin.hook("pre-receive", &text.replace("JOURNAL", &journal.to_string_lossy()))?;
        origin.hook("post-receive", POST_RECEIVE)?;
        first.git(&["remote", "add", "origin", &there])?;
        for (key, value) in ENDS {
            first.git(&["config", key, value])?;
        }
        first.git(&["update-ref", "refs/remotes/origin/main", "refs/heads/main"])?;
        first.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"])?;
        Ok(origin)
    }

    fn hook(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path.join("hooks").join(name);
        write(&path, text)?;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, executable).context(|| format!("cannot make {} a program", path.display()))
    }

    /// Returns where it is while it answers.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does what the keeper of a server does: removes the locks of refs that a killed push has left. Those that were there
    /// before belong to nobody any more; the ones that are there now are returned.
    pub(super) fn unlock(&self, before: &BTreeSet<PathBuf>) -> Result<BTreeSet<PathBuf>> {
        let mut there = BTreeSet::new();
        let mut folders = vec![self.path.join("refs")];
        while let Some(folder) = folders.pop() {
            let what = || format!("cannot look for locks in {}", folder.display());
            for entry in fs::read_dir(&folder).context(what)? {
                let path = entry.context(what)?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "lock") {
                    there.insert(path);
                }
            }
        }
        for path in there.intersection(before) {
            fs::remove_file(path).context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(there)
    }

    /// Lets it answer in another way from now on.
    pub(super) fn set(&self, weather: Weather) -> Result<()> {
        let away = self.path.with_extension("away");
        if away.exists() {
            fs::rename(&away, &self.path).context(|| "cannot bring the origin back".to_owned())?;
        }
        let word = match weather {
            Weather::Clear | Weather::Gone => "",
            Weather::Refuses => "refuses",
            Weather::Slow => "slow",
            Weather::CutsOff => "cuts-off",
        };
        write(&self.path.join("weather"), &format!("{word}\n"))?;
        if weather == Weather::Gone {
            fs::rename(&self.path, &away).context(|| "cannot take the origin away".to_owned())?;
        }
        Ok(())
    }
}
