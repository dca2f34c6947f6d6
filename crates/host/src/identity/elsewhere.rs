//! The answers of a system whose process table this build cannot read.

use camino::Utf8Path;

use super::{Occupant, Running, Seen};

const WHY: &str = "this build can read the process table on Linux only";

pub(super) fn boot() -> Result<String, String> {
    Ok(String::new())
}

pub(super) fn own_start() -> Result<u64, String> {
    Ok(0)
}

pub(super) fn look(_pid: u32) -> Result<Seen, String> {
    Err(WHY.to_owned())
}

pub(super) fn ancestors() -> Result<Vec<u32>, String> {
    Err(WHY.to_owned())
}

pub(super) fn children() -> Result<Vec<u32>, String> {
    Err(WHY.to_owned())
}

pub(super) fn processes_in(_directory: &Utf8Path) -> Result<Vec<Occupant>, String> {
    Err(WHY.to_owned())
}

pub(super) fn running(_names: &[&str]) -> Result<Vec<Running>, String> {
    Err(WHY.to_owned())
}

pub(super) fn holders(_files: &[(u64, u64)]) -> Result<Vec<Occupant>, String> {
    Err(WHY.to_owned())
}

pub(super) fn holders_below(_directory: &Utf8Path) -> Result<Vec<Occupant>, String> {
    Err(WHY.to_owned())
}
