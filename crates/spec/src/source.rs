//! A bundle's files, decoded: what is there, what can be read of it, and its header block (`contract/core.md §2.3`,
//! checks 1, 2, 2b and 4).

use std::borrow::Cow;

use crate::check::Check;
use crate::diagnostic::{Findings, Spot};
use crate::header::{self, Header};
use crate::text::{Decoded, Document, decode};
use crate::{BundleFile, BundleFiles, FileText, LARGEST_FILE};

/// One file's text, before its lines are looked at.
pub(crate) enum Content<'a> {
    Missing,
    /// There is a file, but its text cannot be read.
    Refused,
    Text(Cow<'a, str>),
}

/// The text of the four files.
pub(crate) struct Contents<'a>([(BundleFile, Content<'a>); 4]);

/// A file with its lines and its header block; empty when there is nothing to be read.
pub(crate) struct Source<'a> {
    pub(crate) file: BundleFile,
    pub(crate) is_missing: bool,
    /// There is a file, but its text cannot be read.
    pub(crate) is_refused: bool,
    pub(crate) text: Document<'a>,
    pub(crate) header: Header,
}

impl<'a> Source<'a> {
    /// Returns the text's lines after the header block.
    pub(crate) fn body(&self) -> impl Iterator<Item = crate::text::Line<'a>> + use<'a> {
        self.text.lines().skip(self.header.line_count)
    }

    pub(crate) fn spot(&self) -> Spot {
        Spot::file(self.file)
    }
}

/// One file's text.
pub(crate) struct OneContent<'a>(BundleFile, Content<'a>);

/// Decodes one file.
pub(crate) fn one<'a>(file: BundleFile, found: &'a FileText, findings: &mut Findings) -> OneContent<'a> {
    OneContent(file, content(file, found, findings))
}

impl OneContent<'_> {
    /// Returns the file with its lines and its header block.
    pub(crate) fn source(&self, findings: &mut Findings) -> Source<'_> {
        source(self.0, &self.1, findings)
    }
}

/// Decodes the four files.
pub(crate) fn read<'a>(files: &'a BundleFiles, findings: &mut Findings) -> Contents<'a> {
    Contents(
        files
            .files()
            .map(|(file, found)| (file, content(file, found, findings))),
    )
}

fn content<'a>(file: BundleFile, found: &'a FileText, findings: &mut Findings) -> Content<'a> {
    let bytes = match found {
        FileText::Present(bytes) => bytes,
        FileText::Missing => {
            let message = format!("missing file: {file}");
            findings.add(Check::FileMissing, Spot::file(file), message, "a bundle has four files");
            return Content::Missing;
        }
        FileText::Unreadable(cause) => {
            refuse(file, None, cause, findings);
            return Content::Refused;
        }
    };
    if bytes.len() > LARGEST_FILE {
        let message = format!(
            "{file} has {} bytes, more than the {} MiB that are read",
            bytes.len(),
            LARGEST_FILE / (1024 * 1024)
        );
        findings.add(
            Check::FileTooLarge,
            Spot::file(file),
            message,
            "keep what is not part of the specification in other files",
        );
        return Content::Refused;
    }
    if bytes.starts_with("\u{feff}".as_bytes()) {
        refuse_byte_order_mark(file, findings);
    }
    match decode(bytes) {
        Decoded::Text(text) => Content::Text(Cow::Borrowed(text)),
        Decoded::Mended(text, line) => {
            findings.add(
                Check::FileEncoding,
                Spot::line(file, line),
                "the file is not text: it holds bytes that are not UTF-8".to_owned(),
                "store the file as UTF-8 text",
            );
            Content::Text(Cow::Owned(text))
        }
        Decoded::Nul(line) => {
            refuse(file, Some(line), "it contains a NUL byte", findings);
            Content::Refused
        }
    }
}

/// The text is read all the same; but the anchor and other readers of the format take the marked line for no header
/// (`contract/core.md §1.13`).
fn refuse_byte_order_mark(file: BundleFile, findings: &mut Findings) {
    findings.add(
        Check::ByteOrderMark,
        Spot::line(file, 1),
        format!("{file} begins with a byte order mark, behind which other readers and the anchor find no header"),
        &format!("save it as UTF-8 without a byte order mark; with GNU sed: `sed -i '1s/^\\xEF\\xBB\\xBF//' {file}`"),
    );
}

fn refuse(file: BundleFile, line: Option<u32>, cause: &str, findings: &mut Findings) {
    let cause = orchestrate_core::identifier::printable(cause);
    let spot = || line.map_or_else(|| Spot::file(file), |line| Spot::line(file, line));
    findings.add(
        Check::FenceUnknown,
        spot(),
        format!("{file}: could not establish whether its code fences are balanced: {cause}"),
        "make it a readable text file",
    );
    findings.add(
        Check::HeaderUnreadable,
        spot(),
        format!("{file}: could not read the header block (the file is refused): {cause}"),
        "make it a readable text file",
    );
}

impl Contents<'_> {
    /// Returns the files with their lines and header blocks.
    pub(crate) fn sources(&self, findings: &mut Findings) -> [Source<'_>; 4] {
        self.0
            .each_ref()
            .map(|(file, content)| source(*file, content, findings))
    }
}

fn source<'a>(file: BundleFile, content: &'a Content<'_>, findings: &mut Findings) -> Source<'a> {
    let text = Document::new(match content {
        Content::Missing | Content::Refused => "",
        Content::Text(text) => text.as_ref(),
    });
    if let Some(line) = text.open_fence {
        let message = format!(
            "{file}: the code fence that opens at line {line} is never closed; the rest of the file parses as illustration"
        );
        findings.add(
            Check::FenceOpen,
            Spot::line(file, line),
            message,
            "close it with three backticks in column 0",
        );
    }
    Source {
        file,
        is_missing: matches!(content, Content::Missing),
        is_refused: matches!(content, Content::Refused),
        text,
        header: header::parse(text.source.as_bytes()),
    }
}
