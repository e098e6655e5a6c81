//! `layout-verify`: runs passes in order, and compares the result with the program before all of them.
//!
//! Here are its options. The crate `layout-verify`, which uses nothing of this project, compares; without the feature
//! `verify` the pass is an error.

use crate::pass::options::{NONE, read, words};

/// The name of the pass.
pub(crate) const NAME: &str = "layout-verify";

/// If this is set, and not 0, each pipeline runs with verification, which reports only errors and takes its time.
const WANTED: &str = "LAYOUT_VERIFY";

/// The step limit of a function in that case: a test may take longer than lowering does.
pub(crate) const STEPS: u64 = 1 << 20;

/// Whether the environment wants all pipelines to be verified.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(WANTED).is_some_and(|value| value != "0")
}

/// The value of an option that is text; `None` if it is not given.
pub(super) fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let value = words(options).find(|(option, _)| *option == name).and_then(|(_, value)| value);
    value.filter(|value| *value != NONE)
}

/// Whether an option is set.
#[cfg(feature = "verify")]
pub(super) fn flag(options: &str, name: &str, otherwise: bool) -> bool {
    option(options, name).map_or(otherwise, |value| !matches!(value, "0" | "false"))
}

/// The passes of the option, each as text.
pub(crate) fn passes(options: &str) -> Vec<String> {
    separated(option(options, "passes").unwrap_or_default())
}

/// The passes of a text, which are separated by commas outside of all brackets.
pub(crate) fn separated(text: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
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

/// Checks the options; MLIR knows which there are.
///
/// # Errors
/// An option without a value, and a value of another type.
pub(crate) fn check(options: &str) -> Result<(), String> {
    for (name, value) in words(options) {
        let expected = match name {
            "passes" => "a list of passes, separated by commas",
            "smt" | "report" | "witness" => "the path of a file",
            "kernels" => "the name of a pass",
            "steps" => "a number",
            "remarks" => {
                read::<bool>(name, value)?;
                continue;
            }
            _ => continue,
        };
        if value.is_none_or(str::is_empty) {
            return Err(format!("{name} must be {expected}, found ``"));
        }
    }
    steps(options).map(|_| ())
}

/// The number of steps, if given and not 0.
pub(super) fn steps(options: &str) -> Result<Option<u64>, String> {
    let read = |text: &str| text.parse().map_err(|_| format!("steps must be a number, found `{text}`"));
    option(options, "steps").map(read).transpose().map(|steps| steps.filter(|steps| *steps > 0))
}
