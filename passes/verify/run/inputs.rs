//! The inputs of both forms: the same elements, where the types and layouts of each form say that they lie.

use crate::reader::model::{Element, Function, Kind, Place, Type};
use crate::run::interface::{self, Form};
use crate::run::machine::{Many, Origin, Value, View, each_index};
use crate::run::physical::Physical;
use crate::run::terms::{Piece, Term, Terms};
use crate::run::{Run, Stop, reason};
use std::rc::Rc;

/// The sizes of each argument's type.
pub type Sizes = Vec<Vec<i64>>;

/// The sizes of a function's arguments, with one for each that only a caller knows.
pub fn sizes_of_arguments(function: &Function, open: i64) -> Sizes {
    let sizes = |r#type: &Type| match r#type {
        Type::Shaped { sizes, .. } => sizes.iter().map(|n| n.unwrap_or(open)).collect(),
        _ => vec![],
    };
    function.arguments.iter().map(sizes).collect()
}

/// The sizes that were tried where the types of arguments do not say them; none where they do.
pub fn tried_sizes(function: &Function, tried: &[Sizes]) -> Option<String> {
    let is_open = |r#type: &Type| matches!(r#type, Type::Shaped { sizes, .. } if sizes.contains(&None));
    let of = |k: usize| {
        let text = |sizes: &Sizes| sizes[k].iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        format!("{} of argument {k}", tried.iter().map(text).collect::<Vec<_>>().join(" and "))
    };
    let open: Vec<String> =
        (0..function.arguments.len()).filter(|k| is_open(&function.arguments[*k])).map(of).collect();
    (!open.is_empty()).then(|| format!("for sizes {}", open.join(", ")))
}

/// Arguments whose offset or strides only a caller knows, in words; none where there are none.
pub fn tried_strides(functions: [&Function; 2]) -> Option<String> {
    let is_open = |r#type: &Type| match r#type {
        Type::Shaped { place: Place::Strided { offset, strides, .. }, .. } => {
            offset.is_none() || strides.contains(&None)
        }
        _ => false,
    };
    let count = functions.iter().map(|function| function.arguments.len()).max().unwrap_or(0);
    let has_open = |k: &usize| functions.iter().any(|function| function.arguments.get(*k).is_some_and(is_open));
    let open: Vec<String> = (0..count).filter(has_open).map(|k| format!("argument {k}")).collect();
    (!open.is_empty()).then(|| format!("for an offset and strides of {}", open.join(", ")))
}

/// Whether memory is where the layout puts it, and not where the type says.
pub fn is_lowered(before: &Type, after: &Type) -> bool {
    before.layout().is_some() && after.layout().is_none() && matches!(after, Type::Shaped { kind: Kind::MemRef, .. })
}

fn element(r#type: &Type) -> Option<&Element> {
    if let Type::Scalar(element) | Type::Shaped { element, .. } = r#type { Some(element) } else { None }
}

/// The arguments of a run: `before` has the types by which elements are named.
pub fn arguments(run: &mut Run, before: &Function, form: &Form, sizes: &Sizes) -> Result<Vec<Value>, Stop> {
    let (arenas, after) = (interface::arenas(before, form)?, form.function);
    let mut all = vec![];
    for (k, (from, to)) in before.arguments.iter().zip(&after.arguments).enumerate() {
        let what =
            |why: String| if why == TOO_MANY { Stop::Steps } else { Stop::Unknown(format!("argument {k} {why}"), 0) };
        let Some(inner) = element(from) else { return Err(what("of a type that is not modelled".into())) };
        let input = |number: u64, terms: &mut Terms| terms.input(k as u32, number, inner);
        let Type::Shaped { kind, element: unit, sizes: shape, place, .. } = to else {
            all.push(Value::One(input(0, run.terms)));
            continue;
        };
        let count = sizes[k].iter().try_fold(1_i64, |n, d| n.checked_mul(*d)).unwrap_or(i64::MAX);
        run.steps = run.steps.checked_sub(count as u64).ok_or(Stop::Steps)?;
        let items: Vec<Term> = (0..count as u64).map(|number| input(number, run.terms)).collect();
        if *kind != Kind::MemRef {
            all.push(Value::Many(Rc::new(Many { sizes: sizes[k].clone(), items })));
            continue;
        }
        let stop = |stop: Stop| match stop {
            Stop::Fault(why, at) => Stop::Fault(format!("argument {k} {why}"), at),
            Stop::Unknown(why, _) => what(why),
            Stop::Steps => Stop::Steps,
        };
        if is_lowered(from, to) {
            let physical = Physical::of(from, to, &sizes[k], &run.program.axes).map_err(stop)?;
            let padding = before.padding.get(k).copied().flatten().filter(|_| before.public && inner == unit);
            let padding = match padding {
                Some(bits) => run.terms.constant(unit.bits, bits),
                None => run.terms.undefined(unit.bits),
            };
            let value = lowered(run, &physical, &items, (to, padding)).map_err(what)?;
            if matches!(&value, Value::View(view) if physical.is_view(view) != Some(true)) {
                return Err(Stop::Fault(format!("argument {k} of a type that is not the one of its layout"), 0));
            }
            all.push(value);
            continue;
        }
        let open = shape.iter().zip(&sizes[k]).any(|(n, known)| n.is_some_and(|n| n != *known));
        if open || shape.len() != sizes[k].len() {
            return Err(what("of other sizes than before".into()));
        }
        if let Place::Strided { offset, strides, .. } = place {
            let strides = kept_apart(&sizes[k], strides).ok_or_else(|| what("of that size".into()))?;
            let offset = offset.unwrap_or(OFFSET);
            let last = strides
                .iter()
                .zip(&sizes[k])
                .fold(0_i64, |last, (stride, n)| last.saturating_add(stride.saturating_mul(n.saturating_sub(1))));
            let length = usize::try_from(offset.saturating_add(last).saturating_add(1)).unwrap_or(0);
            run.steps = run.steps.checked_sub(length as u64 / 4).ok_or(Stop::Steps)?;
            let memory = (0..length as u64).map(|number| run.terms.input(gap(k), number, unit)).collect();
            let value = run.buffer(memory, vec![], None).map_err(stop)?;
            let Value::View(view) = value else { continue };
            let view = Rc::new(View { offset, sizes: sizes[k].clone(), strides, ..(*view).clone() });
            fill(run, &view, &items).map_err(stop)?;
            all.push(Value::View(view));
            continue;
        }
        let (memory, layout) = run.memory(&sizes[k], unit, place).map_err(stop)?;
        let value = run.buffer(memory, sizes[k].clone(), layout).map_err(stop)?;
        if let Value::View(view) = &value {
            fill(run, view, &items).map_err(stop)?;
        }
        all.push(value);
    }
    for r#type in &after.arguments[after.arguments.len() - arenas..] {
        let Type::Shaped { element, sizes, place, .. } = r#type else { continue };
        let sizes: Vec<i64> = sizes.iter().map(|n| n.unwrap_or(0)).collect();
        let (memory, layout) = run.memory(&sizes, element, place)?;
        let value = run.buffer(memory, sizes, layout)?;
        if let Value::View(view) = &value {
            run.buffers[view.buffer].origin = Origin::Caller;
        }
        all.push(value);
    }
    Ok(all)
}

/// An input of its own: what lies between and in front of the elements of an argument with strides.
fn gap(argument: usize) -> u32 {
    1 << 31 | argument as u32
}

/// The offset of an argument of which only a caller knows it.
const OFFSET: i64 = 3;

/// Strides, with some that keep elements apart where only a caller knows them: none is 1, and no two rows follow each other.
fn kept_apart(sizes: &[i64], known: &[Option<i64>]) -> Option<Vec<i64>> {
    let reach = |reach: i64, (stride, n): (&Option<i64>, &i64)| match stride {
        Some(stride) => stride.checked_abs()?.checked_mul(n.checked_sub(1)?)?.checked_add(reach),
        None => Some(reach),
    };
    let mut next = known.iter().zip(sizes).try_fold(2, reach)?;
    let mut strides = vec![0; sizes.len()];
    for d in (0..sizes.len()).rev() {
        strides[d] = known[d].unwrap_or(next);
        if known[d].is_none() {
            next = next.checked_mul(sizes[d].checked_add(1)?)?;
        }
    }
    Some(strides)
}

/// Writes all elements of a view.
fn fill(run: &mut Run, view: &View, items: &[Term]) -> Result<(), Stop> {
    let mut items = items.iter();
    each_index(&view.sizes, |index| match items.next() {
        Some(item) => run.element_at(view, index, Some((*item, None))).map(|_| ()),
        None => Ok(()),
    })
}

/// Why memory has not been filled that takes too many steps.
const TOO_MANY: &str = "too many elements";

/// A buffer of a type in lowered form with these elements, and what the padding between them holds.
fn lowered(run: &mut Run, physical: &Physical, items: &[Term], (to, padding): (&Type, Term)) -> Result<Value, String> {
    let Type::Shaped { element: unit, sizes, place, .. } = to else { return Err("of no memory".into()) };
    let open = || "of sizes that only the program has".to_owned();
    let (offset, strides) = match place {
        Place::Strided { offset, strides, .. } => (offset.ok_or_else(open)?, Some(&strides[..])),
        _ => (0, None),
    };
    let (sizes, strides) = physical.shape(sizes, strides).ok_or_else(open)?;
    let units = physical.units().and_then(|units| usize::try_from(units).ok()).ok_or_else(open)?;
    run.steps = run.steps.checked_sub(units as u64 / 4).ok_or_else(|| TOO_MANY.to_owned())?;
    let undefined = run.terms.undefined(unit.bits);
    let mut memory = vec![undefined; units];
    memory[physical.tiles().ok_or_else(open)?].fill(padding);
    let (mut numbers, copies) = (items.iter(), physical.copies());
    each_index(&physical.sizes, |index| -> Result<(), String> {
        let item = *numbers.next().ok_or_else(open)?;
        let pieces = physical.pieces(index).ok_or_else(open)?;
        let mut low = 0;
        for ((at, first, len), shift) in pieces.into_iter().flat_map(|piece| copies.iter().map(move |s| (piece, s))) {
            let at = usize::try_from(at + shift).ok().filter(|at| *at < memory.len()).ok_or_else(open)?;
            memory[at] = if len == 0 {
                item
            } else {
                let mut parts: Vec<Piece> = if first > 0 { run.terms.pieces(memory[at], 0, first) } else { vec![] };
                parts.extend(run.terms.pieces(item, low, len));
                let (end, width) = (first + len, unit.bits as u8);
                if end < width {
                    parts.extend(run.terms.pieces(memory[at], end, width - end));
                }
                run.terms.bits(parts)
            };
            low += len;
        }
        Ok(())
    })?;
    let value = run.buffer(memory, vec![], None).map_err(|stop| reason(&stop))?;
    let Value::View(view) = value else { return Err(open()) };
    Ok(Value::View(Rc::new(View { offset, sizes, strides, ..(*view).clone() })))
}
