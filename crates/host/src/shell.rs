//! Words of a shell, for commands that a person is shown and may run as they stand (law L8: the product itself runs none).

/// Returns the text as one word of a shell.
#[must_use]
pub fn word(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:=@%,".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        // What is printed shows no control character as it stands, and a name without it is another one.
        let bytes = text.bytes().map(|byte| match byte {
            b'\'' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            other => format!("\\x{other:02x}"),
        });
        format!("$'{}'", bytes.collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_or_change_it() {
        for plain in ["/a/b-c", "refs/heads/x", ":refs/x", "a=b,c"] {
            assert_eq!(word(plain), plain);
        }
        for (text, expected) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("a;b", "'a;b'"),
            ("${IFS}", "'${IFS}'"),
            ("a\nb", "$'a\\x0ab'"),
            ("a\tit's\\", "$'a\\x09it\\'s\\\\'"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
