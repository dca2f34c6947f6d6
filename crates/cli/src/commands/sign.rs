//! `orchestrate sign SPEC`: a person reads a bundle and signs it. On a terminal only, and there is no other way (law L9).

use orchestrate_core::exit;
use orchestrate_core::identifier::{SpecId, TaskId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::words::count;
use orchestrate_core::world::World;
use orchestrate_host::authored::{self, Replaced, Replacement};
use orchestrate_host::specs::Baseline as EarlierState;
use orchestrate_spec::brief::{parse_sign_off, recorded_anchors};
use orchestrate_spec::template::untouched;
use orchestrate_spec::{
    Bundle, BundleFiles, BundleTexts, Diagnostic, FileText, Status, compare_with_baseline, examine, with_excerpts,
};
use orchestrate_tower::preflight::{file_text, working_files};
use orchestrate_tower::sweep::{Lifted, OF_EVERY_UNIT, written_of_every_unit};

use crate::environment::Environment;
use crate::failure::{Failure, Unreadable};
use crate::printer::Printer;
use crate::screen::Screen;
use crate::session::Session;
use crate::signing::progress;
use crate::signing::record::{Matter, Signing, obstacle};
use crate::signing::sections::{graph, sections};
use crate::signing::subject::{Baseline, Files, Purpose, Verdict, as_ready, judge};
use crate::signing::terminal::Terminal;
use crate::signing::walk::{Effect, Surroundings, Walk};
use crate::validation::{DEFAULT_REFERENCE, baseline_files};

mod keep;

/// Walks the person through the bundle.
pub(crate) fn run(spec: &str, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    if !environment.has_reader {
        return Err(Failure::usage(
            "a signature is a person's: standard input and standard output have to be a terminal",
        )
        .with_hint("run it yourself in a terminal; no flag stands in for you"));
    }
    let mut session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(Some(spec))?;
    stands_well(&session, &spec)?;
    let (found, brief) = read(&session.world, &spec)?;
    let (bundle, texts, findings) = readable(&session, environment, &spec, &found)?;
    let files = Files { texts, brief };
    let baseline = baseline(&session, &spec, files.brief.as_deref());
    let purpose = match judge(&spec, &files, &bundle.changelog, baseline) {
        Verdict::Signed(record) => {
            printer.line(&format!(
                "specs/{spec} is signed as it lies here (anchor {})",
                short(&record.anchor)
            ));
            return keep::finish(&session, &spec, keep::Signed::Before, environment, printer);
        }
        Verdict::ToSign(purpose) => purpose,
    };
    let matter = Matter {
        today: super::today(&session.world),
        title: bundle.title.clone(),
        spec: spec.clone(),
        purpose,
        untouched: untouched(&bundle, &files.texts),
        halts: halts(&session, &bundle),
        files,
    };
    if let Some(obstacle) = obstacle(&matter) {
        return Err(
            Failure::failed(format!("specs/{} cannot be signed: {}", matter.spec, obstacle.why))
                .with_hint(obstacle.remedy),
        );
    }
    let is_re_anchor = matches!(matter.purpose, Purpose::ReAnchor { .. });
    match walk(&session, &matter, &bundle, &findings)? {
        None => {
            printer.line("");
            printer.line(&format!(
                "left: nothing was written; orchestrate sign specs/{spec} goes on from here"
            ));
            Ok(exit::HALTED)
        }
        Some(signing) => {
            write(&mut session, &matter, &signing, printer)?;
            printer.line("");
            printer.line(&format!("signed specs/{spec}"));
            for task in still_parked(&bundle, &matter) {
                printer.line(&format!(
                    "task {task} stays parked for what halted every task; if that is mended: orchestrate unpark {spec} {task}"
                ));
            }
            let signed = if is_re_anchor {
                keep::Signed::ReAnchored
            } else {
                keep::Signed::Now
            };
            keep::finish(&session, &spec, signed, environment, printer)
        }
    }
}

/// Returns the tasks whose halts the signature leaves: what they say, or what was written beside it, is a person's to judge.
fn still_parked(bundle: &Bundle, matter: &Matter) -> Vec<TaskId> {
    let parked = bundle.graph().parked.into_iter();
    let of_every_unit = parked.filter(|(_, parking)| parking.note.contains(OF_EVERY_UNIT));
    of_every_unit
        .map(|(task, _)| task)
        .filter(|task| !matter.halts.iter().any(|halt| halt.task == *task))
        .collect()
}

/// Returns what halts of every task wrote that a signature ends, or that the next step writes again. Where there is no base
/// nothing was halted for it.
fn halts(session: &Session, bundle: &Bundle) -> Vec<Lifted> {
    let base = session.world.base(session.settings.base_branch.value.as_ref());
    base.map_or_else(|_| Vec::new(), |base| written_of_every_unit(bundle, &base))
}

fn short(hash: &str) -> &str {
    hash.get(..7).unwrap_or(hash)
}

/// A signature counts where the tower reads it: in the primary checkout, on a branch that is not a task's.
fn stands_well(session: &Session, spec: &SpecId) -> Result<(), Failure> {
    let repository = session.world.repository();
    let standing = repository.standing()?;
    let primary = &repository.layout.primary;
    if let Some(linked) = standing.linked {
        return Err(Failure::failed(format!(
            "{linked} is a linked worktree; bundles are read and signed in the primary checkout"
        ))
        .with_hint(format!(
            "bring the bundle there, then: cd {primary} && orchestrate sign specs/{spec}"
        )));
    }
    let branch = standing.branch.as_deref().unwrap_or_default();
    if UnitName::from_branch(branch).is_ok() {
        let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        return Err(Failure::failed(format!(
            "the checkout is on {short}, a worker's branch; a signature there would not count"
        ))
        .with_hint("git switch to the branch that the bundle belongs to"));
    }
    if let Some(operation) = standing.operation {
        return Err(
            Failure::failed(format!("git is in the middle of {operation} in {primary}"))
                .with_hint("finish it or give it up, then sign"),
        );
    }
    Ok(())
}

/// Reads the five files as they lie there.
fn read(world: &dyn World, spec: &SpecId) -> Result<(BundleFiles, Option<Vec<u8>>), Failure> {
    let place = Place::BundleFile(spec.clone(), BundleFile::KickoffBrief);
    let brief = match file_text(world.read(&place)) {
        FileText::Present(bytes) => Some(bytes),
        FileText::Missing => None,
        FileText::Unreadable(cause) => {
            return Err(
                Failure::failed(format!("cannot read {place}: {cause}")).with_hint("put a regular file there, or none")
            );
        }
    };
    Ok((working_files(world, spec), brief))
}

/// Returns the bundle as it would be signed, its texts as they lie there, and what is not an error about it.
fn readable(
    session: &Session,
    environment: &Environment,
    spec: &SpecId,
    found: &BundleFiles,
) -> Result<(Bundle, BundleTexts, Vec<Diagnostic>), Failure> {
    let texts = match found.files() {
        [
            (_, FileText::Present(requirements)),
            (_, FileText::Present(design)),
            (_, FileText::Present(tasks)),
            (_, FileText::Present(test_spec)),
        ] => BundleTexts {
            requirements: requirements.clone(),
            design: design.clone(),
            tasks: tasks.clone(),
            test_spec: test_spec.clone(),
        },
        _ => return Err(refused(spec, &examine(spec, found).findings, found)),
    };
    let ready = BundleFiles::from(as_ready(&texts));
    let mut examination = examine(spec, &ready);
    examination
        .findings
        .extend(compared(session, environment, spec, &ready)?);
    let Some(bundle) = examination.bundle.as_ref().filter(|_| examination.errors() == 0) else {
        return Err(refused(spec, &examination.findings, &ready));
    };
    match bundle.status {
        Status::Draft | Status::Ready | Status::Active => Ok((bundle.clone(), texts, examination.findings)),
        Status::Done | Status::Retired | Status::Superseded => {
            let status = bundle.status;
            Err(
                Failure::failed(format!("specs/{spec} is {status}: there is nothing to sign"))
                    .with_hint("a new bundle takes it up: orchestrate new NAME"),
            )
        }
    }
}

/// Returns what comparing with the published state finds; nothing where there is none.
fn compared(
    session: &Session,
    environment: &Environment,
    spec: &SpecId,
    ready: &BundleFiles,
) -> Result<Vec<Diagnostic>, Failure> {
    let directory = session
        .world
        .repository()
        .layout
        .primary
        .join("specs")
        .join(spec.as_str());
    let baseline = EarlierState::find(&directory, DEFAULT_REFERENCE, environment.git.as_deref())?;
    let earlier = baseline.and_then(|baseline| baseline_files(&baseline, &directory));
    Ok(earlier.map_or_else(Vec::new, |earlier| {
        compare_with_baseline(spec, ready, &earlier, DEFAULT_REFERENCE)
    }))
}

fn refused(spec: &SpecId, findings: &[Diagnostic], files: &BundleFiles) -> Failure {
    let errors: Vec<_> = with_excerpts(findings, files)
        .into_iter()
        .filter(|finding| finding.is_error)
        .collect();
    let count = count(errors.len(), "finding");
    let failure = Failure {
        unreadable: Some(Unreadable {
            spec: spec.to_string(),
            findings: errors,
        }),
        ..Failure::failed(format!("specs/{spec} cannot be signed: {count} to be mended first"))
    };
    failure.with_hint("mend the lines that are named")
}

/// Returns the bundle as it was where its last record came in, or why that cannot be told.
fn baseline(session: &Session, spec: &SpecId, brief: Option<&[u8]>) -> Result<Baseline, String> {
    let repository = session.world.repository();
    let Some(brief) = brief.filter(|brief| parse_sign_off(spec, brief).is_ok()) else {
        return Err("there is no record".to_owned());
    };
    let hash = recorded_anchors(brief).pop().and_then(|anchor| anchor.hash);
    let count = |brief: &[u8]| {
        recorded_anchors(brief)
            .iter()
            .filter(|anchor| anchor.hash == hash)
            .count()
    };
    let known = |observed| match observed {
        Observed::Known(commit) => Ok(commit),
        Observed::Absent(why) | Observed::Unknown(why) => Err(orchestrate_core::observed::Why::to_string(&why)),
    };
    let head = known(repository.head())?;
    let commit = known(repository.introduced(&head, spec, BundleFile::KickoffBrief, count(brief), &count))?;
    let at = |file: BundleFile| match session.world.committed(&commit, spec, file) {
        Observed::Known(bytes) => Ok(bytes),
        Observed::Absent(why) | Observed::Unknown(why) => Err(why.to_string()),
    };
    Ok(Baseline {
        commit: commit.short().to_string(),
        texts: BundleTexts {
            requirements: at(BundleFile::Requirements)?,
            design: at(BundleFile::Design)?,
            tasks: at(BundleFile::Tasks)?,
            test_spec: at(BundleFile::TestSpec)?,
        },
    })
}

/// Walks, and returns what was signed; nothing when the person left.
fn walk(
    session: &Session,
    matter: &Matter,
    bundle: &Bundle,
    findings: &[Diagnostic],
) -> Result<Option<Signing>, Failure> {
    let layout = &session.world.repository().layout;
    let size = Terminal::size();
    let graph = graph(bundle, size.width(), !Screen::read().has_unicode);
    let sections = sections(matter, graph, findings);
    let kept = authored::read_progress(layout, &matter.spec).map(|bytes| progress::parse(&bytes));
    let surroundings = Surroundings {
        remarks: keep::remarks(session),
        afterwards: keep::announced(session, &matter.spec),
    };
    let mut terminal = Terminal::open()?;
    let mut walk = Walk::new(
        matter.clone(),
        sections,
        &kept.unwrap_or_default().read,
        size,
        surroundings,
    );
    let mut effects = walk.begin();
    loop {
        let mut answer = None;
        for effect in effects {
            match effect {
                Effect::Show(line) => terminal.show(&line),
                Effect::Ask(prompt) => answer = Some(terminal.ask(&prompt)),
                Effect::Keep(read) => authored::write_progress(layout, &matter.spec, &progress::render(&read))?,
                Effect::DropTyped => terminal.drop_typed(),
                Effect::Sign(signing) => return Ok(Some(*signing)),
                Effect::Leave => return Ok(None),
            }
        }
        match answer {
            Some(input) => effects = walk.handle(input),
            None => return Ok(None),
        }
    }
}

/// Returns what is written, each file with what was read of it.
fn replacements(matter: &Matter, signing: &Signing) -> Vec<Replacement> {
    let texts = matter.files.texts.files();
    let before = |file: BundleFile| match texts.iter().find(|(name, _)| *name == file) {
        Some((_, bytes)) => Some(bytes.to_vec()),
        None => matter.files.brief.clone(),
    };
    let changes = signing.changes.iter();
    changes
        .map(|(file, after)| Replacement {
            file: *file,
            before: before(*file),
            after: after.clone(),
        })
        .collect()
}

/// Writes what was signed, if the files still are what was read.
fn write(session: &mut Session, matter: &Matter, signing: &Signing, printer: &mut Printer) -> Result<(), Failure> {
    let spec = &matter.spec;
    stands_well(session, spec)?;
    let layout = session.world.repository().layout.clone();
    session.under_lock(spec, printer, |world, held| {
        let (now, brief) = read(&*world, held.spec())?;
        let then = BundleFiles::from(matter.files.texts.clone());
        let mut changed: Vec<String> = now
            .files()
            .iter()
            .zip(then.files())
            .filter(|((_, now), (_, then))| now != then)
            .map(|((file, _), _)| file.to_string())
            .collect();
        if brief != matter.files.brief {
            changed.push(BundleFile::KickoffBrief.to_string());
        }
        if !changed.is_empty() {
            return Err(Failure::failed(format!(
                "{} changed while you were reading; nothing was written",
                changed.join(", ")
            ))
            .with_hint(format!("orchestrate sign specs/{spec} shows what is new in it")));
        }
        let replaced = authored::replace_files(&layout, held.spec(), &replacements(matter, signing));
        match replaced {
            Ok(Replaced::All) => Ok(()),
            Ok(Replaced::Changed(file)) => Err(Failure::failed(format!(
                "{file} changed while it was being signed; it was not written"
            ))
            .with_hint(format!("orchestrate sign specs/{spec} shows what is new in it"))),
            Err(fault) => {
                let hint = format!("mend that, then orchestrate sign specs/{spec} completes it");
                Err(Failure::from(fault).with_hint(hint))
            }
        }
    })?;
    if let Err(fault) = authored::forget_progress(&layout, spec) {
        printer.talk(&format!("warning: {fault}"));
    }
    Ok(())
}
