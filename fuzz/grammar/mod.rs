//! Texts from grammars: most of them are valid, so that code behind the parser is tested, too.
//!
//! A grammar is a file of rules, one a line; the first is the start of a text, and a line that begins with a space
//! continues the rule before:
//!
//! ```text
//! program = (line ";")+ "return " -x
//! line = +x " = add " -x ", " -x "\n" | +x " = " small "\n"
//! ```
//!
//! | symbol | what it stands for |
//! |---|---|
//! | `"text"` | itself, with `\n`, `\"` and `\\` |
//! | `name` | one of the alternatives of a rule |
//! | `$name` | the same, chosen once for a text: a shape that all its types have |
//! | `small`, `size`, `number` | 0 to 16; 1 to 9, seldom larger; any, often one at which arithmetic breaks |
//! | `+x`, `-x` | the name of a new value of kind `x`, and of one that there is |
//! | `;` | from here on there are the new values |
//! | `{`, `}` | a region: what is new inside is gone behind it |
//! | `( )` with `?`, `*`, `+` | at most once, any number of times, at least once |
//!
//! A [`Derivation`] is the tree of the choices. Changes follow the rules: a part is replaced by another of the same
//! rule, or left out or repeated where the grammar allows it. Names are given during printing, so that a use always
//! names a known value.

mod derive;
mod read;

pub use derive::Derivation;

use fastrand::Rng;
use std::collections::HashMap;

/// A grammar.
pub struct Grammar {
    rules: Vec<Rule>,
}

#[derive(Default)]
struct Rule {
    alternatives: Vec<Vec<Symbol>>,
    /// The depth of the shallowest text.
    least: usize,
}

enum Symbol {
    Text(String),
    Rule(usize),
    Once(usize),
    Number(Kind),
    New(String),
    Used(String),
    Commit,
    Open,
    Close,
    Group { inside: Vec<Symbol>, least: usize, most: usize },
}

#[derive(Clone, Copy)]
enum Kind {
    Small,
    Size,
    Any,
}

impl Grammar {
    /// Reads a grammar.
    ///
    /// # Panics
    /// If the text is no grammar, or a rule has no finite text.
    pub fn new(text: &str) -> Grammar {
        let mut names = HashMap::new();
        let mut grammar = Grammar { rules: Vec::new() };
        for (name, rule) in read::rules(text) {
            let number = grammar.number(&mut names, name);
            assert!(grammar.rules[number].alternatives.is_empty(), "the rule `{name}` is there twice");
            let alternatives = read::alternatives(rule, &mut |used| grammar.number(&mut names, used));
            grammar.rules[number].alternatives = alternatives;
        }
        for (name, number) in &names {
            assert!(!grammar.rules[*number].alternatives.is_empty(), "there is no rule `{name}`");
        }
        grammar.measure();
        grammar
    }

    fn number(&mut self, names: &mut HashMap<String, usize>, name: &str) -> usize {
        *names.entry(name.to_string()).or_insert_with(|| {
            self.rules.push(Rule { alternatives: Vec::new(), least: usize::MAX });
            self.rules.len() - 1
        })
    }

    /// Computes the least depths, by iteration over all rules until nothing changes.
    fn measure(&mut self) {
        loop {
            let depths: Vec<usize> = self.rules.iter().map(|rule| rule.least).collect();
            let all = self.rules.iter().map(|rule| {
                let least = rule.alternatives.iter().map(|symbols| depth(symbols, &depths)).min();
                least.unwrap_or(usize::MAX).saturating_add(1)
            });
            let new: Vec<usize> = all.collect();
            if new == depths {
                break;
            }
            self.rules.iter_mut().zip(new).for_each(|(rule, least)| rule.least = least);
        }
        assert!(self.rules.iter().all(|rule| rule.least < usize::MAX), "a rule has no finite text");
    }

    /// A random text.
    pub fn text(&self, rng: &mut Rng) -> String {
        self.derive(rng).to_text()
    }
}

/// The depth of the shallowest text of some symbols, with these depths of rules.
fn depth(symbols: &[Symbol], depths: &[usize]) -> usize {
    let of = |symbol: &Symbol| match symbol {
        Symbol::Rule(rule) | Symbol::Once(rule) => depths[*rule],
        Symbol::Group { inside, least, .. } if *least > 0 => depth(inside, depths),
        _ => 0,
    };
    symbols.iter().map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = r#"
program = (line ;)+ "return " -x "\n"
line = +x " = add " -x ", " -x "\n" | +x " = " small "\n" | "loop {\n" { (line ;)* } "}\n"
"#;

    /// Every use names a known value, in derived and in changed texts.
    #[test]
    fn uses_are_of_values_that_there_are() {
        let (grammar, mut rng) = (Grammar::new(PROGRAM), Rng::with_seed(1));
        let (mut uses, mut loops) = (0, 0);
        for _ in 0..2000 {
            let mut derivation = grammar.derive(&mut rng);
            for _ in 0..rng.usize(..4) {
                grammar.change(&mut derivation, &mut rng);
            }
            let text = derivation.to_text();
            let mut scopes: Vec<Vec<&str>> = vec![Vec::new()];
            for line in text.lines() {
                let known = |name: &str| scopes.iter().flatten().any(|known| *known == name);
                match line.split_once(" = ") {
                    Some((new, value)) => {
                        let names = value.strip_prefix("add ").map_or(Vec::new(), |names| names.split(", ").collect());
                        uses += names.iter().filter(|name| known(name)).count();
                        // Without a known value, a use has the name `none`.
                        assert!(names.iter().all(|name| known(name) || *name == "none"), "{text}");
                        scopes.last_mut().unwrap().push(new);
                    }
                    None if line == "loop {" => {
                        loops += 1;
                        scopes.push(Vec::new());
                    }
                    None if line == "}" => drop(scopes.pop()),
                    None => assert!(line.starts_with("return "), "{text}"),
                }
            }
        }
        assert!(uses > 1000 && loops > 500, "{uses} uses, {loops} loops");
    }

    #[test]
    fn what_is_chosen_once_is_the_same_everywhere() {
        let grammar = Grammar::new("a = $b \" \" ($b \" \")+\nb = \"1\" | \"2\" | \"3\" b\n");
        let mut rng = Rng::with_seed(2);
        for _ in 0..200 {
            let text = grammar.text(&mut rng);
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.len() > 1 && words.iter().all(|word| *word == words[0]), "{text}");
        }
    }
}
