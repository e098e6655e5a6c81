//! Collectives between processes as operations of the dialect `shard`, on row-major parts.
//!
//! A missing digit of weight 4 is inserted where it belongs: its dimension, of 24 elements in the process, is
//! expanded to 6 × 4, gathered along the second of these, and collapsed again. So elements keep the order of their
//! indices under any sharding, and nothing is transposed.

use super::chain::{GridChain, GridExchange};
use super::grid::{Digits, Grid, ProcessDigit, local_weight};
use super::sharded::Sharded;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::{Attribute, Identifier, Type, ValueLike};
use tensor_layout::places::CollectiveKind;

/// Emits collectives.
#[derive(Clone, Copy)]
pub struct Exchanger<'g, 'c> {
    /// The grid.
    pub grid: &'g Grid,
    /// The name of the grid.
    pub symbol: &'g str,
    /// The insertion point.
    pub b: Builder<'c>,
}

/// The combination of partial results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// By the operation of this name of `shard`.
    Kind(&'static str),
    /// By an operation that `shard` does not name: all parts are gathered.
    Gathered,
}

impl<'c> Exchanger<'_, 'c> {
    /// Emits a chain; returns the resulting value, sharded as `to`.
    pub fn run(&self, v: Val<'c>, from: &Sharded<'c>, to: &Digits, chain: &GridChain) -> Val<'c> {
        let (mut v, mut now) = (v, from.plain());
        for step in &chain.steps {
            if step.kind == CollectiveKind::Permute {
                v = self.permute(v, &mut now, &step.along);
                continue;
            }
            for exchange in &step.along {
                v = match step.kind {
                    CollectiveKind::AllGather => self.gather(v, &now, exchange),
                    CollectiveKind::AllToAll => self.all_to_all(v, &now, exchange),
                    _ => self.cut(v, &now, exchange, None),
                };
                self.exchanged(&mut now, exchange);
            }
        }
        debug_assert_eq!(now.digits, *to);
        v
    }

    /// Updates the sharding for an exchange.
    fn exchanged(&self, now: &mut Sharded<'c>, exchange: &GridExchange) {
        let mut stride = 1;
        for axis in exchange.axes.iter().rev() {
            let extent = self.grid.extents[*axis];
            now.digits[*axis] =
                exchange.after.map(|digit| ProcessDigit { dim: digit.dim, weight: digit.weight * stride, extent });
            stride *= extent;
        }
    }

    /// All-gather: each process gets the parts of all others along the axes.
    fn gather(&self, v: Val<'c>, now: &Sharded<'c>, exchange: &GridExchange) -> Val<'c> {
        let Some(digit) = exchange.before else { return v };
        let weight = local_weight(&digit, &without(&now.digits, &exchange.axes));
        let view = CutView::new(now, &[(digit.dim, weight)]);
        let at = view.below(digit.dim, weight);
        let changes = vec![(at, digit.extent, 1)];
        self.on(
            v,
            &view,
            Collective { name: "shard.all_gather", keys: vec![("gather_axis", at)], changes, reduction: None },
            exchange,
        )
    }

    /// Each process keeps its part along the axes; with a reduction, its part of the combined value.
    pub fn cut(
        &self,
        v: Val<'c>,
        now: &Sharded<'c>,
        exchange: &GridExchange,
        reduction: Option<&'static str>,
    ) -> Val<'c> {
        let Some(digit) = exchange.after else { return v };
        let end = local_weight(&digit, &now.digits) * digit.extent;
        let view = CutView::new(now, &[(digit.dim, end)]);
        let at = view.below(digit.dim, end);
        let (name, key) = match reduction {
            None => ("shard.all_slice", "slice_axis"),
            Some(_) => ("shard.reduce_scatter", "scatter_axis"),
        };
        let changes = vec![(at, 1, digit.extent)];
        self.on(v, &view, Collective { name, keys: vec![(key, at)], changes, reduction }, exchange)
    }

    /// All-to-all: each process gets a part of every other's data along the axes.
    fn all_to_all(&self, v: Val<'c>, now: &Sharded<'c>, exchange: &GridExchange) -> Val<'c> {
        let (Some(old), Some(new)) = (exchange.before, exchange.after) else { return v };
        // The present part lacks the old digit and has the new one.
        let end = local_weight(&new, &now.digits) * new.extent;
        let joined = local_weight(&old, &without(&now.digits, &exchange.axes));
        let view = CutView::new(now, &[(new.dim, end), (old.dim, joined)]);
        let (split, concat) = (view.below(new.dim, end), view.below(old.dim, joined));
        let changes = vec![(split, 1, new.extent), (concat, old.extent, 1)];
        let keys = vec![("split_axis", split), ("concat_axis", concat)];
        self.on(v, &view, Collective { name: "shard.all_to_all", keys, changes, reduction: None }, exchange)
    }

    /// Permutation: each process gets the data of one other.
    fn permute(&self, v: Val<'c>, now: &mut Sharded<'c>, along: &[GridExchange]) -> Val<'c> {
        let old = now.digits.clone();
        along.iter().for_each(|exchange| self.exchanged(now, exchange));
        let axes: Vec<usize> =
            (0..self.grid.rank()).filter(|axis| along.iter().any(|e| e.axes.contains(axis))).collect();
        let source = sources(&axes, &old, &now.digits, &self.grid.extents);
        let index = Type::index(self.b.context());
        let own = self.b.op(
            "shard.process_multi_index",
            &[],
            &vec![index; axes.len()],
            &[self.grid(), self.axes("axes", &axes)],
        );
        let own = ir::results(own);
        let place = |axis: usize| axes.iter().position(|known| *known == axis).expect("an axis of the permutation");
        let from: Vec<Val> = axes.iter().map(|axis| own[place(source[place(*axis)])]).collect();
        let to: Vec<Val> = axes
            .iter()
            .map(|axis| own[source.iter().position(|known| known == axis).expect("each axis is a source once")])
            .collect();
        let unknown = ir::sizes_attribute(self.b.context(), &vec![None; axes.len()]);
        let point = |name: &str, v: Val<'c>, key: &str, at: &[Val<'c>]| {
            let operands: Vec<Val> = std::iter::once(v).chain(at.iter().copied()).collect();
            let attributes = [self.grid(), self.axes("grid_axes", &axes), self.b.named(key, unknown)];
            self.b.value(name, &operands, v.r#type(), &attributes)
        };
        let sent = point("shard.send", v, "destination", &to);
        point("shard.recv", sent, "source", &from)
    }

    /// All-reduce: the combined data of all processes along some axes.
    pub fn all_reduce(&self, v: Val<'c>, axes: &[usize], kind: &str) -> Val<'c> {
        let attributes = [self.grid(), self.axes("grid_axes", axes), self.reduction(kind)];
        self.b.value("shard.all_reduce", &[v], v.r#type(), &attributes)
    }

    /// The data of all processes along some axes, stacked along a new first dimension.
    pub fn stacked(&self, v: Val<'c>, axes: &[usize]) -> Val<'c> {
        let part = ir::tensor(v.r#type()).expect("a tensor");
        let shape = |first: i64| [&[Some(first)], &part.shape[..]].concat();
        let of = |first: i64| ir::tensor_type(&Shaped { shape: shape(first), ..part.clone() });
        let rank = part.shape.len();
        let groups: Vec<Vec<usize>> = (0..rank).map(|dim| if dim == 0 { vec![0, 1] } else { vec![dim + 1] }).collect();
        let one = self.reshape("tensor.expand_shape", v, of(1), &groups);
        let attributes =
            [self.grid(), self.axes("grid_axes", axes), self.b.named("gather_axis", self.b.index_attribute(0))];
        self.b.value("shard.all_gather", &[one], of(self.grid.along(axes)), &attributes)
    }

    /// The coordinates of this process along some axes.
    pub fn coordinates(&self, axes: &[usize]) -> Vec<Val<'c>> {
        let index = Type::index(self.b.context());
        let attributes = [self.grid(), self.axes("axes", axes)];
        ir::results(self.b.op("shard.process_multi_index", &[], &vec![index; axes.len()], &attributes))
    }

    /// The rank of this process.
    pub fn rank(&self) -> Val<'c> {
        self.b.value("shard.process_linear_index", &[], Type::index(self.b.context()), &[self.grid()])
    }

    fn grid(&self) -> (Identifier<'c>, Attribute<'c>) {
        self.b.named("grid", FlatSymbolRefAttribute::new(self.b.context(), self.symbol))
    }

    fn axes(&self, name: &str, axes: &[usize]) -> (Identifier<'c>, Attribute<'c>) {
        let list = axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let text = if axes.is_empty() { "array<i16>".to_string() } else { format!("array<i16: {list}>") };
        self.b.named(name, Attribute::parse(self.b.context(), &text).expect("an array of numbers"))
    }

    fn reduction(&self, kind: &str) -> (Identifier<'c>, Attribute<'c>) {
        let text = format!("#shard<partial {kind}>");
        self.b.named("reduction", Attribute::parse(self.b.context(), &text).expect("shard is loaded"))
    }

    /// Emits a collective on a value whose dimensions are cut.
    fn on(&self, v: Val<'c>, view: &CutView<'c>, collective: Collective, exchange: &GridExchange) -> Val<'c> {
        let of = |sizes: &[i64]| {
            let shape = sizes.iter().copied().map(Some).collect();
            ir::tensor_type(&Shaped { shape, element: view.element, layout: None, space: None })
        };
        let is_plain = view.sizes.len() == view.groups.len();
        let seen = if is_plain { v } else { self.reshape("tensor.expand_shape", v, of(&view.sizes), &view.groups) };
        let mut after = view.sizes.clone();
        collective.changes.iter().for_each(|(at, times, by)| after[*at] = after[*at] * times / by);
        let mut attributes = vec![self.grid(), self.axes("grid_axes", &exchange.axes)];
        let keys = collective.keys.iter();
        attributes.extend(keys.map(|(key, at)| self.b.named(key, self.b.index_attribute(*at as i64))));
        attributes.extend(collective.reduction.map(|kind| self.reduction(kind)));
        let done = self.b.value(collective.name, &[seen], of(&after), &attributes);
        if is_plain {
            return done;
        }
        let size = |group: &Vec<usize>| group.iter().map(|dim| after[*dim]).product();
        let sizes: Vec<i64> = view.groups.iter().map(size).collect();
        self.reshape("tensor.collapse_shape", done, of(&sizes), &view.groups)
    }

    fn reshape(&self, name: &str, v: Val<'c>, to: Type<'c>, groups: &[Vec<usize>]) -> Val<'c> {
        let context = self.b.context();
        let mut attributes = vec![self.b.named("reassociation", ir::reassociation_attribute(context, groups))];
        if name == "tensor.expand_shape" {
            let sizes = ir::tensor(to).expect("a tensor").shape;
            attributes.push(self.b.named("static_output_shape", ir::sizes_attribute(context, &sizes)));
        }
        self.b.value(name, &[v], to, &attributes)
    }
}

/// A collective on a view.
struct Collective {
    name: &'static str,
    /// Attributes whose values are dimensions of the view.
    keys: Vec<(&'static str, usize)>,
    /// Dimensions of the view, each with the factor and the divisor of its size.
    changes: Vec<(usize, i64, i64)>,
    reduction: Option<&'static str>,
}

/// The part of a process with its dimensions cut at weights.
struct CutView<'c> {
    element: Type<'c>,
    /// The sizes of the view.
    sizes: Vec<i64>,
    /// For each dimension of the tensor, its dimensions in the view.
    groups: Vec<Vec<usize>>,
    /// The dimension of the tensor and the weight at which each dimension of the view ends.
    ends: Vec<(usize, i64)>,
}

impl<'c> CutView<'c> {
    /// The view with these cuts. A cut at weight 1 adds a last dimension of size 1.
    fn new(now: &Sharded<'c>, cuts: &[(usize, i64)]) -> CutView<'c> {
        let mut view = CutView { element: now.element, sizes: Vec::new(), groups: Vec::new(), ends: Vec::new() };
        for (dim, size) in now.local().unwrap_or_default().into_iter().enumerate() {
            let inside = cuts.iter().filter(|cut| cut.0 == dim && cut.1 < size).map(|cut| cut.1);
            let mut ends: Vec<i64> = inside.chain([size]).collect();
            ends.sort_unstable_by_key(|end| std::cmp::Reverse(*end));
            ends.dedup();
            let first = view.sizes.len();
            for (k, end) in ends.iter().enumerate() {
                view.sizes.push(end / ends.get(k + 1).copied().unwrap_or(1));
                view.ends.push((dim, *end));
            }
            view.groups.push((first..view.sizes.len()).collect());
        }
        view
    }

    /// The dimension of the view that ends at a weight; the first one if the weight is the size or more.
    fn below(&self, dim: usize, weight: i64) -> usize {
        let found = self.ends.iter().position(|end| *end == (dim, weight));
        found.unwrap_or(self.groups[dim].first().copied().unwrap_or(0))
    }
}

/// Digits with copies along these axes.
fn without(digits: &Digits, axes: &[usize]) -> Digits {
    let mut left = digits.clone();
    axes.iter().for_each(|axis| left[*axis] = None);
    left
}

/// The axis map of a permutation: for each axis, the axis along which this process has the coordinate that the source
/// process has along the first.
fn sources(axes: &[usize], old: &Digits, new: &Digits, extents: &[i64]) -> Vec<usize> {
    // Process `c` wants `new[k] = c[k]`; its source `s` has `old[j] = s[j]`: so `s[j] = c[k]` where `old[j] == new[k]`.
    let mut of: Vec<Option<usize>> =
        axes.iter().map(|j| old[*j].and_then(|digit| axes.iter().copied().find(|k| new[*k] == Some(digit)))).collect();
    for (place, j) in axes.iter().enumerate() {
        if of[place].is_some() {
            continue;
        }
        let free = |k: &&usize| !of.contains(&Some(**k)) && extents[**k] == extents[*j];
        of[place] = axes.iter().find(|k| free(k) && *k == j).or_else(|| axes.iter().find(free)).copied();
    }
    of.into_iter().map(|k| k.expect("a permutation of parts of equal sizes")).collect()
}
