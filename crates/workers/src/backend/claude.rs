//! The backends that run Claude Code once, without a conversation.
//!
//! One place composes its arguments. `--bare` is never among them: it would strip the hooks of the repository
//! (`contract/fleet.md §13.3`).

use camino::Utf8PathBuf;
use orchestrate_core::observed::Why;
use orchestrate_core::record::dispatch::{LaunchManner, LaunchOrder};

use super::{Backend, OrderRequest, order};
use crate::programs::Programs;

/// One headless session in the background.
#[derive(Debug, Clone, Copy)]
pub struct HeadlessOneshot;

/// One headless session in this terminal; the step waits for its end.
#[derive(Debug, Clone, Copy)]
pub struct InSession;

/// Returns where Claude Code is.
pub(super) fn program(programs: &dyn Programs) -> Result<Utf8PathBuf, Why> {
    programs.resolve("claude").ok_or_else(|| {
        Why::new("claude is not on the search path")
            .with_hint("install Claude Code, or set dispatch_backend to another backend")
    })
}

impl HeadlessOneshot {
    /// The backend's name.
    pub const NAME: &'static str = "headless-oneshot";
}

impl Backend for HeadlessOneshot {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn manner(&self) -> LaunchManner {
        LaunchManner::Background
    }

    fn order(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<LaunchOrder, Why> {
        // Claude Code refuses this output format without --verbose.
        one_session(
            self,
            request,
            programs,
            &["--output-format", "stream-json", "--verbose"],
        )
    }
}

impl InSession {
    /// The backend's name.
    pub const NAME: &'static str = "in-session";
}

impl Backend for InSession {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn manner(&self) -> LaunchManner {
        LaunchManner::Foreground
    }

    fn order(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<LaunchOrder, Why> {
        one_session(self, request, programs, &["--output-format", "text"])
    }
}

fn one_session(
    backend: &dyn Backend,
    request: &OrderRequest<'_>,
    programs: &dyn Programs,
    output: &[&str],
) -> Result<LaunchOrder, Why> {
    let mut argv = vec![program(programs)?.into_string(), "--print".to_owned()];
    argv.extend(output.iter().map(|word| (*word).to_owned()));
    argv.extend(["--settings".to_owned(), request.settings_file.to_string()]);
    order(backend, argv, request)
}
