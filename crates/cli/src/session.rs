//! What most commands need: the repository's World, the settings, and the spec that is meant.

use std::collections::BTreeMap;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use orchestrate_config::Settings;
use orchestrate_core::declaration::{Cohesion, Declarations, DeclaredBy, Preference};
use orchestrate_core::fetch::FetchTerms;
use orchestrate_core::identifier::{SpecId, UnitName, quoted};
use orchestrate_core::world::World;
use orchestrate_host::repository;
use orchestrate_host::world::RealWorld;
use orchestrate_spec::Status;
use orchestrate_tower::fetch::FetchRequest;
use orchestrate_tower::lock::{self, Held, LockRefusal};
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::StepRequest;

use crate::environment::{Environment, FetchVariables};
use crate::failure::Failure;
use crate::fetch_terms::{Caller, fetch_terms};
use crate::printer::Printer;
use crate::settings;

/// The World and the settings of one command.
pub(crate) struct Session {
    pub(crate) world: RealWorld,
    pub(crate) settings: Settings,
    /// Where this process was started; relative paths are meant from here.
    directory: Utf8PathBuf,
    /// The variables of the fetch.
    fetch: FetchVariables,
}

impl Session {
    /// Opens the repository around a directory and reads its settings. Warnings are told.
    pub(crate) fn open(environment: &Environment, start: &Utf8Path, printer: &mut Printer) -> Result<Self, Failure> {
        let world = RealWorld::open(start, environment.world_settings())?;
        let (settings, warnings) = settings::load(environment, world.repository())?;
        for warning in warnings {
            printer.talk_once(&format!("warning: {warning}"));
        }
        Ok(Self {
            world,
            settings,
            directory: environment.directory.clone(),
            fetch: environment.fetch.clone(),
        })
    }

    /// Does a person's act on a bundle under its lock.
    ///
    /// # Errors
    /// When somebody else holds it, or the act fails.
    pub(crate) fn under_lock<T>(
        &mut self,
        spec: &SpecId,
        printer: &mut Printer,
        act: impl FnOnce(&mut dyn World, Held<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let minutes = self.settings.stale_lock_threshold.value.seconds() / 60;
        let released = lock::with(&mut self.world, spec, minutes, act).map_err(busy)?;
        if let Some(fault) = released.kept {
            printer.talk(&format!("warning: {fault}"));
        }
        released.value
    }

    /// Returns the spec that is meant: the one named, else the current task branch's, else the only open one.
    pub(crate) fn resolve_spec(&self, named: Option<&str>) -> Result<SpecId, Failure> {
        match named {
            Some(text) => self.named_spec(text),
            None => self.implied_spec(),
        }
    }

    fn named_spec(&self, text: &str) -> Result<SpecId, Failure> {
        let short = text.trim_end_matches('/');
        let short = short.strip_prefix("specs/").unwrap_or(short);
        let spec = match SpecId::parse(short) {
            Ok(spec) => spec,
            Err(error) => self.spec_at(text).ok_or_else(|| {
                Failure::usage(format!("{} is {error}", quoted(text)))
                    .with_hint("name it as NAME, or by its directory specs/NAME at the top of the checkout")
            })?,
        };
        let directory = self.specs().join(spec.as_str());
        match std::fs::symlink_metadata(&directory) {
            Ok(metadata) if metadata.file_type().is_dir() => Ok(spec),
            Ok(_) => Err(Failure::failed(format!("specs/{spec} is not a real directory"))
                .with_hint("bundles are read from real directories only, never through links")),
            Err(_) => Err(self.unknown(&spec)),
        }
    }

    fn unknown(&self, spec: &SpecId) -> Failure {
        let known = self.bundles();
        let hint = match nearest(known.iter().map(SpecId::as_str), spec.as_str()) {
            Some(near) => format!("did you mean specs/{near}?"),
            None if known.is_empty() => "there is no bundle under specs/ in the primary checkout".to_owned(),
            None => format!(
                "known here: {}",
                known.iter().map(SpecId::as_str).collect::<Vec<_>>().join(", ")
            ),
        };
        Failure::usage(format!("there is no specs/{spec}")).with_hint(hint)
    }

    /// Returns the spec whose directory the text is a path to, from where this process was started: in the primary
    /// checkout, or in the checkout around here, which has the same specs.
    fn spec_at(&self, text: &str) -> Option<SpecId> {
        let is_path = text.contains('/') || text == "." || text == "..";
        if !is_path || text.trim_end_matches('/').contains("//") {
            return None;
        }
        let path = without_dots(&self.directory.join(text))?;
        let (parent, name) = (path.parent()?, path.file_name()?);
        let spec = SpecId::parse(name).ok()?;
        // The bundle's own directory is not resolved: a link in its place is refused by name.
        let parent = parent.canonicalize_utf8().ok()?;
        let here = repository::top_of(&self.directory).map(|top| top.join("specs"));
        let is_root = |root: &Utf8Path| root.canonicalize_utf8().is_ok_and(|root| root == parent);
        (is_root(&self.specs()) || here.is_some_and(|root| is_root(&root))).then_some(spec)
    }

    fn implied_spec(&self) -> Result<SpecId, Failure> {
        if let Ok(head) = self.world.repository().git.head()
            && let Ok(name) = head.name()
            && let Ok(unit) = UnitName::from_branch(name)
        {
            return Ok(unit.spec);
        }
        let known = self.bundles();
        let open = self.open_bundles();
        match (open.as_slice(), known.as_slice()) {
            // The only one there is can only be meant, whatever its status.
            ([only], _) | ([], [only]) => Ok(only.clone()),
            ([], []) => Err(
                Failure::halted("there is no bundle under specs/ in the primary checkout")
                    .with_hint("orchestrate new NAME writes one to go on from"),
            ),
            ([], several) => {
                let names: Vec<String> = several.iter().map(|spec| format!("specs/{spec}")).collect();
                Err(Failure::halted("no bundle under specs/ is open (Ready)")
                    .with_hint(format!("name the one you mean: {}", names.join(", "))))
            }
            (several, _) => {
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

    /// Returns the bundles that are open, of which none is meant more than another.
    pub(crate) fn open_bundles(&self) -> Vec<SpecId> {
        let mut known = self.bundles();
        known.retain(|spec| self.is_open(spec));
        known
    }

    fn is_open(&self, spec: &SpecId) -> bool {
        // A bundle that cannot be read is not chosen unasked; naming it says what is wrong with it.
        read_bundle(&self.world, spec).is_ok_and(|(bundle, _)| matches!(bundle.status, Status::Ready | Status::Active))
    }

    fn specs(&self) -> Utf8PathBuf {
        self.world.repository().layout.primary.join("specs")
    }

    fn bundles(&self) -> Vec<SpecId> {
        bundles_in(&self.specs())
    }

    /// Returns how origin is fetched, and what a person should be told of it.
    pub(crate) fn fetch_terms(&self, caller: Caller) -> (FetchTerms, Option<String>) {
        let configured = self.settings.dispatch_fetch_ttl.value.seconds();
        fetch_terms(caller, &self.fetch, configured)
    }

    /// Returns the request of one step on a spec.
    pub(crate) fn request(&self, spec: SpecId, dry_run: bool) -> StepRequest {
        StepRequest {
            declarations: declarations(&self.settings, &spec),
            spec,
            cap: self.settings.max_parallel_units.value,
            stale_lock_minutes: self.settings.stale_lock_threshold.value.seconds() / 60,
            stale_marker_seconds: self.settings.stale_marker_threshold.value.seconds(),
            base_branch: self.settings.base_branch.value.clone(),
            fetch: FetchRequest {
                terms: self.fetch_terms(Caller::Step).0,
                park_after: self.settings.dispatch_fetch_park_after.value,
            },
            fence: self.settings.dispatch_fence.value,
            cleanup_paused: self.settings.fleet_daemon_pause.value,
            dry_run,
            unattended: false,
            set_aside: BTreeMap::new(),
        }
    }
}

/// Returns what the keys declare about the choice of a spec's next unit.
fn declarations(settings: &Settings, spec: &SpecId) -> Declarations {
    let by = DeclaredBy::Key;
    let preferred = settings.prefer_units.value.iter().filter(|(of, _)| of == spec);
    let pairs = settings.bundle_units.value.iter().filter(|(of, _)| of == spec);
    Declarations {
        preferences: preferred
            .map(|(_, task)| Preference { task: task.clone(), by })
            .collect(),
        cohesions: pairs.map(|(_, pair)| Cohesion { pair: pair.clone(), by }).collect(),
    }
}

/// Returns the names of the bundles in a directory, accumulators and hostile names left out.
pub(crate) fn bundles_in(specs: &Utf8Path) -> Vec<SpecId> {
    let Ok(entries) = specs.read_dir_utf8() else {
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

/// Returns the name that was probably meant: the one with the fewest slips, if they are few for its length.
pub(crate) fn nearest<'a>(known: impl IntoIterator<Item = &'a str>, meant: &str) -> Option<&'a str> {
    let slips = |name: &&str| strsim::damerau_levenshtein(name, meant);
    let near = known.into_iter().min_by_key(slips)?;
    let allowed = (meant.len() / 3).clamp(1, 3);
    (slips(&near) <= allowed).then_some(near)
}

/// Returns an absolute path without `.` and `..`; nothing when it leads above the root.
fn without_dots(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut kept = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !kept.pop() {
                    return None;
                }
            }
            Utf8Component::Prefix(_) | Utf8Component::RootDir | Utf8Component::Normal(_) => kept.push(part),
        }
    }
    Some(kept)
}

/// Returns the failure of a lock that could not be taken.
fn busy(refusal: LockRefusal) -> Failure {
    match refusal {
        LockRefusal::Busy(why) => {
            let failure = Failure::failed(format!("the bundle is busy: {why}"));
            let hint = why.hint.unwrap_or_else(|| "try again when it is free".to_owned());
            failure.with_hint(hint)
        }
        LockRefusal::Fault(fault) => fault.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let near = |meant: &str| nearest(["alpha", "billing", "hello-tower"], meant);
        assert_eq!(near("alpah"), Some("alpha"));
        assert_eq!(near("biling"), Some("billing"));
        assert_eq!(near("hello-towers"), Some("hello-tower"));
        for far in ["gamma", "x", "hello", "release-notes"] {
            assert_eq!(near(far), None, "{far}");
        }
        assert_eq!(nearest([], "alpha"), None);
    }

    #[test]
    fn dots_are_resolved_by_name() {
        let plain = |path: &str| without_dots(Utf8Path::new(path)).map(Utf8PathBuf::into_string);
        assert_eq!(plain("/a/./b/../c/").as_deref(), Some("/a/c"));
        assert_eq!(plain("/a/b/."), Some("/a/b".to_owned()));
        assert_eq!(plain("/../a"), None);
    }
}
