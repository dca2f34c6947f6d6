//! `cargo xtask make-repo`: writes a synthetic repository to look at or to measure on.

use std::path::PathBuf;

use crate::failure::Result;
use crate::repository::{self, Shape};

/// Make a synthetic repository with a signed bundle.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Commits on main.
    #[arg(long, default_value_t = 400)]
    commits: usize,
    /// How many of them carry a task trailer, spread evenly.
    #[arg(long, default_value_t = 400)]
    trailers: usize,
    /// Branches beside main.
    #[arg(long, default_value_t = 20)]
    branches: usize,
    /// How many of them are branches of the bundle's tasks.
    #[arg(long, default_value_t = 3)]
    task_branches: usize,
    /// Tasks in the bundle.
    #[arg(long, default_value_t = 20)]
    tasks: usize,
    /// The folder to make; it must not exist or be empty.
    directory: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let Arguments {
        commits,
        trailers,
        branches,
        task_branches,
        tasks,
        directory,
    } = arguments;
    let shape = Shape {
        commits: *commits,
        trailers: *trailers,
        branches: *branches,
        task_branches: *task_branches,
        tasks: *tasks,
    };
    repository::make(directory, shape)?;
    println!("made    {}", directory.display());
    Ok(true)
}
