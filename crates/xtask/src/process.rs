//! Starts the programs xtask needs, by argv, in a given directory.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};

/// Returns the cargo that started us, else the one on the path.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns whether the program can be started; its answer does not matter.
pub(crate) fn exists(program: impl AsRef<OsStr>, argument: &str) -> bool {
    let status = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Runs the program with our terminal; returns whether it succeeded.
pub(crate) fn succeeds<A: AsRef<OsStr>>(directory: &Path, program: impl AsRef<OsStr>, arguments: &[A]) -> Result<bool> {
    succeeds_with(directory, program, arguments, &[])
}

/// As [`succeeds`], with variables set beside our environment.
pub(crate) fn succeeds_with<A: AsRef<OsStr>>(
    directory: &Path,
    program: impl AsRef<OsStr>,
    arguments: &[A],
    environment: &[(&str, &OsStr)],
) -> Result<bool> {
    let program = program.as_ref();
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::null())
        .status()
        .context(|| format!("cannot start {}", program.display()))?;
    Ok(status.success())
}

/// What a program that ended wrote.
pub(crate) struct Captured {
    /// Whether it succeeded.
    pub(crate) success: bool,
    /// Its standard output.
    pub(crate) stdout: String,
    /// Its standard error.
    pub(crate) stderr: String,
}

/// Runs the program to its end and keeps what it wrote.
pub(crate) fn capture<A: AsRef<OsStr>>(
    directory: &Path,
    program: impl AsRef<OsStr>,
    arguments: &[A],
) -> Result<Captured> {
    let program = program.as_ref();
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .context(|| format!("cannot start {}", program.display()))?;
    Ok(Captured {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Returns the standard output of a program that has to succeed.
pub(crate) fn output<A: AsRef<OsStr>>(directory: &Path, program: impl AsRef<OsStr>, arguments: &[A]) -> Result<String> {
    let program = program.as_ref();
    let captured = capture(directory, program, arguments)?;
    if captured.success {
        Ok(captured.stdout)
    } else {
        Err(Failure::new(format!(
            "{} failed: {}",
            program.display(),
            captured.stderr.trim()
        )))
    }
}
