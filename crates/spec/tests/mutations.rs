//! Hostile edits: whatever happens to the bytes of a bundle, no task and no dependency is lost in silence.
#![allow(missing_docs, reason = "a test")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{PAYLOAD, as_version_1, bundle_with_tasks, parse};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::anchor::{content_anchor, snapshot_anchor, whole_files_anchor};
use orchestrate_spec::brief::parse_sign_off;
use proptest::prelude::*;

/// A task of the model: its dependencies are positions of other tasks, and its noise is text that means nothing.
#[derive(Debug, Clone)]
struct Model {
    id: String,
    dependencies: Vec<String>,
    spelling: usize,
    noise: usize,
    /// The dependencies are a bullet inside the field before them.
    is_nested: bool,
}

const NOISE: [&str; 9] = [
    "",
    "Some prose, with `### Task 7 — code`.\n\n",
    "```\n### Task 90 — fenced\n- **Dependencies:** 91\n```\n\n",
    "~~~ text\n### Task 90 — fenced\n~~~\n\n",
    "<!--\n### Task 90 — hidden\n-->\n\n",
    "> ### Task 90 — quoted\n\n",
    "### Notes\n\n- a bullet\n\n",
    "#### More\n\n    indented code\n\n",
    "<!-- short --> and\n- **Note:** see **Task 1**\n\n",
];

fn indentation(model: &Model) -> &'static str {
    if model.is_nested { "  " } else { "" }
}

fn dependency_field(model: &Model) -> String {
    let ids = &model.dependencies;
    let indentation = indentation(model);
    if ids.is_empty() {
        return ["none", "None.", "none (yet)"][model.spelling % 3].to_owned();
    }
    match model.spelling {
        0 => ids.join(", "),
        1 => format!("Task {}.", ids.join(", Task ")),
        2 => format!("{} (see D-9; other 7)", ids.join("; ")),
        3 => ids.join(&format!(",\n{indentation}  ")),
        4 => format!("\n{indentation}  - {}", ids.join(&format!("\n{indentation}  - "))),
        _ => format!("{} to start", ids.join(" and ")),
    }
}

/// The sections of format version 1 that hold blocks, the candidates' twice as often.
const OLDER_SECTIONS: [&str; 6] = [
    "Forward plan",
    "Completed",
    "Forward plan",
    "In progress",
    "Awaiting input",
    "Deferred",
];

/// Every second model is one of format version 1, where each task has a section of its own.
fn render(models: &[Model]) -> BundleTexts {
    let is_older = models.len().is_multiple_of(2);
    let blocks: String = models
        .iter()
        .map(|model| {
            let section = OLDER_SECTIONS[(model.spelling + model.noise) % OLDER_SECTIONS.len()];
            let section = if is_older { format!("## {section}\n\n") } else { String::new() };
            section + &format!(
                "### Task {} — make it\n\n- **Deliverables:** one\n  more\n- **Done when:** done\n{}- **Dependencies:** {}\n- **Citations:** D-1\n- **Estimated effort:** 1 day\n\n{}",
                model.id,
                indentation(model),
                dependency_field(model),
                NOISE[model.noise],
            )
        })
        .collect();
    if is_older {
        as_version_1(bundle_with_tasks(&format!("{blocks}{PAYLOAD}")))
    } else {
        bundle_with_tasks(&format!("## Tasks\n\n{blocks}{PAYLOAD}"))
    }
}

/// Up to six tasks with ids of two kinds; a task depends only on tasks written before it, so that there is no circle.
fn models() -> impl Strategy<Value = Vec<Model>> {
    let task = (
        0_usize..2,
        proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        0_usize..6,
        0_usize..NOISE.len(),
        any::<bool>(),
    );
    proptest::collection::vec(task, 1..6).prop_map(|rows| {
        let mut models: Vec<Model> = Vec::new();
        for (number, (kind, chosen, spelling, noise, is_nested)) in rows.into_iter().enumerate() {
            let id = if kind == 0 {
                (number + 1).to_string()
            } else {
                format!("{}.5", number + 1)
            };
            let mut dependencies: Vec<String> = Vec::new();
            for index in chosen.iter().filter(|_| number > 0) {
                let chosen = models[index.index(number)].id.clone();
                if !dependencies.contains(&chosen) {
                    dependencies.push(chosen);
                }
            }
            models.push(Model {
                id,
                dependencies,
                spelling,
                noise,
                is_nested,
            });
        }
        models
    })
}

/// The edges of a bundle: each task with its dependencies.
type Edges = BTreeMap<String, Vec<String>>;

fn edges_of(texts: &BundleTexts) -> Option<Edges> {
    let bundle = parse(texts).ok()?;
    let edge = |task: &orchestrate_spec::Task| {
        (
            task.id.to_string(),
            task.dependencies
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<String>>(),
        )
    };
    Some(bundle.tasks.iter().map(edge).collect())
}

/// The tasks that selection may take.
fn candidates_of(texts: &BundleTexts) -> Option<BTreeSet<String>> {
    let graph = parse(texts).ok()?.graph();
    let open = graph.tasks.iter().filter(|task| !graph.parked.contains_key(&task.id));
    Some(open.map(|task| task.id.to_string()).collect())
}

fn line_starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(
        bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(index, _)| index + 1),
    )
}

/// The line that holds the offset, with its end.
fn line_at(bytes: &[u8], offset: usize) -> &[u8] {
    let start = line_starts(bytes)
        .take_while(|start| *start <= offset)
        .last()
        .unwrap_or(0);
    let end = bytes[start..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |end| start + end + 1);
    &bytes[start..end]
}

fn touches_section_heading(bytes: &[u8], offset: usize) -> bool {
    let ends_a_line = bytes.get(offset) == Some(&b'\n') && offset + 1 < bytes.len();
    let following = ends_a_line.then_some(offset + 1);
    [Some(offset), following]
        .into_iter()
        .flatten()
        .any(|offset| line_at(bytes, offset).starts_with(b"## "))
}

#[derive(Debug, Clone)]
enum Edit {
    Replace(u8),
    Insert(u8),
    Delete,
}

/// Bytes that mean something to Markdown more often than others.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(b"#`~*->< \t\n\r|(:.,1290_=!x\xe2\x00".to_vec()),
        any::<u8>()
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        byte().prop_map(Edit::Replace),
        byte().prop_map(Edit::Insert),
        Just(Edit::Delete)
    ]
}

fn apply(bytes: &[u8], at: usize, edit: &Edit) -> Vec<u8> {
    let mut edited = bytes.to_vec();
    match edit {
        Edit::Replace(byte) => edited[at] = *byte,
        Edit::Insert(byte) => edited.insert(at, *byte),
        Edit::Delete => {
            edited.remove(at);
        }
    }
    edited
}

/// The lines of a task's dependency field, joined; what follows its label up to the next field.
fn is_dependency_line(bytes: &[u8], offset: usize) -> bool {
    let text = String::from_utf8_lossy(&bytes[..offset]).into_owned() + "@";
    let Some(start) = text.rfind("\n- **").max(text.rfind("\n  - **")) else {
        return false;
    };
    let line = String::from_utf8_lossy(line_at(bytes, start + 1)).into_owned();
    line.trim_start().starts_with("- **Dependencies:**")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn generated_bundles_round_trip(models in models()) {
        let expected: Edges = models.iter().map(|model| (model.id.clone(), model.dependencies.clone())).collect();
        let texts = render(&models);
        prop_assert!(parse(&texts).is_ok(), "{:?}", parse(&texts));
        prop_assert_eq!(edges_of(&texts), Some(expected));
    }

    /// The model of one edit to one byte of `tasks.md`:
    ///
    /// * The bundle is refused, or it has as many tasks as before.
    /// * An id is another only when the edit touched a task's heading line.
    /// * A task's dependencies are others only when the edit touched a heading line or that task's dependency field.
    /// * A task may be selected that could not be before only when the edit touched the heading of a section, or the
    ///   line end before it.
    ///
    /// Verifies REQ-B1.5.
    #[test]
    fn one_edit_loses_nothing_in_silence(models in models(), at in any::<prop::sample::Index>(), edit in edit()) {
        let texts = render(&models);
        let before = edges_of(&texts).expect("a well-formed bundle");
        let offset = at.index(texts.tasks.len());
        let edited = BundleTexts { tasks: apply(&texts.tasks, offset, &edit), ..texts.clone() };
        let Some(after) = edges_of(&edited) else { return Ok(()) };
        prop_assert_eq!(after.len(), before.len(), "{}", String::from_utf8_lossy(&edited.tasks));
        if line_at(&texts.tasks, offset).starts_with(b"### Task ") {
            return Ok(());
        }
        let candidates = [&edited, &texts].map(candidates_of);
        if let [Some(after), Some(before)] = candidates
            && !touches_section_heading(&texts.tasks, offset)
        {
            prop_assert!(after.is_subset(&before), "{}", String::from_utf8_lossy(&edited.tasks));
        }
        prop_assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        if !is_dependency_line(&texts.tasks, offset) {
            prop_assert_eq!(after, before, "{}", String::from_utf8_lossy(&edited.tasks));
        }
    }

    /// The same for one whole line that goes, comes twice, or changes places with the next: no task is lost, and no
    /// dependency line. A heading or a dependency line that goes is noticed.
    #[test]
    fn one_line_moved_loses_nothing_in_silence(models in models(), at in any::<prop::sample::Index>(), kind in 0_usize..3) {
        let texts = render(&models);
        let before = edges_of(&texts).expect("a well-formed bundle");
        let mut lines: Vec<&[u8]> = texts.tasks.split_inclusive(|byte| *byte == b'\n').collect();
        let index = at.index(lines.len() - 1);
        let touched: Vec<u8> = [lines[index], lines[index + 1]].concat();
        match kind {
            0 => { lines.remove(index); }
            1 => lines.insert(index, lines[index]),
            _ => lines.swap(index, index + 1),
        }
        let edited = BundleTexts { tasks: lines.concat(), ..texts.clone() };
        let Some(after) = edges_of(&edited) else { return Ok(()) };
        prop_assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{}", String::from_utf8_lossy(&edited.tasks));
        // A wrapped id may go with its line, or move to the neighbouring field; a label may not.
        let start: usize = texts.tasks.split_inclusive(|byte| *byte == b'\n').take(index).map(<[u8]>::len).sum();
        if !is_dependency_line(&texts.tasks, start + 1) && !is_dependency_line(&texts.tasks, start + touched.len() - 1) {
            prop_assert_eq!(after, before, "{}", String::from_utf8_lossy(&edited.tasks));
        }
    }

    /// Verifies REQ-B1.5.
    #[test]
    fn no_bytes_make_anything_panic(models in models(), edits in proptest::collection::vec((0_usize..4, any::<prop::sample::Index>(), edit()), 1..40), brief in proptest::collection::vec(byte(), 0..400)) {
        let mut texts = render(&models);
        for (file, at, edit) in edits {
            let bytes = [&mut texts.requirements, &mut texts.design, &mut texts.tasks, &mut texts.test_spec].into_iter().nth(file).expect("a file");
            if !bytes.is_empty() {
                *bytes = apply(bytes, at.index(bytes.len()), &edit);
            }
        }
        let shown = parse(&texts).map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>());
        if let Err(found) = shown {
            prop_assert!(!found.is_empty());
            for line in found {
                prop_assert!(line.starts_with("specs/x/") && !line.chars().any(char::is_control), "{line:?}");
            }
        }
        // The older rule reads fences too, and takes whole files, so that it may hash what the newer one refuses.
        prop_assert_eq!(content_anchor(&texts).map(|anchor| anchor.len()).unwrap_or(40), 40);
        prop_assert_eq!(snapshot_anchor(&texts).map(|anchor| anchor.len()).unwrap_or(40), 40);
        prop_assert_eq!(whole_files_anchor(&texts).len(), 40);
        prop_assert!(parse_sign_off(&common::spec("x"), &[b"Anchor: ", brief.as_slice()].concat()).is_err());
    }
}
