//! The values a key admits, parsed. Every error is what was expected, as a lowercase fragment.

use core::fmt;
use std::collections::BTreeMap;

use orchestrate_core::identifier::{BackendName, BaseName, Pair, SpecId, TaskId};

/// The backend that configuration or a flag asks for (`contract/fleet.md §4.2`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BackendChoice {
    /// `full-session`: the best present backend that needs nobody at a terminal.
    FullSession,
    /// Exactly this backend; where it is missing, nothing takes its place.
    Named(BackendName),
}

impl BackendChoice {
    /// Returns the choice that a value or a `--backend` argument names.
    ///
    /// # Errors
    /// When the text is neither `full-session` nor a backend's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        backend_choice(text)
    }
}

impl fmt::Display for BackendChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullSession => formatter.write_str(FULL_SESSION),
            Self::Named(name) => name.fmt(formatter),
        }
    }
}

const FULL_SESSION: &str = "full-session";

/// Whether units are fenced at origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FencePolicy {
    /// Where there is an origin.
    Auto,
    /// Always; without an origin nothing is dispatched.
    On,
    /// Never: one clone alone dispatches.
    Off,
}

/// A threshold in whole minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minutes(u32);

impl Minutes {
    /// Returns the threshold of that many minutes.
    #[must_use]
    pub const fn new(minutes: u32) -> Self {
        Self(minutes)
    }

    /// Returns the number of minutes.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the threshold in seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        i64::from(self.0).saturating_mul(60)
    }
}

impl fmt::Display for Minutes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}m", self.0)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `true` or `false`.
pub(crate) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("expected true or false".to_owned()),
    }
}

/// 1 to 15 digits, no leading zero, not 0 (`contract/core.md §12.3`).
pub(crate) fn positive_integer(text: &str) -> Result<u64, String> {
    let expected = || "expected a whole number from 1, of at most 15 digits, without leading zeroes".to_owned();
    if is_number(text) && text.len() <= 15 && !text.starts_with('0') {
        text.parse().map_err(|_| expected())
    } else {
        Err(expected())
    }
}

/// 0 or digits without a leading zero; a number past the type's end means "no bound" and is taken as its end.
pub(crate) fn non_negative_integer(text: &str) -> Result<u32, String> {
    if is_number(text) && (text == "0" || !text.starts_with('0')) {
        Ok(text.parse().unwrap_or(u32::MAX))
    } else {
        Err("expected 0 or a whole number without leading zeroes".to_owned())
    }
}

/// Digits, optionally followed by `m`; a number past the type's end is taken as its end.
pub(crate) fn minutes(text: &str) -> Result<Minutes, String> {
    let digits = text.strip_suffix('m').unwrap_or(text);
    if is_number(digits) {
        Ok(Minutes(digits.parse().unwrap_or(u32::MAX)))
    } else {
        Err("expected minutes, as `15m` or `15`".to_owned())
    }
}

/// As [`minutes`], without leading zeroes (`contract/core.md §7.1` item 2).
pub(crate) fn plain_minutes(text: &str) -> Result<Minutes, String> {
    let digits = text.strip_suffix('m').unwrap_or(text);
    if digits.len() > 1 && digits.starts_with('0') {
        return Err("expected minutes without leading zeroes, as `2m` or `2`".to_owned());
    }
    minutes(text)
}

/// `auto`, `on` or `off`.
pub(crate) fn fence_policy(text: &str) -> Result<FencePolicy, String> {
    match text {
        "auto" => Ok(FencePolicy::Auto),
        "on" => Ok(FencePolicy::On),
        "off" => Ok(FencePolicy::Off),
        _ => Err("expected auto, on or off".to_owned()),
    }
}

/// A branch's short name; empty for "resolve it".
pub(crate) fn optional_branch(text: &str) -> Result<Option<BaseName>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    BaseName::parse(text)
        .map(Some)
        .map_err(|invalid| format!("expected a branch's short name of {}", invalid.expected))
}

pub(crate) fn backend_choice(text: &str) -> Result<BackendChoice, String> {
    if text == FULL_SESSION {
        return Ok(BackendChoice::FullSession);
    }
    BackendName::parse(text)
        .map(BackendChoice::Named)
        .map_err(|invalid| format!("expected {FULL_SESSION} or a backend's name of {}", invalid.expected))
}

/// `{spec: backend, …}` by the strict grammar of `contract/fleet.md §4.2`. YAML would take a trailing comma, keep the
/// last of two equal keys and turn the spec `007` into a 7, so it is not asked.
pub(crate) fn backend_map(text: &str) -> Result<BTreeMap<SpecId, BackendChoice>, String> {
    let body = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or("expected an inline map {spec: backend} on one line")?
        .trim();
    if body.contains(['{', '}', '[', ']']) {
        return Err("expected a flat map {spec: backend}, without braces or brackets inside".to_owned());
    }
    let mut map = BTreeMap::new();
    if body.is_empty() {
        return Ok(map);
    }
    for entry in body.split(',') {
        let (key, value) = entry
            .split_once(':')
            .ok_or("expected every entry of the map to be `spec: backend`")?;
        let spec = SpecId::parse(unquoted(key))
            .map_err(|invalid| format!("expected a spec's name of {}", invalid.expected))?;
        let choice = backend_choice(unquoted(value))?;
        if map.insert(spec.clone(), choice).is_some() {
            return Err(format!("expected one entry for each spec, but `{spec}` has two"));
        }
    }
    Ok(map)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)))
        .unwrap_or(text)
}

/// An inline YAML list of strings: nothing, or a program and its arguments.
///
/// A relative path would be looked up in the checkout, where the repository would choose the program after all.
pub(crate) fn argument_list(text: &str) -> Result<Vec<String>, String> {
    if !(text.starts_with('[') && text.ends_with(']')) {
        return Err("expected an inline list [\"program\", \"argument\"] on one line".to_owned());
    }
    let arguments: Vec<String> =
        serde_yaml::from_str(text).map_err(|_| "expected an inline list of strings [\"program\", \"argument\"]")?;
    if arguments.iter().any(|argument| argument.contains('\0')) {
        return Err("expected arguments without NUL".to_owned());
    }
    match arguments.first() {
        Some(program) if program.is_empty() => Err("expected the list to start with a program".to_owned()),
        Some(program) if program.contains('/') && !program.starts_with('/') => Err(
            "expected the program as a bare name or an absolute path, because a relative one \
                would be the repository's choice"
                .to_owned(),
        ),
        Some(_) | None => Ok(arguments),
    }
}

/// A task of a spec.
pub type SpecTask = (SpecId, TaskId);

/// A pair of tasks of a spec.
pub type SpecPair = (SpecId, Pair);

/// `[spec/1, spec/2.5]`. YAML would read `1.10` as a number elsewhere, and take a trailing comma; it is not asked.
pub(crate) fn task_list(text: &str) -> Result<Vec<SpecTask>, String> {
    let entry =
        |text: &str| TaskId::parse(text).map_err(|invalid| format!("expected a task id of {}", invalid.expected));
    list_of(text, "[spec/1, spec/2.5]", entry)
}

/// `[spec/1-2]`.
pub(crate) fn pair_list(text: &str) -> Result<Vec<SpecPair>, String> {
    let entry = |text: &str| Pair::parse(text).map_err(|invalid| format!("expected {}", invalid.expected));
    list_of(text, "[spec/1-2]", entry)
}

fn list_of<T: PartialEq>(
    text: &str,
    example: &str,
    entry: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<(SpecId, T)>, String> {
    let body = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or_else(|| format!("expected an inline list {example} on one line"))?
        .trim();
    let mut list = Vec::new();
    if body.is_empty() {
        return Ok(list);
    }
    for item in body.split(',').map(unquoted) {
        let (spec, unit) = item
            .split_once('/')
            .ok_or_else(|| format!("expected every entry to name its spec, as {example}"))?;
        let spec = SpecId::parse(spec).map_err(|invalid| format!("expected a spec's name of {}", invalid.expected))?;
        let unit = (spec, entry(unit)?);
        if list.contains(&unit) {
            return Err(format!("expected every entry once, but `{item}` stands there twice"));
        }
        list.push(unit);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn minutes_take_an_optional_unit() {
        for (text, expected) in [
            ("15m", 15),
            ("15", 15),
            ("0", 0),
            ("007m", 7),
            ("99999999999", u32::MAX),
        ] {
            assert_eq!(minutes(text), Ok(Minutes::new(expected)), "{text}");
        }
        for bad in ["", "m", "15 m", "15s", "15mm", "-1", "1.5m", "M15"] {
            assert!(minutes(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Minutes::new(15).seconds(), 900);
        for (text, legal) in [
            ("2m", true),
            ("0", true),
            ("0m", true),
            ("02m", false),
            ("00", false),
            ("", false),
        ] {
            assert_eq!(plain_minutes(text).is_ok(), legal, "{text}");
        }
    }

    #[test]
    fn lists_of_tasks_and_pairs_name_their_specs() {
        let tasks = |text: &str| {
            task_list(text).map(|list| {
                list.iter()
                    .map(|(spec, task)| format!("{spec}:{task}"))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(tasks("[]"), Ok(vec![]));
        assert_eq!(
            tasks("[alpha/1.10, 'beta/2' , \"alpha/3\"]"),
            Ok(["alpha:1.10", "beta:2", "alpha:3"].map(str::to_owned).to_vec())
        );
        for bad in [
            "",
            "alpha/1",
            "[1]",
            "[alpha/1,]",
            "[alpha/1-2]",
            "[Alpha/1]",
            "[alpha/1, alpha/1]",
            "[alpha/]",
        ] {
            assert!(task_list(bad).is_err(), "{bad:?}");
        }
        let pairs = pair_list("[alpha/1-2, beta/2.5-3]").expect("two pairs");
        assert_eq!(
            pairs.iter().map(|(_, pair)| pair.to_string()).collect::<Vec<_>>(),
            ["1-2", "2.5-3"]
        );
        for bad in ["[alpha/1]", "[alpha/1-1]", "[alpha/1-2-3]", "[1-2]", "{alpha: 1-2}"] {
            assert!(pair_list(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn fences_are_taken_or_not() {
        let read = ["auto", "on", "off"].map(fence_policy);
        assert_eq!(read, [Ok(FencePolicy::Auto), Ok(FencePolicy::On), Ok(FencePolicy::Off)]);
        for bad in ["", "true", "Auto", "on,off"] {
            assert!(fence_policy(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn branches_are_short_names_or_nothing() {
        assert_eq!(optional_branch(""), Ok(None));
        assert_eq!(
            optional_branch("release/1.x").map(|name| name.map(|name| name.to_string())),
            Ok(Some("release/1.x".to_owned()))
        );
        for bad in ["-main", "a..b", "a b", "$(id)"] {
            assert!(optional_branch(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn backend_maps_follow_the_strict_grammar() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("{}", &[]),
            ("{   }", &[]),
            ("{alpha: tmux}", &[("alpha", "tmux")]),
            (
                "{alpha: tmux, beta: full-session}",
                &[("alpha", "tmux"), ("beta", "full-session")],
            ),
            (
                "{ 'alpha' : \"tmux\" ,007:print}",
                &[("007", "print"), ("alpha", "tmux")],
            ),
        ];
        for (text, expected) in cases {
            let map = backend_map(text).expect("a legal map");
            let found: Vec<(String, String)> = map
                .iter()
                .map(|(spec, choice)| (spec.to_string(), choice.to_string()))
                .collect();
            let expected: Vec<(String, String)> = expected
                .iter()
                .map(|(spec, choice)| ((*spec).to_owned(), (*choice).to_owned()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        for bad in [
            "",
            "{",
            "}",
            "alpha: tmux",
            "[alpha]",
            "{alpha}",
            "{alpha:}",
            "{: tmux}",
            "{,}",
            "{alpha: tmux,}",
            "{,alpha: tmux}",
            "{alpha: tmux,, beta: print}",
            "{alpha: {a: b}}",
            "{alpha: [tmux]}",
            "{alpha: tmux, alpha: print}",
            "{alpha: tmux, 'alpha': tmux}",
            "{Alpha: tmux}",
            "{alpha: Tmux}",
            "{alpha: tmux: x}",
            "{al pha: tmux}",
            "{alpha: 'tmux}",
        ] {
            assert!(backend_map(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn argument_lists_are_inline_lists_of_strings() {
        for (text, expected) in [
            ("[]", vec![]),
            ("[worker]", vec!["worker"]),
            (
                "[\"/opt/worker\", '--flag=a b', \"a, \\\"b\\\"\"]",
                vec!["/opt/worker", "--flag=a b", "a, \"b\""],
            ),
            ("[sh, ../x]", vec!["sh", "../x"]),
        ] {
            assert_eq!(
                argument_list(text),
                Ok(expected.into_iter().map(str::to_owned).collect()),
                "{text}"
            );
        }
        for bad in [
            "",
            "worker",
            "\"worker\"",
            "{a: b}",
            "[a",
            "[[a]]",
            "[{a: b}]",
            "[a: b]",
            "[\"a]",
            "[\"\"]",
            "[./worker]",
            "[bin/worker]",
            "[~/worker]",
            "[\"a\\0b\"]",
            "[a] [b]",
        ] {
            assert!(argument_list(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_parser(text in "\\PC{0,40}|[\\[{][-a-z0-9:,\"'&*!?|>%@ {}\\[\\]]{0,40}[\\]}]") {
            if let Ok(map) = backend_map(&text) {
                let again: Vec<String> = map.iter().map(|(spec, choice)| format!("{spec}: {choice}")).collect();
                prop_assert_eq!(backend_map(&format!("{{{}}}", again.join(", "))), Ok(map));
            }
            if let Ok(arguments) = argument_list(&text) {
                prop_assert!(arguments.first().is_none_or(|program| !program.is_empty() && (program.starts_with('/') || !program.contains('/'))));
            }
            if let Ok(choice) = backend_choice(&text) {
                prop_assert_eq!(choice.to_string(), text.clone());
            }
            prop_assert_eq!(positive_integer(&text).is_ok(), non_negative_integer(&text).is_ok() && text != "0" && text.len() <= 15);
        }
    }
}
