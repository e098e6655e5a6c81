//! The ways to lay out the arrays of an operation: its candidates in the plan.
//!
//! An operation that streams has a way for each layout of the widest of its arrays, and the other arrays follow: a
//! reduction of `{2,0,1}` over dimension 2 makes `{0,1}`, without a relayout. A reshape has a way for each two layouts
//! between which it moves nothing, and a few in which it moves. Products, convolutions and what looks elements up have the
//! ways that the target wants.

use super::build_steps::BuildSteps;
use super::canonical::CanonicalOrder;
use super::classes::{LayoutClasses, LayoutId};
use super::labels::{Labels, order_of_dimensions, order_of_loops};
use super::program::{Instance, InstanceKind, Program};
use super::reshapes::{ReshapeForms, reshaped};
use super::space_to_batch::{self, Port, SpaceToBatch};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::Array;
use tensor_layout::targets::{LoopProduct, Target};
use tensor_layout::text::Error;
use tensor_layout::tiled::layout::Layout;

/// Layouts of the operands and results of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The layouts of the operands; `None` where the operand is taken in the best of the layouts of its [`Port`].
    pub operands: Vec<Option<LayoutId>>,
    /// The layouts of the results.
    pub results: Vec<LayoutId>,
    /// Where the result lies, of an operation that gives another name to an array.
    pub home: Option<AliasOf>,
    /// Whether there is no relayout before it, or none after it.
    pub tied: Option<Tied>,
}

/// A side of an operation on which no relayout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tied {
    /// The operand is taken as it is made.
    Operand,
    /// The result is taken as it is made.
    Result,
}

/// The origin of an array, beside its layout, for the operations that take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MadeIn {
    /// Where it lies; `None` where the program says that.
    pub home: Option<AliasOf>,
    /// Whether it must be taken as it is made.
    pub tied: bool,
}

/// The buffer that an array is in: that of another array, if it is only another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AliasOf {
    /// Where arrays of kernels are.
    Near,
    /// Where an argument of the program is, as whose part or whole it has another name.
    Argument,
    /// Where a result of the program is.
    Result,
}

impl Way {
    fn new(operands: Vec<Option<LayoutId>>, results: Vec<LayoutId>) -> Way {
        Way { operands, results, home: None, tied: None }
    }

    /// The origin of the result, for the operations that take it.
    pub fn origin(&self) -> MadeIn {
        MadeIn { home: self.home, tied: self.tied == Some(Tied::Result) }
    }
}

/// The classes of a program's arrays, and the ways of its instances.
pub struct Choices<'t> {
    /// The layouts.
    pub classes: LayoutClasses<'t>,
    /// The class of each array of the program.
    pub class: Vec<usize>,
    /// The ways of each instance; never empty.
    pub ways: Vec<Rc<Vec<Way>>>,
    /// The layouts in which each instance takes an operand that its ways leave open.
    pub ports: Vec<Rc<Vec<Port>>>,
    /// For each array the layout that the program gives it.
    pub given: Vec<LayoutId>,
    /// The layouts in which reshapes are made.
    pub forms: ReshapeForms,
}

/// The ways of an operation, and its ports.
type ListedWays = (Rc<Vec<Way>>, Rc<Vec<Port>>);

/// The layouts that arguments or results of a program may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryLayouts {
    /// The layouts that the program gives.
    Fixed,
    /// The target's default layouts.
    #[default]
    Default,
    /// Any.
    Free,
}

/// The most ways of an operation that makes its results in any layouts.
const MOST_OPEN: usize = 256;

/// An operation and the classes of its operands and results, and the given layouts where they matter.
type WayKey = (String, Vec<usize>, Vec<usize>, Vec<LayoutId>);

impl<'t> Choices<'t> {
    /// The choices of a program.
    ///
    /// # Errors
    /// A size is not bounded, or bytes do not fit in 64 bits, or the time is over: which instance, and what is wrong with it.
    pub fn new(
        program: &Program,
        order: &CanonicalOrder,
        mut classes: LayoutClasses<'t>,
        entry: EntryLayouts,
        steps: &mut BuildSteps,
    ) -> Result<Choices<'t>, (usize, Error)> {
        let at = |k: usize| move |error: Error| (k, error);
        let (mut class, mut given) = (vec![0; program.made.len()], vec![0; program.made.len()]);
        for number in order.instances.iter().flat_map(|k| &program.instances[*k].results) {
            let made = &program.made[*number];
            steps.step().map_err(at(made.by))?;
            let own = classes.of(made.array).map_err(at(made.by))?;
            class[*number] = own;
            let layout = made.said.as_deref().unwrap_or(&made.array.layout);
            given[*number] = match made.fixed {
                true => classes.fixed(own, layout).map_err(at(made.by))?,
                false => classes.given(own, layout).unwrap_or(0),
            };
        }
        for k in order.working() {
            let Instance { kind, operands, results, .. } = &program.instances[k];
            if let (InstanceKind::Operation(Operation::Convolution(own)), [input, ..], [output, ..]) =
                (kind, &operands[..], &results[..])
            {
                space_to_batch::offer(&mut classes, own, class[*input], class[*output]);
            }
        }
        let forms = ReshapeForms::new(program, order, &mut classes, &class);
        let known = FxHashMap::default();
        let mut maker = Maker { program, class: &class, given: &given, entry, classes, forms: &forms, known };
        maker.propagate(order);
        let count = program.instances.len();
        let (mut ways, mut ports) = (vec![Rc::default(); count], vec![Rc::default(); count]);
        // What operations are offered is in the lists of those that come later.
        for k in order.instances.iter().copied() {
            steps.step().map_err(at(k))?;
            (ways[k], ports[k]) = maker.ways(&program.instances[k]).map_err(at(k))?;
        }
        let classes = maker.classes;
        Ok(Choices { classes, class, ways, ports, given, forms })
    }
}

struct Maker<'a, 't> {
    program: &'a Program<'a>,
    class: &'a [usize],
    given: &'a [LayoutId],
    entry: EntryLayouts,
    classes: LayoutClasses<'t>,
    forms: &'a ReshapeForms,
    known: FxHashMap<WayKey, ListedWays>,
}

impl Maker<'_, '_> {
    fn arrays(&self, numbers: &[usize]) -> Vec<&Array> {
        numbers.iter().map(|number| self.program.made[*number].array).collect()
    }

    fn classes_of(&self, numbers: &[usize]) -> Vec<usize> {
        numbers.iter().map(|number| self.class[*number]).collect()
    }

    /// Carries the orders of arrays of many dimensions through operations, forwards and backwards.
    fn propagate(&mut self, order: &CanonicalOrder) {
        let program = self.program;
        let wide = |instance: &Instance| {
            let mut all = instance.operands.iter().chain(&instance.results);
            all.any(|number| program.made[*number].array.dims.len() > Target::ALL_ORDERS)
        };
        let all = order.working().map(|k| &program.instances[k]);
        let chosen: Vec<&Instance> = all.filter(|instance| wide(instance)).collect();
        // What the machine prefers is in the lists before other orders fill them. An error comes again with the ways.
        for instance in &chosen {
            if let InstanceKind::Operation(operation) = instance.kind {
                let [from, to] = [&instance.operands, &instance.results].map(|numbers| self.classes_of(numbers));
                let _ = self.wanted(operation, instance, &from, &to);
            }
        }
        let mut seen = FxHashSet::default();
        for instance in chosen.iter().chain(chosen.iter().rev()) {
            let InstanceKind::Operation(operation) = instance.kind else { continue };
            let [from, to] = [&instance.operands, &instance.results].map(|numbers| self.classes_of(numbers));
            // The lists may have grown since an equal operation was seen.
            let sizes: Vec<usize> = from.iter().chain(&to).map(|c| self.classes.all[*c].layouts.len()).collect();
            if seen.insert((format!("{operation:?}"), from.clone(), to.clone(), sizes)) {
                self.carry(operation, instance, &from, &to);
            }
        }
    }

    /// Offers to each array of an operation the orders that go with those of its neighbours.
    fn carry(&mut self, operation: &Operation, instance: &Instance, from: &[usize], to: &[usize]) {
        let orders = |classes: &LayoutClasses, class: usize| {
            classes.all[class].layouts.iter().map(|layout| layout.minor_to_major.clone()).collect::<Vec<_>>()
        };
        if let (Operation::Reshape, [a], [b]) = (operation, from, to) {
            for (a, b) in [(*a, *b), (*b, *a)] {
                let sizes = [a, b].map(|class| self.classes.all[class].sizes.clone());
                for order in orders(&self.classes, a) {
                    if let Some(order) = reshaped(&order, &sizes[0], &sizes[1]) {
                        self.classes.offer(b, &order);
                    }
                }
            }
            return;
        }
        let (operands, results) = (self.arrays(&instance.operands), self.arrays(&instance.results));
        let Some(labels) = Labels::new(operation, &operands, &results) else { return };
        let all: Vec<(usize, &Vec<usize>)> =
            from.iter().copied().zip(&labels.operands).chain(to.iter().copied().zip(&labels.results)).collect();
        for (class, own) in &all {
            for order in orders(&self.classes, *class) {
                let loops = order_of_loops(own, &order);
                for (other, labels) in all.iter().filter(|(_, labels)| labels.len() > 4) {
                    if labels.iter().all(|label| loops.contains(label)) {
                        self.classes.offer(*other, &order_of_dimensions(labels, &loops));
                    }
                }
            }
        }
    }

    /// The ways of an instance.
    fn ways(&mut self, instance: &Instance) -> Result<ListedWays, Error> {
        let [from, to] = [&instance.operands, &instance.results].map(|numbers| self.classes_of(numbers));
        let given_to = |numbers: &[usize]| numbers.iter().map(|number| self.given[*number]).collect::<Vec<_>>();
        let mut given = Vec::new();
        let fixed = self.program.fixed_layouts(instance);
        let all = fixed.is_some_and(|fixed| fixed.results);
        let kept = |made: &usize| (all || self.program.made[*made].fixed).then(|| self.given[*made]);
        let kept: Vec<Option<LayoutId>> = instance.results.iter().map(kept).collect();
        let taken = self.taken(instance, &from);
        let has_kept = kept.iter().chain(&taken).any(Option::is_some);
        let by_text =
            |own: &Operation| matches!(own, Operation::Bitcast | Operation::Reshape | Operation::Other { .. });
        let fixed_by_text = match instance.kind {
            InstanceKind::Operation(operation) => by_text(operation),
            kind => kind == InstanceKind::Opaque,
        };
        if fixed_by_text || matches!(instance.kind, InstanceKind::Argument(..) | InstanceKind::Result(_)) {
            given = [given_to(&instance.operands), given_to(&instance.results)].concat();
        }
        let mut part = match instance.kind {
            InstanceKind::Operation(operation) => format!("{operation:?}"),
            InstanceKind::Argument(..) => "argument".to_string(),
            InstanceKind::Merge => format!("merge {}", self.is_carried(instance)),
            InstanceKind::Copy => "copy".to_string(),
            InstanceKind::Opaque => "opaque".to_string(),
            InstanceKind::Result(_) => "result".to_string(),
        };
        if has_kept || fixed.is_some() {
            part += &format!(" {kept:?} {fixed:?}");
        }
        let key = (part, from, to, given);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let mut ways = self.listed(instance, &key)?;
        if has_kept {
            keep(&mut ways, &kept);
            for way in &mut ways {
                way.operands.iter_mut().zip(&taken).for_each(|(own, taken)| *own = taken.or(*own));
            }
        }
        let mut seen = FxHashSet::default();
        ways.retain(|way| seen.insert(way.clone()));
        if ways.is_empty() {
            ways.push(Way::new(key.1.iter().map(|_| Some(0)).collect(), vec![0; key.2.len()]));
        }
        let listed = (Rc::new(ways), Rc::new(self.ports(instance, &key.1, &key.2)));
        self.known.insert(key, listed.clone());
        Ok(listed)
    }

    /// The fixed layouts of the operands of an instance.
    fn taken(&mut self, instance: &Instance, from: &[usize]) -> Vec<Option<LayoutId>> {
        // Those of a merge are the arrays of its node, but not in their order.
        let fixed = self.program.fixed_layouts(instance).filter(|_| instance.kind != InstanceKind::Merge);
        let Some(fixed) = fixed else { return Vec::new() };
        let mut taken = Vec::new();
        for (class, layout) in from.iter().zip(&fixed.operands) {
            taken.push(layout.as_ref().and_then(|layout| self.classes.given(*class, layout)));
        }
        taken
    }

    fn listed(&mut self, instance: &Instance, (_, from, to, given): &WayKey) -> Result<Vec<Way>, Error> {
        let ids = |classes: &LayoutClasses, class: usize| 0..classes.all[class].layouts.len() as LayoutId;
        let same = |id: LayoutId| Way::new(vec![Some(id); from.len()], vec![id; to.len()]);
        let class = to.first().or(from.first()).copied();
        match instance.kind {
            InstanceKind::Argument(..) | InstanceKind::Result(_) => Ok(match (self.entry, class) {
                (EntryLayouts::Fixed, _) => vec![same(given[given.len() - 1])],
                (EntryLayouts::Free, Some(class)) => ids(&self.classes, class).map(same).collect(),
                _ => vec![same(0)],
            }),
            InstanceKind::Merge => {
                let Some(class) = class else { return Ok(Vec::new()) };
                // What a loop carries is there as long as the loop is.
                let may = |id: &LayoutId| !self.is_carried(instance) || self.is_dense(class, *id);
                Ok(ids(&self.classes, class).filter(may).map(same).collect())
            }
            // The elements of a constant are written down in any order.
            InstanceKind::Copy | InstanceKind::Operation(Operation::Constant) => {
                Ok(class.into_iter().flat_map(|class| ids(&self.classes, class)).map(same).collect())
            }
            InstanceKind::Operation(Operation::Bitcast) | InstanceKind::Opaque => {
                let (operands, results) = given.split_at(from.len());
                Ok(vec![Way::new(operands.iter().map(|id| Some(*id)).collect(), results.to_vec())])
            }
            InstanceKind::Operation(Operation::Reshape) => Ok(self.reshapes(from[0], to[0], [given[0], given[1]])),
            InstanceKind::Operation(operation) => self.computed(operation, instance, from, to),
        }
    }

    /// The ways of an operation that computes something.
    fn computed(
        &mut self,
        operation: &Operation,
        instance: &Instance,
        from: &[usize],
        to: &[usize],
    ) -> Result<Vec<Way>, Error> {
        let open = |id| Way::new(vec![None; from.len()], vec![id]);
        let wanted = match operation {
            Operation::Dot { .. } if is_loop(self.classes.target, operation, &self.arrays(&instance.operands)) => {
                Vec::new()
            }
            Operation::Dot { lhs_batch, .. } if !self.classes.target.has_tiles() => {
                // Batch dimensions come first.
                let batch: Vec<usize> = (0..lhs_batch.len()).collect();
                return Ok(self.outside(to[0], &batch).into_iter().map(open).collect());
            }
            Operation::Convolution(convolution) if SpaceToBatch(&self.classes).cuts(convolution, from[0]) => {
                let [_, results] = SpaceToBatch(&self.classes).ports(convolution, from[0], to[0]);
                return Ok(results.into_iter().map(open).collect());
            }
            Operation::Other { .. } => return Ok(self.open(instance, from, to)),
            _ => self.wanted(operation, instance, from, to)?,
        };
        Ok(if wanted.is_empty() { self.streamed(operation, instance, from, to) } else { wanted })
    }

    /// The ways of an operation that streams, where it does.
    fn streamed(&mut self, operation: &Operation, instance: &Instance, from: &[usize], to: &[usize]) -> Vec<Way> {
        let (operands, results) = (self.arrays(&instance.operands), self.arrays(&instance.results));
        let streams = |labels: &Labels| labels.streams || is_loop(self.classes.target, operation, &operands);
        let labels = Labels::new(operation, &operands, &results).filter(streams);
        match labels.and_then(|labels| Some((labels.widest()?, labels))) {
            Some((widest, labels)) => self.streams(widest, &labels, from, to),
            None => self.apart(from, to),
        }
    }

    /// A way for each layout of the widest array.
    fn streams(&mut self, (of_result, k): (bool, usize), labels: &Labels, from: &[usize], to: &[usize]) -> Vec<Way> {
        let (class, own) = if of_result { (to[k], &labels.results[k]) } else { (from[k], &labels.operands[k]) };
        let mut ways = Vec::new();
        for id in 0..self.classes.all[class].layouts.len() {
            let loops = order_of_loops(own, &self.classes.all[class].layouts[id].minor_to_major);
            // An equal array has the same layout, also one that the target would not choose for its order.
            let mut follow = |(other, labels): (&usize, &Vec<usize>)| match *other == class && labels == own {
                true => LayoutId::try_from(id).ok(),
                false => self.classes.offer(*other, &order_of_dimensions(labels, &loops)),
            };
            let operands: Vec<Option<LayoutId>> = from.iter().zip(&labels.operands).map(&mut follow).collect();
            let results: Option<Vec<LayoutId>> = to.iter().zip(&labels.results).map(&mut follow).collect();
            let Some(results) = results else { continue };
            // `None` would mean any layout; here it means that there was no room for this one.
            if operands.iter().all(Option::is_some) {
                ways.push(Way::new(operands, results));
            }
        }
        ways
    }

    /// The ports of an operation: those of a product, whose matrices it takes in any order.
    fn ports(&self, instance: &Instance, from: &[usize], to: &[usize]) -> Vec<Port> {
        match instance.kind {
            InstanceKind::Operation(operation @ Operation::Dot { lhs_batch, rhs_batch, .. })
                if !self.classes.target.has_tiles()
                    && !is_loop(self.classes.target, operation, &self.arrays(&instance.operands)) =>
            {
                vec![self.outside(from[0], lhs_batch), self.outside(from[1], rhs_batch)]
            }
            InstanceKind::Operation(Operation::Convolution(convolution))
                if SpaceToBatch(&self.classes).cuts(convolution, from[0]) =>
            {
                let [data, _] = SpaceToBatch(&self.classes).ports(convolution, from[0], to[0]);
                vec![data, self.outside(from[1], &[])]
            }
            _ => vec![Vec::new(); from.len()],
        }
    }

    /// Whether a merge is that of a loop: all operands of a conditional's come before it, and are several.
    fn is_carried(&self, merge: &Instance) -> bool {
        let by = |made: &usize| self.program.made[*made].by;
        let own = merge.results.first().map_or(0, by);
        merge.operands.len() < 2 || merge.operands.iter().any(|made| by(made) > own)
    }

    /// Whether a layout takes at most four times the bytes of the default. By XLA's count, a loop over f32[60,20,30] whose rounds
    /// each read and write an index of dimension 0 takes 1,893 cycles in `{2,1,0}`, and 6,426 in layouts of at most twice.
    fn is_dense(&self, class: usize, id: LayoutId) -> bool {
        let bytes = &self.classes.all[class].bytes;
        bytes[usize::from(id)] / 4 <= bytes[0]
    }

    /// The rows of the target's registers; one where it has none.
    fn rows(&self) -> i64 {
        self.classes.target.machine().model.registers.map_or(1, |(rows, _)| rows)
    }

    /// The layouts of a class in which registers hold none of these dimensions, where there are others: they are not among
    /// the two minor ones, or not the minor one where registers have one row.
    fn outside(&self, class: usize, dims: &[usize]) -> Port {
        let own = &self.classes.all[class];
        let others = own.sizes.len() - dims.len();
        let held = others.min(if self.rows() == 1 { 1 } else { 2 });
        let inside = |order: &[usize]| order.iter().take(held).any(|dim| dims.contains(dim));
        let ids = 0..own.layouts.len() as LayoutId;
        ids.filter(|id| !inside(&own.layouts[usize::from(*id)].minor_to_major)).collect()
    }

    /// The ways of a reshape: all in which nothing moves, its form or else from and to a few layouts, and the layouts of the
    /// text, with row-major order in place of a default.
    fn reshapes(&self, from: usize, to: usize, given: [LayoutId; 2]) -> Vec<Way> {
        let way = |a: usize, b: usize| Way::new(vec![Some(a as LayoutId)], vec![b as LayoutId]);
        let (a, b) = (&self.classes.all[from], &self.classes.all[to]);
        let mut ways = Vec::new();
        for (j, row) in b.rows.iter().enumerate() {
            let same = |i: &usize| row.is_some() && a.rows[*i] == *row;
            ways.extend((0..a.rows.len()).filter(same).map(|i| way(i, j)));
        }
        if let Some([i, j]) = self.forms.of(from, to) {
            ways.push(Way::new(vec![Some(i)], vec![j]));
        }
        // A text that states defaults has the ways of one that states nothing, and one that states others has those, too.
        let row_major = [self.row_major(from), self.row_major(to)];
        let stated = |side: usize| if given[side] == 0 { row_major[side] } else { given[side] };
        ways.extend([row_major, [stated(0), stated(1)]].map(|[a, b]| Way::new(vec![Some(a)], vec![b])));
        ways
    }

    /// The row-major layout of a class, or the default where that is none of its layouts.
    fn row_major(&self, class: usize) -> LayoutId {
        let descending: Vec<usize> = (0..self.classes.all[class].sizes.len()).rev().collect();
        self.classes.find(class, &descending).unwrap_or(0)
    }

    /// The ways that the target wants.
    fn wanted(
        &mut self,
        operation: &Operation,
        instance: &Instance,
        from: &[usize],
        to: &[usize],
    ) -> Result<Vec<Way>, Error> {
        let wants =
            self.classes.target.wants(operation, &self.arrays(&instance.operands), &self.arrays(&instance.results))?;
        let mut ways = Vec::new();
        for want in wants {
            let mut operands = vec![Vec::new()];
            for (class, layout) in from.iter().zip(&want.operands) {
                let ids =
                    layout.as_ref().map_or(vec![None], |layout| self.in_order(*class, layout).map(Some).collect());
                operands = each_with(&operands, &ids);
            }
            let mut results = vec![Vec::new()];
            for (class, layout) in to.iter().zip(&want.results) {
                let ids: Vec<LayoutId> = match layout {
                    Some(layout) => self.in_order(*class, layout).collect(),
                    None => (0..self.classes.all[*class].layouts.len() as LayoutId).collect(),
                };
                results = each_with(&results, &ids);
            }
            for operands in operands {
                ways.extend(results.iter().map(|results| Way::new(operands.clone(), results.clone())));
            }
        }
        Ok(ways)
    }

    /// The layouts of a class in the order of a layout: what a program gives in other tiles or in none, and that itself.
    fn in_order(&mut self, class: usize, layout: &Layout) -> impl Iterator<Item = LayoutId> {
        let own = self.classes.offer(class, &layout.minor_to_major);
        let all = &self.classes.all[class].layouts;
        let order = |id: LayoutId| &all[usize::from(id)].minor_to_major;
        let alike = move |id: &LayoutId| own.is_some_and(|own| order(own) == order(*id));
        (0..all.len() as LayoutId).rev().filter(alike)
    }

    /// The ways of an operation of which only its owner knows what it does, and which agrees to any layouts: operands are
    /// taken as they are, but for those in whose places results are, and results are made in any.
    fn open(&self, instance: &Instance, from: &[usize], to: &[usize]) -> Vec<Way> {
        let fixed = self.program.fixed_layouts(instance);
        let mut ways = vec![Way::new(vec![None; from.len()], Vec::new())];
        let lists: Vec<usize> = to.iter().map(|class| self.classes.all[*class].layouts.len()).collect();
        // As many of each, so that all together are few.
        let fits = |most: &usize| lists.iter().try_fold(1, |n: usize, own| n.checked_mul(*own.min(most)));
        let most = (1..=MOST_OPEN).rev().find(|most| fits(most).is_some_and(|all| all <= MOST_OPEN)).unwrap_or(1);
        for (result, own) in lists.into_iter().enumerate() {
            let leaf = self.program.made[instance.results[result]].leaf;
            let aliases = fixed.map_or(&[][..], |fixed| &fixed.aliases);
            let alias = aliases.iter().find(|(made, _)| *made == leaf).map(|(_, operand)| *operand);
            let alias = alias.filter(|operand| from.get(*operand) == Some(&to[result]));
            let with = |way: &Way, id: usize| {
                let (mut way, id) = (way.clone(), id as LayoutId);
                way.results.push(id);
                alias.into_iter().for_each(|operand| way.operands[operand] = Some(id));
                way
            };
            let given = usize::from(self.given[instance.results[result]]);
            let ids = (0..own).filter(|id| *id < most || *id == given);
            ways = ways.iter().flat_map(|way| ids.clone().map(|id| with(way, id))).collect();
        }
        ways
    }

    /// The ways of an operation of which nothing is known: row-major, as whoever wrote it expects.
    fn apart(&mut self, from: &[usize], to: &[usize]) -> Vec<Way> {
        let mut row_major = |class: &usize| {
            let order: Vec<usize> = (0..self.classes.all[*class].sizes.len()).rev().collect();
            self.classes.offer(*class, &order).unwrap_or(0)
        };
        let operands = from.iter().map(|class| Some(row_major(class))).collect();
        vec![Way::new(operands, to.iter().map(row_major).collect())]
    }
}

/// Each of some lists with each of these behind it.
fn each_with<T: Copy>(lists: &[Vec<T>], more: &[T]) -> Vec<Vec<T>> {
    lists.iter().flat_map(|list| more.iter().map(move |last| [&list[..], &[*last]].concat())).collect()
}

/// Whether a product is computed as a loop: where registers have one row, only one that has nothing but batch dimensions, since
/// all others take their operands in any order of these.
fn is_loop(target: &Target, operation: &Operation, operands: &[&Array]) -> bool {
    let Operation::Dot { lhs_batch, lhs_contracting, .. } = operation else { return false };
    let shared = lhs_batch.len() + lhs_contracting.len();
    let alone = operands.iter().all(|array| array.dims.len() == shared);
    LoopProduct::of(operation, operands).is_some() && (target.has_tiles() || alone && !lhs_batch.is_empty())
}

/// Leaves the ways in which results have the layouts that they keep. Where there are none, results are made in these
/// layouts in every way.
fn keep(ways: &mut Vec<Way>, kept: &[Option<LayoutId>]) {
    let fits = |way: &Way| way.results.iter().zip(kept).all(|(own, kept)| kept.is_none_or(|kept| kept == *own));
    if ways.iter().any(fits) {
        ways.retain(fits);
    }
    for way in ways {
        way.results.iter_mut().zip(kept).for_each(|(own, kept)| *own = kept.unwrap_or(*own));
    }
}
