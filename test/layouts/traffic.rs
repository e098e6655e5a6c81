//! Conversions between placements: executed on buffers, and counted element by element.

use layout_reference::boxes::indices;
use layout_reference::choices::{self, Choices};
use layout_reference::places::along;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use tensor_layout::places::Machine;
use tensor_layout::places::{Copies, Held, Placement};
use tensor_layout::places::{RelayoutPlan, plan};

/// The board of a plan, computed without the planner.
struct Board<'a> {
    axes: &'a [String],
    places: Vec<i64>,
    /// The axis and the group of each level.
    levels: Vec<(usize, i64)>,
    /// Whether the memory of the source and of the destination has a coordinate along each axis.
    has: [Vec<bool>; 2],
}

const FROM: usize = 0;
const TO: usize = 1;

impl<'a> Board<'a> {
    fn new(
        from: &'a Placement,
        to: &'a Placement,
        axes: &'a [String],
        machine: Option<&Machine>,
        bits: i64,
    ) -> Board<'a> {
        let reach = |side: &Placement, axis: &str| {
            side.axes().iter().position(|name| name == axis).map_or(1, |axis| side.extents()[axis])
        };
        let places = axes.iter().map(|axis| match machine {
            Some(m) if axis == "W" => m.word_bits / bits,
            Some(m) if axis != "Time" => m.axes[m.depth(axis).unwrap()].extent,
            _ => reach(from, axis).max(reach(to, axis)),
        });
        let places: Vec<i64> = places.collect();
        let mut levels = Vec::new();
        for (k, axis) in axes.iter().enumerate().filter(|(_, axis)| *axis != "W" && *axis != "Time") {
            let mut left = places[k];
            let groups = machine.map_or(vec![left], |m| m.axes[m.depth(axis).unwrap()].groups.clone());
            for (level, group) in groups.iter().enumerate() {
                left /= group;
                if level + 1 == groups.len() || (*group > 1 && left > 1) {
                    levels.push((k, left));
                }
            }
        }
        let has = [from, to].map(|side| {
            let memory = machine.and_then(|m| m.check(side, bits, None).unwrap().memory.map(|k| &m.memories[k]));
            let depth = memory.zip(machine).map_or(axes.len(), |(memory, machine)| {
                memory.axis.as_ref().map_or(0, |axis| machine.depth(axis).unwrap() + 1)
            });
            (0..axes.len()).map(|k| k < depth || axes[k] == "W" || axes[k] == "Time").collect()
        });
        Board { axes, places, levels, has }
    }

    /// The coordinates of all copies of an element, the address last. An axis with copies everywhere has `near`'s
    /// coordinate, or all coordinates without it.
    fn places_of(&self, which: usize, side: &Placement, index: &[i64], near: Option<&[i64]>) -> Vec<Vec<i64>> {
        let place = side.place(index).unwrap();
        let mut all = vec![vec![]];
        for (k, axis) in self.axes.iter().enumerate() {
            let known = side.axes().iter().position(|name| name == axis);
            let copies =
                known.map_or(if axis == "W" { Copies::Steps(vec![]) } else { Copies::All }, |k| side.copies(k));
            let first = known.map_or(0, |k| place[k]);
            let coordinates = along(&copies, first).unwrap_or_else(|| match near {
                _ if !self.has[which][k] => vec![first],
                Some(near) => vec![near[k]],
                None => (0..self.places[k]).collect(),
            });
            all = all.iter().flat_map(|c: &Vec<i64>| coordinates.iter().map(|x| [&c[..], &[*x]].concat())).collect();
        }
        all.into_iter().map(|c| [&c[..], &place[place.len() - 1..]].concat()).collect()
    }

    /// The element of a side at a place.
    fn held(&self, side: &Placement, place: &[i64]) -> Held {
        let coordinate = |axis: &String| place[self.axes.iter().position(|name| name == axis).unwrap()];
        let own: Vec<i64> = side.axes().iter().map(coordinate).chain(place.last().copied()).collect();
        side.held(&own).unwrap()
    }

    /// The coordinates of a side's place along the first levels, if its memory has them.
    fn prefix(&self, side: usize, place: &[i64], level: usize) -> Vec<Option<i64>> {
        let levels = self.levels[..=level].iter();
        levels.map(|(axis, group)| self.has[side][*axis].then_some(place[*axis] / group)).collect()
    }

    /// The outermost level at which a source and a destination differ.
    fn crossed(&self, a: &[i64], b: &[i64]) -> usize {
        let differ = |k: &usize| self.prefix(FROM, a, *k) != self.prefix(TO, b, *k);
        (0..self.levels.len()).find(differ).unwrap_or(self.levels.len())
    }
}

/// Executes a plan and counts. Returns whether it used the nearest copies.
fn check(from: &Placement, to: &Placement, machine: Option<&Machine>, bits: i64) -> (RelayoutPlan, bool) {
    let name = format!("{} to {} on {}", from.layout(), to.layout(), machine.map_or("-".into(), Machine::to_string));
    let plan = plan(from, to, machine, bits).unwrap_or_else(|error| panic!("{name}: {error}"));
    let board = Board::new(from, to, &plan.axes, machine, bits);
    let moved = moved(&name, &plan, &board);
    let (mut nearest, mut pairs) = (true, Vec::new());
    for index in indices(from.sizes()) {
        for destination in board.places_of(TO, to, &index, None) {
            let source = moved.get(&destination).unwrap_or_else(|| panic!("{name}: {destination:?} is not filled"));
            assert_eq!(
                board.held(from, source),
                Held::Element(index.clone()),
                "{name}: {destination:?} from {source:?}"
            );
            let best = board.places_of(FROM, from, &index, Some(&destination));
            let best = best.iter().map(|source| board.crossed(source, &destination)).max();
            nearest &= best == Some(board.crossed(source, &destination));
            pairs.push((source.clone(), destination));
        }
    }
    assert_eq!((moved.len(), plan.elements), (pairs.len(), pairs.len() as i64), "{name}: elements and copies");
    let words = [from, to].map(|side| side.axes().iter().any(|axis| axis == "W"));
    let execution = Execution { name: &name, plan: &plan, board: &board, pairs };
    execution.check_places(words, machine.map(|m| m.word_bits / bits));
    execution.check_levels(bits);
    (plan, nearest)
}

/// The source of each destination of a plan.
fn moved(name: &str, plan: &RelayoutPlan, board: &Board) -> HashMap<Vec<i64>, Vec<i64>> {
    let mut moved: HashMap<Vec<i64>, Vec<i64>> = HashMap::new();
    for block in &plan.blocks {
        let mut elements = 0;
        for copy in block.copies() {
            for inner in indices(&copy.sizes) {
                let offset = |strides: &[i64]| inner.iter().zip(strides).map(|(i, stride)| i * stride).sum::<i64>();
                let (mut source, mut destination) = (copy.source.clone(), copy.destination.clone());
                *source.last_mut().unwrap() += offset(&copy.source_strides);
                *destination.last_mut().unwrap() += offset(&copy.destination_strides);
                for (axis, places) in board.places.iter().enumerate() {
                    assert!((0..*places).contains(&source[axis]), "{name}: {source:?}");
                }
                assert_eq!(moved.insert(destination, source), None, "{name}: written twice");
                elements += 1;
            }
        }
        assert_eq!(block.elements(), elements, "{name}");
    }
    moved
}

/// An executed plan: the source and the destination of each element.
struct Execution<'a> {
    name: &'a str,
    plan: &'a RelayoutPlan,
    board: &'a Board<'a>,
    pairs: Vec<(Vec<i64>, Vec<i64>)>,
}

impl Execution<'_> {
    /// Checks the elements that stay at their places; `words` says whether a side has words. Without a
    /// machine, a word has as many elements as the last axis has places.
    fn check_places(&self, words: [bool; 2], in_word: Option<i64>) {
        let Execution { name, plan, board, pairs } = self;
        let same_memory = plan.memories[FROM] == plan.memories[TO];
        let stay = pairs.iter().filter(|(a, b)| same_memory && board.crossed(a, b) == board.levels.len()).count();
        assert_eq!(plan.stay, stay as i64, "{name}: elements that stay");
        let word = plan.axes.iter().position(|axis| axis == "W");
        let position = |place: &[i64], words: bool| {
            let address = place[place.len() - 1];
            if !words {
                return address;
            }
            address * in_word.unwrap_or_else(|| board.places[plan.axes.len() - 1]) + word.map_or(0, |w| place[w])
        };
        let unmoved = pairs.iter().filter(|(a, b)| {
            let spaces = (0..plan.axes.len()).all(|k| plan.axes[k] == "W" || a[k] == b[k]);
            same_memory
                && spaces
                && if words[0] == words[1] { a == b } else { position(a, words[0]) == position(b, words[1]) }
        });
        assert_eq!(plan.unmoved, unmoved.count() as i64, "{name}: elements that do not move");
    }

    /// Checks the elements across each level, and the bytes of its busiest place.
    fn check_levels(&self, bits: i64) {
        let Execution { name, plan, board, pairs } = self;
        assert_eq!(plan.levels.len(), board.levels.len(), "{name}");
        for (k, level) in plan.levels.iter().enumerate() {
            assert_eq!((&level.axis, level.group), (&plan.axes[board.levels[k].0], board.levels[k].1), "{name}");
            let cross = pairs.iter().filter(|(a, b)| board.crossed(a, b) == k).count();
            assert_eq!(level.cross, cross as i64, "{name}: across level {k}");
            for (up, bytes) in [(true, level.up), (false, level.down)] {
                let mut links: HashMap<Vec<Option<i64>>, i64> = HashMap::new();
                for (a, b) in pairs.iter().filter(|(a, b)| board.crossed(a, b) <= k) {
                    let (side, place) = if up { (FROM, a) } else { (TO, b) };
                    if board.has[side][board.levels[k].0] {
                        *links.entry(board.prefix(side, place, k)).or_default() += 1;
                    }
                }
                let most = (links.into_values().max().unwrap_or(0) * bits + 7) / 8;
                assert_eq!(bytes, most, "{name}: the busiest place of level {k}, up {up}");
            }
        }
    }
}

/// The kind of strides in a random layout.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Extents and strides are powers of 2.
    Powers,
    /// Strides along an axis divide each other.
    Nested,
    /// Strides are arbitrary.
    Wild,
}

/// A random layout for the sizes.
fn layout(rng: &mut Choices, sizes: &[i64], kind: Kind, axes: &[&str]) -> Placement {
    loop {
        let mut parts: Vec<(Option<usize>, i64, usize)> = Vec::new();
        for (dim, size) in sizes.iter().enumerate() {
            let mut reached = 1;
            while reached < *size {
                let extent = match kind {
                    Kind::Powers => 1 << rng.i64(0..4),
                    _ => rng.i64(1..6),
                };
                parts.push((Some(dim), extent, rng.usize(0..=axes.len())));
                reached *= extent;
            }
        }
        for _ in 0..rng.usize(0..3) {
            let extent = if kind == Kind::Powers { 1 << rng.i64(0..3) } else { rng.i64(1..4) };
            parts.push((None, extent, rng.usize(0..axes.len())));
        }
        let mut order: Vec<usize> = (0..parts.len()).collect();
        rng.shuffle(&mut order);
        let mut strides = vec![1; parts.len()];
        let mut next = vec![1; axes.len() + 1];
        for k in order {
            let (_, extent, axis) = parts[k];
            strides[k] = if kind == Kind::Wild && rng.bool() { rng.i64(0..12) } else { next[axis] };
            next[axis] *= extent * if rng.one_in(6) { 2 } else { 1 };
        }
        let part = |k: usize| match axes.get(parts[k].2) {
            Some(axis) => format!("{}_{axis}:{}", parts[k].1, strides[k]),
            None => format!("{}:{}", parts[k].1, strides[k]),
        };
        let of = |dim: Option<usize>| (0..parts.len()).filter(|k| parts[*k].0 == dim).map(part).collect::<Vec<_>>();
        let dims: Vec<String> = (0..sizes.len()).map(|dim| format!("({})", of(Some(dim)).join(", "))).collect();
        let mut copies = of(None);
        for (k, axis) in axes.iter().enumerate() {
            if rng.one_in(3) && !parts.iter().any(|part| part.2 == k) {
                copies.push(axis.to_string());
            }
        }
        let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
        let copies = if copies.is_empty() { String::new() } else { format!("; B@[{}]", copies.join(", ")) };
        let text = format!("({})/({}{copies})", sizes.join(","), dims.join(", "));
        let found = Placement::parse(&text);
        if let Ok(placement) = found
            && placement.extents()[..placement.axes().len()].iter().all(|extent| *extent <= 16)
        {
            return placement;
        }
    }
}

/// A machine on which both layouts fit.
fn machine(rng: &mut Choices, sides: [&Placement; 2], axes: &[&str]) -> Option<Machine> {
    let reach = |axis: &str| {
        let of =
            |side: &Placement| side.axes().iter().position(|name| name == axis).map_or(1, |axis| side.extents()[axis]);
        of(sides[0]).max(of(sides[1]))
    };
    if reach("W") > 2 {
        return None;
    }
    let mut text = Vec::new();
    for axis in axes.iter().filter(|axis| **axis != "W" && **axis != "Time") {
        let (least, groups) = (reach(axis), [1, 2, 3, 4][rng.usize(0..4)]);
        let size = (least - 1) / groups + 1 + rng.i64(0..2);
        text.push(if groups == 1 { format!("{size}_{axis}") } else { format!("{groups}x{size}_{axis}") });
    }
    rng.shuffle(&mut text);
    let mut hangs = vec![String::new()];
    hangs.extend(text.iter().map(|axis| format!("at {}", axis.rsplit_once('_').unwrap().1)));
    let mut memories = Vec::new();
    for name in 0..rng.usize(0..6) {
        let (at, bytes) = (&hangs[rng.usize(0..hangs.len())], 1_000_000 + rng.i64(0..2));
        memories.push(format!("M{name}: {name} {at} with {bytes} bytes"));
    }
    let text = format!("axes: ({}), memories: ({}), word: 64", text.join(", "), memories.join(", "));
    Some(Machine::parse(&text).unwrap())
}

/// A conversion to plan.
struct Case {
    from: Placement,
    to: Placement,
    machine: Option<Machine>,
    bits: i64,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.machine.as_ref().map_or("any machine".into(), Machine::to_string);
        write!(f, "{} bits from {} to {} on {machine}", self.bits, self.from.layout(), self.to.layout())
    }
}

/// A random conversion.
fn case(rng: &mut Choices, kind: Kind) -> Case {
    let axes: &[&str] = match rng.u8(0..4) {
        0 => &["P"],
        1 => &["P", "Q", "W"],
        2 => &["P", "Q", "Time"],
        _ => &["P", "Q", "R"],
    };
    let rank = rng.usize(1..3);
    let most = if rank == 1 { 40 } else { 9 };
    let sizes: Vec<i64> = (0..rank).map(|_| if rng.one_in(30) { 0 } else { rng.i64(1..=most) }).collect();
    let mut side = || {
        let named = if rng.one_in(4) { axes.len() } else { rng.usize(1..=axes.len()) };
        layout(rng, &sizes, kind, &axes[..named])
    };
    let (from, to) = (side(), side());
    let machine = if rng.u8(0..3) > 0 { machine(rng, [&from, &to], axes) } else { None };
    let bits = if from.axes().iter().chain(to.axes()).any(|axis| axis == "W") { 32 } else { rng.i64(1..40) };
    Case { from, to, machine, bits }
}

fn random(seed: u64, kind: Kind, cases: u32) {
    let (padded, apart) = (Cell::new(0), Cell::new(0));
    choices::check(
        cases,
        seed,
        |rng| case(rng, kind),
        |Case { from, to, machine, bits }| {
            let (plan, nearest) = check(from, to, machine.as_ref(), *bits);
            assert!(nearest, "{} to {}", from.layout(), to.layout());
            apart.set(apart.get() + u32::from(plan.memories[FROM] != plan.memories[TO]));
            padded.set(padded.get() + u32::from(from.padded_sizes() != from.sizes()));
        },
    );
    assert!(padded.get() * 10 > cases, "{} are padded", padded.get());
    assert!(apart.get() * 40 > cases, "{} go between memories", apart.get());
}

#[test]
fn plans_hold_for_powers_of_two() {
    crate::long_test!();
    random(1, Kind::Powers, 2000);
}

#[test]
fn plans_hold_for_nested_strides() {
    crate::long_test!();
    random(2, Kind::Nested, 2000);
}

#[test]
fn plans_hold_for_any_strides() {
    crate::long_test!();
    random(3, Kind::Wild, 2000);
}

/// The plan between two layouts.
fn between(from: &str, to: &str, machine: Option<&str>) -> Result<RelayoutPlan, String> {
    let [from, to] = [from, to].map(|text| Placement::parse(text).unwrap());
    let machine = machine.map(|text| Machine::parse(text).unwrap());
    plan(&from, &to, machine.as_ref(), 32).map_err(|error| error.message)
}

#[test]
fn plans_do_not_grow_with_local_extents() {
    let small = between(
        "((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))",
        "((4_PE, 4:16, 2_L2B:8, 4_MAB:4, 8_L1B), (8_L2B:1, 4_MAB:1, 16:1))",
        Some("mn_core"),
    );
    let large = between(
        "((16_L2B, 8_L1B, 8000:8000), (16_MAB, 8000:1, 4_PE))",
        "((4_PE, 4000:16000, 2_L2B:8, 4_MAB:4, 8_L1B), (8_L2B:1, 4_MAB:1, 16000:1))",
        Some("mn_core"),
    );
    let (small, large) = (small.unwrap(), large.unwrap());
    assert_eq!((small.elements, small.stay, small.blocks.len()), (1024 * 512, 64, 1));
    assert_eq!((large.elements, large.blocks.len()), (1024 * 512 * 1_000_000, 1));
    for (small, large) in small.levels.iter().zip(&large.levels) {
        assert_eq!(small.cross * 1_000_000, large.cross, "{}", small.axis);
    }
}

#[test]
fn places_that_a_layout_leaves_out_hold_copies() {
    // From DRAM into each of the 16 MABs of a part of the board.
    let mabs = "(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB])";
    let dram = "(256,16)/((4_L2B:2, 64:8), (8:1, 2_W:1))";
    let filled = between(dram, mabs, Some("mn_core_2")).unwrap();
    assert_eq!(filled.elements, 256 * 16 * 16);
    assert_eq!(filled.axes, ["L2B", "L1B", "MAB", "PE", "W"]);
    let groups: Vec<_> = filled.levels.iter().map(|level| (level.axis.as_str(), level.group)).collect();
    assert_eq!(groups, [("L2B", 2), ("L2B", 1), ("L1B", 1), ("MAB", 1), ("PE", 1)]);
    // Half of an L2B's reads from its group are from its own memory.
    assert_eq!((filled.levels[0].cross, filled.levels[1].cross), (0, 256 * 16 * 16 / 2));
}

#[test]
fn what_cannot_be_planned_is_said() {
    for (from, to, machine, message) in [
        ("((4:1))", "((5:1))", None, "the sizes are [4] and [5]"),
        ("((4_X))", "((4:1))", Some("tpu_like"), "unknown axis `X`; the machine has no axes"),
        (
            "((16777216:1, 16777213:16777216))",
            "((16777213:1, 16777216:16777213))",
            None,
            "a plan must have at most 16384 blocks, found more: the layouts have too little in common",
        ),
        (
            "((4611686018427387904:1))",
            "((4611686018427387904:1); B@[4_P])",
            None,
            "the number of elements and copies, or of their bytes, does not fit in 64 bits",
        ),
    ] {
        assert_eq!(between(from, to, machine).unwrap_err(), message, "{from} to {to}");
    }
}

#[test]
fn memories_at_other_depths_are_other_places() {
    let cross = |plan: &RelayoutPlan| plan.levels.iter().map(|level| level.cross).collect::<Vec<_>>();
    let bytes = |plan: &RelayoutPlan| plan.levels.iter().map(|level| (level.up, level.down)).collect::<Vec<_>>();
    // From the DRAM of each L2B into all its LMs.
    let down = between("((8192:1))", "((4_PE, 2048:1))", Some("mn_core")).unwrap();
    let all = 8192 * 16 * 8 * 16;
    assert_eq!((down.memories, down.elements, down.stay), ([Some(0), Some(1)], all, 0));
    assert_eq!(cross(&down), [0, all, 0, 0]);
    assert_eq!(bytes(&down), [(0, 0), (0, 16 * 32768), (0, 32768), (0, 8192)]);
    // And back from the first LMs of each L2B.
    let up = between("((4_PE, 2048:1))", "((8192:1))", Some("mn_core")).unwrap();
    assert_eq!((up.elements, up.stay, cross(&up)), (8192 * 16, 0, vec![0, 8192 * 16, 0, 0]));
    assert_eq!(bytes(&up), [(0, 0), (32768, 0), (32768, 0), (8192, 0)]);
    // Between DRAMs.
    let across = between("((8_L2B, 2:1))", "((2:1, 8_L2B))", Some("mn_core_2")).unwrap();
    assert_eq!((across.elements, across.stay, across.unmoved), (16, 2, 2));
    assert_eq!((cross(&across), bytes(&across)[1]), (vec![12, 2, 0, 0, 0], (8, 8)));
    // A plan exists even beyond the memory's capacity.
    let large = between("((8_L2B, 4000000000:1))", "((4000000000:1, 8_L2B))", Some("mn_core_2")).unwrap();
    assert_eq!(large.memories, [Some(0); 2]);
}

#[test]
fn a_copy_that_is_there_already_stays() {
    let board = Some("axes: (20_L1B, 20_PE), memories: (LM: 1 at PE with 1000000 bytes), word: 64");
    for (from, to, machine, stay, cross) in [
        ("(4)/((2_PE:3, 2:1); B@[2_PE:1])", "(4)/((5_L1B:3); B@[3_L1B:1])", None, 24, &[36, 0][..]),
        ("(2,4)/((2:4), (2:2, 2:1); B@[3_PE:1])", "(2,4)/((3:1), (2_PE:1, 2:4); B@[2_PE:2])", board, 240, &[0, 80]),
        ("(3,5)/((3:2), (6_PE:1); B@[3_L1B:1])", "(3,5)/((4:11), (5:2); B@[3_L1B:2])", board, 30, &[300, 570]),
    ] {
        let [source, destination] = [from, to].map(|text| Placement::parse(text).unwrap());
        let machine = machine.map(|text| Machine::parse(text).unwrap());
        let (plan, nearest) = check(&source, &destination, machine.as_ref(), 32);
        let crossed: Vec<i64> = plan.levels.iter().map(|level| level.cross).collect();
        assert_eq!((nearest, plan.stay, &crossed[..]), (true, stay, cross), "{from} to {to}");
    }
    // Few boxes for any number of places; if there would be too many, copies that may be farther away.
    let few = between("((100000:1); B@[5_P:7])", "((100000_P:1))", None).unwrap();
    assert_eq!((few.stay, few.blocks.len()), (5, 2));
    let many = between("((10000000:1); B@[5_P:7, 3_P:2])", "((10000000_P:1))", None).unwrap();
    assert!(many.elements == 10_000_000 && (1..=15).contains(&many.stay), "{many}");
}
