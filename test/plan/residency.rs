//! Memory residency over time: intervals against a slow search, patterns and plans replayed by their definition.

use crate::sample::Sample;
use fastrand::Rng;
use layout_plan::plan::clone_cheap::made_again;
use layout_plan::plan::kernels::Kept;
use layout_plan::plan::placing::amounts;
use layout_plan::plan::problem::LayoutProblem;
use layout_plan::plan::program::Program;
use layout_plan::plan::residency::{Lifetime, MemoryCosts, Residencies, Residency};
use layout_plan::plan::transfers::{BANDWIDTH, KernelClock};
use layout_plan::plan::{
    ArrayName, EntryLayouts, InstanceKind, LayoutPlan, PlannedStay, PlannedTransfer, Planner, Residence, SpaceLimit,
    TiledPlanner, Unplanned,
};
use layout_plan::solver::{CostNetwork, Options, check};
use std::collections::BTreeMap;
use std::ops::Range;
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;

/// Kernels of random times, some of them in a loop, at times with a nested one.
fn clock(rng: &mut Rng) -> (Vec<i64>, Vec<Range<usize>>, KernelClock) {
    let times: Vec<i64> = (0..rng.usize(1..14)).map(|_| rng.i64(0..6) * rng.i64(0..3)).collect();
    let mut clock = KernelClock::of_times(&times);
    let mut loops: Vec<Range<usize>> = Vec::new();
    let mut within = 0..times.len();
    while rng.bool() && within.len() > 1 {
        let start = rng.usize(within.start..within.end);
        within = start..rng.usize(start + 1..=within.end);
        clock.add_loop(within.clone());
        loops.push(within.clone());
    }
    (times, loops, clock)
}

/// Whether an interval begins and ends in a loop, with inner loops as a whole.
fn whole(loops: &[Range<usize>], inside: Option<usize>, stretch: &Range<usize>) -> bool {
    let depth = inside.map_or(0, |own| own + 1);
    let in_it = loops[..depth].last().is_none_or(|own| own.start <= stretch.start && stretch.end <= own.end);
    let inner = |own: &Range<usize>| {
        let apart = stretch.end <= own.start || own.end <= stretch.start;
        apart || stretch.start <= own.start && own.end <= stretch.end
    };
    in_it && loops[depth..].iter().all(inner)
}

#[test]
fn stretches_are_the_shortest_that_take_long_enough() {
    let mut rng = Rng::with_seed(1);
    let mut found = 0;
    for _ in 0..20_000 {
        let (times, loops, clock) = clock(&mut rng);
        let n = times.len();
        let at = rng.usize(..n);
        let inside = clock.inside(at);
        assert_eq!(inside, (0..loops.len()).rfind(|own| loops[*own].contains(&at)));
        let time = |stretch: Range<usize>| times[stretch].iter().sum::<i64>();
        let span = clock.span(inside);
        let need = rng.i64(1..30);
        let fits = |stretch: &Range<usize>| {
            span.start <= stretch.start
                && stretch.end <= span.end
                && time(stretch.clone()) >= need
                && whole(&loops, inside, stretch)
        };
        // After the moment, and before it.
        let ahead = (at + 2..=n).map(|end| at + 1..end).find(fits).map(|own| own.end);
        assert_eq!(clock.ahead(at + 1, inside, need), ahead, "{times:?} {loops:?} {at} {need}");
        let behind = (0..at).rev().map(|first| first..at).find(fits).map(|own| own.start);
        assert_eq!(clock.behind(at, inside, need), behind, "{times:?} {loops:?} {at} {need}");
        found += usize::from(ahead.is_some()) + usize::from(behind.is_some());
    }
    assert!(found > 5_000, "{found}");
}

/// The cost of some slices in near and others in far memory, by definition; `None` if the array is always in one
/// memory.
fn in_parts(life: &Lifetime, costs: &MemoryCosts, own: &Residency) -> Option<i64> {
    if !own.moves.is_empty() || own.near.is_empty() || own.far.is_empty() {
        return None;
    }
    assert!(own.near == life.moments && own.far == life.moments);
    let part = |n: i64, slices: i64| (n * slices + costs.slices - 1) / costs.slices;
    let bytes = |near: i64| [part(costs.bytes, near), part(costs.bytes, costs.slices - near)];
    let near = (1..costs.slices).find(|near| bytes(*near) == own.bytes).expect("whole slices, all of them");
    Some(part(costs.write + costs.reads.iter().sum::<i64>(), costs.slices - near))
}

/// The cost of an array, kernel by kernel, with copies in flight; checks that each read finds its data.
fn replayed(times: &[i64], life: &Lifetime, costs: &MemoryCosts, own: &Residency) -> i64 {
    if let Some(cost) = in_parts(life, costs, own) {
        return cost;
    }
    let made = life.made.map(|made| made as i64);
    let is_at = |moments: &[Range<i64>], moment: i64| moments.iter().any(|own| own.contains(&moment));
    // Whether near and far memory have all of the data.
    let mut valid = [false, made.is_none()];
    let mut cost = 0;
    for moment in 0..life.moments[0].end {
        let here = [is_at(&own.near, moment), is_at(&own.far, moment)];
        for moved in &own.moves {
            let (from, to) = if moved.out { (0, 1) } else { (1, 0) };
            let flight = &moved.flight.moments;
            if flight.contains(&moment) {
                assert!(valid[from] && here == [true; 2], "at {moment} there is nothing to copy: {own:?}");
                valid[to] = false;
            } else if moved.done == moment {
                assert!(valid[from], "at {moment} there is nothing to copy: {own:?}");
                valid[to] = true;
            }
        }
        (0..2).for_each(|side| valid[side] &= here[side]);
        if made == Some(moment) {
            assert!(here[0] != here[1], "made in two memories: {own:?}");
            valid = here;
            cost += if here[1] { costs.write } else { 0 };
        }
        if let Some(read) = life.reads.iter().position(|read| *read as i64 == moment) {
            let near = own.is_read_near(moment);
            assert!(valid[usize::from(!near)], "what reads at {moment} finds nothing: {own:?}");
            cost += if near { 0 } else { costs.reads[read] };
        }
    }
    for moved in &own.moves {
        let takes = costs.takes[usize::from(!moved.out)];
        let flight = &moved.flight;
        let beside: i64 = (flight.moments.start..flight.moments.end).map(|k| times[k as usize]).sum();
        assert_eq!(flight.exposed, (takes[0] + takes[1] - beside).max(0), "{own:?}");
        // Copies that no kernel waits for fit into their share of the bandwidth.
        assert!((0..=BANDWIDTH).contains(&flight.share));
        assert!(beside * flight.share >= (takes[1] - flight.exposed) * BANDWIDTH, "{own:?} {costs:?}");
        assert!(own.bytes == [costs.bytes; 2]);
        cost += flight.exposed + costs.copy;
    }
    cost
}

/// An array of a program with this number of moments, an argument or an intermediate value.
fn random_life(rng: &mut Rng, clock: &KernelClock, n: usize) -> Lifetime {
    let argument = rng.usize(..4) == 0;
    let by = rng.usize(..n);
    let inside = if argument { None } else { clock.inside(by) };
    let span = clock.span(inside);
    let first = if argument { 0 } else { by + 1 };
    let mut reads: Vec<usize> = (first..span.end).filter(|at| clock.inside(*at) == inside && rng.bool()).collect();
    reads.truncate(rng.usize(..8));
    let last = reads.last().copied().unwrap_or(by);
    let moments = vec![if argument { 0..n as i64 } else { by as i64..last as i64 + 1 }];
    Lifetime { moments, made: (!argument).then_some(by), reads, inside, may_move: true }
}

fn random_costs(rng: &mut Rng, life: &Lifetime) -> MemoryCosts {
    let free = rng.bool();
    let slices = rng.i64(1..7);
    MemoryCosts {
        bytes: slices * rng.i64(1..9),
        slices,
        write: rng.i64(0..40),
        reads: life.reads.iter().map(|_| if free { 0 } else { rng.i64(0..20) }).collect(),
        saves: life.made.is_none() && rng.bool(),
        copy: rng.i64(0..3),
        takes: [[rng.i64(0..4), rng.i64(0..9)], [rng.i64(0..4), rng.i64(0..9)]],
    }
}

/// Checks that each interval of the amounts lists the bytes of each residency.
fn check_amounts(all: &[Residency], moments: usize) {
    let taken: Vec<Vec<(Range<i64>, i64)>> =
        all.iter().map(|own| own.near.iter().map(|at| (at.clone(), own.bytes[0])).collect()).collect();
    let stretches = amounts(&taken);
    for moment in -1..moments as i64 + 1 {
        let at: Vec<&Vec<i64>> = stretches.iter().filter(|(at, _)| at.contains(&moment)).map(|(_, own)| own).collect();
        let slow: Vec<i64> = all
            .iter()
            .map(|own| own.near.iter().filter(|at| at.contains(&moment)).count() as i64 * own.bytes[0])
            .collect();
        match at[..] {
            [] => assert!(slow.iter().all(|amount| *amount == 0)),
            [own] => assert_eq!(*own, slow),
            _ => panic!("stretches overlap"),
        }
    }
}

#[test]
fn what_is_tried_for_an_array_is_sound_when_replayed() {
    let mut rng = Rng::with_seed(2);
    let mut kinds: BTreeMap<(usize, bool, bool), usize> = BTreeMap::new();
    for _ in 0..20_000 {
        let (times, loops, clock) = clock(&mut rng);
        let life = random_life(&mut rng, &clock, times.len());
        let costs = random_costs(&mut rng, &life);
        let all = Residencies { clock: &clock, life: &life, costs: &costs }.over_time(true);
        // Bounded for any number of reads.
        assert!(all.len() <= 160, "{}", all.len());
        for own in &all {
            assert_eq!(
                own.cost,
                replayed(&times, &life, &costs, own),
                "{times:?} {loops:?} {life:?} {costs:?} {own:?}"
            );
            let back = own.moves.iter().any(|moved| !moved.out);
            *kinds.entry((own.moves.len(), back, life.made.is_none())).or_default() += 1;
        }
        check_amounts(&all, times.len());
    }
    // One memory, one copy each way, both, and arguments.
    for kind in [(0, false, false), (1, false, false), (1, true, false), (2, true, false), (1, true, true)] {
        assert!(kinds.get(&kind).is_some_and(|count| *count > 100), "{kind:?}: {kinds:?}");
    }
}

/// Two memories, of which the fast one also has the higher bandwidth.
const FAST: &str = "axes: (), memories: (hbm: 0 with 1000000 bytes reading 4 writing 4, vmem: 1 with 65536 bytes reading 64 \
                    writing 64), word: 32, unit: cycle, registers: 1x8, costs: (kernel: 10, window: 20, product: 500, pass: 5)";

/// A program of products and of operations with their own memory, on arrays of different sizes.
fn program(rng: &mut Rng, arguments: usize, operations: usize) -> String {
    let mut lines = Vec::new();
    let rows: Vec<usize> = (0..arguments + operations).map(|_| [8, 16, 40][rng.usize(..3)]).collect();
    for (k, rows) in rows.iter().enumerate().take(arguments) {
        lines.push(format!("v{k} = f32[{rows},16]{{1,0}} parameter({k})"));
    }
    let mut rows = rows[..arguments].to_vec();
    for k in arguments..arguments + operations {
        let (a, b) = (rng.usize(..k), rng.usize(..k));
        let own = match rng.usize(..3) {
            0 => {
                rows.push([8, 16, 40][rng.usize(..3)]);
                format!("custom-call(v{a}, v{b}), custom_call_target=\"f\"")
            }
            1 => {
                rows.push(rows[a]);
                format!("negate(v{a})")
            }
            _ => {
                rows.push(rows[a]);
                lines.push(format!(
                    "w{k} = f32[16,16]{{1,0}} dot(v{b}, v{b}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"
                ));
                format!("dot(v{a}, w{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
            }
        };
        lines.push(format!("v{k} = f32[{},16]{{1,0}} {own}", rows[k]));
    }
    let last = arguments + operations - 1;
    let (other, size) = (rng.usize(..=last), |k: usize| format!("f32[{},16]{{1,0}}", rows[k]));
    lines.push(format!("ROOT r = ({}, {}) tuple(v{last}, v{other})", size(last), size(other)));
    format!("HloModule m\nENTRY main {{\n  {}\n}}\n", lines.join("\n  "))
}

/// A plan that runs by its schedule: memories hold their arrays, reads find their data, and copies have enough time and
/// bandwidth beside the plan's kernels.
struct ScheduledPlan<'a> {
    target: &'a Target,
    plan: &'a LayoutPlan,
    problem: &'a LayoutProblem<'a, 'a>,
    /// The time of each kernel.
    times: Vec<i64>,
}

/// Runs a plan, and checks it.
fn run(text: &str, target: &Target, plan: &LayoutPlan, choices: &[usize], limits: &[SpaceLimit]) {
    let module = Module::parse(text).unwrap();
    let (graphs, facts) = (module.graphs(), module.facts());
    let planner = TiledPlanner::new(&graphs, module.entry, &facts, target, EntryLayouts::Default).unwrap();
    let program = Program::new(&graphs, module.entry, &facts).unwrap();
    let problem = LayoutProblem::new(made_again(&program).unwrap(), target, EntryLayouts::Default).unwrap();
    let n = problem.program.instances.len();
    let times = kernel_times(planner.network(), &problem, choices);
    let clock = KernelClock::new(&problem, planner.network(), &[]);
    (0..n).for_each(|k| assert!(clock.time(k..k + 1) <= times[k], "kernel {k} takes less than the clock says"));
    let scheduled = ScheduledPlan { target, plan, problem: &problem, times };
    let used = scheduled.used_bytes();
    scheduled.check_peaks(&used, limits);
    for moment in 0..n as i64 {
        let shares: i64 = plan.transfers.iter().filter(|own| own.moments.contains(&moment)).map(|own| own.share).sum();
        assert!(shares <= BANDWIDTH, "at {moment}: {shares}");
    }
}

impl ScheduledPlan<'_> {
    /// The bytes in each memory space at each moment.
    fn used_bytes(&self) -> BTreeMap<(u8, i64), i64> {
        let ScheduledPlan { plan, problem, .. } = self;
        let mut used: BTreeMap<(u8, i64), i64> = BTreeMap::new();
        let told = (0..problem.program.made.len()).filter(|made| !problem.program.is_result(*made));
        let moments = problem.moments();
        for ((made, (name, layouts)), space) in told.zip(&plan.values).zip(&plan.spaces) {
            let stays: Vec<_> = plan.stays.iter().filter(|stay| stay.at == *name).collect();
            let mut add = |space: u8, moments: Range<i64>, bytes: i64| {
                moments.for_each(|moment| *used.entry((space, moment)).or_default() += bytes);
            };
            if stays.is_empty() || problem.kernels.kept[problem.program.made[made].by] != Kept::Stored {
                let sizes = problem.program.made[made].array.sizes().unwrap();
                let expansion = tensor_layout::tiled::Expansion::new(&sizes, layouts[0].tiled().unwrap()).unwrap();
                let bytes = expansion.padded_bytes(problem.program.made[made].array.element).unwrap();
                moments[made].iter().for_each(|own| add(*space, own.clone(), bytes));
                continue;
            }
            stays.iter().for_each(|stay| add(stay.space, stay.moments.clone(), stay.bytes));
            for moment in moments[made].iter().flat_map(Clone::clone) {
                let here: i64 = stays.iter().filter(|stay| stay.moments.contains(&moment)).map(|stay| stay.bytes).sum();
                let whole = stays.iter().map(|stay| stay.bytes).max().unwrap();
                assert!(here >= whole, "{name:?} is lost at {moment}");
            }
            let transfers = plan.transfers.iter().filter(|moved| moved.at == *name);
            transfers.for_each(|transfer| self.check_transfer(made, &stays, transfer));
            self.check_users(made, name, *space, &stays);
        }
        used
    }

    /// Checks that a copy has its time and its memory, is for an operation, and moves all bytes.
    fn check_transfer(&self, made: usize, stays: &[&PlannedStay], transfer: &PlannedTransfer) {
        let ScheduledPlan { target, problem, times, .. } = self;
        let takes = target.transfer_time(transfer.bytes, [transfer.from, transfer.to]).unwrap();
        let beside: i64 = (transfer.moments.start..transfer.moments.end).map(|k| times[k as usize]).sum();
        assert!(beside + transfer.exposed >= takes[0] + takes[1], "{transfer:?}");
        assert!(beside * transfer.share >= (takes[1] - transfer.exposed) * BANDWIDTH, "{transfer:?}");
        // Both memories hold the array during its move, and the destination afterwards.
        let holds = |space: u8, moments: Range<i64>| {
            let mut own = stays.iter().filter(|stay| stay.space == space);
            moments.is_empty() || own.any(|s| s.moments.start <= moments.start && moments.end <= s.moments.end)
        };
        assert!(holds(transfer.from, transfer.moments.clone()) && holds(transfer.to, transfer.moments.clone()));
        let kernels = |user: &usize| problem.kernels.part_of[*user].iter().copied().chain([*user]).max();
        let last = problem.users[made].iter().filter_map(|(user, _)| kernels(user)).max();
        let used = last.is_some_and(|last| last as i64 >= transfer.moments.end);
        assert!(used, "{transfer:?} is for nothing");
        // All bytes, in one run between the memories.
        let sizes = problem.program.made[made].array.sizes().unwrap();
        let expansion = tensor_layout::tiled::Expansion::new(&sizes, &transfer.layout).unwrap();
        let copy = &transfer.copy;
        assert_eq!((copy.from, copy.to, copy.run()), (0, 0, expansion.elements()));
        assert_eq!(transfer.bytes, copy.elements() * 4);
    }

    /// Checks that users of a copy find its result, and all others the original.
    fn check_users(&self, made: usize, name: &ArrayName, space: u8, stays: &[&PlannedStay]) {
        let ScheduledPlan { plan, problem, times, .. } = self;
        let first = stays.iter().find(|stay| stay.space == space);
        for (user, _) in &problem.users[made] {
            let result = matches!(problem.program.instances[*user].kind, InstanceKind::Result(_));
            let kernels = &problem.kernels.part_of[*user];
            let at =
                if result { times.len() as i64 - 1 } else { kernels.iter().copied().min().unwrap_or(*user) as i64 };
            let node = problem.program.instances[*user].node;
            let copies = plan.transfers.iter().filter(|own| own.at == *name && own.read_by.contains(&node));
            let read: Vec<u8> = copies.map(|own| own.to).collect();
            let there = |space: u8| stays.iter().any(|stay| stay.space == space && stay.moments.contains(&at));
            match read[..] {
                [] => assert!(first.is_some_and(|stay| there(stay.space)), "{name:?} at {at}: {stays:?}"),
                [space] => assert!(there(space), "{name:?} at {at}: {stays:?}"),
                _ => panic!("{node:?} reads {read:?}"),
            }
        }
    }

    /// Checks the limits of the memory spaces.
    fn check_peaks(&self, used: &BTreeMap<(u8, i64), i64>, limits: &[SpaceLimit]) {
        let plan = self.plan;
        for limit in limits {
            let peak =
                used.iter().filter(|((space, _), _)| *space == limit.space).map(|(_, bytes)| *bytes).max().unwrap_or(0);
            let told = plan.taken.iter().find(|taken| taken.space == limit.space).map_or(0, |taken| taken.peak);
            assert!(peak <= told && told <= limit.bytes, "{peak} {told} {limit:?}");
            if plan.values.iter().all(|(_, layouts)| layouts.len() == 1) {
                assert_eq!(peak, told);
            }
        }
    }
}

/// The time of each kernel in a plan, without memory costs.
fn kernel_times(network: &CostNetwork, problem: &LayoutProblem, choices: &[usize]) -> Vec<i64> {
    let n = problem.program.instances.len();
    let mut times = vec![0; n];
    let mut add = |k: usize, cost: i64| times[problem.kernels.part_of[k].iter().copied().min().unwrap_or(k)] += cost;
    (0..n).for_each(|k| add(k, network.variables()[k][choices[k]]));
    for edge in network.edges().iter().filter(|edge| edge.ends[1] < n) {
        let [a, b] = edge.ends;
        add(b, edge.costs[choices[a] * network.variables()[b].len() + choices[b]]);
    }
    times
}

/// The least cost by exhaustive search; `None` if there are too many choices.
fn least(network: &CostNetwork) -> Option<i64> {
    let sizes: Vec<usize> = network.variables().iter().map(Vec::len).collect();
    if sizes.iter().try_fold(1usize, |all, size| all.checked_mul(*size)).is_none_or(|all| all > 300_000) {
        return None;
    }
    let mut plan = vec![0; sizes.len()];
    let mut best = i64::MAX;
    loop {
        best = best.min(network.cost(&plan).unwrap_or(i64::MAX));
        let Some(next) = (0..plan.len()).find(|k| plan[*k] + 1 < sizes[*k]) else { return Some(best) };
        plan[next] += 1;
        plan[..next].fill(0);
    }
}

#[test]
fn plans_over_time_are_the_best_and_run() {
    let (mut tried, mut moved, mut better, mut parts) = (0, 0, 0, 0);
    let rounds = Sample::from_env().select(0..60);
    for round in rounds.iter().copied() {
        let mut rng = Rng::with_seed(round);
        let machine = if round % 3 == 0 { "tpu_v5e" } else { FAST };
        let target = Target::parse(machine).unwrap();
        let arguments = rng.usize(1..3);
        let operations = if round < 30 { rng.usize(1..4) } else { rng.usize(4..12) };
        let text = program(&mut rng, arguments, operations);
        let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{errors:?} {text}"));
        let (graphs, facts) = (module.graphs(), module.facts());
        let problem = || TiledPlanner::new(&graphs, module.entry, &facts, &target, EntryLayouts::Default).unwrap();
        let free = problem().plan(&Options::default(), &mut |_| true).unwrap();
        let peak = free.taken.iter().find(|taken| taken.space == 1).map_or(0, |taken| taken.peak);
        for bytes in [0, peak / 4, peak / 2, peak * 3 / 4, peak] {
            let limits = [SpaceLimit { space: 1, bytes }];
            let planner = problem().limited(&limits).unwrap();
            let options = Options { work: if round < 30 { 1 << 30 } else { 1 << 22 }, ..Options::default() };
            let plan = match planner.plan(&options, &mut |_| true) {
                Ok(plan) => plan,
                // The copies of second layouts are always near.
                Err(
                    Unplanned::Short { .. } | Unplanned::Unfit(_) | Unplanned::Undecided(_) | Unplanned::Impossible(_),
                ) => continue,
                Err(why) => panic!("{why:?}"),
            };
            assert_eq!(check(planner.network(), &plan.solution.certificate), Ok(()), "{text}");
            if let Some(least) = least(planner.network()) {
                assert_eq!((plan.cost, plan.bound), (least, least), "{bytes} {text}");
                tried += 1;
            }
            run(&text, &target, &plan, plan.solution.choices(), &limits);
            let life = problem().limited_in(&limits, Residence::ForLife).unwrap().plan(&options, &mut |_| true);
            if let Ok(life) = life {
                // Arrays in one memory for life are a special case of plans over time.
                assert!(plan.bound <= life.cost && life.stays.is_empty() && life.transfers.is_empty());
                better += usize::from(plan.cost < life.cost);
                // Between the two are plans that keep each array in one memory as a whole.
                let whole = problem().limited_in(&limits, Residence::Whole).unwrap().plan(&options, &mut |_| true);
                let whole = whole.unwrap_or_else(|why| panic!("{why:?} {text}"));
                assert!(plan.bound <= whole.cost && whole.bound <= life.cost, "{bytes} {text}");
                let moves = |stay: &PlannedStay| whole.transfers.iter().any(|own| own.at == stay.at);
                assert!(whole.stays.iter().all(moves), "{:?}", whole.stays);
            }
            moved += plan.transfers.len();
            parts += usize::from(plan.stays.len() > plan.transfers.len());
        }
    }
    // A few rounds need not have all of these.
    let least = if rounds.len() < 15 { 0 } else { rounds.len() / 2 };
    assert!(tried >= least && moved >= least && better >= least, "{tried} {moved} {better}");
    assert!(parts >= least / 3, "{parts}");
}

/// The search without any fast memory comes first, and its plan fits every capacity: a search with at least as many
/// steps costs no more.
#[test]
fn no_capacity_costs_more_than_none_with_as_many_steps() {
    let target = Target::parse("tpu_v5e").unwrap();
    let fastest = target.machine().memories.iter().find(|memory| memory.name == "vmem").unwrap().space;
    for text in [
        include_str!("../hlo/attention.opt.hlo"),
        include_str!("../hlo/mlp_train_step.unopt.hlo"),
        include_str!("../hlo/vit_patchify.unopt.hlo"),
    ] {
        let module = Module::parse(text).unwrap();
        let (graphs, facts) = (module.graphs(), module.facts());
        let plan = |bytes: i64, most: usize| {
            let planner = TiledPlanner::new(&graphs, module.entry, &facts, &target, EntryLayouts::Free).unwrap();
            let planner = planner.limited(&[SpaceLimit { space: fastest, bytes }]).unwrap();
            let mut asked = 0;
            let plan = planner.plan(&Options::usual(), &mut |_| {
                asked += 1;
                asked <= most
            });
            (plan.unwrap().cost, asked)
        };
        let (nothing, asked) = plan(0, usize::MAX);
        for bytes in [1, 4096, 1 << 16, 1 << 20, 1 << 24, 1 << 27] {
            let (cost, _) = plan(bytes, asked);
            assert!(cost <= nothing, "{}: {bytes} bytes cost {cost}, and none {nothing}", module.name);
        }
    }
}
