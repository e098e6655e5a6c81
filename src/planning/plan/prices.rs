//! The costs of the instances of a program in their ways, and the costs where the layouts of two instances meet.
//!
//! A kernel costs its start, reading each stored array once, and writing what it stores. Where the layout that an array has
//! is not the one that an operation takes, a relayout stands between:
//!
//! | the array is | the operation | what it costs |
//! |---|---|---|
//! | stored | has no order of its own, on a machine with tiles | what a copy in memory space 0 costs, or more |
//! | stored | loops, on a machine whose kernels read in any order | what reading in that order takes longer |
//! | stored | any other | a kernel that copies |
//! | fused, or made again | any | the fusion is broken: the array is stored first, then as above |
//!
//! An array is in the fastest memory if it takes no more than a quarter of that, except that arguments and results of the
//! program are in memory space 0. Products, convolutions and look-ups find arguments prefetched.

use super::classes::{LayoutClasses, LayoutId};
use super::kernels::Kept;
use super::ways::Way;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use tensor_layout::element::ElementType;
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::Array;
use tensor_layout::targets::{LoopProduct, RelayoutKind, Target};
use tensor_layout::text::Error;
use tensor_layout::tiled::layout::Layout;

/// The share of the fastest memory that one array may take. Of 41 programs, priced by XLA's own compiler, plans are the same
/// with 1, 2, 4 and 8, and with 16 and 64 one and two cost more (by 2.3 %); of results between two operations that take up
/// to a quarter nearly all are in that memory, of larger ones a third.
const SHARE: i64 = 4;

/// The cost of an argument or a result in another layout than the target's default: the least above 0, so that the
/// default stays where nothing speaks for another layout. With 28 cycles the plans of the 41 programs are the same,
/// with 57 and 113 one of them costs 10 % more, and with 452 two others do.
pub const MARGIN: i64 = 1;

/// Who takes an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taker {
    /// A kernel that streams through its operands.
    Stream,
    /// A product, a look-up: it finds its operands in fast memory.
    Matrix,
    /// One of several convolutions that cut the same images: these are padded and narrowed once, as they lie, and copied in
    /// fast memory for each.
    Cut,
    /// A result of the program.
    Result,
    /// An operation that gives it another name, under which it is a result of the program.
    Renamed,
    /// A merge, or another that takes the array as it is.
    Other,
}

/// An operand of an instance, as far as costs depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meeting {
    /// The class of the array.
    pub class: usize,
    /// The storage of the array.
    pub kept: Kept,
    /// Whether it is an argument of the program.
    pub argument: bool,
    /// Who takes it.
    pub taker: Taker,
    /// The part of it that is read.
    pub extent: Extent,
    /// How many kernels read it.
    pub reads: i64,
    /// Whether a kernel of loops takes it, on a machine whose kernels read in any order: no copy stands between.
    pub in_place: bool,
    /// Whether the operation has no form of its own, so that a compiler for tiles gives it the layout of a neighbour: a copy
    /// before it costs no less than one in memory space 0.
    pub follows: bool,
}

impl Meeting {
    /// Whether the array is read in its own layout, whichever the operation wants: it is in memory.
    pub fn is_read_in_place(&self) -> bool {
        self.in_place && self.kept == Kept::Stored
    }
}

/// The part of an operand that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All.
    Whole,
    /// A part with the sizes of this class.
    Part(usize),
    /// Nothing: it is changed where it is.
    Nothing,
}

/// The costs of instances and relayouts on a target.
pub struct Prices<'a, 't> {
    classes: &'a LayoutClasses<'t>,
    /// The fastest memory that is one, and the most bytes of an array in it.
    fast: Option<(u8, i64)>,
    known: RefCell<FxHashMap<(Meeting, LayoutId, LayoutId), i64>>,
}

impl<'a, 't> Prices<'a, 't> {
    /// The prices of a target.
    pub fn new(classes: &'a LayoutClasses<'t>) -> Prices<'a, 't> {
        let memories = &classes.target.machine().memories;
        let fast = memories.iter().rfind(|memory| memory.axis.is_none() && memory.space != 0);
        let fast = fast.map(|memory| (memory.space, memory.bytes / SHARE));
        Prices { classes, fast, known: RefCell::default() }
    }

    fn target(&self) -> &Target {
        self.classes.target
    }

    /// The memory space of an array that is neither an argument nor a result.
    pub fn space(&self, class: usize, layout: LayoutId) -> u8 {
        let bytes = self.classes.all[class].bytes[usize::from(layout)];
        self.fast.filter(|(_, most)| bytes <= *most).map_or(0, |(space, _)| space)
    }

    /// An array that is neither an argument nor a result.
    fn inner(&self, class: usize, layout: LayoutId) -> Array {
        self.classes.array(class, layout, self.space(class, layout))
    }

    /// The cost of an argument or a result in another layout than the target's default, which is the first.
    pub fn leaving(&self, class: usize, layout: LayoutId) -> i64 {
        if self.is_second(class, layout) { 2 * MARGIN } else { MARGIN }
    }

    /// Whether the same dimensions the other way round are minor in another layout of an array that takes as many bytes, and
    /// which the rule of default layouts would have first.
    fn is_second(&self, class: usize, layout: LayoutId) -> bool {
        let own = &self.classes.all[class];
        let (order, bytes) = (&own.layouts[usize::from(layout)].minor_to_major, own.bytes[usize::from(layout)]);
        let [minor, second, rest @ ..] = &order[..] else { return false };
        let turned = |other: &[usize]| other.starts_with(&[*second, *minor]) && other[2..] == *rest;
        let mut others = own.layouts.iter().zip(&own.bytes);
        self.target().has_tiles()
            && minor < second
            && others.any(|(other, n)| *n == bytes && turned(&other.minor_to_major))
    }

    /// The cost of copying an array to another memory while kernels run.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn beside(&self, class: usize, layout: LayoutId) -> Result<i64, Error> {
        let (near, far) = (self.inner(class, layout), self.classes.array(class, layout, 0));
        self.target().relayout_cost(&far, &far.layout, &near.layout)
    }

    /// The extra cost of a product that reads an operand in memory space 0 or, without an operand, writes its result
    /// there. `None` for anything but a product in a matrix unit.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn product_far(
        &self,
        operation: &Operation,
        way: &Way,
        (from, to): (&[usize], &[usize]),
        operand: Option<usize>,
    ) -> Result<Option<i64>, Error> {
        let mut operands: Vec<Array> =
            from.iter().zip(&way.operands).map(|(c, id)| self.inner(*c, id.unwrap_or(0))).collect();
        let mut results: Vec<Array> = to.iter().zip(&way.results).map(|(c, id)| self.inner(*c, *id)).collect();
        let all = operands.iter().collect::<Vec<_>>();
        let matrix = matches!(operation, Operation::Dot { .. } | Operation::Convolution(_));
        if !matrix || LoopProduct::of(operation, &all).is_some() {
            return Ok(None);
        }
        let total = |operands: &[Array], results: &[Array]| {
            let [operands, results] = [operands, results].map(|arrays| arrays.iter().collect::<Vec<_>>());
            self.target().operation_price(operation, &operands, &results)?.total()
        };
        let near = total(&operands, &results)?;
        match operand {
            Some(operand) => operands[operand].layout.memory_space = 0,
            None => results[0].layout.memory_space = 0,
        }
        Ok(Some(total(&operands, &results)?.saturating_sub(near).max(0)))
    }

    /// The number of the fastest memory, if there is one beside memory space 0.
    pub fn fastest(&self) -> Option<u8> {
        self.fast.map(|(space, _)| space)
    }

    /// The cost of an instance in a way, apart from its reads. Its classes are those of its operands and results.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn instance(
        &self,
        operation: &Operation,
        way: &Way,
        from: &[usize],
        to: &[usize],
        kept: Kept,
    ) -> Result<i64, Error> {
        if kept == Kept::Remade {
            return Ok(0);
        }
        let operands: Vec<Array> =
            from.iter().zip(&way.operands).map(|(c, id)| self.inner(*c, id.unwrap_or(0))).collect();
        let results: Vec<Array> = to.iter().zip(&way.results).map(|(c, id)| self.inner(*c, *id)).collect();
        let [operands, results] = [&operands, &results].map(|arrays| arrays.iter().collect::<Vec<_>>());
        let mut price = self.target().operation_price(operation, &operands, &results)?;
        if matches!(operation, Operation::Convolution(_)) && way.operands[0].is_none() {
            // It is computed in a form of its own, and only written in this layout.
            let own: Vec<Array> = to.iter().map(|class| self.inner(*class, 0)).collect();
            let mut computed = self.target().operation_price(operation, &operands, &own.iter().collect::<Vec<_>>())?;
            computed.writes = price.writes;
            price = computed;
        }
        let matrix = matches!(operation, Operation::Dot { .. } | Operation::Convolution(_))
            && LoopProduct::of(operation, &operands).is_none();
        let cost = match kept {
            Kept::Stored => sum(price.writes.iter().copied().chain([price.start, price.compute, -price.hidden])),
            // The kernel that it is part of starts, and writes.
            _ if matrix => sum([price.start, price.compute].into_iter()),
            _ => Ok(0),
        }?;
        match results[..] {
            [result] => sum([cost, self.target().reordering_cost(operation, &operands, result)?].into_iter()),
            _ => Ok(cost),
        }
    }

    /// The cost of a reshape, beside its own, that moves something inside of a kernel. It is a kernel of its own: its
    /// operand is stored before it, and its result after it, for those that go on with it.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn moving(
        &self,
        from: (usize, LayoutId),
        made_by: Kept,
        to: (usize, LayoutId),
        kept: Kept,
    ) -> Result<i64, Error> {
        let mut all = Vec::new();
        if made_by == Kept::Fused {
            all.push(self.storing(from)?);
        }
        if kept == Kept::Fused {
            let [before, after] = [from, to].map(|(class, layout)| self.inner(class, layout));
            let moved = self.target().operation_price(&Operation::Elementwise, &[&before], &[&after])?;
            all.extend(moved.writes.into_iter().chain([moved.start, moved.compute, self.rereading(to)?]));
        }
        sum(all.into_iter())
    }

    /// The cost of ending a kernel with an array that else would be in registers: its start, and writing it.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn storing(&self, (class, layout): (usize, LayoutId)) -> Result<i64, Error> {
        let array = self.inner(class, layout);
        let stored = self.target().operation_price(&Operation::Elementwise, &[&array], &[&array])?;
        sum(stored.writes.iter().copied().chain([stored.start]))
    }

    /// The cost of a kernel's read of an array that else would be in registers.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn rereading(&self, (class, layout): (usize, LayoutId)) -> Result<i64, Error> {
        let array = self.inner(class, layout);
        sum(self.target().operation_price(&Operation::Elementwise, &[&array], &[&array])?.reads.into_iter())
    }

    /// In which layout of a port an operand is taken that is in one layout, and what that costs.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn port(&self, meeting: Meeting, from: LayoutId, port: &[LayoutId]) -> Result<(i64, LayoutId), Error> {
        let mut best = None;
        for to in port {
            let cost = self.meeting(meeting, from, *to)?;
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *to));
            }
        }
        best.map_or_else(|| Ok((self.meeting(meeting, from, from)?, from)), Ok)
    }

    /// The cost of taking an array of one layout in another: reading it, and a relayout where they differ.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn meeting(&self, meeting: Meeting, from: LayoutId, to: LayoutId) -> Result<i64, Error> {
        let key = (meeting, from, to);
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(*known);
        }
        let found = sum([self.relayout(meeting, from, to)?, self.reading(meeting, from, to)?].into_iter())?;
        self.known.borrow_mut().insert(key, found);
        Ok(found)
    }

    /// The cost of a relayout, with that of the fusion that it breaks.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn relayout(&self, meeting: Meeting, from: LayoutId, to: LayoutId) -> Result<i64, Error> {
        let Meeting { class, kept, argument, taker, reads, .. } = meeting;
        let own = &self.classes.all[class];
        if from == to || !own.element.is_data() {
            return Ok(0);
        }
        let before = if argument { self.classes.array(class, from, 0) } else { self.inner(class, from) };
        if argument && taker == Taker::Cut {
            let before = self.narrowed(class, from)?;
            let copy = self.target().relayout_cost(&before, &before.layout, &self.narrowed(class, to)?.layout)?;
            return Ok(copy.max(MARGIN + 1));
        }
        let ends = matches!(taker, Taker::Result | Taker::Renamed);
        let after = if ends { self.classes.array(class, to, 0) } else { self.inner(class, to) };
        let [before_as, after_as] = [&own.layouts[usize::from(from)], &own.layouts[usize::from(to)]];
        if self.target().relayout_kind(&before, before_as, after_as)? == RelayoutKind::Bitcast {
            return Ok(0);
        }
        if meeting.is_read_in_place() {
            let longer = self.target().turning_cost(&before, &after)?.max(MARGIN + 1);
            return longer.checked_mul(reads.max(1)).ok_or_else(too_much);
        }
        let mut copy = self.target().relayout_cost(&before, &before.layout, &after.layout)?;
        if copy == 0 {
            // Where a target has no price for it, what moves is read and written, and worth more than a margin.
            copy = self.target().operation_price(&Operation::Elementwise, &[&before], &[&after])?.total()?;
        }
        if meeting.follows {
            let far = [from, to].map(|layout| self.classes.array(class, layout, 0));
            copy = copy.max(self.target().operation_price(&Operation::Elementwise, &[&far[0]], &[&far[1]])?.total()?);
        }
        if taker == Taker::Renamed {
            // What takes it under its new name pays for writing it there.
            copy = copy.saturating_sub(self.written_far(class, to)?);
        }
        let copy = copy.max(MARGIN + 1);
        match kept {
            Kept::Stored => Ok(copy),
            _ if argument => Ok(copy),
            _ => {
                let stored = self.target().operation_price(&Operation::Elementwise, &[&before], &[&before])?;
                sum(stored.writes.iter().copied().chain([stored.start, copy]))
            }
        }
    }

    /// An array in fast memory whose elements are of 16 bits where products take them so.
    fn narrowed(&self, class: usize, layout: LayoutId) -> Result<Array, Error> {
        let mut array = self.inner(class, layout);
        if array.element == ElementType::F32 {
            array.element = ElementType::BF16;
            let own = &self.classes.all[class];
            let layout = self.target().layout(array.element, &own.sizes, &array.layout.minor_to_major)?;
            array.layout = Layout { memory_space: array.layout.memory_space, ..layout };
        }
        Ok(array)
    }

    /// The cost of copying to a result, as it is, an argument, or an array that is where arrays of kernels are.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn copied(&self, class: usize, layout: LayoutId, argument: bool) -> Result<i64, Error> {
        let far = self.classes.array(class, layout, 0);
        let from = if argument { far.clone() } else { self.inner(class, layout) };
        self.target().operation_price(&Operation::Elementwise, &[&from], &[&far])?.total()
    }

    /// The extra cost of writing an array to memory space 0 instead of the memory that it is else in.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn written_far(&self, class: usize, layout: LayoutId) -> Result<i64, Error> {
        let (out, own) = (self.classes.array(class, layout, 0), self.inner(class, layout));
        let written = |array: &Array| {
            let price = self.target().operation_price(&Operation::Elementwise, &[array], &[array])?;
            sum(price.writes.into_iter())
        };
        Ok(written(&out)?.saturating_sub(written(&own)?).max(0))
    }

    /// The cost of the kernels' reads of the array.
    fn reading(&self, meeting: Meeting, from: LayoutId, to: LayoutId) -> Result<i64, Error> {
        let Meeting { class, kept, argument, taker, extent, reads, .. } = meeting;
        if !self.classes.all[class].element.is_data() || kept == Kept::Remade {
            return Ok(0);
        }
        match taker {
            Taker::Other | Taker::Renamed => Ok(0),
            Taker::Matrix => {
                let (near, far) = (self.inner(class, to), self.classes.array(class, to, 0));
                self.target().relayout_cost(&far, &far.layout, &near.layout)
            }
            Taker::Result => {
                // What is stored for a result is written to memory space 0; what is copied there is priced by the copy.
                if from != to || argument || kept != Kept::Stored { Ok(0) } else { self.written_far(class, to) }
            }
            Taker::Cut if argument => {
                let (far, near) = (self.classes.array(class, from, 0), self.narrowed(class, from)?);
                let price = self.target().operation_price(&Operation::Elementwise, &[&far], &[&near])?;
                sum(price.reads.iter().chain(&price.writes).copied().chain([price.compute]))
            }
            Taker::Stream | Taker::Cut => {
                let reads = if from == to { reads } else { reads.max(1) };
                let mut array =
                    if argument && from == to { self.classes.array(class, to, 0) } else { self.inner(class, to) };
                match extent {
                    Extent::Whole => {}
                    Extent::Part(part) => array.dims = self.classes.array(part, 0, 0).dims,
                    Extent::Nothing => return Ok(0),
                }
                let price = self.target().operation_price(&Operation::Elementwise, &[&array], &[&array])?;
                let once = sum(price.reads.into_iter())?;
                once.checked_mul(reads).ok_or_else(too_much)
            }
        }
    }
}

/// A sum of costs.
fn sum(parts: impl Iterator<Item = i64>) -> Result<i64, Error> {
    let mut all = 0i64;
    for part in parts {
        all = all.checked_add(part).ok_or_else(too_much)?;
    }
    Ok(all)
}

fn too_much() -> Error {
    Error::new("the cost does not fit in 64 bits").too_large()
}
