//! Equivalence classes of values with one layout (union-find).
//!
//! Each class has one layout for all its values, at first the written one. When two classes merge,
//! the fixed layout wins; else the one with a memory space; else that of the class with more
//! bytes. Two fixed layouts, two memory spaces, or a TensorLayout and any other layout never merge, nor
//! does a class with a layout that a shape of the other cannot have.
//!
//! Each class keeps its distinct shapes. The smaller list is added to the larger one, so all merges of `n` values take
//! `n log n` steps.

use crate::buffers::lowered::{AnyLayout, LoweredMemRef, takes_constant};
use crate::buffers::spread::Axes;
use crate::pass::options::Form;
use layout_dialect::element;
use layout_ir::{self as ir, Shaped, Val};
use melior::ir::attribute::AttributeLike;
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Location, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::sets::DisjointSets;

/// The bytes of a tensor's elements. A dynamic size counts as 1.
pub fn bytes(shaped: &Shaped) -> u64 {
    let elements = shaped.shape.iter().fold(1u64, |n, size| n.saturating_mul(size.unwrap_or(1).unsigned_abs()));
    elements.saturating_mul(element::least_bits(shaped.element).unsigned_abs().div_ceil(8))
}

/// The memory that a layout puts elements in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Unspecified: a type without a layout.
    Unstated,
    /// In this memory space.
    Memory(u8),
    /// The places of a machine, or an encoding that is no layout.
    Other,
}

impl Space {
    /// The space of an encoding.
    pub fn of(encoding: Option<Attribute>) -> Space {
        match encoding.map(AnyLayout::of) {
            None => Space::Unstated,
            Some(Some(layout @ (AnyLayout::Tiled(_) | AnyLayout::Swizzled(_)))) => Space::Memory(layout.memory_space()),
            Some(_) => Space::Other,
        }
    }
}

/// The common properties of a class.
struct Class<'c> {
    layout: Option<Attribute<'c>>,
    fixed: bool,
    space: Space,
    /// The distinct types of the values, without a layout.
    shapes: HashSet<Type<'c>>,
    /// Whether one of the values is a constant, whose elements are reordered for the layout.
    constant: bool,
    /// The bytes of the values.
    bytes: u64,
}

/// The classes of all tensors of a module.
pub struct Classes<'c> {
    location: Location<'c>,
    axes: Axes,
    /// The number of each value.
    numbers: HashMap<usize, usize>,
    values: Vec<Val<'c>>,
    /// The numbers by classes.
    sets: DisjointSets,
    /// The class of each number that represents one.
    classes: Vec<Class<'c>>,
    /// Whether a type can have a layout.
    possible: HashMap<(Type<'c>, usize, bool), bool>,
}

impl<'c> Classes<'c> {
    /// An empty set of classes.
    pub fn new(location: Location<'c>, axes: Axes) -> Self {
        Classes {
            location,
            axes,
            numbers: HashMap::new(),
            values: Vec::new(),
            sets: DisjointSets::default(),
            classes: Vec::new(),
            possible: HashMap::new(),
        }
    }

    /// The number of a value's class; `None` for a value that is no ranked tensor.
    fn class(&mut self, v: Val<'c>) -> Option<usize> {
        let number = match self.numbers.get(&ir::key(v)) {
            Some(number) => *number,
            None => self.add(v)?,
        };
        Some(self.sets.find(number))
    }

    fn add(&mut self, v: Val<'c>) -> Option<usize> {
        let shaped = ir::tensor(v.r#type())?;
        let (bytes, layout) = (bytes(&shaped), shaped.layout);
        let number = self.sets.add();
        self.numbers.insert(ir::key(v), number);
        self.values.push(v);
        self.classes.push(Class {
            layout,
            fixed: false,
            space: Space::of(layout),
            shapes: HashSet::from([ir::tensor_type(&Shaped { layout: None, ..shaped })]),
            constant: ir::defining_op(v).is_some_and(|op| ir::name(op) == "arith.constant"),
            bytes,
        });
        Some(number)
    }

    /// Fixes a value to its written layout.
    pub fn fix(&mut self, v: Val<'c>) {
        let Some(class) = self.class(v) else { return };
        let class = &mut self.classes[class];
        class.fixed = true;
        if class.space == Space::Unstated {
            class.space = Space::Memory(0);
        }
    }

    /// Requires one layout for two values. If the written ones differ, both are kept.
    pub fn same(&mut self, a: Val<'c>, b: Val<'c>) {
        let (Some(first), Some(second)) = (self.class(a), self.class(b)) else { return };
        if self.classes[first].layout != self.classes[second].layout {
            self.fix(a);
            self.fix(b);
            return;
        }
        if first != second {
            let layout = self.classes[first].layout;
            self.unite(first, second, layout);
        }
    }

    /// Merges the classes of a conversion's source and result, unless a rule forbids it.
    pub fn join(&mut self, source: Val<'c>, result: Val<'c>) {
        let (Some(a), Some(b)) = (self.class(source), self.class(result)) else { return };
        if a == b {
            return;
        }
        if let Some(layout) = self.common(a, b) {
            self.unite(a, b, layout);
        }
    }

    /// The layout that two classes can share.
    fn common(&mut self, a: usize, b: usize) -> Option<Option<Attribute<'c>>> {
        let (first, second) = (&self.classes[a], &self.classes[b]);
        if first.layout == second.layout && first.space == second.space {
            return Some(first.layout);
        }
        let said = |class: &Class| class.space != Space::Unstated;
        if first.space == Space::Other
            || second.space == Space::Other
            || first.fixed && second.fixed
            || said(first) && said(second) && first.space != second.space
        {
            return None;
        }
        let priority = |class: &Class| (class.fixed, said(class), class.bytes);
        let (better, worse) = if priority(first) >= priority(second) { (a, b) } else { (b, a) };
        let is_last = self.classes[better].fixed || said(&self.classes[better]) != said(&self.classes[worse]);
        // A layout that is not fixed may be replaced by one that specifies as much.
        let ways = if is_last { vec![(better, worse)] } else { vec![(better, worse), (worse, better)] };
        ways.into_iter()
            .find(|(of, to)| self.can_have(*to, self.classes[*of].layout))
            .map(|way| self.classes[way.0].layout)
    }

    /// Whether all values of a class can have a layout.
    fn can_have(&mut self, class: usize, layout: Option<Attribute<'c>>) -> bool {
        let Some(layout) = layout else { return true };
        let constant = self.classes[class].constant;
        let shapes = &self.classes[class].shapes;
        let (location, axes, possible) = (self.location, &self.axes, &mut self.possible);
        shapes.iter().all(|t| {
            let key = (*t, layout.to_raw().ptr as usize, constant);
            *possible.entry(key).or_insert_with(|| is_possible(location, axes, *t, layout, constant))
        })
    }

    fn unite(&mut self, a: usize, b: usize, layout: Option<Attribute<'c>>) {
        let (kept, gone) = match self.classes[a].shapes.len() >= self.classes[b].shapes.len() {
            true => (a, b),
            false => (b, a),
        };
        self.sets.join(kept, gone);
        let shapes = std::mem::take(&mut self.classes[gone].shapes);
        let Class { fixed, space, constant, bytes, .. } = self.classes[gone];
        let class = &mut self.classes[kept];
        class.layout = layout;
        class.fixed |= fixed;
        class.constant |= constant;
        class.bytes = class.bytes.saturating_add(bytes);
        class.shapes.extend(shapes);
        if class.space == Space::Unstated {
            class.space = space;
        }
    }

    /// Gives each value the layout of its class.
    pub fn set_types(&mut self) {
        for v in self.values.clone() {
            let Some(class) = self.class(v) else { continue };
            let layout = self.classes[class].layout;
            let Some(shaped) = ir::tensor(v.r#type()).filter(|shaped| shaped.layout != layout) else { continue };
            let t = ir::tensor_type(&Shaped { layout, ..shaped });
            ir::set_type(v, t);
            if let Some(constant) = ir::defining_op(v).filter(|op| ir::name(*op) == "arith.constant")
                && let Some(value) = reshaped(constant, t)
            {
                ir::edit(constant).set_attribute("value", value);
            }
        }
    }
}

/// The value of an `arith.constant` as a constant of another type; `None` if its elements are not in the module, or
/// lowering takes no such constant.
pub fn reshaped<'c>(constant: ir::Op<'c>, t: Type<'c>) -> Option<Attribute<'c>> {
    ir::constant(ir::attribute(constant, "value")?).filter(|_| takes_constant(t))?.reshaped(t)
}

/// Whether tensors of a type can have a layout.
fn is_possible<'c>(location: Location<'c>, axes: &Axes, t: Type<'c>, layout: Attribute<'c>, constant: bool) -> bool {
    let (Some(shaped), Some(AnyLayout::Tiled(tiled))) = (ir::tensor(t), AnyLayout::of(layout)) else { return false };
    if tiled.rank() != shaped.shape.len() {
        return false;
    }
    let lowered = LoweredMemRef::new(location, &shaped, &AnyLayout::Tiled(tiled), axes, Form::Strided);
    lowered.is_ok_and(|lowered| !constant || lowered.holds_constant())
}
