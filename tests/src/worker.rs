//! The scripted worker: a shell script that writes down how it was started, waits at a gate, and does what it is told.
//!
//! Its desk is a directory of the sandbox. A *gate* is a named pipe there: the worker blocks on it until the test has
//! opened and closed it, so that no test ever has to guess whether a worker runs. An *act* is a script it runs then.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::channel;
use std::thread;

use camino::Utf8PathBuf;
use fd_lock::RwLock;
use orchestrate_core::evidence::Lease;
use orchestrate_core::observed::Observed;
use orchestrate_host::lease;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use crate::running::PATIENCE;
use crate::sandbox::Sandbox;

const SCRIPT: &str = r#"desk=$1
unit=$ORCHESTRATE_UNIT
cat > "$desk/$unit.prompt"
env > "$desk/$unit.environment"
pwd -P > "$desk/$unit.directory"
echo "$ORCHESTRATE_SPEC $unit" >> "$desk/starts"
if [ -p "$desk/$unit.gate" ]; then
    cat "$desk/$unit.gate" > /dev/null
fi
if [ -f "$desk/$unit.act" ]; then
    . "$desk/$unit.act"
fi
"#;

/// A worker that waits at its gate. It goes on when this is dropped.
#[derive(Debug)]
pub struct AtGate {
    _open: File,
}

impl Sandbox {
    pub(crate) fn install_worker(&self) {
        self.install("worker", SCRIPT);
    }

    /// Returns the worker's desk.
    #[must_use]
    pub fn desk(&self) -> Utf8PathBuf {
        self.root().join("desk")
    }

    /// Makes the worker of a unit wait until [`Self::worker_at_gate`] lets it go.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn close_gate(&self, unit: &str) {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, self.gate(unit).as_str(), FileType::Fifo, mode, 0).expect("a pipe is made");
    }

    /// Waits until the worker of a unit is at its gate. It stays there until the result is dropped.
    ///
    /// # Panics
    /// When it does not come within a minute.
    #[must_use]
    #[track_caller]
    pub fn worker_at_gate(&self, unit: &str) -> AtGate {
        let gate = self.gate(unit);
        let path = gate.clone();
        let (sender, opened) = channel();
        // Opening a pipe for writing waits until somebody reads it.
        thread::spawn(move || sender.send(File::options().write(true).open(path)));
        let open = opened
            .recv_timeout(PATIENCE)
            .expect("the worker comes to its gate")
            .expect("the gate opens");
        // Another worker of the unit finds no gate.
        fs::remove_file(gate).expect("the gate is removed");
        AtGate { _open: open }
    }

    /// Gives the worker of a unit a script, to be run in its worktree before it ends.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn act(&self, unit: &str, script: &str) {
        fs::write(self.desk().join(format!("{unit}.act")), script).expect("the act is written");
    }

    /// Makes the worker of a unit commit one file with that message.
    pub fn act_commit(&self, unit: &str, message: &str) {
        let text = self.desk().join(format!("{unit}.message"));
        fs::write(&text, message).expect("the message is written");
        self.act(
            unit,
            &format!("echo {unit} > part-{unit}.txt && git add part-{unit}.txt && git commit --quiet --file={text}\n"),
        );
    }

    /// Returns what the worker of a unit wrote down: `prompt`, `environment`, or `directory`.
    ///
    /// # Panics
    /// When it wrote nothing.
    #[must_use]
    pub fn noted(&self, unit: &str, what: &str) -> String {
        let path = self.desk().join(format!("{unit}.{what}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns the start of every worker, as spec and unit, in order.
    #[must_use]
    pub fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.desk().join("starts")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns where the lease of a unit's worker lies.
    #[must_use]
    pub fn lease(&self, spec: &str, unit: &str) -> Utf8PathBuf {
        lease::path(&self.path(".git/worktrees").join(format!("{spec}-task-{unit}")))
    }

    /// Returns whether a worker holds the unit's lease.
    ///
    /// # Panics
    /// When that cannot be told.
    #[must_use]
    pub fn is_leased(&self, spec: &str, unit: &str) -> bool {
        match lease::probe(&self.lease(spec, unit)) {
            Observed::Known(Lease::Held { .. }) => true,
            Observed::Known(Lease::Free) => false,
            unknown @ (Observed::Absent(_) | Observed::Unknown(_)) => panic!("{unknown:?}"),
        }
    }

    /// Waits until the worker of a unit, and all that it started, has ended.
    ///
    /// # Panics
    /// When it was never started, or does not end within a minute.
    #[track_caller]
    pub fn wait_for_worker(&self, spec: &str, unit: &str) {
        let path = self.lease(spec, unit);
        let file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let (sender, free) = channel();
        // The kernel's wait for the lock is the wait for the last holder's end.
        thread::spawn(move || sender.send(RwLock::new(file).read().map(drop)));
        free.recv_timeout(PATIENCE)
            .expect("the worker ends")
            .expect("its lease can be waited for");
    }

    /// Makes the n-th `git` of that subcommand that the product starts wait at the gate `git`, where it notes its
    /// process id. It goes on with real git when the gate is opened.
    ///
    /// # Panics
    /// When there is no git.
    pub fn intercept_git(&self, subcommand: &str, nth: u32) {
        let found = self.shell("command -v git").exits(0);
        let (git, desk) = (found.stdout.trim_end(), self.desk());
        self.close_gate("git");
        // The shell itself reads the pipe, so that a kill leaves no child of it behind.
        self.install(
            "git",
            &format!(
                "if [ \"$1\" = {subcommand} ]; then\n    echo >> {desk}/git.calls\n    \
                 if [ \"$(wc -l < {desk}/git.calls)\" -eq {nth} ]; then\n        echo $$ > {desk}/git.pid\n        \
                 read -r line < {desk}/git.gate\n    fi\nfi\nexec {git} \"$@\"\n"
            ),
        );
    }

    /// Returns the process id of the `git` that waits at its gate.
    ///
    /// # Panics
    /// When none came there.
    #[must_use]
    pub fn intercepted(&self) -> u32 {
        self.noted("git", "pid").trim_end().parse().expect("a process id")
    }

    pub(crate) fn let_every_worker_go(&self) {
        // Only a failing test leaves a worker at its gate, and there is nobody left to tell what goes wrong here.
        let Ok(entries) = self.desk().read_dir_utf8() else {
            return;
        };
        let gates = entries.filter_map(Result::ok).map(camino::Utf8DirEntry::into_path);
        for gate in gates.filter(|path| path.extension() == Some("gate")) {
            let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
            drop(File::options().write(true).custom_flags(nonblocking).open(&gate));
            drop(fs::remove_file(&gate));
        }
    }

    fn gate(&self, unit: &str) -> Utf8PathBuf {
        self.desk().join(format!("{unit}.gate"))
    }
}
