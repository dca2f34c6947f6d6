//! The launch guard: no worker runs in a permission mode that answers its own prompts (`contract/fleet.md §4.11`, L10).

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};

use orchestrate_core::identifier::printable;
use orchestrate_core::observed::Why;

/// The permission modes that a worker may not run in.
const FORBIDDEN_MODES: [&str; 2] = ["auto", "bypassPermissions"];

/// Refuses an argument vector that would run Claude Code in an automatic or a bypass mode, or in whatever mode the
/// machine has configured: one of the arguments has to name the mode.
///
/// `read_settings` returns the text of a settings file, nothing where it cannot be read.
///
/// Only an argument vector whose program is `claude` can be judged so. Others pass, unless they hold the option that
/// skips permissions: a `command` backend is what its owner configured it to be.
///
/// # Errors
/// Why the launch is refused. A refusal ends the step; nothing weaker is tried.
pub fn launch_guard(argv: &[String], read_settings: &dyn Fn(&str) -> Option<String>) -> Result<(), Why> {
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| Why::new("there is nothing to start"))?;
    if arguments
        .iter()
        .any(|argument| argument.starts_with("--dangerously-skip-permissions"))
    {
        return Err(Why::new(
            "--dangerously-skip-permissions lets a worker answer its own prompts",
        ));
    }
    if program.rsplit('/').next() != Some("claude") {
        return Ok(());
    }
    let mut names_a_mode = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (option, attached) = match argument.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (argument.as_str(), None),
        };
        match option {
            "--permission-mode" => {
                let mode = attached.or_else(|| rest.next().map(String::as_str));
                judge_mode(mode, "--permission-mode")?;
                names_a_mode = true;
            }
            "--settings" => {
                let file = attached.or_else(|| rest.next().map(String::as_str));
                names_a_mode |= judge_settings(file, read_settings)?;
            }
            _ => {}
        }
    }
    if names_a_mode {
        Ok(())
    } else {
        Err(
            Why::new("no argument names the permission mode, so that the one configured on this machine would count")
                .with_hint("pass --settings with a defaultMode, or --permission-mode default"),
        )
    }
}

fn judge_mode(mode: Option<&str>, source: &str) -> Result<(), Why> {
    match mode {
        None | Some("") => Err(Why::new(format!("{source} names no mode"))),
        Some(mode) if mode.starts_with('-') => {
            Err(Why::new(format!("{source} is followed by an option, not by a mode")))
        }
        Some(mode) if FORBIDDEN_MODES.contains(&mode) => Err(Why::new(format!(
            "{source} is {mode}, which lets a worker answer its own prompts"
        ))),
        Some(_) => Ok(()),
    }
}

/// Returns whether the settings name a mode.
fn judge_settings(file: Option<&str>, read_settings: &dyn Fn(&str) -> Option<String>) -> Result<bool, Why> {
    let file = file
        .filter(|file| !file.is_empty())
        .ok_or_else(|| Why::new("--settings names no file"))?;
    let shown = printable(file);
    let text = read_settings(file).ok_or_else(|| Why::new(format!("the settings {shown} cannot be read")))?;
    let modes: Modes =
        serde_json::from_str(&text).map_err(|error| Why::new(format!("the settings {shown} are no JSON: {error}")))?;
    for mode in &modes.0 {
        judge_mode(mode.as_deref(), &format!("defaultMode in {shown}"))?;
    }
    Ok(!modes.0.is_empty())
}

/// Every value of a key `defaultMode`, at any depth, repeated ones too; nothing for a value that is no text.
///
/// Read from the document and not from its text, so that no spelling of the key or the value gets past.
#[derive(Debug, Default)]
struct Modes(Vec<Option<String>>);

impl<'de> Deserialize<'de> for Modes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ModesVisitor)
    }
}

struct ModesVisitor;

impl<'de> Visitor<'de> for ModesVisitor {
    type Value = Modes;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Modes, A::Error> {
        let mut modes = Modes::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "defaultMode" {
                let value: serde_json::Value = map.next_value()?;
                modes.0.push(value.as_str().map(str::to_owned));
            } else {
                modes.0.extend(map.next_value::<Modes>()?.0);
            }
        }
        Ok(modes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Modes, A::Error> {
        let mut modes = Modes::default();
        while let Some(inner) = sequence.next_element::<Modes>()? {
            modes.0.extend(inner.0);
        }
        Ok(modes)
    }

    fn visit_some<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Modes, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Modes, E> {
        Ok(Modes::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Modes, E> {
        Ok(Modes::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Modes, E> {
        Ok(Modes::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Modes, E> {
        Ok(Modes::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Modes, E> {
        Ok(Modes::default())
    }

    fn visit_unit<E>(self) -> Result<Modes, E> {
        Ok(Modes::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(arguments: &[&str], settings: Option<&str>) -> Result<(), Why> {
        let mut argv = vec!["/usr/bin/claude".to_owned()];
        argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let settings = settings.map(str::to_owned);
        launch_guard(&argv, &move |file| settings.clone().filter(|_| file == "s.json"))
    }

    #[test]
    fn the_mode_is_named_and_harmless() {
        assert_eq!(verdict(&["--permission-mode", "default"], None), Ok(()));
        assert_eq!(verdict(&["--permission-mode=acceptEdits"], None), Ok(()));
        assert_eq!(
            verdict(&["--settings", "s.json"], Some(crate::worker_settings())),
            Ok(())
        );
        assert_eq!(
            verdict(
                &["--settings=s.json"],
                Some(r#"{"permissions":{"defaultMode":"plan"}}"#)
            ),
            Ok(())
        );
    }

    /// Verifies REQ-A1.10.
    #[test]
    fn everything_else_is_refused() {
        let harmless = ["--permission-mode", "default"];
        for arguments in [
            &[][..],
            &["--print"],
            &["--permission-mode"],
            &["--permission-mode="],
            &["--permission-mode", "auto"],
            &["--permission-mode=bypassPermissions"],
            &["--permission-mode", "--print"],
            &["--dangerously-skip-permissions"],
            &["--settings"],
            &["--settings="],
            &["--settings", "missing.json"],
        ] {
            assert!(verdict(arguments, Some("{}")).is_err(), "{arguments:?}");
            let after_a_good_one = [&harmless[..], arguments].concat();
            let adds_nothing = matches!(arguments, [] | ["--print"]);
            assert_eq!(
                verdict(&after_a_good_one, Some("{}")).is_ok(),
                adds_nothing,
                "{after_a_good_one:?}"
            );
        }
    }

    /// Verifies REQ-A1.10.
    #[test]
    fn settings_are_read_as_a_document() {
        for (settings, accepted) in [
            ("{}", false),
            ("[1, 1.5, -1, true, null, \"defaultMode\"]", false),
            (r#"{"defaultMode":"default"}"#, true),
            (r#"{"defaultMode" : "auto"}"#, false),
            (r#"{"default\u004dode":"bypass\u0050ermissions"}"#, false),
            (r#"{"defaultMode":"default","defaultMode":"auto"}"#, false),
            (r#"{"defaultMode":"auto","defaultMode":"default"}"#, false),
            (
                r#"{"a":[{"defaultMode":"default"}],"b":{"c":{"defaultMode":"auto"}}}"#,
                false,
            ),
            (r#"{"defaultMode":{"auto":1}}"#, false),
            (r#"{"defaultMode":"default""#, false),
            ("", false),
        ] {
            assert_eq!(
                verdict(&["--settings", "s.json"], Some(settings)).is_ok(),
                accepted,
                "{settings}"
            );
        }
    }

    #[test]
    fn other_programs_pass_but_for_the_one_option() {
        let guard = |argv: &[&str]| {
            let argv: Vec<String> = argv.iter().map(|argument| (*argument).to_owned()).collect();
            launch_guard(&argv, &|_| None)
        };
        assert_eq!(guard(&["/usr/bin/other-agent", "--permission-mode", "auto"]), Ok(()));
        assert!(guard(&["/usr/bin/nice", "claude", "--dangerously-skip-permissions"]).is_err());
        assert!(guard(&[]).is_err());
    }
}
