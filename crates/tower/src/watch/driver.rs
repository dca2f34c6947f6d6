//! Performs the effects of the watch machine. Timer and file events carry no data: they only say "look again".

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use notify::{EventKind, RecursiveMode, Watcher};
use orchestrate_core::identifier::SpecId;
use orchestrate_host::layout::Layout;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Effect, Event, IllegalEvent, StepClass, StopReason, Watch};

/// How long changes are gathered before they cause a look.
const SETTLING: Duration = Duration::from_secs(1);

/// Why the loop ended early.
#[derive(Debug, thiserror::Error)]
pub enum DriverError<E> {
    /// A step failed.
    #[error("{0}")]
    Step(E),
    /// The machine refused an event: a fault of this driver.
    #[error(transparent)]
    Illegal(#[from] IllegalEvent),
}

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

/// Runs the loop until the machine stops it; `step` takes one step. An interrupt lets a running step end first.
///
/// # Errors
/// What `step` returned, or a refused event.
pub fn run<E>(
    paths: &[Utf8PathBuf],
    interval: Duration,
    mut step: impl FnMut() -> Result<StepClass, E>,
) -> Result<StopReason, DriverError<E>> {
    let news = News::listen(paths);
    let (mut watch, mut effects) = Watch::New.handle(Event::Started)?;
    loop {
        let mut events = Vec::new();
        for effect in effects {
            match effect {
                Effect::Stop(reason) => return Ok(reason),
                Effect::Wait => events.push(news.wait(interval)),
                Effect::Step => {
                    let class = step().map_err(DriverError::Step)?;
                    events.extend(news.interrupted());
                    events.push(Event::StepEnded(class));
                }
            }
        }
        effects = Vec::new();
        for event in events {
            let (next, wanted) = watch.handle(event)?;
            watch = next;
            effects.extend(wanted);
        }
    }
}

enum Message {
    LookAgain,
    Interrupt,
}

/// File events and signals, as far as the system delivers them; the timer is the truth.
struct News {
    messages: Receiver<Message>,
    // Keeps the channel open where neither files nor signals can be listened to.
    _sender: Sender<Message>,
    // Listening ends with this value.
    _watcher: Option<notify::RecommendedWatcher>,
}

impl News {
    fn listen(paths: &[Utf8PathBuf]) -> Self {
        let (sender, messages) = channel();
        listen_for_signals(sender.clone());
        let watcher = watch_files(paths, sender.clone());
        Self {
            messages,
            _sender: sender,
            _watcher: watcher,
        }
    }

    /// Waits until something happened or the time is up, and forgets what else happened: one look sees it all.
    fn wait(&self, interval: Duration) -> Event {
        match self.messages.recv_timeout(interval) {
            Ok(Message::Interrupt) => Event::Interrupted,
            Ok(Message::LookAgain) => self.settle(),
            Err(_) => Event::Wake,
        }
    }

    /// Lets a burst of changes pass, so that a busy worker does not make every one of its commits a look.
    fn settle(&self) -> Event {
        let deadline = Instant::now() + SETTLING;
        loop {
            match self
                .messages
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(Message::Interrupt) => return Event::Interrupted,
                Ok(Message::LookAgain) => {}
                Err(_) => return Event::Wake,
            }
        }
    }

    /// Returns whether the user wants an end, and forgets older calls to look again: a step has just looked.
    fn interrupted(&self) -> Option<Event> {
        self.messages
            .try_iter()
            .any(|message| matches!(message, Message::Interrupt))
            .then_some(Event::Interrupted)
    }
}

fn listen_for_signals(sender: Sender<Message>) {
    // Without signals an interrupt ends the process at once, which loses nothing either (law L11).
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if sender.send(Message::Interrupt).is_err() {
                return;
            }
        }
    });
}

fn watch_files(paths: &[Utf8PathBuf], sender: Sender<Message>) -> Option<notify::RecommendedWatcher> {
    let handler = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| is_progress(&event)) {
            // A loop that has ended has no use for it.
            let _ = sender.send(Message::LookAgain);
        }
    };
    let mut watcher = notify::recommended_watcher(handler).ok()?;
    for path in paths {
        // A directory that is not there yet, or cannot be watched, is looked at when the time is up.
        let _ = watcher.watch(path.as_std_path(), RecursiveMode::Recursive);
    }
    Some(watcher)
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

#[cfg(test)]
mod tests {
    use super::*;
    use notify::Event as FileEvent;
    use notify::event::{AccessKind, CreateKind, ModifyKind};

    #[test]
    fn own_locks_and_reads_wake_nobody() {
        let lock = "/r/specs/a/.orchestrate.lock.new-1/owner";
        let branch = "/r/.git/refs/heads/planwright/a/task-1";
        let created = |path: &str| FileEvent::new(EventKind::Create(CreateKind::File)).add_path(path.into());
        assert!(!is_progress(&created(lock)));
        assert!(is_progress(&created(branch)));
        assert!(is_progress(&created(lock).add_path(branch.into())));
        assert!(is_progress(
            &FileEvent::new(EventKind::Modify(ModifyKind::Any)).add_path(branch.into())
        ));
        assert!(!is_progress(
            &FileEvent::new(EventKind::Access(AccessKind::Read)).add_path(branch.into())
        ));
    }

    #[test]
    fn the_loop_runs_the_classes_in_order_and_ends() {
        let mut classes = [StepClass::Dispatched, StepClass::Waiting, StepClass::NothingReady].into_iter();
        let reason = run(&[], Duration::from_millis(1), || {
            classes.next().ok_or("one step too many")
        })
        .expect("ends");
        assert_eq!((reason, classes.next()), (StopReason::NothingReady, None));
    }

    #[test]
    fn a_failing_step_ends_the_loop_with_its_error() {
        let error = run(&[], Duration::from_millis(1), || Err::<StepClass, _>("broken")).expect_err("fails");
        assert!(matches!(error, DriverError::Step("broken")));
    }
}
