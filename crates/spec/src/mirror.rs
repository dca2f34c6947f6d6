//! What the header blocks of the four files must agree on (`contract/core.md §1.2, §2.3`).

use crate::bundle::Status;
use crate::diagnostic::{Findings, quoted};
use crate::header::{Header, Lookup};
use crate::text::Text;
use crate::{BundleFile, BundleTexts};

/// A decoded file with its header block.
pub(crate) struct Source<'a> {
    pub(crate) file: BundleFile,
    pub(crate) text: Text<'a>,
    pub(crate) header: Header,
}

/// Returns the four decoded files, or findings about those that cannot be decoded.
pub(crate) fn decode<'a>(texts: &'a BundleTexts, findings: &mut Findings<'_>) -> Option<[Source<'a>; 4]> {
    let mut sources = Vec::new();
    for (file, bytes) in texts.files() {
        match crate::text::read(bytes) {
            Ok(text) => {
                let header = crate::header::parse(text.source.as_bytes());
                sources.push(Source { file, text, header });
            }
            Err(unreadable) => {
                let message = format!("cannot read the file as text: it holds {}", unreadable.what);
                findings.add(
                    "not-text",
                    (file, Some(unreadable.line)),
                    message,
                    "store the file as UTF-8 text",
                );
            }
        }
    }
    sources.try_into().ok()
}

/// Returns whether the bundle is of format version 2; if not, that is a finding.
pub(crate) fn check_version(requirements: &Source<'_>, findings: &mut Findings<'_>) -> bool {
    const HELP: &str = "declare `**Format-version:** 2` once, in the header block at the top of every file";
    let whole = (requirements.file, None);
    match requirements.header.load_bearing("Format-version") {
        Lookup::One(entry) if entry.value == "2" => return true,
        Lookup::One(entry) => {
            let place = (requirements.file, Some(entry.line));
            let is_number = !entry.value.is_empty() && entry.value.bytes().all(|byte| byte.is_ascii_digit());
            match entry.value.as_str() {
                "1" => findings.add(
                    "format-version",
                    place,
                    "format version 1 is not read yet".to_owned(),
                    "migration to version 2 comes with a later release; until then use a version 2 bundle",
                ),
                "" => findings.add(
                    "format-version",
                    place,
                    "the Format-version declaration is empty".to_owned(),
                    HELP,
                ),
                value if is_number => findings.add(
                    "format-version",
                    place,
                    format!("format version {} is not supported", quoted(value)),
                    HELP,
                ),
                value => findings.add(
                    "format-version",
                    place,
                    format!("{} is not a format version", quoted(value)),
                    HELP,
                ),
            }
        }
        Lookup::Missing => findings.add(
            "format-version",
            whole,
            "there is no Format-version in the header block".to_owned(),
            HELP,
        ),
        Lookup::Duplicate(line) => {
            findings.add(
                "header-duplicate",
                (requirements.file, Some(line)),
                "Format-version is declared a second time".to_owned(),
                HELP,
            );
        }
    }
    false
}

/// Returns the bundle's stored status, and adds a finding for everything that the header blocks get wrong.
pub(crate) fn check(sources: &[Source<'_>; 4], findings: &mut Findings<'_>) -> Option<Status> {
    let [requirements, siblings @ ..] = sources;
    for source in sources {
        if let Some(line) = source.text.open_fence {
            let message = "the code fence that opens here is never closed".to_owned();
            findings.add(
                "open-fence",
                (source.file, Some(line)),
                message,
                "close it with three backticks in column 0",
            );
        }
    }
    for source in siblings {
        for key in ["Status", "Format-version"] {
            if let Lookup::Duplicate(line) = source.header.load_bearing(key) {
                let message = format!("{key} is declared a second time in the header block");
                findings.add(
                    "header-duplicate",
                    (source.file, Some(line)),
                    message,
                    "keep one declaration",
                );
            }
        }
    }
    let status = stored_status(requirements, findings)?;
    match status {
        Status::Ready => {
            for source in siblings {
                check_mirror(source, "Status", status.name(), findings);
                check_mirror(source, "Format-version", "2", findings);
            }
            for source in sources {
                check_execution(source, findings);
            }
        }
        Status::Superseded => check_superseded_by(requirements, findings),
        // Gaps of these are warnings, which nobody reads yet (`contract/core.md §2.2`).
        Status::Draft | Status::Active | Status::Done | Status::Retired => {}
    }
    Some(status)
}

fn stored_status(requirements: &Source<'_>, findings: &mut Findings<'_>) -> Option<Status> {
    const HELP: &str = "declare one of Draft, Ready, Retired, Superseded as `**Status:** …` in the header block";
    let entry = match requirements.header.load_bearing("Status") {
        Lookup::One(entry) => entry,
        Lookup::Missing => {
            findings.add(
                "status",
                (requirements.file, None),
                "there is no Status in the header block".to_owned(),
                HELP,
            );
            return None;
        }
        Lookup::Duplicate(line) => {
            let message = "Status is declared a second time in the header block".to_owned();
            findings.add(
                "header-duplicate",
                (requirements.file, Some(line)),
                message,
                "keep one declaration",
            );
            return None;
        }
    };
    let place = (requirements.file, Some(entry.line));
    match Status::from_name(&entry.value) {
        Some(Status::Active | Status::Done) => {
            let message = format!("status {} is derived in format version 2, never stored", entry.value);
            findings.add("status", place, message, HELP);
            None
        }
        Some(status @ (Status::Draft | Status::Ready | Status::Retired | Status::Superseded)) => Some(status),
        None => {
            findings.add(
                "status",
                place,
                format!("{} is not a status", quoted(&entry.value)),
                HELP,
            );
            None
        }
    }
}

fn check_mirror(source: &Source<'_>, key: &str, expected: &str, findings: &mut Findings<'_>) {
    let (line, message) = match source.header.load_bearing(key) {
        Lookup::One(entry) if entry.value == expected => return,
        // Already a finding.
        Lookup::Duplicate(_) => return,
        Lookup::One(entry) => (
            Some(entry.line),
            format!("{key} is {}, requirements.md says {expected}", quoted(&entry.value)),
        ),
        Lookup::Missing => (
            None,
            format!("there is no {key} in the header block, requirements.md says {expected}"),
        ),
    };
    findings.add(
        "header-mirror",
        (source.file, line),
        message,
        &format!("write `**{key}:** {expected}`"),
    );
}

const EXECUTION: &str = "**Execution:** derived — see the status render";

fn check_execution(source: &Source<'_>, findings: &mut Findings<'_>) {
    let mut other = None;
    for line in source.text.lines.iter().filter(|line| !line.fenced) {
        if line.text == EXECUTION {
            return;
        }
        if line.text.starts_with("**Execution:**") {
            other.get_or_insert(line);
        }
    }
    let help = format!("write `{EXECUTION}` below Format-version");
    let message = match other {
        Some(line) => format!("{} is not the execution line of format version 2", quoted(line.text)),
        None => "there is no `**Execution:**` line".to_owned(),
    };
    findings.add(
        "execution-line",
        (source.file, other.map(|line| line.number)),
        message,
        &help,
    );
}

fn check_superseded_by(requirements: &Source<'_>, findings: &mut Findings<'_>) {
    let has_pointer = requirements
        .text
        .lines
        .iter()
        .any(|line| !line.fenced && line.text.starts_with("**Superseded-by:**"));
    if !has_pointer {
        let message = "a superseded bundle does not name its successor".to_owned();
        findings.add(
            "superseded-by",
            (requirements.file, None),
            message,
            "write `**Superseded-by:** specs/<spec>/`",
        );
    }
}
