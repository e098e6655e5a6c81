//! Buffers of a function that share a place, one after another, and their live ranges.
//!
//! A *web* is a set of owners that hand one buffer on to each other: the buffers that branches yield and the results of
//! the conditional; a loop's initial operands, the values that its body yields, and its results.
//!
//! ```text
//! %0 = alloc                       a
//! %r = scf.for iter_args(%x = %0)  %x: where %0 was, or %1 of the iteration before
//!        %1 = alloc                b while %x is live in a, a while it is in b
//!        use %x, %1; dealloc %x; yield %1
//! use %r; dealloc %r               a or b
//! ```
//!
//! A web takes one slot if no buffer of it is allocated while another is live. It takes two if at most one other is
//! live: the new buffer then takes the slot that the other one is not in, which is known at run time.

use crate::analysis::functions::callee;
use crate::analysis::ownership::{Owner, Release, owners};
use crate::buffers::operations::{IN_ORDER, is};
use crate::lower::plan_memory::memory::ArenaMemory;
use crate::lower::plan_memory::signature::GivenMemory;
use layout_ir::{self as ir, Op, Val};
use melior::ir::{TypeLike, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::offsets::LiveRange;
use tensor_layout::sets::DisjointSets;

/// The operations of a function in the order of the text.
pub struct Text<'c> {
    /// The operations; the first is the function.
    pub operations: Vec<Op<'c>>,
    /// Each operation's number.
    numbers: HashMap<usize, usize>,
    /// The number of the last operation inside each, or its own.
    ends: Vec<usize>,
    /// Operations that several threads may run at the same time.
    at_once: HashSet<usize>,
}

impl<'c> Text<'c> {
    /// Numbers the operations of a function.
    pub fn of(function: Op<'c>) -> Text<'c> {
        let operations = ir::all_operations(function);
        let numbers: HashMap<usize, usize> =
            operations.iter().enumerate().map(|(k, op)| (ir::op_key(*op), k)).collect();
        let (mut ends, mut at_once): (Vec<usize>, _) = ((0..operations.len()).collect(), HashSet::new());
        let parent = |k: usize| ir::parent(operations[k]).map_or(0, |op| numbers[&ir::op_key(op)]);
        for k in 1..operations.len() {
            if at_once.contains(&parent(k)) || !is(ir::name(operations[parent(k)]), IN_ORDER) {
                at_once.insert(k);
            }
        }
        for k in (1..operations.len()).rev() {
            ends[parent(k)] = ends[parent(k)].max(ends[k]);
        }
        Text { operations, numbers, ends, at_once }
    }

    /// The number of an operation.
    pub fn number(&self, op: Op) -> usize {
        self.numbers[&ir::op_key(op)]
    }

    /// Whether only one buffer of an operation exists at a time.
    pub fn is_in_order(&self, op: Op) -> bool {
        !self.at_once.contains(&self.number(op))
    }
}

/// The definition of a buffer: an allocation, or a call whose callee gets the memory of its result.
pub struct Creation<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Its result.
    pub value: Val<'c>,
    /// The buffer of the web that is live at that time.
    pub other: Option<Val<'c>>,
}

/// The buffers of one web.
pub struct Web<'c> {
    /// Definitions of buffers, in program order.
    pub creations: Vec<Creation<'c>>,
    /// Operations that free its buffers.
    pub frees: Vec<Op<'c>>,
    /// The bytes of a slot, a multiple of [`ir::ALIGNMENT`], and the number of slots.
    pub slot: i64,
    pub slots: i64,
    /// The live range, in operation numbers.
    live: (usize, usize),
    /// The operand of the function's `func.return`, if the caller gives the memory.
    pub returned: Option<usize>,
    /// The `func.return` and its operand, if the caller gets a copy.
    pub copied: Option<(Op<'c>, usize)>,
}

impl Web<'_> {
    /// The live range with its bytes; `None` if they overflow.
    pub fn interval(&self) -> Option<LiveRange> {
        Some(LiveRange { live: self.live, bytes: self.slot.checked_mul(self.slots)?, alignment: ir::ALIGNMENT })
    }
}

/// A member of a web: an owner with its live range.
struct Member<'c> {
    owner: Owner<'c>,
    /// The operation that defines it, and its bytes.
    made: Option<(Op<'c>, i64)>,
    /// Live after the first operation and before the last.
    live: (usize, usize),
}

/// The webs of a function that may have places in a memory. `signatures` holds the functions that are given their
/// memory; `returns` tells whether this one will be.
pub fn webs<'c>(
    text: &Text<'c>,
    signatures: &HashMap<&'c str, GivenMemory>,
    memory: ArenaMemory<'c>,
    returns: bool,
) -> Vec<Web<'c>> {
    let function = text.operations[0];
    let owners = owners(function).unwrap_or_else(|| freed_in_their_block(text));
    let mut sets = DisjointSets::new(owners.len());
    for (number, owner) in owners.iter().enumerate() {
        for release in &owner.releases {
            if let Release::Transferred { to, .. } = release {
                to.iter().for_each(|other| sets.join(*other, number));
            }
        }
    }
    let mut groups: HashMap<usize, Vec<Member<'c>>> = HashMap::new();
    let mut unknown = HashSet::new();
    for (number, owner) in owners.into_iter().enumerate() {
        let root = sets.find(number);
        match member(text, signatures, memory, owner) {
            Some(member) => groups.entry(root).or_default().push(member),
            None => {
                unknown.insert(root);
            }
        }
    }
    let known = groups.into_iter().filter(|(root, _)| !unknown.contains(root));
    let mut webs: Vec<Web> = known.filter_map(|(_, members)| web(text, &members, returns)).collect();
    webs.sort_by_key(|web| text.number(web.creations[0].op));
    webs
}

/// Buffers that the block of their definition frees; used if the owners of a function are unknown.
fn freed_in_their_block<'c>(text: &Text<'c>) -> Vec<Owner<'c>> {
    let made = text.operations.iter().filter(|op| ["memref.alloc", "func.call"].contains(&ir::name(**op)));
    let buffers = made.flat_map(|op| ir::results(*op)).filter(|v| ir::is_buffer(v.r#type()));
    let owner = |value: Val<'c>| {
        let freed: Vec<Op> = ir::uses(value).into_iter().map(|(user, _)| user).collect();
        let mut freed = freed.into_iter().filter(|user| ir::name(*user) == "memref.dealloc");
        match (freed.next(), freed.next()) {
            (Some(op), None) if ir::comes_before(ir::defining_op(value)?, op) => {
                Some(Owner { value, releases: vec![Release::Freed(op)] })
            }
            _ => None,
        }
    };
    buffers.filter_map(owner).collect()
}

/// An owner with its live range; `None` if its buffer cannot have a place.
fn member<'c>(
    text: &Text<'c>,
    signatures: &HashMap<&'c str, GivenMemory>,
    memory: ArenaMemory<'c>,
    owner: Owner<'c>,
) -> Option<Member<'c>> {
    let to = owner.releases.iter().filter_map(Release::op).map(|op| text.number(op)).max()?;
    let Some(op) = ir::defining_op(owner.value) else {
        let first = text.number(ir::after(owner.value)?);
        return Some(Member { owner, made: None, live: (first - 1, to) });
    };
    let at = text.number(op);
    let bytes = match ir::name(op) {
        "memref.alloc" => bytes(op, memory)?,
        "func.call" => {
            let returned = &signatures.get(callee(op)?)?.returned;
            (*returned.get(ir::result_number(owner.value)?)?)?
        }
        _ if !ir::blocks(op).is_empty() => return Some(Member { live: (text.ends[at], to), owner, made: None }),
        _ => return None,
    };
    text.is_in_order(op).then_some(Member { owner, made: Some((op, bytes)), live: (at, to) })
}

/// The web of members; `None` if three of its buffers are live at once, or the caller has to free the result.
fn web<'c>(text: &Text<'c>, members: &[Member<'c>], returns: bool) -> Option<Web<'c>> {
    let mut web = Web {
        creations: vec![],
        frees: vec![],
        slot: 0,
        slots: 1,
        live: (usize::MAX, 0),
        returned: None,
        copied: None,
    };
    for (number, member) in members.iter().enumerate() {
        web.live = (web.live.0.min(member.live.0), web.live.1.max(member.live.1));
        for release in &member.owner.releases {
            match release {
                Release::Freed(op) => web.frees.push(*op),
                Release::Transferred { op, operand, to } if to.is_empty() => {
                    if web.returned.is_some() || web.copied.is_some() {
                        return None;
                    }
                    let end = (*op, *operand);
                    (web.returned, web.copied) = if returns { (Some(end.1), None) } else { (None, Some(end)) };
                }
                Release::Transferred { .. } | Release::Unknown => {}
            }
        }
        if let Some((around, _)) = ir::block_argument(member.owner.value) {
            let at = text.number(around);
            web.live = (web.live.0.min(at), web.live.1.max(text.ends[at]));
        }
        if let Some((op, bytes)) = member.made {
            let at = member.live.0;
            let meets = |(k, other): &(usize, &Member)| {
                *k != number && (other.live.0 == at || (other.live.0 < at && at < other.live.1))
            };
            let mut others = members.iter().enumerate().filter(meets);
            let other = match (others.next(), others.next()) {
                (None, _) => None,
                (Some((_, other)), None) if other.live.0 < at => Some(other.owner.value),
                _ => return None,
            };
            web.slot = web.slot.max(bytes);
            web.slots = web.slots.max(if other.is_some() { 2 } else { 1 });
            web.creations.push(Creation { op, value: member.owner.value, other });
        }
    }
    // One copy serves the allocations of all iterations.
    let in_loop = members.iter().any(|member| ir::block_argument(member.owner.value).is_some());
    if web.copied.is_some_and(|(op, operand)| !in_loop || !is_plain(ir::operands(op)[operand])) {
        return None;
    }
    web.creations.sort_by_key(|creation| text.number(creation.op));
    (!web.creations.is_empty()).then_some(web)
}

/// Whether an allocation can have a value's type.
fn is_plain(value: Val) -> bool {
    ir::memref(value.r#type()).is_some_and(|t| t.layout.is_none() && t.sizes().is_some())
}

/// The bytes of an allocation with static sizes and no strides, in this memory, rounded up.
fn bytes(allocation: Op, memory: ArenaMemory) -> Option<i64> {
    let t = ir::memref(ir::result(allocation, 0).r#type()).filter(|t| t.layout.is_none() && t.space == memory.space)?;
    let alignment = ir::attribute(allocation, "alignment").and_then(ir::integer).unwrap_or(1);
    if ir::ALIGNMENT % alignment.max(1) != 0 {
        return None;
    }
    // Element sizes in LLVM.
    let element = if t.element.is_index() {
        8
    } else {
        u64::try_from(ir::bits(t.element)?).ok()?.div_ceil(8).next_power_of_two()
    };
    let bytes = t.sizes()?.into_iter().try_fold(i64::try_from(element).ok()?, i64::checked_mul)?;
    Some(bytes.max(1).checked_add(ir::ALIGNMENT - 1)? / ir::ALIGNMENT * ir::ALIGNMENT)
}
