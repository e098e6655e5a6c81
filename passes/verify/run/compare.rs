//! Two forms of a program that ran on the same inputs, and whether they have the same results.
//!
//! The form before gives each input a type, and with it a logical index for each element and, where it has a layout, the
//! address of each. The form after has the same elements: as a tensor, in memory in row-major order as long as its layout is
//! pending, or where the layout puts them.

use crate::reader::model::{Function, Kind, Place, Type};
use crate::run::inputs::{Sizes, arguments, is_lowered};
use crate::run::interface::Form;
use crate::run::machine::{Origin, Value, View, each_index};
use crate::run::physical::Physical;
use crate::run::terms::{Assumed, Promises, Term, Terms, Undefined};
use crate::run::{Printed, Run, Stop};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The outcome of a function, which is compared with that of another form of it.
#[derive(Default)]
pub struct Outcome {
    /// The elements of each result by logical index; in lowered memory of several copies, those of one after the other.
    results: Vec<Vec<Term>>,
    /// The elements of each argument that is memory or a tensor, likewise.
    arguments: Vec<Vec<Term>>,
    /// The pieces that were printed.
    printed: Vec<Printed>,
    /// The memory of each argument that has some between or in front of its elements, which are of somebody else.
    beside: Vec<(usize, Vec<Option<Term>>)>,
    /// Where the memory of each result and then each argument is from, and whether it was freed.
    memory: Vec<Option<(Origin, bool)>>,
    /// The shape of each result.
    shapes: Vec<Vec<i64>>,
    /// The arguments that are compared: not the tensors of a private function, whose memory it may write.
    seen: Vec<bool>,
    /// The value of each result and then of each argument.
    values: Vec<Value>,
    /// Whether it is settled who owns a buffer.
    is_last: bool,
    /// The promises that the program relied on.
    promises: Promises,
    /// The reason why it holds for the tried inputs alone.
    tried: Option<String>,
    /// The terms that decided branches and addresses.
    pub decided: BTreeSet<Term>,
    /// The types of the elements of each result and then each argument.
    types: Vec<String>,
}

/// The elements of a value by the logical index of the form before, one copy after the other, each of as many elements as are
/// expected.
fn logical(
    run: &mut Run,
    value: &Value,
    [before, after]: [&Type; 2],
    sizes: &[i64],
    expected: Option<usize>,
) -> Result<Vec<Term>, Stop> {
    let of_one = |items: Vec<Term>| match expected {
        Some(expected) if items.len() != expected => {
            Err(Stop::Fault(format!("{} elements, and {expected} before", items.len()), 0))
        }
        _ => Ok(items),
    };
    let Value::View(view) = value else { return of_one(value.items(run.terms).unwrap_or_default()) };
    if !is_lowered(before, after) {
        return of_one(run.contents(value)?);
    }
    let fault = |why: String| Stop::Fault(why, 0);
    if !run.is_plain(view) {
        return Err(Stop::Unknown("a result that is part of memory of bytes".into(), 0));
    }
    let physical = Physical::of(before, after, sizes, &run.program.axes)?;
    let (mut all, origin) = (vec![], view.offset - physical.prefix());
    for shift in physical.copies() {
        let begin = all.len();
        each_index(sizes, |index| -> Result<(), Stop> {
            let pieces = physical.pieces(index).ok_or_else(|| fault("an element without address".into()))?;
            let mut parts = vec![];
            for (at, first, len) in pieces {
                let at = origin.saturating_add(at).saturating_add(shift);
                let unit = run.buffers[view.buffer].access(at, None, false, |old| old).map_err(fault)?;
                if len == 0 {
                    all.push(unit);
                    return Ok(());
                }
                parts.extend(run.terms.pieces(unit, first, len));
            }
            all.push(run.terms.bits(parts));
            Ok(())
        })?;
        of_one(all[begin..].to_vec())?;
    }
    Ok(all)
}

/// Checks that a result lies where its type and, lowered, its layout put it, in as much memory as that takes.
fn check_place(run: &Run, view: &View, types: [&Type; 2], sizes: &[i64]) -> Result<(), Stop> {
    let [before, after] = types;
    let fault = |why: &str| Err(Stop::Fault(why.into(), 0));
    if !view.is_of(after) {
        return fault("a result that is not of its type");
    }
    let unknown = |why: String| Stop::Unknown(why, 0);
    if is_lowered(before, after) {
        let physical = Physical::of(before, after, sizes, &run.program.axes)?;
        let beyond = || unknown("a layout beyond 64 bits".into());
        if !physical.is_view(view).ok_or_else(beyond)? {
            return fault("a result that does not lie as its layout says");
        }
        if (run.buffers[view.buffer].items.len() as i64) < physical.units().ok_or_else(beyond)? {
            return fault("a result in a buffer that is smaller than its layout");
        }
    } else if after.layout().is_none() {
        let is = match before {
            Type::Shaped { kind: Kind::MemRef, .. } => view.is_of(before),
            _ if matches!(after, Type::Shaped { place: Place::Strided { offset: None, .. }, .. }) => true,
            _ => view.is_row_major(),
        };
        if !is {
            return fault("a result that does not lie where its type puts it");
        }
    }
    Ok(())
}

/// Runs a function with the inputs that all forms have; `before` names the elements. Leaves of `steps` those that it
/// did not take.
///
/// # Errors
/// The reason, with what the machine found.
pub fn outcome(
    terms: &mut Terms,
    before: &Function,
    form: Form,
    sizes: &Sizes,
    reference: Option<&Outcome>,
    steps: &mut u64,
) -> Result<Outcome, Stop> {
    let mut run = Run::new(form.program, terms, *steps);
    let outcome = outcome_of(&mut run, before, form, sizes, reference);
    *steps = run.steps;
    outcome
}

fn outcome_of<'p>(
    run: &mut Run<'p>,
    before: &Function,
    form: Form<'p>,
    sizes: &Sizes,
    reference: Option<&Outcome>,
) -> Result<Outcome, Stop> {
    run.terms.begin(reference.map(|reference| &reference.promises));
    let Form { function: after, is_last, .. } = form;
    let mut values = arguments(run, before, &form, sizes)?;
    let returned = run.call(after, values.clone())?;
    values.truncate(before.arguments.len());
    if returned.len() != before.results.len() {
        return Err(Stop::Unknown("a function of other results than it says".into(), 0));
    }
    let values_of_both = returned.iter().chain(&values).cloned().collect();
    let mut outcome = Outcome { values: values_of_both, is_last, ..Outcome::default() };
    for (k, value) in returned.iter().enumerate() {
        let sizes: Vec<i64> = match (&before.results[k], value) {
            (Type::Shaped { sizes, .. }, _) if sizes.iter().all(Option::is_some) => {
                sizes.iter().flatten().copied().collect()
            }
            _ if reference.is_some() => reference.map(|reference| reference.shapes[k].clone()).unwrap_or_default(),
            (Type::Shaped { .. }, value) if !is_lowered(&before.results[k], &after.results[k]) => {
                value.sizes().to_vec()
            }
            _ => vec![],
        };
        let types = [&before.results[k], &after.results[k]];
        if let Value::View(view) = value {
            check_place(run, view, types, &sizes)?;
            let origin = run.buffers[view.buffer].origin;
            if origin == Origin::Caller {
                let what = "a result in an arena".to_owned();
                return Err(if before.public { Stop::Fault(what, 0) } else { Stop::Unknown(what, 0) });
            }
            if is_last
                && origin == Origin::Constant
                && !matches!(before.results[k], Type::Shaped { kind: Kind::MemRef, .. })
            {
                return Err(Stop::Fault("a result in memory that nobody may write".into(), 0));
            }
        }
        if reference.is_some() && !is_lowered(types[0], types[1]) && value.sizes() != sizes {
            return Err(Stop::Fault(format!("result {k}: sizes {:?}, and {sizes:?} before", value.sizes()), 0));
        }
        let expected = reference.map(|reference| reference.results[k].len());
        let items = logical(run, value, types, &sizes, expected).map_err(|stop| match stop {
            Stop::Fault(what, at) => Stop::Fault(format!("result {k}: {what}"), at),
            other => other,
        })?;
        outcome.shapes.push(sizes);
        outcome.results.push(items);
    }
    for (k, value) in values.iter().enumerate() {
        let expected = reference.map(|reference| reference.arguments[k].len());
        let types = [&before.arguments[k], &after.arguments[k]];
        outcome.arguments.push(logical(run, value, types, &sizes[k], expected)?);
        if let (Value::View(view), Type::Shaped { place: Place::Strided { .. }, .. }) = (value, types[0])
            && !is_lowered(types[0], types[1])
        {
            // Its elements are compared as such.
            let mut items: Vec<Option<Term>> = run.buffers[view.buffer].items.iter().copied().map(Some).collect();
            each_index(&view.sizes, |index| -> Result<(), Stop> {
                let at = view.address(index).and_then(|at| usize::try_from(at).ok());
                at.and_then(|at| items.get_mut(at)).into_iter().for_each(|item| *item = None);
                Ok(())
            })?;
            outcome.beside.push((k, items));
        }
    }
    let memory = |value: &Value| match value {
        Value::View(view) => Some((run.buffers[view.buffer].origin, run.buffers[view.buffer].freed)),
        _ => None,
    };
    outcome.memory = outcome.values.iter().map(memory).collect();
    let tensor = |r#type: &Type| matches!(r#type, Type::Shaped { kind: Kind::Tensor, .. });
    outcome.seen = before.arguments.iter().map(|r#type| before.public || !tensor(r#type)).collect();
    outcome.printed = std::mem::take(&mut run.printed);
    let text = |r#type: &Type| match r#type {
        Type::Scalar(element) | Type::Shaped { element, .. } => element.text.clone(),
        Type::Other(text) => text.clone(),
    };
    outcome.types = before.results.iter().chain(&before.arguments).map(text).collect();
    outcome.decided = run.decided.take();
    if !outcome.decided.is_empty() {
        outcome.tried = Some("data decides a branch or an address".into());
    }
    let divisor;
    (outcome.promises, divisor) = run.terms.end();
    if let Some(divisor) = divisor {
        let what = format!("a division by {} that the program before does not do", run.terms.text(divisor, 4));
        if run.terms.info(divisor).values[run.terms.choice] == 0 {
            return Err(Stop::Fault(what, 0));
        }
        outcome.tried = Some(what);
    }
    Ok(outcome)
}

/// How two outcomes compare.
pub enum Verdict {
    /// All terms are equal.
    Same,
    /// Terms differ, and have the same values for the inputs that were tried.
    Tried(String),
    /// Terms differ, and their values are not known.
    Open(String),
    /// They differ, and where.
    Differs(String),
}

/// Two results in one buffer that were not, or a result and an argument, of a program that had memory there.
fn sharing(before: &Outcome, after: &Outcome) -> Option<String> {
    let shared = |outcome: &Outcome, i: usize, j: usize| match (&outcome.values[i], &outcome.values[j]) {
        (Value::View(a), Value::View(b)) => a.buffer == b.buffer,
        (Value::Many(a), Value::Many(b)) => Rc::ptr_eq(a, b),
        _ => false,
    };
    let is_view = |outcome: &Outcome, i: usize| matches!(outcome.values[i], Value::View(_));
    // Where two views without layouts lie in one buffer.
    let parts = |outcome: &Outcome, i: usize, j: usize| match (&outcome.values[i], &outcome.values[j]) {
        (Value::View(a), Value::View(b)) if a.layout.is_none() && b.layout.is_none() => {
            Some((a.offset.saturating_sub(b.offset), a.strides.clone()))
        }
        _ => None,
    };
    let results = after.results.len();
    let pairs = (0..results).flat_map(|i| (i + 1..after.values.len()).map(move |j| (i, j)));
    pairs.filter(|(i, j)| is_view(after, *i) && is_view(after, *j)).find_map(|(i, j)| {
        let had_memory = is_view(before, i) && is_view(before, j);
        let [was, is] = [before, after].map(|outcome| shared(outcome, i, j));
        let moved = parts(before, i, j).zip(parts(after, i, j)).is_some_and(|(was, is)| was != is);
        if had_memory && was && is && moved {
            return Some(format!("result {i} is another part of the buffer"));
        }
        let wrong = if had_memory { was != is } else { is && !was && j < results };
        let other = if j < results { format!("result {j}") } else { format!("argument {}", j - results) };
        let buffers = if is { "one buffer" } else { "two buffers" };
        wrong.then(|| format!("result {i} and {other} are in {buffers}, and were not"))
    })
}

/// A result in the buffer of an argument, of a program that had tensors there: what comes in belongs to the caller.
fn given(before: &Outcome, after: &Outcome) -> Option<String> {
    let (results, arguments) = after.values.split_at(after.results.len());
    let buffer = |value: &Value| if let Value::View(view) = value { Some(view.buffer) } else { None };
    let is_given = |i: usize, k: usize| {
        let is_memory = matches!(before.values[i], Value::View(_));
        !is_memory && before.seen[k] && buffer(&results[i]).is_some() && buffer(&results[i]) == buffer(&arguments[k])
    };
    let mut pairs = (0..results.len()).flat_map(|i| (0..arguments.len()).map(move |k| (i, k)));
    let (i, k) = pairs.find(|(i, k)| after.is_last && is_given(*i, *k))?;
    Some(format!("result {i} is in the buffer of argument {k}"))
}

/// Memory that a caller owned or read and that is gone, that nobody may write, or another part of its buffer.
fn owned(before: &Outcome, after: &Outcome) -> Option<String> {
    let results = after.results.len();
    let what = |i: usize| if i < results { format!("result {i}") } else { format!("argument {}", i - results) };
    let all = before.memory.iter().zip(&after.memory).enumerate();
    let lost = all.filter_map(|(i, (old, new))| Some((i, (*old)?, (*new)?))).find_map(|(i, old, new)| {
        if new.1 && !old.1 {
            return Some(format!("{} in memory that was freed", what(i)));
        }
        let is_constant = new.0 == Origin::Constant && old.0 != Origin::Constant;
        is_constant.then(|| format!("{} in memory that nobody may write", what(i)))
    });
    let moved = (0..results).find(|i| match (&before.values[*i], &after.values[*i]) {
        (Value::View(old), Value::View(new)) if old.layout.is_none() && new.layout.is_none() => {
            let strides = |view: &View| {
                let each = view.sizes.iter().zip(&view.strides).filter(|(n, _)| **n > 1);
                each.map(|(_, stride)| *stride).collect::<Vec<_>>()
            };
            !old.sizes.contains(&0) && (old.offset != new.offset || strides(old) != strides(new))
        }
        _ => false,
    });
    lost.or_else(|| moved.map(|i| format!("result {i} is another part of its buffer, or has other strides")))
}

/// The name of all elements that are printed.
const PRINTED: &str = "what is printed";

/// How what is printed differs, but for the values of elements.
fn said(before: &[Printed], after: &[Printed]) -> Option<String> {
    let is_like = |(old, new): &(&Printed, &Printed)| match (old, new) {
        (Printed::Element(old, _), Printed::Element(new, _)) => old == new,
        _ => old == new,
    };
    let text = |piece: Option<&Printed>| match piece {
        None => "nothing more".to_owned(),
        Some(Printed::Text(text)) => format!("{text:?}"),
        Some(Printed::Element(of, _)) => format!("an element of {of}"),
    };
    let same = before.iter().zip(after).take_while(is_like).count();
    let [was, is] = [before, after].map(|printed| printed.get(same));
    (was.is_some() || is.is_some()).then(|| format!("{} is printed, and {} before", text(is), text(was)))
}

/// How many operations are computed at most to tell the terms of two outcomes apart: 0.05 µs each.
const STEPS: usize = 1 << 19;

/// Compares outcomes, element by element.
pub fn compare(terms: &Terms, before: &Outcome, after: &Outcome) -> Verdict {
    let mut tried = before.tried.clone().or_else(|| after.tried.clone());
    if let Some(what) = sharing(before, after).or_else(|| owned(before, after)) {
        return Verdict::Differs(what);
    }
    if let Some(what) = said(&before.printed, &after.printed) {
        return Verdict::Differs(what);
    }
    let decided: BTreeSet<Term> = before.decided.union(&after.decided).copied().collect();
    let (assumed, mut steps) = (Assumed { promises: &before.promises, decided: &decided }, STEPS);
    let alike = |old: Term, new: Term, of: &str| terms.alike(old, new, of, !decided.is_empty());
    let mut open = None;
    let all = |outcome: &Outcome| {
        type Elements = (String, usize, String, Vec<Term>);
        let named = |list: &'static str, items: &[Vec<Term>], first: usize| -> Vec<Elements> {
            let of = |k: usize| (format!("{list} {k}"), 0, outcome.types[first + k].clone(), items[k].clone());
            (0..items.len()).map(of).collect()
        };
        let elements = outcome.printed.iter().filter_map(|piece| match piece {
            Printed::Element(of, term) => Some((of, term)),
            Printed::Text(_) => None,
        });
        let elements = elements.enumerate().map(|(k, (of, term))| (PRINTED.to_owned(), k, of.clone(), vec![*term]));
        let results = named("result", &outcome.results, 0);
        let arguments = named("argument", &outcome.arguments, outcome.results.len());
        results.into_iter().chain(arguments).chain(elements).collect::<Vec<_>>()
    };
    let (old, new) = (all(before), all(after));
    for ((what, first, of, old), (name, _, _, new)) in old.iter().zip(&new) {
        // Of results and arguments there may be several copies.
        let count = old.len();
        let copies = new.len().checked_div(old.len()).unwrap_or(1);
        if what != name || new.len() != old.len() * copies {
            return Verdict::Differs(format!("{name} of {} elements, and {what} of {} before", new.len(), old.len()));
        }
        for (number, (old, new)) in old.iter().cycle().zip(new).enumerate() {
            let number = first + number % count;
            let unseen =
                what.strip_prefix("argument ").and_then(|k| k.parse().ok()).is_some_and(|k: usize| !before.seen[k]);
            if old == new || terms.info(*old).undefined == Undefined::All || unseen {
                continue;
            }
            let is = terms.info(*new);
            let text = || {
                let [was, is] = [*old, *new].map(|term| terms.text(term, 4));
                format!("element {number} of {what} is {is}, and was {was}")
            };
            // Values that are not known say nothing.
            if (terms.info(*old).unknown || is.unknown) && is.undefined == Undefined::None && !is.flagged {
                let name = || terms.not_computed(*old).or_else(|| terms.not_computed(*new)).unwrap_or_default();
                open.get_or_insert_with(|| format!("{}: '{}' is not computed", text(), name()));
                continue;
            }
            // What padding holds may not matter, as where it is multiplied by 0 or its bits are not kept: that is tried, and
            // never shown.
            if !alike(*old, *new, of) {
                let read =
                    if is.undefined == Undefined::None { "" } else { ": padding or memory that nobody wrote is read" };
                return Verdict::Differs(format!("{}{read}", text()));
            }
            if is.flagged {
                return Verdict::Differs(format!("{}: an operation has a flag that none had", text()));
            }
            if let Some(values) = terms.apart([*old, *new], of, &assumed, &mut steps) {
                return Verdict::Differs(format!("{}: {values}", text()));
            }
            tried.get_or_insert_with(text);
        }
    }
    for ((k, old), (_, new)) in before.beside.iter().zip(&after.beside) {
        for (old, new) in old.iter().zip(new).filter_map(|(old, new)| (*old).zip(*new)) {
            if old == new || terms.info(old).undefined == Undefined::All {
                continue;
            }
            let what = format!("memory between the elements of argument {k} is written");
            if !alike(old, new, &after.types[after.results.len() + k]) {
                return Verdict::Differs(what);
            }
            tried.get_or_insert(what);
        }
    }
    match (given(before, after), open, tried) {
        (Some(what), ..) => Verdict::Differs(what),
        (_, Some(what), _) => Verdict::Open(what),
        (.., Some(what)) => Verdict::Tried(what),
        _ => Verdict::Same,
    }
}
