//! Fourier transforms, line by line: `templates/fft.mlir`.

use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::convert::real;
use crate::syntax::{element_type, plain};
use crate::template::no_callee;
use crate::tensor::{ImportResult, Tensor};
use layout_programs::{Program, Template, parsed};
use minijinja::{Value, context};
use tensor_layout::element::ElementType;
use tensor_layout::operations::Fourier;

static FFT: Template = Template::new(|| parsed(include_str!("templates/fft.mlir")));

/// Writes the transform over the last dimensions; from reals the last one first, to reals the last one last.
pub fn fft(b: &mut Builder, kind: Fourier, lengths: &[i64], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let rank = out.sizes.len();
    let first = rank - lengths.len();
    let inverse = matches!(kind, Fourier::Inverse | Fourier::InverseReal);
    let mut t = b.without_encoding(from);
    if kind == Fourier::Real {
        t = lines(b, &t, rank - 1, lengths[lengths.len() - 1], kind, false)?;
    }
    let whole = if matches!(kind, Fourier::Forward | Fourier::Inverse) { rank } else { rank - 1 };
    for dim in first..whole {
        t = lines(b, &t, dim, lengths[dim - first], Fourier::Forward, inverse)?;
    }
    if kind == Fourier::InverseReal {
        t = lines(b, &t, rank - 1, lengths[lengths.len() - 1], kind, true)?;
    }
    Ok(b.converted(&t, out))
}

/// Transforms each line of a tensor along a dimension.
fn lines(b: &mut Builder, t: &Tensor, dim: usize, n: i64, kind: Fourier, inverse: bool) -> ImportResult<Tensor> {
    let element = match t.element {
        ElementType::F32 => ElementType::C64,
        ElementType::F64 => ElementType::C128,
        ElementType::C64 | ElementType::C128 => t.element,
        other => {
            return Err(format!("operand 0 of `fft` must have elements of f32 or f64, found {}", other.name()).into());
        }
    };
    let wrong = || format!("an `fft` of {n} elements of {} cannot be imported", element.name());
    // A convolution takes a power of two of at least 2 n - 1 elements.
    let power = || (1..=40).map(|k| 1 << k).find(|long| n > 0 && long / 2 >= n);
    let long: i64 = factors(n).map(|_| n).or_else(power).filter(|long| *long <= 1 << 40).ok_or_else(wrong)?;
    let [of, part] = [element, real(element)].map(|e| element_type(e).unwrap_or_default());

    let to_real = kind == Fourier::InverseReal;
    let mut to = Tensor { element: if to_real { real(element) } else { element }, ..t.clone() };
    to.sizes[dim] = if kind == Fourier::Real { n / 2 + 1 } else { n };
    to.element_text = if to_real { part.clone() } else { of.clone() };
    to.ty = plain(&to.sizes, &to.element_text);
    let target = b.empty(&to);

    let values = context! {
        dim, n, long, of, part, inverse, to_real, from_real => !t.element.is_complex(), length => to.sizes[dim],
        factors => factors(long), source => t.ty, target => to.ty,
    };
    let tables = Program::new(&FFT, context! { outer => Vec::<String>::new(), ..values.clone() });
    let tables = b.w.inline(&tables, "tables", &[], &mut no_callee)?;
    let line = plain(&[long], &of);
    let scratch = [(); 2].map(|()| Typed::new(&b.w.op(&format!("tensor.empty() : {line}")), &line));
    let begin = [&Typed::all(&[target])[..], &scratch].concat();
    let mut bounds = t.sizes.clone();
    bounds[dim] = 1;
    let arguments = [std::slice::from_ref(&t.name), &tables].concat();
    let mut done = b.w.inline_nest(&FFT, values, &bounds, &arguments, begin, &mut no_callee)?;
    Ok(Tensor { name: done.swap_remove(0).name, ..to })
}

/// The bases of a length and their exponents, if it is a product of 2, 3, 5 and 7.
fn factors(n: i64) -> Option<Vec<Value>> {
    let (mut factors, mut left) = (Vec::new(), n);
    for base in [2, 3, 5, 7] {
        let mut rounds = 0;
        while left > 0 && left % base == 0 {
            left /= base;
            rounds += 1;
        }
        if rounds != 0 {
            factors.push(context! { base, rounds });
        }
    }
    (left == 1).then_some(factors)
}
