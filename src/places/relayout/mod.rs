//! Relayout of a tensor between two placements: the copies, and the traffic of each level.
//!
//! From `((4_PE, 4:1))` to `((4:1, 4_PE))`, element `i` goes from PE `i floordiv 4` to PE `i mod 4`: with the digits
//! `a = i floordiv 4` and `b = i mod 4`, from PE `a`, address `b` to PE `b`, address `a`. One [`Block`] expresses this;
//! a few express most relayouts. The 4 elements with `a = b` stay, the other 12 go to another PE.
//!
//! 1. *Digits.* The weights of both sides' digits cut each dimension into segments; each digit is cut further where the
//!    other side's strides along its axis, or the groups of a machine, cut it. Where weights do not divide each other,
//!    as 3 and 4, the values of the segment between two common multiples are enumerated.
//! 2. *Boxes.* The indices below a size that is no product of digits are a box for each digit: the digits above equal
//!    those of the size, this one is less than the size's, those below are free.
//! 3. *Counts.* Along an axis whose strides nest, both coordinates are numbers in one mixed radix, so they are equal
//!    where their digits are: variables fall into classes of equal ones, and the elements of a box that stay are a
//!    product over the classes. Strides that do not nest are enumerated value by value, up to a bound.
//!
//! So costs grow with the number of digits, not of elements; there are more boxes where several dimensions are padded,
//! or have weights that do not divide each other.
//!
//! Not promised: an order or a schedule of the copies, and room in the memories, which [`Machine::check`] verifies.
//!
//! | file | content |
//! |---|---|
//! | `moves` | the plan: levels, and copies |
//! | `counts` | counting without overflow, in a bounded number of steps |
//! | `tree` | the axes of both sides |
//! | `digits` | step 1 |
//! | `joint` | step 2 |
//! | `equal` | step 3 |
//! | `collectives` | the relayout as a chain of collectives |

mod collectives;
mod counts;
mod digits;
mod equal;
mod joint;
mod moves;
mod tree;

use crate::places::machine::Machine;
use crate::places::placement::Placement;
use crate::text::Error;
use counts::{Budget, too_many};
use joint::Joint;
use tree::{FROM, SamePlace, TO, Tree};

pub use collectives::{CollectiveKind, DigitExchange, IndexDigit, RelayoutStep, collectives};
pub use moves::{Affine, Block, Copy, Level, MAX_BLOCKS, RelayoutPlan};

/// The most values that are enumerated where strides do not nest.
const MAX_STEPS: usize = 1 << 21;

/// The relayout between two placements of a tensor of elements of `element_bits` bits, densely counted.
///
/// On a machine [`Machine::check`] chooses the memory of each side, whether it has room or not; without memories, it is
/// the places of the last axis. The axes below a memory's are no coordinates in it: there are no copies along them, and
/// coordinates in [`RelayoutPlan::blocks`] are 0. Axes that a layout names below its memory, where the machine has no deeper
/// one, number parts of the memory beside the address.
///
/// Without a machine each axis is a level, in the order in which the layouts name them, with as many places as they
/// reach. An axis that a layout does not name, or broadcasts, has a copy at each of its places; but an unnamed `W`,
/// which only packs elements, has no copies. Each copy in the destination is filled, from the nearest copy in the
/// source, along each axis on its own: the one with the destination's own coordinate, if there is one, else one in the
/// smallest group of the axis that holds both. Where strides do not nest, or a part of an axis that a `B@[n_X:s]` spans
/// ends elsewhere than the digits, this splits boxes value by value; where that takes too many values or boxes, copies
/// along this axis may not be the nearest.
///
/// `Time` and `W` are no levels of the tree: movement along them alone is a copy inside a place.
///
/// # Errors
/// Different sizes, a layout that reaches beyond the machine, counts beyond 64 bits, and strides for which counting
/// takes too many steps.
///
/// # Example
/// ```
/// use tensor_layout::places::{Machine, Placement, plan};
/// let board = Machine::parse("mn_core").unwrap();
/// let rows = Placement::parse("((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))").unwrap();
/// let other = Placement::parse("((8_L1B, 16_L2B, 8:8), (16_MAB, 4_PE, 8:1))").unwrap();
/// let plan = plan(&rows, &other, Some(&board), 32).unwrap();
/// assert_eq!((plan.elements, plan.stay, plan.blocks.len()), (1024 * 512, 2048, 1));
/// // Of 16 L2Bs one keeps what it has: 15 of 16 elements cross between L2Bs.
/// assert_eq!(plan.levels[0].cross, 1024 * 512 / 16 * 15);
/// ```
pub fn plan(
    from: &Placement,
    to: &Placement,
    machine: Option<&Machine>,
    element_bits: i64,
) -> Result<RelayoutPlan, Error> {
    if from.sizes() != to.sizes() {
        return Err(Error::new(format!("the sizes are {:?} and {:?}", from.sizes(), to.sizes())));
    }
    if element_bits < 1 {
        return Err(Error::new(format!("an element must have at least 1 bit, found {element_bits}")));
    }
    if let Some(machine) = machine {
        machine.reach(from, element_bits)?;
        machine.reach(to, element_bits)?;
    }
    let nearest = plan_with(from, to, machine, element_bits, true);
    // Without the nearest of partial copies there are fewer boxes to count in.
    let partial = || from.digits().iter().any(|digit| digit.dim.is_none());
    nearest.or_else(|error| if partial() { plan_with(from, to, machine, element_bits, false) } else { Err(error) })
}

/// [`plan`]; `nearest`: whether to look for the nearest of partial copies.
fn plan_with(
    from: &Placement,
    to: &Placement,
    machine: Option<&Machine>,
    element_bits: i64,
    nearest: bool,
) -> Result<RelayoutPlan, Error> {
    let memories = match machine {
        Some(machine) => [memory(machine, from, element_bits)?, memory(machine, to, element_bits)?],
        None => [None; 2],
    };
    let tree = Tree::new([from, to], machine, memories, element_bits);
    let joint = Joint::new(&tree, [from, to], nearest)?;
    let mut steps = Budget(MAX_STEPS);
    let mut count = |constraints: &[SamePlace]| joint.total(&joint.equal(constraints), &mut steps);
    let elements = count(&[])?;
    let mut same = Vec::new();
    let mut staying = elements;
    let mut levels = Vec::new();
    for level in &tree.levels {
        let (axis, group) = (tree.axes[level.axis].clone(), level.unit);
        let has = tree.depths.map(|depth| level.axis < depth);
        if has == [false; 2] {
            levels.push(Level { axis, group, cross: 0, up: 0, down: 0 });
            continue;
        }
        same.push(*level);
        let mut equal = joint.equal(&same);
        equal.never = has[FROM] != has[TO];
        let left = joint.total(&equal, &mut steps)?;
        let mut busiest = |side: usize| -> Result<i64, Error> {
            if !has[side] {
                return Ok(0);
            }
            let moved = joint.busiest(side, &same, &equal, &mut steps)?;
            let bits = i128::from(moved) * i128::from(element_bits);
            i64::try_from((bits + 7) / 8).map_err(|_| too_many())
        };
        levels.push(Level { axis, group, cross: staying - left, up: busiest(FROM)?, down: busiest(TO)? });
        staying = left;
    }
    if memories[FROM] != memories[TO] {
        staying = 0;
    }
    same.extend(tree.local.iter().map(|&axis| SamePlace { axis, unit: 1 }));
    let unmoved = if staying == 0 { 0 } else { joint.total(&joint.equal(&same), &mut steps)? };
    let blocks = joint.boxes.iter().map(|ranges| joint.block(&tree, ranges)).collect();
    Ok(RelayoutPlan { axes: tree.axes, memories, elements, stay: staying, unmoved, levels, blocks })
}

/// The memory that [`Machine::check`] chooses, whether it has room or not.
fn memory(machine: &Machine, side: &Placement, element_bits: i64) -> Result<Option<usize>, Error> {
    // `Machine::check` chooses the largest memory at an axis: all grow to the limit here, in the same order.
    let mut roomy = machine.clone();
    for memory in &mut roomy.memories {
        let larger = machine.memories.iter().filter(|other| other.bytes > memory.bytes).count();
        memory.bytes = i64::MAX.saturating_sub_unsigned(larger as u64);
    }
    Ok(roomy.check(side, element_bits, None)?.memory)
}
