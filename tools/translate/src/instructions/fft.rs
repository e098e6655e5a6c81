//! Fourier transforms, line by line, in `n * log2(n)` steps for every length.
//!
//! A length that is a power of two is transformed by butterflies: the line in bit-reversed order, then pairs at
//! distances 1, 2, 4, .. combined in place. For further factors 3, 5 and 7, such transforms are then combined by
//! threes, fives and sevens, and the order reverses the digits of all factors. For another length `n` the sum of
//! `x[j] * u^(j k)` with `u = exp(-2 pi i / n)` is a convolution, since `2 j k = j^2 + k^2 - (k - j)^2` (Bluestein):
//! with `c[k] = exp(-pi i k^2 / n)`
//!
//! ```text
//! X[k] = c[k] * sum over j of (x[j] * c[j]) * conj(c[k - j])
//! ```
//!
//! The sum takes two transforms of a power of two of at least `2 n - 1` elements, and one of `conj(c)` for all lines.
//! The inverse is the transform of the conjugated line, conjugated, over `n`.

use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::complex;
use crate::scalar::convert::{convert, real};
use crate::scalar::literal::decimal;
use crate::syntax::{element_type, plain};
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::operations::Fourier;

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

/// The tables and types for transforms of one length.
struct Transform {
    /// The number of elements of a line.
    n: i64,
    /// The length of the butterflies: a power of two, times the factors of `odd`.
    long: i64,
    /// The odd factors of `long`, each 3, 5 or 7, in the order in which their transforms are combined.
    odd: Vec<i64>,
    element: ElementType,
    /// The type of an element, and of a line of `long` elements.
    of: String,
    line: String,
    /// The roots `exp(-2 pi i k / long)`, and the index of the line's element at `k` in reversed order.
    roots: Typed,
    places: Typed,
    /// Bluestein's `c` and the transform of its conjugate, where `n` has other factors.
    chirp: Option<[Typed; 2]>,
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
    let w = &mut b.w;
    let transform = Transform::new(w, n, element)?;
    let complex_type = transform.of.clone();
    let back = kind == Fourier::InverseReal;
    let mut to = Tensor { element: if back { real(element) } else { element }, ..t.clone() };
    to.sizes[dim] = if kind == Fourier::Real { n / 2 + 1 } else { n };
    to.element_text = if back { element_type(real(element)).unwrap_or_default() } else { complex_type };
    to.ty = plain(&to.sizes, &to.element_text);
    let target = b.empty(&to);
    let w = &mut b.w;
    let bounds: Vec<String> = t.sizes.iter().enumerate().map(|(k, n)| w.index(if k == dim { 1 } else { *n })).collect();
    let scratch = [transform.scratch(w), transform.scratch(w)];
    let begin = [Typed::all(&[target]), scratch.to_vec()].concat();
    let source = Typed::new(&t.name, &t.ty);
    let done = w.nest(&bounds, begin, &mut |w, outer, values| {
        let at = |k: &str| {
            let mut at = outer.to_vec();
            at[dim] = k.to_string();
            at
        };
        let scale = if inverse { complex::constant(w, 1.0 / n as f64, 0.0, element) } else { None };
        let filled = transform.filled(w, &values[1], &mut |w, k| {
            let value = match back {
                // The second half is the first one backwards, conjugated.
                true => {
                    let length = w.index(n);
                    let mirrored = w.on_index("subi", &length, k);
                    let half = w.index(n / 2);
                    let first = w.compare("ule", k, &half, "index");
                    let place = w.select(&first, k, &mirrored, "index");
                    let value = w.load(&source, &at(&place));
                    let turned = w.op(&format!("complex.conj {value} : {}", transform.of));
                    w.select(&first, &value, &turned, &transform.of)
                }
                false => {
                    let value = w.load(&source, &at(k));
                    convert(w, &value, t.element, element).ok_or("this `fft` cannot be imported")?
                }
            };
            Ok(if inverse { w.op(&format!("complex.conj {value} : {}", transform.of)) } else { value })
        })?;
        let [first, second] = transform.run(w, filled, values[2].clone())?;
        let length = w.index(to.sizes[dim]);
        let (zero, one) = (w.index(0), w.index(1));
        let result = w.repeat([&zero, &length, &one], vec![values[0].clone()], &mut |w, k, values| {
            let mut value = transform.result(w, &second, &k[0]);
            if let Some(scale) = &scale {
                let turned = w.op(&format!("complex.conj {value} : {}", transform.of));
                value = w.op(&format!("complex.mul {turned}, {scale} : {}", transform.of));
            }
            if back {
                value = w.op(&format!("complex.re {value} : {}", transform.of));
            }
            Ok(vec![w.store(&value, &values[0], &at(&k[0]))])
        })?;
        Ok(vec![result[0].clone(), first, second])
    })?;
    Ok(Tensor { name: done[0].name.clone(), ..to })
}

impl Transform {
    fn new(w: &mut Writer, n: i64, element: ElementType) -> ImportResult<Transform> {
        let wrong = || format!("an `fft` of {n} elements of {} cannot be imported", element.name());
        let odd = odd_factors(n);
        let longer =
            || n.checked_mul(2).and_then(|m| u64::try_from(m - 1).ok()?.checked_next_power_of_two()?.try_into().ok());
        let long = if odd.is_some() { Some(n) } else { longer() };
        let long: i64 = long.filter(|long| *long <= 1 << 40).ok_or_else(wrong)?;
        let of = element_type(element).ok_or_else(wrong)?;
        let line = plain(&[long], &of);
        let roots = table(w, long, &of, element, &mut |w, k| {
            let step = w.constant(&decimal(-std::f64::consts::TAU / long as f64), "f64");
            let number = w.op(&format!("arith.sitofp {k} : i64 to f64"));
            w.op(&format!("arith.mulf {number}, {step} : f64"))
        })?;
        let is_whole = odd.is_some();
        let odd = odd.unwrap_or_default();
        let places = reversed(w, long, &odd)?;
        let mut all = Transform { n, long, odd, element, of, line, roots, places, chirp: None };
        if !is_whole {
            all.chirp = Some(all.bluestein(w)?);
        }
        Ok(all)
    }

    /// A line whose elements are undefined.
    fn scratch(&self, w: &mut Writer) -> Typed {
        Typed::new(&w.op(&format!("tensor.empty() : {}", self.line)), &self.line)
    }

    fn multiplied(&self, w: &mut Writer, a: &str, b: &str) -> String {
        w.op(&format!("complex.mul {a}, {b} : {}", self.of))
    }

    /// The line with `value` of each of its first `n` elements, times `c` if any, followed by zeros.
    fn filled(
        &self,
        w: &mut Writer,
        line: &Typed,
        value: &mut dyn FnMut(&mut Writer, &str) -> ImportResult<String>,
    ) -> ImportResult<Typed> {
        let (zero, one, n, long) = (w.index(0), w.index(1), w.index(self.n), w.index(self.long));
        let filled = w.repeat([&zero, &n, &one], vec![line.clone()], &mut |w, k, values| {
            let mut value = value(w, &k[0])?;
            if let Some([chirp, _]) = &self.chirp {
                let factor = w.load(chirp, k);
                value = self.multiplied(w, &value, &factor);
            }
            Ok(vec![w.store(&value, &values[0], k)])
        })?;
        let nothing = complex::constant(w, 0.0, 0.0, self.element).ok_or("no zero")?;
        let filled =
            w.repeat([&n, &long, &one], filled, &mut |w, k, values| Ok(vec![w.store(&nothing, &values[0], k)]))?;
        Ok(filled[0].clone())
    }

    /// Transforms a line; the second of the two results has the transform, of `long` elements.
    fn run(&self, w: &mut Writer, from: Typed, into: Typed) -> ImportResult<[Typed; 2]> {
        let into = self.butterflies(w, &from, into)?;
        let Some([_, spectrum]) = &self.chirp else { return Ok([from, into]) };
        // The inverse transform of the product: the transform of its conjugate, conjugated.
        let (zero, one, long) = (w.index(0), w.index(1), w.index(self.long));
        let product = w.repeat([&zero, &long, &one], vec![from], &mut |w, k, values| {
            let (a, b) = (w.load(&into, k), w.load(spectrum, k));
            let product = self.multiplied(w, &a, &b);
            let turned = w.op(&format!("complex.conj {product} : {}", self.of));
            Ok(vec![w.store(&turned, &values[0], k)])
        })?;
        let into = self.butterflies(w, &product[0], into)?;
        Ok([product[0].clone(), into])
    }

    /// Element `k` of the result, from the line of [`Transform::run`].
    fn result(&self, w: &mut Writer, line: &Typed, k: &str) -> String {
        let value = w.load(line, &[k.to_string()]);
        let Some([chirp, _]) = &self.chirp else { return value };
        let factor = w.load(chirp, &[k.to_string()]);
        let turned = w.op(&format!("complex.conj {value} : {}", self.of));
        let value = self.multiplied(w, &turned, &factor);
        let scale = complex::constant(w, 1.0 / self.long as f64, 0.0, self.element).unwrap_or_default();
        self.multiplied(w, &value, &scale)
    }

    /// The transform of a line of `long` elements, into another one.
    fn butterflies(&self, w: &mut Writer, from: &Typed, into: Typed) -> ImportResult<Typed> {
        let (zero, one, two, long) = (w.index(0), w.index(1), w.index(2), w.index(self.long));
        let rounds = w.index(i64::from(self.long.trailing_zeros()));
        let into = w.repeat([&zero, &long, &one], vec![into], &mut |w, k, values| {
            let place = w.load(&self.places, k);
            let place = w.op(&format!("arith.index_cast {place} : i64 to index"));
            let value = w.load(from, &[place]);
            Ok(vec![w.store(&value, &values[0], k)])
        })?;
        let done = w.repeat([&zero, &rounds, &one], into, &mut |w, round, values| {
            let half = w.on_index("shli", &one, &round[0]);
            let whole = w.on_index("shli", &two, &round[0]);
            let stride = w.on_index("divui", &long, &whole);
            w.repeat([&zero, &long, &whole], values, &mut |w, block, values| {
                w.repeat([&zero, &half, &one], values, &mut |w, k, values| {
                    let low = w.on_index("addi", &block[0], &k[0]);
                    let high = w.on_index("addi", &low, &half);
                    let number = w.on_index("muli", &k[0], &stride);
                    let root = w.load(&self.roots, &[number]);
                    let (a, b) = (
                        w.load(&values[0], std::slice::from_ref(&low)),
                        w.load(&values[0], std::slice::from_ref(&high)),
                    );
                    let turned = self.multiplied(w, &b, &root);
                    let sum = w.op(&format!("complex.add {a}, {turned} : {}", self.of));
                    let gap = w.op(&format!("complex.sub {a}, {turned} : {}", self.of));
                    let stored = w.store(&sum, &values[0], &[low]);
                    Ok(vec![w.store(&gap, &stored, &[high])])
                })
            })
        })?;
        let mut line = done[0].clone();
        let mut size = 1 << self.long.trailing_zeros();
        for factor in &self.odd {
            line = self.combined(w, line, size, *factor)?;
            size *= factor;
        }
        Ok(line)
    }

    /// Combines transforms of `size` elements in place: each `count` of them become one of all their elements.
    fn combined(&self, w: &mut Writer, line: Typed, size: i64, count: i64) -> ImportResult<Typed> {
        let turns: Vec<String> = (0..count)
            .map(|k| {
                let place = w.index(k * (self.long / count));
                w.load(&self.roots, &[place])
            })
            .collect();
        let (zero, one, long) = (w.index(0), w.index(1), w.index(self.long));
        let (part, whole, stride) = (w.index(size), w.index(size * count), w.index(self.long / (size * count)));
        let done = w.repeat([&zero, &long, &whole], vec![line], &mut |w, block, values| {
            w.repeat([&zero, &part, &one], values, &mut |w, k, values| {
                let number = w.on_index("muli", &k[0], &stride);
                let mut root = number.clone();
                let mut places = vec![w.on_index("addi", &block[0], &k[0])];
                let mut elements = vec![w.load(&values[0], &places)];
                for q in 1..count as usize {
                    places.push(w.on_index("addi", &places[q - 1], &part));
                    let (value, turn) = (w.load(&values[0], &places[q..]), w.load(&self.roots, &[root.clone()]));
                    elements.push(self.multiplied(w, &value, &turn));
                    root = w.on_index("addi", &root, &number);
                }
                let mut stored = values[0].clone();
                for (j, place) in places.into_iter().enumerate() {
                    let mut sum = elements[0].clone();
                    for (q, element) in elements.iter().enumerate().skip(1) {
                        let term = match j {
                            0 => element.clone(),
                            _ => self.multiplied(w, element, &turns[q * j % turns.len()]),
                        };
                        sum = w.op(&format!("complex.add {sum}, {term} : {}", self.of));
                    }
                    stored = w.store(&sum, &stored, &[place]);
                }
                Ok(vec![stored])
            })
        })?;
        Ok(done[0].clone())
    }

    /// The factors `c`, and the transform of their conjugate extended to both sides: element `long - k` is element `k`.
    fn bluestein(&self, w: &mut Writer) -> ImportResult<[Typed; 2]> {
        let (n, long) = (self.n, self.long);
        let chirp = table(w, n, &self.of, self.element, &mut |w, k| {
            // k * k modulo 2 n keeps the angle exact.
            let square = w.op(&format!("arith.muli {k}, {k} : i64"));
            let round = w.constant(&(2 * n).to_string(), "i64");
            let rest = w.op(&format!("arith.remui {square}, {round} : i64"));
            let number = w.op(&format!("arith.sitofp {rest} : i64 to f64"));
            let step = w.constant(&decimal(-std::f64::consts::PI / n as f64), "f64");
            w.op(&format!("arith.mulf {number}, {step} : f64"))
        })?;
        let (zero, one, length) = (w.index(0), w.index(1), w.index(long));
        let line = self.scratch(w);
        let both = w.repeat([&zero, &length, &one], vec![line], &mut |w, k, values| {
            let back = w.on_index("subi", &length, &k[0]);
            let near = w.on_index("minui", &k[0], &back);
            let last = w.index(n - 1);
            let inside = w.compare("ule", &near, &last, "index");
            let near = w.on_index("minui", &near, &last);
            let value = w.load(&chirp, &[near]);
            let value = w.op(&format!("complex.conj {value} : {}", self.of));
            let nothing = complex::constant(w, 0.0, 0.0, self.element).ok_or("no zero")?;
            let value = w.select(&inside, &value, &nothing, &self.of);
            Ok(vec![w.store(&value, &values[0], k)])
        })?;
        let spectrum = self.scratch(w);
        let spectrum = self.butterflies(w, &both[0], spectrum)?;
        Ok([chirp, spectrum])
    }
}

/// The complex numbers of magnitude 1 with the angles `angle(0)`, `angle(1)`, .. in `f64`.
fn table(
    w: &mut Writer,
    n: i64,
    of: &str,
    element: ElementType,
    angle: &mut dyn FnMut(&mut Writer, &str) -> String,
) -> ImportResult<Typed> {
    let ty = plain(&[n], of);
    let begin = w.op(&format!("tensor.empty() : {ty}"));
    let (zero, one, length) = (w.index(0), w.index(1), w.index(n));
    let done = w.repeat([&zero, &length, &one], vec![Typed::new(&begin, &ty)], &mut |w, k, values| {
        let number = w.index_as(&k[0], "i64");
        let angle = angle(w, &number);
        let mut parts = Vec::new();
        for name in ["math.cos", "math.sin"] {
            let value = w.same(name, std::slice::from_ref(&angle), "f64");
            parts.push(convert(w, &value, ElementType::F64, real(element)).ok_or("no such float")?);
        }
        let value = w.op(&format!("complex.create {} : {of}", parts.join(", ")));
        Ok(vec![w.store(&value, &values[0], k)])
    })?;
    Ok(done[0].clone())
}

/// The factors other than 2 of a length, if each is 3, 5 or 7.
fn odd_factors(n: i64) -> Option<Vec<i64>> {
    if n < 1 {
        return None;
    }
    let (mut factors, mut left) = (Vec::new(), n >> n.trailing_zeros());
    for factor in [3, 5, 7] {
        while left % factor == 0 {
            factors.push(factor);
            left /= factor;
        }
    }
    (left == 1).then_some(factors)
}

/// The numbers below a power of two times odd factors, with their digits reversed. The weight of a digit is the
/// product of the factors before it in the number, and of the factors behind it in the reversed one.
fn reversed(w: &mut Writer, long: i64, odd: &[i64]) -> ImportResult<Typed> {
    let twos = 1 << long.trailing_zeros();
    let of_twos = reversed_bits(w, twos)?;
    if odd.is_empty() {
        return Ok(of_twos);
    }
    let ty = plain(&[long], "i64");
    let begin = w.op(&format!("tensor.empty() : {ty}"));
    let (zero, one, length) = (w.index(0), w.index(1), w.index(long));
    let done = w.repeat([&zero, &length, &one], vec![Typed::new(&begin, &ty)], &mut |w, k, values| {
        let bits = w.index(twos);
        let low = w.on_index("remui", &k[0], &bits);
        let of_bits = w.load(&of_twos, &[low]);
        let of_bits = w.op(&format!("arith.index_cast {of_bits} : i64 to index"));
        let behind = w.index(long / twos);
        let mut place = w.on_index("muli", &of_bits, &behind);
        let mut before = twos;
        for factor in odd {
            let (weight, base) = (w.index(before), w.index(*factor));
            let above = w.on_index("divui", &k[0], &weight);
            let digit = w.on_index("remui", &above, &base);
            before *= factor;
            let behind = w.index(long / before);
            let counted = w.on_index("muli", &digit, &behind);
            place = w.on_index("addi", &place, &counted);
        }
        let value = w.index_as(&place, "i64");
        Ok(vec![w.store(&value, &values[0], k)])
    })?;
    Ok(done[0].clone())
}

/// The numbers below a power of two with their bits reversed: for `k` half of the entry of `k / 2`, with the last bit
/// of `k` in front.
fn reversed_bits(w: &mut Writer, long: i64) -> ImportResult<Typed> {
    let ty = plain(&[long], "i64");
    let begin = w.op(&format!("tensor.empty() : {ty}"));
    let (zero, one, length) = (w.index(0), w.index(1), w.index(long));
    let nothing = w.constant("0", "i64");
    let first = w.store(&nothing, &Typed::new(&begin, &ty), std::slice::from_ref(&zero));
    let done = w.repeat([&one, &length, &one], vec![first], &mut |w, k, values| {
        let before = w.on_index("shrui", &k[0], &one);
        let of_half = w.load(&values[0], &[before]);
        let (single, front) = (w.constant("1", "i64"), w.constant(&(long / 2).to_string(), "i64"));
        let half = w.same("arith.shrui", &[of_half, single.clone()], "i64");
        let number = w.index_as(&k[0], "i64");
        let odd = w.same("arith.andi", &[number, single], "i64");
        let high = w.same("arith.muli", &[odd, front], "i64");
        let value = w.same("arith.ori", &[half, high], "i64");
        Ok(vec![w.store(&value, &values[0], k)])
    })?;
    Ok(done[0].clone())
}
