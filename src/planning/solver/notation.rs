//! The text of a certificate, and its parser.
//!
//! Each line is one item: a word, then numbers. `parse(to_string(c)) == c`.
//!
//! ```text
//! certificate
//! cost 4
//! bound 4
//! choices 1 1
//! dominated 0 2 by 1
//! drop 0 0
//! merge 3 into 0
//! exclude 5 shift 10
//! price 0 at 1: 250
//! message 0 1: 3 0 / -2 0
//! branch 0: 0 1 / 2
//! bound shift 0
//! eliminate 0 1
//! ```
//!
//! `exclude`, with its limit, and `bound shift` begin a dual; the lines after it belong to the dual.

use super::certificate::{Certificate, Dual, Message, Multiplier, ProofNode, Reduction};
use std::fmt;
use std::str::FromStr;
use tensor_layout::text::Error;

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "certificate\ncost {}\nbound {}", self.cost, self.bound)?;
        numbers(f, "choices", &self.choices)?;
        writeln!(f)?;
        for reduction in &self.reductions {
            match reduction {
                Reduction::Drop { variable, choice } => writeln!(f, "drop {variable} {choice}")?,
                Reduction::Dominated { variable, choice, by } => writeln!(f, "dominated {variable} {choice} by {by}")?,
                Reduction::Merge { from, into } => writeln!(f, "merge {from} into {into}")?,
            }
        }
        for node in &self.proof {
            match node {
                ProofNode::Bound(dual) => write_dual(f, "bound", dual)?,
                ProofNode::Exclude(limit, dual) => write_dual(f, &format!("exclude {limit}"), dual)?,
                ProofNode::Branch { variable, parts } => {
                    write!(f, "branch {variable}")?;
                    for (at, part) in parts.iter().enumerate() {
                        numbers(f, if at == 0 { ":" } else { " /" }, part)?;
                    }
                    writeln!(f)?;
                }
            }
        }
        Ok(())
    }
}

fn numbers<T: fmt::Display>(f: &mut fmt::Formatter<'_>, before: &str, list: &[T]) -> fmt::Result {
    f.write_str(before)?;
    list.iter().try_for_each(|number| write!(f, " {number}"))
}

fn write_dual(f: &mut fmt::Formatter<'_>, kind: &str, dual: &Dual) -> fmt::Result {
    writeln!(f, "{kind} shift {}", dual.shift)?;
    for Multiplier { resource, moment, price } in &dual.prices {
        writeln!(f, "price {resource} at {moment}: {price}")?;
    }
    for Message { ends: [a, b], to: [to_a, to_b] } in &dual.messages {
        write!(f, "message {a} {b}")?;
        numbers(f, ":", to_a)?;
        numbers(f, " /", to_b)?;
        writeln!(f)?;
    }
    if !dual.eliminated.is_empty() {
        numbers(f, "eliminate", &dual.eliminated)?;
        writeln!(f)?;
    }
    Ok(())
}

impl Certificate {
    /// Parses the text that `to_string` writes. [`check`](super::check) verifies the certificate.
    ///
    /// # Errors
    /// A line that does not belong to a certificate, with its byte offset.
    pub fn parse(text: &str) -> Result<Certificate, Error> {
        let mut lines = Lines { text, at: 0 };
        lines.next("certificate")?.end()?;
        let mut cost = lines.next("cost")?;
        let mut bound = lines.next("bound")?;
        let mut choices = lines.next("choices")?;
        let mut certificate = Certificate {
            cost: cost.only()?,
            bound: bound.only()?,
            choices: choices.numbers()?,
            reductions: Vec::new(),
            proof: Vec::new(),
        };
        choices.end()?;
        while let Some(mut line) = lines.line() {
            let (at, word) = (line.place(), line.word());
            match word {
                "drop" if certificate.proof.is_empty() => {
                    let (variable, choice) = (line.number()?, line.only()?);
                    certificate.reductions.push(Reduction::Drop { variable, choice });
                }
                "dominated" if certificate.proof.is_empty() => {
                    let (variable, choice) = (line.number()?, line.number()?);
                    line.expect("by")?;
                    certificate.reductions.push(Reduction::Dominated { variable, choice, by: line.only()? });
                }
                "merge" if certificate.proof.is_empty() => {
                    let from = line.number()?;
                    line.expect("into")?;
                    certificate.reductions.push(Reduction::Merge { from, into: line.only()? });
                }
                "bound" => certificate.proof.push(ProofNode::Bound(line.dual()?)),
                "exclude" => {
                    let limit = line.number()?;
                    certificate.proof.push(ProofNode::Exclude(limit, line.dual()?));
                }
                "branch" => certificate.proof.push(branch(&mut line)?),
                _ => match certificate.proof.last_mut() {
                    Some(ProofNode::Bound(dual) | ProofNode::Exclude(_, dual)) => line.of_dual(word, at, dual)?,
                    _ => {
                        return Err(Error::at(at, format!("expected a line of a certificate, found `{word}`")).syntax());
                    }
                },
            }
        }
        Ok(certificate)
    }
}

fn branch(line: &mut Line<'_>) -> Result<ProofNode, Error> {
    let variable = line.number()?;
    line.expect(":")?;
    let mut parts = vec![line.numbers()?];
    while line.take("/") {
        parts.push(line.numbers()?);
    }
    line.end()?;
    Ok(ProofNode::Branch { variable, parts })
}

struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lines<'a> {
    fn line(&mut self) -> Option<Line<'a>> {
        while self.at < self.text.len() {
            let start = self.at;
            let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
            self.at = end + 1;
            if !self.text[start..end].trim().is_empty() {
                return Some(Line { text: self.text, at: start, end });
            }
        }
        None
    }

    /// The next line, which must begin with `word`.
    fn next(&mut self, word: &str) -> Result<Line<'a>, Error> {
        let end = Line { text: self.text, at: self.text.len(), end: self.text.len() };
        let mut line = self.line().unwrap_or(end);
        line.expect(word)?;
        Ok(line)
    }
}

/// A line: words and numbers between white space; `:` is a word by itself.
struct Line<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Line<'a> {
    /// The offset of the next word.
    fn place(&self) -> usize {
        let rest = &self.text[self.at..self.end];
        self.at + rest.len() - rest.trim_start().len()
    }

    /// The next word, empty at the end of the line; does not consume it.
    fn peek(&self) -> &'a str {
        let rest = &self.text[self.place()..self.end];
        let length = rest.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(rest.len());
        &rest[..if rest.starts_with(':') { 1 } else { length }]
    }

    fn word(&mut self) -> &'a str {
        let word = self.peek();
        self.at = self.place() + word.len();
        word
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, Error> {
        let found = match self.peek() {
            "" => "the end of the line".to_string(),
            word => format!("`{}`", word.chars().take(40).collect::<String>()),
        };
        Err(Error::at(self.place(), format!("expected {expected}, found {found}")).syntax())
    }

    fn take(&mut self, word: &str) -> bool {
        let taken = self.peek() == word;
        if taken {
            self.word();
        }
        taken
    }

    fn expect(&mut self, word: &str) -> Result<(), Error> {
        if self.take(word) { Ok(()) } else { self.wrong(&format!("`{word}`")) }
    }

    fn number<T: FromStr>(&mut self) -> Result<T, Error> {
        match self.peek().parse() {
            Ok(number) => {
                self.word();
                Ok(number)
            }
            Err(_) => self.wrong("a number that fits"),
        }
    }

    /// The numbers up to a `/` or the end.
    fn numbers<T: FromStr>(&mut self) -> Result<Vec<T>, Error> {
        let mut list = Vec::new();
        while !matches!(self.peek(), "" | "/") {
            list.push(self.number()?);
        }
        Ok(list)
    }

    /// The last number of the line.
    fn only<T: FromStr>(&mut self) -> Result<T, Error> {
        let number = self.number()?;
        self.end()?;
        Ok(number)
    }

    fn end(&self) -> Result<(), Error> {
        if self.peek().is_empty() { Ok(()) } else { self.wrong("the end of the line") }
    }

    /// The rest of the first line of a dual.
    fn dual(&mut self) -> Result<Dual, Error> {
        self.expect("shift")?;
        Ok(Dual { shift: self.only()?, ..Dual::default() })
    }

    /// A further line of a dual.
    fn of_dual(&mut self, word: &str, at: usize, dual: &mut Dual) -> Result<(), Error> {
        match word {
            "price" => {
                let resource = self.number()?;
                self.expect("at")?;
                let moment = self.number()?;
                self.expect(":")?;
                dual.prices.push(Multiplier { resource, moment, price: self.only()? });
            }
            "message" => {
                let ends = [self.number()?, self.number()?];
                self.expect(":")?;
                let to_a = self.numbers()?;
                self.expect("/")?;
                dual.messages.push(Message { ends, to: [to_a, self.numbers()?] });
                self.end()?;
            }
            "eliminate" => {
                dual.eliminated = self.numbers()?;
                self.end()?;
            }
            _ => return Err(Error::at(at, format!("expected a line of a certificate, found `{word}`")).syntax()),
        }
        Ok(())
    }
}

impl FromStr for Certificate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Certificate, Error> {
        Certificate::parse(text)
    }
}
