//! The validator: each of its checks once, with what it means for a draft and for a signed bundle, and the examples of the
//! contract.
#![allow(missing_docs, reason = "a test")]

mod baseline;
#[path = "../common/mod.rs"]
mod common;
mod every_check;
mod examples;
mod headers;
mod spans;

use common::{PAYLOAD, bundle_with_tasks, spec, task};
use orchestrate_spec::{BundleFile, BundleFiles, BundleTexts, Diagnostic, FileText, Severity, examine};

/// A well-formed bundle of that status, with two tasks.
fn good(status: &str) -> BundleFiles {
    let tasks = format!("## Tasks\n\n{}{}{PAYLOAD}", task("1", "none"), task("2", "1"));
    let texts = bundle_with_tasks(&tasks);
    let with_status = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .expect("text")
            .replace("**Status:** Ready", &format!("**Status:** {status}"))
            .into_bytes()
    };
    BundleFiles::from(BundleTexts {
        requirements: with_status(texts.requirements),
        design: with_status(texts.design),
        tasks: with_status(texts.tasks),
        test_spec: with_status(texts.test_spec),
    })
}

fn file(files: &mut BundleFiles, file: BundleFile) -> &mut FileText {
    match file {
        BundleFile::Requirements => &mut files.requirements,
        BundleFile::Design => &mut files.design,
        BundleFile::Tasks => &mut files.tasks,
        BundleFile::TestSpec => &mut files.test_spec,
        BundleFile::KickoffBrief => panic!("no authored file"),
    }
}

/// The files with the first `from` in one of them replaced.
fn edited(mut files: BundleFiles, name: BundleFile, from: &str, to: &str) -> BundleFiles {
    let text = file(&mut files, name);
    let FileText::Present(bytes) = text else {
        panic!("{name} is not there")
    };
    let before = String::from_utf8(bytes.clone()).expect("text");
    let after = before.replacen(from, to, 1);
    assert_ne!(before, after, "{name} does not hold {from:?}");
    *bytes = after.into_bytes();
    files
}

fn with_file(mut files: BundleFiles, name: BundleFile, text: FileText) -> BundleFiles {
    *file(&mut files, name) = text;
    files
}

fn findings(files: &BundleFiles) -> Vec<Diagnostic> {
    examine(&spec("x"), files).findings
}

/// `ERROR` or `WARN` and the message.
fn shown(finding: &Diagnostic) -> String {
    let word = match finding.severity {
        Severity::Error => "ERROR",
        Severity::Warning => "WARN",
    };
    format!("{word} {}", finding.message)
}
