//! Performs the effects of the watch machine. Timer and file events carry no data: they only say "look again".

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use camino::Utf8PathBuf;
use notify::{EventKind, RecursiveMode, Watcher};
use orchestrate_core::identifier::SpecId;
use orchestrate_host::layout::Layout;

use super::{Effect, Event, IllegalEvent, StepClass, StopReason, Watch};

/// Returns the directories in which a change may mean that a unit progressed.
#[must_use]
pub fn watched_paths(layout: &Layout, spec: &SpecId) -> Vec<Utf8PathBuf> {
    vec![
        layout.common.join("refs"),
        layout.common.join("worktrees"),
        layout.common.join("planwright"),
        layout.state().join("dispatch"),
        layout.primary.join("specs").join(spec.as_str()),
    ]
}

/// Runs the loop: `step` takes one step; an error of its own ends the loop and is returned inside.
///
/// # Errors
/// When the machine refuses an event, which is a fault of this driver.
pub fn run<E>(
    paths: &[Utf8PathBuf],
    interval: Duration,
    mut step: impl FnMut() -> Result<StepClass, E>,
) -> Result<Result<StopReason, E>, IllegalEvent> {
    let changes = Changes::watch(paths);
    let (mut watch, mut effects) = Watch::New.handle(Event::Started)?;
    loop {
        let mut event = None;
        for effect in effects {
            match effect {
                Effect::Stop(reason) => return Ok(Ok(reason)),
                Effect::Wait => {
                    changes.wait(interval);
                    event = Some(Event::Wake);
                }
                Effect::Step => match step() {
                    Ok(class) => event = Some(Event::StepEnded(class)),
                    Err(error) => return Ok(Err(error)),
                },
            }
        }
        let Some(event) = event else {
            return Err(IllegalEvent { event: Event::Wake, state: watch });
        };
        (watch, effects) = watch.handle(event)?;
    }
}

/// File events, as far as the system delivers them; the timer is the truth.
struct Changes {
    events: Option<Receiver<()>>,
    // Watching ends with this value.
    _watcher: Option<notify::RecommendedWatcher>,
}

impl Changes {
    fn watch(paths: &[Utf8PathBuf]) -> Self {
        let (sender, events) = channel();
        let handler = move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| is_progress(&event)) {
                // A loop that has ended has no use for it.
                let _ = sender.send(());
            }
        };
        let Ok(mut watcher) = notify::recommended_watcher(handler) else {
            return Self { events: None, _watcher: None };
        };
        let mut watching = false;
        for path in paths {
            watching |= watcher.watch(path.as_std_path(), RecursiveMode::Recursive).is_ok();
        }
        Self { events: watching.then_some(events), _watcher: Some(watcher) }
    }

    /// Waits until something changed or the time is up, and forgets what else changed until now: one look sees it all.
    fn wait(&self, interval: Duration) {
        match &self.events {
            Some(events) => match events.recv_timeout(interval) {
                Ok(()) => while events.try_recv().is_ok() {},
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            },
            None => std::thread::park_timeout(interval),
        }
    }
}

/// Our own locks come and go with every look; waking up for them would never let the loop sleep.
fn is_progress(event: &notify::Event) -> bool {
    let is_change = match event.kind {
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) => true,
        EventKind::Any | EventKind::Access(_) | EventKind::Other => false,
    };
    let is_lock = |path: &std::path::PathBuf| {
        path.iter().any(|part| {
            let part = part.to_string_lossy();
            part.starts_with(".orchestrate.lock") || part == "orchestrate.lease" || part.starts_with(".orchestrate-")
        })
    };
    is_change && !event.paths.iter().all(is_lock)
}
