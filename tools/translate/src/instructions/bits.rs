//! Elements of another width made of the same bits.

use crate::builder::Builder;
use crate::loops::Typed;
use crate::scalar::convert::reinterpreted;
use crate::syntax::element_type;
use crate::tensor::{Done, Tensor};
use tensor_layout::element::ElementType;

/// The type of an unsigned integer of so many bits.
pub fn unsigned(bits: i64) -> Option<ElementType> {
    use ElementType::{U1, U2, U4, U8, U16, U32, U64};
    [U1, U2, U4, U8, U16, U32, U64].into_iter().find(|e| e.bits() == Some(bits))
}

/// A `bitcast-convert` to wider elements: those along the last dimension put together, the first one least significant.
pub fn joined(b: &mut Builder, from: &Tensor, out: &Tensor) -> Done<Tensor> {
    let source = b.flattened(from);
    let rank = out.sizes.len();
    let wrong = || format!("parts of {} cannot be imported as {}", out.element.name(), from.element.name());
    let (narrow, wide) = from.element.bits().zip(out.element.bits()).ok_or_else(wrong)?;
    let (part, whole) = unsigned(narrow).zip(unsigned(wide)).ok_or_else(wrong)?;
    let (of, into) = (element_type(part).ok_or_else(wrong)?, element_type(whole).ok_or_else(wrong)?);
    b.each(Vec::new(), out, |w, _| {
        let mut at: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let mut sum: Option<String> = None;
        for k in 0..wide / narrow {
            at.push(w.index(k));
            let value = w.load(&Typed::new(&source.name, &source.ty), &at);
            at.pop();
            let bits = reinterpreted(w, &value, from.element, part).ok_or_else(wrong)?;
            let long = w.op(&format!("arith.extui {bits} : {of} to {into}"));
            let by = w.constant(&(k * narrow).to_string(), &into);
            let placed = w.same("arith.shli", &[long, by], &into);
            sum = Some(match sum {
                Some(sum) => w.same("arith.ori", &[sum, placed], &into),
                None => placed,
            });
        }
        let sum = sum.ok_or_else(wrong)?;
        reinterpreted(w, &sum, whole, out.element).ok_or_else(wrong)
    })
}
