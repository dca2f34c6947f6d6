//! What most commands need: the repository's World, the settings, and the spec that is meant.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_config::Settings;
use orchestrate_core::identifier::{SpecId, UnitName, printable};
use orchestrate_host::world::RealWorld;
use orchestrate_spec::Status;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::StepRequest;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings;

/// The World and the settings of one command.
pub(crate) struct Session {
    pub(crate) world: RealWorld,
    pub(crate) settings: Settings,
}

impl Session {
    /// Opens the repository around a directory and reads its settings. Warnings are told.
    pub(crate) fn open(environment: &Environment, start: &Utf8Path, printer: &mut Printer) -> Result<Self, Failure> {
        let world = RealWorld::open(start, environment.world_settings())?;
        let (settings, warnings) = settings::load(environment, world.repository())?;
        for warning in warnings {
            printer.talk_once(&format!("warning: {warning}"));
        }
        Ok(Self { world, settings })
    }

    /// Returns the spec that is meant: the one named, else the current task branch's, else the only open one.
    pub(crate) fn resolve_spec(&self, named: Option<&str>) -> Result<SpecId, Failure> {
        match named {
            Some(text) => self.named_spec(text),
            None => self.implied_spec(),
        }
    }

    fn named_spec(&self, text: &str) -> Result<SpecId, Failure> {
        let short = text.strip_prefix("specs/").unwrap_or(text);
        let short = short.strip_suffix('/').unwrap_or(short);
        let spec = SpecId::parse(short).map_err(|error| {
            Failure::usage(format!("{:?} is {error}", printable(text))).with_hint("name it as specs/NAME or NAME")
        })?;
        let directory = self.specs().join(spec.as_str());
        match std::fs::symlink_metadata(&directory) {
            Ok(metadata) if metadata.file_type().is_dir() => Ok(spec),
            Ok(_) => Err(Failure::failed(format!("specs/{spec} is not a real directory"))
                .with_hint("bundles are read from real directories only, never through links")),
            Err(_) => {
                let known = self.bundles();
                let hint = if known.is_empty() {
                    "there is no bundle under specs/ in the primary checkout".to_owned()
                } else {
                    format!(
                        "known here: {}",
                        known.iter().map(SpecId::as_str).collect::<Vec<_>>().join(", ")
                    )
                };
                Err(Failure::usage(format!("there is no specs/{spec}")).with_hint(hint))
            }
        }
    }

    fn implied_spec(&self) -> Result<SpecId, Failure> {
        if let Ok(head) = self.world.repository().git.head()
            && let Ok(name) = head.name()
            && let Ok(unit) = UnitName::from_branch(name)
        {
            return Ok(unit.spec);
        }
        let open: Vec<SpecId> = self.bundles().into_iter().filter(|spec| self.is_open(spec)).collect();
        match open.as_slice() {
            [only] => Ok(only.clone()),
            [] => {
                let known: Vec<String> = self.bundles().iter().map(|spec| format!("specs/{spec}")).collect();
                let hint = if known.is_empty() {
                    "there is no bundle under specs/ in the primary checkout".to_owned()
                } else {
                    format!("name the one you mean: {}", known.join(", "))
                };
                Err(Failure::halted("no bundle under specs/ is open (Ready)").with_hint(hint))
            }
            several => {
                let names: Vec<&str> = several.iter().map(SpecId::as_str).collect();
                Err(
                    Failure::halted(format!("several bundles are open: {}", names.join(", "))).with_hint(format!(
                        "name one: orchestrate specs/{}",
                        names.first().unwrap_or(&"NAME")
                    )),
                )
            }
        }
    }

    fn is_open(&self, spec: &SpecId) -> bool {
        // A bundle that cannot be read is not chosen unasked; naming it says what is wrong with it.
        read_bundle(&self.world, spec).is_ok_and(|(bundle, _)| matches!(bundle.status, Status::Ready | Status::Active))
    }

    fn specs(&self) -> Utf8PathBuf {
        self.world.repository().layout.primary.join("specs")
    }

    /// Returns the names of the bundles, accumulators and hostile names left out.
    fn bundles(&self) -> Vec<SpecId> {
        let Ok(entries) = self.specs().read_dir_utf8() else {
            return Vec::new();
        };
        let is_bundle = |entry: &camino::Utf8DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut found: Vec<SpecId> = entries
            .filter_map(Result::ok)
            .filter(is_bundle)
            .filter_map(|entry| SpecId::parse(entry.file_name()).ok())
            .collect();
        found.sort();
        found
    }

    /// Returns the request of one step on a spec.
    pub(crate) fn request(&self, spec: SpecId, dry_run: bool) -> StepRequest {
        StepRequest {
            spec,
            cap: self.settings.max_parallel_units.value,
            stale_lock_minutes: self.settings.stale_lock_threshold.value.seconds() / 60,
            stale_marker_seconds: self.settings.stale_marker_threshold.value.seconds(),
            base_branch: self.settings.base_branch.value.clone(),
            dry_run,
        }
    }
}
