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

/// The value of an option, without the braces around it; none where the option is not there or has an empty value.
fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let mut depth = 0usize;
    let mut words = options.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => (),
        }
        c.is_whitespace() && depth == 0
    });
    let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
    let inside = value.strip_prefix('{').and_then(|value| value.strip_suffix('}'));
    Some(inside.unwrap_or(value)).filter(|value| !value.is_empty())
}

/// The passes, each as text: they are separated by commas outside of all brackets.
pub(crate) fn passes(options: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for c in option(options, "passes").unwrap_or_default().chars() {
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
    let read = |text: &str| text.parse().map_err(|_| format!("steps must be a number, found `{text}`"));
    option(options, "steps").map_or(Ok(1 << 20), read)
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
                obligations: option(options, "smt").is_some(),
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
        if let (Some(file), Some(source)) = (option(options, "smt"), &state.0) {
            let wrong = |error| Diagnostic::error(ir::location(module), format!("cannot write smt={file}: {error}"));
            std::fs::write(file, source.obligations()).map_err(|error| vec![wrong(error)])?;
        }
    }
    Ok(passes.get(number).cloned())
}
