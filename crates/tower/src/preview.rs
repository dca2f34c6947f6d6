//! What the next step would take, and what it would set aside, for people to see. Decides as the step does, and writes
//! nothing.

use std::collections::BTreeMap;

use orchestrate_core::identifier::Unit;
use orchestrate_core::plan::NoDispatch;
use orchestrate_core::select::Choice;
use orchestrate_core::world::World;

use crate::fitness::{Situation, choose};
use crate::step::{StepRequest, Survey};

/// What a step would do with what is ready.
#[derive(Debug)]
pub struct Preview {
    /// What it would take; nothing where nothing is ready, or all of it is set aside.
    pub next: Option<Choice>,
    /// The ready units that it could not take, each with what stands in its way.
    pub set_aside: BTreeMap<Unit, NoDispatch>,
}

/// Returns what a step would do that finds the signed content at this anchor.
#[must_use]
pub fn preview(world: &dyn World, request: &StepRequest, survey: &Survey, signed: &str) -> Preview {
    let Survey { graph, state, evidence } = survey;
    let situation = Situation {
        request,
        graph,
        state,
        evidence,
        signed,
    };
    match choose(world, &situation) {
        Ok(chosen) => Preview {
            next: Some(chosen.intent.choice),
            set_aside: chosen.set_aside,
        },
        // At the cap, or while another tower is at work, this is what would be next.
        Err(refusal) if refusal.set_aside.is_empty() => Preview {
            next: request.next(graph, state),
            set_aside: BTreeMap::new(),
        },
        Err(refusal) => Preview {
            next: None,
            set_aside: refusal.set_aside,
        },
    }
}
