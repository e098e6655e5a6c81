//! The correspondence between the elements of an operand and those of the result that an operation makes of them, and
//! their offsets.
//!
//! The operation is a nest of loops. In iteration `(i, j, k)` of the reshape from 64x256 to 8x8x256, element
//! `(8 * i + j, k)` becomes element `(i, j, k)`. With `{1,0:T(8,128)}` and `{2,1,0:T(8,128)}` the offsets of both are
//! `2048 * i + 128 * j + k floordiv 128 * 1024 + k mod 128`, so no element moves.
//!
//! Sizes that are known only at run time are variables, too. Products of variables become further variables, one for
//! each set of factors: `(i * n + j) * m` and `i * m * n + j * m` are one sum. So the simplifier compares affine
//! expressions alone.

use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::parts::row_major;
use crate::buffers::products::Products;
use layout_dialect::affine;
use layout_ir::{self as ir, Op, Shaped};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::analysis::linear;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, Form, IndexingMap, Interval, simplify};
use tensor_layout::tiled::{Layout, Tiling};

/// The most iterations that are compared one by one, if the simplifier does not decide. So many take 15 to 20 ms in a
/// build for development, in which an answer of the simplifier takes 0.02 ms and lowering one kernel to LLVM 50 ms.
/// Operations of the same types and attributes are compared once.
const COMPARED: u128 = 1 << 16;

/// A tensor in memory.
pub struct StoredTensor {
    pub shape: Vec<Option<i64>>,
    layout: Layout,
    /// The bits of an element of the buffer, and those of one of the tensor if they differ.
    element_encoding: (Option<i64>, Option<i64>),
}

impl StoredTensor {
    /// The array of a tensor type; `None` for an encoding that is no tiled layout.
    pub fn of(t: Type) -> Option<StoredTensor> {
        let Shaped { shape, element, layout, .. } = ir::tensor(t)?;
        let layout = match layout {
            Some(layout) => layout_dialect::tiled(layout)?,
            None => Layout::row_major(shape.len()),
        };
        let element_encoding = ElementEncoding::new(element, layout.element_bits).ok()?;
        Some(StoredTensor {
            shape,
            layout,
            element_encoding: (ir::bits(element_encoding.memref_element), element_encoding.bits),
        })
    }

    /// The array as one row, if its elements are in row-major order.
    pub fn row(&self) -> Option<StoredTensor> {
        let is_row_major = !self.layout.is_tiled() && self.layout.major_to_minor().eq(0..self.shape.len());
        let layout = Layout { minor_to_major: vec![0], ..self.layout.clone() };
        is_row_major.then(|| StoredTensor {
            shape: vec![elements(&self.shape)],
            layout,
            element_encoding: self.element_encoding,
        })
    }
}

/// The index and the size in each dimension of an array.
type Side = Vec<(Expr, Expr)>;

/// A nest of loops, each iteration of which makes one element of an operand one of the result. Variable `k` is the
/// index of loop `k`; the sizes of the loops follow.
pub struct Correspondence {
    loops: Vec<Option<i64>>,
    domain: Domain,
    /// The factors of variables that are products.
    products: HashMap<usize, Vec<Expr>>,
    /// The operand and the result, over the variables.
    sides: [Side; 2],
}

impl Correspondence {
    /// The nest of an operation that makes operand number `source`, of the first shape, a result of the second. `None`
    /// if it may write other elements, too.
    pub fn of(op: Op, source: usize, shapes: [&[Option<i64>]; 2]) -> Option<Correspondence> {
        let [from, to] = shapes;
        match ir::name(op) {
            "layout.convert" | "tensor.bitcast" | "tensor.cast" => Some(Self::same_index(from, to)),
            "tensor.reshape" if from.len() == 1 && to.len() == 1 => Some(Self::same_index(from, to)),
            "tensor.collapse_shape" => Self::grouped(op, from).map(Self::reversed),
            "tensor.expand_shape" => Self::grouped(op, to),
            "tensor.reshape" | "tensor.extract_slice" => Self::reshaped(from, to),
            "linalg.pack" => Self::packed(op, from, to),
            "linalg.unpack" => Self::unpacked(op, from, to),
            _ => Self::structured(op, source, shapes),
        }
    }

    /// Whether each element has the same offset in both arrays, and the first buffer is as large as the second.
    pub fn keeps_offsets(mut self, [from, to]: [&StoredTensor; 2]) -> bool {
        let memory = |array: &StoredTensor| (array.layout.memory_space, array.layout.metadata_prefix);
        if from.element_encoding != to.element_encoding || memory(from) != memory(to) {
            return false;
        }
        // Without elements nothing moves.
        if self.loops.contains(&Some(0)) {
            return true;
        }
        let [own, other] = std::mem::take(&mut self.sides);
        let (at, room) = self.offset(from, own);
        let (into, taken) = self.offset(to, other);
        let mut form = Form::new(&self.domain);
        let mut gap = |more: Expr, less: &Expr| form.interval(&(more + less.clone().times(-1)));
        if gap(room, &taken).lo < 0 {
            return false;
        }
        gap(at.clone(), &into) == Interval::new(0, 0) || self.agrees_one_by_one(at, into)
    }

    /// The number in the operand, of this shape, of each element of the result, both in row-major order. `None` where sizes
    /// are known only at run time, where the operand's index is no sum of the result's, and where elements are repeated.
    pub fn sources(&self, from: &[Option<i64>]) -> Option<impl Iterator<Item = usize> + use<>> {
        let [own, result] = &self.sides;
        let term = |((index, _), stride): (&(Expr, Expr), Option<i64>)| Some(index.clone().times(stride?));
        let (mut steps, first) = linear(&Expr::sum(own.iter().zip(row_major(from)).map(term).collect::<Option<_>>()?))?;
        let side = result.iter().map(|(index, _)| {
            let Expr::Var(k) = index else { return None };
            let step = steps.remove(k).unwrap_or(0);
            Some(((*self.loops.get(*k)?)?, i64::try_from(step).ok()?))
        });
        let (sizes, strides): (Vec<i64>, Vec<i64>) = side.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let count = sizes.iter().try_fold(1i64, |n, size| n.checked_mul(*size))?;
        if !steps.is_empty() || count > elements(from)? {
            return None;
        }
        let (mut index, mut at) = (vec![0; sizes.len()], i64::try_from(first).ok()?);
        Some((0..count).map(move |_| {
            let now = at;
            for d in (0..sizes.len()).rev() {
                (index[d], at) = (index[d] + 1, at + strides[d]);
                if index[d] < sizes[d] {
                    break;
                }
                (index[d], at) = (0, at - strides[d] * sizes[d]);
            }
            now as usize
        }))
    }

    /// Whether two expressions agree in every iteration, if these are few.
    fn agrees_one_by_one(&self, one: Expr, other: Expr) -> bool {
        let Some(sizes) = self.loops.iter().copied().collect::<Option<Vec<i64>>>() else { return false };
        let both = IndexingMap::of_sizes(&sizes, vec![one, other]);
        let agree =
            |at: Vec<i64>| both.results[0].evaluate(&at).is_some_and(|n| both.results[1].evaluate(&at) == Some(n));
        both.box_points() <= COMPARED && both.points().all(agree)
    }

    /// The offset of the element at an index, and the number of elements of the buffer.
    fn offset(&mut self, array: &StoredTensor, side: Side) -> (Expr, Expr) {
        let (mut products, digits) = Products::of(&array.shape, &array.layout);
        let Ok(row) = products.merge(digits);
        let (index, sizes): (Vec<Expr>, Vec<Expr>) = side.into_iter().unzip();
        let terms = products.terms(&index, &sizes, |factors| self.product(factors));
        let [at, elements] = [row.index, row.size].map(|e| e.substitute(&terms));
        let tail = if array.layout.is_tiled() { array.layout.tail_alignment } else { 1 };
        (at, (elements + Expr::Const(tail - 1)).floor_div(tail).times(tail))
    }

    fn over(loops: Vec<Option<i64>>) -> Correspondence {
        let sizes = loops.iter().map(|n| n.map_or(Interval::new(0, i64::MAX), |n| Interval::new(n, n)));
        let vars = loops.iter().copied().map(ir::indices_below).chain(sizes).collect();
        let domain = Domain { vars, constraints: Vec::new() };
        Correspondence { loops, domain, products: HashMap::new(), sides: Default::default() }
    }

    /// The result has a dimension for each loop.
    fn with_operand(mut self, operand: Side) -> Correspondence {
        self.sides = [operand, self.all()];
        self
    }

    /// The size of a loop.
    fn size(&self, k: usize) -> Expr {
        self.loops[k].map_or(Expr::Var(self.loops.len() + k), Expr::Const)
    }

    /// An array with one dimension for each loop.
    fn all(&self) -> Side {
        (0..self.loops.len()).map(|k| (Expr::Var(k), self.size(k))).collect()
    }

    /// A loop for each dimension of both arrays.
    fn same_index(from: &[Option<i64>], to: &[Option<i64>]) -> Correspondence {
        let pairs = Self::over(from.iter().zip(to).map(|(from, to)| from.or(*to)).collect());
        let all = pairs.all();
        pairs.with_operand(all)
    }

    /// A loop for each dimension of the longer shape of a reshape, which is taken for the result's.
    fn grouped(op: Op, longer: &[Option<i64>]) -> Option<Correspondence> {
        let mut pairs = Self::over(longer.to_vec());
        let shorter = ir::reassociation(op)?.into_iter().map(|group| pairs.merged(group)).collect();
        Some(pairs.with_operand(shorter))
    }

    /// A nest for two arrays with the same elements in row-major order. One array has the loops; the index in the other
    /// one is a quotient and remainders of the linear index, so all of its sizes but the outermost must be known. Where
    /// both may have the loops, the array with the larger rows has: its rows are often whole rows of the other one.
    fn reshaped(from: &[Option<i64>], to: &[Option<i64>]) -> Option<Correspondence> {
        let (from, to) = (with_size(from, to), with_size(to, from));
        let row = |shape: &[Option<i64>]| elements(shape.get(1..).unwrap_or_default());
        match (row(&from), row(&to)) {
            (None, None) => None,
            (Some(own), Some(other)) if own > other => Some(Self::delinearized(&to, &from).reversed()),
            (None, Some(_)) => Some(Self::delinearized(&to, &from).reversed()),
            (Some(_), _) => Some(Self::delinearized(&from, &to)),
        }
    }

    /// A loop for each dimension of the result. The operand's index is computed from the linear index.
    fn delinearized(from: &[Option<i64>], to: &[Option<i64>]) -> Correspondence {
        let mut pairs = Self::over(to.to_vec());
        let (linear, count) = pairs.merged(0..to.len());
        let digit = |(d, (step, n)): (usize, (Option<i64>, &Option<i64>))| {
            // A step is 0 where there are no elements.
            let step = step.unwrap_or(1).max(1);
            let quotient = linear.clone().floor_div(step);
            let index = if d == 0 { quotient } else { n.map_or(quotient.clone(), |n| quotient.modulo(n.max(1))) };
            (index, n.map_or_else(|| count.clone().floor_div(step), Expr::Const))
        };
        let own = row_major(from).into_iter().zip(from).enumerate().map(digit).collect();
        pairs.with_operand(own)
    }

    fn reversed(mut self) -> Correspondence {
        self.sides.reverse();
        self
    }

    /// The linear index over some loops, in row-major order, and the number of their iterations.
    fn merged(&mut self, loops: impl IntoIterator<Item = usize>) -> (Expr, Expr) {
        loops.into_iter().fold((Expr::Const(0), Expr::Const(1)), |(index, size), k| {
            let own = self.size(k);
            (self.product([index, own.clone()]) + Expr::Var(k), self.product([size, own]))
        })
    }

    /// A loop for each dimension of the result of a `linalg.pack` that writes no padding.
    fn packed(op: Op, from: &[Option<i64>], to: &[Option<i64>]) -> Option<Correspondence> {
        let (pairs, digits) = (Self::over(to.to_vec()), digits(op, from.len())?);
        let may_pad = ir::integers(op, "operandSegmentSizes").get(2) == Some(&1);
        let side = from.iter().enumerate().map(|(d, n)| {
            let of = || digits.iter().enumerate().filter(|(_, digit)| digit.dim == d);
            let index = Expr::sum(of().map(|(k, digit)| Expr::Var(k).times(digit.weight)).collect());
            let (outer, PackedDim { weight, .. }) = of().next()?;
            let whole = to[outer].and_then(|tiles| tiles.checked_mul(*weight));
            let size = whole.map_or(pairs.size(outer).times(*weight), Expr::Const);
            (!may_pad || n.is_some() && *n == whole).then_some((index, size))
        });
        let side = side.collect::<Option<_>>()?;
        Some(pairs.with_operand(side))
    }

    /// A loop for each dimension of the result of a `linalg.unpack`. The operand has no more tiles than it needs.
    fn unpacked(op: Op, from: &[Option<i64>], to: &[Option<i64>]) -> Option<Correspondence> {
        let pairs = Self::over(to.to_vec());
        let own = |(PackedDim { dim, weight, extent }, n): (PackedDim, &Option<i64>)| {
            let index = Expr::Var(dim).floor_div(weight);
            let whole = (pairs.size(dim) + Expr::Const(weight - 1)).floor_div(weight);
            match (extent, n) {
                (Some(extent), _) => (index.modulo(extent), Expr::Const(extent)),
                (None, n) => (index, n.map_or(whole, Expr::Const)),
            }
        };
        let side = digits(op, to.len())?.into_iter().zip(from).map(own).collect();
        Some(pairs.with_operand(side))
    }

    /// The loops of a structured operation that computes each element of its result once.
    fn structured(op: Op, source: usize, [from, to]: [&[Option<i64>]; 2]) -> Option<Correspondence> {
        let maps = ir::indexing_maps(op)?;
        let indices = maps.iter().map(|map| affine::exprs_of_map(*map)).collect::<Option<Vec<_>>>()?;
        let mut loops = vec![None; maps.last().filter(|map| map.is_permutation())?.dim_count()];
        for (index, operand) in indices.iter().zip(ir::operands(op)) {
            // A scalar has no sizes and no index.
            let shape = ir::tensor(operand.r#type()).map(|t| t.shape).unwrap_or_default();
            for (e, size) in index.iter().zip(shape) {
                if let (Expr::Var(v), Some(size)) = (e, size) {
                    loops[*v] = Some(size);
                }
            }
        }
        let pairs = Self::over(loops);
        let side = |index: &[Expr], shape: &[Option<i64>]| {
            let size = |(e, n): (&Expr, &Option<i64>)| match (n, e) {
                (Some(n), _) => Some((e.clone(), Expr::Const(*n))),
                (None, Expr::Var(v)) => Some((e.clone(), pairs.size(*v))),
                _ => None,
            };
            index.iter().zip(shape).map(size).collect::<Option<Side>>()
        };
        let sides = [side(&indices[source], from)?, side(indices.last()?, to)?];
        Some(Correspondence { sides, ..pairs })
    }

    /// A further variable.
    fn var(&mut self, interval: Interval) -> Expr {
        self.domain.vars.push(interval);
        Expr::Var(self.domain.vars.len() - 1)
    }

    /// The product of two expressions, as a sum of products of variables and of quotients and remainders.
    fn product(&mut self, factors: [Expr; 2]) -> Expr {
        let factors = simplify(&factors, &self.domain);
        let [Some(a), Some(b)] = [0, 1].map(|k| self.terms(&factors[k])) else { return self.variable(factors) };
        let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
        let terms: Option<Vec<_>> =
            pairs.map(|(x, y)| Some(([&x.0[..], &y.0].concat(), x.1.checked_mul(y.1)?))).collect();
        let Some(terms) = terms else { return self.variable(factors) };
        Expr::sum(terms.into_iter().map(|(factors, by)| self.variable(factors).times(by)).collect())
    }

    /// The variable of a product of these factors.
    fn variable(&mut self, mut factors: Vec<Expr>) -> Expr {
        if factors.len() < 2 {
            return factors.pop().unwrap_or(Expr::Const(1));
        }
        factors.sort();
        if let Some((known, _)) = self.products.iter().find(|(_, known)| **known == factors) {
            return Expr::Var(*known);
        }
        let mut form = Form::new(&self.domain);
        let least = if factors.iter().all(|e| form.interval(e).lo >= 0) { 0 } else { i64::MIN };
        self.products.insert(self.domain.vars.len(), factors);
        self.var(Interval::new(least, i64::MAX))
    }

    /// The terms of a sum: the factors of each, and its coefficient. `None` beyond 64 bits.
    fn terms(&self, e: &Expr) -> Option<Vec<(Vec<Expr>, i64)>> {
        let (mut terms, mut open) = (Vec::new(), vec![(e, 1i64)]);
        while let Some((e, by)) = open.pop() {
            match e {
                Expr::Const(c) => terms.push((Vec::new(), c.checked_mul(by)?)),
                Expr::Add(a, b) => open.extend([(&**a, by), (&**b, by)]),
                Expr::Mul(a, c) => open.push((a, by.checked_mul(*c)?)),
                Expr::Var(v) if self.products.contains_key(v) => terms.push((self.products[v].clone(), by)),
                e => terms.push((vec![e.clone()], by)),
            }
        }
        Some(terms)
    }
}

/// The number in the operand of each element of a `linalg.pack` or `linalg.unpack`, both in row-major order; none for padding.
/// `None` for an inner tile that is known only at run time.
pub fn packing_sources(op: Op, [from, to]: [Vec<i64>; 2]) -> Option<impl Iterator<Item = Option<usize>> + use<>> {
    let packs = ir::name(op) == "linalg.pack";
    let digits = digits(op, if packs { from.len() } else { to.len() })?;
    let strides = row_major(&from.iter().copied().map(Some).collect::<Vec<_>>());
    let strides = strides.into_iter().collect::<Option<Vec<i64>>>()?;
    let (mut index, mut own) = (vec![0; to.len()], vec![0; from.len()]);
    Some((0..to.iter().product()).map(move |mut number: i64| {
        for (entry, size) in index.iter_mut().zip(&to).rev() {
            (*entry, number) = (number % size, number / size);
        }
        if packs {
            own.fill(0);
            digits.iter().zip(&index).for_each(|(digit, entry)| own[digit.dim] += entry * digit.weight);
        } else {
            for (entry, PackedDim { dim, weight, extent }) in own.iter_mut().zip(&digits) {
                *entry = index[*dim] / weight % extent.unwrap_or(i64::MAX);
            }
        }
        let is_inside = own.iter().zip(&from).all(|(entry, size)| entry < size);
        let at = || own.iter().zip(&strides).map(|(entry, stride)| entry * stride).sum::<i64>();
        is_inside.then(|| at() as usize)
    }))
}

/// The number of elements of an array, if it is known.
fn elements(shape: &[Option<i64>]) -> Option<i64> {
    shape.iter().try_fold(1i64, |count, n| count.checked_mul((*n)?))
}

/// A shape whose only unknown size is that with which it has as many elements as another shape.
fn with_size(shape: &[Option<i64>], other: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut known = shape.to_vec();
    let unknown: Vec<usize> = (0..shape.len()).filter(|d| shape[*d].is_none()).collect();
    if let ([d], Some(count)) = (&unknown[..], elements(other)) {
        known[*d] = Some(1);
        known[*d] = elements(&known).filter(|rest| *rest > 0 && count % rest == 0).map(|rest| count / rest);
    }
    known
}

/// A dimension of a packed tensor: `index floordiv weight mod extent` in a dimension of the tensor that is not packed.
struct PackedDim {
    dim: usize,
    weight: i64,
    /// The size of an inner tile; `None` for an outer dimension.
    extent: Option<i64>,
}

/// The dimensions of the packed side of a `linalg.pack` or `linalg.unpack`, the outer ones first.
fn digits(op: Op, rank: usize) -> Option<Vec<PackedDim>> {
    let dims = |name| ir::integers(op, name).into_iter().map(|d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>();
    let (inner, order) = (dims("inner_dims_pos")?, dims("outer_dims_perm")?);
    let tiles: Vec<i64> = ir::integers(op, "static_inner_tiles").into_iter().filter(|n| *n > 0).collect();
    let outer = (0..rank).map(|k| order.get(k).copied().unwrap_or(k)).map(|dim| {
        let tile = inner.iter().position(|tiled| *tiled == dim).and_then(|k| tiles.get(k));
        PackedDim { dim, weight: tile.copied().unwrap_or(1), extent: None }
    });
    let inner_digits =
        inner.iter().zip(&tiles).map(|(dim, tile)| PackedDim { dim: *dim, weight: 1, extent: Some(*tile) });
    (inner.len() == tiles.len()).then(|| outer.chain(inner_digits).collect())
}
