//! Operations that are planned in steps as loops over slices.
//!
//! ```mlir
//! %y = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x32xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
//! ```
//!
//! with 4 × 2 steps of rows and columns, rows outside, becomes
//!
//! ```mlir
//! scf.for %i = 0 to 4 iter_args(%a = %z) {
//!   %xs = tensor.extract_slice %x[%i * 8, 0] [8, 64] [1, 1], then layout.convert to the places
//!   scf.for %j = 0 to 2 iter_args(%b = %a) {
//!     %ws = .. of %w[0, %j * 16] [64, 16], %ys = .. of %b[%i * 8, %j * 16] [8, 16]
//!     %p = linalg.matmul ins(%xs, %ws) outs(%ys)
//!     layout.convert of %p from the places, then tensor.insert_slice into %b
//! ```
//!
//! A slice is taken inside of the loops that it follows, so it stays while others inside of it run. The results are carried
//! by the loops: each as a whole outside of where its slice is taken, as the slice inside, where it accumulates.
//!
//! Types say sizes, so a last step that is smaller is written once more, behind the loop.

use super::slices::{SliceTypes, Sliced, UsedIn};
use super::steps::{layout_in, tensor_layout, with_layout};
use crate::choose::indexing_analysis::reads;
use crate::choose::remove_conversions::{PLANNED, erase_dead};
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use layout_plan::plan::sharding::{ArraySlice, SliceLoop};
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::tiled::Layout;

/// The initial contents of a result's slice.
#[derive(Clone, Copy)]
enum Start<'c> {
    /// The elements that are there already.
    Slice,
    /// A scalar everywhere.
    Filled(Val<'c>),
    /// Nothing.
    Empty,
}

/// A result on its way through the loops.
#[derive(Clone, Copy)]
struct CarriedResult<'c> {
    whole: Val<'c>,
    /// Its slice, where that is taken.
    tile: Option<Val<'c>>,
    start: Start<'c>,
}

/// A step that runs: its number, and whether it is the last one, that is smaller.
type StepNow<'c> = (Val<'c>, bool);

/// Writes loops over slices in place of operations, of which some were replaced by others.
pub fn write<'c>(rewriter: &Rewriter, all: Vec<Sliced<'c>>, replaced: &HashMap<usize, Op<'c>>) {
    for mut own in all {
        own.op = replaced.get(&ir::op_key(own.op)).copied().unwrap_or(own.op);
        own.write();
    }
    // Not before: an operation that nothing uses runs in steps, too.
    erase_dead(rewriter);
}

/// A value beside the places: the one that it is converted from, or converted to it. Without places, the value.
fn beside<'c>(b: Builder<'c>, v: Val<'c>) -> Val<'c> {
    if tensor_layout(v.r#type()).is_none() {
        return v;
    }
    let made = ir::defining_op(v).filter(|op| ir::name(*op) == "layout.convert");
    match made.map(|op| ir::operands(op)[0]).filter(|source| tensor_layout(source.r#type()).is_none()) {
        Some(source) => source,
        None => converted(b, v, plain(v.r#type())),
    }
}

/// A tensor type beside the places.
fn plain(t: Type) -> Type {
    match (ir::tensor(t), tensor_layout(t)) {
        (Some(tensor), Some(_)) => ir::tensor_type(&Shaped { layout: None, ..tensor }),
        _ => t,
    }
}

fn converted<'c>(b: Builder<'c>, v: Val<'c>, t: Type<'c>) -> Val<'c> {
    if v.r#type() == t {
        return v;
    }
    let unit = Attribute::unit(b.context());
    b.value("layout.convert", &[v], t, &[b.named("keep", unit), b.named(PLANNED, unit)])
}

impl<'c> SliceTypes<'c> {
    /// The type of a slice of these sizes of a value, and the one in which it is used.
    fn types(&self, b: Builder<'c>, whole: Type<'c>, sizes: &[i64]) -> (Type<'c>, Type<'c>) {
        let Some(tensor) = ir::tensor(whole) else { return (whole, whole) };
        let shape = sizes.iter().copied().map(Some).collect();
        let own = ir::tensor_type(&Shaped { shape, ..tensor });
        let used = match &self.used {
            UsedIn::Places(all) => all.iter().find(|(own, _)| own == sizes).map(|(_, t)| *t),
            UsedIn::Space(space) => {
                let layout = Layout { memory_space: *space, ..layout_in(own) };
                with_layout(b.context(), own, &layout).ok()
            }
            UsedIn::SameMemory => None,
        };
        (own, used.unwrap_or(own))
    }

    /// The number of loops around the place where a slice is taken.
    fn depth(&self) -> usize {
        self.slice.follows.iter().flatten().map(|(of, _)| of + 1).max().unwrap_or(0)
    }
}

/// The slice of a tensor in a step, with the attributes of what takes or puts it.
struct SlicePlace<'c> {
    offsets: Vec<Val<'c>>,
    fixed: Vec<Option<i64>>,
    sizes: Vec<i64>,
}

impl<'c> SlicePlace<'c> {
    fn new(b: Builder<'c>, slice: &ArraySlice, steps: &[StepNow<'c>]) -> SlicePlace<'c> {
        let sizes = slice.sizes_in(&|position| steps.get(position).is_some_and(|(_, is_last)| *is_last));
        let mut place = SlicePlace { offsets: Vec::new(), fixed: Vec::new(), sizes };
        for follows in &slice.follows {
            place.fixed.push(if follows.is_some() { None } else { Some(0) });
            if let Some((of, step)) = follows {
                place.offsets.push(times(b, steps[*of].0, *step));
            }
        }
        place
    }

    fn of(&self, b: Builder<'c>, name: &str, values: &[Val<'c>], t: Type<'c>) -> Val<'c> {
        let list = |values: &[Option<i64>]| ir::sizes_attribute(b.context(), values);
        let sizes: Vec<Option<i64>> = self.sizes.iter().copied().map(Some).collect();
        let mut segments = vec![1; values.len()];
        segments.extend([self.offsets.len() as i32, 0, 0]);
        let attributes = [
            b.named("static_offsets", list(&self.fixed)),
            b.named("static_sizes", list(&sizes)),
            b.named("static_strides", list(&vec![Some(1); sizes.len()])),
            b.segments(&segments),
        ];
        b.value(name, &[values, &self.offsets].concat(), t, &attributes)
    }
}

fn times<'c>(b: Builder<'c>, v: Val<'c>, by: i64) -> Val<'c> {
    b.value("arith.muli", &[v, b.index(by)], Type::index(b.context()), &[])
}

impl<'c> Sliced<'c> {
    fn write(&self) {
        let (op, b) = (self.op, Builder::before(self.op).located(self.op));
        let (all, inputs) = (ir::operands(op), self.operands.len());
        let mut operands = all[..inputs].to_vec();
        for (v, own) in operands.iter_mut().zip(&self.operands) {
            let Some(own) = own else { continue };
            if own.depth() > 0 {
                *v = beside(b, *v);
            } else if let UsedIn::Space(_) = own.used {
                *v = converted(b, *v, own.types(b, v.r#type(), &own.slice.whole).1);
            }
        }
        let carried: Vec<CarriedResult<'c>> = self
            .results
            .iter()
            .zip(&all[inputs..])
            .enumerate()
            .map(|(k, (own, out))| self.begun(b, (k, own), *out))
            .collect();
        let made = self.nest(b, &mut Vec::new(), &operands, &carried);
        for (result, new) in ir::results(op).into_iter().zip(made) {
            // Who wants it in the places gets it there; who brings it from there takes it as it is.
            for (user, _) in ir::uses(result) {
                if ir::name(user) == "layout.convert" && ir::result(user, 0).r#type() == new.r#type() {
                    ir::replace_all_uses(ir::result(user, 0), new);
                }
            }
            if ir::is_used(result) {
                ir::replace_all_uses(result, converted(b, new, result.r#type()));
            }
        }
    }

    /// Result `k` before the loops, of an operation that begins with `out`.
    fn begun(&self, b: Builder<'c>, (k, own): (usize, &SliceTypes<'c>), out: Val<'c>) -> CarriedResult<'c> {
        let (t, depth) = (ir::result(self.op, k).r#type(), own.depth());
        if depth == 0 {
            let used = own.types(b, out.r#type(), &own.slice.whole).1;
            let tile = if let UsedIn::Space(_) = own.used { converted(b, out, used) } else { out };
            return CarriedResult { whole: out, tile: Some(tile), start: Start::Slice };
        }
        let maker = ir::defining_op(out).map(|op| (ir::name(op), ir::operands(op)));
        let again = (0..depth).any(|of| own.slice.follows.iter().flatten().all(|(own, _)| *own != of));
        let empty = || b.value("tensor.empty", &[], plain(t), &[]);
        let (whole, start) = match maker {
            _ if !reads(self.op, self.operands.len() + k) => (empty(), Start::Empty),
            Some(("tensor.empty", _)) => (empty(), Start::Empty),
            Some(("linalg.fill", operands)) if again => {
                let fill = b.named_structured("linalg.fill", &[operands[0], empty()], &[1, 1], plain(t));
                (ir::result(fill, 0), Start::Slice)
            }
            Some(("linalg.fill", operands)) => (empty(), Start::Filled(operands[0])),
            _ => (beside(b, out), Start::Slice),
        };
        CarriedResult { whole, tile: None, start }
    }

    /// The loops from one on: what they carry in the end.
    fn nest(
        &self,
        b: Builder<'c>,
        steps: &mut Vec<StepNow<'c>>,
        operands: &[Val<'c>],
        carried: &[CarriedResult<'c>],
    ) -> Vec<Val<'c>> {
        let mut taken = operands.to_vec();
        for (v, own) in taken.iter_mut().zip(&self.operands) {
            let here = |own: &&SliceTypes| own.depth() == steps.len() && !steps.is_empty();
            let Some(own) = own.as_ref().filter(here) else { continue };
            let place = SlicePlace::new(b, &own.slice, steps);
            let (t, used) = own.types(b, v.r#type(), &place.sizes);
            *v = converted(b, place.of(b, "tensor.extract_slice", &[*v], t), used);
        }
        let mut within = carried.to_vec();
        // By result whose slice is taken here: where it is, and its type.
        let mut put: Vec<Option<(SlicePlace<'c>, Type<'c>)>> = Vec::with_capacity(within.len());
        for (own, carried) in self.results.iter().zip(&mut within) {
            if carried.tile.is_some() || own.depth() != steps.len() {
                put.push(None);
                continue;
            }
            let place = SlicePlace::new(b, &own.slice, steps);
            let (t, used) = own.types(b, carried.whole.r#type(), &place.sizes);
            carried.tile = Some(match carried.start {
                Start::Slice => converted(b, place.of(b, "tensor.extract_slice", &[carried.whole], t), used),
                Start::Empty => b.value("tensor.empty", &[], used, &[]),
                Start::Filled(scalar) => {
                    let empty = b.value("tensor.empty", &[], used, &[]);
                    ir::result(b.named_structured("linalg.fill", &[scalar, empty], &[1, 1], used), 0)
                }
            });
            put.push(Some((place, t)));
        }
        let mut made = self.walk(b, steps, &taken, &within);
        for ((made, put), carried) in made.iter_mut().zip(&put).zip(carried) {
            if let Some((place, t)) = put {
                let home = converted(b, *made, *t);
                *made = place.of(b, "tensor.insert_slice", &[home, carried.whole], carried.whole.r#type());
            }
        }
        made
    }

    /// One loop, or inside of all of them the operation on slices.
    fn walk(
        &self,
        b: Builder<'c>,
        steps: &mut Vec<StepNow<'c>>,
        operands: &[Val<'c>],
        carried: &[CarriedResult<'c>],
    ) -> Vec<Val<'c>> {
        let now = |own: &CarriedResult<'c>| own.tile.unwrap_or(own.whole);
        let Some(SliceLoop { count, has_rest, .. }) = self.slices.loops.get(steps.len()).copied() else {
            return self.compute(b, steps, operands, &carried.iter().map(now).collect::<Vec<_>>());
        };
        let put = |own: &CarriedResult<'c>, v: Val<'c>| match own.tile {
            Some(_) => CarriedResult { tile: Some(v), ..*own },
            None => CarriedResult { whole: v, ..*own },
        };
        let begun: Vec<Val<'c>> = carried.iter().map(now).collect();
        let types: Vec<Type<'c>> = begun.iter().map(|v| v.r#type()).collect();
        let full = if has_rest { count - 1 } else { count };
        let bounds = [&[b.index(0), b.index(full), b.index(1)][..], &begun].concat();
        let arguments = [&[Type::index(b.context())][..], &types].concat();
        let (op, end) = b.with_body("scf.for", &bounds, &types, &[], &arguments, "scf.yield");
        let inner = ir::arguments(ir::blocks(op)[0]);
        let within: Vec<CarriedResult<'c>> = carried.iter().zip(&inner[1..]).map(|(own, v)| put(own, *v)).collect();
        steps.push((inner[0], false));
        let made = self.nest(b.at(end), steps, operands, &within);
        steps.pop();
        ir::set_operands(end, &made);
        if !has_rest {
            return ir::results(op);
        }
        let within: Vec<CarriedResult<'c>> = carried.iter().zip(ir::results(op)).map(|(own, v)| put(own, v)).collect();
        steps.push((b.index(full), true));
        let made = self.nest(b, steps, operands, &within);
        steps.pop();
        made
    }

    /// The operation on slices, whose indices are those in the whole.
    fn compute(&self, b: Builder<'c>, steps: &[StepNow<'c>], operands: &[Val<'c>], outs: &[Val<'c>]) -> Vec<Val<'c>> {
        let op = b.copy(self.op);
        ir::set_operands(op, &[operands, outs].concat());
        ir::results(op).into_iter().zip(outs).for_each(|(result, out)| ir::set_type(result, out.r#type()));
        let is_own = |inner: &Op<'c>| ir::name(*inner) == "linalg.index" && ir::nearest_structured(*inner) == Some(op);
        for inner in ir::all_operations(op).into_iter().filter(is_own) {
            let of = ir::attribute(inner, "dim").and_then(ir::integer);
            let cut = self.slices.loops.iter().zip(steps).find(|(own, _)| i64::try_from(own.of).ok() == of);
            let (Some((own, (step, _))), Some(next)) = (cut, ir::next(inner)) else { continue };
            let index = ir::result(inner, 0);
            let body = Builder::before(next);
            let moved = body.value("arith.addi", &[index, index], Type::index(b.context()), &[]);
            let first = times(Builder::before(op), *step, own.step);
            ir::replace_all_uses(index, moved);
            ir::defining_op(moved).into_iter().for_each(|add| ir::set_operands(add, &[index, first]));
        }
        ir::results(op)
    }
}
