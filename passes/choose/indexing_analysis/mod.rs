//! `layout-indexing-analysis`: the elements that every operation on tensors reads and feeds.
//!
//! [`tensor_layout::analysis`] knows the accesses of operations. Functions of one block are graphs of operations: a
//! call reads its operands as its callee's results read the arguments, and a function gets maps between results and
//! arguments.
//!
//! | file | contents |
//! |---|---|
//! | `copies` | the strided copies of relayouts and slices |
//! | `pairs` | the maps between a result and an operand |
//! | `site` | the table from MLIR's operations to those of the analysis |
//! | `graph` | a graph of operations under construction |
//! | `functions` | functions and regions as graphs |

mod copies;
mod functions;
mod graph;
mod pairs;
mod site;

use crate::models::Models;
use crate::pass::diagnostic::{Diagnostic, Severity};
use crate::pass::options::IndexingAnalysisOptions;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream::emit;
use functions::Functions;
use layout_dialect::{FEEDS, MACHINE, READS, element};
use layout_ir::{self as ir, Builder, Op, Shaped};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, OperationRef, ValueLike};
use pairs::with_names;
use site::scalar;
use tensor_layout::analysis::{Access, Maps, maps};
use tensor_layout::conversion::to_tensor_layout;
use tensor_layout::element::ElementType;
use tensor_layout::maps::Indexing;
use tensor_layout::operations::Shape;
use tensor_layout::places::{Placement, plan};
use tensor_layout::text::Error;
use tensor_layout::tiled::{Expansion, Layout};

pub use pairs::{Pair, Pairs, values};
#[cfg(feature = "plan")]
pub(crate) use site::reads;
pub(crate) use site::{SiteOperand, shape, site};
#[cfg(feature = "distribute")]
pub(crate) use site::{kept, slice, structured};

/// Attaches the maps of each operation below the root, or reports them as remarks.
pub(crate) fn run<'c>(stage: StageInput<'c, IndexingAnalysisOptions>) -> StageResult<'c> {
    let (root, report) = (stage.root(), stage.options.report);
    let functions = Functions::below(root);
    if functions.is_wrong {
        return Err(Vec::new());
    }
    for (op, pairs) in all(functions, root) {
        if report && let Some(said) = traffic(root, op) {
            emit(&said);
        }
        if report && let Some(said) = copies::remark(op) {
            emit(&said);
        }
        if report {
            emit(&remark(op, &pairs));
        } else {
            let b = Builder::before(op);
            ir::edit(op).set_attribute(READS, attribute(b, &pairs, |pair| &pair.reads));
            ir::edit(op).set_attribute(FEEDS, attribute(b, &pairs, |pair| &pair.feeds));
        }
    }
    Ok(Next::of(!report))
}

/// The operations on tensors below `root`, itself included, with their maps. Calls are followed.
pub fn analyse_below<'a>(root: OperationRef<'_, 'a>) -> Vec<(Op<'a>, Pairs)> {
    all(Functions::below(root), root).collect()
}

fn all<'c>(mut functions: Functions, root: Op<'c>) -> impl Iterator<Item = (Op<'c>, Pairs)> {
    ir::all_operations(root).into_iter().filter_map(move |op| {
        // The function's analysis covers the regions of control flow.
        if matches!(ir::name(op), "scf.if" | "scf.for" | "scf.while") {
            return None;
        }
        Some((op, functions.analyse(op).or_else(|| alone(op))?))
    })
}

/// The maps of one direction, for each result and each operand.
fn attribute<'c>(b: Builder<'c>, pairs: &[Vec<Pair>], of: fn(&Pair) -> &Access<String>) -> Attribute<'c> {
    let array = |elements: Vec<Attribute<'c>>| -> Attribute<'c> { ArrayAttribute::new(b.context(), &elements).into() };
    // A relation that an affine map cannot hold is UNDEFINED in the attribute.
    let undefined = || layout_dialect::indexing_map_attribute(b.context(), &Indexing::Undefined);
    let map = |value: &Indexing| {
        let made = layout_dialect::indexing_map_attribute(b.context(), value).or_else(|_| undefined());
        made.expect("the dialect is loaded")
    };
    let maps = |pair: &Pair| array(values(of(pair)).iter().map(map).collect());
    array(pairs.iter().map(|row| array(row.iter().map(maps).collect())).collect())
}

/// The traffic of a conversion between places, as a remark; `None` if neither side is a TensorLayout.
fn traffic<'c>(root: Op<'c>, op: Op<'c>) -> Option<Diagnostic<'c>> {
    if ir::name(op) != "layout.convert" {
        return None;
    }
    let types = [ir::operands(op)[0].r#type(), ir::result(op, 0).r#type()];
    let shaped = types.map(|t| ir::tensor(t).or_else(|| ir::memref(t)));
    let [Some(from), Some(to)] = shaped else { return None };
    let spread = |side: &Shaped| side.layout.and_then(layout_dialect::tensor_layout).is_some();
    if !spread(&from) && !spread(&to) {
        return None;
    }
    let machine = ir::attribute(root, MACHINE).and_then(layout_dialect::machine);
    let bits = element::bits(from.element).ok_or_else(|| Error::new(format!("{} has no known size", from.element)));
    let planned = placement(&from).and_then(|from| Ok((from, placement(&to)?)));
    let planned = planned.and_then(|(from, to)| Ok((from, to, bits?)));
    let planned = planned.and_then(|(from, to, bits)| plan(&from, &to, machine.as_ref(), bits));
    let lines = match planned {
        Ok(plan) => plan.to_string().lines().map(String::from).collect(),
        Err(error) => vec![format!("not known: {error}")],
    };
    let location = ir::location(op);
    let notes = lines.into_iter().map(|line| (location, line)).collect();
    Some(Diagnostic { severity: Severity::Remark, location, message: "traffic of `layout.convert`".into(), notes })
}

/// The layout of a type.
fn placement(side: &Shaped) -> Result<Placement, Error> {
    let sizes = side.sizes().ok_or_else(|| Error::new("a size is known only at run time"))?;
    let layout = match side.layout.and_then(layout_dialect::tensor_layout) {
        Some(layout) => layout,
        None => {
            let tiled = side.layout.and_then(layout_dialect::tiled);
            let tiled = tiled.unwrap_or_else(|| Layout::row_major(side.shape.len()));
            to_tensor_layout(&Expansion::new(&sizes, &tiled)?, &tiled)?
        }
    };
    Placement::new(&layout, Some(&sizes)).map_err(|misplaced| misplaced.error)
}

/// The maps as a remark with a note for each operand.
fn remark<'c>(op: Op<'c>, pairs: &[Vec<Pair>]) -> Diagnostic<'c> {
    let (location, several) = (ir::location(op), pairs.len() > 1);
    let mut notes = Vec::new();
    for (result, row) in pairs.iter().enumerate() {
        for (operand, pair) in row.iter().enumerate() {
            let of = if several { format!(" for result {result}") } else { String::new() };
            for (verb, access) in [("is read", &pair.reads), ("feeds", &pair.feeds)] {
                notes.extend(
                    access.to_string().lines().map(|line| (location, format!("operand {operand} {verb}{of}: {line}"))),
                );
            }
        }
    }
    let message = format!("indexing of `{}`", ir::name(op));
    Diagnostic { severity: Severity::Remark, location, message, notes }
}

/// The elements that an operation reads and feeds. Calls and functions are followed through the surrounding program,
/// which [`analyse_below`] reads only once. `None` if no operand or result is a tensor.
///
/// ```
/// use melior::{Context, dialect::DialectRegistry, ir::{BlockLike, Module, RegionLike, operation::OperationLike}, utility};
///
/// let registry = DialectRegistry::new();
/// utility::register_all_dialects(&registry);
/// let context = Context::new_with_registry(&registry, false);
/// let text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<6xf32> {
///     %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
///     return %y : tensor<6xf32>
/// }";
/// let module = Module::parse(&context, text).unwrap();
/// let function = module.body().first_operation().unwrap();
/// let reshape = function.region(0).unwrap().first_block().unwrap().first_operation().unwrap();
/// let pairs = layout_passes::indexing_analysis::analyse(reshape).unwrap();
/// assert_eq!(pairs[0][0].reads.to_string(), "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]");
/// assert_eq!(pairs[0][0].feeds.to_string(), "(d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 1], d1 in [0, 2]");
/// ```
pub fn analyse(op: OperationRef) -> Option<Pairs> {
    let op: Op = op;
    let mut root = op;
    while let Some(parent) = ir::parent(root) {
        root = parent;
    }
    if !matches!(ir::name(op), "func.func" | "func.call") && Models::of(root).get(op).is_none() {
        return alone(op);
    }
    Functions::below(root).analyse(op).or_else(|| alone(op))
}

/// The elements of an operand that an operation reads for a result, or else the elements of the result that the operand
/// feeds, as the union of `#layout.indexing_map` attributes.
///
/// # Errors
/// An operation without tensors, a result or operand number out of range, and a relation without an affine map.
pub fn between<'c>(op: Op<'c>, reads: bool, result: i64, operand: i64) -> Result<Vec<Attribute<'c>>, Error> {
    let context = ir::borrowed(&op.context());
    layout_dialect::load(context)?;
    let pairs = analyse(op).ok_or_else(|| Error::new("expected an operation on tensors"))?;
    let pair = at(at(&pairs, result)?, operand)?;
    let access = if reads { &pair.reads } else { &pair.feeds };
    values(access).iter().map(|value| layout_dialect::indexing_map_attribute(context, value)).collect()
}

/// The element at a position that a caller gives.
fn at<T>(all: &[T], position: i64) -> Result<&T, Error> {
    let element = usize::try_from(position).ok().and_then(|position| all.get(position));
    let message = || format!("the position must be 0 or more and below {}, found {position}", all.len());
    element.ok_or_else(|| Error::new(message()))
}

/// The maps of an operation without its surroundings: calls are unknown.
fn alone(op: Op) -> Option<Pairs> {
    let site = site(op)?;
    let own = ir::operands(op);
    let operand = |operand: &SiteOperand| match operand {
        SiteOperand::Own(number) => shape(own[*number].r#type()),
        SiteOperand::Given | SiteOperand::Fixed(_) => scalar(ElementType::S64),
    };
    let operands: Vec<Shape> = site.operands.iter().map(operand).collect();
    let results: Vec<Shape> = ir::results(op).iter().map(|v| shape(v.r#type())).collect();
    let (operands, results) = (operands.iter().collect::<Vec<_>>(), results.iter().collect::<Vec<_>>());
    let found = maps(&site.operation, &operands, &results);
    let pair = |number, result| {
        let place = site.operands.iter().position(|operand| matches!(operand, SiteOperand::Own(own) if *own == number));
        let value = |source: &usize| match site.operands.get(*source) {
            Some(SiteOperand::Fixed(value)) => Some(*value),
            _ => None,
        };
        let name = |source: &usize| match site.operands.get(*source) {
            Some(SiteOperand::Own(number)) => number.to_string(),
            _ => source.to_string(),
        };
        let access = |of: fn(&Maps, usize, usize) -> Option<&Access>| match (&found, place) {
            (Ok(maps), Some(k)) => of(maps, k, result).map_or_else(Access::none, |a| with_names(a, &value, &name)),
            (Ok(_), None) => Access::none(),
            (Err(error), _) => Access { maps: Vec::new(), unknown: vec![error.to_string()] },
        };
        Pair { reads: access(Maps::reads), feeds: access(Maps::feeds) }
    };
    Some((0..results.len()).map(|result| (0..own.len()).map(|number| pair(number, result)).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Module;
    use melior::{Context, dialect::DialectRegistry, utility};

    /// Checks that a call has the maps of its callee, analysed alone or with everything below the module.
    #[test]
    fn calls_are_followed() {
        let registry = DialectRegistry::new();
        utility::register_all_dialects(&registry);
        let context = Context::new_with_registry(&registry, false);
        let text = "func.func @flat(%x: tensor<2x3xf32>) -> tensor<6xf32> {
            %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
            return %y : tensor<6xf32>
        }
        func.func @caller(%x: tensor<2x3xf32>) -> tensor<6xf32> {
            %y = func.call @flat(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
            return %y : tensor<6xf32>
        }";
        let module = Module::parse(&context, text).unwrap();
        let below = analyse_below(module.as_operation());
        let (call, among) = below.iter().find(|(op, _)| ir::name(*op) == "func.call").unwrap();
        let own = analyse(*call).unwrap();
        let expected = "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [0, 5]";
        assert_eq!([&own, among].map(|pairs| pairs[0][0].reads.to_string()), [expected; 2]);
    }
}
