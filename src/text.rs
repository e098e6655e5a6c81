//! Reading notation: a cursor over the text, and the one error type.
//!
//! The cursor is always at the start of a token: it skips white space and comments (`/* .. */`, not nested; `// ..` to
//! the end of the line) right after the token before them. So an error's offset is that of the token at fault, in
//! bytes: in `f32[2,,3]` a dimension is missing at 6.
//!
//! Reading is linear in the length of the text.

use std::fmt;

/// The kind of an [`Error`], for callers that react to it.
///
/// ```
/// use tensor_layout::operations::{Array, Shape};
/// use tensor_layout::text::ErrorKind;
/// use tensor_layout::tiled::Expansion;
///
/// let wrong = |text: &str| text.parse::<Shape>().unwrap_err().kind;
/// assert_eq!(wrong("f32[3,5"), ErrorKind::Syntax);
/// assert_eq!(wrong("f33[3,5]"), ErrorKind::Unknown);
/// assert_eq!(wrong("f32[3,5]{1,0:T(0)}"), ErrorKind::Invalid);
/// assert_eq!(wrong("f32[9223372036854775808]"), ErrorKind::TooLarge);
///
/// let sparse: Array = "f32[3,5]{1,0:#(u32)}".parse().unwrap();
/// assert_eq!(tensor_layout::packing::Packer::new(&sparse).unwrap_err().kind, ErrorKind::Unsupported);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text does not follow its grammar.
    Syntax,
    /// An unknown name: an element type, a memory space, an axis, a machine.
    Unknown,
    /// A rule is broken: a tile size of 0, an index out of range, two ranks that differ.
    Invalid,
    /// A number that does not fit in 64 bits, or is above a limit of this crate.
    TooLarge,
    /// Valid input that is not supported: a sparse array, a layout that a notation cannot express.
    Unsupported,
    /// Time or a limit of work ran out before an answer: there may be one.
    Undecided,
    /// A bug of this project: a panic, whatever the input.
    Internal,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::Syntax,
        ErrorKind::Unknown,
        ErrorKind::Invalid,
        ErrorKind::TooLarge,
        ErrorKind::Unsupported,
        ErrorKind::Undecided,
        ErrorKind::Internal,
    ];

    /// The name in the line protocol and the Python package: `too large`.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Syntax => "syntax",
            ErrorKind::Unknown => "unknown",
            ErrorKind::Invalid => "invalid",
            ErrorKind::TooLarge => "too large",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Undecided => "undecided",
            ErrorKind::Internal => "internal",
        }
    }
}

/// An error: the fault, and its offset in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The kind of the fault.
    pub kind: ErrorKind,
    /// The byte offset of the fault, from 0 to the text's length; `None` if no text is at fault.
    pub at: Option<usize>,
    /// The fault and the correction, without a final full stop.
    pub message: String,
}

impl Error {
    /// An error at a byte of the text; its kind is [`ErrorKind::Invalid`] until changed.
    pub fn at(at: usize, message: impl Into<String>) -> Error {
        Error { at: Some(at), ..Error::new(message) }
    }

    /// The line and column in `text` of the fault, both from 1, columns in characters.
    pub fn line_column(&self, text: &str) -> Option<(usize, usize)> {
        let before = String::from_utf8_lossy(text.as_bytes().get(..self.at?)?);
        let line = before.rsplit('\n').next()?;
        Some((1 + before.matches('\n').count(), 1 + line.chars().count()))
    }

    /// An error without a text, such as an index out of range; its kind is [`ErrorKind::Invalid`] until changed.
    pub fn new(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Invalid, at: None, message: message.into() }
    }

    /// The same error with another message.
    pub fn with_message(self, message: impl Into<String>) -> Error {
        Error { message: message.into(), ..self }
    }

    /// The same error at another offset.
    pub fn with_offset(self, at: Option<usize>) -> Error {
        Error { at, ..self }
    }

    /// The error of a part of a text, which begins at `start`, as one of the text.
    pub fn shifted(self, start: usize) -> Error {
        Error { at: self.at.map(|at| at + start), ..self }
    }

    /// The same error as [`ErrorKind::Syntax`].
    pub fn syntax(self) -> Error {
        Error { kind: ErrorKind::Syntax, ..self }
    }

    /// The same error as [`ErrorKind::Unknown`].
    pub fn unknown(self) -> Error {
        Error { kind: ErrorKind::Unknown, ..self }
    }

    /// The same error as [`ErrorKind::TooLarge`].
    pub fn too_large(self) -> Error {
        Error { kind: ErrorKind::TooLarge, ..self }
    }

    /// The same error as [`ErrorKind::Unsupported`].
    pub fn unsupported(self) -> Error {
        Error { kind: ErrorKind::Unsupported, ..self }
    }

    /// The same error as [`ErrorKind::Undecided`].
    pub fn undecided(self) -> Error {
        Error { kind: ErrorKind::Undecided, ..self }
    }

    /// The same error as [`ErrorKind::Internal`].
    pub fn internal(self) -> Error {
        Error { kind: ErrorKind::Internal, ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// [`FromStr`](std::str::FromStr) of types whose `parse` reads their text, with the error of `parse`.
macro_rules! from_str {
    ($($read:ty: $error:ty),*) => {$(
        impl std::str::FromStr for $read {
            type Err = $error;

            fn from_str(text: &str) -> Result<$read, $error> {
                <$read>::parse(text)
            }
        }
    )*};
}

pub(crate) use from_str;

/// A cursor over a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The offset of a comment that never ends; everything after it counts as end of text.
    unclosed: Option<usize>,
    /// Whether a `{` after a shape may open a body, as in HLO's `-> f32[] {`.
    bodies: bool,
    /// Whether the text may have comments.
    comments: bool,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first token.
    pub fn new(text: &'a str) -> Self {
        let mut cursor = Cursor { text, at: 0, unclosed: None, bodies: false, comments: true };
        cursor.advance(0);
        cursor
    }

    /// A cursor at the first token of a text that has no comments.
    pub fn without_comments(text: &'a str) -> Self {
        let mut cursor = Cursor { text, at: 0, unclosed: None, bodies: false, comments: false };
        cursor.advance(0);
        cursor
    }

    /// A cursor at the first token of a text that may have bodies in braces.
    #[cfg(feature = "hlo")]
    pub fn with_bodies(text: &'a str) -> Self {
        Cursor { bodies: true, ..Cursor::new(text) }
    }

    /// Whether the next token opens a layout: a `{` that does not open a body.
    pub fn at_layout(&self) -> bool {
        let mut inside = *self;
        inside.eat("{")
            && !(self.bodies && matches!(inside.peek(), Some(b) if !b.is_ascii_digit() && b != b':' && b != b'}'))
    }

    /// The text from the next token on.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The byte offset of the next token; the text's length at its end.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The first byte of the next token.
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether the next token follows the last one without white space.
    pub(crate) fn adjoins(&self) -> bool {
        self.at > 0 && !self.text.as_bytes()[self.at - 1].is_ascii_whitespace()
    }

    /// Takes the token `symbol` if it is next.
    pub fn eat(&mut self, symbol: &str) -> bool {
        let next = self.text.as_bytes()[self.at..].starts_with(symbol.as_bytes());
        if next {
            self.advance(symbol.len());
        }
        next
    }

    /// Takes the token `symbol`; `what` lists the choices for the message.
    pub fn expect(&mut self, symbol: &str, what: &str) -> Result<(), Error> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// The letters, digits and underscores of the next token, if it begins with a letter, without taking it.
    pub fn peek_word(&self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let first = rest.bytes().next()?;
        first.is_ascii_alphabetic().then(|| &rest[..length(rest, |b| b.is_ascii_alphanumeric() || b == b'_')])
    }

    /// The letters, digits and underscores of the next token, if it begins with a letter or an underscore, without
    /// taking it.
    pub fn peek_name(&self) -> Option<&'a str> {
        let rest = self.rest();
        let starts = rest.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        starts.then(|| &rest[..length(rest, |b| b.is_ascii_alphanumeric() || b == b'_')])
    }

    /// Takes the next token if it is a word.
    pub fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.advance(word.len());
        Some(word)
    }

    /// Takes a number without a sign; `what` describes it in the message.
    pub fn integer(&mut self, what: &str) -> Result<i64, Error> {
        let rest = &self.text[self.at..];
        let digits = &rest[..length(rest, |b| b.is_ascii_digit())];
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let too_large = |_| Error::at(self.at, format!("`{}` does not fit in 64 bits", excerpt(digits))).too_large();
        let value = digits.parse().map_err(too_large)?;
        self.advance(digits.len());
        Ok(value)
    }

    /// The error for an unexpected next token.
    pub fn expected(&self, what: &str) -> Error {
        if let Some(at) = self.unclosed {
            return Error::at(at, "expected `*/` to close this comment").syntax();
        }
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => return Error::at(self.at, format!("expected {what}, found the end of the text")).syntax(),
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                excerpt(&rest[..length(rest, |b| b.is_ascii_alphanumeric() || b == b'_')])
            }
            Some(c @ ('\'' | '"')) => c.to_string(),
            Some(c) => c.escape_debug().to_string(),
        };
        Error::at(self.at, format!("expected {what}, found `{found}`")).syntax()
    }

    /// Succeeds only at the end of the text.
    pub fn finish(&self, what: &str) -> Result<(), Error> {
        if self.at == self.text.len() && self.unclosed.is_none() { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Skips a token of `bytes` bytes and the white space and comments after it.
    pub fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        loop {
            let rest = &self.text[self.at..];
            let skip = match rest.as_bytes() {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
                [b'/', ..] if self.comments => match comment_length(rest) {
                    Some(0) => return,
                    Some(length) => length,
                    None => {
                        self.unclosed = Some(self.at);
                        rest.len()
                    }
                },
                _ => return,
            };
            self.at += skip;
        }
    }
}

/// The length of the comment at the start of `text`, in bytes, or 0; `None` if it does not end.
pub(crate) fn comment_length(text: &str) -> Option<usize> {
    match text.as_bytes() {
        [b'/', b'/', ..] => Some(length(text, |b| b != b'\n' && b != b'\r')),
        [b'/', b'*', ..] => text[2..].find("*/").map(|end| end + 4),
        _ => Some(0),
    }
}

/// The number of leading bytes of `text` that satisfy `accept`.
pub(crate) fn length(text: &str, accept: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|b| !accept(b)).unwrap_or(text.len())
}

/// `text`, cut where it is too long for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_string(),
    }
}

/// The name nearest to `name`, ignoring case, if at most a third of its letters are wrong, missing, too many, or
/// swapped.
///
/// ```
/// assert_eq!(tensor_layout::text::nearest("tilde", ["tiled", "machine"].into_iter()), Some("tiled"));
/// ```
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > 40 {
        return None;
    }
    let distance = |other: &str| {
        let (a, b) = (name.to_ascii_lowercase().into_bytes(), other.to_ascii_lowercase().into_bytes());
        // `table[i][j]` is the distance between the first i bytes of `a` and the first j of `b`.
        let mut table: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
        for i in 1..=a.len() {
            let mut row = vec![i];
            for j in 1..=b.len() {
                let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut here = changed.min(table[i - 1][j] + 1).min(row[j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    here = here.min(table[i - 2][j - 2] + 1);
                }
                row.push(here);
            }
            table.push(row);
        }
        table[a.len()][b.len()]
    };
    let near = names.map(|other| (distance(other), other)).filter(|(distance, other)| distance * 3 <= other.len());
    near.min().map(|(_, other)| other)
}

/// The hint after ``unknown X `y` ``: the shortest name that begins with `y`, or the [`nearest`] one, or one that
/// contains `y`, as a question; empty if there is none.
///
/// ```
/// use tensor_layout::text::did_you_mean;
/// assert_eq!(did_you_mean("vmen", ["hbm", "vmem"].into_iter()), "; did you mean `vmem`?");
/// assert_eq!(did_you_mean("tpu", ["cpu", "tpu_v5e"].into_iter()), "; did you mean `tpu_v5e`?");
/// assert_eq!(did_you_mean("disk", ["hbm", "vmem"].into_iter()), "");
/// ```
pub fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let begins =
        |other: &&str| name.len() >= 2 && other.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let near = names.iter().copied().filter(begins).min_by_key(|other| other.len());
    let near = near.or_else(|| nearest(name, names.iter().copied()));
    let near = near.or_else(|| names.iter().copied().find(|other| name.len() >= 3 && other.contains(name)));
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// The hint of [`did_you_mean`], or else all names.
///
/// ```
/// use tensor_layout::text::instead;
/// assert_eq!(instead("vmen", &["hbm", "vmem"]), "; did you mean `vmem`?");
/// assert_eq!(instead("disk", &["hbm", "vmem"]), "; expected hbm or vmem");
/// ```
pub fn instead(name: &str, names: &[&str]) -> String {
    let hint = did_you_mean(name, names.iter().copied());
    if hint.is_empty() { format!("; expected {}", choices(names)) } else { hint }
}

/// Names as a list of choices.
///
/// ```
/// assert_eq!(tensor_layout::text::choices(&["a", "b", "c"]), "a, b or c");
/// ```
pub fn choices(names: &[&str]) -> String {
    match names {
        [first @ .., before, last] if !first.is_empty() => format!("{}, {before} or {last}", first.join(", ")),
        [a, b] => format!("{a} or {b}"),
        names => names.join(""),
    }
}

/// A number with its noun, in the plural unless it is 1.
///
/// ```
/// use tensor_layout::text::counted;
/// assert_eq!((counted(1_i64, "dimension"), counted(0_usize, "entry")), ("1 dimension".into(), "0 entries".into()));
/// ```
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(n: N, what: &str) -> String {
    match what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if n == N::from(1) => format!("{n} {what}"),
        Some(stem) => format!("{n} {stem}ies"),
        None => format!("{n} {what}s"),
    }
}

/// Binary formats that hold texts: the offset of the mark, the mark, and the command that makes text of it.
const BINARY_FORMATS: [(usize, &[u8], &str); 19] = [
    (0, b"\xfd7zXZ", "xz; `xz -d` decompresses it"),
    (0, b"BZh", "bzip2; `bzip2 -d` decompresses it"),
    (0, b"\x1f\x8b", "gzip; `gzip -d` decompresses it"),
    (0, b"\x28\xb5\x2f\xfd", "zstd; `zstd -d` decompresses it"),
    (0, b"\x1f\x9d", "what compress wrote; `gzip -d` decompresses it"),
    (0, b"\x04\x22\x4d\x18", "lz4; `lz4 -d` decompresses it"),
    (0, b"LZIP", "lzip; `lzip -d` decompresses it"),
    (0, b"x\x01", ZLIB),
    (0, b"x^", ZLIB),
    (0, b"x\x9c", ZLIB),
    (0, b"x\xda", ZLIB),
    (0, b"PK\x03\x04", "a zip archive; `unzip -p` prints the files in it"),
    (0, b"PK\x05\x06", "a zip archive without files"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive; `7z e -so` prints the files in it"),
    (0, b"!<arch>\n", "an archive of ar; `ar p` prints the files in it"),
    (257, b"ustar", "a tar archive; `tar -xO` prints the files in it"),
    (0, b"\xff\xfe\x00\x00", "UTF-32; `iconv -f UTF-32 -t UTF-8` converts it"),
    (0, b"\xff\xfe", UTF_16),
    (0, b"\xfe\xff", UTF_16),
];

const ZLIB: &str = "zlib; `pigz -d` decompresses it";
const UTF_16: &str = "UTF-16; `iconv -f UTF-16 -t UTF-8` converts it";

/// The binary format of a file with these bytes, and the command that makes text of it; `None` for a text.
pub fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    let is = |(at, mark, _): &&(usize, &[u8], &str)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    // A text may have the letters of a mark at its place. No text has control characters, or bytes that are not UTF-8.
    let is_binary = |c: char| c.is_control() && !c.is_whitespace();
    let is_text = || str::from_utf8(bytes).is_ok_and(|text| !text.contains(is_binary));
    let is_letters = |mark: &[u8]| mark.iter().all(u8::is_ascii_graphic);
    let found = BINARY_FORMATS.iter().find(is).filter(|(_, mark, _)| !is_letters(mark) || !is_text());
    found.map(|(_, _, format)| *format)
}

#[cfg(test)]
mod tests {
    use super::binary_format;

    /// Checks that letters alone are no mark, whatever comes first, and that one byte that no text has makes them one.
    #[test]
    fn a_text_may_begin_as_an_archive() {
        let late = format!("{:257}ustar", "HloModule m // ");
        for begin in ["BZh", "BZh91AY&SY", "LZIP", "x^", &late] {
            let text = format!("{begin} = s32[] parameter(0)\n\t\u{e9}\r\n");
            assert_eq!(binary_format(text.as_bytes()), None, "{text}");
            for byte in [0, 1, 0x1b, 0x7f, 0x80, 0xff] {
                assert!(binary_format(&[begin.as_bytes(), &[byte]].concat()).is_some(), "{begin} {byte:x}");
            }
        }
        for mark in [&b"x\x01"[..], b"PK\x03\x04", b"!<arch>\n", b"\x1f\x8b", b"\xff\xfeH\0"] {
            assert!(binary_format(mark).is_some(), "{mark:?}");
        }
        assert_eq!(binary_format(b""), None);
    }
}
