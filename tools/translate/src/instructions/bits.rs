//! Casts to elements of another width with the same bits.

use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::convert::{bits, convert, of_bits};
use crate::tensor::{Fault, ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::operations::{Array, bits as memory_bits};

/// The unsigned integer type of this width.
pub fn unsigned(bits: i64) -> Option<ElementType> {
    use ElementType::{U1, U2, U4, U8, U16, U32, U64};
    [U1, U2, U4, U8, U16, U32, U64].into_iter().find(|e| e.bits() == Some(bits))
}

/// A `bitcast-convert` to wider elements: elements along the last dimension are joined, the first least significant.
pub fn joined(b: &mut Builder, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let source = b.without_encoding(from);
    let rank = out.sizes.len();
    let wrong =
        || Fault::from(format!("parts of {} cannot be imported as {}", out.element.name(), from.element.name()));
    let (narrow, wide) = from.element.bits().zip(out.element.bits()).ok_or_else(wrong)?;
    let (of, into) = (format!("i{narrow}"), format!("i{wide}"));
    b.each(Vec::new(), out, |w, _| {
        let mut at: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let mut sum: Option<String> = None;
        for k in 0..wide / narrow {
            at.push(w.index(k));
            let value = w.load(&Typed::new(&source.name, &source.ty), &at);
            at.pop();
            let part = bits(w, &value, from.element).ok_or_else(wrong)?;
            let long = w.op(&format!("arith.extui {part} : {of} to {into}"));
            let by = w.constant(&(k * narrow).to_string(), &into);
            let placed = w.same("arith.shli", &[long, by], &into);
            sum = Some(match sum {
                Some(sum) => w.same("arith.ori", &[sum, placed], &into),
                None => placed,
            });
        }
        let sum = sum.ok_or_else(wrong)?;
        of_bits(w, &sum, out.element).ok_or_else(wrong)
    })
}

/// The memory order of an array without tiles.
struct Line {
    sizes: Vec<i64>,
    /// The stride of each dimension, in elements.
    strides: Vec<i64>,
}

impl Line {
    fn new(array: &Array, t: &Tensor) -> Line {
        let mut strides = vec![1; t.sizes.len()];
        let mut step = 1;
        for dim in &array.layout.minor_to_major {
            strides[*dim] = step;
            step *= t.sizes[*dim];
        }
        Line { sizes: t.sizes.clone(), strides }
    }

    /// The offset of the element at an index, in elements.
    fn number(&self, w: &mut Writer, index: &[String]) -> String {
        let mut sum = w.index(0);
        for (index, stride) in index.iter().zip(&self.strides) {
            let stride = w.index(*stride);
            let part = w.on_index("muli", index, &stride);
            sum = w.on_index("addi", &sum, &part);
        }
        sum
    }

    /// The index of the element at an offset.
    fn index(&self, w: &mut Writer, number: &str) -> Vec<String> {
        let one = |(size, stride): (&i64, &i64)| {
            let (size, stride) = (w.index(*size), w.index(*stride));
            let whole = w.on_index("divui", number, &stride);
            w.on_index("remui", &whole, &size)
        };
        self.sizes.iter().zip(&self.strides).map(one).collect()
    }
}

/// The `width` bits of an element in memory: a narrower one is in the low bits.
fn in_memory(w: &mut Writer, value: &str, from: ElementType, width: i64) -> Option<String> {
    let is_whole = !from.is_float() && !from.is_complex();
    match from.bits()? == width {
        true => bits(w, value, from),
        false => is_whole.then(|| convert(w, value, from, unsigned(width)?)).flatten(),
    }
}

/// The element with these bits in memory.
fn of_memory(w: &mut Writer, found: &str, width: i64, to: ElementType) -> Option<String> {
    let is_whole = !to.is_float() && !to.is_complex();
    match to.bits()? == width {
        true => of_bits(w, found, to),
        false => is_whole.then(|| convert(w, found, unsigned(width)?, to)).flatten(),
    }
}

/// A `bitcast` to elements of another width, of arrays without tiles: the bytes stay in place, and an element's first
/// byte is its least significant.
pub fn recast(b: &mut Builder, arrays: [&Array; 2], from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let wrong =
        || Fault::from(format!("a `bitcast` of {} to {} cannot be imported", from.element_text, out.element_text));
    let (of_from, of_out) = (Line::new(arrays[0], from), Line::new(arrays[1], out));
    let (width, to) = memory_bits(arrays[0]).zip(memory_bits(arrays[1])).ok_or_else(wrong)?;
    let (of, into) = (format!("i{width}"), format!("i{to}"));
    let source = b.without_encoding(from);
    let typed = Typed::new(&source.name, &source.ty);
    let rank = out.sizes.len();
    b.each(Vec::new(), out, |w, _| {
        let index: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let number = of_out.number(w, &index);
        let ratio = w.index((width / to).max(to / width));
        let found = |w: &mut Writer, number: &str| {
            let at = of_from.index(w, number);
            let value = w.load(&typed, &at);
            in_memory(w, &value, from.element, width).ok_or_else(wrong)
        };
        if to < width {
            let place = w.on_index("remui", &number, &ratio);
            let number = w.on_index("divui", &number, &ratio);
            let value = found(w, &number)?;
            let size = w.index(to);
            let by = w.on_index("muli", &place, &size);
            let by = w.index_as(&by, &of);
            let shifted = w.same("arith.shrui", &[value, by], &of);
            let cut = w.op(&format!("arith.trunci {shifted} : {of} to {into}"));
            return of_memory(w, &cut, to, out.element).ok_or_else(wrong);
        }
        let first = w.on_index("muli", &number, &ratio);
        let mut sum = w.constant("0", &into);
        for k in 0..to / width {
            let offset = w.index(k);
            let number = w.on_index("addi", &first, &offset);
            let value = found(w, &number)?;
            let long = w.op(&format!("arith.extui {value} : {of} to {into}"));
            let by = w.constant(&(k * width).to_string(), &into);
            let placed = w.same("arith.shli", &[long, by], &into);
            sum = w.same("arith.ori", &[sum, placed], &into);
        }
        of_memory(w, &sum, to, out.element).ok_or_else(wrong)
    })
}
