//! The interface that callers of a function see: how many arguments it has, and of which types.

use crate::reader::layouts::{Layout, memory_space, row_major};
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
    let takes_arenas = form.takes_arenas || !before.public;
    if had.1 == has.1 && (had.0 == has.0 || takes_arenas && had.0 < has.0 && new.iter().all(Type::is_bytes)) {
        return Ok(new.len());
    }
    let what = format!("{} arguments and {} results, and {} and {} before", has.0, has.1, had.0, had.1);
    Err(if before.public { Stop::Fault(what, 0) } else { Stop::Unknown(format!("a private function of {what}"), 0) })
}

/// Checks that callers see what they saw: elements as before, and memory where it was, in row-major order for a tensor, or,
/// where there was a layout, as that says; in the same memory space, unless spaces are taken away (`strips`), and with the same
/// attributes of the LLVM dialect.
///
/// # Errors
/// The difference, in the last form of a public function.
pub fn check(before: &Function, form: &Form, strips: bool) -> Result<(), Stop> {
    let after = form.function;
    if !before.public {
        return Ok(());
    }
    if !after.public {
        return Err(Stop::Fault("a function that is no longer public".into(), 0));
    }
    let types = [(&before.arguments, &after.arguments), (&before.results, &after.results)];
    for (n, (what, (old, new))) in ["argument", "result"].into_iter().zip(types).enumerate() {
        let attributes = before.attributes[n].iter().zip(&after.attributes[n]);
        for (k, ((old, new), (was, is))) in old.iter().zip(new).zip(attributes).enumerate() {
            // The contents of an argument's padding are a promise of the caller.
            let promise = |function: &Function| if n == 0 { function.padding.get(k).copied().flatten() } else { None };
            let is_promised = promise(after).is_none_or(|bits| promise(before) == Some(bits));
            let attributes = (was != is || !is_promised).then_some("with other attributes");
            let Some(how) = difference(old, new, strips).or(attributes) else { continue };
            let how = format!("{what} {k} {how} than before");
            let is_known = |r#type: &Type| !matches!(r#type, Type::Other(_));
            return Err(if is_known(old) && is_known(new) { Stop::Fault(how, 0) } else { Stop::Unknown(how, 0) });
        }
    }
    let lost = before.attributes[2].iter().zip(&after.attributes[2]).find_map(|(was, is)| was.difference(is).next());
    lost.map_or(Ok(()), |lost| Err(Stop::Fault(format!("a function without its attribute {lost}"), 0)))
}

/// How callers see that a type is another one.
fn difference(old: &Type, new: &Type, strips: bool) -> Option<&'static str> {
    const OTHER: Option<&str> = Some("of another type");
    let (
        Type::Shaped { kind, element, sizes, place, space },
        Type::Shaped { kind: new_kind, element: new_element, sizes: new_sizes, place: new_place, space: new_space },
    ) = (old, new)
    else {
        return if old == new { None } else { OTHER };
    };
    let is_memory = |kind: &Kind| *kind == Kind::MemRef;
    let (layout, is_lowered) = (old.layout(), new.layout().is_none() && is_memory(new_kind));
    // An encoding of a tensor that is no layout may be dropped.
    let placed = layout.and_then(memory_space);
    let is_dropped = new_space.is_none() && (strips || placed.is_none() && !is_memory(kind));
    if is_lowered && placed.as_ref().or(space.as_ref()) != new_space.as_ref() && !is_dropped {
        return Some("in another memory space");
    }
    // Where lowered memory has its elements is compared with the layout where it is made.
    if let (Some(text), true) = (layout, is_lowered) {
        let unit = Layout::read(text).map(|layout| layout.unit(element));
        return if unit.is_none_or(|unit| unit == new_element.text) { None } else { OTHER };
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
    let kind_is = kind == new_kind || *kind == Kind::Tensor && is_memory(new_kind);
    let is = kind_is && layout == new.layout() && element == new_element && sizes == new_sizes && place_is;
    if is { None } else { OTHER }
}
