//! Cholesky decompositions and triangular systems, matrix by matrix, in place.

use crate::builder::{Builder, Operand};
use crate::loops::Typed;
use crate::scalar::convert::{re, real};
use crate::scalar::field::Field;
use crate::syntax::element_type;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;

/// The arithmetic of a tensor's type.
fn field(t: &Tensor) -> ImportResult<Field> {
    Field::new(t.element).ok_or_else(|| format!("matrices of {} cannot be imported", t.element.name()).into())
}

/// The loop bounds of all dimensions but the last two, and the sizes of these.
fn matrices(w: &mut Writer, t: &Tensor) -> (Vec<String>, i64, i64) {
    let rank = t.sizes.len();
    let batch = t.sizes[..rank - 2].to_vec();
    (batch.into_iter().map(|n| w.index(n)).collect(), t.sizes[rank - 2], t.sizes[rank - 1])
}

/// The triangular factor of each matrix; the other triangle is 0. Column by column, the element in row `i` and column
/// `j` is `(a[i][j] - sum of l[i][k] * conj(l[j][k]) for k < j) / l[j][j]`, and on the diagonal the square root of that
/// difference. The upper factor is the adjoint of the lower one.
pub fn cholesky(b: &mut Builder, lower: bool, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let precise = b.precise(from, out)?;
    let (source, field) = (b.without_encoding(&precise), field(out)?);
    let zero = b.zero(&source);
    let filled = b.filled(&source, &zero);
    let w = &mut b.w;
    let (batch, n, _) = matrices(w, &source);
    let (first, one, size) = (w.index(0), w.index(1), w.index(n));
    let data = Typed::new(&source.name, &source.ty);
    let done = w.nest(&batch, Typed::all(&[filled]), &mut |w, matrix, values| {
        // Indices are those of the lower factor: the upper one has the element mirrored and conjugated.
        let place = |i: &str, j: &str| {
            let (i, j) = if lower { (i, j) } else { (j, i) };
            [matrix, &[i.to_string(), j.to_string()]].concat()
        };
        let load = |w: &mut Writer, t: &Typed, i: &str, j: &str| {
            let value = w.load(t, &place(i, j));
            if lower { value } else { field.conjugate(w, &value) }
        };
        let store = |w: &mut Writer, value: &str, t: &Typed, i: &str, j: &str| {
            let value = if lower { value.to_string() } else { field.conjugate(w, value) };
            w.store(&value, t, &place(i, j))
        };
        // a[i][j] without the products of the columns before.
        let rest = |w: &mut Writer, factor: &Typed, i: &str, j: &str| -> ImportResult<String> {
            let begin = load(w, &data, i, j);
            let sum = w.repeat([&first, j, &one], vec![Typed::new(&begin, &field.of)], &mut |w, k, sum| {
                let (a, b) = (load(w, factor, i, &k[0]), load(w, factor, j, &k[0]));
                let b = field.conjugate(w, &b);
                let product = field.on(w, "mul", &a, &b);
                Ok(vec![Typed::new(&field.on(w, "sub", &sum[0].name, &product), &field.of)])
            })?;
            Ok(sum[0].name.clone())
        };
        w.repeat([&first, &size, &one], values, &mut |w, j, values| {
            let square = rest(w, &values[0], &j[0], &j[0])?;
            let root = field.sqrt(w, &square);
            let factor = store(w, &root, &values[0], &j[0], &j[0]);
            let below = w.on_index("addi", &j[0], &one);
            w.repeat([&below, &size, &one], vec![factor], &mut |w, i, values| {
                let sum = rest(w, &values[0], &i[0], &j[0])?;
                let value = field.on(w, "div", &sum, &root);
                Ok(vec![store(w, &value, &values[0], &i[0], &j[0])])
            })
        })
    })?;
    Ok(b.converted(&Tensor { name: done[0].name.clone(), ..source }, out))
}

/// The triangular factor of each matrix, with the matrix's own elements in the other triangle; the number, from 1, of
/// the first column whose diagonal element of the factor is not positive, or 0.
pub fn cholesky_in_place(b: &mut Builder, lower: bool, from: &Tensor, outs: &[Tensor]) -> ImportResult<Vec<Tensor>> {
    let precise = b.precise(from, &outs[0])?;
    let plain = Tensor { ty: outs[0].plain(), ..outs[0].clone() };
    let factor = cholesky(b, lower, &precise, &plain)?;
    let rank = plain.sizes.len();
    let both = vec![Operand::own(&precise), Operand::own(&factor)];
    let merged = b.each(both, &outs[0], |w, args| {
        let [row, column] = [rank - 2, rank - 1].map(|k| w.op(&format!("linalg.index {k} : index")));
        let inside = w.compare(if lower { "uge" } else { "ule" }, &row, &column, "index");
        Ok(w.select(&inside, &args[1], &args[0], &plain.element_text))
    })?;
    let info = Tensor { ty: outs[1].plain(), ..outs[1].clone() };
    let zeros = b.w.constant("0", &info.element_text);
    let filled = b.filled(&info, &zeros);
    let data = Typed::new(&factor.name, &factor.ty);
    let w = &mut b.w;
    let (batch, n, _) = matrices(w, &plain);
    let (first, one, size) = (w.index(0), w.index(1), w.index(n));
    let done = w.nest(&batch, Typed::all(&[filled]), &mut |w, matrix, values| {
        w.repeat([&first, &size, &one], values, &mut |w, j, values| {
            let value = w.load(&data, &[matrix, &[j[0].clone(), j[0].clone()]].concat());
            let (value, of) = match plain.element.is_complex() {
                true => {
                    let e = real(plain.element);
                    (re(w, &value, plain.element).ok_or("a matrix of this type cannot be imported")?, e)
                }
                false => (value, plain.element),
            };
            let of = element_type(of).ok_or("a matrix of this type cannot be imported")?;
            let zero = w.constant("0.0", &of);
            // NaN is not positive, either.
            let fails = w.compare("ule", &value, &zero, &of);
            let found = w.load(&values[0], matrix);
            let none = w.compare("eq", &found, &zeros, &info.element_text);
            let is_first = w.same("arith.andi", &[fails, none], "i1");
            let number = w.on_index("addi", &j[0], &one);
            let number = w.index_as(&number, &info.element_text);
            let next = w.select(&is_first, &number, &found, &info.element_text);
            Ok(vec![w.store(&next, &values[0], matrix)])
        })
    })?;
    Ok(vec![merged, b.converted(&Tensor { name: done[0].name.clone(), ..info.clone() }, &outs[1])])
}

/// The form of a triangular system.
#[derive(Clone, Copy)]
pub struct System {
    /// Whether the matrix is the left factor.
    pub left: bool,
    pub lower: bool,
    pub transposed: bool,
    /// Whether the matrix is conjugated.
    pub adjoint: bool,
    /// Whether the diagonal counts as 1.
    pub unit: bool,
}

/// Solves `op(A) x = b` row by row: the earlier rows of `x`, times the elements of row `i` of the matrix, are
/// subtracted from row `i` of `b`; the rest is divided by the diagonal element. `x op(A) = b` is the transposed system.
pub fn triangular(b: &mut Builder, system: System, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let System { left, lower, transposed, adjoint, unit } = system;
    let precise = [b.precise(&ins[0], out)?, b.precise(&ins[1], out)?];
    let [matrix, right] = precise.each_ref().map(|t| b.without_encoding(t));
    let field = field(out)?;
    // On the right, columns take the place of rows, and the matrix is transposed once more.
    let (turned, forward) = (transposed == left, (lower != transposed) == left);
    let w = &mut b.w;
    let (batch, rows, columns) = matrices(w, &right);
    let (n, free) = if left { (rows, columns) } else { (columns, rows) };
    let (first, one, size, last) = (w.index(0), w.index(1), w.index(n), w.index(n - 1));
    let width = w.index(free);
    let data = Typed::new(&matrix.name, &matrix.ty);
    let done = w.nest(&batch, Typed::all(std::slice::from_ref(&right)), &mut |w, outer, values| {
        let element = |w: &mut Writer, i: &str, j: &str| {
            let (i, j) = if turned { (j, i) } else { (i, j) };
            let value = w.load(&data, &[outer, &[i.to_string(), j.to_string()]].concat());
            if adjoint { field.conjugate(w, &value) } else { value }
        };
        let place = |i: &str, k: &str| {
            let (i, k) = if left { (i, k) } else { (k, i) };
            [outer, &[i.to_string(), k.to_string()]].concat()
        };
        // The `k`th row in the order of solving.
        let row = |w: &mut Writer, k: &str| if forward { k.to_string() } else { w.on_index("subi", &last, k) };
        w.repeat([&first, &size, &one], values, &mut |w, step, values| {
            let i = row(w, &step[0]);
            let reduced = w.repeat([&first, &step[0], &one], values, &mut |w, before, values| {
                let j = row(w, &before[0]);
                let factor = element(w, &i, &j);
                w.repeat([&first, &width, &one], values, &mut |w, k, values| {
                    let (old, known) = (w.load(&values[0], &place(&i, &k[0])), w.load(&values[0], &place(&j, &k[0])));
                    let product = field.on(w, "mul", &factor, &known);
                    let value = field.on(w, "sub", &old, &product);
                    Ok(vec![w.store(&value, &values[0], &place(&i, &k[0]))])
                })
            })?;
            if unit {
                return Ok(reduced);
            }
            let diagonal = element(w, &i, &i);
            w.repeat([&first, &width, &one], reduced, &mut |w, k, values| {
                let old = w.load(&values[0], &place(&i, &k[0]));
                let value = field.on(w, "div", &old, &diagonal);
                Ok(vec![w.store(&value, &values[0], &place(&i, &k[0]))])
            })
        })
    })?;
    Ok(b.converted(&Tensor { name: done[0].name.clone(), ..right }, out))
}
