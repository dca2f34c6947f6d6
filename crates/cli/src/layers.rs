//! Where the four layers lie for this run (`contract/core.md §12.1, §13.1`), and what was read there. Decides nothing.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_config::doctrine::{self, DocumentName, DocumentReading, DocumentSource, Root};
use orchestrate_config::{Layer, LayerSource, LayerText, Provenance};
use orchestrate_core::identifier::BackendName;
use orchestrate_host::overlay::{self, OverlayReading};
use orchestrate_host::repository::{self, Repository};

use crate::environment::Environment;

/// The overlays of one run.
pub(crate) struct Layers<'a> {
    environment: &'a Environment,
    /// The repository that tells which files a clone brings along; none outside one.
    repository: Option<&'a Repository>,
    /// The `.claude` directory of the checkout that the repository's layers are read from; none outside a checkout.
    pub(crate) repository_overlay: Option<Utf8PathBuf>,
    /// The adopter overlay's root, where one is set up.
    pub(crate) adopter: Option<Utf8PathBuf>,
    /// Why an adopter overlay that seems to be meant is not used.
    pub(crate) adopter_fault: Option<String>,
}

impl<'a> Layers<'a> {
    /// Returns the layers as a step reads them: those of the primary checkout.
    pub(crate) fn of_primary(environment: &'a Environment, repository: Option<&'a Repository>) -> Self {
        let top = repository.map(|repository| repository.layout.primary.clone());
        Self::of(environment, repository, top)
    }

    /// Returns the layers as the reference's scripts read them: those of the checkout that they are started in.
    pub(crate) fn of_checkout(environment: &'a Environment, repository: Option<&'a Repository>) -> Self {
        Self::of(environment, repository, repository::top_of(&environment.directory))
    }

    fn of(environment: &'a Environment, repository: Option<&'a Repository>, top: Option<Utf8PathBuf>) -> Self {
        let top = environment.repository_root.clone().or(top);
        let (adopter, adopter_fault) = match adopter_root(environment) {
            Ok(root) => (root, None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            environment,
            repository,
            repository_overlay: top.map(|top| top.join(".claude")),
            adopter,
            adopter_fault,
        }
    }

    /// Returns what the four configuration files hold, highest layer first.
    pub(crate) fn configuration(&self) -> Vec<LayerText> {
        let mut texts = Vec::new();
        let in_checkout = self.repository_overlay.as_ref();
        let local = self.environment.local_configuration.clone();
        let local = local.or_else(|| in_checkout.map(|overlay| overlay.join("planwright.local.yml")));
        texts.extend(local.map(|path| read_layer(Layer::MachineLocal, &path, self.provenance(&path))));
        texts.extend(in_checkout.map(|overlay| {
            let path = overlay.join("planwright.yml");
            read_layer(Layer::RepositoryTracked, &path, Provenance::Repository)
        }));
        texts.extend(self.adopter.as_ref().map(|adopter| {
            let path = adopter.join("planwright.yml");
            read_layer(Layer::Adopter, &path, self.provenance(&path))
        }));
        texts.extend(self.core_configuration());
        texts
    }

    fn provenance(&self, path: &Utf8Path) -> Provenance {
        match self.repository {
            Some(repository) if repository.may_track(path) => Provenance::Repository,
            // A file in a checkout that cannot be opened as a repository may be anybody's.
            None if self
                .repository_overlay
                .as_ref()
                .is_some_and(|overlay| path.starts_with(overlay)) =>
            {
                Provenance::Repository
            }
            Some(_) | None => Provenance::Machine,
        }
    }

    /// A core layer of planwright's own, where one is installed; otherwise the embedded defaults are the core.
    fn core_configuration(&self) -> Option<LayerText> {
        if let Some(path) = &self.environment.default_configuration {
            let mut text = read_layer(Layer::Core, path, Provenance::Machine);
            if text.text == LayerSource::Absent {
                text.text =
                    LayerSource::Unreadable("PLANWRIGHT_CONFIG_DEFAULTS names it and it is not there".to_owned());
            }
            return Some(text);
        }
        let installed = self
            .environment
            .core_roots
            .iter()
            .map(|root| root.join("config").join("defaults.yml"));
        installed
            .map(|path| read_layer(Layer::Core, &path, Provenance::Machine))
            .find(|text| text.text != LayerSource::Absent)
    }

    /// Returns the root of a layer's overlay; none where the layer is not there.
    pub(crate) fn root(&self, layer: Layer) -> Option<&Utf8Path> {
        match layer {
            Layer::Core => self.environment.core_roots.first().map(Utf8PathBuf::as_path),
            Layer::Adopter => self.adopter.as_deref(),
            Layer::RepositoryTracked | Layer::MachineLocal => self.repository_overlay.as_deref(),
        }
    }

    /// Returns what the overlays hold of a rule document.
    pub(crate) fn document(&self, name: &DocumentName) -> Vec<DocumentReading> {
        let candidates = doctrine::candidates(name).into_iter().filter_map(|candidate| {
            let root = match candidate.root {
                Root::Repository => self.repository_overlay.as_ref()?,
                Root::Adopter => self.adopter.as_ref()?,
            };
            Some(DocumentReading {
                layer: candidate.layer,
                path: root.join(&candidate.relative_path).into_string(),
                source: source_of(overlay::read_contained(root, &candidate.relative_path)),
            })
        });
        candidates.collect()
    }

    /// Returns what an installed planwright holds of a rule document, in the order of its places.
    pub(crate) fn installed_document(&self, name: &DocumentName) -> Vec<DocumentReading> {
        let places = self.installed_doctrine();
        let paths = places.into_iter().map(|directory| directory.join(format!("{name}.md")));
        let readings = paths.map(|path| DocumentReading {
            layer: Layer::Core,
            source: source_of(overlay::read(&path)),
            path: path.into_string(),
        });
        readings.collect()
    }

    /// Returns where an installed planwright has its rule documents.
    pub(crate) fn installed_doctrine(&self) -> Vec<Utf8PathBuf> {
        let home = self.environment.claude_directory.as_ref();
        let roots = self.environment.core_roots.iter().cloned();
        let roots = roots.chain(home.map(|home| home.join("planwright")));
        roots.map(|root| root.join("doctrine")).collect()
    }
}

fn source_of(reading: OverlayReading) -> DocumentSource {
    match reading {
        OverlayReading::Bytes(bytes) => DocumentSource::Bytes(bytes),
        OverlayReading::Absent => DocumentSource::Absent,
        OverlayReading::Unreadable(why) => DocumentSource::Unreadable(why),
        OverlayReading::Escapes => DocumentSource::Escapes,
    }
}

fn read_layer(layer: Layer, path: &Utf8Path, provenance: Provenance) -> LayerText {
    let text = match overlay::read(path) {
        OverlayReading::Bytes(bytes) => LayerSource::Bytes(bytes),
        OverlayReading::Absent => LayerSource::Absent,
        OverlayReading::Unreadable(why) => LayerSource::Unreadable(why),
        OverlayReading::Escapes => LayerSource::Unreadable("it leads outside its directory".to_owned()),
    };
    LayerText {
        layer,
        path: path.to_string(),
        provenance,
        text,
    }
}

/// Returns the adopter overlay's root, or why one that seems to be meant is not used.
fn adopter_root(environment: &Environment) -> Result<Option<Utf8PathBuf>, String> {
    if let Some(root) = &environment.adopter_overlay {
        return Ok(Some(root.clone()));
    }
    let Some(installed) = environment
        .claude_directory
        .as_ref()
        .map(|home| home.join("planwright"))
    else {
        return Ok(None);
    };
    let path = installed.join("plugin.json");
    let manifest = match overlay::read(&path) {
        OverlayReading::Bytes(manifest) => manifest,
        OverlayReading::Absent => return Ok(None),
        OverlayReading::Unreadable(why) => return Err(format!("{path}: the adopter overlay is not used: {why}")),
        OverlayReading::Escapes => return Ok(None),
    };
    let named = serde_json::from_slice::<serde_json::Value>(&manifest).ok();
    let name = named.as_ref().and_then(|manifest| manifest.get("name")?.as_str());
    match name.map(BackendName::parse) {
        Some(Ok(name)) => Ok(Some(installed.join(name.as_str()).join("overlay"))),
        Some(Err(_)) | None => Err(format!(
            "{path}: the adopter overlay is not used: \"name\" is not a name of a-z, 0-9 and '-'"
        )),
    }
}
