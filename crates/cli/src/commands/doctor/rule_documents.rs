//! The overlays of rule documents beside the built-in ones: which are the same, which fell behind, which nobody reads.

use camino::Utf8Path;
use orchestrate_config::Layer;
use orchestrate_config::doctrine::comparison::{self, Comparison};
use orchestrate_config::doctrine::{self, DocumentName, DocumentReading, DocumentSource};
use orchestrate_host::overlay;
use orchestrate_host::shell::word;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::Surroundings;

/// No overlay has more documents; what lies beyond is named and not read.
const MOST_FILES: usize = 500;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    Looked::new("the overlays beside the built-in rule documents", found(surroundings))
}

fn found(surroundings: &Surroundings<'_>) -> Vec<Finding> {
    let layers = surroundings.layers;
    let installed: Vec<String> = layers
        .installed_doctrine()
        .iter()
        .flat_map(|directory| overlay::names(directory).unwrap_or_default())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .collect();
    let places = [
        (Layer::MachineLocal, "doctrine.local"),
        (Layer::RepositoryTracked, "doctrine"),
        (Layer::Adopter, "doctrine"),
    ];
    let mut findings = Vec::new();
    for (layer, directory) in places {
        if let Some(root) = layers.root(layer) {
            findings.extend(in_directory(layers, layer, &root.join(directory), &installed));
        }
    }
    findings
}

fn in_directory(
    layers: &crate::layers::Layers<'_>,
    layer: Layer,
    directory: &Utf8Path,
    installed: &[String],
) -> Vec<Finding> {
    let names = match overlay::names(directory) {
        Ok(names) => names,
        Err(why) => {
            return vec![Finding {
                weight: Weight::Fault,
                place: directory.to_string(),
                problem: format!("the directory cannot be listed: {why}"),
                mend: Mend::ByHand(format!("make {directory} a directory that can be read, or remove it")),
            }];
        }
    };
    let mut findings = Vec::new();
    let visible = names.iter().filter(|name| !name.starts_with('.'));
    for name in visible.clone().take(MOST_FILES) {
        let path = directory.join(name);
        let document = name.strip_suffix(".md").map(DocumentName::parse);
        let Some(Ok(document)) = document else {
            let stem = name.split('.').next().unwrap_or(name);
            findings.push(orphan(&path, comparison::nearest(stem)));
            continue;
        };
        let reading = layers
            .document(&document)
            .into_iter()
            .find(|reading| reading.layer == layer);
        findings.extend(reading.and_then(|reading| of_document(&document, reading, installed)));
    }
    if visible.count() > MOST_FILES {
        findings.push(Finding {
            weight: Weight::Fault,
            place: directory.to_string(),
            problem: format!("only the first {MOST_FILES} files were looked at"),
            mend: Mend::ByHand("move what is no rule document out of the directory".to_owned()),
        });
    }
    findings
}

fn of_document(name: &DocumentName, reading: DocumentReading, installed: &[String]) -> Option<Finding> {
    let path = reading.path.clone();
    let bytes = match &reading.source {
        DocumentSource::Bytes(bytes) => bytes.clone(),
        DocumentSource::Absent | DocumentSource::Unreadable(_) | DocumentSource::Escapes => Vec::new(),
    };
    let fault = |problem: String, mend: String| {
        let (weight, place) = (Weight::Fault, path.clone());
        Some(Finding {
            weight,
            place,
            problem,
            mend: Mend::ByHand(mend),
        })
    };
    // The one who reads it on a dispatch says whether it can be read.
    let purpose = doctrine::purpose_on_dispatch(name);
    match doctrine::resolve(name, purpose, vec![reading]) {
        Err(error) => return fault(error.to_string(), error.hint()),
        Ok((document, warnings)) if document.path.is_none() => {
            let warning = warnings.into_iter().next()?;
            return fault(warning.message, warning.remedy);
        }
        Ok(_) => {}
    }
    let noted = comparison::note(name).unwrap_or_default();
    let compare = format!(
        "compare it with the file that `orchestrate plumbing resolve-rule-doc --built-in {name}` prints, and write the \
         line `{noted}` into it; or remove it"
    );
    match comparison::compare(name, &bytes, installed) {
        Comparison::Compared | Comparison::Foreign => None,
        Comparison::Same => Some(Finding {
            weight: Weight::Note,
            problem: "it is the built-in text, and would hide a newer one".to_owned(),
            mend: remove(&path),
            place: path,
        }),
        Comparison::Older { release } => Some(Finding {
            weight: Weight::Fault,
            problem: format!("it is the built-in text of {release}, which has changed since"),
            mend: remove(&path),
            place: path,
        }),
        Comparison::Outdated { hash, release } => {
            let of = release.map(|release| format!(" of {release}")).unwrap_or_default();
            fault(
                format!("it was compared with the built-in text {hash}{of}, which has changed since"),
                compare,
            )
        }
        Comparison::Differs => fault(
            "it differs from the built-in text, and does not say which one it was compared with".to_owned(),
            compare,
        ),
        Comparison::Orphan { near } => Some(orphan(Utf8Path::new(&path), near)),
    }
}

fn remove(path: &str) -> Mend {
    Mend::command(format!("rm {}", word(path)))
}

fn orphan(path: &Utf8Path, near: Option<&str>) -> Finding {
    let (weight, problem, mend) = match near {
        Some(near) => (
            Weight::Fault,
            format!("no rule document has this name: did you mean {near}.md?"),
            Mend::ByHand(format!("rename it to {near}.md, or remove it")),
        ),
        None => (
            Weight::Note,
            "no rule document of orchestrate has this name, so a dispatch does not read it".to_owned(),
            Mend::provided("unless something else reads it", format!("rm {}", word(path.as_str()))),
        ),
    };
    Finding {
        weight,
        place: path.to_string(),
        problem,
        mend,
    }
}
