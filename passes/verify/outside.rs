//! Operations of a module beside the functions that are compared, and which of these functions nobody else sees.

use crate::reader::mlir;
use crate::reader::model::{Other, Program};
use crate::run::Stop;
use std::collections::BTreeSet;

/// The verdict on a public function that is no longer among those that are compared.
pub fn gone(last: &Program, name: &str) -> Stop {
    match last.others.get(name) {
        Some(other) => Stop::Unknown(format!("a function that is '{}' now", other.operation), 0),
        None => Stop::Fault("a public function that is no longer there".to_owned(), 0),
    }
}

/// How something outside of functions differs.
pub struct Difference<'p> {
    /// The name of the operation.
    pub name: &'p str,
    /// Whether it means something else; if not, what it means is not known.
    pub is_error: bool,
    /// How, in words.
    pub message: String,
}

/// How public globals and other operations of a module differ from those before.
pub fn compared<'p>(before: &'p Program, last: &'p Program) -> Vec<Difference<'p>> {
    let mut all = vec![];
    let mut say = |name: &'p str, is_error: bool, message: String| all.push(Difference { name, is_error, message });
    for (name, global) in before.globals.iter().filter(|(_, global)| global.public) {
        let Some(is) = last.globals.get(name) else {
            say(name, true, "a public global that is no longer there".to_owned());
            continue;
        };
        if is.r#type != global.r#type || is.rest != global.rest || !is.public {
            say(name, false, "not proved: a public global of another type or other attributes".to_owned());
        } else if is.items != global.items {
            say(name, true, "a public global with other elements".to_owned());
        }
    }
    for (name, other) in before.others.iter().filter(|(name, other)| last.others.get(*name) != Some(other)) {
        say(name, false, format!("not proved: '{}' is not modelled, and changes", other.operation));
    }
    let is_new = |name: &String| !before.others.contains_key(name) && !before.functions.contains_key(name);
    for (name, other) in last.others.iter().filter(|(name, _)| is_new(name)) {
        say(name, false, format!("not proved: '{}' is not modelled, and new", other.operation));
    }
    all
}

/// Whether a function is seen by nobody but functions that are shown to be the same: it is private, public functions call it, all
/// of these are shown, and nothing else in the module names it.
pub fn is_unseen((before, last): (&Program, &Program), name: &str, is_shown: impl Fn(&str) -> bool) -> bool {
    // Other names are written with escapes where something names them.
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$-".contains(c));
    let may_be_linked = |program: &Program| {
        let function = program.functions.get(name);
        function.is_some_and(|function| function.public || function.attributes[2].iter().any(|own| !own.is_empty()))
    };
    if !is_plain || !before.functions.contains_key(name) || [before, last].into_iter().any(may_be_linked) {
        return false;
    }
    let is_named = |other: &Other| mlir::symbols(&other.text).any(|symbol| symbol == name);
    let public = last.functions.iter().filter(|(_, function)| function.public && function.body.is_some());
    let callers: Vec<&String> = public.map(|(of, _)| of).filter(|of| reaches(last, of, name)).collect();
    !callers.is_empty() && callers.into_iter().all(|of| is_shown(of)) && !last.others.values().any(is_named)
}

/// Whether a function names another, or one that does.
fn reaches(program: &Program, of: &str, name: &str) -> bool {
    let (mut open, mut seen) = (vec![of], BTreeSet::new());
    while let Some(of) = open.pop() {
        for named in program.functions.get(of).into_iter().flat_map(|function| &function.names) {
            if named == name {
                return true;
            }
            if seen.insert(named) {
                open.push(named);
            }
        }
    }
    false
}
