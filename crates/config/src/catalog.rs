//! Catalogs: lists of entries by id, merged from the four layers (`contract/core.md §13.2`).
//!
//! The text is a small part of YAML: sections at the margin, `  - id: X` below them, fields at four blanks, and whatever
//! is indented deeper goes on with the field above it. Fields are carried as they are written; nobody here reads them.

use core::fmt::Write as _;

use crate::layer::Layer;
use crate::message::{Warning, shown};

/// What the host found for one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogReading {
    /// The layer.
    pub layer: Layer,
    /// The file, for messages.
    pub path: String,
    /// Its bytes, or why it cannot be read; a layer without a file has no reading.
    pub source: Result<Vec<u8>, String>,
}

/// One entry of the merged catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its id.
    pub id: String,
    /// The layer whose fields it has.
    pub layer: Layer,
    section: String,
    /// The lines below the id, as written.
    fields: Vec<String>,
}

/// The merged catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    /// The entries in the order in which their ids were first seen.
    pub entries: Vec<CatalogEntry>,
}

/// Why there is no catalog: a layer that may not be broken is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the {layer} catalog: {place}: {reason}")]
pub struct CatalogError {
    /// The layer.
    pub layer: Layer,
    /// The file, with `:line` where one line is meant.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

/// Returns whether the text is a catalog's name: at most 64 of a-z, 0-9 and '-', not starting with '-'.
#[must_use]
pub fn is_catalog_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(is_plain)
}

/// Returns the relative path of a catalog below the root of its layer's overlay.
#[must_use]
pub fn relative_path(layer: Layer, name: &str) -> String {
    match layer {
        Layer::Core => format!("config/{name}.yaml"),
        Layer::Adopter | Layer::RepositoryTracked => format!("catalogs/{name}.yaml"),
        Layer::MachineLocal => format!("catalogs.local/{name}.yaml"),
    }
}

/// Returns the merged catalog and what was skipped.
///
/// # Errors
/// When the core's or the repository's file cannot be read, holds no entry, or supersedes an entry that is not there.
pub fn merge(mut readings: Vec<CatalogReading>) -> Result<(Catalog, Vec<Warning>), CatalogError> {
    readings.sort_by_key(|reading| reading.layer);
    let mut catalog = Catalog::default();
    let mut warnings = Vec::new();
    for CatalogReading { layer, path, source } in readings {
        let parsed = source.and_then(|bytes| parse(&bytes));
        let (entries, strays) = match parsed {
            Ok(parsed) => parsed,
            Err(reason) if may_break(layer) => {
                warnings.push(Warning {
                    layer,
                    message: format!("the {layer} catalog is skipped: {reason}"),
                    remedy: format!("mend {path}, or remove it"),
                    place: path,
                });
                continue;
            }
            Err(reason) => {
                let place = path;
                return Err(CatalogError { layer, place, reason });
            }
        };
        warnings.extend(strays.into_iter().map(|line| Warning {
            layer,
            place: format!("{path}:{line}"),
            message: "the line is ignored: it is no section, entry or field".to_owned(),
            remedy: "write it as `section:`, `  - id: name` or `    field: value`, or remove it".to_owned(),
        }));
        for entry in entries {
            lay_over(&mut catalog, layer, &path, entry, &mut warnings)?;
        }
    }
    Ok((catalog, warnings))
}

/// The adopter's and the machine's files are somebody's own; the others are everybody's.
fn may_break(layer: Layer) -> bool {
    match layer {
        Layer::Core | Layer::RepositoryTracked => false,
        Layer::Adopter | Layer::MachineLocal => true,
    }
}

fn lay_over(
    catalog: &mut Catalog,
    layer: Layer,
    path: &str,
    parsed: ParsedEntry,
    warnings: &mut Vec<Warning>,
) -> Result<(), CatalogError> {
    let ParsedEntry {
        line,
        section,
        id,
        fields,
        supersedes,
    } = parsed;
    let place = format!("{path}:{line}");
    let there = catalog.entries.iter_mut().find(|entry| entry.id == id);
    let (message, remedy) = match (there, supersedes) {
        (Some(there), true) => {
            (there.layer, there.fields) = (layer, fields);
            return Ok(());
        }
        (None, false) => {
            catalog.entries.push(CatalogEntry {
                id,
                layer,
                section,
                fields,
            });
            return Ok(());
        }
        (Some(there), false) => (
            format!(
                "the entry {} is skipped: the {} layer has one of that id",
                shown(&id),
                there.layer
            ),
            "add `    supersede: true` to replace that one, or choose another id",
        ),
        (None, true) => (
            format!(
                "the entry {} is skipped: it supersedes one that is not there",
                shown(&id)
            ),
            "remove its `supersede: true`, or correct its id",
        ),
    };
    if supersedes && !may_break(layer) {
        let reason = message;
        return Err(CatalogError { layer, place, reason });
    }
    warnings.push(Warning {
        layer,
        place,
        message,
        remedy: remedy.to_owned(),
    });
    Ok(())
}

struct ParsedEntry {
    line: usize,
    section: String,
    id: String,
    fields: Vec<String>,
    supersedes: bool,
}

/// Returns the entries of one file, and the lines that are none of them.
fn parse(bytes: &[u8]) -> Result<(Vec<ParsedEntry>, Vec<usize>), String> {
    let text = core::str::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text".to_owned())?;
    if text.contains('\0') {
        return Err("the file holds a NUL byte".to_owned());
    }
    let mut entries: Vec<ParsedEntry> = Vec::new();
    let mut strays = Vec::new();
    let mut section: Option<String> = None;
    let mut is_inside = false;
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let number = index.saturating_add(1);
        let line = line.trim_end();
        if line.is_empty() || line.trim_start().starts_with('#') || matches!(line, "---" | "...") {
            continue;
        }
        if let Some(name) = section_name(line) {
            section = Some(name.to_owned());
            is_inside = false;
        } else if let (Some(section), Some(id)) = (&section, line.strip_prefix("  - id:").and_then(scalar)) {
            is_inside = true;
            entries.push(ParsedEntry {
                line: number,
                section: section.clone(),
                id,
                fields: Vec::new(),
                supersedes: false,
            });
        } else if let Some(entry) = entries.last_mut().filter(|_| is_inside && line.starts_with("    ")) {
            match line.strip_prefix("    supersede:").and_then(scalar) {
                Some(word) => entry.supersedes = word == "true",
                None => entry.fields.push(line.to_owned()),
            }
        } else {
            is_inside = is_inside && line.starts_with(' ');
            strays.push(number);
        }
    }
    if entries.is_empty() {
        return Err("it holds no entry; an entry starts with `  - id: name` below a section".to_owned());
    }
    Ok((entries, strays))
}

/// Returns the name of a line that is `name:` and nothing more.
fn section_name(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(':')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let rest = rest.trim_start();
    (is_name && (rest.is_empty() || rest.starts_with('#'))).then_some(name)
}

/// Returns a scalar without its comment and quotes; none when nothing is left.
fn scalar(text: &str) -> Option<String> {
    let text = text.split_once(" #").map_or(text, |(before, _)| before).trim();
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text);
    (!unquoted.is_empty()).then(|| unquoted.to_owned())
}

impl Catalog {
    /// Returns the catalog as the text it was made from: sections and ids in the order first seen. Nothing for none.
    #[must_use]
    pub fn render(&self) -> String {
        let mut sections: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !sections.contains(&entry.section.as_str()) {
                sections.push(&entry.section);
            }
        }
        let mut text = String::new();
        for section in sections {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{section}:");
            for entry in self.entries.iter().filter(|entry| entry.section == section) {
                let _ = writeln!(text, "  - id: {}", entry.id);
                for field in &entry.fields {
                    let _ = writeln!(text, "{field}");
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
