//! Errors for people: the message, then the line of the text with a caret under the place.
//!
//! ```text
//! model.hlo:3:19: error: unknown operation `parametre`; did you mean `parameter`?
//!   |
//! 3 |   ROOT x = f32[8] parametre(0)
//!   |                   ^
//! ```
//!
//! `annotate-snippets` draws the excerpt: it expands tabs, counts the columns of wide and of combining characters, and
//! cuts a long line around the place. This file finds the line, so an error costs only its line.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::collections::HashMap;
use std::fmt::Display;
use tensor_layout::text::Error;

/// The width of an excerpt in columns; a longer line is cut on both sides of the place.
const WIDTH: usize = 120;

/// The bytes of a line for the renderer on each side of the place: more than fits in [`WIDTH`] columns. The limit
/// exists since the renderer's time grows with the length, and some dumps are one line of megabytes.
const NEAR: usize = 4096;

/// The reason why a tool failed, as the text for standard error: whole lines, with escape sequences for colours.
/// [`finish`] removes the colours where standard error is no terminal or `NO_COLOR` is set.
///
/// [`finish`]: crate::finish
#[derive(Debug)]
pub struct Complaint(String);

impl Complaint {
    /// A message without a place in a text.
    pub fn new(message: impl Display) -> Complaint {
        Complaint(one(Level::ERROR, "", &message.to_string(), None, None))
    }

    /// A message about a file as a whole.
    pub fn about(file: &str, message: impl Display) -> Complaint {
        Complaint(one(Level::ERROR, &format!("{file}: "), &message.to_string(), None, None))
    }

    /// An error in an argument of the command line.
    pub fn in_argument(text: &str, error: &Error) -> Complaint {
        Complaint(one(
            Level::ERROR,
            "",
            &error.message,
            excerpt(text, error, &lines(text)).map(|(excerpt, _)| excerpt),
            None,
        ))
    }

    /// Errors in the text of a file, each with its line and column, both from 1, columns in characters. The same
    /// message at several places appears once, at the first one, with the number of the others and the first of them.
    pub fn in_file(file: &str, text: &str, errors: &[Error]) -> Complaint {
        Complaint::all(Level::ERROR, file, text, errors)
    }

    /// Warnings, in the same form.
    pub fn warnings(file: &str, text: &str, warnings: &[Error]) -> Complaint {
        Complaint::all(Level::WARNING, file, text, warnings)
    }

    fn all(level: Level<'static>, file: &str, text: &str, errors: &[Error]) -> Complaint {
        /// The most different complaints shown.
        const SHOWN: usize = 100;
        let starts = lines(text);
        let mut groups: Vec<Vec<&Error>> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for error in errors {
            let number = *numbers.entry(&error.message).or_insert(groups.len());
            match groups.get_mut(number) {
                Some(group) => group.push(error),
                None => groups.push(vec![error]),
            }
        }
        let one_group = |group: &Vec<&Error>| {
            let more = again(text, &group[1..], &starts);
            match excerpt(text, group[0], &starts) {
                Some((excerpt, column)) => {
                    let place = format!("{file}:{}:{column}: ", excerpt.number);
                    one(level.clone(), &place, &group[0].message, Some(excerpt), more)
                }
                None => one(level.clone(), &format!("{file}: "), &group[0].message, None, more),
            }
        };
        let mut all: String = groups.iter().take(SHOWN).map(one_group).collect();
        if let Some(more) = groups.get(SHOWN..).filter(|more| !more.is_empty()) {
            let count: usize = more.iter().map(Vec::len).sum();
            all += &one(level.clone(), &format!("{file}: "), &format!("{count} more that are not shown"), None, None);
        }
        Complaint(all)
    }

    /// Complaints one after the other; `None` where there are none.
    pub fn together(all: Vec<Complaint>) -> Option<Complaint> {
        (!all.is_empty()).then(|| Complaint(all.into_iter().map(|complaint| complaint.0).collect()))
    }

    /// The text, with escape sequences for colours.
    pub fn styled(&self) -> &str {
        &self.0
    }

    /// The text without colours.
    pub fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.0).to_string()
    }
}

/// A part of a line, and the byte in it that is at fault.
struct Excerpt<'a> {
    line: &'a str,
    number: usize,
    at: usize,
}

/// The offsets at which lines begin.
fn lines(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(k, _)| k + 1)).collect()
}

/// The excerpt of an error and its column, from 1; `None` where the error has no place.
fn excerpt<'a>(text: &'a str, error: &Error, starts: &[usize]) -> Option<(Excerpt<'a>, usize)> {
    let boundary = |k: usize| (0..=k.min(text.len())).rev().find(|k| text.is_char_boundary(*k)).unwrap_or(0);
    let at = boundary(error.at?);
    let number = starts.partition_point(|start| *start <= at);
    let start = starts[number - 1];
    let end = starts.get(number).map_or(text.len(), |next| next - 1);
    let (from, to) = (boundary(at.saturating_sub(NEAR)).max(start), boundary(at + NEAR).min(end).max(at));
    let column = 1 + text[start..at].chars().count();
    Some((Excerpt { line: text[from..to].trim_end_matches('\r'), number, at: at - from }, column))
}

/// The other places of a message: `the same at 2 more places: 3:1, 7:5`.
fn again(text: &str, errors: &[&Error], starts: &[usize]) -> Option<String> {
    const SHOWN: usize = 5;
    let place = |error: &&Error| excerpt(text, error, starts).map(|(e, column)| format!("{}:{column}", e.number));
    let first: Vec<String> = errors.iter().filter_map(place).take(SHOWN).collect();
    let (count, ending) = (errors.len(), if errors.len() > first.len() { ", .." } else { "" });
    let places = if count == 1 { "place" } else { "places" };
    (!first.is_empty()).then(|| format!("the same at {count} more {places}: {}{ending}", first.join(", ")))
}

/// The text of one error: `prefix`, `error: message`, the excerpt below, and a note.
fn one(level: Level<'static>, prefix: &str, message: &str, excerpt: Option<Excerpt>, note: Option<String>) -> String {
    let snippet = excerpt.map(|Excerpt { line, number, at }| {
        let at = at.min(line.len());
        Snippet::source(line).line_start(number).annotation(AnnotationKind::Primary.span(at..at))
    });
    let group = level.primary_title(message).elements(snippet);
    let group = match note {
        Some(note) => group.element(Level::NOTE.message(note)),
        None => group,
    };
    format!("{prefix}{}\n", Renderer::styled().term_width(WIDTH).render(&[group]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_place() {
        let text = "(f32[2],\n/*é*/\tf32[2]{1})";
        let at = |at| Complaint::in_argument(text, &Error::at(at, "wrong")).plain();
        // A tab is drawn as four spaces.
        assert_eq!(at(23), "error: wrong\n  |\n2 | /*é*/    f32[2]{1})\n  |                 ^\n");
        assert_eq!(at(text.len()), "error: wrong\n  |\n2 | /*é*/    f32[2]{1})\n  |                    ^\n");
        let file = Complaint::in_file("a.hlo", text, &[Error::at(23, "wrong"), Error::new("whole")]).plain();
        assert!(file.starts_with("a.hlo:2:14: error: wrong\n  |\n2 | "), "{file}");
        assert!(file.ends_with("^\na.hlo: error: whole\n"), "{file}");
        let again: Vec<Error> = (0..9).map(|k| Error::at(k, "wrong")).chain([Error::at(10, "other")]).collect();
        let file = Complaint::in_file("a.hlo", text, &again).plain();
        let note = "  = note: the same at 8 more places: 1:2, 1:3, 1:4, 1:5, 1:6, ..\na.hlo:2:2: error: other\n";
        assert!(file.starts_with("a.hlo:1:1: error: wrong\n") && file.contains(note), "{file}");
        let many: Vec<Error> = (0..103).map(|k| Error::at(0, format!("wrong {k}"))).collect();
        let file = Complaint::in_file("a.hlo", text, &many).plain();
        assert!(file.ends_with("a.hlo: error: 3 more that are not shown\n"), "{file}");
        assert_eq!(Complaint::new("no place").plain(), "error: no place\n");
        assert_eq!(Complaint::about("a.hlo", "no such file").plain(), "a.hlo: error: no such file\n");
    }

    #[test]
    fn wide_and_combining_characters_have_their_columns() {
        for (text, at, columns) in [("漢字x", 6, 4), ("e\u{301}x", 3, 1), ("\u{200b}x", 3, 0), ("🦀x", 4, 2)] {
            let found = Complaint::in_argument(text, &Error::at(at, "wrong")).plain();
            let caret = found.lines().nth(3).unwrap();
            assert_eq!(caret, format!("  | {}^", " ".repeat(columns)), "{found}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}here{}", "x".repeat(1_000_000), "é".repeat(1_000_000));
        let found = Complaint::in_file("a", &text, &[Error::at(1_000_000, "wrong")]).plain();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines[0], "a:1:1000001: error: wrong");
        assert!(lines[2].chars().count() <= WIDTH + 10, "{found}");
        let caret = lines[3].find('^').unwrap();
        assert_eq!(lines[2].get(caret..caret + 4), Some("here"), "{found}");
    }

    #[test]
    fn a_place_that_no_text_has_is_moved_into_it() {
        for at in 0..9 {
            let found = Complaint::in_argument("aé\r\n漢", &Error::at(at, "wrong")).plain();
            assert!(found.ends_with("^\n"), "{at}: {found}");
        }
        assert!(Complaint::in_argument("", &Error::at(0, "wrong")).plain().starts_with("error: wrong\n"));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let found = Complaint::in_argument("a\u{1b}[31mb", &Error::at(0, "un\u{7}known \u{1b}[31m")).plain();
        assert!(!found.contains(['\u{1b}', '\u{7}']), "{found:?}");
    }
}
