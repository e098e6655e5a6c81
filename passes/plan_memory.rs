//! `layout-plan-memory`: the buffers of a large function are parts of one allocation.
//!
//! ```text
//! %x = alloc : memref<4x8xf32>   ...  dealloc %x          %all = alloc : memref<192xi8>
//! %y = alloc : memref<16xf32>    ...  dealloc %y    =>    %x = view %all[0], %y = view %all[128]
//! ```
//!
//! A buffer is *live* from its allocation to its deallocation, where both are in one block: what is executed meanwhile is
//! between them in the text. So two buffers may be at one address where these intervals of the text do not meet, and one
//! walk over the text gives each buffer the lowest place that fits, in a list of the gaps between those that are live. A
//! buffer in the body of a loop has the same place in each iteration; one in a loop whose iterations may run at the same
//! time stays an allocation, and so does one of dynamic size, or that another block or the caller frees.
//!
//! Not promised: the fewest bytes. The one allocation lives as long as the function's call.

use crate::options::PlanMemoryOptions;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, ValueLike};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What the start of each buffer, and of all, is a multiple of: the bytes of a line of the cache, and what lowering gives
/// `memref.alloc`.
const ALIGNMENT: i64 = 64;

/// What runs what is in it once at a time.
const IN_ORDER: [&str; 8] = [
    "affine.for",
    "affine.if",
    "func.func",
    "scf.execute_region",
    "scf.for",
    "scf.if",
    "scf.index_switch",
    "scf.while",
];

/// Plans the memory of each function below an operation that allocates more buffers than the options say; false where
/// there is none.
pub fn run(rewriter: &Rewriter, options: PlanMemoryOptions) -> bool {
    let functions = ir::blocks(rewriter.root()).into_iter().flat_map(ir::operations);
    let functions = functions.filter(|op| ir::name(*op) == "func.func");
    functions.fold(false, |found, function| {
        let buffers = buffers(function);
        let planned = (buffers.len() as u64 > options.buffers).then(|| plan(&buffers)).flatten();
        if let Some((places, bytes)) = &planned {
            place(rewriter, function, &buffers, places, *bytes);
        }
        found || planned.is_some()
    })
}

/// A buffer that the block that allocates it frees.
struct Buffer<'c> {
    allocation: Op<'c>,
    deallocation: Op<'c>,
    /// The numbers of both, in the order of the text.
    live: (usize, usize),
    /// A multiple of [`ALIGNMENT`].
    bytes: i64,
}

/// The buffers of a function that may be planned, in the order of the text.
fn buffers<'c>(function: Op<'c>) -> Vec<Buffer<'c>> {
    let operations = ir::all_operations(function);
    let mut at_once = HashSet::new();
    let mut number = HashMap::new();
    for (k, op) in operations.iter().enumerate() {
        number.insert(ir::op_key(*op), k);
        let unknown = |op: Op| !IN_ORDER.contains(&ir::name(op)) || at_once.contains(&ir::op_key(op));
        if ir::parent(*op).filter(|_| k > 0).is_some_and(unknown) {
            at_once.insert(ir::op_key(*op));
        }
    }
    let buffer = |(at, op): (usize, Op<'c>)| {
        if ir::name(op) != "memref.alloc" || at_once.contains(&ir::op_key(op)) {
            return None;
        }
        let bytes = bytes(op)?;
        let freed = ir::uses(ir::result(op, 0)).into_iter().map(|(user, _)| user);
        let mut freed = freed.filter(|user| ir::name(*user) == "memref.dealloc");
        let (Some(deallocation), None) = (freed.next(), freed.next()) else { return None };
        let end = number[&ir::op_key(deallocation)];
        ir::comes_before(op, deallocation).then_some(Buffer { allocation: op, deallocation, live: (at, end), bytes })
    };
    operations.iter().copied().enumerate().filter_map(buffer).collect()
}

/// The bytes of an allocation of known size without strides, rounded up.
fn bytes(allocation: Op) -> Option<i64> {
    let t = ir::memref(ir::result(allocation, 0).r#type()).filter(|t| t.layout.is_none() && t.space.is_none())?;
    let alignment = ir::attribute(allocation, "alignment").and_then(ir::integer).unwrap_or(1);
    if ALIGNMENT % alignment.max(1) != 0 {
        return None;
    }
    // As LLVM stores them.
    let element = if t.element.is_index() {
        8
    } else {
        u64::try_from(ir::bits(t.element)?).ok()?.div_ceil(8).next_power_of_two()
    };
    let bytes = t.sizes()?.into_iter().try_fold(i64::try_from(element).ok()?, i64::checked_mul)?;
    Some(bytes.max(1).checked_add(ALIGNMENT - 1)? / ALIGNMENT * ALIGNMENT)
}

/// The place of each buffer, and the bytes of all; none where they are too many to count.
fn plan(buffers: &[Buffer]) -> Option<(Vec<i64>, i64)> {
    let mut ends: Vec<(usize, usize)> = buffers.iter().enumerate().map(|(k, buffer)| (buffer.live.1, k)).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let (mut places, mut gaps) = (Vec::with_capacity(buffers.len()), Gaps::default());
    for buffer in buffers {
        while let Some((_, k)) = ends.next_if(|(end, _)| *end < buffer.live.0) {
            gaps.add(places[k], buffers[k].bytes);
        }
        places.push(gaps.take(buffer.bytes)?);
    }
    Some((places, gaps.total))
}

/// The bytes that no buffer has.
#[derive(Default)]
struct Gaps {
    /// The bytes of each gap below `total`, by its start. No two are side by side.
    by_start: BTreeMap<i64, i64>,
    /// The same, with the bytes first.
    by_size: BTreeSet<(i64, i64)>,
    total: i64,
}

impl Gaps {
    /// Adds a gap, joined with those beside it.
    fn add(&mut self, mut start: i64, mut bytes: i64) {
        if let Some(after) = self.by_start.get(&(start + bytes)).copied() {
            self.remove(start + bytes, after);
            bytes += after;
        }
        if let Some((before, size)) = self.by_start.range(..start).next_back().map(|(before, size)| (*before, *size))
            && before + size == start
        {
            self.remove(before, size);
            (start, bytes) = (before, size + bytes);
        }
        self.by_start.insert(start, bytes);
        self.by_size.insert((bytes, start));
    }

    fn remove(&mut self, start: i64, bytes: i64) {
        self.by_start.remove(&start);
        self.by_size.remove(&(bytes, start));
    }

    /// The start of the smallest gap of so many bytes; where there is none, the last one grows. None where that overflows.
    fn take(&mut self, bytes: i64) -> Option<i64> {
        if let Some((size, start)) = self.by_size.range((bytes, 0)..).next().copied() {
            self.remove(start, size);
            if size > bytes {
                self.add(start + bytes, size - bytes);
            }
            return Some(start);
        }
        let last = self.by_start.last_key_value().map(|(start, size)| (*start, *size));
        let start = match last.filter(|(start, size)| start + size == self.total) {
            Some((start, size)) => {
                self.remove(start, size);
                start
            }
            None => self.total,
        };
        self.total = start.checked_add(bytes)?;
        Some(start)
    }
}

/// Puts the buffers in their places.
fn place<'c>(rewriter: &'c Rewriter, function: Op<'c>, buffers: &[Buffer<'c>], places: &[i64], bytes: i64) {
    let first = ir::blocks(function).into_iter().flat_map(ir::operations).next();
    let b = Builder::before(first.expect("a function that allocates has an operation"));
    let byte = IntegerType::new(b.context(), 8).into();
    let shape = ir::Shaped { shape: vec![Some(bytes)], element: byte, layout: None, space: None };
    let t = ir::memref_type(b.location, &shape).expect("a memref of bytes");
    let alignment = IntegerAttribute::new(Type::from(IntegerType::new(b.context(), 64)), ALIGNMENT);
    let attributes = [b.named("alignment", alignment), b.segments(&[0, 0])];
    let all = b.value("memref.alloc", &[], t, &attributes);
    for (buffer, place) in buffers.iter().zip(places) {
        let b = Builder::before(buffer.allocation);
        let value = ir::result(buffer.allocation, 0);
        let view = b.value("memref.view", &[all, b.index(*place)], value.r#type(), &[]);
        rewriter.erase(buffer.deallocation);
        ir::replace_all_uses(value, view);
        rewriter.erase(buffer.allocation);
    }
    for op in ir::all_operations(function).into_iter().filter(|op| ir::name(*op) == "func.return") {
        Builder::before(op).op("memref.dealloc", &[all], &[], &[]);
    }
}
