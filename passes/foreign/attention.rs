//! Attention.
//!
//! The operands are described by the dimensions of one iteration space, as in IREE: batches and queries are dimensions of
//! queries and results, keys of keys and values, and what is summed in a product those of queries and keys alone.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign, Operand, are_distinct};
use crate::pass::diagnostic::Diagnostic;
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Rewriter, Val};
use layout_programs::{ATTENTION, Program};
use melior::ir::{Type, TypeLike, ValueLike};
use minijinja::{Value, context};
use tensor_layout::expr::Expr;

/// In place of a dimension: the operand has one element there for all.
const ONE: usize = usize::MAX;

/// The parts of an attention, and the dimensions of each operand.
struct Attention<'c> {
    query: (Operand<'c>, Vec<usize>),
    key: (Operand<'c>, Vec<usize>),
    value: (Operand<'c>, Vec<usize>),
    mask: Option<(Operand<'c>, Vec<usize>)>,
    scale: Option<Operand<'c>>,
    result: (Operand<'c>, Vec<usize>),
    /// The type in which everything is computed.
    number: Type<'c>,
}

/// The weights of a softmax of products of queries and keys, which values are summed with.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    let attention = if foreign.is_torch() { of_torch(foreign) } else { of_iree(foreign) }?;
    attention.check(foreign)?;
    let has_body = !ir::blocks(foreign.op).is_empty();
    if has_body {
        foreign.check_region(&[attention.number], &[attention.number])?;
    }
    let program = Program::new(&ATTENTION, attention.parameters(has_body));
    let mut operands: Vec<Val> =
        [&attention.query, &attention.key, &attention.value].map(|(operand, _)| operand.value).to_vec();
    operands.extend(attention.scale.iter().chain(attention.mask.iter().map(|(mask, _)| mask)).map(|t| t.value));
    operands.push(attention.result.0.value);
    Ok(inline(rewriter, foreign, &program, "main", &operands))
}

/// The operands of torch-mlir: batches, then rows; the scale is one over the root of the summed size.
fn of_torch<'c>(foreign: &Foreign<'c>) -> Result<Attention<'c>, Diagnostic<'c>> {
    foreign.check_counts(&[3, 4], &[1])?;
    in_rows(foreign, None, foreign.ins.get(3))
}

/// The operands of IREE: with a scale, and the dimensions in `indexing_maps`; without these as those of torch-mlir.
fn of_iree<'c>(foreign: &Foreign<'c>) -> Result<Attention<'c>, Diagnostic<'c>> {
    foreign.check_counts(&[4, 5], &[1])?;
    let (scale, mask) = (foreign.ins[3].clone(), foreign.ins.get(4));
    foreign.require(!scale.is_tensor, format!("expected a scalar as the scale, found {}", scale.text()))?;
    let maps = ir::elements(foreign.op, "indexing_maps");
    if maps.is_empty() {
        return in_rows(foreign, Some(scale), mask);
    }
    let dims = |attribute| {
        let exprs = ir::affine_map(attribute).and_then(affine::exprs_of_map)?;
        exprs.iter().map(|e| if let Expr::Var(v) = e { Some(*v) } else { None }).collect::<Option<Vec<usize>>>()
    };
    let maps: Option<Vec<Vec<usize>>> = maps.into_iter().map(dims).collect();
    let maps = maps.ok_or_else(|| foreign.refused("expected `indexing_maps` whose results are dimensions"))?;
    // Earlier versions have no map for the scale.
    let expected = 5 + usize::from(mask.is_some());
    let with_scale = maps.len() == expected;
    if !with_scale && maps.len() + 1 != expected {
        return Err(foreign.refused(format!("expected {expected} `indexing_maps`, found {}", maps.len())));
    }
    let rest = &maps[3 + usize::from(with_scale)..];
    let part = |k: usize| (foreign.ins[k].clone(), maps[k].clone());
    let number = number(foreign);
    Ok(Attention {
        query: part(0),
        key: part(1),
        value: part(2),
        mask: mask.map(|mask| (mask.clone(), rest[0].clone())),
        scale: Some(scale),
        result: (foreign.outs[0].clone(), rest[rest.len() - 1].clone()),
        number,
    })
}

/// Operands of batches and rows, with their usual dimensions: batches, queries, keys, the sum, columns of the result.
fn in_rows<'c>(
    foreign: &Foreign<'c>,
    scale: Option<Operand<'c>>,
    mask: Option<&Operand<'c>>,
) -> Result<Attention<'c>, Diagnostic<'c>> {
    let rank = foreign.ins[0].rank();
    foreign.require(rank >= 2, format!("expected queries of at least 2 dimensions, found {rank}"))?;
    let batches = rank - 2;
    let [queries, keys, sum, columns] = [0, 1, 2, 3].map(|k| batches + k);
    let dims = |last: [usize; 2]| (0..batches).chain(last).collect::<Vec<usize>>();
    let transposed = ir::attribute(foreign.op, "transpose_v").and_then(ir::boolean) == Some(true);
    let [wide, long] = [&foreign.ins[0], &foreign.ins[1]].map(|t| &t.shape);
    let masked = |mask: &Operand<'c>| {
        let all = dims([queries, keys]);
        let mut dims = all[all.len().saturating_sub(mask.rank())..].to_vec();
        for (dim, size) in dims.iter_mut().zip(&mask.shape) {
            let of = if *dim == keys { long.get(batches) } else { wide.get(*dim) };
            if *size == Some(1) && of != Some(&Some(1)) {
                *dim = ONE;
            }
        }
        (mask.clone(), dims)
    };
    Ok(Attention {
        query: (foreign.ins[0].clone(), dims([queries, sum])),
        key: (foreign.ins[1].clone(), dims([keys, sum])),
        value: (foreign.ins[2].clone(), dims(if transposed { [columns, keys] } else { [keys, columns] })),
        mask: mask.map(masked),
        scale,
        result: (foreign.outs[0].clone(), dims([queries, columns])),
        number: number(foreign),
    })
}

/// The type of scores: that of the region's argument, or f32 for narrow elements.
fn number<'c>(foreign: &Foreign<'c>) -> Type<'c> {
    let argument = ir::blocks(foreign.op).first().and_then(|block| ir::arguments(*block).first().map(|v| v.r#type()));
    let element = foreign.ins[0].element;
    let is_narrow = ir::bits(element).is_none_or(|bits| bits < 32);
    let own = if is_narrow { Type::float32(Builder::before(foreign.op).context()) } else { element };
    argument.unwrap_or(own)
}

impl<'c> Attention<'c> {
    fn parts(&self) -> Vec<(&'static str, &Operand<'c>, &Vec<usize>)> {
        let all =
            [("queries", &self.query), ("keys", &self.key), ("values", &self.value), ("the result", &self.result)];
        let mask = self.mask.as_ref().map(|mask| ("the mask", mask));
        all.into_iter().chain(mask).map(|(name, (operand, dims))| (name, operand, dims)).collect()
    }

    /// The size of a dimension of the iteration space, where an operand knows it.
    fn size(&self, dim: usize) -> Option<i64> {
        let sizes = self.parts().into_iter().flat_map(|(_, operand, dims)| dims.iter().zip(&operand.shape));
        sizes.filter(|(d, _)| **d == dim).find_map(|(_, size)| *size)
    }

    fn check(&self, foreign: &Foreign<'c>) -> Result<(), Diagnostic<'c>> {
        let known = ["f32", "f64"].contains(&self.number.to_string().as_str());
        foreign.require(known, format!("expected scores of f32 or f64, found {}", self.number))?;
        if let Some(scale) = &self.scale {
            let is_number = scale.element.is_float();
            foreign
                .require(is_number, format!("expected a floating-point number as the scale, found {}", scale.text()))?;
        }
        for (name, operand, dims) in self.parts() {
            foreign.require(
                operand.is_tensor && operand.rank() == dims.len(),
                format!("expected {name} of {} dimensions, found {}", dims.len(), operand.text()),
            )?;
            for (dim, size) in dims.iter().zip(&operand.shape) {
                let other = if *dim == ONE { Some(1) } else { self.size(*dim) };
                let same = size.zip(other).is_none_or(|(a, b)| a == b);
                let text = |n: Option<i64>| n.map_or("?".into(), |n| n.to_string());
                let (found, wanted) = (text(*size), text(other));
                foreign.require(
                    same,
                    format!("expected a dimension of {name} of {wanted}, as in another operand, found {found}"),
                )?;
            }
            let is_mask = name == "the mask" && operand.has_integers();
            let fits = is_mask || operand.element.is_float() && ir::bits(operand.element) <= ir::bits(self.number);
            foreign.require(
                fits,
                format!("expected {name} of elements no wider than {}, found {}", self.number, operand.element),
            )?;
        }
        foreign.require(are_distinct(&self.result.1), "expected a result of distinct dimensions in `indexing_maps`")?;
        let is_in = |dims: &[usize], d: usize| dims.contains(&d);
        let (q, k, v, o) = (&self.query.1, &self.key.1, &self.value.1, &self.result.1);
        let fits = k.iter().all(|d| is_in(q, *d) || is_in(v, *d))
            && q.iter().all(|d| is_in(k, *d) || is_in(o, *d))
            && v.iter().all(|d| is_in(k, *d) || is_in(o, *d))
            && o.iter().all(|d| is_in(q, *d) || is_in(v, *d))
            && self.mask.iter().all(|(_, dims)| dims.iter().all(|d| *d == ONE || is_in(&self.scores(), *d)))
            && !self.keys().is_empty();
        foreign.require(fits, "expected `indexing_maps` of products of queries and keys, and of weights and values")
    }

    /// The dimensions of a score: all of queries and keys that are not summed.
    fn scores(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.query.1.iter().chain(&self.key.1).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter(|d| self.result.1.contains(d) || self.value.1.contains(d)).collect()
    }

    /// The dimensions that a softmax is along.
    fn keys(&self) -> Vec<usize> {
        self.scores().into_iter().filter(|d| !self.result.1.contains(d)).collect()
    }

    fn parameters(&self, has_body: bool) -> Value {
        let scores = self.scores();
        let rows: Vec<usize> = scores.iter().copied().filter(|d| self.result.1.contains(d)).collect();
        let inner: Vec<usize> = self.query.1.iter().copied().filter(|d| !scores.contains(d)).collect();
        let mut sizes = Sizes::default();
        let mut names: Vec<(usize, String)> = Vec::new();
        for (name, (operand, dims)) in [("%query", &self.query), ("%key", &self.key), ("%value", &self.value)] {
            names.extend(dims.iter().copied().zip(sizes.of(name, operand)));
        }
        let name = |d: usize| names.iter().find(|(of, _)| *of == d).map_or("", |(_, name)| name.as_str());
        let shaped = |dims: &[usize]| {
            let sizes: Vec<String> =
                dims.iter().map(|d| self.size(*d).map_or("?x".into(), |n| format!("{n}x"))).collect();
            let dynamic: Vec<&str> = dims.iter().filter(|d| self.size(**d).is_none()).map(|d| name(*d)).collect();
            context! { ty => format!("tensor<{}{}>", sizes.concat(), self.number), dynamic => dynamic.join(", ") }
        };
        let part = |(operand, _): &(Operand, Vec<usize>)| {
            let element = operand.element;
            context! { ty => operand.text(), element => element.to_string(), is_integer => element.is_integer() }
        };
        let (q, k, v, o) = (&self.query.1, &self.key.1, &self.value.1, &self.result.1);
        let masked: Vec<&[usize]> = [&scores]
            .into_iter()
            .chain(self.mask.iter().map(|(_, dims)| dims))
            .chain([&scores])
            .map(Vec::as_slice)
            .collect();
        let (infinity, lowest) = match self.number.to_string().as_str() {
            "f32" => ("0xFF800000", "-3.40282347E+38"),
            _ => ("0xFFF0000000000000", "-1.7976931348623157E+308"),
        };
        context! {
            number => self.number.to_string(), infinity, lowest, has_body,
            query => part(&self.query), key => part(&self.key), values => part(&self.value), result => part(&self.result),
            mask => self.mask.as_ref().map(part), scale => self.scale.as_ref().map(|scale| scale.text()),
            is_wide_scale => self.scale.as_ref().is_some_and(|scale| ir::bits(scale.element) > ir::bits(self.number)),
            inner => inner.iter().map(|d| name(*d)).collect::<Vec<_>>(),
            scores => shaped(&scores), rows => shaped(&rows), results => shaped(o),
            products => loops(&[q, k, &scores]), masked => loops(&masked), reduced => loops(&[&scores, &rows]),
            shifted => loops(&[&scores, &rows, &scores]), weighted => loops(&[&scores, v, o]),
            divided => loops(&[o, &rows, o]), prologue => sizes.prologue,
        }
    }
}

/// The maps and iterators of an operation whose operands have these dimensions; what is no dimension of the last operand is
/// reduced.
fn loops(operands: &[&[usize]]) -> Value {
    let last = operands[operands.len() - 1];
    let mut domain: Vec<usize> = last.to_vec();
    for d in operands.iter().flat_map(|dims| dims.iter()) {
        if *d != ONE && !domain.contains(d) {
            domain.push(*d);
        }
    }
    let position = |d: &usize| if *d == ONE { "0".to_string() } else { format!("d{d}") };
    let list = |dims: &[usize]| dims.iter().map(position).collect::<Vec<_>>().join(", ");
    let map = |dims: &&[usize]| format!("affine_map<({}) -> ({})>", list(&domain), list(dims));
    let iterators = domain.iter().map(|d| if last.contains(d) { "\"parallel\"" } else { "\"reduction\"" });
    context! { maps => operands.iter().map(map).collect::<Vec<_>>(), iterators => iterators.collect::<Vec<_>>().join(", ") }
}
