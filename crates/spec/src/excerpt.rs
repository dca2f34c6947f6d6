//! Findings together with the lines they are about.

use std::collections::BTreeMap;

use orchestrate_core::finding::BundleFinding;

use crate::{BundleFile, BundleFiles, Diagnostic, FileText, Severity};

/// No more characters of a line are kept than this.
const LONGEST: usize = 4096;

/// Returns the findings with the text of the lines they name, in the same order.
#[must_use]
pub fn with_excerpts(findings: &[Diagnostic], files: &BundleFiles) -> Vec<BundleFinding> {
    let mut lines: BTreeMap<(BundleFile, u32), String> = BTreeMap::new();
    let wanted = findings
        .iter()
        .filter_map(|finding| Some((finding.file, finding.line?)));
    lines.extend(wanted.map(|place| (place, String::new())));
    for (file, found) in files.files() {
        if let FileText::Present(bytes) = found {
            take_lines(file, bytes, &mut lines);
        }
    }
    let located = |finding: &Diagnostic| BundleFinding {
        file: finding.file,
        line: finding.line,
        columns: finding.columns.clone(),
        excerpt: finding
            .line
            .and_then(|line| lines.get(&(finding.file, line)))
            .filter(|text| !text.trim().is_empty())
            .cloned(),
        is_error: finding.severity == Severity::Error,
        code: finding.code,
        message: finding.message.clone(),
        help: finding.help.clone(),
    };
    findings.iter().map(located).collect()
}

/// Fills in the wanted lines of one file, in one pass over it.
fn take_lines(file: BundleFile, bytes: &[u8], lines: &mut BTreeMap<(BundleFile, u32), String>) {
    let mut wanted = lines.range_mut((file, 0)..=(file, u32::MAX)).peekable();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        match wanted.peek() {
            None => return,
            Some(((_, next), _)) if *next != number => {}
            Some(_) => {
                if let Some((_, text)) = wanted.next() {
                    *text = shown(line, number);
                }
            }
        }
    }
}

fn shown(line: &[u8], number: u32) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = if number == 1 {
        line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
    } else {
        line
    };
    // A character has at most four bytes: what is behind is never shown.
    let start = line.get(..4 * LONGEST).unwrap_or(line);
    String::from_utf8_lossy(start).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use orchestrate_core::identifier::SpecId;

    use super::*;
    use crate::{BundleTexts, Class};

    fn finding(file: BundleFile, line: Option<u32>) -> Diagnostic {
        Diagnostic {
            spec: SpecId::parse("x").expect("spec"),
            file,
            line,
            columns: None,
            class: Class::Gap,
            severity: Severity::Warning,
            message: "m".to_owned(),
            help: None,
            code: "c",
        }
    }

    fn excerpts(tasks: &[u8], findings: &[Diagnostic]) -> Vec<Option<String>> {
        let texts = BundleTexts {
            tasks: tasks.to_vec(),
            ..BundleTexts::default()
        };
        let located = with_excerpts(findings, &BundleFiles::from(texts));
        located.into_iter().map(|finding| finding.excerpt).collect()
    }

    #[test]
    fn each_finding_gets_its_line() {
        let tasks = b"\xef\xbb\xbffirst\r\nsecond\n\nlast\xff";
        let wanted = [Some(4), Some(1), None, Some(1), Some(3), Some(9)];
        let findings: Vec<Diagnostic> = wanted.map(|line| finding(BundleFile::Tasks, line)).into();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            excerpts(tasks, &findings),
            [text("last\u{fffd}"), text("first"), None, text("first"), None, None]
        );
        assert_eq!(excerpts(tasks, &[finding(BundleFile::Design, Some(1))]), [None]);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "é".repeat(LONGEST + 10);
        let found = excerpts(line.as_bytes(), &[finding(BundleFile::Tasks, Some(1))]);
        assert_eq!(found, [Some("é".repeat(LONGEST))]);
    }
}
