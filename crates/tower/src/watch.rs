//! The watch loop as a pure machine: `handle(event) -> Vec<Effect>`.
//!
//! A tick and a file event carry no data, they only say "look again"; what is true is read by the step they cause.

/// What a step amounted to, as far as the loop cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepClass {
    /// A unit was dispatched: there may be another.
    Dispatched,
    /// Not now: held, at the cap, or another tower was busy.
    Waiting,
    /// Nothing is ready.
    NothingReady,
    /// A person is needed.
    Halted,
}

/// What happens to the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The loop starts.
    Started,
    /// The step that was asked for has ended.
    StepEnded(StepClass),
    /// Look again: a file changed, or the time is up.
    Wake,
    /// The user wants it to end.
    Interrupted,
}

/// What the loop wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an effect that nobody performs stops the loop"]
pub enum Effect {
    /// Run one step.
    Step,
    /// Wait for a change or for the time to be up.
    Wait,
    /// End the loop.
    Stop(StopReason),
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing is ready.
    NothingReady,
    /// A person is needed.
    Halted,
    /// The user ended it.
    Interrupted,
}

/// Where the loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Not started.
    New,
    /// A step runs; `looked` says that something changed meanwhile, `stopping` that the user wants an end.
    Stepping {
        /// Something changed while the step ran.
        looked: bool,
        /// The user wants an end when the step has ended.
        stopping: bool,
    },
    /// Waiting for a change.
    Waiting,
    /// Over.
    Stopped,
}

/// An event that cannot happen in that state: a fault of the driver, never swallowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the watch loop cannot take {event:?} while {state:?}")]
pub struct IllegalEvent {
    /// The event.
    pub event: Event,
    /// The state.
    pub state: Watch,
}

impl Watch {
    /// Takes an event and returns the next state with what is to be done.
    ///
    /// # Errors
    /// When the event cannot happen in this state.
    pub fn handle(self, event: Event) -> Result<(Self, Vec<Effect>), IllegalEvent> {
        let stepping = Self::Stepping { looked: false, stopping: false };
        let stop = |reason| Ok((Self::Stopped, vec![Effect::Stop(reason)]));
        match (self, event) {
            (Self::New, Event::Started) | (Self::Waiting, Event::Wake) => Ok((stepping, vec![Effect::Step])),
            (Self::New, Event::Interrupted) | (Self::Waiting, Event::Interrupted) => stop(StopReason::Interrupted),
            (Self::Stepping { stopping, .. }, Event::Wake) => Ok((Self::Stepping { looked: true, stopping }, Vec::new())),
            (Self::Stepping { looked, .. }, Event::Interrupted) => {
                Ok((Self::Stepping { looked, stopping: true }, Vec::new()))
            }
            (Self::Stepping { looked, stopping }, Event::StepEnded(class)) => match class {
                StepClass::Halted => stop(StopReason::Halted),
                _ if stopping => stop(StopReason::Interrupted),
                StepClass::NothingReady if !looked => stop(StopReason::NothingReady),
                StepClass::Waiting if !looked => Ok((Self::Waiting, vec![Effect::Wait])),
                StepClass::Dispatched | StepClass::Waiting | StepClass::NothingReady => {
                    Ok((stepping, vec![Effect::Step]))
                }
            },
            (Self::Stopped, Event::Wake | Event::Interrupted) => Ok((Self::Stopped, Vec::new())),
            (Self::New, Event::StepEnded(_) | Event::Wake)
            | (Self::Waiting, Event::Started | Event::StepEnded(_))
            | (Self::Stepping { .. }, Event::Started)
            | (Self::Stopped, Event::Started | Event::StepEnded(_)) => Err(IllegalEvent { event, state: self }),
        }
    }
}
