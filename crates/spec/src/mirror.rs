//! What the header blocks of the four files must say and agree on (`contract/core.md §1.2, §2.2, §2.3`, checks 3 to 12
//! without 8).

use crate::bundle::{FormatVersion, Status};
use crate::check::Check;
use crate::diagnostic::{Findings, Spot};
use crate::header::{Lookup, visible};
use crate::source::Source;

/// What the header blocks say of the whole bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// `Draft` when none is declared, `None` when the declared one is in no vocabulary.
    pub(crate) status: Option<Status>,
    /// The status as declared; what the other files must mirror.
    status_text: String,
    /// `None` when nothing usable is declared.
    pub(crate) version: Option<FormatVersion>,
}

/// Returns what the header blocks say, and adds a finding for everything that they get wrong.
pub(crate) fn check(sources: &[Source<'_>; 4], findings: &mut Findings) -> Resolved {
    let resolved = resolve(sources, findings);
    let [requirements, siblings @ ..] = sources;
    if resolved.status == Some(Status::Superseded) {
        check_superseded_by(requirements, findings);
    }
    let declared_version = value(requirements, "Format-version");
    for sibling in siblings.iter().filter(|sibling| !sibling.is_missing) {
        check_status_mirror(sibling, &resolved.status_text, findings);
        if let Some(version) = declared_version.as_ref() {
            check_version_mirror(sibling, version, findings);
        }
    }
    check_vocabulary(requirements, &resolved, findings);
    if resolved.version == Some(FormatVersion::Two) {
        for source in sources.iter().filter(|source| !source.is_missing && !source.is_refused) {
            check_execution(source, findings);
        }
    }
    resolved
}

/// Returns the status that the header blocks resolve to, without findings; `None` when it is in no vocabulary.
pub(crate) fn status_of(sources: &[Source<'_>; 4]) -> Option<Status> {
    resolve(sources, &mut Findings::default()).status
}

/// Returns the status as declared, `Draft` when none is; without findings.
pub(crate) fn status_text(sources: &[Source<'_>; 4]) -> String {
    resolve(sources, &mut Findings::default()).status_text
}

/// Returns the text of a load-bearing key, nothing when the file declares none or more than one.
fn value(source: &Source<'_>, key: &str) -> Option<String> {
    match source.header.load_bearing(key) {
        Lookup::One(entry) => Some(entry.value.clone()),
        Lookup::Missing | Lookup::Duplicate(_) => None,
    }
}

/// As [`value`]; a second declaration is a finding.
fn read(source: &Source<'_>, key: &str, findings: &mut Findings) -> Option<String> {
    if let Lookup::Duplicate(line) = source.header.load_bearing(key) {
        let message = format!(
            "{}: unparseable {key}: declaration (more than one in-header declaration, the second at line {line})",
            source.file
        );
        findings.add(
            Check::HeaderDuplicate,
            Spot::line(source.file, line),
            message,
            "keep one declaration",
        );
    }
    value(source, key)
}

fn resolve(sources: &[Source<'_>; 4], findings: &mut Findings) -> Resolved {
    let [requirements, siblings @ ..] = sources;
    let (status, version) = if requirements.is_missing {
        let status = siblings.iter().find_map(|sibling| value(sibling, "Status"));
        (status, agreed_version(requirements, siblings, findings))
    } else {
        let version = read(requirements, "Format-version", findings);
        check_version(version.as_deref(), requirements, findings);
        let status = read(requirements, "Status", findings);
        if status.is_none() {
            findings.add(
                Check::StatusMissing,
                requirements.spot(),
                "missing Status: header (defaulting to Draft)".to_owned(),
                "write `**Status:** Draft` in the header block, below the title",
            );
        }
        (status, version)
    };
    let status_text = status.unwrap_or_else(|| Status::Draft.name().to_owned());
    Resolved {
        status: Status::from_name(&status_text),
        status_text,
        version: match version.as_deref() {
            Some("1") => Some(FormatVersion::One),
            Some("2") => Some(FormatVersion::Two),
            Some(_) | None => None,
        },
    }
}

/// Returns the version that the files declare where `requirements.md` is missing.
fn agreed_version(requirements: &Source<'_>, siblings: &[Source<'_>], findings: &mut Findings) -> Option<String> {
    let declared: Vec<(&Source<'_>, String)> = siblings
        .iter()
        .filter_map(|sibling| Some((sibling, value(sibling, "Format-version")?)))
        .collect();
    let Some(((first, version), others)) = declared.split_first() else {
        check_version(None, requirements, findings);
        return None;
    };
    if others.iter().all(|(_, other)| other == version) {
        check_version(Some(version), first, findings);
        return Some(version.clone());
    }
    let shown: Vec<String> = declared
        .iter()
        .map(|(sibling, version)| format!("{}: {version}", sibling.file))
        .collect();
    let message = format!(
        "conflicting Format-version declarations across sibling files ({})",
        shown.join(", ")
    );
    findings.add(
        Check::VersionConflict,
        first.spot(),
        message,
        "restore requirements.md, or declare one version in all files",
    );
    None
}

fn check_version(version: Option<&str>, source: &Source<'_>, findings: &mut Findings) {
    const HELP: &str = "declare `**Format-version:** 2` once, in the header block at the top of every file";
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let message = match version {
        Some("1" | "2") => return,
        None | Some("") => "missing or empty Format-version: declaration (expected 1 or 2)".to_owned(),
        Some(value) if is_number(value) => format!("unsupported format-version: {value} (1 and 2 are supported)"),
        Some(value) => format!("unparseable format-version: {value} (expected 1 or 2)"),
    };
    findings.add(Check::FormatVersion, key_spot(source, "Format-version"), message, HELP);
}

/// Returns the place of a key's value, or of the file.
fn key_spot(source: &Source<'_>, key: &str) -> Spot {
    let Lookup::One(entry) = source.header.load_bearing(key) else {
        return source.spot();
    };
    let index = usize::try_from(entry.line).unwrap_or(usize::MAX).saturating_sub(1);
    let span = source.text.lines().nth(index).map(|line| {
        let value = line.text.split_once(":**").map_or("", |(_, value)| value);
        line.tail(value)
    });
    span.map_or_else(
        || Spot::line(source.file, entry.line),
        |span| Spot::span(source.file, span),
    )
}

fn check_superseded_by(requirements: &Source<'_>, findings: &mut Findings) {
    let has_pointer = requirements
        .text
        .lines()
        .any(|line| !line.fenced && line.text.starts_with("**Superseded-by:**"));
    if !has_pointer {
        findings.add(
            Check::SupersededBy,
            key_spot(requirements, "Status"),
            "Superseded status requires a **Superseded-by:** pointer".to_owned(),
            "write `**Superseded-by:** specs/<spec>/`",
        );
    }
}

fn check_status_mirror(sibling: &Source<'_>, expected: &str, findings: &mut Findings) {
    let message = match read(sibling, "Status", findings) {
        Some(found) if found == expected => return,
        Some(found) => format!(
            "{}: Status mirror mismatch: {found} (requirements.md resolves {expected})",
            sibling.file
        ),
        None => format!("{}: missing Status: header (mirror of requirements.md)", sibling.file),
    };
    findings.add(
        Check::MirrorStatus,
        key_spot(sibling, "Status"),
        message,
        &format!("write `**Status:** {expected}`"),
    );
}

fn check_version_mirror(sibling: &Source<'_>, expected: &str, findings: &mut Findings) {
    let message = match read(sibling, "Format-version", findings) {
        Some(found) if found == expected => return,
        Some(found) => format!(
            "{}: Format-version mirror mismatch: {found} (requirements.md declares {expected})",
            sibling.file
        ),
        None => format!(
            "{}: missing Format-version: header (requirements.md declares {expected})",
            sibling.file
        ),
    };
    findings.add(
        Check::MirrorVersion,
        key_spot(sibling, "Format-version"),
        message,
        &format!("write `**Format-version:** {expected}`"),
    );
}

fn check_vocabulary(requirements: &Source<'_>, resolved: &Resolved, findings: &mut Findings) {
    const STORED: &str = "Draft, Ready, Retired or Superseded";
    let is_two = resolved.version == Some(FormatVersion::Two);
    let spot = key_spot(requirements, "Status");
    match resolved.status {
        Some(status @ (Status::Active | Status::Done)) if is_two => {
            let message = format!("stored status {status} is derived in format-version 2 (store {STORED})");
            findings.add(
                Check::StatusDerived,
                spot,
                message,
                "store `**Status:** Ready`: the rest is derived",
            );
        }
        Some(_) => {}
        None => {
            let known = if is_two {
                STORED
            } else {
                "Draft, Ready, Active, Done, Retired or Superseded"
            };
            let message = format!("unknown status: {} (expected {known})", resolved.status_text);
            findings.add(Check::StatusUnknown, spot, message, "write one of these");
        }
    }
}

/// The line that version 2 has in every header (`contract/core.md §1.2`).
pub(crate) const EXECUTION: &str = "**Execution:** derived — see the status render";

fn check_execution(source: &Source<'_>, findings: &mut Findings) {
    let mut other = None;
    for line in source.text.lines().filter(|line| !line.fenced) {
        if line.text == EXECUTION {
            return;
        }
        if line.text.starts_with("**Execution:**") {
            other.get_or_insert(line);
        }
    }
    let help = format!("write `{EXECUTION}` below Format-version");
    let Some(line) = other else {
        let message = format!(
            "{}: missing **Execution:** pointer line (format-version 2 header)",
            source.file
        );
        findings.add(Check::ExecutionMissing, source.spot(), message, &help);
        return;
    };
    let value = line.text.strip_prefix("**Execution:**").unwrap_or_default();
    let message = format!(
        "{}: non-canonical **Execution:** pointer line: {} (compared byte by byte)",
        source.file,
        visible(value.trim().as_bytes())
    );
    findings.add(
        Check::ExecutionLine,
        Spot::span(source.file, line.visible()),
        message,
        &help,
    );
}
