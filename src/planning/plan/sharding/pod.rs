//! The devices of a machine, and what it takes to bring arrays from one to another: collectives.
//!
//! A machine whose only axis is `Device` or `Process` is a pod: each device has a memory of its own, computes at a rate of
//! its own, and may have copies of what others have. What brings an array from where it is to where it is wanted is a chain of
//! collectives, [`tensor_layout::places::collectives`] finds it. With a part of the axis of `e` devices and `b` bytes on each of them
//! before, each device gets
//!
//! | collective | bytes |
//! |---|---|
//! | all-gather | `(e - 1) b` |
//! | reduce-scatter | `(e - 1) / e * b` |
//! | all-reduce | `2 (e - 1) / e * b`: a reduce-scatter and an all-gather |
//! | all-to-all | `(e - 1) / e * b` |
//! | permute | `b` |
//! | slice | 0 |
//!
//! Where loops of a sum are spread, devices have partial sums: what has a home in pieces along these devices is
//! reduce-scattered into them, what has copies there is all-reduced, and then all goes home.
//!
//! On a [switch](Topology::Switch) bytes come at the rate of the link. On a grid or a torus a link joins neighbours, at its
//! rate in each direction, and the time is that of the busiest link, where collectives use the lines of all dimensions that
//! they span at once. Along a line of `e` devices, `s` apart, and of the links between them `s` such lines use:
//!
//! | collective | time of a line that ends | of one that is a ring |
//! |---|---|---|
//! | all-gather, reduce-scatter, all-reduce of `g` bytes got | `s g / rate` | `s g / (2 rate)` |
//! | all-to-all of `b` bytes on each | `s e b / (4 rate)` | `s e b / (8 rate)` |
//! | permute of `b` bytes on each | `s e b / (2 rate)` | `s e b / (4 rate)` |
//!
//! Half of the bytes of an all-to-all cross the middle of a line; all of a permutation may, and so all are counted.
//!
//! An all-gather along two rings takes half of that of one: each device gets over four links. `2 * 2` devices all-gather
//! `[4]` elements with 1 on each: each gets 3, over two links at once.

use super::spread::{AxisCut, Spread};
use tensor_layout::numbers::ceil_div_wide;
use tensor_layout::numbers::gcd;
use tensor_layout::places::{CollectiveKind, Machine, Placement, Topology, collectives};
use tensor_layout::text::Error;

/// The axes whose places are devices.
const DEVICES: [&str; 2] = ["Device", "Process"];

/// The devices of a machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pod {
    /// Their number.
    pub count: i64,
    /// The dimensions of the grid or torus, the outermost first.
    pub(super) groups: Vec<i64>,
    topology: Topology,
    /// The bytes of a link in a unit of cost, in millionths.
    rate: i64,
    /// The cost of starting a collective, in millionths.
    start: i64,
    /// The additions and multiplications of a device in a unit of cost, in millionths.
    pub(super) work: Option<i64>,
    /// The bytes that a device reads and writes of its memory in a unit of cost, in millionths.
    pub(super) memory: [Option<i64>; 2],
}

/// A part of the axis of devices: so many of them, so far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct DeviceLine {
    /// How far apart they are.
    pub stride: i64,
    /// How many.
    pub extent: i64,
}

/// A collective, for arrays of any sizes that are cut so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PodStep {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// Between the devices that differ in these parts of the axis.
    pub along: Vec<DeviceLine>,
    /// The part of an array's elements that a device gets: numerator and denominator.
    received: [i128; 2],
}

/// A cut at its place along the axis.
#[derive(Clone, Copy, Debug)]
struct PlacedCut {
    line: DeviceLine,
    cut: AxisCut,
}

impl Pod {
    /// The devices of a machine; `None` where its places are none, or have places inside.
    pub fn of(machine: &Machine) -> Option<Pod> {
        let [axis] = &machine.axes[..] else { return None };
        if !DEVICES.contains(&axis.name.as_str()) {
            return None;
        }
        let model = &machine.model;
        let rate = |rates: &[(String, tensor_layout::places::Decimal)]| {
            rates.iter().find(|(name, _)| *name == axis.name).map(|(_, rate)| rate.millionths.max(1))
        };
        let memory = machine.memory_of_places().map(|(memory, _)| &machine.memories[memory]);
        let speeds = memory.map(|memory| [memory.reading, memory.writing]).unwrap_or_default();
        Some(Pod {
            count: axis.extent,
            groups: axis.groups.clone(),
            topology: model.topology(&axis.name),
            rate: rate(&model.links).unwrap_or(1_000_000),
            start: model.costs.collective.millionths,
            work: rate(&model.work),
            memory: speeds.map(|speed| speed.map(|speed| speed.millionths.max(1))),
        })
    }

    /// The collectives that bring an array from where it is held to where it is read.
    pub(super) fn relayout(&self, machine: &Machine, rank: usize, from: &Spread, to: &Spread) -> Vec<PodStep> {
        let [from, to] = [from, to].map(|side| self.everywhere(side));
        if from == to {
            return Vec::new();
        }
        self.chain(machine, rank, &from, &to).unwrap_or_else(|| {
            // Everything comes to every device, which keeps its part.
            let along = placed(&from.axes[0]).filter(|own| own.cut.of.is_some()).map(|own| own.line).collect();
            let pieces: i128 = (0..rank).map(|dim| i128::from(from.pieces(dim))).product();
            vec![PodStep { kind: CollectiveKind::AllGather, along, received: [pieces - 1, pieces] }]
        })
    }

    /// The spread, with copies on every device for an array in no place.
    fn everywhere(&self, spread: &Spread) -> Spread {
        if spread.is_outside() {
            Spread { axes: vec![vec![AxisCut::copies(self.count)]], local: Vec::new() }
        } else {
            spread.clone()
        }
    }

    fn chain(&self, machine: &Machine, rank: usize, from: &Spread, to: &Spread) -> Option<Vec<PodStep>> {
        // What a chain is does not depend on sizes as long as all cuts divide them.
        let size = |dim: usize| {
            let [a, b] = [from, to].map(|side| i128::from(side.pieces(dim)));
            i64::try_from((a / gcd(a, b).max(1)).checked_mul(b)?).ok()
        };
        let sizes: Vec<i64> = (0..rank).map(size).collect::<Option<_>>()?;
        let all = sizes.iter().fold(1i128, |n, size| n.saturating_mul((*size).into()));
        let [from, to] = [from, to].map(|side| {
            let layout = side.layout(&sizes, machine).ok()?;
            Placement::new(&layout, Some(&sizes)).ok()
        });
        let steps = collectives(&from?, &to?).ok()??;
        let step = |step: tensor_layout::places::RelayoutStep| PodStep {
            kind: step.kind,
            along: step.along.iter().map(|own| DeviceLine { stride: own.stride, extent: own.extent }).collect(),
            received: [step.received.into(), all],
        };
        Some(steps.into_iter().map(step).collect())
    }

    /// The collectives that bring the results of loops home: `made` is the spread of an array by the loops, `sums` are
    /// the parts of the axis along which it is partial sums.
    pub(super) fn reduction(
        &self,
        machine: &Machine,
        rank: usize,
        (made, sums): (&Spread, &[DeviceLine]),
        home: &Spread,
    ) -> Vec<PodStep> {
        let home = self.everywhere(home);
        if sums.is_empty() {
            return self.relayout(machine, rank, made, &home);
        }
        // Copies of sums and of other loops are apart.
        let cuts = split(&made.axes[0], sums);
        let parts = common(&cuts, &home.axes[0]);
        // Cuts that do not divide each other: all is added up everywhere.
        let parts = parts.unwrap_or_else(|| {
            let mut alone: Vec<[PlacedCut; 2]> = placed(&cuts).map(|own| [own, own]).collect();
            alone.reverse();
            alone
        });
        let mut cuts: Vec<AxisCut> = Vec::with_capacity(parts.len());
        let (mut scattered, mut reduced) = (Vec::new(), Vec::new());
        let inside = made.axes[0].iter().map(|cut| cut.nesting + 1).max().unwrap_or(0);
        for [own, wanted] in parts {
            let is_sum = sums.iter().any(|sum| {
                own.line.stride >= sum.stride && own.line.stride * own.line.extent <= sum.stride * sum.extent
            });
            if !is_sum {
                cuts.push(AxisCut { pieces: own.line.extent, ..own.cut });
            } else if wanted.cut.of.is_some() {
                scattered.push(own.line);
                cuts.push(AxisCut { pieces: own.line.extent, nesting: inside + wanted.cut.nesting, ..wanted.cut });
            } else {
                reduced.push(own.line);
                cuts.push(AxisCut::copies(own.line.extent));
            }
        }
        let pieces: i128 = (0..rank).map(|dim| i128::from(made.pieces(dim))).product();
        let [into, over] =
            [&scattered, &reduced].map(|lines| lines.iter().map(|line| i128::from(line.extent)).product::<i128>());
        let mut steps = Vec::new();
        if into > 1 {
            let received = [into - 1, into * pieces];
            steps.push(PodStep { kind: CollectiveKind::ReduceScatter, along: joined(scattered), received });
        }
        if over > 1 {
            let received = [2 * (over - 1), over * into * pieces];
            steps.push(PodStep { kind: CollectiveKind::AllReduce, along: joined(reduced), received });
        }
        let mut summed = Spread { axes: vec![cuts], local: Vec::new() };
        summed.settle();
        steps.extend(self.relayout(machine, rank, &summed, &home));
        steps
    }

    /// The parts of the axis along which these loops are cut.
    pub(super) fn lines(loops: &Spread, of: &dyn Fn(usize) -> bool) -> Vec<DeviceLine> {
        let cuts = loops.axes.first().map_or(&[][..], Vec::as_slice);
        placed(cuts).filter(|own| own.cut.of.is_some_and(of)).map(|own| own.line).collect()
    }

    /// The time of a step of an array of so many bits, in millionths of a unit.
    pub(super) fn time(&self, step: &PodStep, bits: i128) -> i128 {
        if step.kind == CollectiveKind::Slice {
            return 0;
        }
        let bytes = step.bytes(bits);
        let rate = i128::from(self.rate);
        let millionths = |bytes: i128, times: i128, part: i128| {
            let all = bytes.saturating_mul(times).saturating_mul(1_000_000_000_000);
            all / (rate * part).max(1)
        };
        let own: Vec<[i128; 3]> = match self.topology {
            Topology::Switch => Vec::new(),
            _ => self.inside(&step.along),
        };
        let moving = if own.is_empty() {
            millionths(bytes, 1, 1)
        } else if matches!(step.kind, CollectiveKind::AllToAll | CollectiveKind::Permute) {
            let all: i128 = own.iter().map(|[extent, ..]| *extent).product();
            let (held, crossing) = match step.kind {
                CollectiveKind::AllToAll => (bytes.saturating_mul(all) / (all - 1).max(1), 1),
                _ => (bytes, 2),
            };
            let line = |[extent, stride, links]: &[i128; 3]| millionths(held, crossing * extent * stride, 4 * links);
            own.iter().map(line).max().unwrap_or(0)
        } else {
            // The links of a device that lines of this step may use together: a line of stride s has 1 / s of each.
            let common: i128 = own.iter().map(|[_, stride, _]| *stride).product();
            let links: i128 = own.iter().map(|[_, stride, links]| links * common / stride).sum();
            millionths(bytes, common, links)
        };
        moving.saturating_add(self.start.into())
    }

    /// By dimension of the grid that a part of the axis spans: the devices along it, how far apart they are, and the links of
    /// a device along it that are used, 2 in a ring.
    fn inside(&self, along: &[DeviceLine]) -> Vec<[i128; 3]> {
        let mut found = Vec::new();
        let mut below = 1i64;
        for group in self.groups.iter().rev() {
            let (first, end) = (below, below * group);
            let (mut extent, mut stride) = (1i64, *group);
            for line in along {
                let start = line.stride.max(first);
                let stop = line.stride.saturating_mul(line.extent).min(end);
                if start < stop {
                    extent *= stop / start;
                    stride = stride.min(start / first);
                }
            }
            if extent > 1 {
                let ring = self.topology == Topology::Torus && *group > 2 && extent * stride >= *group;
                found.push([extent.into(), stride.max(1).into(), if ring { 2 } else { 1 }]);
            }
            below = end;
        }
        found
    }

    /// The cost of steps for an array of so many bits, in units, rounded up.
    pub(super) fn cost(&self, steps: &[PodStep], bits: i128) -> i64 {
        let all = steps.iter().fold(0i128, |sum, step| sum.saturating_add(self.time(step, bits)));
        i64::try_from(all.saturating_add(999_999) / 1_000_000).unwrap_or(i64::MAX)
    }
}

impl PodStep {
    /// The bytes that a device gets of an array of so many bits, rounded up.
    pub(super) fn bytes(&self, bits: i128) -> i128 {
        let [part, of] = self.received;
        let of = of.max(1).saturating_mul(8);
        ceil_div_wide(bits.saturating_mul(part), of)
    }
}

/// Cuts at their places along the axis, the least significant first.
fn placed(cuts: &[AxisCut]) -> impl Iterator<Item = PlacedCut> + '_ {
    let mut stride = 1i64;
    cuts.iter().rev().map(move |cut| {
        let line = DeviceLine { stride, extent: cut.pieces };
        stride = stride.saturating_mul(cut.pieces);
        PlacedCut { line, cut: *cut }
    })
}

/// Cuts of which none is both inside of a line and outside.
fn split(cuts: &[AxisCut], lines: &[DeviceLine]) -> Vec<AxisCut> {
    let mut ends: Vec<i64> =
        lines.iter().flat_map(|line| [line.stride, line.stride.saturating_mul(line.extent)]).collect();
    ends.sort_unstable();
    let mut found = Vec::new();
    for own in placed(cuts) {
        let (mut from, to) = (own.line.stride, own.line.stride.saturating_mul(own.line.extent));
        let inside: Vec<i64> = ends.iter().copied().filter(|end| from < *end && *end < to).chain([to]).collect();
        for end in inside.into_iter().filter(|end| *end > own.line.stride) {
            if end > from {
                found.push(AxisCut { pieces: end / from, ..own.cut });
                from = end;
            }
        }
    }
    found.reverse();
    found
}

/// The parts of the axis on which both sides have one cut each, the most significant first; `None` where they do not divide
/// each other.
fn common(a: &[AxisCut], b: &[AxisCut]) -> Option<Vec<[PlacedCut; 2]>> {
    let [a, b]: [Vec<PlacedCut>; 2] = [placed(a).collect(), placed(b).collect()];
    let mut found = Vec::new();
    let (mut i, mut j, mut stride) = (0, 0, 1i64);
    while i < a.len() && j < b.len() {
        let [end_a, end_b] = [a[i], b[j]].map(|own| own.line.stride.saturating_mul(own.line.extent));
        let end = end_a.min(end_b);
        if end % stride != 0 || end_a % end != 0 || end_b % end != 0 {
            return None;
        }
        let line = DeviceLine { stride, extent: end / stride };
        found.push([PlacedCut { line, cut: a[i].cut }, PlacedCut { line, cut: b[j].cut }]);
        stride = end;
        i += usize::from(end == end_a);
        j += usize::from(end == end_b);
    }
    found.reverse();
    (i == a.len() && j == b.len()).then_some(found)
}

/// Lines with neighbours as one, the least significant first.
fn joined(mut lines: Vec<DeviceLine>) -> Vec<DeviceLine> {
    lines.sort();
    let mut found: Vec<DeviceLine> = Vec::new();
    for line in lines {
        match found.last_mut().filter(|last| last.stride * last.extent == line.stride) {
            Some(last) => last.extent *= line.extent,
            None => found.push(line),
        }
    }
    found
}

/// Why devices cannot be planned with.
pub(super) fn nothing_divides(pod: &Pod, sizes: &[i64]) -> Error {
    let known = sizes.iter().map(|size| size.to_string()).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "none above 1".to_string() } else { known };
    Error::new(format!(
        "the {} devices must divide a dimension of the program, whole or by a factor; its sizes are {known}",
        pod.count
    ))
}
