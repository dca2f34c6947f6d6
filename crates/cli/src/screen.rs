//! What standard output can show: how wide it is, which characters, and whether colours.

use crate::environment::text;

/// What is assumed where nothing says how wide a line may be.
const USUAL_WIDTH: usize = 80;

/// Standard output, as it shows things to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// How many columns a line may take.
    pub(crate) width: usize,
    /// The locale says that characters beyond ASCII are shown.
    pub(crate) has_unicode: bool,
    /// Colours are wanted where the command line does not say.
    pub(crate) has_color: bool,
}

impl Screen {
    /// Looks at standard output and at the variables that speak of it.
    pub(crate) fn read() -> Self {
        let out = std::io::stdout();
        let is_terminal = rustix::termios::isatty(&out);
        let asked = text("COLUMNS").and_then(|columns| columns.parse().ok());
        let measured = || {
            rustix::termios::tcgetwinsize(&out)
                .ok()
                .map(|size| usize::from(size.ws_col))
        };
        let width = asked.or_else(measured).filter(|width| *width > 0);
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text);
        let is_dumb = text("TERM").is_some_and(|terminal| terminal == "dumb");
        Self {
            width: width.unwrap_or(USUAL_WIDTH),
            has_unicode: locale.is_some_and(|locale| is_utf8(&locale)),
            has_color: is_terminal && !is_dumb && text("NO_COLOR").is_none(),
        }
    }
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_with_utf8() {
        assert!(["C.UTF-8", "de_DE.utf8", "en_US.UTF-8@x"].into_iter().all(is_utf8));
        assert!(!["C", "POSIX", "en_US.ISO-8859-1"].into_iter().any(is_utf8));
    }
}
