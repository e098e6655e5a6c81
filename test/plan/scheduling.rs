//! Task orders against all orders of small graphs, by a slow evaluator of the definition in `src/planning/scheduling/mod.rs`.

use fastrand::Rng;
use layout_plan::scheduling::{MOST_STEPS, TaskGraph, TaskValue, least_peak};

/// The input of a [`TaskGraph`].
#[derive(Debug)]
struct Stated {
    tasks: usize,
    pairs: Vec<(usize, usize)>,
    values: Vec<TaskValue>,
    beside: Vec<i64>,
    /// The task, its result, its operand.
    shares: Vec<(usize, usize, usize)>,
    /// The values and slots of each group.
    groups: Vec<(Vec<usize>, Vec<i64>)>,
}

impl Stated {
    fn random(rng: &mut Rng, most: usize) -> Stated {
        let tasks = rng.usize(1..=most);
        let mut values: Vec<TaskValue> = Vec::new();
        let mut pairs = Vec::new();
        for task in 0..tasks {
            let mut own = TaskValue::new(rng.i64(0..6), &[task]);
            if rng.usize(..4) > 0 {
                own.bytes *= 10;
            }
            for reader in task + 1..tasks {
                if rng.usize(..tasks) < 2 {
                    own.tasks.push(reader);
                    pairs.push((task, reader));
                }
            }
            own.to_end = rng.usize(..5) == 0;
            values.push(own);
        }
        if rng.bool() {
            let readers: Vec<usize> = (0..tasks).filter(|_| rng.bool()).collect();
            values.push(TaskValue { from_start: true, to_end: rng.bool(), ..TaskValue::new(20, &readers) });
        }
        let mut shares = Vec::new();
        for (result, value) in values.iter().enumerate().take(tasks) {
            for operand in (0..values.len()).filter(|operand| *operand != result) {
                if values[operand].tasks.contains(&result) && value.tasks[0] == result && rng.bool() {
                    shares.push((result, result, operand));
                }
            }
        }
        let mut groups = Vec::new();
        if rng.bool() {
            let members: Vec<usize> = (0..values.len()).filter(|_| rng.usize(..3) == 0).collect();
            let in_group = |value: &usize| members.contains(value);
            // A shared buffer is in one group.
            shares.retain(|(_, result, operand)| in_group(result) == in_group(operand));
            groups.push((members, (0..rng.usize(..4)).map(|_| rng.i64(0..60)).collect()));
        }
        let beside = (0..tasks).map(|_| if rng.usize(..4) == 0 { rng.i64(0..30) } else { 0 }).collect();
        Stated { tasks, pairs, values, beside, shares, groups }
    }

    fn graph(&self) -> TaskGraph {
        let mut graph = TaskGraph::new(self.tasks, &self.pairs, self.values.clone()).unwrap();
        self.beside.iter().enumerate().for_each(|(task, bytes)| graph.add_beside(task, *bytes).unwrap());
        self.shares.iter().for_each(|(task, result, operand)| graph.share(*task, *result, *operand));
        self.groups.iter().for_each(|(values, slots)| graph.group(values, slots));
        graph
    }

    /// The live bytes at a position of an order.
    fn live(&self, order: &[usize], at: usize) -> i64 {
        let places = |value: &TaskValue| -> Vec<usize> {
            (0..order.len()).filter(|k| value.tasks.contains(&order[*k])).collect()
        };
        let range = |value: &TaskValue| {
            let places = places(value);
            let first = if value.from_start { Some(0) } else { places.first().copied() };
            let last = if value.to_end { Some(order.len()) } else { places.last().copied() };
            first.zip(last).filter(|(first, last)| first <= last)
        };
        let is_live = |value: &TaskValue| range(value).is_some_and(|(first, last)| (first..=last).contains(&at));
        let mut saved = Vec::new();
        for (result, own) in self.values.iter().enumerate() {
            let mut most = None;
            for (task, _, operand) in self.shares.iter().filter(|share| share.1 == result) {
                let from = &self.values[*operand];
                let begins = !own.from_start && range(own).is_some_and(|(first, _)| first == at);
                let ends = !from.to_end && range(from).is_some_and(|(_, last)| last == at);
                if order[at] == *task && begins && ends {
                    let smaller = if own.bytes < from.bytes { result } else { *operand };
                    most = most.filter(|most: &usize| self.values[*most].bytes >= self.values[smaller].bytes);
                    most.get_or_insert(smaller);
                }
            }
            saved.extend(most);
        }
        let counts = |value: &usize| !saved.contains(value) && is_live(&self.values[*value]);
        let grouped = |value: &usize| self.groups.iter().any(|(members, _)| members.contains(value));
        let plain = (0..self.values.len()).filter(|value| !grouped(value) && counts(value));
        let group = |(members, slots): &(Vec<usize>, Vec<i64>)| {
            let live: Vec<i64> =
                members.iter().filter(|value| counts(value)).map(|value| self.values[*value].bytes).collect();
            least_beside(&live, slots)
        };
        plain.map(|value| self.values[value].bytes).sum::<i64>()
            + self.groups.iter().map(group).sum::<i64>()
            + self.beside[order[at]]
    }

    fn peak(&self, order: &[usize]) -> i64 {
        (0..order.len()).map(|at| self.live(order, at)).max().unwrap_or(0)
    }

    /// All topological orders.
    fn orders(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for _ in 0..self.tasks {
            let mut longer = Vec::new();
            for order in all {
                let ready = |task: &usize| {
                    let before = |(first, then): &(usize, usize)| then != task || order.contains(first);
                    !order.contains(task) && self.pairs.iter().all(before)
                };
                longer.extend((0..self.tasks).filter(ready).map(|task| [&order[..], &[task]].concat()));
            }
            all = longer;
        }
        all
    }
}

/// The least bytes of values that are in no slot, of all ways to put them into slots.
fn least_beside(values: &[i64], slots: &[i64]) -> i64 {
    let Some((first, others)) = values.split_first() else { return 0 };
    let held = (0..slots.len()).filter(|slot| slots[*slot] >= *first);
    let held = held.map(|slot| least_beside(others, &[&slots[..slot], &slots[slot + 1..]].concat()));
    held.chain([first + least_beside(others, slots)]).min().unwrap_or(0)
}

#[test]
fn the_peak_is_the_least_of_all_orders() {
    let (mut lower, mut grouped, mut shared) = (0, 0, 0);
    for seed in 0..600 {
        let mut rng = Rng::with_seed(seed);
        let stated = Stated::random(&mut rng, 7);
        let (graph, all) = (stated.graph(), stated.orders());
        let least = all.iter().map(|order| stated.peak(order)).min().unwrap();
        for _ in 0..5 {
            let order = rng.choice(&all).unwrap();
            let slow: Vec<i64> = (0..stated.tasks).map(|at| stated.live(order, at)).collect();
            assert_eq!(graph.live(order).unwrap(), slow, "seed {seed}: {stated:?} {order:?}");
            let found = least_peak(&graph, order, &mut MOST_STEPS.clone()).unwrap();
            assert_eq!(stated.peak(&found.order), found.peak, "seed {seed}: {stated:?}");
            assert_eq!((found.peak, found.bound), (least, least), "seed {seed}: {stated:?}");
            lower += usize::from(least < stated.peak(order));
            // Without a search.
            let found = least_peak(&graph, order, &mut 0).unwrap();
            assert_eq!(stated.peak(&found.order), found.peak, "seed {seed}: {stated:?}");
            assert!(found.bound <= least && found.peak <= stated.peak(order), "seed {seed}: {stated:?}");
            assert!(all.contains(&found.order) && graph.least() <= least, "seed {seed}: {stated:?}");
        }
        grouped += usize::from(!stated.groups.is_empty());
        shared += usize::from(!stated.shares.is_empty());
    }
    assert!(lower > 500 && grouped > 200 && shared > 100, "{lower} {grouped} {shared}");
}

/// With few steps on larger graphs, the bound stays below the peak of a longer search.
#[test]
fn a_search_that_stops_has_a_bound() {
    let mut open = 0;
    for seed in 0..60 {
        let stated = Stated::random(&mut Rng::with_seed(seed), 40);
        let (graph, given) = (stated.graph(), (0..stated.tasks).collect::<Vec<_>>());
        let long = least_peak(&graph, &given, &mut 10_000_000).unwrap();
        for most in [500, 5_000, 50_000] {
            let found = least_peak(&graph, &given, &mut most.clone()).unwrap();
            assert_eq!(stated.peak(&found.order), found.peak, "seed {seed}");
            assert!(found.bound <= long.peak && long.bound <= found.peak, "seed {seed}");
            open += usize::from(found.bound < found.peak);
        }
    }
    assert!(open > 10, "{open}");
}

/// Rules alone find the least peak in most graphs whose given order is not optimal.
#[test]
fn rules_find_most_of_what_a_search_finds() {
    for (most, expected) in [(12, (93, 107)), (40, (85, 172))] {
        let (mut least, mut lower) = (0, 0);
        for seed in 0..200 {
            let stated = Stated::random(&mut Rng::with_seed(seed), most);
            let (graph, given) = (stated.graph(), (0..stated.tasks).collect::<Vec<_>>());
            let searched = least_peak(&graph, &given, &mut 300_000).unwrap();
            let listed = least_peak(&graph, &given, &mut 0).unwrap();
            let is_lower = searched.peak < graph.peak(&given).unwrap();
            lower += usize::from(is_lower);
            least += usize::from(is_lower && listed.peak == searched.peak);
        }
        assert!(least >= expected.0 && lower >= expected.1, "{most} tasks: {least} of {lower}");
    }
}

/// A row of blocks, each dependent on the previous one, is ordered block by block: all tasks together are too many for
/// a search.
#[test]
fn what_is_cut_is_ordered_in_parts() {
    let blocks = 2_000;
    let (mut pairs, mut values) = (Vec::new(), Vec::new());
    for k in 0..blocks {
        let first = 8 * k;
        // One task's result has three users, each with a large result, whose user has a small one.
        values.push(TaskValue::new(5, &[first, first + 1, first + 2, first + 3]));
        for middle in first + 1..first + 4 {
            let end = middle + 3;
            pairs.extend([(first, middle), (middle, end), (end, first + 7)]);
            values.push(TaskValue::new(100, &[middle, end]));
            values.push(TaskValue::new(1, &[end, first + 7]));
        }
        if k > 0 {
            pairs.push((first - 1, first));
            values.push(TaskValue::new(1, &[first - 1, first]));
        }
    }
    let graph = TaskGraph::new(8 * blocks, &pairs, values).unwrap();
    let given: Vec<usize> = (0..8 * blocks).collect();
    assert_eq!(graph.peak(&given).unwrap(), 305);
    let found = least_peak(&graph, &given, &mut MOST_STEPS.clone()).unwrap();
    assert_eq!((found.peak, found.bound), (107, 107));
}

/// A group's excess bytes count in a part between cuts that has none of its values.
#[test]
fn a_group_counts_beside_a_part_that_does_not_touch_it() {
    let large = |tasks: &[usize]| TaskValue::new(100, tasks);
    let small = |tasks: &[usize]| TaskValue::new(1, tasks);
    let around = TaskValue { from_start: true, to_end: true, ..TaskValue::new(50, &[0, 5]) };
    let values = vec![large(&[1, 3]), large(&[2, 4]), small(&[3, 5]), small(&[4, 5]), around];
    let pairs = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)];
    let mut graph = TaskGraph::new(6, &pairs, values).unwrap();
    graph.group(&[4], &[20]);
    let given = [0, 1, 2, 3, 4, 5];
    assert_eq!(graph.peak(&given).unwrap(), 251);
    let found = least_peak(&graph, &given, &mut MOST_STEPS.clone()).unwrap();
    assert_eq!((found.peak, found.bound), (152, 152));
}

#[test]
fn what_is_no_graph_or_no_order_is_an_error() {
    let wrong =
        |tasks, pairs: &[(usize, usize)], values| TaskGraph::new(tasks, pairs, values).map(|_| ()).unwrap_err().message;
    assert_eq!(wrong(2, &[(0, 2)], vec![]), "the number of a task must be below 2, found 2");
    assert_eq!(wrong(2, &[], vec![TaskValue::new(1, &[3])]), "the number of a task must be below 2, found 3");
    assert_eq!(wrong(1, &[], vec![TaskValue::new(-1, &[0])]), "the bytes of a value must be 0 or more, found -1");
    let large = || TaskValue::new(1 << 60, &[0]);
    let message = "the bytes of all values must be at most 2305843009213693952 together";
    assert_eq!(wrong(1, &[], vec![large(), large(), large()]), message);
    let mut graph = TaskGraph::new(3, &[(0, 1)], vec![large(), large()]).unwrap();
    assert_eq!(graph.add_beside(0, 1).unwrap_err().message, message);
    let of = |order: &[usize]| graph.peak(order).unwrap_err().message;
    assert_eq!(of(&[1, 0, 2]), "task 0 must run before task 1, found it after that");
    assert_eq!(of(&[0, 1, 1]), "an order must have each of 3 tasks once, found task 1 again");
    assert_eq!(of(&[0, 1, 3]), "an order must have each of 3 tasks once, found task 3 again");
    assert_eq!(of(&[0, 1]), "an order must have 3 tasks, found 2");
    // A cyclic graph has no order.
    let cycle = TaskGraph::new(2, &[(0, 1), (1, 0)], vec![]).unwrap();
    assert!(least_peak(&cycle, &[0, 1], &mut MOST_STEPS.clone()).is_err());
}
