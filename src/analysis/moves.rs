//! Whether an operation that only renames elements moves bytes, which it moves first, and how it need not.
//!
//! `f32[8,128]{1,0}` transposed to `f32[128,8]{0,1}` stays where it is, because dimension 0 of the result varies
//! fastest, as dimension 1 of the operand does. To `f32[128,8]{1,0}` element `(0, 1)` moves, from byte 512 to byte 4;
//! the layout `{0,1}` is the one with which nothing would.
//!
//! The rule: with the result's index put into the operand's offset, both offsets must be the same expression; the
//! normal form decides, and where it does not, going through the elements. A layout is proposed only after the same
//! check.

use super::count::{COUNTED, linear};
use super::{Access, bitcast, maps};
use crate::expansion::Expansion;
use crate::expr::Expr;
use crate::layout::Layout;
use crate::map::IndexingMap;
use crate::operation::Operation;
use crate::shape::{Array, Shape};
use crate::simplify::{Form, Interval};
use crate::text::Error;

/// Whether an operation moves anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Every element stays at its byte: the operation is a bitcast.
    Free,
    /// An element moves, or its memory is too small.
    Moves {
        /// The first element of the result in row-major order that moves; `None` where all stay, but the result's
        /// memory is larger than the operand's.
        first: Option<Moved>,
        /// The layout of the result with which nothing moves, or why none was found.
        nearest: Result<Layout, String>,
    },
    /// No element was found that moves, nor was it shown that none does.
    Unknown {
        /// What was tried.
        reason: String,
    },
}

/// An element that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its index in the result.
    pub index: Vec<i64>,
    /// Where it lies in the operand, in elements.
    pub from: i64,
    /// Where it lies in the result, in elements.
    pub to: i64,
}

/// Whether a reshape, a transpose or a copy (an elementwise operation of one operand) from one array to another moves
/// anything.
///
/// # Errors
/// Another operation, shapes that it cannot have, elements of different widths, layouts cut across memories.
///
/// ```
/// use layout::analysis::{Movement, movement};
/// use layout::operation::Operation;
/// use layout::shape::Shape;
///
/// let [from, to] = ["f32[8,128]{1,0}", "f32[128,8]{1,0}"].map(|text| Shape::parse(text).unwrap());
/// let transpose = Operation::Transpose { permutation: vec![1, 0] };
/// let Movement::Moves { first: Some(first), nearest: Ok(nearest) } = movement(&transpose, &from, &to).unwrap() else {
///     panic!()
/// };
/// assert_eq!((first.index, first.from, first.to), (vec![0, 1], 128, 1));
/// assert_eq!(nearest.minor_to_major, [0, 1]);
/// ```
pub fn movement(operation: &Operation, operand: &Shape, result: &Shape) -> Result<Movement, Error> {
    if !matches!(operation, Operation::Reshape | Operation::Transpose { .. } | Operation::Elementwise) {
        return Err(Error::new("only a reshape, a transpose or a copy can leave everything where it is"));
    }
    let found = maps(operation, &[operand], &[result])?;
    let (Shape::Array(from), Shape::Array(to)) = (operand, result) else {
        return Err(Error::new("the operand and the result must be arrays"));
    };
    if bitcast::bits(from).is_none() || bitcast::bits(from) != bitcast::bits(to) {
        return Err(Error::new("the elements of the operand and of the result must take as many bits"));
    }
    let (Some(sizes), Some(out)) = (from.sizes(), to.sizes()) else {
        return Err(Error::new("a size is not bounded"));
    };
    let expansion = Expansion::new(&sizes, &from.layout)?;
    if expansion.is_split() || from.layout.metadata_prefix != to.layout.metadata_prefix {
        return Err(Error::new("the layout is cut across memories, or other metadata stand in front of the data"));
    }
    let Some(Access { maps: all, .. }) = found.reads(0, 0) else { return Ok(Movement::Free) };
    // Without elements nothing moves.
    let [mapped] = &all[..] else { return Ok(Movement::Free) };
    let question =
        Question { map: &mapped.map, operand: expansion.offset_expr(), allocated: expansion.allocated_elements() };
    let first = match question.compare(&Expansion::new(&out, &to.layout)?)? {
        Answer::Same => return Ok(Movement::Free),
        Answer::Unknown => {
            let reason = format!("{COUNTED} elements were searched for one that moves, of more than that");
            return Ok(Movement::Unknown { reason });
        }
        Answer::Moves(moved) => Some(moved),
        Answer::Small => None,
    };
    let proposed = match operation {
        Operation::Transpose { permutation } => vec![renamed(from, |dim| permutation.iter().position(|d| *d == dim))],
        Operation::Reshape => reshaped(from, &sizes, &out, &question),
        _ => vec![Ok(from.layout.clone())],
    };
    let mut nearest = Err("the bytes do not lie as any layout with these tiles or without tiles has them".to_string());
    for layout in proposed {
        match layout {
            Err(reason) if nearest.is_err() => nearest = Err(reason),
            Err(_) => {}
            Ok(layout) => {
                let same = Expansion::new(&out, &layout).and_then(|expansion| question.compare(&expansion));
                if matches!(same, Ok(Answer::Same)) {
                    nearest = Ok(layout);
                    break;
                }
            }
        }
    }
    Ok(Movement::Moves { first, nearest })
}

/// How many places for dimensions of size 1 are tried.
const PLACES: usize = 64;

/// Where the elements of a result come from.
struct Question<'a> {
    /// From the result's index to the operand's.
    map: &'a IndexingMap,
    /// The offset over the operand's index.
    operand: Expr,
    /// The elements that the operand's memory has.
    allocated: i64,
}

enum Answer {
    Same,
    Moves(Moved),
    Small,
    Unknown,
}

impl Question<'_> {
    /// The offset in the operand over the result's index.
    fn from(&self) -> Expr {
        self.operand.substitute(&self.map.results)
    }

    /// Whether all elements lie where the operand has them.
    fn compare(&self, result: &Expansion) -> Result<Answer, Error> {
        if result.is_split() {
            return Err(Error::new("the layout is cut across memories"));
        }
        let (from, to) = (self.from(), result.offset_expr());
        let mut form = Form::new(&self.map.domain);
        if form.interval(&(from.clone() + to.clone().times(-1))) != Interval::new(0, 0) {
            let large = self.map.box_points() > COUNTED;
            for index in self.map.points().take(COUNTED as usize) {
                let too_large = || Error::new("an offset does not fit in 64 bits");
                let from = from.evaluate(&index).ok_or_else(too_large)?;
                let to = to.evaluate(&index).ok_or_else(too_large)?;
                if from != to {
                    return Ok(Answer::Moves(Moved { index, from, to }));
                }
            }
            if large {
                return Ok(Answer::Unknown);
            }
        }
        Ok(if result.allocated_elements() > self.allocated { Answer::Small } else { Answer::Same })
    }
}

/// The layout of the operand with its dimensions renamed.
fn renamed(from: &Array, name: impl Fn(usize) -> Option<usize>) -> Result<Layout, String> {
    let order: Option<Vec<usize>> = from.layout.minor_to_major.iter().map(|dim| name(*dim)).collect();
    let minor_to_major = order.ok_or("a dimension has no name in the result")?;
    Ok(Layout { minor_to_major, ..from.layout.clone() })
}

/// Layouts that a reshape might have: the operand's, where each group of dimensions that become others lies together,
/// and the one without tiles in which the offset is a sum of the dimensions.
fn reshaped(from: &Array, sizes: &[i64], out: &[i64], question: &Question) -> Vec<Result<Layout, String>> {
    let together = || -> Result<Vec<usize>, String> {
        let mut groups = groups(sizes, out);
        let mut order: Vec<usize> = Vec::new();
        let mut rest = from.layout.minor_to_major.iter().filter(|dim| sizes[**dim] != 1).peekable();
        while let Some(dim) = rest.next() {
            let k = groups.iter().position(|g| g.0.contains(dim)).ok_or("the sizes do not fall into groups")?;
            let (mut ins, outs) = groups.swap_remove(k);
            ins.pop_if(|last| last == dim).ok_or_else(|| apart(*dim))?;
            while let Some(next) = ins.pop() {
                rest.next_if(|dim| **dim == next).ok_or_else(|| apart(next))?;
            }
            order.extend(outs.iter().rev());
        }
        Ok(order)
    };
    let sum = || -> Result<Layout, String> {
        let mut form = Form::new(&question.map.domain);
        let reason = "the bytes of a tile do not lie as a sum of the result's indices";
        let (terms, _) = linear(&form.simplify(&question.from())).ok_or(reason)?;
        let mut order: Vec<usize> = (0..out.len()).collect();
        // Dimensions of size 1 go last, which is over the others.
        order.sort_by_key(|dim| (terms.get(dim).copied().unwrap_or(i128::MAX), usize::MAX - dim));
        let plain = Layout::row_major(0);
        Ok(Layout { minor_to_major: order, tiles: plain.tiles, tail_alignment: 1, ..from.layout.clone() })
    };
    let order = match together() {
        Ok(order) => order,
        // Where dimensions lie apart, that is the reason.
        Err(reason) => return vec![sum(), Err(reason)],
    };
    // To tiles it matters where dimensions of size 1 lie: some at one place, the rest over the others.
    let ones: Vec<usize> = (0..out.len()).rev().filter(|dim| out[*dim] == 1).collect();
    let places = (0..=ones.len()).rev().flat_map(|n| (0..order.len().max(1)).map(move |at| (n, at)));
    let placed = places.take(PLACES).map(|(n, at)| {
        let at = at.min(order.len());
        let minor_to_major = [&order[..at], &ones[..n], &order[at..], &ones[n..]].concat();
        Ok(Layout { minor_to_major, ..from.layout.clone() })
    });
    placed.chain([sum()]).collect()
}

fn apart(dim: usize) -> String {
    format!("dimension {dim} of the operand is merged with others, but does not lie beside them in memory")
}

/// The smallest groups of dimensions, in row-major order, that have as many elements on both sides; without those of
/// size 1.
fn groups(a: &[i64], b: &[i64]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let long = |sizes: &[i64]| (0..sizes.len()).filter(|dim| sizes[*dim] != 1).collect::<Vec<_>>();
    let (mut found, mut own) = (Vec::new(), (Vec::new(), Vec::new()));
    let (mut of_a, mut of_b) = (1i128, 1i128);
    let (mut left, mut right) = (long(a).into_iter(), long(b).into_iter());
    loop {
        let (side, list, all, sizes) =
            if of_a <= of_b { (&mut left, &mut own.0, &mut of_a, a) } else { (&mut right, &mut own.1, &mut of_b, b) };
        let Some(dim) = side.next() else { return found };
        *all = all.saturating_mul(sizes[dim].into());
        list.push(dim);
        if of_a == of_b {
            found.push(std::mem::take(&mut own));
        }
    }
}
