//! Reshapes: which orders of their arrays go together, and in which a compiler for tiles makes them.
//!
//! A reshape splits and merges groups of dimensions. Orders in which each group is adjacent and row-major go together,
//! whichever way the groups follow each other. XLA's compiler for a TPU takes one pair of them for each reshape before it
//! looks at its neighbours: the pair whose two arrays take fewest bytes together, padding included, of equals that with most
//! rows in its tiles, then the last groups minor. So of 70 random reshapes of up to six dimensions with free arguments and
//! results 68 were made; of 33 chains of a reshape, a transpose, and another reshape, each of the two was. Only a result that
//! is wanted in a layout that the operand already has, element by element, is made so. What neighbours have else is copied
//! before and after it. The reshape itself moves nothing, or it is a kernel to which that compiler gives no price:
//!
//! | `bf16[64,20,4,24]` to `bf16[64,20,96]` | cycles |
//! |---|---|
//! | both in the pair, `{0,3,2,1}` and `{0,2,1}` | 5,993 |
//! | the result in its default, `{2,0,1}`: a copy after the reshape | 7,030 |
//!
//! | `f32[4,32,32,64]`, blocks of 2 × 2 interleaved, to `f32[4,64,64,16]` | cycles |
//! |---|---|
//! | both in their pairs: a copy between memories | 135,744 |
//! | both in their defaults: a copy to fast memory, one within, one from it | 21,328 |

use super::canonical::CanonicalOrder;
use super::classes::{LayoutClasses, LayoutId};
use super::program::{InstanceKind, Program};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use tensor_layout::element::ElementType;
use tensor_layout::operations::operation::Operation;
use tensor_layout::targets::Target;
use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::TileEntry;

/// The layouts in which each reshape is made, by the classes of what it takes and of what it makes.
#[derive(Clone, Debug, Default)]
pub struct ReshapeForms(FxHashMap<[usize; 2], [LayoutId; 2]>);

impl ReshapeForms {
    /// Finds the forms of the reshapes of a program; adds their layouts to the classes.
    pub fn new(
        program: &Program,
        order: &CanonicalOrder,
        classes: &mut LayoutClasses,
        class: &[usize],
    ) -> ReshapeForms {
        let mut found = FxHashMap::default();
        if !classes.target.has_tiles() {
            return ReshapeForms(found);
        }
        for instance in order.working().map(|k| &program.instances[k]) {
            if let (InstanceKind::Operation(Operation::Reshape), [from], [to]) =
                (instance.kind, &instance.operands[..], &instance.results[..])
            {
                let ends = [class[*from], class[*to]];
                if !found.contains_key(&ends)
                    && let Some(form) = form(classes, ends)
                {
                    found.insert(ends, form);
                }
            }
        }
        ReshapeForms(found)
    }

    /// The layouts in which an array of one class becomes one of another; `None` where it only gets or loses dimensions of
    /// size 1, and on a machine without tiles.
    pub fn of(&self, from: usize, to: usize) -> Option<[LayoutId; 2]> {
        self.0.get(&[from, to]).copied()
    }
}

/// The pair of layouts of two classes.
fn form(classes: &mut LayoutClasses, ends: [usize; 2]) -> Option<[LayoutId; 2]> {
    let [a, b] = ends.map(|class| &classes.all[class]);
    let regroups = groups(&a.sizes, &b.sizes)?.iter().any(|(ins, outs)| ins.len() > 1 || outs.len() > 1);
    if !regroups || !a.element.is_data() {
        return None;
    }
    let [from, to] = pair(classes.target, a.element, [&a.sizes, &b.sizes], [1, 1])?;
    Some([classes.offer(ends[0], &from)?, classes.offer(ends[1], &to)?])
}

/// The orders of a reshape's two arrays that go together and take fewest bytes, the bytes of each times its weight.
/// Dimensions of size 1 are most major.
pub fn pair(target: &Target, element: ElementType, [a, b]: [&[i64]; 2], weights: [i128; 2]) -> Option<[Vec<usize>; 2]> {
    let groups = groups(a, b)?;
    // The bytes of an array, and the rows of its tiles.
    let taken = |sizes: &[i64], order: &[usize]| {
        let layout = target.layout(element, sizes, order).ok()?;
        let bytes = Expansion::new(sizes, &layout).ok()?.padded_bytes(element).ok()?;
        let rows = match layout.tiles.first().map(|tile| &tile[..]) {
            Some([TileEntry::Size(rows), _]) => *rows,
            _ => 1,
        };
        Some((i128::from(bytes), i128::from(rows)))
    };
    type Rank = (i128, Reverse<i128>, Reverse<usize>, Reverse<usize>);
    let mut best: Option<(Rank, [Vec<usize>; 2])> = None;
    for minor in 0..groups.len() {
        for second in (0..groups.len()).filter(|second| *second != minor || groups.len() == 1) {
            let mut order = vec![minor, second];
            order.dedup();
            order.extend((0..groups.len()).rev().filter(|group| *group != minor && *group != second));
            let in_order = |dims: &dyn Fn(&Regrouped) -> Vec<usize>, sizes: &[i64]| -> Vec<usize> {
                let long = order.iter().flat_map(|group| dims(&groups[*group]).into_iter().rev());
                long.chain((0..sizes.len()).rev().filter(|dim| sizes[*dim] == 1)).collect()
            };
            let (from, to) = (in_order(&|own| own.0.clone(), a), in_order(&|own| own.1.clone(), b));
            let (Some(left), Some(right)) = (taken(a, &from), taken(b, &to)) else { continue };
            let bytes = left.0.saturating_mul(weights[0]).saturating_add(right.0.saturating_mul(weights[1]));
            let rank = (bytes, Reverse(left.1 + right.1), Reverse(minor), Reverse(second));
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, [from, to]));
            }
        }
    }
    best.map(|(_, orders)| orders)
}

/// The order that a reshape makes of an order, minor to major, where the groups of dimensions that it splits and merges
/// are adjacent and row-major in it: `{1,3,2,0}` of `[4,1024,12,64]` is `{1,2,0}` of `[4,1024,768]`.
pub fn reshaped(order: &[usize], from: &[i64], to: &[i64]) -> Option<Vec<usize>> {
    let groups = groups(from, to)?;
    let mut found = Vec::with_capacity(to.len());
    let long: Vec<usize> = order.iter().copied().filter(|dim| from[*dim] != 1).collect();
    let mut next = long.as_slice();
    while let Some(first) = next.first() {
        let (ins, outs) = groups.iter().find(|(ins, _)| ins.last() == Some(first))?;
        // Minor to major, the group is its dimensions from the last on.
        if next.len() < ins.len() || !next.iter().take(ins.len()).eq(ins.iter().rev()) {
            return None;
        }
        found.extend(outs.iter().rev());
        next = &next[ins.len()..];
    }
    // Dimensions of size 1 stand next to the one before them, so that minor ones stay minor.
    for dim in (0..to.len()).filter(|dim| to[*dim] == 1) {
        let place = found.iter().position(|other| *other + 1 == dim).unwrap_or(found.len());
        found.insert(place, dim);
    }
    (found.len() == to.len()).then_some(found)
}

/// Dimensions of one shape and those of another that they become.
type Regrouped = (Vec<usize>, Vec<usize>);

/// The smallest groups of dimensions, in row-major order, that have as many elements on both sides; without those of size
/// 1. None where the shapes have not as many elements.
fn groups(a: &[i64], b: &[i64]) -> Option<Vec<Regrouped>> {
    let mut found = Vec::new();
    let (mut left, mut right) = ((0..a.len()).filter(|k| a[*k] != 1), (0..b.len()).filter(|k| b[*k] != 1));
    while let Some(first) = left.next() {
        let (mut ins, mut outs) = (vec![first], Vec::new());
        let (mut n, mut m) = (i128::from(a[first]), 1i128);
        while n != m {
            if n > m {
                let dim = right.next()?;
                outs.push(dim);
                m = m.checked_mul(i128::from(b[dim]))?;
            } else {
                let dim = left.next()?;
                ins.push(dim);
                n = n.checked_mul(i128::from(a[dim]))?;
            }
        }
        found.push((ins, outs));
    }
    right.next().is_none().then_some(found)
}
