//! Steps over time: bytes against a run of the loops with buffers, and the search's cuts against all cuts.

use layout_plan::plan::InstanceKind;
use layout_plan::plan::sharding::{
    AxisCut, Brought, IndexRange, LeastArray, LeastRule, Levels, LoopNest, Spread, SteppedArray, TimeCut, cuts,
};
use layout_reference::boxes::index_at;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::operations::{Array, Operation, WindowDim};
use tensor_layout::places::{Machine, Placement};

/// An operation and its arrays, the result last.
struct Case {
    nest: LoopNest,
    sizes: Vec<Vec<i64>>,
}

impl Case {
    fn new(operation: &Operation, sizes: &[&[i64]]) -> Case {
        let arrays: Vec<Array> =
            sizes.iter().map(|own| Array::parse(&format!("f32{own:?}").replace(' ', "")).unwrap()).collect();
        let (result, operands) = arrays.split_last().unwrap();
        let operands: Vec<&Array> = operands.iter().collect();
        let nest = LoopNest::new(&InstanceKind::Operation(operation), &operands, &[result]);
        Case { nest, sizes: sizes.iter().map(|own| own.to_vec()).collect() }
    }

    /// A product, a sum over rows, a window, a transpose or an addition of random sizes.
    fn random(rng: &mut fastrand::Rng) -> Case {
        let mut size = || rng.i64(1..7);
        let (m, k, n) = (size(), size(), size());
        match rng.usize(0..5) {
            0 => Case::product(m, k, n),
            1 => Case::new(&Operation::Reduce { dims: vec![0] }, &[&[m, n], &[n]]),
            2 => {
                let stride = rng.i64(1..3);
                let window = WindowDim {
                    size: 3,
                    stride,
                    low: 1,
                    high: 1,
                    window_dilation: 1,
                    base_dilation: 1,
                    reversed: false,
                };
                let sizes = [m, n].map(|size| (size - 1) / stride + 1);
                Case::new(&Operation::ReduceWindow { window: vec![window; 2] }, &[&[m, n], &sizes])
            }
            3 => Case::new(&Operation::Transpose { permutation: vec![1, 0] }, &[&[m, n], &[n, m]]),
            _ => Case::new(&Operation::Elementwise, &[&[m, n], &[m, n], &[m, n]]),
        }
    }

    fn product(m: i64, k: i64, n: i64) -> Case {
        let dot =
            Operation::Dot { lhs_batch: vec![], rhs_batch: vec![], lhs_contracting: vec![1], rhs_contracting: vec![0] };
        Case::new(&dot, &[&[m, k], &[k, n], &[m, n]])
    }

    fn ranges(&self, array: usize) -> &[IndexRange] {
        self.nest.operands.iter().chain(&self.nest.results).nth(array).unwrap()
    }

    fn is_result(&self, array: usize) -> bool {
        array + 1 == self.sizes.len()
    }

    fn stepped<'a>(&'a self, loops: &'a Spread, cut: &'a TimeCut, array: usize) -> SteppedArray<'a> {
        let (ranges, sizes) = (self.ranges(array), &self.sizes[array]);
        SteppedArray::new(&self.nest, loops, cut, (ranges, sizes), 32, self.is_result(array))
    }
}

/// The indices of a loop at a place in a step.
fn own_indices(spread: &Spread, machine: &Machine, place: &[i64], of: usize, size: i64, step: [i64; 2]) -> Vec<i64> {
    // The piece of the place, by the layout of the single dimension's sharding.
    let names = |own: usize| (own == of).then_some(0);
    let alone = spread.renamed(&names);
    let layout = alone.layout(&[size], machine).unwrap();
    let placement = Placement::new(&layout, Some(&[size])).unwrap();
    let block = spread.block(of, size);
    let here = |i: &i64| {
        let at = placement.place(&[*i]).unwrap();
        let along = |axis: &str| placement.axes().iter().position(|own| own == axis).map(|k| at[k]);
        let of_axis = |(number, axis): (usize, &tensor_layout::places::Axis)| {
            // Copies are in each piece of the others.
            let cuts = &alone.axes[number];
            let mut stride: i64 = cuts.iter().map(|cut| cut.pieces).product();
            let mut same = true;
            for cut in cuts {
                stride /= cut.pieces;
                let digit = |at: i64| at / stride % cut.pieces;
                same &= cut.of.is_none() || digit(along(&axis.name).unwrap_or(0)) == digit(place[number]);
            }
            same
        };
        machine.axes.iter().enumerate().all(of_axis) && (step[0]..step[1]).contains(&(i % block))
    };
    (0..size).filter(here).collect()
}

/// The elements of an array for these loop indices, one by one.
fn elements(ranges: &[IndexRange], sizes: &[i64], indices: &[Vec<i64>]) -> BTreeSet<Vec<i64>> {
    let mut all = BTreeSet::from([Vec::new()]);
    for (range, size) in ranges.iter().zip(sizes) {
        let mut own = BTreeSet::new();
        match range.of_loop() {
            Some(of) => indices[of]
                .iter()
                .for_each(|l| own.extend(range.of([*l, l + 1], *size)[0]..range.of([*l, l + 1], *size)[1])),
            None => own.extend(0..*size),
        }
        all = all.into_iter().flat_map(|at| own.iter().map(move |i| [at.clone(), vec![*i]].concat())).collect();
    }
    all
}

/// The places of a machine.
struct Places<'a> {
    machine: &'a Machine,
    extents: Vec<i64>,
}

impl Places<'_> {
    fn new(machine: &Machine) -> Places<'_> {
        Places { machine, extents: machine.axes.iter().map(|axis| axis.extent).collect() }
    }

    fn count(&self) -> i64 {
        self.extents.iter().product()
    }

    fn coordinates(&self, place: i64) -> Vec<i64> {
        index_at(place as usize, &self.extents)
    }

    /// The elements that each place holds.
    fn held(&self, held: &Spread, sizes: &[i64]) -> Vec<BTreeSet<Vec<i64>>> {
        let placement = Placement::new(&held.layout(sizes, self.machine).unwrap(), Some(sizes)).unwrap();
        let every = elements(&vec![IndexRange::Whole; sizes.len()], sizes, &[]);
        let number = |index: &Vec<i64>| {
            let at = placement.place(index).unwrap();
            let along = |axis: &str| placement.axes().iter().position(|own| own == axis).map_or(0, |k| at[k]);
            self.machine.axes.iter().fold(0, |number, axis| number * axis.extent + along(&axis.name))
        };
        (0..self.count()).map(|place| every.iter().filter(|index| number(index) == place).cloned().collect()).collect()
    }

    /// The elements that each node of a level needs in a step and does not hold.
    fn brought(&self, needed: &[BTreeSet<Vec<i64>>], held: &[BTreeSet<Vec<i64>>]) -> Vec<((usize, i64), i64)> {
        let mut brought = Vec::new();
        for level in 0..self.extents.len() {
            let below: i64 = self.extents[level + 1..].iter().product();
            for node in 0..self.count() / below {
                let inside = (node * below) as usize..((node + 1) * below) as usize;
                let all = |sets: &[BTreeSet<Vec<i64>>]| -> BTreeSet<Vec<i64>> {
                    sets[inside.clone()].iter().flatten().cloned().collect()
                };
                brought.push(((level, node), all(needed).difference(&all(held)).count() as i64));
            }
        }
        brought
    }
}

/// The step of each of `loops` loops, at a number of the steps in this order.
fn steps_at(number: i64, cut: &TimeCut, counts: &[i64], loops: usize) -> Vec<i64> {
    let mut rest = number;
    let mut at = vec![0; loops];
    for (of, count) in cut.order.iter().zip(counts).rev() {
        at[*of] = rest % count;
        rest /= count;
    }
    at
}

/// Runs the steps in order, each place with a buffer for a piece of each array. Returns the elements that the busiest
/// node of each level receives and sends.
fn run(machine: &Machine, case: &Case, loops: &Spread, cut: &TimeCut, array: usize, held: &Spread) -> (Vec<i64>, i64) {
    let (nest, sizes, ranges) = (&case.nest, &case.sizes[array], case.ranges(array));
    let counts: Vec<i64> = cut.order.iter().map(|of| cut.count(*of, nest, loops)).collect();
    let places = Places::new(machine);
    let loop_sizes = 0..nest.sizes.len();
    let whole = |of: usize| [0, loops.block(of, nest.sizes[of])];
    let indices = |place: i64, of: usize, steps: [i64; 2]| {
        own_indices(loops, machine, &places.coordinates(place), of, nest.sizes[of], steps)
    };
    let runs = |place: i64| {
        let used = places.coordinates(place).iter().enumerate().all(|(axis, at)| *at < loops.used(axis));
        used && loop_sizes.clone().all(|of| !indices(place, of, whole(of)).is_empty())
    };
    let holds = places.held(held, sizes);
    let live: Vec<bool> = (0..places.count()).map(runs).collect();
    let mut moved: BTreeMap<(usize, i64), i64> = BTreeMap::new();
    let (mut last, mut seen, mut most) = (None::<Vec<i64>>, BTreeSet::new(), 0);
    for step in 0..counts.iter().product::<i64>() {
        let at = steps_at(step, cut, &counts, nest.sizes.len());
        let own = |of: usize| {
            let block = loops.block(of, nest.sizes[of]);
            [at[of] * cut.steps[of], ((at[of] + 1) * cut.steps[of]).min(block)]
        };
        let piece: Vec<i64> = ranges.iter().filter_map(|range| range.of_loop()).map(|of| at[of]).collect();
        if last.as_ref() == Some(&piece) {
            continue;
        }
        // A result piece that returns is read before it is written.
        let times = if case.is_result(array) && !seen.insert(piece.clone()) { 2 } else { 1 };
        last = Some(piece);
        let in_buffer = |place: i64| {
            let own: Vec<Vec<i64>> = loop_sizes.clone().map(|of| indices(place, of, own(of))).collect();
            if live[place as usize] { elements(ranges, sizes, &own) } else { BTreeSet::new() }
        };
        let in_buffer: Vec<BTreeSet<Vec<i64>>> = (0..places.count()).map(in_buffer).collect();
        most = most.max(in_buffer.iter().map(BTreeSet::len).max().unwrap_or(0) as i64);
        for (node, brought) in places.brought(&in_buffer, &holds) {
            *moved.entry(node).or_default() += brought * times;
        }
    }
    let busiest = |level: usize| moved.iter().filter(|((own, _), _)| *own == level).map(|(_, n)| *n).max().unwrap_or(0);
    ((0..places.extents.len()).map(busiest).collect(), most)
}

fn random_spread(rng: &mut fastrand::Rng, machine: &Machine, dims: usize, cuttable: &[bool]) -> Spread {
    let mut spread = Spread::default();
    for axis in &machine.axes {
        let of = rng.usize(0..dims);
        let cut = if cuttable[of] { AxisCut::of(of, axis.extent) } else { AxisCut::copies(axis.extent) };
        spread.axes.push(vec![cut]);
    }
    spread.settle();
    spread
}

fn random_cut(rng: &mut fastrand::Rng, case: &Case, loops: &Spread) -> TimeCut {
    let block = |of: usize| loops.block(of, case.nest.sizes[of]);
    let mut order: Vec<usize> = (0..case.nest.sizes.len()).collect();
    rng.shuffle(&mut order);
    let steps = (0..order.len()).map(|of| if case.nest.cuttable[of] { rng.i64(1..=block(of)) } else { block(of) });
    TimeCut::new(steps.collect(), &order, &case.nest, loops)
}

#[test]
fn steps_move_and_hold_what_loops_with_buffers_do() {
    let mut rng = fastrand::Rng::with_seed(19);
    let machine = Machine::parse("axes: (2_C, 2_D), memories: (), word: 32").unwrap();
    let levels = Levels::new(&machine).unwrap();
    for _ in 0..1500 {
        let case = Case::random(&mut rng);
        let loops = random_spread(&mut rng, &machine, case.nest.sizes.len(), &case.nest.cuttable);
        let cut = random_cut(&mut rng, &case, &loops);
        for (array, sizes) in case.sizes.iter().enumerate() {
            let held = random_spread(&mut rng, &machine, sizes.len(), &[true; 3]);
            // A place holds no copies of another place's elements.
            let held = held.without_copies(sizes);
            let read = levels.boxes(&case.nest.sizes, &loops).of_array(case.ranges(array), sizes);
            let stepped = case.stepped(&loops, &cut, array);
            let moved = levels.traffic_in_steps(&read, &levels.boxes(sizes, &held), &stepped);
            let moved: Vec<i64> = moved.busiest.iter().map(|bytes| bytes / 4).collect();
            let piece = cut.piece(case.ranges(array), sizes, &case.nest, &loops);
            let found = run(&machine, &case, &loops, &cut, array, &held);
            assert_eq!((moved, piece), found, "{:?} {loops:?} {cut:?} array {array} {held:?}", case.nest);
        }
    }
}

/// All orders of the elements from `from` on.
fn permutations(all: &mut Vec<usize>, from: usize, found: &mut Vec<Vec<usize>>) {
    if from >= all.len() {
        found.push(all.clone());
    }
    for k in from..all.len() {
        all.swap(from, k);
        permutations(all, from + 1, found);
        all.swap(from, k);
    }
}

/// The cuts of a nest by all step sizes, in all orders.
fn every_cut(nest: &LoopNest, loops: &Spread) -> Vec<TimeCut> {
    let mut orders = Vec::new();
    permutations(&mut (0..nest.sizes.len()).collect(), 0, &mut orders);
    let mut steps = vec![Vec::new()];
    for (of, size) in nest.sizes.iter().enumerate() {
        let own: Vec<i64> = (1..=*size).filter(|step| step == size || nest.cuttable[of]).collect();
        steps = steps
            .into_iter()
            .flat_map(|at: Vec<i64>| own.iter().map(move |s| [at.clone(), vec![*s]].concat()))
            .collect();
    }
    let cuts = |steps: Vec<i64>| orders.iter().map(move |order| TimeCut::new(steps.clone(), order, nest, loops));
    steps.into_iter().flat_map(cuts).collect()
}

/// On one place, with all arrays outside and limited buffer bytes: the search moves at most the bytes of the best
/// divisors and powers of two in any order, and at least those of the best step sizes.
#[test]
fn the_cuts_that_are_tried_move_least() {
    let mut rng = fastrand::Rng::with_seed(20);
    let machine = Machine::parse("axes: (1_P), memories: (), word: 32").unwrap();
    let levels = Levels::new(&machine).unwrap();
    let loops = Spread { axes: vec![vec![]], ..Spread::default() };
    for _ in 0..300 {
        let case = Case::random(&mut rng);
        let nest = &case.nest;
        let boxes: Vec<_> = (case.sizes.iter().enumerate())
            .map(|(k, sizes)| levels.boxes(&nest.sizes, &loops).of_array(case.ranges(k), sizes))
            .collect();
        let bytes = |cut: &TimeCut| {
            let one = |k: usize| {
                let nowhere = levels.nowhere(case.sizes[k].len());
                levels.traffic_in_steps(&boxes[k], &nowhere, &case.stepped(&loops, cut, k)).busiest[0]
            };
            (0..case.sizes.len()).map(one).sum::<i64>()
        };
        let room = |cut: &TimeCut| {
            (0..case.sizes.len()).map(|k| 4 * cut.piece(case.ranges(k), &case.sizes[k], nest, &loops)).sum::<i64>()
        };
        let arrays: Vec<Brought> = (0..case.sizes.len())
            .map(|k| {
                let weight = levels.traffic(&boxes[k], &levels.nowhere(case.sizes[k].len()), 32).busiest[0];
                Brought::new((case.ranges(k), &case.sizes[k]), 32, case.is_result(k), weight)
            })
            .collect();
        let few = |(step, size): (&i64, &i64)| size % step == 0 || step.count_ones() == 1;
        let tried = |cut: &TimeCut| (room(cut), bytes(cut), cut.steps.iter().zip(&nest.sizes).all(few));
        let all: Vec<(i64, i64, bool)> = every_cut(nest, &loops).iter().map(tried).collect();
        let least = all.iter().map(|(room, ..)| *room).min().unwrap();
        let most = all.iter().map(|(room, ..)| *room).max().unwrap();
        assert!(cuts(nest, &loops, &arrays, &[vec![false; arrays.len()]], least - 1).is_empty());
        for capacity in [least, rng.i64(least..=most), most] {
            let found = cuts(nest, &loops, &arrays, &[vec![false; arrays.len()]], capacity);
            for choice in &found {
                assert_eq!(room(&choice.cut), choice.bytes);
                assert!(choice.bytes <= capacity);
            }
            let best = found.iter().map(|choice| bytes(&choice.cut)).min().unwrap();
            let fit = || all.iter().filter(|(room, ..)| *room <= capacity);
            let of_all = fit().map(|(_, bytes, _)| *bytes).min().unwrap();
            let of_few = fit().filter(|(.., few)| *few).map(|(_, bytes, _)| *bytes).min().unwrap();
            assert!(of_all <= best && best <= of_few, "{nest:?} in {capacity}: {found:?}");
        }
    }
}

/// No cut of a product moves less than the bound.
#[test]
fn no_cut_moves_less_than_the_bound() {
    let mut rng = fastrand::Rng::with_seed(21);
    let machine = Machine::parse("axes: (2_C, 2_D), memories: (), word: 32").unwrap();
    let levels = Levels::new(&machine).unwrap();
    for _ in 0..2000 {
        let case = Case::random(&mut rng);
        let loops = random_spread(&mut rng, &machine, case.nest.sizes.len(), &case.nest.cuttable);
        let cut = random_cut(&mut rng, &case, &loops);
        let arrays: Vec<LeastArray> = (0..case.sizes.len())
            .map(|k| LeastArray::new((case.ranges(k), &case.sizes[k]), 32, case.is_result(k), true))
            .collect();
        let rule = LeastRule::of(&case.nest, &arrays);
        let (mut moved, mut room) = ([0, 0], 0);
        for (k, sizes) in case.sizes.iter().enumerate() {
            let read = levels.boxes(&case.nest.sizes, &loops).of_array(case.ranges(k), sizes);
            let own = levels.traffic_in_steps(&read, &levels.nowhere(sizes.len()), &case.stepped(&loops, &cut, k));
            moved = [moved[0] + own.busiest[0], moved[1] + own.busiest[1]];
            room += 4 * cut.piece(case.ranges(k), sizes, &case.nest, &loops);
        }
        for (level, nodes) in [2, 4].into_iter().enumerate() {
            let least = rule.bytes(&case.nest, &arrays, nodes, room * 4 / nodes);
            assert!(least <= moved[level], "{:?} {loops:?} {cut:?}: {least} of {moved:?}", case.nest);
        }
    }
    // 2 · 2^28 / 64 - 2 · 4096 words of 4 bytes.
    let case = Case::product(1024, 512, 512);
    let arrays: Vec<LeastArray> =
        (0..3).map(|k| LeastArray::new((case.ranges(k), &case.sizes[k]), 32, case.is_result(k), true)).collect();
    assert_eq!(LeastRule::of(&case.nest, &arrays).bytes(&case.nest, &arrays, 1, 4 * 4096), 4 * 8380416);
}
