//! What stands in a module beside the functions that are compared, and which of these nobody else sees.

use crate::Finding;
use crate::reader::mlir;
use crate::reader::model::{Global, Other, Program};
use std::collections::BTreeSet;

/// What is said of a public function that is no longer among those that are compared.
pub fn gone(last: &Program, name: &str) -> String {
    match last.others.get(name) {
        Some(other) => format!("not proved: a function that is '{}' now is not modelled", other.operation),
        None => "a public function that is no longer there".to_owned(),
    }
}

/// How public globals and other operations of a module differ from those before. What they mean is not known, so that an
/// operation with another text is not an error.
pub fn compared(before: &Program, last: &Program) -> Vec<Finding> {
    let finding = |name: &str, is_error: bool, message: String| Finding {
        is_error,
        function: name.to_owned(),
        message,
        is_tried: false,
        place: None,
    };
    let mut all = vec![];
    for (name, global) in before.globals.iter().filter(|(_, global)| global.public) {
        let is = last.globals.get(name);
        let same_place = |is: &Global| is.r#type == global.r#type && is.constant == global.constant && is.public;
        match is {
            Some(is) if same_place(is) && is.items == global.items => (),
            Some(is) if same_place(is) => {
                all.push(finding(name, true, "a public global with other elements".to_owned()));
            }
            Some(_) => all.push(finding(name, false, "not proved: a public global of another type".to_owned())),
            None => all.push(finding(name, true, "a public global that is no longer there".to_owned())),
        }
    }
    for (name, other) in before.others.iter().filter(|(name, other)| last.others.get(*name) != Some(other)) {
        all.push(finding(name, false, format!("not proved: '{}' is not modelled, and changes", other.operation)));
    }
    all
}

/// Whether a function is seen by nobody but functions that are shown to be the same: it is private, public functions call it, all
/// of these are shown, and nothing else in the module names it.
pub fn is_unseen((before, last): (&Program, &Program), name: &str, is_shown: impl Fn(&str) -> bool) -> bool {
    if before.functions.get(name).is_none_or(|function| function.public) {
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
