//! Changes of texts by tokens.
//!
//! A text is cut into words, numbers, spaces and single symbols. A mutation removes, repeats, swaps or replaces tokens,
//! inserts a token of the corpus, or inserts a stretch of another text between matching brackets. Numbers
//! change to those at which arithmetic breaks: 0, -1, powers of two, the limits of 64 bits and the numbers beyond.

use fastrand::Rng;

/// Numbers at which arithmetic breaks.
pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "64",
    "127",
    "128",
    "129",
    "255",
    "1000",
    "65536",
    "2147483647",
    "2147483648",
    "4294967296",
    "3000000000",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999999999999999999",
    "-1",
    "-8",
    "-2147483648",
    "-9223372036854775808",
    "-9223372036854775809",
    "00",
    "1e9",
    "0x10",
];

/// The length from which texts are not made longer.
const LONGEST: usize = 1 << 14;

/// The tokens and texts of a corpus.
pub struct Mutator {
    texts: Vec<Vec<String>>,
    tokens: Vec<String>,
}

impl Mutator {
    /// Takes tokens and stretches from these texts.
    pub fn new(texts: &[&str]) -> Mutator {
        let texts: Vec<Vec<String>> = texts.iter().map(|text| tokens(text)).collect();
        let mut all: Vec<String> = texts.iter().flatten().cloned().collect();
        all.sort();
        all.dedup();
        Mutator { texts, tokens: all }
    }

    /// A text of the corpus.
    pub fn text(&self, rng: &mut Rng) -> String {
        if self.texts.is_empty() { String::new() } else { self.texts[rng.usize(..self.texts.len())].concat() }
    }

    /// The text with one to four changes.
    pub fn mutate(&self, text: &str, rng: &mut Rng) -> String {
        let mut tokens = tokens(text);
        for _ in 0..rng.usize(1..=4) {
            self.change(&mut tokens, rng);
        }
        tokens.concat()
    }

    fn change(&self, tokens: &mut Vec<String>, rng: &mut Rng) {
        if tokens.is_empty() {
            tokens.push(self.token(rng));
            return;
        }
        let size: usize = tokens.iter().map(String::len).sum();
        let at = rng.usize(..tokens.len());
        let end = (at + rng.usize(1..=6)).min(tokens.len());
        match rng.u32(..if size < LONGEST { 11 } else { 5 }) {
            0 => drop(tokens.drain(at..end)),
            1 => drop(tokens.splice(stretch(tokens, at), [])),
            2 => {
                let other = rng.usize(..tokens.len());
                tokens.swap(at, other);
            }
            3 | 4 => {
                let numbers: Vec<usize> = (0..tokens.len()).filter(|k| is_number(&tokens[*k])).collect();
                if !numbers.is_empty() {
                    let at = numbers[rng.usize(..numbers.len())];
                    tokens[at] = number(&tokens[at], rng);
                }
            }
            5 => tokens[at] = self.token(rng),
            6 => tokens.insert(at, self.token(rng)),
            7 => {
                let again = tokens[at..end].to_vec();
                tokens.splice(at..at, again);
            }
            8 => {
                let again = tokens[stretch(tokens, at)].to_vec();
                let times = if rng.u32(..16) == 0 { rng.usize(1..=300) } else { 1 };
                let all = again.iter().cycle().take((again.len() * times).min(LONGEST / 4)).cloned();
                tokens.splice(at..at, all.collect::<Vec<_>>());
            }
            9 => {
                let other = &self.texts[rng.usize(..self.texts.len())];
                if !other.is_empty() {
                    let from = stretch(other, rng.usize(..other.len()));
                    tokens.splice(stretch(tokens, at), other[from].to_vec());
                }
            }
            // Deeper nesting.
            _ => {
                let range = stretch(tokens, at);
                let (open, close) = [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("min(", ", 1)")][rng.usize(..5)];
                let times = if rng.u32(..8) == 0 { rng.usize(1..=400) } else { 1 };
                tokens.insert(range.end, close.repeat(times));
                tokens.insert(range.start, open.repeat(times));
            }
        }
    }

    fn token(&self, rng: &mut Rng) -> String {
        match rng.u32(..8) {
            0 => NUMBERS[rng.usize(..NUMBERS.len())].into(),
            1 => rng.char(..).into(),
            _ if self.tokens.is_empty() => "x".into(),
            _ => self.tokens[rng.usize(..self.tokens.len())].clone(),
        }
    }
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|b| b.is_ascii_digit()) && !token.is_empty()
}

/// Another number, near the old one or far from it.
fn number(old: &str, rng: &mut Rng) -> String {
    match (rng.u32(..6), old.parse::<i64>()) {
        (0, Ok(n)) => n.saturating_add(1).to_string(),
        (1, Ok(n)) => n.saturating_sub(1).to_string(),
        (2, Ok(n)) => n.saturating_mul(rng.i64(2..=1000)).to_string(),
        (3, _) => rng.u32(..300).to_string(),
        _ => NUMBERS[rng.usize(..NUMBERS.len())].into(),
    }
}

/// The range from a token to its matching bracket, if it is a bracket; else the token.
fn stretch(tokens: &[String], at: usize) -> std::ops::Range<usize> {
    let depth = |token: &str| match token {
        "(" | "[" | "{" | "<" => 1,
        ")" | "]" | "}" | ">" => -1,
        _ => 0,
    };
    let mut open = 0;
    for (k, token) in tokens.iter().enumerate().skip(at) {
        open += depth(token);
        if open <= 0 {
            return at..k + 1;
        }
    }
    at..tokens.len()
}

/// The tokens of a text, which concatenate to the text.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        _ if c.is_ascii_digit() => 0,
        _ if c.is_alphanumeric() || c == '_' => 1,
        _ if c.is_whitespace() => 2,
        _ => 3,
    };
    let mut tokens: Vec<(i32, String)> = Vec::new();
    for c in text.chars() {
        match tokens.last_mut() {
            // Digits continue a word, as in `f32`.
            Some((last, token)) if kind(c) != 3 && (*last == kind(c) || *last == 1 && kind(c) == 0) => token.push(c),
            _ => tokens.push((kind(c), c.into())),
        }
    }
    tokens.into_iter().map(|(_, token)| token).collect()
}
