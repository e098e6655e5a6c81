//! The walk over a module that rewrites each operation for the parts of a process.

use super::chain::chain;
use super::choice::{Combining, OperandSharding, Spreadings};
use super::exchange::{Exchanger, Reduction};
use super::grid::{Digits, Grid};
use super::loops::{Combination, LoopNest};
use super::made_again::MadeAgain;
use super::operations::{done_by_all, is_called_once, set_indices, set_sizes};
use super::partial::{along_first, combined, filled, may_be_added_often, reduction};
use super::sharded::{Sharded, is_tensor, values};
use crate::analysis::execution_counts::constant_trips;
use crate::analysis::functions::callee;
use crate::buffers::async_copies::is_async;
use crate::buffers::operations::{FORWARDS, is};
use crate::distribute::PROCESS;
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::{AttributeLike, DenseI64ArrayAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, BlockLike, Type, ValueLike};
use std::collections::{HashMap, HashSet};

/// The reason why a module is not partitioned.
pub enum Stop<'c> {
    /// The grid needs further cuts at these strides.
    FurtherCuts(Vec<i64>),
    /// Partitioning is impossible.
    Wrong(Vec<Diagnostic<'c>>),
}

/// A module during its rewriting into the program of one process.
pub struct Partition<'g, 'c> {
    rewriter: &'c Rewriter,
    grid: &'g Grid,
    symbol: &'g str,
    iterations_of_a_byte: f64,
    /// The sharding of each tensor.
    values: HashMap<usize, Sharded<'c>>,
    /// Emitted conversions, by value and block.
    converted: HashMap<(usize, usize), Vec<(Sharded<'c>, Val<'c>)>>,
    /// Functions that one process calls for all.
    called_once: HashSet<&'c str>,
}

impl<'g, 'c> Partition<'g, 'c> {
    /// Partitions a module in place.
    ///
    /// # Errors
    /// The obstacle; the module is then left half done.
    pub fn run(
        rewriter: &'c Rewriter,
        module: Op<'c>,
        grid: &'g Grid,
        symbol: &'g str,
        iterations_of_a_byte: f64,
    ) -> Result<(), Stop<'c>> {
        let operations = ir::all_operations(module);
        let mut own = Partition {
            rewriter,
            grid,
            symbol,
            iterations_of_a_byte,
            values: HashMap::new(),
            converted: HashMap::new(),
            called_once: HashSet::new(),
        };
        own.called_once = operations.iter().filter_map(|op| is_called_once(*op)).collect();
        let all: Vec<(Op, Val)> = operations
            .iter()
            .flat_map(|op| values(*op).into_iter().map(|v| (*op, v)))
            .filter(|own| is_tensor(own.1))
            .collect();
        for (op, v) in &all {
            let sharded = own.sharded(*op, v.r#type())?;
            own.values.insert(ir::key(*v), sharded);
        }
        for (_, v) in all {
            if let Some(t) = own.of(v).r#type() {
                ir::set_type(v, t);
            }
        }
        for op in operations.into_iter().skip(1) {
            own.operation(op)?;
        }
        own.declare_grid(module);
        Ok(())
    }

    fn sharded(&self, op: Op<'c>, t: Type<'c>) -> Result<Sharded<'c>, Stop<'c>> {
        let shaped = ir::tensor(t).expect("a tensor");
        let wrong = |message| wrong(op, format!("{t}: {message}"));
        Sharded::of(self.grid, Builder::before(op).context(), &shaped).map_err(wrong)
    }

    fn of(&self, v: Val<'c>) -> &Sharded<'c> {
        self.values.get(&ir::key(v)).expect("each tensor has been looked at")
    }

    fn declare_grid(&self, module: Op<'c>) {
        let Some(first) = ir::blocks(module).first().and_then(|block| ir::operations(*block).first().copied()) else {
            return;
        };
        let b = Builder::before(first).located(module);
        let name = StringAttribute::new(b.context(), self.symbol);
        let shape: Attribute = DenseI64ArrayAttribute::new(b.context(), &self.grid.extents).into();
        b.op("shard.grid", &[], &[], &[b.named("sym_name", name), b.named("shape", shape)]);
    }

    fn operation(&mut self, op: Op<'c>) -> Result<(), Stop<'c>> {
        match ir::name(op) {
            "func.func" => self.function(op),
            "func.call" if callee(op).is_some_and(|name| self.called_once.contains(name)) => {
                self.by_one(op);
                Ok(())
            }
            "vector.print" => {
                self.by_one(op);
                Ok(())
            }
            "layout.convert" if is_tensor(ir::result(op, 0)) => self.convert(op),
            "arith.constant" if is_tensor(ir::result(op, 0)) => self.constant(op),
            "tensor.dim" if !self.of(ir::operands(op)[0]).is_whole() => self.dim(op),
            "scf.forall" | "scf.forall.in_parallel" | "tensor.parallel_insert_slice" => self.unspread(op),
            name if is(name, FORWARDS) && name != "arith.select" => Ok(()),
            _ => self.tensors(op),
        }
    }

    /// Rewrites the type of a function to tensors that are parts.
    fn function(&self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let Some(t) = ir::attribute(op, "function_type").and_then(ir::type_in) else { return Ok(()) };
        let Some((inputs, results)) = ir::function(t) else { return Ok(()) };
        let part = |t: Type<'c>| match ir::tensor(t) {
            Some(_) => Ok(self.sharded(op, t)?.r#type().unwrap_or(t)),
            None => Ok(t),
        };
        let inputs = inputs.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let results = results.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let new = ir::function_type(t, &inputs, &results);
        ir::edit(op).set_attribute("function_type", TypeAttribute::new(new).into());
        Ok(())
    }

    /// Makes only process 0 execute an operation without results.
    fn by_one(&self, op: Op<'c>) {
        let b = Builder::before(op);
        let first = b.equal(self.exchanger(b).rank(), b.index(0));
        ir::move_before(op, b.branch(first));
    }

    fn convert(&mut self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        let wanted = self.of(result).clone();
        if self.of(source).digits == wanted.digits && source.r#type() != result.r#type() {
            // Processes keep their data.
            return Ok(());
        }
        let made = self.bring(source, &wanted, op)?;
        ir::replace_all_uses(result, made);
        self.rewriter.erase(op);
        Ok(())
    }

    /// Rewrites a constant: each process takes its part of the whole; a splat shrinks.
    fn constant(&mut self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let result = ir::result(op, 0);
        let Some(value) = ir::attribute(op, "value") else { return Ok(()) };
        let wanted = self.of(result).clone();
        if value.r#type() == result.r#type() {
            return Ok(());
        }
        if !ir::is_used(result) {
            self.rewriter.erase(op);
            return Ok(());
        }
        let b = Builder::before(op);
        let alike = MadeAgain::of(result).and_then(|made| made.make(b, &wanted));
        let made = match alike {
            Some(made) => self.known(made, wanted),
            None => {
                let whole = wanted.spread(&vec![None; self.grid.rank()]);
                let fits = whole.r#type().and_then(|t| ir::constant(value)?.reshaped(t));
                let fits = fits.ok_or_else(|| {
                    wrong(op, "the elements of a constant that is spread over processes must be in the module".into())
                })?;
                let all = self.known(b.constant(fits), whole);
                self.bring(all, &wanted, op)?
            }
        };
        ir::replace_all_uses(result, made);
        self.rewriter.erase(op);
        Ok(())
    }

    /// Rewrites `tensor.dim` to the global size.
    fn dim(&mut self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let [source, at] = ir::operands(op)[..] else { return Ok(()) };
        let number = ir::defining_op(at).and_then(|op| ir::attribute(op, "value")).and_then(ir::integer);
        let sizes = self.of(source).sizes.clone().unwrap_or_default();
        let size = number.and_then(|at| sizes.get(usize::try_from(at).ok()?).copied());
        let size = size.ok_or_else(|| {
            wrong(op, "of a tensor that is spread over processes, the dimension must be a constant".into())
        })?;
        ir::replace_all_uses(ir::result(op, 0), Builder::before(op).index(size));
        self.rewriter.erase(op);
        Ok(())
    }

    /// Checks that each process has all of an operation's tensors whole.
    fn unspread(&self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let mut all = ir::operands(op).into_iter().chain(values(op)).filter(|v| is_tensor(*v));
        match all.any(|v| !self.of(v).is_whole()) {
            true => Err(not_partitioned(op)),
            false => Ok(()),
        }
    }

    /// Rewrites an operation on tensors.
    fn tensors(&mut self, op: Op<'c>) -> Result<(), Stop<'c>> {
        let (operands, results) = (ir::operands(op), ir::results(op));
        let mut all = operands.iter().chain(&results).filter(|v| is_tensor(**v));
        if all.all(|v| self.of(*v).is_whole()) {
            return Ok(());
        }
        let sizes = |v: Val<'c>| self.values.get(&ir::key(v))?.sizes.clone();
        let nest = LoopNest::of(op, &sizes).or_else(|| done_by_all(op)).ok_or_else(|| not_partitioned(op))?;
        for (v, _) in results.iter().zip(&nest.combinations).filter(|own| own.1.is_some()) {
            if let Some((to, t)) = self.converted_alone(*v) {
                ir::set_type(*v, t);
                self.known(*v, to);
            }
        }
        let coming = |v: &Val<'c>| {
            is_tensor(*v).then(|| OperandSharding {
                sharded: self.of(*v).clone(),
                free: MadeAgain::of(*v).is_some(),
                known: self.known_elsewhere(*v, op),
            })
        };
        let reductions: Vec<Option<Reduction>> =
            nest.combinations.iter().map(|own| own.as_ref().map(reduction)).collect();
        let spreadings = Spreadings {
            nest: &nest,
            operands: operands.iter().map(coming).collect(),
            results: results.iter().filter(|v| is_tensor(**v)).map(|v| self.of(*v).clone()).collect(),
            gathered: reductions.iter().map(|own| *own == Some(Reduction::Gathered)).collect(),
            iterations_of_a_byte: self.iterations_of_a_byte,
        };
        let loops = spreadings.best(self.grid);
        self.write(op, &nest, &loops, &reductions)
    }

    /// The target of the conversions that are a sum's only users: the sum is then produced in it directly. A sum of
    /// which each process wants a part is then never whole at all of them.
    fn converted_alone(&self, v: Val<'c>) -> Option<(Sharded<'c>, Type<'c>)> {
        let made = |user: Op<'c>| {
            let converts = ir::name(user) == "layout.convert" && !is_async(user);
            converts.then(|| ir::result(user, 0))
        };
        let all = ir::uses(v).into_iter().map(|own| made(own.0)).collect::<Option<Vec<Val>>>()?;
        let to = *all.first().filter(|to| is_tensor(**to) && is_tensor(v))?;
        let same = all.iter().all(|other| self.of(*other) == self.of(to));
        same.then(|| (self.of(to).clone(), to.r#type()))
    }

    /// Emits an operation with some loops sharded.
    fn write(
        &mut self,
        op: Op<'c>,
        nest: &LoopNest<'c>,
        loops: &Digits,
        reductions: &[Option<Reduction>],
    ) -> Result<(), Stop<'c>> {
        let results = ir::results(op);
        let wanted: Vec<Option<Sharded>> = results.iter().map(|v| self.values.get(&ir::key(*v)).cloned()).collect();
        let keeps_layouts = self.keeps_layouts(op, nest, loops, &wanted);
        let result = |(k, own): (usize, &Option<Sharded<'c>>)| {
            let own = own.as_ref()?;
            let combining = Combining::of(nest, loops, k, &own.digits, reductions[k] == Some(Reduction::Gathered));
            let digits = nest.digits_of(&nest.results[k], loops);
            let keeps = digits == own.digits && !combining.is_needed() && (keeps_layouts || nest.alike);
            let sharded = Sharded { inner: own.inner.filter(|_| keeps), ..own.spread(&digits) };
            Some(MadeResult { sharded, combining })
        };
        let made: Vec<Option<MadeResult>> = wanted.iter().enumerate().map(result).collect();
        let alike = made.first().and_then(|first| first.as_ref()?.sharded.inner);
        let mut added: Vec<Option<Val>> = vec![None; results.len()];
        for (k, (v, dims)) in ir::operands(op).iter().zip(&nest.operands).enumerate() {
            let Some(dims) = dims else { continue };
            let output = nest.outputs.iter().position(|output| *output == Some(k));
            let brought = match output.and_then(|result| Some((result, made[result].as_ref()?))) {
                Some((result, target)) => {
                    let sum = nest.combinations[result].as_ref().filter(|sum| target.starts_neutral(sum, *v));
                    added[result] = sum.map(|_| *v);
                    self.initial(op, *v, sum, &target.sharded)?
                }
                None => {
                    let own = self.of(*v);
                    let digits = nest.digits_of(dims, loops);
                    let keeps = own.digits == digits && keeps_layouts;
                    let inner = if nest.alike { alike } else { own.inner.filter(|_| keeps) };
                    let taken = Sharded { inner, ..own.spread(&digits) };
                    self.bring(*v, &taken, op)?
                }
            };
            ir::edit(op).set_operand(k, brought);
        }
        for (v, own) in results.iter().zip(&made) {
            let Some(MadeResult { sharded, .. }) = own else { continue };
            if let Some(t) = sharded.r#type() {
                ir::set_type(*v, t);
            }
            self.known(*v, sharded.clone());
        }
        set_sizes(op, nest, loops);
        set_indices(op, nest, loops, &self.exchanger(Builder::before(op)));
        // Insert all results before one operation, so that later results can use the conversions of earlier ones.
        let after = ir::next(op).expect("an operation that makes a tensor is not the last of its block");
        for (k, v) in results.into_iter().enumerate() {
            if let (Some(wanted), Some(own)) = (&wanted[k], &made[k]) {
                self.deliver((op, after), v, wanted, &own.combining, nest, (k, reductions[k], added[k]))?;
            }
        }
        Ok(())
    }

    /// Whether tensors that keep their digits keep their layouts, too. Only structured operations allow several layouts;
    /// for others all tensors must stay.
    fn keeps_layouts(&self, op: Op<'c>, nest: &LoopNest<'c>, loops: &Digits, wanted: &[Option<Sharded<'c>>]) -> bool {
        let stays = |own: &Sharded, dims| own.digits == nest.digits_of(dims, loops);
        let (operands, several) = (ir::operands(op), ir::indexing_maps(op).is_some());
        let mut taken = operands.iter().zip(&nest.operands);
        let mut results = wanted.iter().zip(&nest.results);
        several
            || taken.all(|(v, dims)| dims.as_ref().is_none_or(|dims| stays(self.of(*v), dims)))
                && results.all(|(own, dims)| own.as_ref().is_none_or(|own| stays(own, dims)))
    }

    /// The operand that an operation overwrites with a result: `v`, or the neutral element of a sum to which `v` is
    /// added later.
    fn initial(
        &mut self,
        op: Op<'c>,
        v: Val<'c>,
        sum: Option<&Combination<'c>>,
        target: &Sharded<'c>,
    ) -> Result<Val<'c>, Stop<'c>> {
        let Some(sum) = sum else { return self.bring(v, target, op) };
        let t = target.r#type().ok_or_else(|| not_partitioned(op))?;
        let start = filled(Builder::before(op), sum.neutral, t);
        Ok(self.known(start, target.clone()))
    }

    /// Combines the partial results, and converts them to the result's type.
    fn deliver(
        &mut self,
        (op, after): (Op<'c>, Op<'c>),
        v: Val<'c>,
        wanted: &Sharded<'c>,
        how: &Combining,
        nest: &LoopNest<'c>,
        (number, reduction, added): (usize, Option<Reduction>, Option<Val<'c>>),
    ) -> Result<(), Stop<'c>> {
        if self.of(v) == wanted && !how.is_needed() {
            return Ok(());
        }
        let uses = ir::uses(v);
        let b = Builder::before(after).located(op);
        let mut now = self.of(v).clone();
        let mut last = v;
        if let (Some(sum), Some(reduction)) = (&nest.combinations[number], reduction.filter(|_| how.is_needed())) {
            let exchanger = self.exchanger(b);
            match reduction {
                Reduction::Kind(kind) => {
                    for exchange in how.scatters() {
                        last = exchanger.cut(last, &now, &exchange, Some(kind));
                        exchange.axes.iter().for_each(|axis| now.digits[*axis] = how.digits[*axis]);
                    }
                    if !how.reduced.is_empty() {
                        last = exchanger.all_reduce(last, &how.reduced, kind);
                    }
                }
                Reduction::Gathered => last = along_first(b, sum, exchanger.stacked(last, &how.reduced)),
            }
            last = self.known(last, now.clone());
            if let Some(to) = added {
                let to = self.bring(to, &now, after)?;
                last = self.known(combined(b, sum, to, last), now);
            }
        }
        let last = self.bring(last, wanted, after)?;
        uses.into_iter().for_each(|(user, operand)| ir::edit(user).set_operand(operand, last));
        Ok(())
    }

    /// A tensor in the sharding and layout that an operation needs.
    fn bring(&mut self, v: Val<'c>, to: &Sharded<'c>, user: Op<'c>) -> Result<Val<'c>, Stop<'c>> {
        let own = self.of(v).clone();
        if own == *to {
            return Ok(v);
        }
        let at = place(v, user);
        let b = Builder::before(at).located(user);
        let home = (ir::key(v), block_key(at));
        let known = self.converted.get(&home).and_then(|all| all.iter().find(|known| known.0 == *to));
        if let Some((_, known)) = known {
            return Ok(*known);
        }
        if let Some(made) = MadeAgain::of(v).and_then(|made| made.make(b, to)) {
            return Ok(self.known(made, to.clone()));
        }
        let mut last = v;
        if own.digits != to.digits {
            if own.inner.is_some() {
                last = self.laid_out(b, last, own.plain());
            }
            let sizes = own.sizes.as_ref().ok_or_else(|| not_partitioned(user))?;
            let chain = chain(self.grid, sizes, &own.digits, &to.digits);
            if !chain.cuts.is_empty() {
                return Err(Stop::FurtherCuts(chain.cuts));
            }
            last = self.exchanger(b).run(last, &own, &to.digits, &chain);
            last = self.known(last, to.plain());
        }
        if self.of(last) != to {
            last = self.laid_out(b, last, to.clone());
        }
        self.converted.entry(home).or_default().push((to.clone(), last));
        Ok(last)
    }

    /// A process's part in another layout.
    fn laid_out(&mut self, b: Builder<'c>, v: Val<'c>, to: Sharded<'c>) -> Val<'c> {
        match to.r#type() {
            Some(t) => {
                let made = b.value("layout.convert", &[v], t, &[]);
                self.known(made, to)
            }
            None => v,
        }
    }

    /// The digits of earlier conversions of a value that an operation can use.
    fn known_elsewhere(&self, v: Val<'c>, user: Op<'c>) -> Vec<Digits> {
        let home = (ir::key(v), block_key(place(v, user)));
        self.converted.get(&home).into_iter().flatten().map(|known| known.0.digits.clone()).collect()
    }

    fn known(&mut self, v: Val<'c>, sharded: Sharded<'c>) -> Val<'c> {
        self.values.insert(ir::key(v), sharded);
        v
    }

    fn exchanger(&self, b: Builder<'c>) -> Exchanger<'g, 'c> {
        Exchanger { grid: self.grid, symbol: self.symbol, b }
    }
}

/// A result of an operation with some loops sharded.
struct MadeResult<'c> {
    sharded: Sharded<'c>,
    combining: Combining,
}

impl<'c> MadeResult<'c> {
    /// Whether partial sums start at the neutral element, and `v` is added after them.
    fn starts_neutral(&self, sum: &Combination<'c>, v: Val<'c>) -> bool {
        self.combining.is_needed() && !may_be_added_often(sum, v)
    }
}

/// The operation before which a value is converted: outside of bodies, and of loops that certainly run and do not
/// change it.
fn place<'c>(v: Val<'c>, user: Op<'c>) -> Op<'c> {
    let home = ir::defining_op(v).or_else(|| ir::block_argument(v).map(|argument| argument.0));
    let is_outside = |around: Op<'c>| {
        let within = |op| std::iter::successors(Some(op), |op| ir::parent(*op)).any(|op| op == around);
        home.is_some_and(|home| !within(home))
    };
    let mut at = user;
    while let Some(around) = ir::parent(at).filter(|around| is_outside(*around)) {
        let runs = ir::name(around) == "scf.for" && constant_trips(around).is_some_and(|trips| trips > 0);
        if !runs && is(ir::name(around), FORWARDS) {
            break;
        }
        at = around;
    }
    at
}

fn block_key(op: Op) -> usize {
    op.block().map_or(0, |block| block.to_raw().ptr as usize)
}

fn wrong<'c>(op: Op<'c>, message: String) -> Stop<'c> {
    Stop::Wrong(vec![Diagnostic::error(ir::location(op), message)])
}

fn not_partitioned<'c>(op: Op<'c>) -> Stop<'c> {
    let name = ir::name(op);
    wrong(
        op,
        format!(
            "`{name}` cannot be partitioned: its tensors must not be spread over processes; layout.convert to a type without \
             {PROCESS} gives each process a copy"
        ),
    )
}
