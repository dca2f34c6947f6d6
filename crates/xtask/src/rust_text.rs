//! Rust text as a flat list of tokens, for rules that ask what a file says.
//!
//! Comments and documentation are gone, and each token knows its line, the function it stands in, and whether only
//! tests see it. A rule therefore cannot be fooled by a comment, and a comment cannot break a rule.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::failure::{Context, Result};

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Its line, from 1.
    pub(crate) line: usize,
    /// Whether it stands below `#[cfg(test)]`.
    pub(crate) test: bool,
    /// The innermost `fn` it stands in, counted from 1; 0 outside every function.
    pub(crate) function: usize,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, keyword, number, character or lifetime, as written.
    Word(String),
    /// A text or byte literal, unescaped.
    Text(String),
    /// Punctuation, and the opening and closing mark of a group.
    Mark(char),
}

impl Token {
    /// Returns whether the token is that word.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own == word)
    }

    /// Returns whether the token is that punctuation.
    pub(crate) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// Returns the literal's text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Word(_) | Kind::Mark(_) => None,
        }
    }
}

/// One file, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RustText {
    /// The tokens in file order.
    pub(crate) tokens: Vec<Token>,
    /// The modules declared `#[cfg(test)] mod name;`.
    pub(crate) test_modules: Vec<String>,
}

/// Reads a file's text; fails when it is not Rust.
pub(crate) fn read(text: &str) -> Result<RustText> {
    let stream = TokenStream::from_str(text).context(|| "cannot be read as Rust".into())?;
    let mut reader = Reader {
        output: RustText::default(),
        functions: 0,
    };
    let place = Place {
        test: false,
        function: 0,
    };
    reader.sequence(stream, place);
    Ok(reader.output)
}

#[derive(Clone, Copy)]
struct Place {
    test: bool,
    function: usize,
}

struct Reader {
    output: RustText,
    functions: usize,
}

impl Reader {
    fn sequence(&mut self, stream: TokenStream, outer: Place) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut place = outer;
        let mut gated = false;
        let mut signature = false;
        let mut index = 0;
        while let Some(tree) = trees.get(index) {
            if let Some(attribute) = attribute_at(&trees, index) {
                if attribute.inner && is_test_gate(attribute.group) {
                    place.test = true;
                } else if is_test_gate(attribute.group) {
                    gated = true;
                }
                if !is_documentation(attribute.group) {
                    self.group(attribute.group, place_with(place, gated));
                }
                index += attribute.length;
                continue;
            }
            let here = place_with(place, gated);
            match tree {
                TokenTree::Group(group) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    let mut inside = here;
                    if is_body && signature {
                        self.functions += 1;
                        inside.function = self.functions;
                        signature = false;
                    }
                    self.group(group, inside);
                    gated &= !is_body;
                }
                TokenTree::Punct(mark) => {
                    self.push(Kind::Mark(mark.as_char()), mark.span().start().line, here);
                    if mark.as_char() == ';' {
                        gated = false;
                        signature = false;
                    }
                }
                TokenTree::Ident(word) => {
                    let word_text = word.to_string();
                    signature |= word_text == "fn";
                    if here.test && word_text == "mod" {
                        self.note_test_module(&trees[index..]);
                    }
                    self.push(Kind::Word(word_text), word.span().start().line, here);
                }
                TokenTree::Literal(literal) => {
                    let source = literal.to_string();
                    let kind = literal_text(&source).map_or(Kind::Word(source), Kind::Text);
                    self.push(kind, literal.span().start().line, here);
                }
            }
            index += 1;
        }
    }

    fn group(&mut self, group: &Group, place: Place) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ('(', ')'),
            Delimiter::Brace => ('{', '}'),
            Delimiter::Bracket => ('[', ']'),
            Delimiter::None => (' ', ' '),
        };
        self.push(Kind::Mark(open), group.span_open().start().line, place);
        self.sequence(group.stream(), place);
        self.push(Kind::Mark(close), group.span_close().start().line, place);
    }

    fn push(&mut self, kind: Kind, line: usize, place: Place) {
        self.output.tokens.push(Token {
            kind,
            line,
            test: place.test,
            function: place.function,
        });
    }

    fn note_test_module(&mut self, trees: &[TokenTree]) {
        if let [_, TokenTree::Ident(name), TokenTree::Punct(mark), ..] = trees
            && mark.as_char() == ';'
        {
            self.output.test_modules.push(name.to_string());
        }
    }
}

fn place_with(place: Place, gated: bool) -> Place {
    Place {
        test: place.test || gated,
        function: place.function,
    }
}

struct Attribute<'a> {
    group: &'a Group,
    inner: bool,
    length: usize,
}

fn attribute_at(trees: &[TokenTree], index: usize) -> Option<Attribute<'_>> {
    let is = |tree: &TokenTree, wanted: char| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == wanted);
    match trees.get(index..)? {
        [hash, TokenTree::Group(group), ..] if is(hash, '#') => Some(Attribute {
            group,
            inner: false,
            length: 2,
        }),
        [hash, bang, TokenTree::Group(group), ..] if is(hash, '#') && is(bang, '!') => Some(Attribute {
            group,
            inner: true,
            length: 3,
        }),
        _ => None,
    }
}

/// Returns whether the attribute is `cfg(test)` or a `cfg(all(test, …))`, which imply a test build.
fn is_test_gate(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(char::is_whitespace, "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

fn is_documentation(attribute: &Group) -> bool {
    matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "doc")
}

/// Returns what a text, byte or C text literal holds; nothing for other literals.
fn literal_text(source: &str) -> Option<String> {
    let body = source.trim_start_matches(['b', 'c']);
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw.get(hashes + 1..raw.len().checked_sub(hashes + 1)?)?;
        return raw[hashes..].starts_with('"').then(|| inner.to_owned());
    }
    let inner = body.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescape(inner))
}

fn unescape(text: &str) -> String {
    let mut output = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            output.push(character);
            continue;
        }
        match rest.next() {
            Some('n') => output.push('\n'),
            Some('r') => output.push('\r'),
            Some('t') => output.push('\t'),
            Some('0') => output.push('\0'),
            Some('x') => output.extend(code_point(&rest.by_ref().take(2).collect::<String>())),
            Some('u') => {
                let digits: String = rest.by_ref().take_while(|digit| *digit != '}').collect();
                output.extend(code_point(digits.trim_start_matches('{')));
            }
            Some('\n') => rest = rest.as_str().trim_start().chars(),
            Some(other) => output.push(other),
            None => {}
        }
    }
    output
}

fn code_point(digits: &str) -> Option<char> {
    u32::from_str_radix(&digits.replace('_', ""), 16)
        .ok()
        .and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let tokens = read(source).unwrap().tokens;
        tokens
            .iter()
            .filter(|token| !token.test)
            .filter_map(Token::text)
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn comments_and_documentation_are_gone() {
        let source = "//! \"merge\"\n/// \"merge\"\nfn f() { /* \"merge\" */ g(\"kept\"); } // \"merge\"\n";
        assert_eq!(texts(source), ["kept"]);
    }

    #[test]
    fn every_kind_of_literal_is_unescaped() {
        let source = r####"fn f() { g("m\x65rge", r#"a"b"#, b"bytes", c"see", '"', "\u{61}\n"); }"####;
        assert_eq!(texts(source), ["merge", "a\"b", "bytes", "see", "a\n"]);
    }

    #[test]
    fn test_items_are_marked_and_the_next_item_is_not() {
        let source = "#[cfg(test)] mod tests { fn f() { \"in\"; } }\nfn g() { \"out\"; }\n\
                      #[cfg(test)] use a::b;\nconst C: &str = \"also out\";";
        assert_eq!(texts(source), ["out", "also out"]);
    }

    #[test]
    fn a_gate_that_is_not_only_for_tests_hides_nothing() {
        assert_eq!(
            texts("#[cfg(any(test, feature = \"x\"))] mod m { fn f() { \"seen\"; } }"),
            ["x", "seen"]
        );
    }

    #[test]
    fn test_modules_in_files_of_their_own_are_named() {
        let read = read("#[cfg(test)]\nmod model;\nmod product;").unwrap();
        assert_eq!(read.test_modules, ["model"]);
    }

    #[test]
    fn tokens_know_their_line_and_function() {
        let tokens = read("fn a() {\n \"x\"; }\nfn b() { if c { \"y\" } \"z\"; }\nconst D: &str = \"w\";")
            .unwrap()
            .tokens;
        let places: Vec<_> = tokens
            .iter()
            .filter_map(|token| token.text().map(|text| (text, token.line, token.function)))
            .collect();
        assert_eq!(places, [("x", 2, 1), ("y", 3, 2), ("z", 3, 2), ("w", 4, 0)]);
    }

    #[test]
    fn what_is_not_rust_is_an_error() {
        assert!(read("fn f( {").is_err());
    }
}
