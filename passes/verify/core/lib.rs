//! What is trusted: that two forms of a function compute the same, found out by running both on symbolic elements. It shares no
//! code with the rest, and is small.
//!
//! | file | what it holds |
//! |---|---|
//! | `mlir` | what is read of attributes and types |
//! | `layout` | where a tiled layout puts an element |
//! | `terms` | elements, and when two are the same |
//! | `machine` | values and memory |
//! | `compile`, `elements`, `memory`, `structured` | what each operation does |
//!
//! [`Pair::confirm`] says that a function does the same in both forms, or why it does not know.

mod compile;
mod elements;
mod layout;
mod machine;
mod memory;
mod mlir;
mod structured;
mod terms;

use compile::form;
use layout::Layout;
use machine::{Done, Form, Machine, Origin, Value, View, each_index, row_major};
use mlir::{Kind, Op};
use std::rc::Rc;
use terms::{CONTRACT, Item, REASSOC, Terms};

/// Both forms of a program.
pub struct Pair {
    terms: Terms,
    before: Form,
    after: Form,
    allowed: u32,
}

/// What a function left: the elements of its results and of its arguments, what was printed, and what is memory.
struct Outcome {
    elements: Vec<Vec<Item>>,
    effects: Vec<(String, Vec<Item>)>,
    memory: Vec<Option<(View, Origin)>>,
}

impl Pair {
    /// Reads the first form. Sums and products of floating-point numbers may be reassociated, and a product and a sum be rounded
    /// once, where the options say so.
    pub fn new(module: Op, reassociate: bool, contract: bool) -> Pair {
        let allowed = (u32::from(reassociate) * REASSOC) | (u32::from(contract) * CONTRACT);
        let mut terms = Terms::default();
        let before = form(module, &mut terms, allowed);
        Pair { terms, before, after: Form::default(), allowed }
    }

    /// Reads the second form.
    pub fn note(&mut self, module: Op) {
        self.after = form(module, &mut self.terms, self.allowed);
    }

    /// Whether the function that was asked for last is known to differ; of others that are not confirmed it is not known.
    pub fn differs(&self) -> bool {
        self.terms.differs
    }

    /// That a function of the second form leaves what that of the first form does.
    ///
    /// # Errors
    /// Why this is not confirmed.
    pub fn confirm(&mut self, name: &str, steps: u64) -> Done {
        let Pair { terms, before, after, .. } = self;
        let both = before.functions.get(name).zip(after.functions.get(name));
        let (was, is) = both.ok_or("a function that is not there, or of types that are not known")?;
        let (meant, made, is_private) = (&was.types, &is.types, was.is_private);
        if (meant[0].len(), meant[1].len()) != (made[0].len(), made[1].len()) {
            return Err("another number of arguments or results".into());
        }
        (terms.is_second, terms.differs) = (false, false);
        terms.divisions.clear();
        let first = run(terms, before, name, [meant, meant], steps)?;
        terms.is_second = true;
        let second = run(terms, after, name, [meant, made], steps)?;
        let types = meant[1].iter().chain(&meant[0]).enumerate();
        for ((k, kind), (old, new)) in types.zip(first.elements.iter().zip(&second.elements)) {
            // A private function may write into the tensors that it is given.
            let seen = k < meant[1].len() || !is_private || kind.kind == 'm';
            let same = |(old, new): (&Item, &Item)| old == new || *old == Item::Undefined;
            if seen && (old.len() != new.len() || !old.iter().zip(new).all(same)) {
                terms.differs = old.iter().zip(new).any(|(old, new)| terms.is_other(*old, *new));
                return Err(format!("the elements of value {k} differ"));
            }
        }
        if first.effects != second.effects {
            return Err("what is printed differs".into());
        }
        // A lowered result is in memory of its own; it is the same part of a shared buffer where it was memory that is.
        for k in (0..made[1].len()).filter(|k| made[1][*k].kind == 'm') {
            let (was, is) = (&meant[1][k], &made[1][k]);
            let part = |view| (was == is).then_some(View { buffer: 0, ..view });
            let at = |of: &Outcome| of.memory[k].clone().map(|(view, origin)| (origin, part(view)));
            let is_right = match was.kind {
                'm' => at(&first) == at(&second),
                _ => at(&second).is_some_and(|(origin, _)| origin == Origin::Heap),
            };
            let buffer = |of: &Outcome, j: usize| of.memory[j].as_ref().map(|memory| memory.0.buffer);
            let shared = |of: &Outcome, j: usize| buffer(of, j).is_some() && buffer(of, j) == buffer(of, k);
            let same = |j: usize| j == k || shared(&second, j) == (was.kind == 'm' && shared(&first, j));
            if !is_right || !(0..first.memory.len()).all(same) {
                terms.differs = !is_private;
                return Err(format!("result {k} is not in memory of its own"));
            }
        }
        Ok(())
    }
}

/// Where the elements of a value lie, by their row-major number, and then its gaps: it is of type `meant` in the first form, and
/// of type `made` in this one. Without a view, memory is as its type says. Gives the view, the addresses, and how many elements
/// the memory has.
fn places(m: &Machine, meant: &Kind, made: &Kind, view: Option<&View>) -> Done<(View, Vec<usize>, usize)> {
    let sizes = &meant.sizes;
    m.count(sizes)?;
    let own = View { sizes: sizes.clone(), strides: row_major(sizes)?, ..View::default() };
    let typed = made.strides.split_last();
    let said = typed.map(|(at, by)| View { buffer: 0, offset: *at, sizes: made.sizes.clone(), strides: by.to_vec() });
    let view = view.cloned().or(said).unwrap_or_else(|| own.clone());
    let text = meant.layout.as_ref().filter(|_| typed.is_some());
    let layout = text.map(|text| Layout::read(text).ok_or(format!("the layout {text}"))).transpose()?;
    let fits = match &layout {
        Some(layout) => view.offset == 0 && layout.is_of_parts(sizes, &view.sizes, &view.strides),
        None if typed.is_some() && meant.kind == 't' => typed == Some((&0, &own.strides[..])) && made.sizes == *sizes,
        None => made == meant,
    };
    let known = [view.offset].iter().chain(&view.sizes).chain(&view.strides).chain(sizes).all(|n| *n >= 0);
    let moved = meant.space != made.space && (meant.space != "S" || made.space.is_empty());
    if !fits || !known || moved || meant.element != made.element || !view.is_of(made) {
        return Err("memory that is not that of its type or of its layout".into());
    }
    let (mut addresses, mut length) = (vec![], layout.as_ref().map_or(Some(0), |layout| layout.size(sizes)));
    each_index(sizes, |index| {
        let at = layout.as_ref().map_or_else(|| view.address(index), |layout| layout.address(sizes, index));
        length = length.zip(at).map(|(length, at)| length.max(at + 1));
        addresses.extend(at);
        Ok(())
    })?;
    let length = length.ok_or("memory beyond 64 bits")?;
    // What lies between the elements of memory with strides, and in front of them, comes behind them.
    if layout.is_none() && meant.kind == 'm' {
        let mut gaps = vec![true; m.count(&[length as i64])?];
        addresses.iter().for_each(|at| gaps[*at] = false);
        addresses.extend((0..length).filter(|at| gaps[*at]));
    }
    Ok((view, addresses, length))
}

/// Runs a function of a form on elements that are the same for both forms.
fn run(terms: &mut Terms, form: &Form, name: &str, [meant, made]: [&[Vec<Kind>; 2]; 2], steps: u64) -> Done<Outcome> {
    let mut m = Machine::new(terms, form, steps);
    let mut values = vec![];
    for (k, (meant, made)) in meant[0].iter().zip(&made[0]).enumerate() {
        let (view, addresses, length) = places(&m, meant, made, None)?;
        let mut items = vec![Item::Undefined; m.count(&[length as i64])?];
        addresses.into_iter().enumerate().for_each(|(n, at)| items[at] = m.terms.input(k, n));
        // Each argument has a buffer, so that those of memory have its number.
        m.allocate(items.clone(), &[], Origin::Argument)?;
        values.push(match made.kind {
            's' | 'v' => m.shaped(items, made)?,
            _ => Value::Memory(Rc::new(View { buffer: k, ..view })),
        });
    }
    let results = m.call(name, values.clone())?;
    let (mut elements, mut memory) = (vec![], vec![]);
    let types = [1, 0].into_iter().flat_map(|k| meant[k].iter().zip(&made[k]));
    for (value, (meant, made)) in results.iter().chain(&values).zip(types) {
        let (items, place) = match value {
            Value::Item(item) => (vec![*item], None),
            Value::Items(items) => (items.to_vec(), None),
            Value::Memory(view) => {
                let (_, addresses, length) = places(&m, meant, made, Some(view))?;
                let buffer = &m.buffers[view.buffer];
                let items: Option<_> = addresses.into_iter().map(|at| buffer.items.get(at).copied()).collect();
                let items = items.filter(|_| length <= buffer.items.len()).ok_or("memory smaller than its layout")?;
                (items, Some(((**view).clone(), buffer.origin)))
            }
            Value::None => return Err("a result that is not there".into()),
        };
        elements.push(items);
        memory.push(place);
    }
    Ok(Outcome { elements, effects: m.effects, memory })
}
