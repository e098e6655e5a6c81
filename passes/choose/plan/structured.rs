//! Structured operations as operations of HLO, one after the other.
//!
//! All that is known of one comes from its indexing maps and its body, whatever its name: `linalg.matmul`, `linalg.contract`
//! and a `linalg.generic` with their maps are one product. So a plan prices them as it does HLO.
//!
//! ```text
//! (i, j) -> a[j], b[i, j]; a + b       broadcast(a), elementwise
//! (i, k) -> x[i, k]; y[i] + x * x      elementwise, reduce
//! (i, j, k) -> x[i, k] * w[k, j]       dot
//! (n, o, f, w, c) -> x[n, 2*o + w, c] * k[w, c, f]     convolution
//! (n, o, w) -> x[n, 2*o + w]           reduce-window
//! (i, j) -> x[j, 2*i + 1]              slice, transpose
//! (i, j) -> i[i]; data[i, j]           gather
//! ```
//!
//! The padding of windows is that of a `tensor.pad` before them, whose value is the one that they begin with.

use layout_ir::{self as ir, Op, Val};
use melior::ir::attribute::FloatAttribute;
use melior::ir::{AffineMap, Attribute, ValueLike};
use std::collections::{BTreeSet, HashSet};
use tensor_layout::analysis::linear;
use tensor_layout::expr::Expr;
use tensor_layout::operations::{Convolution, Gather, Loops, Operation, WindowDim};

/// The operations of HLO that a structured operation is.
pub struct Reading<'c> {
    /// Its operations.
    pub stages: Vec<Stage>,
    /// For each result the array that it is, and the operand that is added to it, of a sum or another reduction.
    pub results: Vec<(Source, Option<usize>)>,
    /// The operation of the body that looks elements up.
    pub lookup: Option<Op<'c>>,
}

/// An operation that makes arrays of the same sizes.
pub struct Stage {
    pub operation: Operation,
    pub sources: Vec<Source>,
    /// The sizes of what it makes.
    pub sizes: Vec<i64>,
    /// For each array that it makes the operand of the structured operation whose elements have the type.
    pub like: Vec<usize>,
}

/// An array that a stage reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An operand of the structured operation.
    Operand(usize),
    /// An operand of the structured operation without its padding.
    Unpadded(usize),
    /// The data of a look-up.
    Data,
    /// The array of another stage.
    Stage(usize),
    /// An array of another stage, by its number there.
    Part(usize, usize),
    /// A scalar with elements like an operand's.
    Scalar(usize),
}

/// Reads a structured operation, whose loops these are; `None` where it is nothing but loops, as all but products are where
/// only these are asked for.
pub fn read<'c>(op: Op<'c>, loops: &Loops, only_products: bool) -> Option<Reading<'c>> {
    let body = Body::of(op, loops.operands.len() - loops.results.len())?;
    let readers = [Reader::product, Reader::convolution, Reader::windows, Reader::gather, Reader::streams];
    readers.into_iter().take(if only_products { 1 } else { readers.len() }).find_map(|read| {
        let mut reader = Reader { op, loops, body: &body, stages: Vec::new(), lookup: None };
        let results = read(&mut reader)?;
        Some(Reading { stages: reader.stages, results, lookup: reader.lookup })
    })
}

/// Whether a structured operation only rounds each element of its operand to a float of fewer bits.
pub fn is_cast(op: Op) -> bool {
    let is_elementwise = |maps: Vec<AffineMap>| maps.len() == 2 && maps.iter().all(|map| map.is_identity());
    if !ir::indexing_maps(op).is_some_and(is_elementwise) {
        return false;
    }
    let Some(body) = Body::of(op, 1) else { return false };
    let [value] = body.yields[..] else { return false };
    body.made(value)
        .is_some_and(|cast| ir::name(cast) == "arith.truncf" && body.argument(ir::operands(cast)[0]) == Some(0))
}

/// The body of a structured operation.
struct Body<'c> {
    inputs: usize,
    arguments: Vec<Val<'c>>,
    yields: Vec<Val<'c>>,
    operations: HashSet<usize>,
}

impl<'c> Body<'c> {
    fn of(op: Op<'c>, inputs: usize) -> Option<Body<'c>> {
        let block = *ir::blocks(op).first()?;
        let operations = ir::operations(block);
        let yields = ir::operands(*operations.last()?);
        let operations = operations.into_iter().map(ir::op_key).collect();
        Some(Body { inputs, arguments: ir::arguments(block), yields, operations })
    }

    /// The operation of the body that makes a value.
    fn made(&self, v: Val<'c>) -> Option<Op<'c>> {
        ir::defining_op(v).filter(|op| self.operations.contains(&ir::op_key(*op)))
    }

    /// The number of the operand whose element a value is.
    fn argument(&self, v: Val<'c>) -> Option<usize> {
        self.arguments.iter().position(|argument| ir::key(*argument) == ir::key(v))
    }

    /// The operands of whose elements a value is made.
    fn reads(&self, v: Val<'c>) -> BTreeSet<usize> {
        let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![v]);
        while let Some(v) = open.pop() {
            if !seen.insert(ir::key(v)) {
                continue;
            }
            match self.argument(v) {
                Some(argument) => drop(found.insert(argument)),
                None => open.extend(self.made(v).into_iter().flat_map(ir::operands)),
            }
        }
        found
    }

    /// The loops of whose numbers a value is made: `linalg.index`; `None` where a number is used for more than a sum.
    fn loops(&self, v: Val<'c>) -> Option<Vec<usize>> {
        let (mut found, mut open, mut left) = (Vec::new(), vec![v], MOST_SUMMANDS);
        while let Some(v) = open.pop() {
            let Some(op) = self.made(v) else { continue };
            left = left.checked_sub(1)?;
            match ir::name(op) {
                "linalg.index" => found.push(usize::try_from(ir::attribute(op, "dim").and_then(ir::integer)?).ok()?),
                "arith.addi" => open.extend(ir::operands(op)),
                _ if self.reads_index(op) => return None,
                _ => {}
            }
        }
        Some(found)
    }

    /// Whether an operation is made of the number of a loop.
    fn reads_index(&self, op: Op<'c>) -> bool {
        let (mut open, mut seen) = (vec![op], HashSet::new());
        while let Some(op) = open.pop() {
            if ir::name(op) == "linalg.index" {
                return true;
            }
            if seen.insert(ir::op_key(op)) {
                open.extend(ir::operands(op).into_iter().filter_map(|v| self.made(v)));
            }
        }
        false
    }

    /// The value that a result combines with what it was before, and the operation that does.
    fn combined(&self, result: usize) -> Option<(&'c str, Val<'c>)> {
        let by = self.made(self.yields[result])?;
        let [a, b] = ir::operands(by)[..] else { return None };
        let before = self.inputs + result;
        let (one, other) = if self.argument(a) == Some(before) { (a, b) } else { (b, a) };
        let fits = self.argument(one) == Some(before) && self.reads(other).range(self.inputs..).next().is_none();
        fits.then(|| (ir::name(by), other))
    }

    /// The two operands whose elements are multiplied and summed up, each perhaps in another type or moved by scalars.
    fn multiplied(&self, is_scalar: impl Fn(&usize) -> bool) -> Option<[usize; 2]> {
        let (by, mut value) = self.combined(0)?;
        if !matches!(by, "arith.addf" | "arith.addi" | "arith.ori" | "complex.add") {
            return None;
        }
        let factors = loop {
            let made = self.made(value)?;
            match (ir::name(made), &ir::operands(made)[..]) {
                ("arith.mulf" | "arith.muli" | "arith.andi" | "complex.mul", [a, b]) => break [*a, *b],
                // A cast, or the negative.
                (name, [one])
                    if name == "arith.negf" || name.starts_with("arith.") && one.r#type() != value.r#type() =>
                {
                    value = *one;
                }
                _ => return None,
            }
        };
        let [lhs, rhs] =
            factors.map(|factor| self.reads(factor).into_iter().filter(|k| !is_scalar(k)).collect::<Vec<_>>());
        match (&lhs[..], &rhs[..]) {
            ([lhs], [rhs]) if lhs != rhs => Some([*lhs, *rhs]),
            _ => None,
        }
    }
}

/// An array with others around and between its elements: `tensor.pad`, or a `tensor.insert_slice` into a filled tensor.
struct Padding<'c> {
    value: Val<'c>,
    /// The position of the first element in each dimension, and the distance of one to the next.
    low: Vec<i64>,
    steps: Vec<i64>,
}

impl<'c> Padding<'c> {
    fn of(op: Op<'c>) -> Option<Padding<'c>> {
        let known = |name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
        match ir::name(op) {
            "tensor.pad" => {
                let (value, low) =
                    (ir::operands(ir::operations(*ir::blocks(op).first()?).pop()?), known("static_low")?);
                Some(Padding { value: *value.first()?, steps: vec![1; low.len()], low })
            }
            "tensor.insert_slice" => {
                let (operands, low) = (ir::operands(op), known("static_offsets")?);
                let rank = ir::tensor(operands[0].r#type())?.shape.len();
                let value = filled(operands[1])?;
                (rank == low.len()).then_some(Padding { value, low, steps: known("static_strides")? })
            }
            _ => None,
        }
    }
}

/// The scalar that a tensor is filled with.
fn filled(v: Val) -> Option<Val> {
    let fill = ir::defining_op(v).filter(|op| ir::name(*op) == "linalg.fill")?;
    ir::operands(fill).first().copied()
}

/// The attribute of a constant.
pub fn constant(v: Val) -> Option<Attribute> {
    ir::defining_op(v).filter(|op| ir::name(*op) == "arith.constant").and_then(|op| ir::attribute(op, "value"))
}

fn is_equal(a: Val, b: Val) -> bool {
    constant(a).is_some_and(|value| constant(b) == Some(value))
}

fn is_zero(v: Val) -> bool {
    let float = |value| FloatAttribute::try_from(value).is_ok_and(|float| float.value() == 0.0);
    constant(v).is_some_and(|value| ir::integer(value) == Some(0) || float(value))
}

/// The most operations of an index of a look-up that are looked at for loops.
const MOST_SUMMANDS: usize = 16;

/// The window of a dimension over which none moves.
const UNIT_WINDOW: WindowDim =
    WindowDim { size: 1, stride: 1, low: 0, high: 0, window_dilation: 1, base_dilation: 1, reversed: false };

/// A term of an index: a loop, and the step.
type Term = (usize, i64);

/// The loops in an index with their steps, and the constant.
fn terms(e: &Expr) -> Option<(Vec<Term>, i64)> {
    let (all, constant) = linear(e)?;
    let term = |(v, step): (usize, i128)| Some((v, i64::try_from(step).ok()?));
    Some((all.into_iter().map(term).collect::<Option<_>>()?, i64::try_from(constant).ok()?))
}

/// The loops of an index that is one different loop in each dimension.
fn dims(index: &[Expr]) -> Option<Vec<usize>> {
    let one = |e: &Expr| if let Expr::Var(v) = e { Some(*v) } else { None };
    let all: Vec<usize> = index.iter().map(one).collect::<Option<_>>()?;
    let distinct = all.iter().enumerate().all(|(k, v)| !all[..k].contains(v));
    distinct.then_some(all)
}

/// The positions of some entries in a list that has them.
fn positions(of: &[usize], all: &[usize]) -> Vec<usize> {
    of.iter().filter_map(|v| all.iter().position(|own| own == v)).collect()
}

/// The results of a reading.
type Results = Vec<(Source, Option<usize>)>;

/// A structured operation while it is read.
struct Reader<'a, 'c> {
    op: Op<'c>,
    loops: &'a Loops,
    body: &'a Body<'c>,
    stages: Vec<Stage>,
    lookup: Option<Op<'c>>,
}

impl<'c> Reader<'_, 'c> {
    fn add(&mut self, operation: Operation, sources: Vec<Source>, sizes: Vec<i64>, like: usize) -> Source {
        self.stages.push(Stage { operation, sources, sizes, like: vec![like] });
        Source::Stage(self.stages.len() - 1)
    }

    /// The trip counts of some loops.
    fn sizes(&self, loops: &[usize]) -> Vec<i64> {
        loops.iter().map(|v| self.loops.sizes[*v]).collect()
    }

    fn sizes_of(&self, operand: usize) -> Option<Vec<i64>> {
        let t = ir::operands(self.op)[operand].r#type();
        ir::tensor(t).map_or(Some(Vec::new()), |tensor| tensor.sizes())
    }

    fn index(&self, operand: usize) -> Option<&[Expr]> {
        self.loops.operands.get(operand)?.as_deref()
    }

    /// The loops of the only result.
    fn made(&self) -> Option<Vec<usize>> {
        let [result] = &self.loops.results[..] else { return None };
        dims(result)
    }

    /// Brings the dimensions of an array, which follow these loops, into the order of others.
    fn ordered(&mut self, source: Source, from: &[usize], to: &[usize], like: usize) -> Source {
        if from == to {
            return source;
        }
        let operation = match from.len() == to.len() {
            true => Operation::Transpose { permutation: positions(to, from) },
            false => Operation::Broadcast { dims: positions(from, to) },
        };
        self.add(operation, vec![source], self.sizes(to), like)
    }

    /// The part of an operand that is read, and the loop of each of its dimensions.
    fn part(&mut self, operand: usize) -> Option<(Source, Vec<usize>)> {
        let (index, sizes) = (self.index(operand)?, self.sizes_of(operand)?);
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        let (mut reversed, mut part, mut loops, mut kept) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (dim, e) in index.iter().enumerate() {
            let (terms, first) = terms(e)?;
            let (count, step) = match terms[..] {
                [] => (1, 1),
                [(v, step)] => {
                    kept.push(self.loops.sizes[v]);
                    loops.push(v);
                    (self.loops.sizes[v], step)
                }
                _ => return None,
            };
            let last = first.checked_add(step.checked_mul(count - 1)?)?;
            if step < 0 {
                reversed.push(dim);
            }
            starts.push(first.min(last));
            limits.push(first.max(last).checked_add(1)?);
            strides.push(step.checked_abs()?);
            part.push(count);
        }
        let distinct = loops.iter().enumerate().all(|(k, v)| !loops[..k].contains(v));
        let inside = starts.iter().all(|start| *start >= 0) && limits.iter().zip(&sizes).all(|(end, size)| end <= size);
        if !distinct || !inside || part.contains(&0) {
            return None;
        }
        let mut source = Source::Operand(operand);
        if part != sizes {
            source = self.add(Operation::Slice { starts, limits, strides }, vec![source], part.clone(), operand);
        }
        if !reversed.is_empty() {
            source = self.add(Operation::Reverse { dims: reversed }, vec![source], part.clone(), operand);
        }
        if part != kept {
            source = self.add(Operation::Reshape, vec![source], kept, operand);
        }
        Some((source, loops))
    }

    /// An operand as an array whose dimensions follow these loops.
    fn along(&mut self, operand: usize, space: &[usize]) -> Option<Source> {
        let (source, loops) = self.part(operand)?;
        let known = loops.iter().all(|v| space.contains(v));
        known.then(|| self.ordered(source, &loops, space, operand))
    }

    fn multiplied(&self) -> Option<[usize; 2]> {
        self.body.multiplied(|k| self.index(*k).is_some_and(<[Expr]>::is_empty))
    }

    /// A product of two operands, each of whose dimensions has a loop of its own.
    fn product(&mut self) -> Option<Results> {
        let [lhs, rhs] = self.multiplied()?;
        let ((left, a), (right, b), r) = (self.part(lhs)?, self.part(rhs)?, self.made()?);
        let known =
            |all: &[usize], one: &[usize], other: &[usize]| all.iter().all(|v| one.contains(v) || other.contains(v));
        let summed: Vec<usize> = a.iter().copied().filter(|v| b.contains(v) && !r.contains(v)).collect();
        if !known(&a, &b, &r) || !known(&b, &a, &r) || !known(&r, &a, &b) || summed.is_empty() {
            return None;
        }
        let batch: Vec<usize> = r.iter().copied().filter(|v| a.contains(v) && b.contains(v)).collect();
        let free =
            |all: &[usize]| all.iter().copied().filter(|v| r.contains(v) && !batch.contains(v)).collect::<Vec<_>>();
        let made = [batch.clone(), free(&a), free(&b)].concat();
        let dot = Operation::Dot {
            lhs_batch: positions(&batch, &a),
            rhs_batch: positions(&batch, &b),
            lhs_contracting: positions(&summed, &a),
            rhs_contracting: positions(&summed, &b),
        };
        let start = self.body.inputs;
        let product = self.add(dot, vec![left, right], self.sizes(&made), start);
        Some(vec![(self.ordered(product, &made, &r, start), Some(start))])
    }

    /// The window of a dimension of this size, whose index has a loop over windows and one over positions in a window.
    fn window(&self, e: &Expr, size: i64, made: &[usize]) -> Option<(usize, usize, WindowDim)> {
        let (terms, first) = terms(e)?;
        let [one, other] = terms[..] else { return None };
        let ((along, stride), (within, step)) = if made.contains(&one.0) { (one, other) } else { (other, one) };
        let [windows, positions] = [along, within].map(|v| self.loops.sizes[v]);
        if !made.contains(&along) || made.contains(&within) || stride < 1 || step < 1 || windows < 1 || positions < 1 {
            return None;
        }
        let reach = (windows - 1).checked_mul(stride)?.checked_add((positions - 1).checked_mul(step)?)?;
        let low = first.checked_neg()?;
        let high = reach.checked_add(1)?.checked_sub(size)?.checked_sub(low)?;
        let (base_dilation, window_dilation, reversed) = (1, step, false);
        Some((
            along,
            within,
            WindowDim { size: positions, stride, low, high, window_dilation, base_dilation, reversed },
        ))
    }

    /// A reduction over windows.
    fn windows(&mut self) -> Option<Results> {
        let (r, (_, value)) = (self.made()?, self.body.combined(0)?);
        let operand = self.body.argument(value)?;
        let (index, sizes) = (self.index(operand)?, self.sizes_of(operand)?);
        let (mut window, mut loops, mut inside) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (e, size) in index.iter().zip(sizes) {
            if let Expr::Var(v) = e
                && r.contains(v)
            {
                loops.push(*v);
                window.push(UNIT_WINDOW);
                continue;
            }
            let (along, within, dim) = self.window(e, size, &r)?;
            loops.push(along);
            inside.insert(within);
            window.push(dim);
        }
        if loops.len() != r.len()
            || !r.iter().all(|v| loops.contains(v))
            || loops.len() + inside.len() != self.loops.sizes.len()
        {
            return None;
        }
        let start = self.body.inputs;
        let begin = filled(ir::operands(self.op)[start]);
        let is_begin = |v: Val<'c>| begin.is_some_and(|begin| ir::key(v) == ir::key(begin) || is_equal(v, begin));
        let (source, _) = self.unpadded(operand, &mut window, is_begin)?;
        let sources = vec![source, Source::Scalar(start)];
        let made = self.add(Operation::ReduceWindow { window }, sources, self.sizes(&loops), start);
        Some(vec![(self.ordered(made, &loops, &r, start), Some(start))])
    }

    /// The array that an operand is, and its sizes, without the padding that windows over its dimensions have in its place:
    /// padding of a neutral value, for nothing but structured operations.
    fn unpadded(
        &self,
        operand: usize,
        window: &mut [WindowDim],
        is_neutral: impl Fn(Val<'c>) -> bool,
    ) -> Option<(Source, Vec<i64>)> {
        let (v, sizes) = (ir::operands(self.op)[operand], self.sizes_of(operand)?);
        let is_structured = ir::uses(v).iter().all(|(user, _)| ir::indexing_maps(*user).is_some());
        let pad = ir::defining_op(v).filter(|_| is_structured);
        let Some(Padding { low, steps, .. }) = pad.and_then(Padding::of).filter(|own| is_neutral(own.value)) else {
            return Some((Source::Operand(operand), sizes));
        };
        let data = ir::tensor(ir::operands(pad?)[0].r#type())?.sizes()?;
        for (k, own) in window.iter_mut().enumerate() {
            let high =
                sizes[k].checked_sub(low[k])?.checked_sub((data[k] - 1).checked_mul(steps[k])?)?.checked_sub(1)?;
            (own.low, own.high, own.base_dilation) = (own.low + low[k], own.high + high, steps[k]);
        }
        Some((Source::Unpadded(operand), data))
    }

    /// A look-up of blocks of a tensor: some of its indices are elements of operands, the others are loops.
    fn gather(&mut self) -> Option<Results> {
        let (r, [value]) = (self.made()?, &self.body.yields[..]) else { return None };
        let lookup = self.body.made(*value).filter(|op| ir::name(*op) == "tensor.extract")?;
        let taken = ir::operands(lookup);
        let data = ir::tensor(taken[0].r#type())?;
        let (mut gather, mut table, mut direct) = (Gather::default(), Vec::new(), Vec::new());
        for (dim, index) in taken[1..].iter().enumerate() {
            let (own, mut read) = (self.body.loops(*index)?, self.body.reads(*index).into_iter());
            if let [of] = own[..] {
                direct.push((dim, of));
            }
            match (own.len(), read.next(), read.next()) {
                (0, Some(_), None) => gather.collapsed_slice_dims.push(dim),
                (1, _, None) => {}
                _ => return None,
            }
            if let Some(operand) = self.body.reads(*index).first() {
                gather.start_index_map.push(dim);
                table.push(*operand);
            }
        }
        let loops: Vec<usize> = direct.iter().map(|(_, of)| *of).collect();
        if loops.iter().enumerate().any(|(k, of)| loops[..k].contains(of)) {
            return None;
        }
        // A loop over the data that is one over the indices as well counts blocks.
        let counts = |of: usize| self.index(table[0]).is_some_and(|index| index.contains(&Expr::Var(of)));
        let (batching, blocks): (Vec<_>, Vec<_>) =
            direct.into_iter().partition(|(_, of)| !table.is_empty() && counts(*of));
        let inside: Vec<usize> = blocks.iter().map(|(_, of)| *of).collect();
        gather.slice_sizes = vec![1; taken.len() - 1];
        blocks.iter().for_each(|(dim, of)| gather.slice_sizes[*dim] = self.loops.sizes[*of]);
        gather.offset_dims = positions(&inside, &r);
        let rows: Vec<usize> = r.iter().copied().filter(|v| !inside.contains(v)).collect();
        gather.operand_batching_dims = batching.iter().map(|(dim, _)| *dim).collect();
        let of_rows: Vec<usize> = batching.iter().map(|(_, of)| *of).collect();
        gather.start_indices_batching_dims = positions(&of_rows, &rows);
        let known = data.sizes().is_some() && self.body.made(taken[0]).is_none();
        if !known || table.is_empty() || !gather.offset_dims.is_sorted() || gather.offset_dims.len() != inside.len() {
            return None;
        }
        let numbers = match self.index_vectors(&table, &rows) {
            Some((dim, entries)) => {
                gather.index_vector_dim = dim;
                let order = positions(&(0..table.len()).collect::<Vec<_>>(), &entries);
                gather.start_index_map = order.into_iter().map(|entry| gather.start_index_map[entry]).collect();
                Source::Operand(table[0])
            }
            None => {
                gather.index_vector_dim = rows.len();
                self.joined(&table, &rows)?
            }
        };
        self.lookup = Some(lookup);
        let sources = vec![Source::Data, numbers];
        let made = self.add(Operation::Gather(Box::new(gather)), sources, self.sizes(&r), self.body.inputs);
        Some(vec![(made, None)])
    }

    /// The dimension of the index vectors in a tensor of indices, and which of their entries each operand is: all operands
    /// are this tensor, and each follows the rows but in that dimension.
    fn index_vectors(&self, table: &[usize], rows: &[usize]) -> Option<(usize, Vec<usize>)> {
        let operands = ir::operands(self.op);
        let (mut dim, mut entries) = (None, Vec::new());
        for operand in table {
            let mut index = self.index(*operand)?.to_vec();
            let own = index.iter().position(|e| matches!(e, Expr::Const(_)))?;
            let Expr::Const(entry) = index.remove(own) else { return None };
            let same = ir::key(operands[*operand]) == ir::key(operands[table[0]]) && dim.is_none_or(|dim| dim == own);
            if !same || dims(&index)? != rows {
                return None;
            }
            dim = Some(own);
            entries.push(usize::try_from(entry).ok()?);
        }
        let (size, count) = (*self.sizes_of(table[0])?.get(dim?)?, entries.len());
        let all = (0..count).all(|entry| entries.contains(&entry)) && size == i64::try_from(count).ok()?;
        dim.filter(|_| all).map(|dim| (dim, entries))
    }

    /// Index vectors that are made of several operands, which come last.
    fn joined(&mut self, table: &[usize], rows: &[usize]) -> Option<Source> {
        let mut numbers = Vec::new();
        for operand in table {
            let (source, loops) = self.part(*operand)?;
            if loops.len() != rows.len() || !loops.iter().all(|v| rows.contains(v)) {
                return None;
            }
            numbers.push(self.ordered(source, &loops, rows, *operand));
        }
        if let [one] = numbers[..] {
            return Some(one);
        }
        let mut sizes = [self.sizes(rows), vec![1]].concat();
        let one = |number: Source| self.add(Operation::Reshape, vec![number], sizes.clone(), table[0]);
        let numbers: Vec<Source> = numbers.into_iter().map(one).collect();
        *sizes.last_mut()? = numbers.len() as i64;
        Some(self.add(Operation::Concatenate { dim: rows.len() }, numbers, sizes, table[0]))
    }

    /// Movements, elementwise operations and reductions, which go through all arrays in one order.
    fn streams(&mut self) -> Option<Results> {
        let all: Vec<Vec<usize>> = self.loops.results.iter().map(|index| dims(index)).collect::<Option<_>>()?;
        let summed: Vec<usize> = (0..self.loops.sizes.len()).filter(|v| !all[0].contains(v)).collect();
        if all.iter().any(|r| r.len() != all[0].len() || summed.iter().any(|v| r.contains(v))) {
            return None;
        }
        let whole = |k: usize| self.index(k).and_then(dims).filter(|own| own.len() == self.loops.sizes.len());
        let space = match summed.is_empty() {
            true => all[0].clone(),
            false => (0..self.body.inputs).find_map(whole).unwrap_or_else(|| [&all[0][..], &summed].concat()),
        };
        let is_joint = !summed.is_empty() && (0..all.len()).any(|k| self.body.combined(k).is_none());
        if is_joint {
            return self.joint(&all, &space, &summed);
        }
        let mut results = Vec::new();
        for (k, r) in all.iter().enumerate() {
            let like = self.body.inputs + k;
            if summed.is_empty() {
                let made = self.element(self.body.yields[k], &space, like)?;
                results.push((self.ordered(made, &space, r, like), None));
                continue;
            }
            let (_, value) = self.body.combined(k)?;
            let made = match self.body.argument(value) {
                Some(operand) => self.along(operand, &space)?,
                None => self.element(value, &space, like)?,
            };
            let kept: Vec<usize> = space.iter().copied().filter(|v| !summed.contains(v)).collect();
            let reduce = Operation::Reduce { dims: positions(&summed, &space) };
            let made = self.add(reduce, vec![made, Source::Scalar(like)], self.sizes(&kept), like);
            results.push((self.ordered(made, &kept, r, like), Some(like)));
        }
        Some(results)
    }

    /// A reduction of several arrays together, as that to the largest element and its index. An array that is no operand is
    /// made of the indices.
    fn joint(&mut self, all: &[Vec<usize>], space: &[usize], summed: &[usize]) -> Option<Results> {
        let (inputs, count) = (self.body.inputs, all.len());
        let likes: Vec<usize> = (inputs..inputs + count).collect();
        let mut sources = (0..inputs.min(count)).map(|k| self.along(k, space)).collect::<Option<Vec<_>>>()?;
        for like in likes.iter().skip(inputs) {
            sources.push(self.add(Operation::Iota { dim: 0 }, Vec::new(), self.sizes(space), *like));
        }
        sources.extend(likes.iter().map(|like| Source::Scalar(*like)));
        let kept: Vec<usize> = space.iter().copied().filter(|v| !summed.contains(v)).collect();
        if inputs > count || count < 2 || all.iter().any(|r| *r != kept) {
            return None;
        }
        let (operation, sizes) = (Operation::Reduce { dims: positions(summed, space) }, self.sizes(&kept));
        self.stages.push(Stage { operation, sources, sizes, like: likes });
        let stage = self.stages.len() - 1;
        Some((0..count).map(|k| (Source::Part(stage, k), None)).collect())
    }

    /// An array of the values that the body makes in each iteration.
    fn element(&mut self, value: Val<'c>, space: &[usize], like: usize) -> Option<Source> {
        if let Some(operand) = self.body.argument(value) {
            let moved = self.along(operand, space)?;
            return Some(match moved {
                Source::Stage(_) => moved,
                // An operand alone is a reshape that keeps all dimensions.
                _ => self.add(Operation::Reshape, vec![moved], self.sizes(space), operand),
            });
        }
        let read = self.body.reads(value).into_iter();
        let mut sources = read.map(|operand| self.along(operand, space)).collect::<Option<Vec<_>>>()?;
        if sources.is_empty() {
            // Made of the indices of an iteration alone, or of what is outside of the body.
            let operation = if space.is_empty() { Operation::Constant } else { Operation::Iota { dim: 0 } };
            sources.push(self.add(operation, Vec::new(), self.sizes(space), like));
            if self.body.made(value).is_none_or(|made| ir::operands(made).len() < 2) {
                return sources.pop();
            }
        }
        Some(self.add(Operation::Elementwise, sources, self.sizes(space), like))
    }

    /// The loop over the places in a group, of an index `(f floordiv k) * n + d` with `n` places in each group, where the
    /// kernel has a feature `f` as well.
    fn in_group(&self, e: &Expr, kernel: &[Expr]) -> Option<usize> {
        let Expr::Add(one, other) = e else { return None };
        [[one, other], [other, one]].into_iter().find_map(|[first, place]| {
            let Expr::Var(place) = **place else { return None };
            let (group, places) = match &**first {
                Expr::Mul(group, places) => (&**group, *places),
                group => (group, 1),
            };
            let feature = if let Expr::FloorDiv(feature, _) = group { feature } else { group };
            (self.loops.sizes[place] == places && kernel.contains(feature)).then_some(place)
        })
    }

    /// A convolution: a product in which a dimension of one operand follows windows and the positions in them.
    fn convolution(&mut self) -> Option<Results> {
        let factors = self.multiplied()?;
        let is_window = |k: usize| {
            self.index(k).is_some_and(|index| index.iter().any(|e| terms(e).is_some_and(|(t, _)| t.len() == 2)))
        };
        let [input, kernel] = if is_window(factors[0]) { factors } else { [factors[1], factors[0]] };
        let r = self.made()?;
        let mut image = self.image(input, kernel, &r)?;
        let b = self.of_kernel(kernel, &mut image)?;
        let a: Vec<usize> = image.loops.iter().map(|(along, _)| *along).collect();
        // From here on both loops of a window are the one along windows.
        let role = |v: &usize| match [&a, &b, &r].map(|all| all.contains(v)) {
            _ if image.spatial.iter().any(|(along, _)| along == v) => Some(Role::Spatial(*v)),
            [true, false, true] => Some(Role::Batch),
            [true, true, false] => Some(Role::Input),
            [false, true, true] => Some(Role::Output),
            [true, true, true] => Some(Role::Group),
            _ => None,
        };
        let named = |all: &[usize]| all.iter().map(role).collect::<Option<Vec<_>>>();
        let sizes = [image.sizes, self.sizes_of(kernel)?, self.sizes(&r)];
        let group = named(&a)?.iter().position(|role| *role == Role::Group);
        let of_input = Roles::new(&named(&a)?, &sizes[0], [Role::Batch, Role::Input])?;
        let of_kernel = Roles::new(&named(&b)?, &sizes[1], [Role::Input, Role::Output])?;
        let of_result = Roles::new(&named(&r)?, &sizes[2], [Role::Batch, Role::Output])?;
        let spatial: Vec<Role> = image.spatial.iter().map(|(along, _)| Role::Spatial(*along)).collect();
        let places = |own: &Roles| spatial.iter().map(|role| own.place(*role)).collect::<Option<Vec<_>>>();
        let convolution = Convolution {
            input_batch: of_input.place(Role::Batch)?,
            input_feature: of_input.place(Role::Input)?,
            input_spatial: places(&of_input)?,
            kernel_input_feature: of_kernel.place(Role::Input)?,
            kernel_output_feature: of_kernel.place(Role::Output)?,
            kernel_spatial: places(&of_kernel)?,
            output_batch: of_result.place(Role::Batch)?,
            output_feature: of_result.place(Role::Output)?,
            output_spatial: places(&of_result)?,
            feature_groups: group.map_or(image.feature_groups, |dim| sizes[0][dim]),
            batch_groups: image.batch_groups,
            window: image.window,
        };
        let start = self.body.inputs;
        let sources = vec![
            self.reshaped(image.source, [&sizes[0], &of_input.sizes], input),
            self.reshaped(Source::Operand(kernel), [&sizes[1], &of_kernel.sizes], kernel),
        ];
        let made = self.add(Operation::Convolution(Box::new(convolution)), sources, of_result.sizes.clone(), start);
        Some(vec![(self.reshaped(made, [&of_result.sizes, &sizes[2]], start), Some(start))])
    }

    fn reshaped(&mut self, source: Source, [from, to]: [&[i64]; 2], like: usize) -> Source {
        if from == to { source } else { self.add(Operation::Reshape, vec![source], to.to_vec(), like) }
    }

    /// The input of a convolution: its windows and groups.
    fn image(&self, input: usize, kernel: usize, r: &[usize]) -> Option<Image> {
        let (mut window, mut loops) = (Vec::new(), Vec::new());
        let (mut feature_groups, mut batch_groups) = (1i64, 1i64);
        for (e, size) in self.index(input)?.iter().zip(self.sizes_of(input)?) {
            let (along, within, dim) = if let Expr::Var(v) = e {
                (*v, *v, UNIT_WINDOW)
            } else if let Some(of) = self.in_group(e, self.index(kernel)?) {
                let groups = Some(self.loops.sizes[of]).filter(|n| *n > 0 && size % n == 0).map(|n| size / n)?;
                let which = if r.contains(&of) { &mut batch_groups } else { &mut feature_groups };
                *which = which.checked_mul(groups)?;
                (of, of, UNIT_WINDOW)
            } else {
                self.window(e, size, r)?
            };
            loops.push((along, within));
            window.push(dim);
        }
        let (source, sizes) = self.unpadded(input, &mut window, is_zero)?;
        let is_spatial = |(along, within): &(usize, usize)| along != within;
        let padded = loops.iter().zip(&window).any(|(own, dim)| !is_spatial(own) && *dim != UNIT_WINDOW);
        let window = window.into_iter().zip(&loops).filter(|(_, own)| is_spatial(own)).map(|(dim, _)| dim).collect();
        let spatial = loops.iter().copied().filter(is_spatial).collect();
        (!padded).then_some(Image { source, sizes, window, loops, spatial, feature_groups, batch_groups })
    }

    /// The loops of a convolution's kernel, those in windows as those along them; says which windows are reversed.
    fn of_kernel(&self, kernel: usize, image: &mut Image) -> Option<Vec<usize>> {
        let mut loops = Vec::new();
        for e in self.index(kernel)? {
            let (terms, first) = terms(e)?;
            let [(v, step)] = terms[..] else { return None };
            let dim = image.spatial.iter().position(|(_, within)| *within == v);
            match (dim, step) {
                (_, 1) if first == 0 => {}
                (Some(k), -1) if first == image.window[k].size - 1 => image.window[k].reversed = true,
                _ => return None,
            }
            loops.push(dim.map_or(v, |k| image.spatial[k].0));
        }
        Some(loops)
    }
}

/// The input of a convolution.
struct Image {
    source: Source,
    sizes: Vec<i64>,
    /// The window of each spatial dimension.
    window: Vec<WindowDim>,
    /// For each dimension the loop along windows and the one within a window; one loop twice where there are none.
    loops: Vec<(usize, usize)>,
    /// The loops of the spatial dimensions, as in `loops`.
    spatial: Vec<(usize, usize)>,
    feature_groups: i64,
    batch_groups: i64,
}

/// The role of a dimension in a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Batch,
    /// The features of the input, of one group.
    Input,
    /// The features of the output, of one group.
    Output,
    Group,
    /// A spatial dimension, with the loop of its windows.
    Spatial(usize),
}

/// The dimensions of an array of a convolution as HLO has them: groups are part of the features, and no role is missing.
struct Roles {
    roles: Vec<Role>,
    sizes: Vec<i64>,
}

impl Roles {
    /// `None` where a role has several dimensions, or features are not right behind their groups. `needed` has the roles
    /// beside the spatial ones; the last one has the groups.
    fn new(given: &[Role], given_sizes: &[i64], needed: [Role; 2]) -> Option<Roles> {
        let (mut roles, mut sizes) = (Vec::new(), Vec::new());
        let mut all = given.iter().copied().zip(given_sizes.iter().copied()).peekable();
        while let Some((role, size)) = all.next() {
            let features = all.next_if(|(next, _)| role == Role::Group && *next == needed[1]);
            let role = if role == Role::Group { needed[1] } else { role };
            if roles.contains(&role) {
                return None;
            }
            roles.push(role);
            sizes.push(features.map_or(Some(size), |(_, features)| size.checked_mul(features))?);
        }
        for role in needed {
            if !roles.contains(&role) {
                roles.push(role);
                sizes.push(1);
            }
        }
        Some(Roles { roles, sizes })
    }

    fn place(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|own| *own == role)
    }
}
