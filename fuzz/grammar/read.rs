//! Reading grammars.

use super::{Kind, Symbol};
use std::iter::Peekable;
use std::str::Chars;

/// The most repetitions of a group.
const MOST: usize = 5;

/// The rules of a text: names, and the text behind `=`.
pub fn rules(text: &str) -> Vec<(&str, &str)> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() && !line.starts_with([' ', '#']) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let rule = |(start, end): (&usize, usize)| {
        let (name, rule) =
            text[*start..end].split_once('=').unwrap_or_else(|| panic!("no `=` in {}", &text[*start..end]));
        (name.trim(), rule)
    };
    starts.iter().zip(ends).map(rule).collect()
}

/// The alternatives of a rule; `rule` numbers the rules that it names.
pub fn alternatives(text: &str, rule: &mut impl FnMut(&str) -> usize) -> Vec<Vec<Symbol>> {
    let mut chars = text.chars().peekable();
    let mut all = vec![symbols(&mut chars, rule)];
    while chars.next_if_eq(&'|').is_some() {
        all.push(symbols(&mut chars, rule));
    }
    assert_eq!(chars.next(), None, "the rule {text} goes on");
    all
}

/// Symbols up to `|`, `)` or the end.
fn symbols(chars: &mut Peekable<Chars>, rule: &mut impl FnMut(&str) -> usize) -> Vec<Symbol> {
    let mut found = Vec::new();
    while let Some(c) = chars.peek().copied() {
        found.push(match c {
            '|' | ')' => break,
            _ if c.is_whitespace() => {
                chars.next();
                continue;
            }
            '"' => Symbol::Text(quoted(chars)),
            '(' => {
                chars.next();
                let inside = symbols(chars, rule);
                assert_eq!(chars.next(), Some(')'), "a group ends in `)` and has no alternatives");
                let (least, most) = match chars.next() {
                    Some('?') => (0, 1),
                    Some('*') => (0, MOST),
                    Some('+') => (1, MOST),
                    other => panic!("`?`, `*` or `+` must follow a group, found {other:?}"),
                };
                Symbol::Group { inside, least, most }
            }
            ';' | '{' | '}' => {
                chars.next();
                match c {
                    ';' => Symbol::Commit,
                    '{' => Symbol::Open,
                    _ => Symbol::Close,
                }
            }
            '+' | '-' | '$' => {
                chars.next();
                let name = word(chars);
                match c {
                    '+' => Symbol::New(name),
                    '-' => Symbol::Used(name),
                    _ => Symbol::Once(rule(&name)),
                }
            }
            _ => match word(chars).as_str() {
                "small" => Symbol::Number(Kind::Small),
                "size" => Symbol::Number(Kind::Size),
                "number" => Symbol::Number(Kind::Any),
                name => Symbol::Rule(rule(name)),
            },
        });
    }
    found
}

fn word(chars: &mut Peekable<Chars>) -> String {
    let name: String = std::iter::from_fn(|| chars.next_if(|c| c.is_alphanumeric() || *c == '_')).collect();
    assert!(!name.is_empty(), "expected a name, found {:?}", chars.peek());
    name
}

fn quoted(chars: &mut Peekable<Chars>) -> String {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next().expect("a quoted text ends") {
            '"' => return text,
            '\\' => text.push(match chars.next() {
                Some('n') => '\n',
                Some(c @ ('"' | '\\')) => c,
                other => panic!("unknown escape {other:?}"),
            }),
            c => text.push(c),
        }
    }
}
