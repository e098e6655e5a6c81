//! Constants of several elements, and how a pass may move these: transpose, pack or pad them.
//!
//! The place of an element is found by values that are there once, and each element is compared:
//!
//! ```text
//! table' of i, j, k = table at (16 i + k, j)     where that is inside of the table, and one padding elsewhere
//! ```

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The elements of a constant.
#[derive(Debug, PartialEq)]
pub struct Table {
    /// Equal tables, and no others, have one name.
    pub name: String,
    /// As bits, by address.
    pub items: Vec<u64>,
    /// The type.
    pub of: String,
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
    pub table: Rc<Table>,
    /// The shape of the table.
    pub sizes: Vec<i64>,
    /// The shape in which the elements are now.
    pub extents: Vec<i64>,
    /// The index in the table of the first element.
    pub first: Vec<i64>,
    /// For each dimension of `extents`, the distance in the table of an index and the next one.
    pub steps: Vec<Vec<i64>>,
    /// The bits of elements outside of the table.
    pub padding: u64,
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
pub fn moved(table: &Rc<Table>, sizes: &[i64], made: &Table, extents: &[i64]) -> Option<Moved> {
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
