//! Stages of a Fourier transform.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign};
use layout_ir::{self as ir, Rewriter, Val};
use layout_programs::{FFT_STAGE, Program};
use melior::ir::TypeLike;
use minijinja::context;

/// Makes one stage of a transform in place. The inputs are its number and perhaps the roots of one.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    foreign.check_counts(&[1, 3], &[2])?;
    let (stage, re, im) = (&foreign.ins[0], &foreign.outs[0], &foreign.outs[1]);
    let is_index = !stage.is_tensor && stage.element.is_index();
    foreign.require(is_index, format!("expected the stage as an index, found {}", stage.text()))?;
    foreign.require(re.rank() > 0, "expected arrays of a dimension, found scalars")?;
    foreign.check_same(("imaginary parts", &im.shape), ("the real parts", &re.shape))?;
    let element = re.element;
    for t in foreign.ins[1..].iter().chain([im]) {
        foreign.require(t.element == element, format!("expected elements of {element}, found {}", t.element))?;
    }
    foreign.require(element.is_float(), format!("expected floating-point numbers, found {element}"))?;
    let is_narrow = ir::bits(element) <= Some(64) || foreign.ins.len() > 1;
    foreign.require(is_narrow, format!("expected elements of at most 64 bits, or coefficients, found {element}"))?;
    for t in &foreign.ins[1..] {
        foreign.require(t.rank() == 1, format!("expected coefficients of one dimension, found {}", t.text()))?;
    }
    if let [_, re, im] = &foreign.ins[..] {
        foreign.check_same(("imaginary coefficients", &im.shape), ("the real ones", &re.shape))?;
    }
    let mut sizes = Sizes::default();
    let bounds = sizes.of("%begin0", re);
    let program = Program::new(
        &FFT_STAGE,
        context! {
            coefficients => foreign.ins.get(1).map(|t| t.text()), array => re.text(), element => element.to_string(),
            prologue => sizes.prologue, bounds,
        },
    );
    let operands: Vec<Val> = foreign.ins.iter().chain(&foreign.outs).map(|t| t.value).collect();
    Ok(inline(rewriter, foreign, &program, "main", &operands))
}
