//! `layout-verify`: passes one after another, and after each of them a comparison with the program before all of them.
//!
//! The comparison is that of the crate `layout-verify`, which uses nothing of this project.

use crate::diagnostic::{Diagnostic, Severity};
use layout_ir::{self as ir, Op};
use layout_verify::{Finding, Limits, Source};

/// The name of the pass.
pub(crate) const NAME: &str = "layout-verify";

/// What the pass keeps from one of its steps to the next.
#[derive(Default)]
pub(crate) struct State(Option<Source>);

/// The options as text: the passes in braces, and the other options.
fn split(options: &str) -> (&str, &str) {
    let Some((_, rest)) = options.split_once("passes={") else { return ("", options) };
    rest.rsplit_once('}').unwrap_or((rest, ""))
}

/// The passes, each as text: they are separated by commas outside of all brackets.
pub(crate) fn passes(options: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for c in split(options).0.chars() {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => (),
        }
        all.last_mut().expect("there is always a last one").push(c);
    }
    all.retain(|pass| !pass.trim().is_empty());
    all
}

/// Whether the options can be followed.
///
/// # Errors
/// Where the number of steps is none.
pub(crate) fn check(options: &str) -> Result<(), String> {
    steps(options).map(|_| ())
}

fn steps(options: &str) -> Result<u64, String> {
    let text = split(options).1.split_whitespace().find_map(|word| word.strip_prefix("steps="));
    let read = |text: &str| text.parse().map_err(|_| format!("steps must be a number, found `{text}`"));
    text.map_or(Ok(1 << 20), read)
}

/// Step `number` of the pass: the program as the passes so far left it is compared. Gives the pass that runs next.
///
/// # Errors
/// Where the program computes something else.
pub(crate) fn run<'c>(
    module: Op<'c>,
    options: &str,
    number: usize,
    state: &mut State,
) -> Result<Option<String>, Vec<Diagnostic<'c>>> {
    let passes = passes(options);
    let allows = |option: &str| {
        passes.iter().any(|pass| {
            let mut values = pass.split([' ', '{', '}']).filter_map(|word| word.strip_prefix(option));
            values.any(|value| !matches!(value, "=0" | "=false"))
        })
    };
    let errors = match &mut state.0 {
        Some(source) if number > 0 => source.check(module),
        _ => {
            let wrong = |message| vec![Diagnostic::error(ir::location(module), message)];
            let limits = Limits {
                steps: steps(options).map_err(wrong)?,
                reassociate: allows("reassociate"),
                contract: allows("contract"),
            };
            state.0 = Some(Source::new(module, limits));
            vec![]
        }
    };
    let pass = number.checked_sub(1).and_then(|number| passes.get(number));
    let after = pass.map_or(String::new(), |pass| format!("after {pass}: "));
    let diagnostic = |finding: &Finding, after: &str| Diagnostic {
        severity: if finding.is_error { Severity::Error } else { Severity::Remark },
        location: finding.location(module).unwrap_or(ir::location(module)),
        message: format!("{after}@{}: {}", finding.function, finding.message),
        notes: vec![],
    };
    if !errors.is_empty() {
        return Err(errors.iter().map(|finding| diagnostic(finding, &after)).collect());
    }
    if number == passes.len() {
        let open = state.0.iter().flat_map(Source::open);
        open.for_each(|finding| crate::upstream::emit(&diagnostic(&finding, "")));
    }
    Ok(passes.get(number).cloned())
}
