//! Values and memory of a program that runs.

use crate::reader::layouts::{Layout, are_sizes, are_strides, is_of, row_major};
use crate::reader::model::{Place, Type};
use crate::run::bytes::SeenAs;
use crate::run::terms::{Term, Terms};
use std::rc::Rc;

/// What an SSA value is while the program runs.
#[derive(Clone, Debug)]
pub enum Value {
    /// An index.
    Index(i64),
    /// One element.
    One(Term),
    /// A tensor or a vector.
    Many(Rc<Many>),
    /// A memref.
    View(Rc<View>),
}

/// Elements in row-major order.
#[derive(Clone, Debug)]
pub struct Many {
    /// The shape.
    pub sizes: Vec<i64>,
    /// As many as the shape has.
    pub items: Vec<Term>,
}

/// A view of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    /// Its number.
    pub buffer: usize,
    /// In elements.
    pub offset: i64,
    /// The shape.
    pub sizes: Vec<i64>,
    /// In elements; not used with a layout.
    pub strides: Vec<i64>,
    /// The layout that is the memref's own.
    pub layout: Option<Rc<Layout>>,
    /// As what its elements are seen.
    pub shown: SeenAs,
    /// Whether it was cut out of another (`memref.subview`, `memref.view`).
    pub is_part: bool,
}

/// Where memory is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Allocated, or from the caller.
    Heap,
    /// Of the stack: gone at the end of the function or of the iteration of a loop.
    Stack,
    /// Of a global, which may be written.
    Global,
    /// Of a global that nobody may write.
    Constant,
}

/// Memory.
#[derive(Debug)]
pub struct Buffer {
    /// Its elements.
    pub items: Vec<Term>,
    /// Where it is from.
    pub origin: Origin,
    /// Whether it was given back.
    pub freed: bool,
    /// The addresses of copies that run, from the first up to below the end: nobody may write there.
    pub copied: Vec<(i64, i64)>,
    /// Where elements have several bytes, the first byte of that of each, and their number.
    pub stored: Vec<(i64, i64)>,
    /// Of each element the last iteration that wrote it, that read it and that changed it by an atomic operation, and this
    /// operation, where iterations run in any order.
    marks: Vec<([u32; 3], u32)>,
}

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It becomes what an operation of this number makes of it, of which several may come in any order, or not.
    Change(u32, bool),
}

/// Iterations in any order that are running, of one loop inside of the other. Each has a number, and what is inside of it has
/// greater ones than it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Iterations {
    /// Numbers from the first on are of the loop; it stands for several readers. The second is that of the iteration.
    levels: [(u32, u32); 4],
    depth: usize,
}

impl Iterations {
    /// With an iteration of another loop inside; none where there are too many loops.
    pub fn inside(self, first: u32, now: u32) -> Option<Iterations> {
        let (mut levels, depth) = (self.levels, self.depth);
        *levels.get_mut(depth)? = (first, now);
        Some(Iterations { levels, depth: depth + 1 })
    }

    /// The outermost loop of which what has this number is in another iteration, by its first number.
    fn apart(&self, mark: u32) -> Option<u32> {
        let apart = self.levels[..self.depth].iter().find(|(first, now)| (*first..*now).contains(&mark));
        apart.map(|(first, _)| *first)
    }

    fn now(&self) -> u32 {
        self.depth.checked_sub(1).map_or(0, |last| self.levels[last].1)
    }
}

/// The number of elements of a shape.
pub fn product(sizes: &[i64]) -> Option<usize> {
    sizes.iter().try_fold(1_usize, |n, size| n.checked_mul(usize::try_from(*size).ok()?))
}

/// The indices of a shape in row-major order, by a call for each.
pub fn each_index<E>(sizes: &[i64], mut visit: impl FnMut(&[i64]) -> Result<(), E>) -> Result<(), E> {
    if sizes.iter().any(|n| *n <= 0) {
        return Ok(());
    }
    let mut index = vec![0; sizes.len()];
    loop {
        visit(&index)?;
        let Some(d) = (0..sizes.len()).rev().find(|d| index[*d] + 1 < sizes[*d]) else { return Ok(()) };
        index[d] += 1;
        index[d + 1..].fill(0);
    }
}

impl View {
    /// Whether it begins where its buffer does, in row-major order.
    pub fn is_row_major(&self) -> bool {
        let plain = row_major(&self.sizes).unwrap_or_default();
        let mut strides = plain.into_iter().map(Some);
        self.layout.is_none() && self.offset == 0 && are_strides(&self.sizes, &self.strides, &mut strides)
    }

    /// Whether it has the sizes, offset, strides and layout that a type says.
    pub fn is_of(&self, r#type: &Type) -> bool {
        match r#type {
            Type::Shaped { sizes, place: Place::Layout(text), .. } => {
                are_sizes(&self.sizes, sizes) && self.layout.as_deref() == Layout::read(text).as_ref()
            }
            plain => self.layout.is_none() && is_of(plain, &self.sizes, Some(self.offset), &self.strides),
        }
    }

    /// The address of an index; none outside of the shape.
    pub fn address(&self, index: &[i64]) -> Option<i64> {
        if index.len() != self.sizes.len() || index.iter().zip(&self.sizes).any(|(i, n)| i < &0 || i >= n) {
            return None;
        }
        if let Some(layout) = &self.layout {
            return layout.offset(&self.sizes, index)?.checked_add(self.offset);
        }
        index.iter().zip(&self.strides).try_fold(self.offset, |at, (i, stride)| at.checked_add(i.checked_mul(*stride)?))
    }
}

impl Buffer {
    /// Memory of these elements.
    pub fn new(items: Vec<Term>) -> Buffer {
        Buffer { items, origin: Origin::Heap, freed: false, copied: vec![], stored: vec![], marks: vec![] }
    }

    /// Reads or writes an element: `change` gives what is there then.
    pub fn access(
        &mut self,
        address: i64,
        iterations: Option<Iterations>,
        touch: Touch,
        change: impl FnOnce(Term) -> Term,
    ) -> Result<Term, String> {
        if self.freed {
            return Err("memory that was freed before".into());
        }
        let count = self.items.len();
        let at = usize::try_from(address).ok().filter(|at| *at < count);
        let at = at.ok_or_else(|| format!("address {address} of a buffer of {count} elements"))?;
        if let Some(iterations) = iterations {
            if self.marks.is_empty() {
                self.marks = vec![([0; 3], 0); count];
            }
            let (marks, operation) = &mut self.marks[at];
            let [written, read, changed] = marks.map(|mark| iterations.apart(mark));
            let in_order = match touch {
                Touch::Read => [(written, "writes"), (changed, "changes")],
                Touch::Write => [(written.or(changed), "writes"), (read, "reads")],
                Touch::Change(by, true) if by == *operation => [(written, "writes"), (read, "reads")],
                Touch::Change(..) => [(written.or(changed), "changes"), (read, "reads")],
            };
            if let Some((_, does)) = in_order.iter().find(|(other, _)| other.is_some()) {
                return Err(format!("address {address}, which another iteration that may run at the same time {does}"));
            }
            let now = iterations.now();
            match touch {
                Touch::Read => marks[1] = read.unwrap_or(now),
                Touch::Write => marks[0] = now,
                Touch::Change(by, _) => (marks[2], *operation) = (changed.unwrap_or(now), by),
            }
        }
        let writes = touch != Touch::Read;
        let before = self.items[at];
        if writes && self.origin == Origin::Constant {
            return Err("a store to a constant".into());
        }
        if writes && self.copied.iter().any(|(first, end)| (*first..*end).contains(&address)) {
            return Err("an element of a copy that is written before the wait for the copy".into());
        }
        if writes {
            self.items[at] = change(before);
        }
        Ok(before)
    }
}

impl Value {
    /// The elements of a tensor, vector or element.
    pub fn items(&self, terms: &mut Terms) -> Option<Vec<Term>> {
        match self {
            Value::Index(n) => Some(vec![terms.constant(64, *n as u64)]),
            Value::One(term) => Some(vec![*term]),
            Value::Many(many) => Some(many.items.clone()),
            Value::View(_) => None,
        }
    }

    /// The shape; none for one element.
    pub fn sizes(&self) -> &[i64] {
        match self {
            Value::Many(many) => &many.sizes,
            Value::View(view) => &view.sizes,
            _ => &[],
        }
    }
}
