//! What callers of a function see of it: how many arguments it has, and of which types.

use crate::reader::layouts::row_major;
use crate::reader::model::{Function, Kind, Place, Program, Type};
use crate::run::Stop;

/// A form of a function.
#[derive(Clone, Copy)]
pub struct Form<'p> {
    /// Its module.
    pub program: &'p Program,
    /// The function.
    pub function: &'p Function,
    /// Whether it is the last one. Only in that it is settled who owns a buffer.
    pub is_last: bool,
    /// Whether the memory for the buffers of a public function may be its last arguments, as that of a private one may.
    pub takes_arenas: bool,
}

/// How many arenas a function takes behind the arguments that it had: memory of bytes.
///
/// # Errors
/// Where it has other arguments or results than before: of a public function, that is wrong.
pub fn arenas(before: &Function, form: &Form) -> Result<usize, Stop> {
    let count = |function: &Function| (function.arguments.len(), function.results.len());
    let (had, has) = (count(before), count(form.function));
    let new = form.function.arguments.get(had.0..).unwrap_or_default();
    let is_arena = |r#type: &Type| match r#type {
        Type::Shaped { kind: Kind::MemRef, element, sizes, .. } => {
            element.integer && element.bits == 8 && matches!(sizes[..], [Some(_)])
        }
        _ => false,
    };
    let takes_arenas = form.takes_arenas || !before.public;
    if had.1 == has.1 && (had.0 == has.0 || takes_arenas && had.0 < has.0 && new.iter().all(is_arena)) {
        return Ok(new.len());
    }
    let what = format!("{} arguments and {} results, and {} and {} before", has.0, has.1, had.0, had.1);
    Err(if before.public { Stop::Fault(what, 0) } else { Stop::Unknown(format!("a private function of {what}"), 0) })
}

/// That callers see the types that they saw: elements as before, and memory where it was, in row-major order where there was a
/// tensor, or, where there was a layout, as that says.
///
/// # Errors
/// What differs, in the last form of a public function.
pub fn check(before: &Function, form: &Form) -> Result<(), Stop> {
    let pairs = |from: &'static str, old: &[Type], new: &[Type]| {
        let other = old.iter().zip(new).position(|(old, new)| !is_seen_alike(old, new));
        let is_known = |r#type: &Type| !matches!(r#type, Type::Other(_));
        other.map(|k| match is_known(&old[k]) && is_known(&new[k]) {
            true => Stop::Fault(format!("{from} {k} of another type than before"), 0),
            false => Stop::Unknown(format!("{from} {k} of another type than before"), 0),
        })
    };
    if !before.public {
        return Ok(());
    }
    if !form.function.public {
        return Err(Stop::Fault("a function that is no longer public".into(), 0));
    }
    let of_arguments = pairs("argument", &before.arguments, &form.function.arguments);
    of_arguments.or_else(|| pairs("result", &before.results, &form.function.results)).map_or(Ok(()), Err)
}

fn is_seen_alike(old: &Type, new: &Type) -> bool {
    let (
        Type::Shaped { kind, element, sizes, place },
        Type::Shaped { kind: new_kind, element: new_element, sizes: new_sizes, place: new_place },
    ) = (old, new)
    else {
        return old == new;
    };
    let is_memory = |kind: &Kind| *kind == Kind::MemRef;
    match (old.layout(), new.layout()) {
        // Lowered memory is compared with the layout where it is made.
        (Some(_), None) if is_memory(new_kind) => return true,
        (a, b) if a != b => return false,
        _ => (),
    }
    // Of a tensor, memory in row-major order, or whatever the caller says of its strides.
    let is_plain = || match new_place {
        Place::Strided { offset: None, strides, .. } if strides.iter().all(Option::is_none) => true,
        Place::Strided { offset: Some(0), strides, .. } => {
            let sizes: Option<Vec<i64>> = sizes.iter().copied().collect();
            let plain = sizes.and_then(|sizes| row_major(&sizes));
            plain.is_some_and(|plain| plain.into_iter().map(Some).eq(strides.iter().copied()))
        }
        Place::Strided { .. } => false,
        _ => true,
    };
    let place_is = if is_memory(new_kind) && !is_memory(kind) { is_plain() } else { place == new_place };
    element == new_element && sizes == new_sizes && place_is
}
