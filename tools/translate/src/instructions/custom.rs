//! Custom calls: known targets as operations, all others as external functions.

use super::Site;
use crate::builder::{Builder, Operand};
use crate::tensor::{ImportResult, Tensor, tensors};
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::{Operation, Shape};

/// The attributes that are passed on to an external function.
const TOLD: [&str; 7] = [
    "backend_config",
    "api_version",
    "output_to_operand_aliasing",
    "custom_call_has_side_effect",
    "called_computations",
    "frontend_attributes",
    "schedule",
];

/// Writes a custom call.
pub fn custom_call(b: &mut Builder, site: &Site, ins: &[Tensor], results: Vec<Tensor>) -> ImportResult<Vec<Tensor>> {
    let i = site.i;
    let target = i.string("custom_call_target").ok_or("a custom call must have a target")?;
    match (&i.operation, &*target, &results[..]) {
        (Operation::Constant, _, outs) => Ok(outs.iter().map(|out| b.empty(out)).collect()),
        (Operation::Elementwise, "X64Combine", [out]) => Ok(vec![combined(b, ins, out)?]),
        (Operation::Elementwise, "X64SplitLow", [out]) => Ok(vec![half(b, ins, out, 0)?]),
        (Operation::Elementwise, "X64SplitHigh", [out]) => Ok(vec![half(b, ins, out, 32)?]),
        (Operation::Elementwise, _, [out]) => Ok(vec![b.converted(&ins[0], out)]),
        _ => {
            let wanted = i.operand_layouts().map(|shapes| tensors(&Shape::Tuple(shapes))).transpose()?;
            let ins = wanted.map_or_else(|| Ok(ins.to_vec()), |wanted| b.all_converted(ins, &wanted))?;
            Ok(external(b, i, &target, &ins, &results))
        }
    }
}

fn external(b: &mut Builder, i: &Instruction, target: &str, ins: &[Tensor], results: &[Tensor]) -> Vec<Tensor> {
    let text = |name: &str| i.string(name).or_else(|| i.attribute(name).map(str::to_string));
    let told: Vec<(&str, String)> = TOLD.iter().filter_map(|name| Some((*name, text(name)?))).collect();
    let mut attributes = vec![("target", target)];
    attributes.extend(told.iter().map(|(name, text)| (*name, text.as_str())));
    b.external(target, &attributes, i, (ins, results))
}

/// A number of 64 bits from its lower and its higher half; a float is their sum.
fn combined(b: &mut Builder, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let (of, from, is_float) = (out.element_text.clone(), ins[0].element_text.clone(), out.element.is_float());
    b.each(ins.iter().map(Operand::own).collect(), out, |w, args| {
        if is_float {
            let wide = |w: &mut crate::writer::Writer, x: &str| w.op(&format!("arith.extf {x} : {from} to {of}"));
            let parts = [wide(w, &args[0]), wide(w, &args[1])];
            return Ok(w.same("arith.addf", &parts, &of));
        }
        let wide = |w: &mut crate::writer::Writer, x: &str| w.op(&format!("arith.extui {x} : {from} to {of}"));
        let (low, high) = (wide(w, &args[0]), wide(w, &args[1]));
        let bits = w.constant("32", &of);
        let high = w.same("arith.shli", &[high, bits], &of);
        Ok(w.same("arith.ori", &[high, low], &of))
    })
}

/// Half of a number of 64 bits, from bit `bit` on. The higher half of a float is the nearest float of 32 bits, the
/// lower half the rest.
fn half(b: &mut Builder, ins: &[Tensor], out: &Tensor, bit: i64) -> ImportResult<Tensor> {
    let (of, to, is_float) = (ins[0].element_text.clone(), out.element_text.clone(), out.element.is_float());
    b.each(vec![Operand::own(&ins[0])], out, |w, args| {
        if is_float {
            let near = w.op(&format!("arith.truncf {} : {of} to {to}", args[0]));
            if bit != 0 {
                return Ok(near);
            }
            let wide = w.op(&format!("arith.extf {near} : {to} to {of}"));
            let rest = w.same("arith.subf", &[args[0].clone(), wide], &of);
            return Ok(w.op(&format!("arith.truncf {rest} : {of} to {to}")));
        }
        let bits = w.constant(&bit.to_string(), &of);
        let moved = w.same("arith.shrui", &[args[0].clone(), bits], &of);
        Ok(w.op(&format!("arith.trunci {moved} : {of} to {to}")))
    })
}
