//! Attributes of MLIR: numbers, lists, strings and structures.

use super::constants::{self, Dense, numbers_of};
use super::strings::unescaped;
use super::types::parts;
use crate::text::{Error, did_you_mean, excerpt};

/// `name = text`.
#[derive(Clone, Copy, Debug)]
pub(super) struct MlirAttribute<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// The byte offset of the text.
    pub at: usize,
}

impl<'a> MlirAttribute<'a> {
    /// The error of a value that should be of another form.
    pub fn expected(&self, form: &str) -> Error {
        constants::expected(self.at, self.text, form)
    }

    /// The text before ` : type`.
    pub fn untyped(&self) -> &'a str {
        let mut depth = 0usize;
        for (at, byte) in self.text.bytes().enumerate() {
            match byte {
                b'"' if depth == 0 => return self.text,
                b'<' | b'[' | b'{' | b'(' => depth += 1,
                b'>' | b']' | b'}' | b')' => depth = depth.saturating_sub(1),
                b':' if depth == 0 => return self.text[..at].trim_end(),
                _ => {}
            }
        }
        self.text
    }

    /// One integer: `1 : i64`.
    pub fn integer(&self) -> Result<i64, Error> {
        self.untyped().parse().map_err(|_| self.expected("an integer"))
    }

    /// `true`, `false` or, for an attribute without a value, `unit`.
    pub fn flag(&self) -> Result<bool, Error> {
        match self.untyped() {
            "true" | "unit" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("`true` or `false`")),
        }
    }

    /// Integers: `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>` or one alone; `true` is 1.
    pub fn integers(&self) -> Result<Vec<i64>, Error> {
        let text = self.untyped();
        let read = |token: &str| match token {
            "true" => Some(1),
            "false" => Some(0),
            _ => token.parse().ok(),
        };
        let all = |tokens: &mut dyn Iterator<Item = &str>| -> Option<Vec<i64>> { tokens.map(read).collect() };
        let found = if text.starts_with("dense") {
            return Dense::read(self.text, self.at)?.integers();
        } else if let Some(list) = text.strip_prefix("array<").and_then(|list| list.strip_suffix('>')) {
            let list = list.split_once(':').map_or("", |(_, list)| list);
            all(&mut parts(list).into_iter().map(|(part, _)| part))
        } else if text.starts_with('[') {
            all(&mut numbers_of(text))
        } else {
            read(text).map(|n| vec![n])
        };
        found.ok_or_else(|| self.expected("integers such as `[0, 1]`"))
    }

    /// The unescaped text of a string.
    pub fn string(&self) -> Result<String, Error> {
        let inner = self.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        inner.map(unescaped).ok_or_else(|| self.expected("a string in quotes"))
    }

    /// The parts of a list in brackets.
    pub fn list(&self) -> Result<Vec<MlirAttribute<'a>>, Error> {
        let inner = self.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let inner = inner.ok_or_else(|| self.expected("a list in brackets"))?;
        let part = |(text, at)| MlirAttribute { name: "", text, at: self.at + 1 + at };
        Ok(parts(inner).into_iter().map(part).collect())
    }

    /// The fields of a structure: `#stablehlo.dot<a = [0], b = 1>`, `<a = 1>` or `{a = 1}`.
    pub fn fields(&self) -> Result<Vec<MlirAttribute<'a>>, Error> {
        let (open, close) = if self.text.starts_with('{') { ('{', '}') } else { ('<', '>') };
        let begin = self.text.find(open).filter(|_| self.text.ends_with(close));
        let begin = begin.ok_or_else(|| self.expected("a structure such as `<name = 1>`"))? + 1;
        let field = |(part, at): (&'a str, usize)| {
            let (name, text) = part.split_once('=').unwrap_or((part, ""));
            let text_at = begin + at + part.len() - text.trim_start().len();
            MlirAttribute { name: name.trim().trim_matches('"'), text: text.trim(), at: self.at + text_at }
        };
        Ok(parts(&self.text[begin..self.text.len() - 1]).into_iter().map(field).collect())
    }

    /// The fields of a structure that has these.
    ///
    /// # Errors
    /// Another field.
    pub fn fields_of(&self, known: &[&str]) -> Result<Vec<MlirAttribute<'a>>, Error> {
        let fields = self.fields()?;
        match fields.iter().find(|field| !known.contains(&field.name)) {
            Some(other) => {
                let hint = did_you_mean(other.name, known.iter().copied());
                let message = format!("unknown field `{}`{hint}", excerpt(other.name));
                Err(Error::at(other.at, message).unknown())
            }
            None => Ok(fields),
        }
    }

    /// The last word of an enumeration: `DEFAULT` of `#stablehlo<precision DEFAULT>`.
    pub fn word(&self) -> &'a str {
        let text = self.untyped().trim_end_matches('>');
        text.rsplit([' ', '<', '.']).next().unwrap_or(text)
    }
}

/// The field of this name.
pub(super) fn field<'f, 'a>(fields: &'f [MlirAttribute<'a>], name: &str) -> Option<&'f MlirAttribute<'a>> {
    fields.iter().find(|field| field.name == name)
}
