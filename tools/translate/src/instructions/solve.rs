//! Cholesky decompositions and triangular systems, matrix by matrix, in place: `templates/cholesky.mlir`,
//! `first_failure.mlir` and `triangular.mlir`.

use crate::builder::Builder;
use crate::loops::Typed;
use crate::template::no_callee;
use crate::tensor::{ImportResult, Tensor};
use layout_programs::{Template, parsed};
use minijinja::{Value, context};

static CHOLESKY: Template = Template::new(|| parsed(include_str!("templates/cholesky.mlir")));
static FIRST_FAILURE: Template = Template::new(|| parsed(include_str!("templates/first_failure.mlir")));
static TRIANGULAR: Template = Template::new(|| parsed(include_str!("templates/triangular.mlir")));

/// Applies the program to each matrix of `from`, over its part of `into`.
fn each_matrix(b: &mut Builder, of: &Template, values: Value, from: &Tensor, into: Tensor) -> ImportResult<Tensor> {
    let (batch, matrix) = from.sizes.split_at(from.sizes.len() - 2);
    let (element, complex) = (from.element, from.element.is_complex());
    if !element.is_float() && !complex {
        return Err(format!("matrices of {} cannot be imported", element.name()).into());
    }
    let n = matrix[0];
    let values = context! { from => from.ty, into => into.ty, of => from.element_text, complex, n, ..values };
    let (args, begin) = (std::slice::from_ref(&from.name), vec![Typed::new(&into.name, &into.ty)]);
    let mut done = b.w.inline_nest(of, values, batch, args, begin, &mut no_callee)?;
    Ok(Tensor { name: done.remove(0).name, ..into })
}

/// The triangular factor of each matrix; the other triangle is 0.
pub fn cholesky(b: &mut Builder, lower: bool, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let precise = b.precise(from, out)?;
    let source = b.without_encoding(&precise);
    let zero = b.zero(&source);
    let filled = b.filled(&source, &zero);
    let factor = each_matrix(b, &CHOLESKY, context! { lower }, &source, filled)?;
    Ok(b.converted(&factor, out))
}

/// The triangular factor of each matrix, with the matrix's own elements in the other triangle; the number, from 1, of
/// the first column whose diagonal element of the factor is not positive, or 0.
pub fn cholesky_in_place(b: &mut Builder, lower: bool, from: &Tensor, outs: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    let precise = b.precise(from, &outs[0])?;
    let source = b.without_encoding(&precise);
    let factor = each_matrix(b, &CHOLESKY, context! { lower }, &source, source.clone())?;
    let info = Tensor { ty: outs[1].plain(), ..outs[1].clone() };
    let zero = b.zero(&info);
    let filled = b.filled(&info, &zero);
    let info = each_matrix(b, &FIRST_FAILURE, context! { number => info.element_text }, &factor, filled)?;
    b.all_converted(&[factor, info], outs)
}

/// Solves `op(A) x = b`, or `x op(A) = b`. The form of the system is that of `TriangularSolve`, and `adjoint` says
/// whether the matrix is conjugated.
pub fn triangular(b: &mut Builder, form: Value, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let precise = [b.precise(&ins[0], out)?, b.precise(&ins[1], out)?];
    let [matrix, right] = precise.each_ref().map(|t| b.without_encoding(t));
    let sizes = &right.sizes[right.sizes.len() - 2..];
    let solved = each_matrix(b, &TRIANGULAR, context! { sizes, ..form }, &matrix, right.clone())?;
    Ok(b.converted(&solved, out))
}
