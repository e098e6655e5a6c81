//! Values and memory of a program that runs.

use crate::reader::calc::Calc;
use crate::reader::layouts::{Layout, are_sizes, are_strides, is_of, row_major};
use crate::reader::model::{Place, Type};
use crate::run::bytes::SeenAs;
use crate::run::terms::{Term, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The run-time state of an SSA value.
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
}

/// Where memory is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Allocated, or from the caller.
    Heap,
    /// The stack: gone at the end of the function or of the iteration of a loop.
    Stack,
    /// An arena that the caller keeps.
    Caller,
    /// A global that nobody may write.
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
    /// The last iterations that wrote and that read each element, where iterations run in any order.
    marks: Vec<[u32; 2]>,
    /// The atomic operations of iterations on elements.
    atomics: FxHashMap<i64, Vec<Atomic>>,
}

/// Atomic operations of one kind on an element, by iterations that run in any order: the last iteration's, and all.
#[derive(Debug)]
struct Atomic {
    kind: Calc,
    last: u32,
    /// The bits that the last one may change, and those that others may.
    bits: [u64; 2],
    /// Whether there are others.
    several: bool,
}

impl Atomic {
    /// The bits that other iterations than these may change, if there are any.
    fn of_others(&self, iterations: &Iterations) -> Option<u64> {
        let [last, others] = self.bits;
        match iterations.apart(self.last) {
            _ if self.last < iterations.first() => None,
            Some(_) => Some(last | others),
            None => self.several.then_some(others),
        }
    }
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

    /// The first number of the outermost loop.
    fn first(&self) -> u32 {
        self.levels[0].0
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
        let (copied, stored, marks, atomics) = (vec![], vec![], vec![], FxHashMap::default());
        Buffer { items, origin: Origin::Heap, freed: false, copied, stored, marks, atomics }
    }

    /// Notes an atomic operation that may change some bits of an element; `commutes` with others of its kind. What another
    /// iteration does to the same bits has to be of one kind, as their order is not known.
    pub fn note_atomic(
        &mut self,
        address: i64,
        iterations: Iterations,
        (kind, commutes, bits): (Calc, bool, u64),
    ) -> Result<(), String> {
        let (first, now) = (iterations.first(), iterations.now());
        let marks = usize::try_from(address).ok().and_then(|at| self.marks.get(at)).copied().unwrap_or_default();
        let plain = marks.iter().any(|mark| iterations.apart(*mark).is_some());
        let all = self.atomics.entry(address).or_default();
        all.retain(|atomic| atomic.last >= first);
        let apart = |atomic: &Atomic| atomic.of_others(&iterations).is_none_or(|others| others & bits == 0);
        if plain || !all.iter().all(|atomic| commutes && atomic.kind == kind || apart(atomic)) {
            return Err(format!("address {address}, which another iteration that may run at the same time changes"));
        }
        match all.iter_mut().find(|atomic| atomic.kind == kind) {
            Some(atomic) if atomic.last == now => atomic.bits[0] |= bits,
            Some(atomic) => {
                (atomic.bits, atomic.last, atomic.several) = ([bits, atomic.bits[0] | atomic.bits[1]], now, true);
            }
            None => all.push(Atomic { kind, last: now, bits: [bits, 0], several: false }),
        }
        Ok(())
    }

    /// Reads or writes an element: `change` gives what is there then.
    pub fn access(
        &mut self,
        address: i64,
        iterations: Option<Iterations>,
        writes: bool,
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
                self.marks = vec![[0; 2]; count];
            }
            let [written, read] = self.marks[at].map(|mark| iterations.apart(mark));
            let atomics = self.atomics.get(&address).into_iter().flatten();
            let changed = atomics.filter_map(|atomic| atomic.of_others(&iterations)).next().is_some();
            if changed || written.is_some() || writes && read.is_some() {
                return Err(format!(
                    "address {address}, which another iteration that may run at the same time {}",
                    if changed || written.is_some() { "writes" } else { "reads" }
                ));
            }
            let now = iterations.now();
            if writes {
                self.marks[at][0] = now;
            } else {
                self.marks[at][1] = read.unwrap_or(now);
            }
        }
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

    /// Its element, or the first of several.
    pub fn item(&self, terms: &mut Terms) -> Option<Term> {
        match self {
            Value::Index(n) => Some(terms.constant(64, *n as u64)),
            Value::One(term) => Some(*term),
            Value::Many(many) => many.items.first().copied(),
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
