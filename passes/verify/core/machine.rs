//! Values and memory of a program that runs on symbolic elements. A tensor is memory that nobody writes again.

use crate::mlir::{self, DYNAMIC, Expr, Kind};
use crate::terms::{Item, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A result, or why nothing is confirmed.
pub type Done<T = ()> = Result<T, String>;

/// What an operation does.
pub type Instruction = Box<dyn Fn(&mut Machine) -> Done>;

/// A program.
#[derive(Default)]
pub struct Form {
    pub functions: FxHashMap<String, Function>,
    /// Constants: their elements and type.
    pub globals: FxHashMap<String, (Vec<Item>, Kind)>,
}

pub struct Function {
    /// The types of the arguments and of the results.
    pub types: [Vec<Kind>; 2],
    pub is_private: bool,
    pub slots: usize,
    pub body: Code,
}

/// The block of a region.
#[derive(Default)]
pub struct Code {
    pub arguments: Vec<usize>,
    /// Whether each argument is used.
    pub used: Vec<bool>,
    pub steps: Vec<Instruction>,
    /// What it hands on.
    pub end: Vec<usize>,
}

/// The results of a map of numbers of the program.
pub struct Index {
    pub map: Vec<Expr>,
    pub slots: Vec<usize>,
}

#[derive(Clone, Debug)]
pub enum Value {
    Item(Item),
    /// A vector, in row-major order.
    Items(Rc<Vec<Item>>),
    Memory(Rc<View>),
    None,
}

/// A memref or tensor: strides are in elements of the buffer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub buffer: usize,
    pub offset: i64,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    Argument,
    Heap,
    Stack,
    Constant,
    Freed,
}

pub struct Buffer {
    pub items: Vec<Item>,
    pub origin: Origin,
}

/// A parallel loop under way: its iteration, counted from 1, how many buffers are from before it, and who wrote and read their
/// elements.
pub struct Parallel {
    iteration: u32,
    pub buffers: usize,
    touched: FxHashMap<(usize, usize), [u32; 2]>,
}

pub struct Machine<'f> {
    pub terms: &'f mut Terms,
    pub form: &'f Form,
    pub frame: Vec<Value>,
    pub buffers: Vec<Buffer>,
    pub globals: FxHashMap<String, Rc<View>>,
    /// What is printed.
    pub effects: Vec<(String, Vec<Item>)>,
    /// How many more elements may be looked at.
    pub steps: u64,
    /// How many calls are under way.
    pub calls: usize,
    /// The points of the domains of operations of linalg under way.
    pub domain: Vec<Vec<i64>>,
    pub parallel: Vec<Parallel>,
}

/// Row-major strides; none beyond 64 bits.
pub fn row_major(sizes: &[i64]) -> Done<Vec<i64>> {
    let (mut strides, mut stride) = (vec![0; sizes.len()], 1i64);
    for d in (0..sizes.len()).rev() {
        strides[d] = stride;
        stride = stride.checked_mul(sizes[d].max(1)).ok_or("memory beyond 64 bits")?;
    }
    Ok(strides)
}

/// Does something for each index of a shape, in row-major order.
pub fn each_index(sizes: &[i64], mut then: impl FnMut(&[i64]) -> Done) -> Done {
    let mut index = vec![0; sizes.len()];
    if sizes.iter().any(|n| *n <= 0) {
        return Ok(());
    }
    loop {
        then(&index)?;
        let Some(d) = (0..sizes.len()).rev().find(|d| index[*d] + 1 < sizes[*d]) else { return Ok(()) };
        index[d] += 1;
        index[d + 1..].fill(0);
    }
}

/// The row-major number of an index; none outside of the shape.
pub fn number(sizes: &[i64], index: &[i64]) -> Option<usize> {
    let step = |sum: i64, (n, i): (&i64, &i64)| sum.checked_mul(*n)?.checked_add(*i).filter(|_| (0..*n).contains(i));
    sizes.iter().zip(index).try_fold(0, step).map(|n| n as usize)
}

impl View {
    /// The address of an element; none outside of the shape.
    pub fn address(&self, index: &[i64]) -> Option<usize> {
        let mut each = index.iter().zip(&self.sizes).zip(&self.strides);
        let along = |sum: i64, ((i, n), stride): ((&i64, &i64), &i64)| {
            (0..*n).contains(i).then(|| i.checked_mul(*stride)?.checked_add(sum)).flatten()
        };
        usize::try_from(each.try_fold(self.offset, along)?).ok()
    }

    /// Whether it is of a type; a dimension of one element has any stride.
    pub fn is_of(&self, kind: &Kind) -> bool {
        let is = |(said, n): (&i64, &i64)| *said == DYNAMIC || said == n;
        let sizes = kind.sizes.len() == self.sizes.len() && kind.sizes.iter().zip(&self.sizes).all(is);
        let Some((offset, strides)) = kind.strides.split_last() else { return sizes };
        let mut each = self.sizes.iter().zip(strides.iter().zip(&self.strides));
        let along = self.sizes.contains(&0) || each.all(|(n, stride)| *n == 1 || is(stride));
        sizes && is((offset, &self.offset)) && along
    }
}

impl<'f> Machine<'f> {
    pub fn new(terms: &'f mut Terms, form: &'f Form, steps: u64) -> Machine<'f> {
        let (frame, buffers, globals, effects, domain) = (vec![], vec![], FxHashMap::default(), vec![], vec![]);
        Machine { terms, form, frame, buffers, globals, effects, steps, calls: 0, domain, parallel: vec![] }
    }

    pub fn step(&mut self, count: usize) -> Done {
        self.steps = self.steps.checked_sub(count as u64).ok_or("too many steps")?;
        Ok(())
    }

    pub fn item(&self, slot: usize) -> Done<Item> {
        if let Value::Item(item) = &self.frame[slot] { Ok(*item) } else { Err("a value that is no element".into()) }
    }

    /// The number that an index, an integer or a condition is.
    pub fn int(&self, slot: usize) -> Done<i64> {
        let Item::Number(n) = self.item(slot)? else { return Err("an index that depends on data".into()) };
        Ok(n as i64)
    }

    pub fn index(&self, of: &Index) -> Done<Vec<i64>> {
        let at = of.slots.iter().map(|slot| self.int(*slot)).collect::<Done<Vec<_>>>()?;
        of.map.iter().map(|e| e.value(&at)).collect::<Option<_>>().ok_or_else(|| "an index beyond 64 bits".into())
    }

    pub fn view(&self, slot: usize) -> Done<Rc<View>> {
        if let Value::Memory(view) = &self.frame[slot] { Ok(view.clone()) } else { Err("no memory".into()) }
    }

    pub fn values(&self, slots: &[usize]) -> Vec<Value> {
        slots.iter().map(|slot| self.frame[*slot].clone()).collect()
    }

    pub fn assign(&mut self, slots: &[usize], values: Vec<Value>) -> Done {
        slots.iter().zip(values).for_each(|(slot, value)| self.frame[*slot] = value);
        Ok(())
    }

    /// How many elements a shape has, if that many may be looked at.
    pub fn count(&self, sizes: &[i64]) -> Done<usize> {
        mlir::count(sizes).filter(|n| *n as u64 <= self.steps).ok_or_else(|| "too many steps".into())
    }

    /// New memory of a shape, in row-major order.
    pub fn allocate(&mut self, items: Vec<Item>, sizes: &[i64], origin: Origin) -> Done<Rc<View>> {
        self.step(items.len())?;
        self.buffers.push(Buffer { items, origin });
        let (buffer, sizes, strides) = (self.buffers.len() - 1, sizes.to_vec(), row_major(sizes)?);
        Ok(Rc::new(View { buffer, offset: 0, sizes, strides }))
    }

    /// The address of an element in the buffer of a view, for an access.
    fn reached(&mut self, view: &View, index: &[i64], writes: bool) -> Done<usize> {
        self.step(1)?;
        let buffer = &self.buffers[view.buffer];
        let at = view.address(index).filter(|at| *at < buffer.items.len());
        let may = buffer.origin != Origin::Freed && !(writes && buffer.origin == Origin::Constant);
        self.terms.differs |= self.terms.is_second && !(may && at.is_some());
        let at = at.ok_or("an access outside of memory")?;
        may.then_some(()).ok_or("an access to memory that was freed, or a store to a constant")?;
        for Parallel { iteration, touched, .. } in self.parallel.iter_mut().filter(|p| view.buffer < p.buffers) {
            let [written, read] = touched.entry((view.buffer, at)).or_default();
            let other = |by: u32| by != 0 && by != *iteration;
            if other(*written) || writes && other(*read) {
                return Err("memory that two iterations of a parallel loop share, of which one writes".into());
            }
            // Read by several is read by another one.
            let by = if other(*read) { u32::MAX } else { *iteration };
            *if writes { written } else { read } = by;
        }
        Ok(at)
    }

    pub fn load(&mut self, view: &View, index: &[i64]) -> Done<Item> {
        let at = self.reached(view, index, false)?;
        Ok(self.buffers[view.buffer].items[at])
    }

    pub fn store(&mut self, view: &View, index: &[i64], item: Item) -> Done {
        let at = self.reached(view, index, true)?;
        self.buffers[view.buffer].items[at] = item;
        Ok(())
    }

    /// All elements of a value, in row-major order.
    pub fn items(&mut self, slot: usize) -> Done<Rc<Vec<Item>>> {
        let view = match &self.frame[slot] {
            Value::Item(item) => return Ok(Rc::new(vec![*item])),
            Value::Items(items) => return Ok(items.clone()),
            Value::Memory(view) => view.clone(),
            Value::None => return Err("a value that is not there".into()),
        };
        let mut items = Vec::with_capacity(self.count(&view.sizes)?);
        each_index(&view.sizes, |index| {
            items.push(self.load(&view, index)?);
            Ok(())
        })?;
        Ok(Rc::new(items))
    }

    /// A copy of memory or of a tensor, in row-major order.
    pub fn copy(&mut self, slot: usize) -> Done<Rc<View>> {
        let (items, sizes) = (self.items(slot)?, self.view(slot)?.sizes.clone());
        self.allocate(items.to_vec(), &sizes, Origin::Heap)
    }

    /// A value of a type, of its elements.
    pub fn shaped(&mut self, items: Vec<Item>, kind: &Kind) -> Done<Value> {
        match kind.kind {
            's' => items.first().map(|item| Value::Item(*item)).ok_or_else(|| "no element".into()),
            'v' => Ok(Value::Items(Rc::new(items))),
            _ if kind.kind == 'm' || kind.sizes.contains(&DYNAMIC) => Err("sizes that are not known".into()),
            _ => Ok(Value::Memory(self.allocate(items, &kind.sizes, Origin::Heap)?)),
        }
    }

    /// Runs the iterations of a parallel loop, each with its index.
    pub fn in_parallel(&mut self, extents: &[i64], mut then: impl FnMut(&mut Self, &[i64]) -> Done) -> Done {
        let (buffers, printed) = (self.buffers.len(), self.effects.len());
        self.parallel.push(Parallel { iteration: 0, buffers, touched: FxHashMap::default() });
        let depth = self.parallel.len();
        each_index(extents, |index| {
            self.parallel[depth - 1].iteration += 1;
            then(self, index)
        })?;
        self.parallel.pop();
        (self.effects.len() == printed).then_some(()).ok_or_else(|| "printing in any order".into())
    }
}
