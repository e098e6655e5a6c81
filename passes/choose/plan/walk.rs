//! A module as a program: one match over all operations.
//!
//! A value is one array, wherever it goes. What a block is given is a merge of what comes there: the argument of a private
//! function of the operands of all calls, that of a loop of its start and of what the body yields. So calls are not put in,
//! and all of them agree on one layout.
//!
//! An operation that is not in the match is opaque: its operands and results have the types that they have.

use super::block_loops::{self, BlockLoops};
use super::loops::{self, Computed};
use super::steps::{ArrayId, Followed, StepArray, StepKind, Steps, Want, layout_in};
use super::structured::{self, Reading, Source, Stage};
use crate::analysis::execution_counts::ExecutionCounts;
use crate::analysis::functions::{called_only_functions, callee, symbol, terminators};
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::choose::indexing_analysis::{SiteOperand, reads, site};
use crate::pass::options::PlanEntry;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::{BlockRef, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::operations::{Array, Dim, Operation};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// The most times that an operation counts. What runs more often is as important as that, and costs stay in 64 bits.
const MOST_RUNS: u64 = 1 << 20;

/// The arrays that calls of a function pass and get.
#[derive(Clone, Default)]
struct Signature {
    arguments: Vec<Option<ArrayId>>,
    results: Vec<Option<ArrayId>>,
}

/// The walk over the operations of a module.
pub struct PlanWalk<'t, 'c> {
    pub steps: Steps<'c>,
    entry: PlanEntry,
    target: &'t Target,
    runs: ExecutionCounts,
    /// The functions whose arguments and results have the layouts that are best inside.
    called_only: HashMap<&'c str, Op<'c>>,
    functions: HashMap<&'c str, Signature>,
    /// The arrays that the operands of a block's terminator become, by the key of the terminator.
    given: HashMap<usize, Vec<(usize, ArrayId)>>,
    /// The functions that others call.
    called: HashSet<&'c str>,
    /// The keys of operations that are parts of others: a cast of a product, what is inside of a look-up.
    parts: HashSet<usize>,
    arguments: usize,
    results: usize,
    /// The results of functions that others call.
    ends: Vec<(Op<'c>, ArrayId)>,
}

/// The operations of a module, those of nested modules left out; each before what it holds.
pub fn operations_of(module: Op) -> Vec<Op> {
    let mut all = Vec::new();
    let mut stack = vec![module];
    while let Some(op) = stack.pop() {
        all.push(op);
        if ir::name(op) != "builtin.module" || op == module {
            for block in ir::blocks(op).into_iter().rev() {
                stack.extend(ir::operations(block).into_iter().rev());
            }
        }
    }
    all
}

/// Whether an operation is the first half of a reshape: dimensions become one, and others of it right after that.
fn is_part_of_reshape(op: Op) -> bool {
    let expands = |(user, _): &(Op, usize)| ir::name(*user) == "tensor.expand_shape";
    let users = || ir::uses(ir::result(op, 0));
    ir::name(op) == "tensor.collapse_shape" && !users().is_empty() && users().iter().all(expands)
}

impl<'t, 'c> PlanWalk<'t, 'c> {
    /// The steps of a module.
    ///
    /// # Errors
    /// An operation and what is wrong with it: an argument that has no default layout.
    pub fn of(
        module: Op<'c>,
        operations: &[Op<'c>],
        entry: PlanEntry,
        target: &'t Target,
    ) -> Result<Steps<'c>, (Op<'c>, Error)> {
        let all = ir::all_operations(module);
        let mut called_only = called_only_functions(&all);
        called_only.retain(|_, function| !ir::has_branches(*function));
        let mut walk = PlanWalk {
            steps: Steps::new(target.clone()),
            entry,
            target,
            runs: ExecutionCounts::of(&all),
            called_only,
            functions: HashMap::new(),
            given: HashMap::new(),
            parts: HashSet::new(),
            called: all.iter().filter_map(|op| callee(*op)).collect(),
            arguments: 0,
            results: 0,
            ends: Vec::new(),
        };
        // What nothing calls is dead, and stays as it is.
        let is_dead = |(name, _): &(&&str, &Op<'c>)| !walk.called.contains(**name);
        let dead: Vec<Op> = walk.called_only.iter().filter(is_dead).map(|(_, function)| *function).collect();
        let dead: HashSet<usize> = dead.into_iter().flat_map(ir::all_operations).map(ir::op_key).collect();
        let operations = || operations.iter().filter(|op| !dead.contains(&ir::op_key(**op)));
        for op in operations().filter(|op| ir::name(**op) == "func.func") {
            walk.function(*op).map_err(|error| (*op, error))?;
        }
        // Where blocks branch to each other everything stays as it is, apart from calls.
        let cut = operations().filter(|op| ir::has_branches(**op)).flat_map(|op| ir::all_operations(*op));
        let cut: HashSet<usize> = cut.map(ir::op_key).collect();
        let (inside, outside): (Vec<Op>, Vec<Op>) = operations().partition(|op| cut.contains(&ir::op_key(**op)));
        let (calls, others): (Vec<Op>, Vec<Op>) = inside.into_iter().partition(|op| ir::name(*op) == "func.call");
        calls.into_iter().for_each(|op| walk.call(op));
        others.into_iter().for_each(|op| walk.opaque(op));
        outside.into_iter().for_each(|op| walk.visit(op));
        walk.ends();
        let said = |array: &StepArray| array.fixed && layout_in(array.r#type).is_tiled();
        walk.steps.says_default = entry != PlanEntry::Fixed || walk.steps.arrays.iter().any(said);
        Ok(walk.steps)
    }

    fn times(&self, op: Op<'c>) -> i64 {
        self.runs.of_op(op).clamp(1, MOST_RUNS) as i64
    }

    /// An array that one operation makes of others.
    fn made(&mut self, op: Op<'c>, kind: StepKind, operands: Vec<ArrayId>, t: Type<'c>) -> Option<ArrayId> {
        let times = self.times(op);
        Some(self.steps.made(op, times, kind, operands, (t, self.steps.array_of(t)?)))
    }

    /// A merge, whose operands come later.
    fn merge(&mut self, op: Op<'c>, t: Type<'c>) -> Option<ArrayId> {
        self.made(op, StepKind::Merge, Vec::new(), t)
    }

    /// Gives an operand to a merge.
    fn join(&mut self, op: Op<'c>, operand: usize, merge: ArrayId) {
        let by = self.steps.arrays[merge].by;
        // What a loop passes on as it is needs no second operand.
        if let Some(own) = self.steps.array(ir::operands(op)[operand]).filter(|own| *own != merge) {
            self.steps.steps[by].operands.push(own);
        }
        self.steps.want(op, operand, Want::As(merge));
    }

    /// A function's arguments and results, before what is in it. Where calls need them, results are merges of what is
    /// returned.
    fn function(&mut self, op: Op<'c>) -> Result<(), Error> {
        let types = ir::attribute(op, "function_type").and_then(ir::type_in).and_then(ir::function);
        let (Some(name), Some((inputs, results))) = (symbol(op), types) else { return Ok(()) };
        let bodies = ir::blocks(op);
        let Some(entry) = bodies.first() else { return Ok(()) };
        let called_only = self.called_only.get(name) == Some(&op);
        let private = ir::attribute(op, "sym_visibility").and_then(ir::text) == Some("private");
        // The types of what is branched in or referred to stay, and those that the options do not give away.
        let kept = !called_only && (private || bodies.len() != 1 || self.entry == PlanEntry::Fixed);
        let mut signature = Signature::default();
        for (k, t) in inputs.iter().enumerate() {
            let kind = if called_only { StepKind::Merge } else { StepKind::Argument(self.arguments) };
            self.arguments += usize::from(!called_only);
            let array = self.end(op, kind, *t, called_only, kept)?;
            array.into_iter().for_each(|array| self.steps.place(ir::arguments(*entry)[k], array));
            signature.arguments.push(array);
        }
        let called = self.called.contains(name);
        for t in results {
            let kind = if called_only || called { StepKind::Merge } else { StepKind::Result(self.results) };
            self.results += usize::from(!called_only && !called);
            let array = self.end(op, kind, t, called_only, kept)?;
            self.ends.extend(array.filter(|_| !called_only && called).map(|array| (op, array)));
            signature.results.push(array);
        }
        self.functions.insert(name, signature);
        Ok(())
    }

    /// An argument or a result of a function.
    fn end(
        &mut self,
        op: Op<'c>,
        kind: StepKind,
        mut t: Type<'c>,
        called_only: bool,
        kept: bool,
    ) -> Result<Option<ArrayId>, Error> {
        let Some(array) = self.steps.array_of(t) else { return Ok(None) };
        let by_machine = !called_only && !kept && !self.steps.says_layout(t) && self.entry == PlanEntry::Machine;
        if by_machine {
            // It has one, and an order that the type says is in the layout of the array.
            self.target.default_layout(array.element, &array.sizes().unwrap_or_default())?;
            t = self.steps.with_layout(Builder::before(op).context(), t, &array.layout)?;
        }
        let made = self.steps.made(op, 1, kind, Vec::new(), (t, array));
        self.steps.arrays[made].fixed = kept || by_machine || self.steps.says_layout(t);
        Ok(Some(made))
    }

    /// The results of functions that are called from outside and inside.
    fn ends(&mut self) {
        for (op, made) in std::mem::take(&mut self.ends) {
            let own = &self.steps.arrays[made];
            let (t, array) = (own.r#type, own.array.clone());
            let result = self.steps.made(op, 1, StepKind::Result(self.results), vec![made], (t, array));
            self.results += 1;
            self.steps.arrays[result].fixed = self.steps.arrays[made].fixed;
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        let (operands, results) = (ir::operands(op), ir::results(op));
        match ir::name(op) {
            _ if self.parts.contains(&ir::op_key(op)) => {}
            "builtin.module" | "func.func" | "linalg.yield" | "tensor.yield" | "tensor.dim" => {}
            "tensor.extract" => self.steps.extracted.extend(self.steps.array(operands[0])),
            "func.return" => {
                let function = ir::parent(op).and_then(symbol).and_then(|name| self.functions.get(name)).cloned();
                let own = function.unwrap_or_default().results;
                own.iter().enumerate().for_each(|(k, result)| result.iter().for_each(|r| self.join(op, k, *r)));
            }
            "func.call" => self.call(op),
            "scf.yield" | "scf.condition" if self.given.contains_key(&ir::op_key(op)) => {
                let own = self.given.remove(&ir::op_key(op)).unwrap_or_default();
                own.into_iter().for_each(|(operand, merge)| self.join(op, operand, merge));
            }
            "scf.if" | "scf.index_switch" | "scf.execute_region" => self.branches(op, &results),
            "scf.for" => self.for_loop(op, &results),
            "scf.while" => self.while_loop(op, &operands, &results),
            "layout.convert" if self.plans(&operands[..1]) && self.plannable(&results) => {
                let source = self.steps.array(operands[0]).expect("it is planned");
                let is_free = |name: &str| ir::attribute(op, name).is_none();
                if ["keep", "async"].into_iter().all(is_free) && !self.steps.says_layout(results[0].r#type()) {
                    return self.steps.place(results[0], source);
                }
                let made = self.made(op, StepKind::Copy, vec![source], results[0].r#type());
                made.into_iter().for_each(|made| self.steps.place(results[0], made));
                if ir::attribute(op, "keep").is_some() {
                    made.into_iter().for_each(|made| self.steps.arrays[made].fixed = true);
                }
            }
            "tensor.empty" | "tensor.from_elements" if self.plannable(&results) => {
                self.cheap(op, Operation::Constant, Vec::new());
            }
            "arith.constant" if self.plannable(&results) && loops::is_movable(op) => {
                self.cheap(op, Operation::Constant, Vec::new());
            }
            "tensor.splat" if self.plannable(&results) => {
                let scalar = self.scalar(op, operands[0].r#type());
                self.cheap(op, Operation::Broadcast { dims: Vec::new() }, vec![scalar]);
            }
            "tensor.insert" | "tensor.cast" if self.plannable(&results) => {
                let of = usize::from(ir::name(op) == "tensor.insert");
                if self.plans(&operands[of..of + 1])
                    && let Some(made) = self.merge(op, results[0].r#type())
                {
                    self.join(op, of, made);
                    self.steps.place(results[0], made);
                } else {
                    self.opaque(op);
                }
            }
            _ if self.plannable(&results) && self.tensors_are_planned(&operands) => self.tensors(op, &operands),
            _ => self.opaque(op),
        }
    }

    /// An operation all of whose tensors are arrays.
    fn tensors(&mut self, op: Op<'c>, operands: &[Val<'c>]) {
        let result = ir::result(op, 0);
        match ir::name(op) {
            "linalg.softmax" => {
                let source = self.steps.array(operands[0]).into_iter().collect();
                let kind = StepKind::Operation(Operation::Elementwise);
                let Some(made) = self.made(op, kind, source, result.r#type()) else { return };
                self.steps.place(result, made);
                self.steps.want(op, 0, Want::As(made));
                self.steps.want(op, 1, Want::Filled(made));
            }
            "tensor.generate" => self.computed(op, Operation::Elementwise, Vec::new()),
            "tensor.collapse_shape" if is_part_of_reshape(op) => {
                self.unplanned(op, result);
            }
            "tensor.extract_slice"
            | "tensor.expand_shape"
            | "tensor.collapse_shape"
            | "tensor.pad"
            | "tensor.concat"
            | "tensor.insert_slice" => self.moved(op),
            name if is(name, ELEMENTWISE) => {
                let all = (0..operands.len()).map(SiteOperand::Own).collect();
                self.computed(op, Operation::Elementwise, all);
            }
            _ => match loops::computed(op, self.steps.has_places()) {
                Some(computed) => self.structured(op, computed),
                None => self.opaque(op),
            },
        }
    }

    /// Whether all these values may be arrays, and there is one.
    fn plannable(&self, values: &[Val<'c>]) -> bool {
        !values.is_empty() && values.iter().all(|v| self.steps.array_of(v.r#type()).is_some())
    }

    /// Whether all these values are arrays.
    fn plans(&self, values: &[Val<'c>]) -> bool {
        values.iter().all(|v| self.steps.array(*v).is_some())
    }

    /// Whether all tensors of some values are arrays.
    fn tensors_are_planned(&self, values: &[Val<'c>]) -> bool {
        values.iter().all(|v| self.steps.array(*v).is_some() || ir::tensor(v.r#type()).is_none())
    }

    /// A scalar, made for one use.
    fn scalar(&mut self, op: Op<'c>, t: Type<'c>) -> ArrayId {
        let times = self.times(op);
        self.steps.made(op, times, StepKind::Operation(Operation::Constant), Vec::new(), (t, loops::scalar_of(t)))
    }

    /// An operation that makes its result of nothing.
    fn cheap(&mut self, op: Op<'c>, operation: Operation, operands: Vec<ArrayId>) {
        let result = ir::result(op, 0);
        let Some(made) = self.made(op, StepKind::Operation(operation), operands, result.r#type()) else { return };
        self.steps.place(result, made);
        self.steps.arrays[made].cheap = true;
    }

    /// An operation whose operands are these, and that makes all its results.
    fn computed(&mut self, op: Op<'c>, operation: Operation, of: Vec<SiteOperand>) {
        let (operands, results) = (ir::operands(op), ir::results(op));
        let mut taken = Vec::with_capacity(of.len());
        for operand in &of {
            let own = match operand {
                SiteOperand::Own(k) => self.steps.array(operands[*k]),
                _ => None,
            };
            let t = if let SiteOperand::Own(k) = operand { operands[*k].r#type() } else { results[0].r#type() };
            taken.push(own.unwrap_or_else(|| self.scalar(op, t)));
        }
        let types: Vec<_> =
            results.iter().filter_map(|v| Some((v.r#type(), self.steps.array_of(v.r#type())?))).collect();
        let times = self.times(op);
        let step = self.steps.step(op, times, StepKind::Operation(operation), taken, &types);
        for (position, operand) in of.iter().enumerate() {
            if let SiteOperand::Own(k) = operand
                && self.steps.array(operands[*k]).is_some()
            {
                self.steps.want(op, *k, Want::Taken(step, position));
            }
        }
        let made = self.steps.steps[step].results.clone();
        results.iter().zip(made).for_each(|(v, made)| self.steps.place(*v, made));
    }

    /// A slice, a reshape, padding, a concatenation, an insertion.
    fn moved(&mut self, op: Op<'c>) {
        let collapse = ir::defining_op(ir::operands(op)[0]).filter(|by| is_part_of_reshape(*by));
        if let Some(collapse) = collapse.filter(|_| ir::name(op) == "tensor.expand_shape")
            && let Some(source) = self.steps.array(ir::operands(collapse)[0])
            && let Some(made) =
                self.made(op, StepKind::Operation(Operation::Reshape), vec![source], ir::result(op, 0).r#type())
        {
            self.steps.want(collapse, 0, Want::Taken(self.steps.arrays[made].by, 0));
            return self.steps.place(ir::result(op, 0), made);
        }
        let inserts = ir::name(op) == "tensor.insert_slice";
        let result = ir::result(op, 0);
        match loops::slice(op).or_else(|| site(op).map(|site| (site.operation, site.operands))) {
            Some((Operation::Other { .. }, _)) | None if inserts => {
                // The source is read as it is.
                let Some(made) = self.merge(op, result.r#type()) else { return };
                self.join(op, 1, made);
                self.steps.place(result, made);
            }
            Some((Operation::Other { .. }, _)) | None => self.opaque(op),
            Some((Operation::InsertSlice { starts, strides }, of)) if self.is_cheap(ir::operands(op)[1]) => {
                let (source, whole) = (ir::operands(op)[0].r#type(), result.r#type());
                let sizes = |t: Type<'c>| self.steps.array_of(t).and_then(|array| array.sizes()).unwrap_or_default();
                let ends =
                    starts.iter().zip(&strides).zip(sizes(source)).map(|((start, step), n)| start + (n - 1) * step + 1);
                let high = sizes(whole).into_iter().zip(ends).map(|(size, end)| size - end).collect();
                let interior = strides.iter().map(|step| step - 1).collect();
                self.computed(op, Operation::Pad { low: starts, high, interior }, vec![of[1], SiteOperand::Given]);
                self.steps.array(result).into_iter().for_each(|made| self.steps.want(op, 1, Want::As(made)));
            }
            Some((operation, of)) => {
                let of = match &operation {
                    // Only the first operand is an array.
                    Operation::Loops(loops) => of.into_iter().take(loops.operands.len().min(1)).collect(),
                    _ => of,
                };
                let is_dynamic = matches!(operation, Operation::DynamicSlice { .. } | Operation::DynamicUpdateSlice);
                self.computed(op, loops::without_offsets(operation), of);
                if is_dynamic && let Some(made) = self.steps.array(result) {
                    let (starts, by) = (self.starts(op, 1 + usize::from(inserts)), self.steps.arrays[made].by);
                    self.steps.steps[by].operands.extend(starts);
                }
                if inserts && let Some(made) = self.steps.array(result) {
                    let own = self.steps.wants.entry(ir::op_key(op)).or_default();
                    own.retain(|(operand, _)| *operand != 1);
                    own.push((1, Want::As(made)));
                }
            }
        }
    }

    /// Whether a value is made again in each layout that is wanted.
    fn is_cheap(&self, v: Val<'c>) -> bool {
        self.steps.array(v).is_some_and(|array| self.steps.arrays[array].cheap)
    }

    /// A structured operation.
    fn structured(&mut self, op: Op<'c>, computed: Computed<'c>) {
        let (operands, results) = (ir::operands(op), ir::results(op));
        let inputs = operands.len() - results.len();
        match computed {
            Computed::Fill => {
                let scalar = self.scalar(op, operands[0].r#type());
                self.cheap(op, Operation::Broadcast { dims: Vec::new() }, vec![scalar]);
            }
            Computed::Loops(loops, read) => {
                self.computed(op, Operation::Loops(Box::new(loops)), read.into_iter().map(SiteOperand::Own).collect());
            }
            Computed::Read(reading) => self.read(op, reading),
        }
        for (k, result) in results.iter().enumerate() {
            let Some(made) = self.steps.array(*result) else { continue };
            let own = self.steps.wants.entry(ir::op_key(op)).or_default();
            own.retain(|(operand, _)| *operand != inputs + k);
            let want = if reads(op, inputs + k) { Want::As(made) } else { Want::Filled(made) };
            own.push((inputs + k, want));
        }
    }

    /// The operations of HLO that a structured one is, and what is added to them that its results begin with.
    fn read(&mut self, op: Op<'c>, reading: Reading<'c>) {
        let data = reading.lookup.map(|lookup| self.steps.array(ir::operands(lookup)[0]));
        if data == Some(None) {
            return self.opaque(op);
        }
        let cast = self.cast_of(op, &reading);
        let mut made: Vec<Vec<ArrayId>> = Vec::with_capacity(reading.stages.len());
        for stage in reading.stages {
            let all = self.stage(op, stage, &made, (reading.lookup, cast));
            made.push(all);
        }
        for (result, (source, start)) in ir::results(op).into_iter().zip(reading.results) {
            let array = match source {
                Source::Stage(stage) => made[stage][0],
                Source::Part(stage, k) => made[stage][k],
                _ => continue,
            };
            let start = start.and_then(|k| self.steps.array(ir::operands(op)[k]));
            let array = match start.filter(|start| !self.steps.arrays[*start].cheap) {
                Some(start) => {
                    let whole = (result.r#type(), self.steps.arrays[array].array.clone());
                    let kind = StepKind::Operation(Operation::Elementwise);
                    self.steps.made(op, self.times(op), kind, vec![array, start], whole)
                }
                None => array,
            };
            let whole = cast.map_or(result, |cast| ir::result(cast, 0));
            let layout = self.steps.layout_of(whole.r#type());
            let own = &mut self.steps.arrays[array];
            (own.r#type, own.array.layout) = (whole.r#type(), layout);
            self.steps.place(whole, array);
            let Some(cast) = cast else { continue };
            let Some(wide) = self.unplanned(op, result) else { continue };
            self.steps.follows.insert(wide, Followed::Made(array));
            self.steps.want(cast, 0, Want::As(wide));
            self.steps.want(cast, 1, Want::Filled(array));
            self.parts.insert(ir::op_key(cast));
        }
    }

    /// The arrays that a stage of a structured operation makes, given those of the stages before it, the look-up of the body,
    /// and the cast of its result.
    fn stage(
        &mut self,
        op: Op<'c>,
        stage: Stage,
        made: &[Vec<ArrayId>],
        (lookup, cast): (Option<Op<'c>>, Option<Op<'c>>),
    ) -> Vec<ArrayId> {
        let (operands, t) = (ir::operands(op), ir::result(op, 0).r#type());
        let inputs = operands.len() - ir::results(op).len();
        let Stage { operation, sources, sizes, like } = stage;
        let mut taken = Vec::with_capacity(sources.len());
        for source in &sources {
            let known = match *source {
                Source::Stage(stage) => Some(made[stage][0]),
                Source::Part(stage, k) => Some(made[stage][k]),
                Source::Operand(k) => self.steps.array(operands[k]),
                Source::Unpadded(k) => {
                    ir::defining_op(operands[k]).and_then(|pad| self.steps.array(ir::operands(pad)[0]))
                }
                Source::Data => lookup.and_then(|lookup| self.steps.array(ir::operands(lookup)[0])),
                Source::Scalar(_) => None,
            };
            let (Source::Operand(k) | Source::Unpadded(k) | Source::Scalar(k)) = *source else {
                taken.extend(known);
                continue;
            };
            taken.push(known.unwrap_or_else(|| self.scalar(op, operands[k].r#type())));
        }
        let dims: Vec<Dim> = sizes.iter().map(|size| Dim::Exact(*size)).collect();
        let array = |like: usize| {
            let like = cast.filter(|_| like >= inputs).map_or(operands[like], |cast| ir::result(cast, 0));
            let (dims, layout) = (dims.clone(), Layout::row_major(sizes.len()));
            (t, Array { dims, layout, ..loops::scalar_of(like.r#type()) })
        };
        let arrays: Vec<_> = like.into_iter().map(array).collect();
        let step = self.steps.step(op, self.times(op), StepKind::Operation(operation), taken, &arrays);
        for (position, source) in sources.into_iter().enumerate() {
            self.want_source(op, source, lookup, (step, position));
        }
        self.steps.steps[step].results.clone()
    }

    /// Says that a step takes a source of a structured operation.
    fn want_source(&mut self, op: Op<'c>, source: Source, lookup: Option<Op<'c>>, (step, position): (usize, usize)) {
        let (operands, want) = (ir::operands(op), Want::Taken(step, position));
        match source {
            Source::Operand(k) if self.steps.array(operands[k]).is_some() => self.steps.want(op, k, want),
            Source::Data => lookup.into_iter().for_each(|lookup| self.steps.want(lookup, 0, want)),
            Source::Unpadded(k) => {
                let (pad, padded) = (ir::defining_op(operands[k]), self.steps.array(operands[k]));
                let Some((pad, padded)) = pad.zip(padded) else { return };
                self.steps.follows.insert(padded, Followed::Taken(step, position));
                let wants = self.steps.wants.entry(ir::op_key(pad)).or_default();
                wants.retain(|(operand, _)| *operand != 0);
                wants.push((0, want));
                self.steps.want(op, k, Want::As(padded));
            }
            _ => {}
        }
    }

    /// Gives a value an array that is nothing to the plan: no step takes it.
    fn unplanned(&mut self, op: Op<'c>, v: Val<'c>) -> Option<ArrayId> {
        let made = self.made(op, StepKind::Operation(Operation::Constant), Vec::new(), v.r#type())?;
        self.steps.place(v, made);
        Some(made)
    }

    /// The cast of a product to another type, where nothing else takes the product: it is made in that type, as in HLO.
    fn cast_of(&self, op: Op<'c>, reading: &Reading<'c>) -> Option<Op<'c>> {
        let [(Source::Stage(_), Some(start))] = reading.results[..] else { return None };
        let is_product = |own: &Stage| matches!(own.operation, Operation::Dot { .. } | Operation::Convolution(_));
        if !reading.stages.iter().any(is_product) {
            return None;
        }
        let [(user, 0)] = ir::uses(ir::result(op, 0))[..] else { return None };
        let starts_cheap = self.steps.array(ir::operands(op)[start]).is_none_or(|own| self.steps.arrays[own].cheap);
        let planned = self.plannable(&ir::results(user)) && !self.steps.has_places();
        if ir::parent(user) != ir::parent(op) {
            return None;
        }
        (starts_cheap && planned && structured::is_cast(user)).then_some(user)
    }

    fn call(&mut self, op: Op<'c>) {
        let Some(signature) = callee(op).and_then(|name| self.functions.get(name)).cloned() else {
            return self.opaque(op);
        };
        for (k, argument) in signature.arguments.into_iter().enumerate() {
            match argument {
                Some(argument) if matches!(self.kind_of(argument), StepKind::Merge) => self.join(op, k, argument),
                Some(argument) => self.steps.want(op, k, Want::As(argument)),
                None => {}
            }
        }
        for (result, made) in ir::results(op).into_iter().zip(signature.results) {
            made.into_iter().for_each(|made| self.steps.place(result, made));
        }
    }

    fn kind_of(&self, array: ArrayId) -> &StepKind {
        &self.steps.steps[self.steps.arrays[array].by].kind
    }

    /// Merges for these types, which are values, and are given by operands of the ends of these blocks, from one on.
    fn merges(&mut self, op: Op<'c>, types: &[Val<'c>], values: &[&[Val<'c>]], ends: &[(Op<'c>, usize)]) {
        for (k, of) in types.iter().enumerate() {
            let Some(merge) = self.merge(op, of.r#type()) else { continue };
            for values in values {
                self.steps.place(values[k], merge);
            }
            for (end, first) in ends {
                self.given.entry(ir::op_key(*end)).or_default().push((first + k, merge));
            }
        }
    }

    fn branches(&mut self, op: Op<'c>, results: &[Val<'c>]) {
        let ends: Vec<_> = terminators(op).map(|end| (end, 0)).collect();
        self.merges(op, results, &[results], &ends);
    }

    /// The arrays of whose elements the operands of an operation are made, from one on.
    fn starts(&self, op: Op<'c>, first: usize) -> Vec<ArrayId> {
        let (mut arrays, mut open, mut seen) = (Vec::new(), ir::operands(op).split_off(first), HashSet::new());
        open.reverse();
        while let Some(v) = open.pop() {
            match ir::defining_op(v).filter(|by| seen.insert(ir::op_key(*by))) {
                Some(by) if ir::name(by) == "tensor.extract" => arrays.extend(self.steps.array(ir::operands(by)[0])),
                Some(by) if ir::blocks(by).is_empty() => open.extend(ir::operands(by)),
                _ => {}
            }
        }
        arrays
    }

    /// Joins the operands of an operation, from one on, to the merges of these values.
    fn begin(&mut self, op: Op<'c>, first: usize, values: &[Val<'c>]) {
        for (k, v) in values.iter().enumerate() {
            if let Some(merge) = self.steps.array(*v) {
                self.join(op, first + k, merge);
            }
        }
    }

    fn for_loop(&mut self, op: Op<'c>, results: &[Val<'c>]) {
        if let Some(blocks) = block_loops::read(op).filter(|_| self.plannable(results) && !self.steps.has_places())
            && let Some(taken) = blocks.operands.iter().map(|(v, _)| self.steps.array(*v)).collect()
        {
            return self.look_up(op, blocks, taken);
        }
        let (Some(body), Some(end)) = (ir::blocks(op).first().copied(), terminators(op).next()) else { return };
        let arguments = ir::arguments(body);
        self.merges(op, results, &[results, &arguments[1..]], &[(end, 0)]);
        self.begin(op, 3, results);
    }

    /// A nest of loops that is a gather or a scatter of these arrays.
    fn look_up(&mut self, op: Op<'c>, blocks: BlockLoops<'c>, taken: Vec<ArrayId>) {
        let results = ir::results(op);
        let types: Vec<_> =
            results.iter().filter_map(|v| Some((v.r#type(), self.steps.array_of(v.r#type())?))).collect();
        let times = self.times(op);
        let step = self.steps.step(op, times, StepKind::Operation(blocks.operation), taken, &types);
        for (k, made) in self.steps.steps[step].results.clone().into_iter().enumerate() {
            blocks.carried[k].iter().chain([&results[k]]).for_each(|v| self.steps.place(*v, made));
            // A gather writes all elements.
            self.steps.want(op, 3 + k, if blocks.block.is_some() { Want::Filled(made) } else { Want::As(made) });
        }
        for (position, (_, reads)) in blocks.operands.iter().enumerate() {
            for (reader, operand) in reads {
                self.steps.want(*reader, *operand, Want::Taken(step, position));
            }
        }
        blocks.block.and_then(|block| self.unplanned(op, block));
        self.parts.extend(ir::all_operations(op).into_iter().skip(1).map(ir::op_key));
    }

    fn while_loop(&mut self, op: Op<'c>, operands: &[Val<'c>], results: &[Val<'c>]) {
        let (blocks, ends): (Vec<BlockRef>, Vec<Op<'c>>) = (ir::blocks(op), terminators(op).collect());
        let ([before, after], [condition, end]) = (&blocks[..], &ends[..]) else { return self.opaque(op) };
        self.merges(op, operands, &[&ir::arguments(*before)], &[(*end, 0)]);
        self.merges(op, results, &[results, &ir::arguments(*after)], &[(*condition, 1)]);
        self.begin(op, 0, &ir::arguments(*before));
    }

    /// An operation of which nothing is known: everything at it has the type that it has.
    fn opaque(&mut self, op: Op<'c>) {
        let (operands, results) = (ir::operands(op), ir::results(op));
        let times = self.times(op);
        let mut taken = Vec::new();
        for (k, v) in operands.iter().enumerate() {
            let (Some(own), t) = (self.steps.array(*v), v.r#type()) else { continue };
            let Some(array) = self.steps.array_of(t) else { continue };
            let pinned = self.steps.made(op, times, StepKind::Copy, vec![own], (t, array));
            self.steps.arrays[pinned].fixed = true;
            self.steps.want(op, k, Want::Kept(t));
            taken.push(pinned);
        }
        let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
        let made: Vec<_> = results.into_iter().chain(arguments).filter(|v| self.steps.array(*v).is_none()).collect();
        let made: Vec<_> = made.into_iter().filter_map(|v| Some((v, self.steps.array_of(v.r#type())?))).collect();
        if taken.is_empty() && made.is_empty() {
            return;
        }
        let types: Vec<_> = made.iter().map(|(v, array)| (v.r#type(), array.clone())).collect();
        let step = self.steps.step(op, times, StepKind::Opaque, taken, &types);
        for ((v, _), array) in made.iter().zip(self.steps.steps[step].results.clone()) {
            self.steps.place(*v, array);
            self.steps.arrays[array].fixed = true;
        }
    }
}
