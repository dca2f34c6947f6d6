//! Pull requests, asked of GitHub through `gh`, which owns the credentials.
//!
//! One GraphQL query for all heads that matter, in a bounded time, and never a second try: what was not answered is
//! *unknown* with its reason (law L4). Where no forge is configured there is nothing to ask.

mod answer;
mod place;
mod query;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, Unit};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::time::Timestamp;

use crate::process::{Input, RunOptions, run_bounded};
use crate::repository::Repository;

/// How long GitHub may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// How much an answer may hold: a hundred heads with ten pull requests each are far below.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;

/// What tells whether `gh` is configured for a host, and what it is told.
#[derive(Debug, Clone, Default)]
pub struct ForgeSettings {
    /// Where `gh` is, when it is there.
    pub gh: Option<Utf8PathBuf>,
    /// `gh`'s directory of settings.
    pub directory: Option<Utf8PathBuf>,
    /// Whether a token for github.com is in the environment.
    pub has_token: bool,
    /// `GH_HOST`, where a token for another host is in the environment.
    pub enterprise_host: Option<String>,
    /// `GH_REPO`, the repository that `gh` is told to use.
    pub repository: Option<String>,
}

/// Asks for the pull requests of the units' branches.
pub(crate) fn pull_requests(
    repository: &Repository,
    settings: &ForgeSettings,
    (spec, units): (&SpecId, &BTreeSet<Unit>),
    now: Timestamp,
) -> Observed<PullRequests> {
    let place = match place::resolve(&repository.git, settings) {
        Observed::Known(place) => place,
        Observed::Absent(why) => return Observed::Absent(why),
        Observed::Unknown(why) => return Observed::Unknown(why),
    };
    let Some(gh) = &settings.gh else {
        return Observed::Absent(Why::new(format!("gh is not installed, so {} is not asked", place.host)));
    };
    let mut by_unit = BTreeMap::new();
    let mut requests = 0;
    let units: Vec<&Unit> = units.iter().collect();
    for part in units.chunks(query::MOST_HEADS) {
        let question = query::render(&place, spec, part);
        requests += 1;
        match ask(gh, &repository.layout.primary, &place.host, question.as_bytes()) {
            Ok(body) => match answer::read(&body, part) {
                Ok(found) => by_unit.extend(found),
                Err(why) => return Observed::Unknown(why),
            },
            Err(why) => return Observed::Unknown(why),
        }
    }
    Observed::Known(PullRequests {
        repository: format!("{}/{}", place.owner, place.name),
        head_owner: place.head_owner,
        asked: now,
        requests,
        by_unit,
        beside: BTreeMap::new(),
        relations: BTreeMap::new(),
    })
}

/// Whether there is a forge to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgeStanding {
    /// Origin is on none.
    None(Why),
    /// There is one, and no `gh` to ask it with.
    NoProgram {
        /// Its host.
        host: String,
    },
    /// There is one, and `gh` is not configured for it.
    NotConfigured {
        /// Its host.
        host: String,
    },
    /// It cannot be told.
    Unknown(Why),
    /// This repository is asked, for people: `owner/name on host`.
    Asks(String),
}

/// Returns whether there is a forge to ask, without asking it.
pub(crate) fn standing(repository: &Repository, settings: &ForgeSettings) -> ForgeStanding {
    match place::resolve(&repository.git, settings) {
        Observed::Known(place) => ForgeStanding::Asks(format!("{}/{} on {}", place.owner, place.name, place.host)),
        Observed::Unknown(why) => ForgeStanding::Unknown(why),
        Observed::Absent(why) => match place::host(&repository.git) {
            None => ForgeStanding::None(why),
            Some(host) if settings.gh.is_none() => ForgeStanding::NoProgram { host },
            Some(host) => ForgeStanding::NotConfigured { host },
        },
    }
}

/// Returns the branch of a pull request, of the one of the checkout where none is named; nothing in any doubt.
#[must_use]
pub fn head_of(settings: &ForgeSettings, directory: &Utf8Path, number: Option<u64>) -> Option<String> {
    let number = number.map(|number| number.to_string());
    let mut arguments = vec!["pr", "view"];
    arguments.extend(number.as_deref());
    arguments.extend(["--json", "headRefName", "--jq", ".headRefName"]);
    let options = RunOptions {
        directory: Some(directory),
        environment: &[("GH_PROMPT_DISABLED", "1"), ("NO_COLOR", "1")],
        timeout: ANSWER_TIMEOUT,
        ..RunOptions::default()
    };
    let output = run_bounded(settings.gh.as_ref()?, &arguments, &options).ok()?;
    let name = String::from_utf8(output.stdout.clone()).ok()?;
    output.success().then(|| name.trim().to_owned())
}

/// Returns what GitHub answered, headers and body.
fn ask(gh: &Utf8Path, directory: &Utf8Path, host: &str, question: &[u8]) -> Result<Vec<u8>, Why> {
    let arguments = ["api", "graphql", "--hostname", host, "--include", "--input", "-"];
    let options = RunOptions {
        directory: Some(directory),
        environment: &[("GH_PROMPT_DISABLED", "1"), ("NO_COLOR", "1")],
        input: Input::Bytes(question),
        timeout: ANSWER_TIMEOUT,
        output_limit: ANSWER_LIMIT,
    };
    let output =
        run_bounded(gh, &arguments, &options).map_err(|fault| Why::new(format!("GitHub cannot be asked: {fault}")))?;
    // gh fails for any error in the answer, even one that concerns a single head; the answer itself tells.
    if output.success() || answer::has_body(&output.stdout) {
        return Ok(output.stdout);
    }
    Err(answer::refusal(&output.stdout, &output.message()))
}
