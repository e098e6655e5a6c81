//! Constants of several elements.
//!
//! A pass may move the elements of a constant: transpose, pack or pad them. Where a table of the second program is no table of
//! the first one, it may be one whose elements are elsewhere. The place of an element is found by values that are there once, and
//! each element is compared:
//!
//! ```text
//! table' of i, j, k = table at (16 i + k, j)     where that is inside of the table, and one padding elsewhere
//! ```

use crate::proof::equations::constant_text;
use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown};
use crate::proof::statements::{Contents, Statements};
use crate::proof::value::Head;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The elements of a constant.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Of one name are equal tables alone.
    name: String,
    /// As bits, by address.
    items: Vec<u64>,
    /// The type.
    of: String,
}

impl Table {
    /// The elements, of a type, in the order of their addresses.
    pub fn new(items: &[u64], of: &str) -> Table {
        Table { name: String::new(), items: items.to_vec(), of: of.to_owned() }
    }
}

/// The elements of a table at other places.
#[derive(Debug, PartialEq)]
pub struct Moved {
    table: Rc<Table>,
    /// The shape of the table.
    sizes: Vec<i64>,
    /// The shape in which the elements are now.
    extents: Vec<i64>,
    /// The index in the table of the first element.
    first: Vec<i64>,
    /// For each dimension of `extents`, the distance in the table of an index and the next one.
    steps: Vec<Vec<i64>>,
    /// The bits of elements outside of the table.
    padding: u64,
}

/// Gives equal tables of both programs one name, and finds out which tables of the second one are moved ones of the first.
pub fn pair(meant: &mut Statements, made: &mut Statements) {
    let mut names: FxHashMap<(String, Vec<u64>), Rc<Table>> = FxHashMap::default();
    let shapes =
        [&*meant, &*made].map(|program| program.shapes.iter().map(|shape| Some(shape.as_ref()?.0.clone())).collect());
    let [of_meant, of_made]: [Vec<Option<Vec<i64>>>; 2] = shapes;
    let mut known: Vec<(Rc<Table>, Vec<i64>)> = vec![];
    for (contents, sizes) in tables(meant).zip(of_meant) {
        let Some(Contents::Table(table)) = contents else { continue };
        *table = named(&mut names, table);
        let flat = vec![table.items.len() as i64];
        known.push((table.clone(), sizes.unwrap_or(flat)));
    }
    let count = names.len();
    for (contents, sizes) in tables(made).zip(of_made) {
        let Some(Contents::Table(table)) = contents else { continue };
        *table = named(&mut names, table);
        if names.len() > count && !known.iter().any(|(other, _)| Rc::ptr_eq(other, table)) {
            let extents = sizes.unwrap_or_else(|| vec![table.items.len() as i64]);
            let moved = known.iter().find_map(|(other, sizes)| moved(other, sizes, table, &extents));
            *contents = moved.map(|moved| Contents::Moved(Rc::new(moved))).or_else(|| contents.take());
        }
    }
}

fn tables(program: &mut Statements) -> impl Iterator<Item = &mut Option<Contents>> {
    program.buffers.iter_mut().map(|(_, contents)| contents)
}

/// The table with its name: the same one for equal elements.
fn named(names: &mut FxHashMap<(String, Vec<u64>), Rc<Table>>, table: &Table) -> Rc<Table> {
    let count = names.len();
    let key = (table.of.clone(), table.items.clone());
    let new = || Rc::new(Table { name: format!("constant {count}"), items: key.1.clone(), of: key.0.clone() });
    names.entry(key.clone()).or_insert_with(new).clone()
}

/// The index of a row-major number.
fn index(mut number: usize, sizes: &[i64]) -> Vec<i64> {
    let mut index = vec![0; sizes.len()];
    for (i, size) in index.iter_mut().zip(sizes).rev() {
        (*i, number) = ((number % *size as usize) as i64, number / *size as usize);
    }
    index
}

/// The elements of a table, of these sizes, as those of another one that were moved.
fn moved(table: &Rc<Table>, sizes: &[i64], made: &Table, extents: &[i64]) -> Option<Moved> {
    if table.of != made.of {
        return None;
    }
    let mut places: FxHashMap<u64, Option<usize>> = FxHashMap::default();
    for (place, item) in table.items.iter().enumerate() {
        places.entry(*item).and_modify(|place| *place = None).or_insert(Some(place));
    }
    // Of each element that is once in the table, its index there.
    let place = |number: usize| places.get(&made.items[number]).copied().flatten().map(|place| index(place, sizes));
    let anchor = (0..made.items.len()).find(|number| place(*number).is_some())?;
    let mut stride = made.items.len();
    let mut steps = vec![];
    for extent in extents {
        stride /= *extent as usize;
        let next = |number: &usize| number / stride % *extent as usize + 1 < *extent as usize;
        let mut pairs =
            (0..made.items.len()).filter(next).filter_map(|number| Some((place(number)?, place(number + stride)?)));
        let step = pairs.next().map(|(a, b)| b.iter().zip(&a).map(|(b, a)| b - a).collect());
        steps.push(step.or_else(|| (*extent == 1).then(|| vec![0; sizes.len()]))?);
    }
    let mut moved = Moved {
        table: table.clone(),
        sizes: sizes.to_vec(),
        extents: extents.to_vec(),
        first: vec![],
        steps,
        padding: 0,
    };
    let from_first = moved.offset(&index(anchor, extents));
    moved.first = place(anchor)?.iter().zip(from_first).map(|(at, offset)| at - offset).collect();
    let outside = |number: &usize| moved.place(&index(*number, extents)).is_none();
    moved.padding = (0..made.items.len()).find(outside).map_or(0, |number| made.items[number]);
    let is_same = |(number, item): (usize, &u64)| {
        *item == moved.place(&index(number, extents)).map_or(moved.padding, |place| table.items[place])
    };
    made.items.iter().enumerate().all(is_same).then_some(moved)
}

impl Moved {
    /// How far an index leads from the first element, in the table.
    fn offset(&self, index: &[i64]) -> Vec<i64> {
        let along = |d: usize| index.iter().zip(&self.steps).map(|(i, step)| i * step[d]).sum();
        (0..self.sizes.len()).map(along).collect()
    }

    /// The row-major number in the table of an index; none outside of it.
    fn place(&self, index: &[i64]) -> Option<usize> {
        let at = self.first.iter().zip(self.offset(index)).map(|(first, offset)| first + offset);
        at.zip(&self.sizes)
            .try_fold(0, |number, (at, size)| (0..*size).contains(&at).then(|| number * *size as usize + at as usize))
    }
}

impl Proof<'_> {
    /// An element of a table.
    pub(super) fn of_table(&mut self, table: &Table, address: Linear) -> Shown<Head> {
        let item = self.space.normal(&address)?.as_constant().and_then(|n| table.items.get(usize::try_from(n).ok()?));
        Ok(match item {
            Some(item) => Head::Constant(constant_text(&table.of, *item)),
            None => Head::Input(table.name.clone(), address),
        })
    }

    /// An element of a table that was moved.
    pub(super) fn of_moved(&mut self, moved: &Moved, address: &Linear) -> Shown<Head> {
        let mut stride: i64 = moved.extents.iter().product();
        let mut at: Vec<Linear> = moved.first.iter().map(|first| Linear::constant(*first)).collect();
        let mut rest = address.clone();
        for (extent, step) in moved.extents.iter().zip(&moved.steps) {
            stride /= extent;
            let (i, below) = self.space.divide(&rest, stride)?;
            at.iter_mut().zip(step).try_for_each(|(at, step)| at.gain(&i, *step))?;
            rest = below;
        }
        let mut number = Linear::default();
        for (at, size) in at.iter().zip(&moved.sizes) {
            if !self.space.at_least_zero(at)? || !self.space.at_least_zero(&Linear::constant(size - 1).minus(at)?)? {
                return Ok(Head::Constant(constant_text(&moved.table.of, moved.padding)));
            }
            number = number.times(*size)?.plus(at)?;
        }
        self.of_table(&moved.table, number)
    }
}
