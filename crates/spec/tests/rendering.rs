//! Real bundles, written in the canonical layout and read back.
#![allow(missing_docs, reason = "a test")]

mod common;

use std::path::Path;

use orchestrate_spec::render::{difference, render};
use orchestrate_spec::{Bundle, BundleTexts, parse_bundle};

use common::{read_texts, shared, spec};

#[test]
fn the_projects_own_bundles_come_back() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    come_back(&specs);
}

#[test]
fn real_bundles_come_back() {
    match shared() {
        Some(shared) => come_back(&shared.join("corpus")),
        None => println!("skipped: the shared corpus"),
    }
}

fn parse(name: &str, texts: &BundleTexts) -> Bundle {
    parse_bundle(&spec(name), texts).unwrap_or_else(|findings| panic!("{name}: {findings:?}"))
}

fn come_back(folder: &Path) {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is listed") {
        let path = entry.expect("an entry").path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let bundle = parse(name, &read_texts(&path));
        let written = render(&bundle).unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = parse(name, &written);
        assert_eq!(difference(&bundle, &read), None, "{name}");
        assert_eq!(render(&read), Ok(written), "{name}: the second time is the first");
        count += 1;
    }
    assert!(count > 0, "{}", folder.display());
}
