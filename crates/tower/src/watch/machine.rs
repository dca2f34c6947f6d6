//! The watch loop as a pure machine: `handle(event) -> Vec<Effect>`.
//!
//! A tick and a file event carry no data, they only say "look again"; what is true is read by the step they cause.

/// What a step amounted to, as far as the loop cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepClass {
    /// A unit was dispatched: there may be another.
    Dispatched,
    /// Something was written into the bundle, so nothing was dispatched: the next step goes on.
    Swept,
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
        let stepping = Self::Stepping {
            looked: false,
            stopping: false,
        };
        let stop = |reason| Ok((Self::Stopped, vec![Effect::Stop(reason)]));
        match (self, event) {
            (Self::New, Event::Started) | (Self::Waiting, Event::Wake) => Ok((stepping, vec![Effect::Step])),
            (Self::New, Event::Interrupted) | (Self::Waiting, Event::Interrupted) => stop(StopReason::Interrupted),
            (Self::Stepping { stopping, .. }, Event::Wake) => {
                Ok((Self::Stepping { looked: true, stopping }, Vec::new()))
            }
            (Self::Stepping { looked, .. }, Event::Interrupted) => {
                Ok((Self::Stepping { looked, stopping: true }, Vec::new()))
            }
            (Self::Stepping { looked, stopping }, Event::StepEnded(class)) => match class {
                StepClass::Halted => stop(StopReason::Halted),
                _ if stopping => stop(StopReason::Interrupted),
                StepClass::NothingReady if !looked => stop(StopReason::NothingReady),
                StepClass::Waiting if !looked => Ok((Self::Waiting, vec![Effect::Wait])),
                StepClass::Dispatched | StepClass::Swept | StepClass::Waiting | StepClass::NothingReady => {
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

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [StepClass; 5] = [
        StepClass::Dispatched,
        StepClass::Swept,
        StepClass::Waiting,
        StepClass::NothingReady,
        StepClass::Halted,
    ];

    fn events() -> Vec<Event> {
        let mut events = vec![Event::Started, Event::Wake, Event::Interrupted];
        events.extend(CLASSES.map(Event::StepEnded));
        events
    }

    fn states() -> Vec<Watch> {
        let stepping = [(false, false), (false, true), (true, false), (true, true)]
            .map(|(looked, stopping)| Watch::Stepping { looked, stopping });
        let mut states = vec![Watch::New, Watch::Waiting, Watch::Stopped];
        states.extend(stepping);
        states
    }

    /// Every pair of state and event, with what must follow: nothing is swallowed.
    /// Verifies REQ-F1.4.
    #[test]
    fn every_transition() {
        for state in states() {
            for event in events() {
                let result = state.handle(event);
                let legal = match (state, event) {
                    (Watch::New, Event::Started | Event::Interrupted) => true,
                    (Watch::New, _) => false,
                    (Watch::Waiting, Event::Wake | Event::Interrupted) => true,
                    (Watch::Waiting, _) => false,
                    (Watch::Stepping { .. }, Event::Started) => false,
                    (Watch::Stepping { .. }, _) => true,
                    (Watch::Stopped, Event::Wake | Event::Interrupted) => true,
                    (Watch::Stopped, _) => false,
                };
                assert_eq!(result.is_ok(), legal, "{state:?} {event:?}");
            }
        }
    }

    #[test]
    fn holds_caps_and_busy_locks_go_on_and_nothing_ready_or_a_halt_ends() {
        let stepping = Watch::Stepping {
            looked: false,
            stopping: false,
        };
        let effects = |class| stepping.handle(Event::StepEnded(class)).expect("legal").1;
        assert_eq!(effects(StepClass::Dispatched), [Effect::Step]);
        assert_eq!(effects(StepClass::Swept), [Effect::Step]);
        assert_eq!(effects(StepClass::Waiting), [Effect::Wait]);
        assert_eq!(
            effects(StepClass::NothingReady),
            [Effect::Stop(StopReason::NothingReady)]
        );
        assert_eq!(effects(StepClass::Halted), [Effect::Stop(StopReason::Halted)]);
    }

    #[test]
    fn a_change_during_a_step_is_looked_at_before_the_loop_sleeps_or_ends() {
        let (stepping, none) = Watch::Stepping {
            looked: false,
            stopping: false,
        }
        .handle(Event::Wake)
        .expect("legal");
        assert!(none.is_empty());
        for class in [StepClass::Waiting, StepClass::NothingReady] {
            assert_eq!(
                stepping.handle(Event::StepEnded(class)).expect("legal").1,
                [Effect::Step]
            );
        }
    }

    #[test]
    fn an_interrupt_during_a_step_ends_after_it() {
        let (stepping, _) = Watch::Stepping {
            looked: true,
            stopping: false,
        }
        .handle(Event::Interrupted)
        .expect("legal");
        let (end, effects) = stepping.handle(Event::StepEnded(StepClass::Dispatched)).expect("legal");
        assert_eq!(
            (end, effects),
            (Watch::Stopped, vec![Effect::Stop(StopReason::Interrupted)])
        );
    }
}
