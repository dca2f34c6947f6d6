//! What the checks look at, opened once: the repository where there is one, the settings, the bundles.

use std::collections::BTreeSet;

use orchestrate_config::{Configuration, Layer, Settings};
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::place::Place;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, World};
use orchestrate_host::layout::Layout;
use orchestrate_host::world::RealWorld;
use orchestrate_tower::preflight::read_bundle;

use crate::environment::Environment;
use crate::layers::Layers;

/// What a check looks at.
pub(super) struct Surroundings<'a> {
    pub(super) environment: &'a Environment,
    pub(super) layers: &'a Layers<'a>,
    /// Nothing outside a repository, and in one that cannot be used.
    pub(super) ground: Option<Ground<'a>>,
    /// Why there is a repository that cannot be used.
    pub(super) refused: Option<&'a Fault>,
    /// Neither origin nor the forge is to be asked.
    pub(super) offline: bool,
    /// What every layer that can be read says.
    pub(super) settings: &'a Settings,
}

/// A repository that can be used.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) world: &'a RealWorld,
    pub(super) settings: &'a Settings,
    /// Its bundles.
    pub(super) specs: &'a [SpecId],
}

impl Ground<'_> {
    pub(super) fn layout(&self) -> &Layout {
        &self.world.repository().layout
    }

    /// Returns how a place is named for people: from the primary checkout on, wherever the git directory lies.
    pub(super) fn shown(&self, place: &Place) -> String {
        self.layout().shown(&self.layout().path(place))
    }

    pub(super) fn now(&self) -> Timestamp {
        self.world.now()
    }

    pub(super) fn stale_lock_minutes(&self) -> i64 {
        self.settings.stale_lock_threshold.value.seconds() / 60
    }

    /// Returns the tasks of a bundle; nothing where it cannot be read.
    pub(super) fn tasks(&self, spec: &SpecId) -> Option<BTreeSet<TaskId>> {
        let (bundle, _) = read_bundle(self.world, spec).ok()?;
        Some(bundle.graph().tasks.into_iter().map(|task| task.id).collect())
    }
}

/// Returns the settings of the layers that can be used: what is wrong with the others is a finding of its own, and the
/// other checks go on.
pub(super) fn settings(layers: &Layers<'_>) -> Result<Settings, Fault> {
    let mut left_out: Vec<Layer> = Vec::new();
    let mut last = String::new();
    for layer in [None, Some(Layer::RepositoryTracked), Some(Layer::Core)] {
        left_out.extend(layer);
        let texts = layers
            .configuration()
            .into_iter()
            .filter(|text| !left_out.contains(&text.layer))
            .collect();
        let read = Configuration::load(texts).and_then(|(configuration, _)| configuration.settings());
        match read {
            Ok((settings, _)) => return Ok(settings),
            Err(error) => last = error.to_string(),
        }
    }
    Err(Fault::new("cannot read the configuration", last))
}
