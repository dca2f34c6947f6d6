//! Whether pull requests could tell more than git does.
//!
//! This build reads none. Where a forge is configured its answer is therefore *unknown*, so that a merge which only
//! the forge can show is never taken for work to be done (law L4); where none is, there is nothing to ask.

use std::convert::Infallible;

use camino::Utf8PathBuf;
use orchestrate_core::observed::{Observed, Why};

/// What tells whether `gh` is configured for a host.
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
}

/// Returns what is known of pull requests for a repository with that origin.
pub(crate) fn pull_requests(origin: Option<&str>, settings: &ForgeSettings) -> Observed<Infallible> {
    let Some(origin) = origin else {
        return Observed::Absent(Why::new("there is no origin"));
    };
    let Some(host) = host_of(origin) else {
        return Observed::Absent(Why::new("origin is on no forge"));
    };
    if settings.gh.is_none() {
        return Observed::Absent(Why::new(format!("gh is not installed, so {host} is not asked")));
    }
    match is_configured(&host, settings) {
        Ok(false) => Observed::Absent(Why::new(format!("gh is not configured for {host}"))),
        Ok(true) => Observed::Unknown(
            Why::new(format!(
                "this version cannot read the pull requests of {host}, so a merge could be unseen"
            ))
            .with_hint("step in a clone whose origin gh is not configured for, until pull requests are read"),
        ),
        Err(why) => Observed::Unknown(why),
    }
}

/// Returns the host of a remote url, nothing for a path.
fn host_of(url: &str) -> Option<String> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        return (scheme != "file" && !host.is_empty()).then(|| host.to_ascii_lowercase());
    }
    let (before, _) = url.split_once(':')?;
    // A colon behind a slash belongs to a path, as in ./a:b.
    (!before.contains('/')).then(|| before.rsplit('@').next().unwrap_or(before).to_ascii_lowercase())
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
    fn hosts_of_remote_urls() {
        let cases = [
            ("https://github.com/o/r.git", Some("github.com")),
            ("git@github.com:o/r.git", Some("github.com")),
            ("ssh://git@GitHub.com:22/o/r", Some("github.com")),
            ("/srv/git/r.git", None),
            ("./a:b", None),
            ("file:///srv/r.git", None),
        ];
        for (url, host) in cases {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }

    #[test]
    fn a_configured_forge_is_unknown_and_no_forge_is_absent() {
        let without = ForgeSettings::default();
        assert!(matches!(
            pull_requests(Some("git@github.com:o/r"), &without),
            Observed::Absent(_)
        ));
        let with = ForgeSettings {
            gh: Some("/usr/bin/gh".into()),
            has_token: true,
            ..ForgeSettings::default()
        };
        assert!(matches!(
            pull_requests(Some("git@github.com:o/r"), &with),
            Observed::Unknown(_)
        ));
        assert!(matches!(
            pull_requests(Some("git@example.org:o/r"), &with),
            Observed::Absent(_)
        ));
        assert!(matches!(pull_requests(Some("/srv/r.git"), &with), Observed::Absent(_)));
        assert!(matches!(pull_requests(None, &with), Observed::Absent(_)));
    }
}
