//! Widens kernels to whole tiles where the contents of padding are invisible or change no result.
//!
//! A dimension of size 100 in tiles of 128 has 28 indices of padding. A kernel may run over these too, and then needs
//! neither a remainder loop nor masks:
//!
//! - *A dimension of the outputs*: the results there are padding of the outputs.
//! - *A reduced dimension*: the body's value there must change no result, bit for bit. Upstream's folder computes this
//!   value from the contents of padding, with all other elements unknown: 0 times an unknown number is unknown, since
//!   the number may be NaN, and so a product needs zeros in the padding of both inputs.
//!
//! Upstream's folder decides which values are neutral: -0 in a sum, but +0 only if the sum did not begin as -0. Such
//! a sum never becomes -0: only -0 + -0 gives -0, and numbers that cancel give +0.
//!
//! The padding of outputs afterwards is computed in the same way. An index of padding is beyond the end of some
//! dimension, and the inputs with that dimension are padding there. So the value is known if the body gives the same
//! one for each such dimension alone: 0 for a product of integers whose inputs both hold 0, and unknown for
//! floating-point numbers, as 0 times an element may be NaN.
//!
//! If inputs do not hold the values that a reduction needs, [`wishes`] returns the needed ones.

use crate::buffers::lowered::LoweredMemRef;
use crate::buffers::operations::{FUSES_MULTIPLY_ADD, is};
use crate::kernel::access::{Access, Size};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use crate::pass::upstream::{self, FastMath, Folded};
use layout_ir::{self as ir, Op, Val};
use melior::ir::attribute::{AttributeLike, FloatAttribute};
use melior::ir::{Attribute, Location, TypeLike, ValueLike};
use std::collections::HashMap;
use std::rc::Rc;
use tensor_layout::expr::Expr;

/// The value in all padding of a buffer that has an index; `None` if unknown.
pub type Content<'c> = Option<Attribute<'c>>;

/// Known facts about the padding of a kernel's operands.
pub struct KnownPadding<'c> {
    /// Value in the padding of each operand.
    pub padding_values: Vec<Content<'c>>,
    /// Values allowed in the padding of each output.
    pub kept: Vec<PaddingWrite<'c>>,
}

/// The values that a kernel may write into the padding of a buffer.
#[derive(Clone, Copy, PartialEq)]
pub enum PaddingWrite<'c> {
    /// Any value.
    Any,
    /// Only this value, which a reader relies on.
    Only(Attribute<'c>),
    /// No value: some reader may rely on the present contents.
    Forbidden,
}

impl<'c> PaddingWrite<'c> {
    /// Whether a kernel may write this value.
    fn allows(self, value: Content<'c>) -> bool {
        match self {
            PaddingWrite::Any => true,
            PaddingWrite::Only(kept) => value == Some(kept),
            PaddingWrite::Forbidden => false,
        }
    }
}

/// The padding that a widened kernel reads and writes.
#[derive(Default)]
pub struct Widened<'c> {
    /// The widened dimensions: number, size before, size now.
    pub dims: Vec<(usize, i64, i64)>,
    /// Operands whose padding value the result depends on.
    pub relied: Vec<usize>,
    /// For each output: the value written into its padding, and whether all padding is written; `None` if none is.
    pub written: Vec<Option<(Content<'c>, bool)>>,
    /// Why other dimensions were not widened.
    pub reasons: Vec<String>,
}

/// Lowered forms with full tiles, keyed by the address of the original form, which is kept beside them.
pub type WholeTiles<'c> = HashMap<usize, (Rc<LoweredMemRef<'c>>, Option<Rc<LoweredMemRef<'c>>>)>;

/// The limit of a widened kernel's iterations, relative to the masked kernel's. For 100×100 in tiles of 8×128, with
/// 1.33 times the elements, sums took 1.1 to 1.2 of the time, and a product, with 1.38 times, 1.2; for 1000×1000,
/// with 1.02 and 1.05 times, all took as long or less.
const WORK: f64 = 1.25;

/// Rounds the dimensions of a nest up to whole tiles, where that changes no result.
pub fn widen<'c>(
    nest: &mut Nest<'c>,
    body: &Body<'c>,
    known: &KnownPadding<'c>,
    options: &LowerMemrefsOptions,
    location: Location<'c>,
    tiles: &mut WholeTiles<'c>,
) -> Widened<'c> {
    let mut widened = Widened { written: vec![None; nest.outputs], ..Widened::default() };
    let whole: Vec<Option<Rc<LoweredMemRef<'c>>>> =
        nest.operands.iter().map(|o| whole_tiles(&o.access, location, tiles)).collect();
    if whole.iter().all(Option::is_none) || body.widest().is_err() {
        return widened;
    }
    let maker = Maker { padding_values: &known.padding_values, options };
    let first = nest.operands.len() - nest.outputs;
    let mut results = Vec::new();
    for (dim, size) in worth(nest, &whole) {
        if nest.operands[first..].iter().any(|o| uses(&o.map, dim)) {
            results.push((dim, size.0, size.1));
            continue;
        }
        // Operands with this dimension are padding beyond its end.
        match maker.changes_nothing(body, &|operand| uses(&nest.operands[operand].map, dim)) {
            Ok(relied) => {
                widened.dims.push((dim, size.0, size.1));
                widened.relied.extend(relied);
            }
            Err(reason) => widened.reasons.push(format!("d{dim} ends at {}: {reason}", size.0)),
        }
    }
    if !results.is_empty() {
        let (values, relied) = results_of(&maker, nest, body, &results);
        match known.kept.iter().zip(&values).all(|(kept, value)| kept.allows(*value)) {
            false => widened.reasons.push("what the padding of its output holds is needed".into()),
            true => {
                for (output, value) in values.into_iter().enumerate() {
                    widened.written[output] = Some((value, fills(nest, first + output, &results, &whole)));
                }
                widened.relied.extend(relied);
                widened.dims.append(&mut results);
            }
        }
    }
    widened.relied.sort_unstable();
    widened.relied.dedup();
    for (dim, _, size) in &widened.dims {
        nest.extents[*dim] = Size::Static(*size);
    }
    if !widened.dims.is_empty() {
        for (operand, whole) in nest.operands.iter_mut().zip(whole) {
            operand.access.fill_tiles(whole);
        }
    }
    widened
}

/// The values that padding of `fillable` inputs needs, so that more reduced dimensions can run to whole tiles: zeros,
/// or else the reduction's neutral element. Returns pairs of operand and value.
pub fn wishes<'c>(
    nest: &Nest<'c>,
    body: &Body<'c>,
    known: &KnownPadding<'c>,
    fillable: &[bool],
    options: &LowerMemrefsOptions,
    location: Location<'c>,
    tiles: &mut WholeTiles<'c>,
) -> Vec<(usize, Attribute<'c>)> {
    let Some(combiner) = body.block.and_then(Combiner::of).filter(|_| body.initial.is_some()) else {
        return Vec::new();
    };
    if body.widest().is_err() {
        return Vec::new();
    }
    let whole: Vec<Option<Rc<LoweredMemRef<'c>>>> =
        nest.operands.iter().map(|o| whole_tiles(&o.access, location, tiles)).collect();
    let first = nest.operands.len() - nest.outputs;
    let element = |operand: usize| nest.operands[operand].access.element_encoding.element;
    let zero = |operand: usize| {
        let number = if element(operand).is_float() { "0.0" } else { "0" };
        Attribute::parse(ir::borrowed(&location.context()), &format!("{number} : {}", element(operand)))
    };
    let neutral = |operand: usize| (combiner.neutral.r#type() == element(operand)).then_some(combiner.neutral);
    let candidates: [&dyn Fn(usize) -> Content<'c>; 2] = [&zero, &neutral];
    let mut padding_values = known.padding_values.clone();
    let mut wishes = Vec::new();
    for (dim, _) in worth(nest, &whole) {
        let is_padding = |operand: usize| uses(&nest.operands[operand].map, dim);
        let changes_nothing =
            |padding_values: &[Content<'c>]| Maker { padding_values, options }.changes_nothing(body, &is_padding);
        if (first..nest.operands.len()).any(is_padding) || changes_nothing(&padding_values).is_ok() {
            continue;
        }
        for candidate in candidates {
            let mut tried = padding_values.clone();
            for operand in (0..first).filter(|operand| is_padding(*operand) && fillable[*operand]) {
                tried[operand] = candidate(operand).or(tried[operand]);
            }
            let Ok(relied) = changes_nothing(&tried) else { continue };
            for operand in relied {
                if let Some(value) = tried[operand].filter(|value| padding_values[operand] != Some(*value)) {
                    wishes.push((operand, value));
                    padding_values[operand] = Some(value);
                }
            }
            break;
        }
    }
    wishes
}

/// The value written into the padding of each output if these dimensions of outputs run to whole tiles, and the
/// operands whose padding it depends on.
fn results_of<'c>(
    maker: &Maker<'_, 'c>,
    nest: &Nest<'c>,
    body: &Body<'c>,
    widened: &[(usize, i64, i64)],
) -> (Vec<Content<'c>>, Vec<usize>) {
    let mut all: Option<Vec<Content<'c>>> = None;
    let mut relied = Vec::new();
    for (dim, ..) in widened {
        let (values, of) = maker.results(body, nest.outputs, &|operand| uses(&nest.operands[operand].map, *dim));
        relied.extend(of);
        let both =
            |before: Vec<Content<'c>>| before.into_iter().zip(&values).map(|(a, b)| a.filter(|a| *b == Some(*a)));
        all = Some(all.map_or_else(|| values.clone(), |before| both(before).collect()));
    }
    let values = all.unwrap_or_default();
    if values.iter().all(Option::is_none) {
        relied.clear();
    }
    (values, relied)
}

/// The lowered form with full tiles, if the operand accesses a whole buffer that has one.
pub fn whole_tiles<'c>(
    access: &Access<'c>,
    location: Location<'c>,
    tiles: &mut WholeTiles<'c>,
) -> Option<Rc<LoweredMemRef<'c>>> {
    let lowered = access.lowered.as_ref().filter(|_| access.is_whole() && access.symbols.is_empty())?;
    let made = || (lowered.clone(), lowered.whole_tiles(location).map(Rc::new));
    tiles.entry(Rc::as_ptr(lowered) as usize).or_insert_with(made).1.clone()
}

/// The size of a dimension, and the size up to which all its operands have padding; `None` if there is no padding.
fn rounded(nest: &Nest, dim: usize, whole: &[Option<Rc<LoweredMemRef>>]) -> Option<(i64, i64)> {
    let size = nest.extents[dim].known()?;
    let mut to = i64::MAX;
    for (operand, whole) in nest.operands.iter().zip(whole).filter(|(operand, _)| uses(&operand.map, dim)) {
        let mut having = (0..operand.map.len()).filter(|k| uses(&operand.map[*k..=*k], dim));
        let (at, None) = (having.next()?, having.next()) else { return None };
        let plain = operand.map[at] == Expr::Var(dim) && operand.access.sizes[at].known() == Some(size);
        to = to.min(whole.as_ref().filter(|_| plain)?.shape[at]?);
    }
    (size < to && to != i64::MAX).then_some((size, to))
}

/// The dimensions to round up, cheapest first, within [`WORK`].
fn worth(nest: &Nest, whole: &[Option<Rc<LoweredMemRef>>]) -> Vec<(usize, (i64, i64))> {
    let times = |(_, (size, to)): &(usize, (i64, i64))| *to as f64 / *size as f64;
    let all = (0..nest.extents.len()).filter_map(|dim| Some((dim, rounded(nest, dim, whole)?)));
    let mut all: Vec<(usize, (i64, i64))> = all.filter(|dim| dim.1.0 > 0).collect();
    all.sort_by(|a, b| times(a).total_cmp(&times(b)));
    let mut work = 1.0;
    all.into_iter()
        .take_while(|dim| {
            work *= times(dim);
            work <= WORK
        })
        .collect()
}

/// Whether a nest with these dimensions writes all padding of an output.
fn fills(nest: &Nest, output: usize, widened: &[(usize, i64, i64)], whole: &[Option<Rc<LoweredMemRef>>]) -> bool {
    let Some(whole) = &whole[output] else { return false };
    let operand = &nest.operands[output];
    let full = |(at, e): (usize, &Expr)| {
        let to = widened.iter().find(|(dim, ..)| *e == Expr::Var(*dim)).map(|dim| dim.2);
        to.or(operand.access.sizes[at].known()) == whole.shape[at]
    };
    operand.map.iter().enumerate().all(full)
}

fn uses(map: &[Expr], dim: usize) -> bool {
    let mut found = false;
    map.iter().for_each(|e| e.for_each_var(&mut |v| found |= v == dim));
    found
}

/// Evaluates bodies on padding.
struct Maker<'a, 'c> {
    padding_values: &'a [Content<'c>],
    options: &'a LowerMemrefsOptions,
}

impl<'c> Maker<'_, 'c> {
    /// Checks that a reduction adds nothing where these operands are padding; returns the operands whose padding
    /// matters.
    fn changes_nothing(&self, body: &Body<'c>, is_padding: &dyn Fn(usize) -> bool) -> Result<Vec<usize>, String> {
        let combiner = body.block.and_then(Combiner::of).ok_or("its body is not the combination of two elements")?;
        let initial = body.initial.as_ref().and_then(constant);
        let mut made = MadeOfPadding { maker: self, is_padding, relied: Vec::new() };
        let element = made.element(body, &combiner);
        match self.is_neutral(&combiner, element, initial) {
            true => Ok(made.relied),
            false => Err(match element {
                Some(element) => format!("padding makes {element}, which may change the result"),
                None => "what padding makes is not known".into(),
            }),
        }
    }

    /// Whether an element is neutral in a reduction that begins with `initial`.
    fn is_neutral(&self, combiner: &Combiner<'c>, element: Content<'c>, initial: Content<'c>) -> bool {
        let Some(element) = element.filter(|_| !promises(combiner.op)) else { return false };
        let mut operands = [None, None];
        operands[combiner.element] = Some(element);
        if let Folded::Operand(number) = upstream::fold(combiner.op, &operands, false) {
            return number != combiner.element;
        }
        let zero = |known: Attribute<'c>, negative: bool| {
            number(known).is_some_and(|n| n == 0.0 && n.is_sign_negative() == negative)
        };
        ir::name(combiner.op) == "arith.addf"
            && zero(element, false)
            && initial.and_then(number).is_some_and(|n| n != 0.0 || n.is_sign_positive())
    }

    /// The body's value for each output where these operands are padding, and the operands whose padding matters.
    fn results(
        &self,
        body: &Body<'c>,
        outputs: usize,
        is_padding: &dyn Fn(usize) -> bool,
    ) -> (Vec<Content<'c>>, Vec<usize>) {
        let mut made = MadeOfPadding { maker: self, is_padding, relied: Vec::new() };
        let mut values = match &body.initial {
            None => made.yields(body, None),
            Some(initial) => {
                let initial = made.argument(initial, None);
                let combiner = body.block.and_then(Combiner::of);
                let stays = combiner.is_some_and(|combiner| {
                    let element = made.element(body, &combiner);
                    self.is_neutral(&combiner, element, initial)
                });
                let sum = initial.filter(|_| stays);
                body.epilogue.as_ref().map_or(vec![sum], |then| made.yields(then, sum))
            }
        };
        values.resize(outputs, None);
        if values.iter().all(Option::is_none) {
            made.relied.clear();
        }
        (values, made.relied)
    }
}

/// Evaluates bodies where some operands are padding.
struct MadeOfPadding<'a, 'b, 'c> {
    maker: &'a Maker<'b, 'c>,
    is_padding: &'a dyn Fn(usize) -> bool,
    /// The operands whose padding has been read.
    relied: Vec<usize>,
}

impl<'c> MadeOfPadding<'_, '_, 'c> {
    /// The element that a combiner adds.
    fn element(&mut self, body: &Body<'c>, combiner: &Combiner<'c>) -> Content<'c> {
        let element = ir::operands(combiner.op)[combiner.element];
        let values = self.values(body, None, Some(combiner.op));
        values.get(&ir::key(element)).copied().unwrap_or_else(|| of_constant(element))
    }

    /// The values that a body yields.
    fn yields(&mut self, body: &Body<'c>, sum: Content<'c>) -> Vec<Content<'c>> {
        let Some(block) = body.block else {
            return body.arguments.iter().take(1).map(|(_, from)| self.argument(from, sum)).collect();
        };
        let values = self.values(body, sum, None);
        let end = ir::operations(block).pop().expect("a body ends with what it yields");
        let value = |v: Val<'c>| values.get(&ir::key(v)).copied().unwrap_or_else(|| of_constant(v));
        ir::operands(end).into_iter().map(value).collect()
    }

    /// The values inside a body, up to an operation.
    fn values(&mut self, body: &Body<'c>, sum: Content<'c>, until: Option<Op<'c>>) -> HashMap<usize, Content<'c>> {
        let mut values = HashMap::new();
        for (argument, from) in &body.arguments {
            if ir::is_used(*argument) {
                let value = self.argument(from, sum);
                values.insert(ir::key(*argument), value);
            }
        }
        for op in body.block.into_iter().flat_map(ir::operations).take_while(|op| Some(*op) != until) {
            let [result] = ir::results(op)[..] else { continue };
            let known = |v: Val<'c>| values.get(&ir::key(v)).copied().unwrap_or_else(|| of_constant(v));
            let operands: Vec<Content<'c>> = ir::operands(op).into_iter().map(known).collect();
            let value = self.made(op, &operands);
            values.insert(ir::key(result), value);
        }
        values
    }

    /// The value of a body's argument.
    fn argument(&mut self, from: &Argument<'c>, sum: Content<'c>) -> Content<'c> {
        match from {
            Argument::Element(operand) if (self.is_padding)(*operand) => {
                self.relied.push(*operand);
                self.maker.padding_values[*operand]
            }
            Argument::Element(_) => None,
            Argument::Value(_) => constant(from),
            Argument::Accumulator => sum,
            Argument::Fused(body) => self.yields(body, sum).pop().flatten(),
        }
    }

    /// The result of an operation, if it is the same however it is compiled: functions of `math` may have several
    /// implementations, and fast-math flags let LLVM rewrite.
    fn made(&self, op: Op<'c>, operands: &[Content<'c>]) -> Content<'c> {
        match ir::name(op) {
            "arith.constant" => return of_constant(ir::result(op, 0)),
            name if !name.starts_with("arith.") || promises(op) || is_rewritten(op) => return None,
            _ => {}
        }
        let contracts = self.maker.options.contract || FastMath::of(op).has(FastMath::CONTRACT);
        match upstream::fold(op, operands, contracts && is(ir::name(op), FUSES_MULTIPLY_ADD)) {
            Folded::Constant(value) => Some(value),
            Folded::Operand(number) => operands[number],
            Folded::Unknown => None,
        }
    }
}

/// Whether an operation promises a property of its operands that padding may break: no NaN, no infinity, small, or a
/// multiple of a power of two. Its result on padding may be anything.
fn promises(op: Op) -> bool {
    let flags = FastMath::of(op);
    let wraps = ir::attribute(op, "overflowFlags").is_none_or(|flags| flags.to_string() == "#arith.overflow<none>");
    flags.has(FastMath::NO_NANS)
        || flags.has(FastMath::NO_INFINITIES)
        || !wraps
        || ir::attribute(op, "isExact").is_some_and(ir::is_unit)
}

/// Whether flags allow a different result: a sum in another order, a product with the reciprocal, which is 0.99999994
/// for 41 / 41 in f32, or a zero of another sign. The folder handles contraction.
fn is_rewritten(op: Op) -> bool {
    !FastMath::CONTRACT.has(FastMath::of(op))
}

/// The constant of an argument that is the same for all elements.
fn constant<'c>(from: &Argument<'c>) -> Content<'c> {
    if let Argument::Value(v) = from { of_constant(*v) } else { None }
}

/// The constant that defines a value.
fn of_constant<'c>(v: Val<'c>) -> Content<'c> {
    let op = ir::defining_op(v).filter(|op| ir::name(*op) == "arith.constant")?;
    ir::attribute(op, "value").filter(|_| ir::bits(v.r#type()).is_some_and(|bits| bits <= 64))
}

/// The floating-point number of an attribute.
fn number(attribute: Attribute) -> Option<f64> {
    FloatAttribute::try_from(attribute).ok().map(|number| number.value())
}
