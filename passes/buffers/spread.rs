//! A tensor spread over the places of a machine, as one buffer.
//!
//! On a CPU the memories of all places are slices of one buffer. It has a dimension for each axis of the machine, from
//! parent to child, then one for each part of the layout inside a place: on a machine of 4 PEs
//! `tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>` becomes `memref<4x3x8xf32>`, and PE 2 has
//! `memref<3x8xf32, strided<[8, 1], offset: 48>>` of it. An axis that the layout does not name holds a copy at each of
//! its places.
//!
//! Inside a place, the element of a word (`W`) varies fastest, then the local address; the pieces of work that the
//! layout spreads over `Time` follow each other.

use layout_dialect::{MACHINE, element};
use layout_ir::{self as ir, Op, Shaped};
use melior::ir::{Type, ValueLike};
use std::collections::HashSet;
use tensor_layout::expr::Expr;
use tensor_layout::places::Placement;
use tensor_layout::places::TensorLayout;
use tensor_layout::places::{Machine, TIME, WORD};

/// The axes of a module's TensorLayouts, parent to child.
#[derive(Clone, Default)]
pub struct Axes {
    /// Each axis, and the number of its places.
    pub extents: Vec<(String, i64)>,
    /// The machine of the axes, if the module names one.
    machine: Option<Machine>,
}

/// A part of a layout inside a place: `index floordiv weight mod extent` in a dimension of the buffer.
pub struct Local {
    /// The dimension whose index it is part of; `None` for copies, along `W` or `Time`.
    pub dim: Option<usize>,
    /// Its step in that index.
    pub weight: i64,
    /// The number of its values.
    pub extent: i64,
    /// Its step in the buffer, in elements.
    pub stride: i64,
    /// Whether it runs over time.
    pub time: bool,
}

/// A part of a layout over an axis: a digit of an index, or of the number of a copy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread {
    /// The dimension whose index it is part of; `None` for copies.
    pub dim: Option<usize>,
    /// Its step in that index.
    pub weight: i64,
    /// The number of its values.
    pub extent: i64,
    /// The axis, which is the buffer's dimension of that number.
    pub axis: usize,
    /// Its step, in places.
    pub stride: i64,
}

/// A TensorLayout on the axes of a machine.
pub struct SpreadBuffer {
    /// The axes.
    pub names: Vec<String>,
    /// The number of places along each of them.
    pub places: Vec<i64>,
    /// The parts over axes, including copies at places that the layout numbers.
    pub spread: Vec<Spread>,
    /// Whether the layout names each axis. Every place along an unnamed axis has a copy.
    pub named: Vec<bool>,
    /// The parts inside a place.
    pub local: Vec<Local>,
    /// The capacity of a place, in elements.
    room: i64,
    /// The elements of the buffer, all places together.
    elements: i64,
    placement: Placement,
}

impl Axes {
    /// The axes of the machine that a module names, else the axes of its layouts, in order of appearance.
    pub fn of<'c>(module: Op<'c>, operations: &[Op<'c>]) -> Axes {
        let machine = ir::attribute(module, MACHINE).and_then(layout_dialect::machine);
        if let Some(machine) = &machine {
            let extents = machine.axes.iter().map(|axis| (axis.name.clone(), axis.extent)).collect();
            return Axes { extents, machine: Some(machine.clone()) };
        }
        let mut axes = Axes::default();
        let mut seen: HashSet<Type<'c>> = HashSet::new();
        for op in operations {
            let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
            let values = ir::results(*op).into_iter().chain(arguments).map(|v| v.r#type());
            let named = ["function_type", "type"].into_iter().filter_map(|name| ir::attribute(*op, name));
            let named = named.filter_map(ir::type_in).flat_map(|t| match ir::function(t) {
                Some((inputs, results)) => inputs.into_iter().chain(results).collect(),
                None => vec![t],
            });
            for t in values.chain(named) {
                if seen.insert(t) {
                    axes.reach(t);
                }
            }
        }
        axes
    }

    /// Extends the axes for the layout of a type.
    fn reach(&mut self, t: Type) {
        let Some(shaped) = ir::memref(t).or_else(|| ir::tensor(t)) else { return };
        let attribute = shaped.layout.into_iter().chain(shaped.space.and_then(layout_dialect::pending));
        let Some(layout) = attribute.filter_map(layout_dialect::tensor_layout).next() else { return };
        // Sizes that overflow are reported when the buffer is lowered.
        let Some(sizes) = shaped.sizes() else { return };
        let Ok(placement) = Placement::new(&layout, Some(&sizes)) else { return };
        for (name, extent) in placement.axes().iter().zip(placement.extents()) {
            if name == WORD || name == TIME {
                continue;
            }
            match self.extents.iter_mut().find(|axis| axis.0 == *name) {
                Some(axis) => axis.1 = axis.1.max(extent),
                None => self.extents.push((name.clone(), extent)),
            }
        }
    }
}

impl SpreadBuffer {
    /// Spreads a tensor over the axes; the error is the reason why it cannot be.
    pub fn new(logical: &Shaped, layout: &TensorLayout, axes: &Axes) -> Result<SpreadBuffer, String> {
        let sizes = logical.sizes().ok_or("a TensorLayout must have static sizes")?;
        let placement = Placement::new(layout, Some(&sizes)).map_err(|e| e.error.message)?;
        if let Some(machine) = &axes.machine {
            let bits =
                element::bits(logical.element).ok_or_else(|| format!("{} has no known size", logical.element))?;
            let space = logical.space.and_then(layout_dialect::memory_space).and_then(|n| u8::try_from(n).ok());
            machine.check(&placement, bits.max(1), space).map_err(|e| e.message)?;
        }
        let number = |name: &String| axes.extents.iter().position(|axis| axis.0 == *name);
        let extents = placement.extents();
        let reach = |wanted: &str| placement.axes().iter().position(|name| name == wanted).map_or(1, |k| extents[k]);
        let (words, pieces) = (reach(WORD), reach(TIME));
        let too_large = || "the number of its elements, all places together, overflows 64 bits".to_string();
        let address = *extents.last().unwrap_or(&1);
        let span = address.checked_mul(words).ok_or_else(too_large)?;
        let room = span.checked_mul(pieces).ok_or_else(too_large)?;
        let places: Vec<i64> = axes.extents.iter().map(|axis| axis.1).collect();
        let elements = places.iter().try_fold(room, |n, places| n.checked_mul(*places)).ok_or_else(too_large)?;
        let mut named = vec![false; places.len()];
        let (mut spread, mut local) = (Vec::new(), Vec::new());
        for (k, name) in placement.axes().iter().enumerate() {
            if let Some(axis) = number(name) {
                named[axis] = placement.copies(k) != tensor_layout::places::Copies::All;
            }
        }
        for digit in placement.digits().iter().filter(|digit| digit.extent != 1) {
            let name = placement.axes().get(digit.axis);
            let stride = match name.map(String::as_str) {
                None => digit.stride * words,
                Some(WORD) => digit.stride,
                Some(TIME) => digit.stride * span,
                Some(_) => {
                    let axis = name.and_then(number).ok_or("it names an axis that the machine lacks")?;
                    let (dim, weight, extent, stride) = (digit.dim, digit.weight, digit.extent, digit.stride);
                    spread.push(Spread { dim, weight, extent, axis, stride });
                    continue;
                }
            };
            let (dim, time) = (digit.dim, name.is_some_and(|name| name == TIME));
            local.push(Local { dim, weight: digit.weight, extent: digit.extent, stride, time });
        }
        let names = axes.extents.iter().map(|axis| axis.0.clone()).collect();
        let spread_buffer = SpreadBuffer { names, places, spread, named, local, room, elements, placement };
        // Other element types are assumed to fit in two words.
        let bytes = element::bits(logical.element).map_or(16, |bits| (bits + 7) / 8);
        elements.checked_mul(bytes).ok_or("the number of its bytes, all places together, overflows 64 bits")?;
        Ok(spread_buffer)
    }

    /// The parts along an axis, by falling strides.
    pub fn along(&self, axis: usize) -> Vec<Spread> {
        let mut parts: Vec<Spread> = self.spread.iter().copied().filter(|part| part.axis == axis).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.stride));
        parts
    }

    /// The elements of the buffer, all places together.
    pub fn elements(&self) -> i64 {
        self.elements
    }

    /// The sizes of the buffer: the places along each axis, then the parts inside a place.
    pub fn sizes(&self) -> Vec<i64> {
        self.places.iter().copied().chain(self.local.iter().map(|part| part.extent)).collect()
    }

    /// The strides of [`SpreadBuffer::sizes`].
    pub fn strides(&self) -> Vec<i64> {
        let mut strides = vec![self.room; self.places.len()];
        for axis in (1..self.places.len()).rev() {
            strides[axis - 1] = strides[axis] * self.places[axis];
        }
        strides.into_iter().chain(self.local.iter().map(|part| part.stride)).collect()
    }

    /// The index into the buffer, from the logical index, of the first copy.
    pub fn exprs(&self) -> Vec<Expr> {
        let mut exprs = vec![Vec::new(); self.places.len()];
        for part in &self.spread {
            if let Some(dim) = part.dim {
                exprs[part.axis].push(self.digit(dim, part.weight, part.extent).times(part.stride));
            }
        }
        exprs.into_iter().map(Expr::sum).chain(self.local_exprs()).collect()
    }

    /// The index inside a place, from the logical index.
    fn local_exprs(&self) -> impl Iterator<Item = Expr> {
        let copy = Expr::Const(0);
        self.local.iter().map(move |part| match part.dim {
            Some(dim) => self.digit(dim, part.weight, part.extent),
            None => copy.clone(),
        })
    }

    /// Each part as an expression of the logical index; with a loop for each, the index into the buffer is a sum.
    pub fn digits(&self) -> Vec<Expr> {
        let over_axes = self.spread.iter().filter_map(|part| Some(self.digit(part.dim?, part.weight, part.extent)));
        over_axes.chain(self.local_exprs()).collect()
    }

    /// A digit of the index of a dimension.
    fn digit(&self, dim: usize, weight: i64, extent: i64) -> Expr {
        Expr::Var(dim).digit(weight, extent, self.placement.padded_sizes()[dim])
    }

    /// The positions of an element's further copies: the dimension of the buffer, their number, and their stride in it.
    /// Copies of several dimensions multiply.
    pub fn copies(&self) -> Vec<(usize, i64, i64)> {
        let told = self.spread.iter().filter(|part| part.dim.is_none()).map(|p| (p.axis, p.extent, p.stride));
        let all = (0..self.places.len()).filter(|axis| !self.named[*axis] && self.places[*axis] > 1);
        let inside = self.local_copies().into_iter().map(|(k, extent)| (self.places.len() + k, extent, 1));
        told.chain(all.map(|axis| (axis, self.places[axis], 1))).chain(inside).collect()
    }

    /// The copies inside a place: the dimension of the place's part of the buffer, and their number.
    pub fn local_copies(&self) -> Vec<(usize, i64)> {
        let copies = self.local.iter().enumerate().filter(|(_, part)| part.dim.is_none());
        copies.map(|(k, part)| (k, part.extent)).collect()
    }

    /// The offsets of all copies of the element at an index.
    pub fn offsets(&self, index: &[i64]) -> Result<Vec<i64>, String> {
        let strides = self.strides();
        let at = |e: &Expr| e.evaluate(index).ok_or("an index overflows 64 bits");
        let mut first = 0;
        for (e, stride) in self.exprs().iter().zip(&strides) {
            first += at(e)? * stride;
        }
        let mut offsets = vec![first];
        for (axis, extent, step) in self.copies() {
            offsets = (0..extent)
                .flat_map(|k| offsets.iter().map(move |o| (o, k)))
                .map(|(o, k)| o + k * step * strides[axis])
                .collect();
        }
        Ok(offsets)
    }
}
