//! Which repository is asked, and whose branches count: as `gh` itself would resolve it.

use git2::Repository;
use orchestrate_core::observed::{Observed, Why};

use super::ForgeSettings;
use crate::git_error;

/// A repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForgePlace {
    pub(super) host: String,
    pub(super) owner: String,
    pub(super) name: String,
    /// Who owns the repository that task branches are pushed to.
    pub(super) head_owner: String,
}

/// A remote that lies on a forge.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remote {
    name: String,
    place: (String, String, String),
    /// `base`, or the repository that `gh repo set-default` wrote down.
    resolved: Option<String>,
}

/// Returns the repository to ask. Absent when none of origin's neighbours is on a host that `gh` is configured for.
pub(super) fn resolve(repository: &Repository, settings: &ForgeSettings) -> Observed<ForgePlace> {
    let Ok(origin) = repository.find_remote("origin") else {
        return Observed::Absent(Why::new("there is no origin"));
    };
    let origin_url = String::from_utf8_lossy(origin.url_bytes()).into_owned();
    let Some((host, owner, name)) = forge_path(&origin_url) else {
        return Observed::Absent(Why::new("origin is on no forge"));
    };
    if settings.gh.is_none() {
        return Observed::Absent(Why::new(format!("gh is not installed, so {host} is not asked")));
    }
    match is_configured(&host, settings) {
        Ok(true) => {}
        Ok(false) => return Observed::Absent(Why::new(format!("gh is not configured for {host}"))),
        Err(why) => return Observed::Unknown(why),
    }
    let (base_owner, base_name) = match base_repository(repository, settings, &host, (&owner, &name)) {
        Ok(base) => base,
        Err(why) => return Observed::Unknown(why),
    };
    // Branches are pushed to origin, unless another place is named to push them to.
    let push_url = origin
        .pushurl_bytes()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let pushed_to = push_url.and_then(|url| forge_path(&url)).map(|(_, owner, _)| owner);
    Observed::Known(ForgePlace {
        host,
        owner: base_owner,
        name: base_name,
        head_owner: pushed_to.unwrap_or(owner),
    })
}

/// Returns the host that origin is on; nothing where that is no forge.
pub(super) fn host(repository: &Repository) -> Option<String> {
    let origin = repository.find_remote("origin").ok()?;
    let (host, _, _) = forge_path(&String::from_utf8_lossy(origin.url_bytes()))?;
    Some(host)
}

/// `GH_REPO`, else what `gh repo set-default` chose, else upstream, else origin: gh's own order.
fn base_repository(
    repository: &Repository,
    settings: &ForgeSettings,
    host: &str,
    (owner, name): (&str, &str),
) -> Result<(String, String), Why> {
    if let Some(chosen) = &settings.repository {
        return owner_and_name(chosen)
            .ok_or_else(|| Why::new("GH_REPO names no repository").with_hint("set it as OWNER/NAME, or unset it"));
    }
    let remotes = remotes(repository)?;
    let on_host = |remote: &&Remote| remote.place.0 == host;
    for remote in remotes.iter().filter(on_host) {
        match remote.resolved.as_deref() {
            Some("base") => return Ok((remote.place.1.clone(), remote.place.2.clone())),
            Some(chosen) => {
                return owner_and_name(chosen).ok_or_else(|| {
                    Why::new(format!("remote.{}.gh-resolved names no repository", remote.name))
                        .with_hint("choose again: gh repo set-default")
                });
            }
            None => {}
        }
    }
    let upstream = remotes.iter().filter(on_host).find(|remote| remote.name == "upstream");
    Ok(upstream.map_or_else(
        || (owner.to_owned(), name.to_owned()),
        |remote| (remote.place.1.clone(), remote.place.2.clone()),
    ))
}

fn remotes(repository: &Repository) -> Result<Vec<Remote>, Why> {
    let unreadable = |error: git2::Error| git_error::why("cannot read the remotes", &error);
    let names = repository.remotes().map_err(unreadable)?;
    let config = repository.config().map_err(unreadable)?;
    let mut found = Vec::new();
    for name in names.iter().filter_map(|name| name.ok().flatten()) {
        let remote = repository.find_remote(name).map_err(unreadable)?;
        let Some(place) = forge_path(&String::from_utf8_lossy(remote.url_bytes())) else {
            continue;
        };
        found.push(Remote {
            name: name.to_owned(),
            place,
            resolved: config.get_string(&format!("remote.{name}.gh-resolved")).ok(),
        });
    }
    Ok(found)
}

/// Splits `OWNER/NAME` or `HOST/OWNER/NAME`.
fn owner_and_name(text: &str) -> Option<(String, String)> {
    let mut parts = text.rsplit('/');
    let (name, owner) = (parts.next()?, parts.next()?);
    let rest = parts.count();
    (rest <= 1 && !name.is_empty() && !owner.is_empty()).then(|| (owner.to_owned(), name.to_owned()))
}

/// Returns the host, owner and name of a remote's url; nothing for a path.
fn forge_path(url: &str) -> Option<(String, String, String)> {
    let (authority, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        None => {
            let (before, path) = url.split_once(':')?;
            // A colon behind a slash belongs to a path, as in ./a:b.
            if before.contains('/') {
                return None;
            }
            (before, path)
        }
    };
    let host = authority.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    let path = path.trim_matches('/');
    let (owner, name) = owner_and_name(path.strip_suffix(".git").unwrap_or(path))?;
    (!host.is_empty()).then_some((host, owner, name))
}

fn is_configured(host: &str, settings: &ForgeSettings) -> Result<bool, Why> {
    if (settings.has_token && host == "github.com") || settings.enterprise_host.as_deref() == Some(host) {
        return Ok(true);
    }
    let Some(directory) = &settings.directory else {
        return Ok(false);
    };
    let path = directory.join("hosts.yml");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().any(|line| line.trim_end().strip_suffix(':') == Some(host))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Why::new(format!("cannot read {path}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_remote_urls() {
        let cases = [
            ("https://github.com/o/r.git", Some("github.com o r")),
            ("https://user@GitHub.com/o/r/", Some("github.com o r")),
            ("git@github.com:o/r.git", Some("github.com o r")),
            ("ssh://git@GitHub.com:22/o/r", Some("github.com o r")),
            ("https://127.0.9.1/o/r.git", Some("127.0.9.1 o r")),
            ("https://github.com/r", None),
            ("/srv/git/r.git", None),
            ("./a:b/c", None),
            ("file:///srv/o/r.git", None),
        ];
        for (url, expected) in cases {
            let shown = forge_path(url).map(|(host, owner, name)| format!("{host} {owner} {name}"));
            assert_eq!(shown.as_deref(), expected, "{url}");
        }
    }

    fn repository(configuration: &[(&str, &str)]) -> (tempfile::TempDir, Repository) {
        let directory = tempfile::tempdir().expect("directory");
        let repository = Repository::init(directory.path()).expect("repository");
        let mut config = repository.config().expect("config");
        for (key, value) in configuration {
            config.set_str(key, value).expect("set");
        }
        (directory, repository)
    }

    fn settings() -> ForgeSettings {
        ForgeSettings {
            gh: Some("/usr/bin/gh".into()),
            has_token: true,
            ..ForgeSettings::default()
        }
    }

    #[test]
    fn the_repository_is_the_one_that_gh_would_use() {
        const ORIGIN: (&str, &str) = ("remote.origin.url", "git@github.com:me/fork.git");
        const UPSTREAM: (&str, &str) = ("remote.upstream.url", "https://github.com/them/product");
        let cases: [(&[(&str, &str)], &str); 6] = [
            (&[ORIGIN], "me/fork, heads of me"),
            (&[ORIGIN, UPSTREAM], "them/product, heads of me"),
            (
                &[ORIGIN, UPSTREAM, ("remote.origin.gh-resolved", "base")],
                "me/fork, heads of me",
            ),
            (
                &[ORIGIN, ("remote.origin.gh-resolved", "others/product")],
                "others/product, heads of me",
            ),
            (
                &[
                    UPSTREAM,
                    ("remote.origin.url", "git@github.com:them/product"),
                    ("remote.origin.pushurl", "git@github.com:me/fork"),
                ],
                "them/product, heads of me",
            ),
            (
                &[ORIGIN, ("remote.upstream.url", "/srv/them/product")],
                "me/fork, heads of me",
            ),
        ];
        for (configuration, expected) in cases {
            let (_directory, repository) = repository(configuration);
            let Observed::Known(place) = resolve(&repository, &settings()) else {
                panic!("{configuration:?}")
            };
            let shown = format!("{}/{}, heads of {}", place.owner, place.name, place.head_owner);
            assert_eq!(shown, expected, "{configuration:?}");
        }
    }

    #[test]
    fn without_a_configured_forge_there_is_nothing_to_ask() {
        let without_gh = ForgeSettings::default();
        let cases: [(&[(&str, &str)], &ForgeSettings); 4] = [
            (&[], &settings()),
            (&[("remote.origin.url", "/srv/o/r.git")], &settings()),
            (&[("remote.origin.url", "git@example.org:o/r")], &settings()),
            (&[("remote.origin.url", "git@github.com:o/r")], &without_gh),
        ];
        for (configuration, settings) in cases {
            let (_directory, repository) = repository(configuration);
            assert!(
                matches!(resolve(&repository, settings), Observed::Absent(_)),
                "{configuration:?}"
            );
        }
    }

    #[test]
    fn a_choice_that_names_no_repository_is_no_answer() {
        let (_directory, repository) = repository(&[("remote.origin.url", "git@github.com:o/r")]);
        let settings = ForgeSettings {
            repository: Some("nonsense".to_owned()),
            ..settings()
        };
        assert!(matches!(resolve(&repository, &settings), Observed::Unknown(_)));
    }
}
