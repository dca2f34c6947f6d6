//! What cargo and git say about the workspace.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::{Context, Failure, Result};
use crate::process;

/// Returns the checkout that this xtask was built from.
pub(crate) fn root() -> Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new("cannot find the workspace: xtask is not in crates/xtask"))
}

/// One member of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The package's name.
    pub(crate) name: String,
    /// What it depends on.
    pub(crate) dependencies: Vec<Dependency>,
    /// The text of its manifest.
    pub(crate) manifest: String,
    /// The manifest's path below the root.
    pub(crate) manifest_path: String,
}

/// One entry of a dependency table.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// The name of the package depended on.
    pub(crate) name: String,
    /// Whether only tests see it.
    pub(crate) development: bool,
}

/// The workspace as cargo reports it.
pub(crate) struct Workspace {
    /// Its members.
    pub(crate) members: Vec<Member>,
    /// Where cargo puts what it builds.
    pub(crate) target_directory: PathBuf,
}

/// Asks cargo for the members and their direct dependencies.
pub(crate) fn read(root: &Path) -> Result<Workspace> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let text = process::output(root, process::cargo(), &arguments)?;
    let metadata: Value = serde_json::from_str(&text).context(|| "cannot read cargo metadata".into())?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let members = packages
        .iter()
        .map(|package| member(root, package))
        .collect::<Result<Vec<_>>>()?;
    Ok(Workspace {
        members,
        target_directory: string(&metadata, "target_directory")?.into(),
    })
}

fn member(root: &Path, package: &Value) -> Result<Member> {
    let path = PathBuf::from(string(package, "manifest_path")?);
    let manifest = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
    let dependencies = package["dependencies"].as_array().cloned().unwrap_or_default();
    let dependencies = dependencies
        .iter()
        .map(|dependency| {
            Ok(Dependency {
                name: string(dependency, "name")?,
                development: dependency["kind"] == "dev",
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Member {
        name: string(package, "name")?,
        dependencies,
        manifest,
        manifest_path: path.strip_prefix(root).unwrap_or(&path).display().to_string(),
    })
}

fn string(value: &Value, key: &str) -> Result<String> {
    let missing = || Failure::new(format!("cannot read cargo metadata: no text at {key:?}"));
    value[key].as_str().map(str::to_owned).ok_or_else(missing)
}

/// Returns the files git tracks or would add, below the root, with `/`.
pub(crate) fn files(root: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let text = process::output(root, "git", &arguments)?;
    let mut files: Vec<String> = text
        .split('\0')
        .filter(|path| !path.is_empty() && root.join(path).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Builds the product's binary and returns its path.
pub(crate) fn build_binary(root: &Path, extra: &[&str], target: &Path) -> Result<PathBuf> {
    let mut arguments = vec!["build", "--quiet", "--package", "orchestrate-cli"];
    arguments.extend_from_slice(extra);
    let mut arguments: Vec<std::ffi::OsString> = arguments.into_iter().map(Into::into).collect();
    arguments.push("--target-dir".into());
    arguments.push(target.into());
    if !process::succeeds(root, process::cargo(), &arguments)? {
        return Err(Failure::new("cannot build orchestrate-cli"));
    }
    let profile = if extra.contains(&"--release") {
        "release"
    } else {
        "debug"
    };
    let binary = target.join(profile).join("orchestrate");
    if binary.is_file() {
        Ok(binary)
    } else {
        Err(Failure::new(format!("cargo built no {}", binary.display())))
    }
}
