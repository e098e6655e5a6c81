//! One program for every place: nests whose outputs are spread over the places of a machine.
//!
//! An `scf.forall` runs over the axes of the machine, and each of its iterations writes its place's part of the
//! outputs. Parts that the output's layout spreads over an axis are not loops but digits of the place's
//! coordinate; the remaining loops run over the parts inside the place, those over time outermost. If the coordinates
//! of an input's element are always those of this place, whatever the loops, the input is accessed through a view of
//! the place's own memory. Otherwise the place fetches the element from its owner.
//!
//! A coordinate may have no element: the layout omits places, or they hold padding. A condition excludes
//! such places, as far out as its values are known. If parts interleave along an axis, divisions cannot separate
//! them: these parts stay loops, and a condition selects the elements of the place.

use crate::buffers::index::IndexVars;
use crate::buffers::spread::{Spread, SpreadBuffer};
use crate::kernel::access::{Operand, Reached};
use crate::kernel::loops::{Inner, a_loop, order, scales, split};
use crate::kernel::nest::{Nest, TileLoop};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::Type;
use melior::ir::attribute::IntegerAttribute;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Form, Interval};
use tensor_layout::places::{self, Broadcast, TensorLayout};

/// A condition on this place.
enum Guard {
    /// The expression is 0.
    Zero(Expr),
    /// The expression is at least 0.
    Positive(Expr),
}

impl Guard {
    /// A value stays below a bound.
    fn below(value: Expr, bound: Expr) -> Guard {
        Guard::Positive(bound + value.times(-1) + Expr::Const(-1))
    }
}

/// Whether each place can write its own part of the outputs, and nothing else writes them.
pub fn outputs_cover_places(nest: &Nest) -> bool {
    let outputs = &nest.operands[nest.operands.len() - nest.outputs..];
    let spread = |operand: &Operand| -> Option<Vec<Spread>> {
        let spread_buffer = operand.access.spread_buffer().filter(|_| operand.access.is_whole())?;
        let variable = |e: &Expr| if let Expr::Var(v) = e { Some(*v) } else { None };
        let variables = operand.map.iter().map(variable).collect::<Option<Vec<usize>>>()?;
        let distinct = (0..variables.len()).all(|k| !variables[..k].contains(&variables[k]));
        let over = |part: &Spread| Spread { dim: part.dim.map(|d| variables[d]), ..*part };
        let mut parts: Vec<Spread> = spread_buffer.spread.iter().map(over).collect();
        parts.sort_unstable();
        distinct.then_some(parts)
    };
    let Some((first, others)) = outputs.split_first() else { return false };
    let Some(parts) = spread(first) else { return false };
    let named = |operand: &Operand| operand.access.spread_buffer().map(|spread_buffer| spread_buffer.named.clone());
    others.iter().all(|operand| spread(operand).as_ref() == Some(&parts) && named(operand) == named(first))
}

/// Emits the program of every place before `b` and calls back for the body of its loops. The outputs
/// [are written](outputs_cover_places) by their places.
pub fn emit<'c>(nest: &Nest<'c>, b: Builder<'c>, body: impl FnOnce(&Inner<'_, 'c>)) {
    let output = &nest.operands[nest.operands.len() - nest.outputs];
    let spread_buffer = output.access.spread_buffer().expect("the output is spread over places");
    let mut places = Places::new(nest, b, spread_buffer, spread(nest, output, spread_buffer));

    let (mut index, mut local) = (Vec::new(), Vec::new());
    for (k, operand) in nest.operands.iter().enumerate() {
        let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(&places.dims)).collect();
        let (exprs, within) = operand.access.index(&mut places.vars, &view);
        index.push(places.vars.simplified(&exprs, &within));
        // The output's own layout defines the place's digits.
        local.push(k + nest.outputs >= nest.operands.len() || places.holds(operand, &view));
    }
    let dims = places.vars.simplified(&places.dims, &[]);
    let (mut loops, spread): (Vec<TileLoop>, Vec<TileLoop>) =
        std::mem::take(&mut places.parts).into_iter().partition(|part| !places.digits.iter().any(|d| d.0 == part.var));
    order(nest, &mut loops, &index, &places.vars);
    loops.sort_by_key(|part| !places.over_time(nest, part));

    let mut b = places.enter(b, &spread_buffer.names);
    places.bound.extend(spread.iter().map(|part| part.var));
    b = places.guard(b);
    places.bind_digits(b);
    let here: Vec<Val<'c>> = places.coordinates.iter().map(|var| places.vars.bound(*var)).collect();
    let operands = nest.operands.iter().zip(index).zip(local);
    let reached: Vec<Reached<'c>> = operands
        .map(|((operand, index), local)| places.reach(b, operand, index, &dims, local.then_some(&here)))
        .collect();
    b = places.copies(b);
    b = places.loops(b, &loops);
    body(&Inner { b, vars: &places.vars, dims: &dims, reached });
}

/// Whether parts along an axis, sorted by falling strides, interleave: a part's stride is less than the span of the
/// smaller ones.
fn interleave(parts: &[Spread]) -> bool {
    let mut reach = 0i64;
    parts.iter().rev().any(|part| {
        let within = part.stride <= reach;
        reach += (part.extent - 1) * part.stride;
        within
    })
}

/// The state while the program of a place is emitted.
struct Places<'c> {
    vars: IndexVars<'c>,
    /// The coordinate of the place along each axis.
    coordinates: Vec<usize>,
    /// The coordinate as a sum of the parts of the place's elements; the coordinate itself if nothing is spread.
    own: Vec<Expr>,
    /// The index in each dimension of the iteration space, as a sum of parts.
    dims: Vec<Expr>,
    scales: Vec<Vec<i64>>,
    parts: Vec<TileLoop>,
    /// Variables that are no loops, with their values over the coordinates.
    digits: Vec<(usize, Expr)>,
    guards: Vec<Guard>,
    /// Loop variables that number copies, with their trip counts.
    copies: Vec<(usize, i64)>,
    /// Variables with known values at the insertion point.
    bound: Vec<usize>,
}

impl<'c> Places<'c> {
    fn new(nest: &Nest<'c>, b: Builder<'c>, spread_buffer: &SpreadBuffer, spread: Vec<Spread>) -> Places<'c> {
        let mut vars = IndexVars::default();
        let coordinates: Vec<usize> =
            spread_buffer.places.iter().map(|n| vars.unbound(Interval::new(0, n - 1))).collect();
        let scales = scales(nest);
        let (mut parts, mut dims) = (Vec::new(), Vec::new());
        for (dim, scales) in scales.iter().enumerate() {
            dims.push(split(b, &mut vars, &mut parts, dim, scales, nest.extents[dim]));
        }
        let own = coordinates.iter().map(|var| Expr::Var(*var)).collect();
        let (digits, guards, copies, bound) = (Vec::new(), Vec::new(), Vec::new(), coordinates.clone());
        let mut places = Places { vars, coordinates, own, dims, scales, parts, digits, guards, copies, bound };
        for axis in 0..spread_buffer.places.len() {
            let mut on_axis: Vec<Spread> = spread.iter().copied().filter(|part| part.axis == axis).collect();
            on_axis.sort_by_key(|part| std::cmp::Reverse(part.stride));
            if !on_axis.is_empty() || spread_buffer.named[axis] {
                places.axis(axis, &on_axis);
            }
        }
        places
    }

    /// Splits the coordinate along an axis into these parts, sorted by falling strides.
    fn axis(&mut self, axis: usize, spread: &[Spread]) {
        let coordinate = Expr::Var(self.coordinates[axis]);
        if interleave(spread) {
            return self.interleaved(axis, coordinate, spread);
        }
        let mut rest = vec![coordinate.clone()];
        let mut own = Vec::new();
        let mut left = coordinate.clone();
        for part in spread {
            let digit = left.clone().floor_div(part.stride).modulo(part.extent);
            left = left.modulo(part.stride);
            rest.push(digit.clone().times(-part.stride));
            match part.dim {
                Some(dim) => self.digit(part, dim, &digit, &mut own),
                None => {
                    let var = self.vars.unbound(Interval::new(0, part.extent - 1));
                    self.digits.push((var, digit));
                    own.push(Expr::Var(var).times(part.stride));
                }
            }
        }
        self.own[axis] = Expr::sum(own);
        // The rest of the coordinate: a place with a rest other than 0 has no elements.
        self.guards.push(Guard::Zero(Expr::sum(rest)));
    }

    /// Interleaved parts along an axis cannot be separated by divisions: they stay loops, and a condition selects
    /// the elements of the coordinate.
    fn interleaved(&mut self, axis: usize, coordinate: Expr, spread: &[Spread]) {
        let mut own = Vec::new();
        for part in spread {
            let Some(dim) = part.dim else {
                let var = self.vars.unbound(Interval::new(0, part.extent - 1));
                self.copies.push((var, part.extent));
                own.push(Expr::Var(var).times(part.stride));
                continue;
            };
            let end = part.weight.saturating_mul(part.extent);
            for made in self.parts.iter().filter(|made| made.dim == dim) {
                let scale = self.scales[dim][made.level];
                if part.weight <= scale && scale < end {
                    own.push(Expr::Var(made.var).times(scale / part.weight * part.stride));
                }
            }
        }
        self.own[axis] = Expr::sum(own);
        self.guards.push(Guard::Zero(coordinate + self.own[axis].clone().times(-1)));
    }

    /// Replaces the loops of one part of a dimension by digits of the coordinate's digit.
    fn digit(&mut self, part: &Spread, dim: usize, digit: &Expr, own: &mut Vec<Expr>) {
        if !self.scales[dim].contains(&part.weight) {
            // The dimension is too small to be cut there.
            self.guards.push(Guard::Zero(digit.clone()));
            return;
        }
        let end = part.weight.saturating_mul(part.extent);
        let mut left = digit.clone();
        for (level, scale) in self.scales[dim].clone().into_iter().enumerate() {
            if scale < part.weight || scale >= end {
                continue;
            }
            // The rest below the larger cuts, which this one need not divide.
            let value = left.clone().floor_div(scale / part.weight);
            left = left.modulo(scale / part.weight);
            let made = self.parts.iter().find(|p| p.dim == dim && p.level == level);
            let Some(made) = made else {
                // The dimension is too small for it to be anything but 0.
                self.guards.push(Guard::Zero(value));
                continue;
            };
            self.guards.extend(made.bounds.iter().map(|bound| Guard::below(value.clone(), bound.clone())));
            own.push(Expr::Var(made.var).times(scale / part.weight * part.stride));
            self.digits.push((made.var, value));
        }
    }

    /// Whether an operand's elements, for a view index over the variables, are always at the place itself.
    fn holds(&mut self, operand: &Operand<'c>, view: &[Expr]) -> bool {
        let Some(spread_buffer) = operand.access.spread_buffer() else { return false };
        let (logical, within) = operand.access.logical(&mut self.vars, view);
        let zero = |places: &Self, e: Expr| places.vars.simplified(&[e], &within)[0] == Expr::Const(0);
        (0..spread_buffer.places.len()).filter(|axis| spread_buffer.named[*axis]).all(|axis| {
            let mut rest = vec![self.own[axis].clone()];
            let parts = spread_buffer.along(axis);
            let of_element = |part: &Spread, d: usize| logical[d].clone().floor_div(part.weight).modulo(part.extent);
            if interleave(&parts) {
                let at = |part: &Spread| Some(of_element(part, part.dim?).times(-part.stride));
                rest.extend(parts.iter().filter_map(at));
                return parts.iter().all(|part| part.dim.is_some()) && zero(self, Expr::sum(rest));
            }
            let mut left = self.own[axis].clone();
            let told = parts.iter().all(|part| {
                let digit = left.clone().floor_div(part.stride).modulo(part.extent);
                left = left.clone().modulo(part.stride);
                rest.push(digit.clone().times(-part.stride));
                part.dim.is_none_or(|d| zero(self, digit + of_element(part, d).times(-1)))
            });
            told && zero(self, Expr::sum(rest))
        })
    }

    /// Whether a loop is over time for an output.
    fn over_time(&self, nest: &Nest<'c>, part: &TileLoop) -> bool {
        let scale = self.scales[part.dim][part.level];
        nest.operands[nest.operands.len() - nest.outputs..].iter().any(|operand| {
            let Some(spread_buffer) = operand.access.spread_buffer() else { return false };
            spread_buffer.local.iter().any(|local| {
                let inside = local.weight <= scale && scale < local.weight.saturating_mul(local.extent);
                local.time && inside && local.dim.and_then(|d| operand.map.get(d)) == Some(&Expr::Var(part.dim))
            })
        })
    }

    /// Emits the loop over all places, each with its coordinates; returns the insertion point inside.
    fn enter(&mut self, b: Builder<'c>, names: &[String]) -> Builder<'c> {
        if self.coordinates.is_empty() {
            return b;
        }
        let extent = |var: &usize| self.vars.domain.vars[*var].hi + 1;
        let extents: Vec<Option<i64>> = self.coordinates.iter().map(extent).map(Some).collect();
        let axis = |(level, name): (usize, &String)| {
            layout_dialect::axis_attribute(b.context(), name, level).expect("an axis of a layout has a name for one")
        };
        let mapping: Vec<_> = names.iter().enumerate().map(axis).collect();
        let (op, end) = b.forall(&extents, &[], &mapping);
        for (var, value) in self.coordinates.iter().zip(ir::arguments(ir::blocks(op)[0])) {
            self.vars.bind(*var, value);
        }
        b.at(end)
    }

    /// Binds the variables that are no loops to their values.
    fn bind_digits(&mut self, b: Builder<'c>) {
        for (var, value) in self.digits.clone() {
            let value = self.vars.simplified(std::slice::from_ref(&value), &[]).remove(0);
            let value = self.vars.value(b, &value);
            self.vars.bind(var, value);
        }
    }

    /// The access of a place to the elements of an operand with this index: in its own memory, `here`, if they always
    /// are there; else in the memory of their owners.
    fn reach(
        &self,
        b: Builder<'c>,
        operand: &Operand<'c>,
        index: Vec<Expr>,
        dims: &[Expr],
        here: Option<&Vec<Val<'c>>>,
    ) -> Reached<'c> {
        let Some(own) = operand.access.spread_buffer() else { return operand.access.at(index) };
        let (base, element_encoding) = (operand.access.base, operand.access.element_encoding);
        let copies = own.local_copies().into_iter().map(|(k, extent)| (k, extent, 1)).collect();
        let inside = index[own.places.len()..].to_vec();
        if !operand.across.is_empty() {
            let mut at: Vec<Expr> = self.coordinates.iter().map(|var| Expr::Var(*var)).collect();
            operand.across.iter().for_each(|(axis, dim)| at[*axis] = dims[*dim].clone());
            return Reached {
                base,
                element_encoding,
                index: at.into_iter().chain(inside).collect(),
                copies: Vec::new(),
            };
        }
        if let Some(here) = here.filter(|here| !here.is_empty()) {
            return Reached {
                base: b.part(base, &operand.access.strides, here),
                element_encoding,
                index: inside,
                copies,
            };
        }
        // Along an axis with copies everywhere, the nearest copy is at the place itself.
        let at = index.into_iter().enumerate().map(|(k, e)| match self.coordinates.get(k) {
            Some(var) if !own.named[k] => Expr::Var(*var),
            _ => e,
        });
        Reached { base, element_encoding, index: at.collect(), copies }
    }

    /// Emits the loops over copies; returns the insertion point inside.
    fn copies(&mut self, b: Builder<'c>) -> Builder<'c> {
        let mut b = b;
        for (var, extent) in std::mem::take(&mut self.copies) {
            b = a_loop(b, &mut self.vars, var, &[Expr::Const(extent)], true);
            self.bound.push(var);
            b = self.guard(b);
        }
        b
    }

    /// Emits the loops inside a place, outermost first; returns the insertion point inside.
    fn loops(&mut self, b: Builder<'c>, loops: &[TileLoop]) -> Builder<'c> {
        let mut b = b;
        for (k, part) in loops.iter().enumerate() {
            // Time may run outside of larger parts that bound it: then a condition inside those ends it.
            let (later, bounds): (Vec<Expr>, Vec<Expr>) = part.bounds.iter().cloned().partition(|bound| {
                let mut inner = false;
                bound.for_each_var(&mut |v| inner |= loops[k..].iter().any(|part| part.var == v));
                inner
            });
            self.guards.extend(later.into_iter().map(|bound| Guard::below(Expr::Var(part.var), bound)));
            let bounds = self.vars.simplified(&bounds, &[]);
            let affine = self.vars.are_affine(&bounds);
            b = a_loop(b, &mut self.vars, part.var, &bounds, affine);
            self.bound.push(part.var);
            b = self.guard(b);
        }
        b
    }

    /// Enters the branch for the conditions whose values are known by now.
    fn guard(&mut self, b: Builder<'c>) -> Builder<'c> {
        let digits = self.digits.clone();
        let mut known = None;
        let boolean: Type<'c> = melior::ir::r#type::IntegerType::new(b.context(), 1).into();
        let mut later = Vec::new();
        for guard in std::mem::take(&mut self.guards) {
            let (e, positive) = match &guard {
                Guard::Zero(e) => (e, false),
                Guard::Positive(e) => (e, true),
            };
            // Expressions over the coordinates; only their ranges are known so far.
            let by: Vec<Expr> = (0..self.vars.domain.vars.len())
                .map(|v| digits.iter().find(|d| d.0 == v).map_or(Expr::Var(v), |d| d.1.clone()))
                .collect();
            let e = e.substitute(&by);
            let domain = tensor_layout::maps::Domain { vars: self.vars.domain.vars.clone(), constraints: Vec::new() };
            let e = tensor_layout::maps::simplify(&[e], &domain).remove(0);
            let interval = Form::new(&domain).interval(&e);
            let always = if positive { interval.lo >= 0 } else { interval == Interval::new(0, 0) };
            if always {
                continue;
            }
            let mut ready = true;
            e.for_each_var(&mut |v| ready &= self.bound.contains(&v));
            if !ready {
                later.push(guard);
                continue;
            }
            let predicate = IntegerAttribute::new(
                melior::ir::r#type::IntegerType::new(b.context(), 64).into(),
                if positive { 5 } else { 0 },
            );
            let operands = [self.vars.value(b, &e), b.index(0)];
            let holds = b.value("arith.cmpi", &operands, boolean, &[b.named("predicate", predicate)]);
            known = Some(match known {
                None => holds,
                Some(others) => b.value("arith.andi", &[others, holds], boolean, &[]),
            });
        }
        self.guards = later;
        match known {
            None => b,
            Some(condition) => b.at(b.branch(condition)),
        }
    }
}

/// Parts of reduced dimensions that an input spreads over axes without the output: each
/// place can reduce its own share, if the partial results are combined afterwards.
pub fn contraction(nest: &Nest) -> Vec<Spread> {
    let (inputs, outputs) = nest.operands.split_at(nest.operands.len() - nest.outputs);
    let [output] = outputs else { return Vec::new() };
    let Some(spread_buffer) = output.access.spread_buffer() else { return Vec::new() };
    for operand in inputs {
        let Some(own) = operand.access.spread_buffer().filter(|_| operand.access.is_whole()) else { continue };
        let over = |part: &Spread| match part.dim.and_then(|d| operand.map.get(d)) {
            Some(Expr::Var(v)) if !output.map.contains(&Expr::Var(*v)) => Some(*v),
            _ => None,
        };
        // An axis with such parts only, so that nothing else decides the place.
        let free = |axis: usize| !spread_buffer.named[axis] && own.along(axis).iter().all(|part| over(part).is_some());
        let parts = own.spread.iter().filter(|part| free(part.axis));
        let parts: Vec<Spread> = parts.filter_map(|part| Some(Spread { dim: Some(over(part)?), ..*part })).collect();
        if !parts.is_empty() {
            return parts;
        }
    }
    Vec::new()
}

/// The inputs spread over places whose elements are not always at the places that need them, each with the layout that
/// puts them there; inputs without such a TensorLayout are omitted.
pub fn inputs_to_relayout<'c>(nest: &Nest<'c>, b: Builder<'c>) -> Vec<(usize, TensorLayout)> {
    let output = &nest.operands[nest.operands.len() - nest.outputs];
    let Some(spread_buffer) = output.access.spread_buffer() else { return Vec::new() };
    let spread = spread(nest, output, spread_buffer);
    let mut places = Places::new(nest, b, spread_buffer, spread.clone());
    let inputs = nest.operands.iter().enumerate().take(nest.operands.len() - nest.outputs);
    let spread_out =
        inputs.filter(|(_, operand)| operand.access.spread_buffer().is_some() && operand.across.is_empty());
    let mut inputs_to_relayout = Vec::new();
    for (k, operand) in spread_out {
        let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(&places.dims)).collect();
        if !places.holds(operand, &view) {
            inputs_to_relayout.extend(needed(nest, operand, spread_buffer, &spread).map(|layout| (k, layout)));
        }
    }
    inputs_to_relayout
}

/// The layout that has each element of an operand at the places that need it.
fn needed(nest: &Nest, operand: &Operand, spread_buffer: &SpreadBuffer, spread: &[Spread]) -> Option<TensorLayout> {
    let variables = operand.map.iter().map(|e| if let Expr::Var(v) = e { Some(*v) } else { None });
    let variables = variables.collect::<Option<Vec<usize>>>()?;
    let mut dims: Vec<Vec<places::Part>> = Vec::new();
    for v in &variables {
        let mut over: Vec<&Spread> = spread.iter().filter(|part| part.dim == Some(*v)).collect();
        over.sort_by_key(|part| std::cmp::Reverse(part.weight));
        let size = nest.extents[*v].known()?;
        let mut parts = Vec::new();
        let mut above: Option<i64> = None;
        let inside = |extent: i64, parts: &mut Vec<places::Part>| {
            if extent > 1 {
                parts.push(places::Part { extent, axis: None, stride: 1 });
            }
        };
        for part in over {
            let end = part.weight.checked_mul(part.extent)?;
            let more = above.map_or(size.div_euclid(end) + i64::from(size % end != 0), |above| above / end);
            inside(more, &mut parts);
            let axis = Some(spread_buffer.names[part.axis].clone());
            parts.push(places::Part { extent: part.extent, axis, stride: part.stride });
            above = Some(part.weight);
        }
        inside(above.unwrap_or(size), &mut parts);
        dims.push(parts);
    }
    // Dense inside a place, the last dimension fastest.
    let mut stride = 1i64;
    for part in dims.iter_mut().rev().flat_map(|parts| parts.iter_mut().rev()).filter(|part| part.axis.is_none()) {
        part.stride = stride;
        stride = stride.checked_mul(part.extent)?;
    }
    // Along an axis of the operand's own dimensions, the other parts distinguish copies.
    let told = |part: &&Spread| part.dim.is_none_or(|d| !variables.contains(&d));
    let used =
        |axis: usize| spread.iter().any(|part| part.axis == axis && part.dim.is_some_and(|d| variables.contains(&d)));
    let copies = spread.iter().filter(told).filter(|part| used(part.axis)).map(|part| Broadcast::Part {
        extent: part.extent,
        axis: spread_buffer.names[part.axis].clone(),
        stride: Some(part.stride),
    });
    Some(TensorLayout { shape: None, dims, broadcast: copies.collect(), strided: false })
}

/// The parts of the iteration space that are spread over places.
fn spread(nest: &Nest, output: &Operand, spread_buffer: &SpreadBuffer) -> Vec<Spread> {
    let dim = |d: usize| if let Expr::Var(v) = output.map[d] { v } else { d };
    let own = spread_buffer.spread.iter().map(|part| Spread { dim: part.dim.map(dim), ..*part });
    own.chain(nest.reduced_over_places.iter().copied()).collect()
}
