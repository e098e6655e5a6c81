//! The constants of both programs.
//!
//! Equal tables have one name. A table of the second program that is none of the first one may be one whose elements a pass moved.

use crate::proof::equations::constant_text;
use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown};
use crate::proof::statements::{Contents, Statements};
use crate::proof::table::{Moved, Table, moved};
use crate::proof::value::Head;
use rustc_hash::FxHashMap;
use std::rc::Rc;

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
