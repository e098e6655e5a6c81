//! Computations on scalars, written where they are used: in the region of a `linalg.generic`, or in a loop.
//!
//! Their arrays, as in `dot(broadcast(a), broadcast(b))` of two scalars, are written element by element: no region holds a
//! tensor. So arrays have at most [`MOST_ELEMENTS`] elements.

use crate::builder::zero;
use crate::scalar::convert::{convert, converted, reinterpreted};
use crate::scalar::elementwise;
use crate::scalar::field::added;
use crate::syntax::element_type;
use crate::tensor::{Done, Fault, first_leaf};
use crate::writer::Writer;
use tensor_layout::analysis::maps;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, Operation, Shape, count, leaves};

/// The most elements of an array: each is at least one operation of MLIR.
const MOST_ELEMENTS: i64 = 1024;

/// An array whose elements are values, row-major.
#[derive(Clone)]
struct Elements {
    element: ElementType,
    sizes: Vec<i64>,
    values: Vec<String>,
}

impl Elements {
    fn scalar(value: String, element: ElementType) -> Elements {
        Elements { element, sizes: Vec::new(), values: vec![value] }
    }

    /// The value at an index; that of a scalar at each.
    fn at(&self, index: &[i64]) -> &str {
        if self.sizes.is_empty() { &self.values[0] } else { &self.values[linear(index, &self.sizes)] }
    }

    /// The same elements as another type.
    fn converted(&self, w: &mut Writer, to: ElementType) -> Done<Elements> {
        let values = self.values.iter().map(|value| converted(w, value, self.element, to)).collect::<Done<_>>()?;
        Ok(Elements { element: to, values, ..self.clone() })
    }
}

/// What a computation gives for arguments of types `from`, as values of types `to`.
///
/// # Errors
/// An instruction of the computation has no counterpart on scalars.
pub fn applied(
    module: &Module,
    computation: usize,
    w: &mut Writer,
    arguments: &[String],
    from: &[ElementType],
    to: &[ElementType],
) -> Done<Vec<String>> {
    let scalar = |(value, element): (&String, &ElementType)| vec![Elements::scalar(value.clone(), *element)];
    let given = inlined(module, computation, w, &arguments.iter().zip(from).map(scalar).collect::<Vec<_>>())?;
    let each = given.iter().zip(to).map(|(own, to)| converted(w, own.at(&[]), own.element, *to));
    each.collect()
}

/// A computation, written where it is used, with the arrays of each argument; the arrays of its root.
fn inlined(module: &Module, computation: usize, w: &mut Writer, arguments: &[Vec<Elements>]) -> Done<Vec<Elements>> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<Elements>> = Vec::new();
    for i in &computation.instructions {
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        let operands: Vec<&Vec<Elements>> = i.operands.iter().map(|k| &values[*k]).collect();
        let done = instruction(module, i, w, (&shapes, operands), arguments).map_err(|fault| fault.inside(i.at))?;
        values.push(done);
    }
    Ok(values.swap_remove(computation.root))
}

/// Writes an instruction; the arrays of its result.
fn instruction(
    module: &Module,
    i: &Instruction,
    w: &mut Writer,
    (shapes, operands): (&[&Shape], Vec<&Vec<Elements>>),
    arguments: &[Vec<Elements>],
) -> Done<Vec<Elements>> {
    Ok(match &i.operation {
        Operation::Parameter { number } => {
            let each = arguments[*number].iter().zip(leaves(&i.shape));
            each.map(|(given, array)| given.converted(w, array.element)).collect::<Done<_>>()?
        }
        Operation::Tuple => operands.into_iter().flatten().cloned().collect(),
        Operation::GetTupleElement { index } => {
            let before = first_leaf(shapes[0], *index).ok_or_else(|| not_imported(i))?;
            operands[0].iter().skip(before).take(count(&i.shape)).cloned().collect()
        }
        Operation::Call { computation } => {
            inlined(module, *computation, w, &operands.into_iter().cloned().collect::<Vec<_>>())?
        }
        Operation::Reduce { dims } => reduce(module, i, w, dims, &operands.into_iter().flatten().collect::<Vec<_>>())?,
        _ => match &i.shape {
            Shape::Array(array) => {
                let operands: Vec<&Elements> = operands.into_iter().flatten().collect();
                vec![one(module, i, w, (shapes, &operands), array)?]
            }
            _ => return Err(not_imported(i)),
        },
    })
}

/// Writes an instruction whose result is an array.
fn one(
    module: &Module,
    i: &Instruction,
    w: &mut Writer,
    (shapes, operands): (&[&Shape], &[&Elements]),
    array: &Array,
) -> Done<Elements> {
    let (sizes, element) = (sizes(array)?, array.element);
    let from: Vec<ElementType> = operands.iter().map(|operand| operand.element).collect();
    let mut each = |of: &mut dyn FnMut(&mut Writer, &[i64]) -> Done<String>| {
        let values = indices(&sizes).map(|index| of(w, &index)).collect::<Done<_>>()?;
        Ok(Elements { element, sizes: sizes.clone(), values })
    };
    match &i.operation {
        Operation::Constant => {
            let values = elementwise::constants(w, i, element)?;
            Ok(Elements { element, sizes, values })
        }
        Operation::Elementwise if i.opcode == "map" => each(&mut |w, index| {
            let number = i.called.first().copied().ok_or_else(|| not_imported(i))?;
            let arguments: Vec<String> = operands.iter().map(|operand| operand.at(index).to_string()).collect();
            let done = applied(module, number, w, &arguments, &from, &[element])?;
            done.into_iter().next().ok_or_else(|| not_imported(i))
        }),
        Operation::Elementwise | Operation::Select => each(&mut |w, index| {
            let arguments: Vec<String> = operands.iter().map(|operand| operand.at(index).to_string()).collect();
            elementwise::elementwise(w, i, &arguments, &from, element)
        }),
        Operation::Iota { dim } => each(&mut |w, index| {
            let value = w.constant(&index[*dim].to_string(), "i64");
            convert(w, &value, ElementType::S64, element).ok_or_else(|| not_imported(i))
        }),
        Operation::Concatenate { dim } => each(&mut |w, index| {
            let mut at = index.to_vec();
            for operand in operands {
                if at[*dim] < operand.sizes[*dim] {
                    return converted(w, operand.at(&at), operand.element, element);
                }
                at[*dim] -= operand.sizes[*dim];
            }
            Err(not_imported(i))
        }),
        Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
            dot(w, [lhs_batch, rhs_batch], [lhs_contracting, rhs_contracting], operands, array)
        }
        Operation::Broadcast { .. }
        | Operation::Reshape
        | Operation::Transpose { .. }
        | Operation::Reverse { .. }
        | Operation::Slice { .. }
        | Operation::Bitcast
            if i.opcode != "bitcast-convert" =>
        {
            let found = maps(&i.operation, shapes, &[&i.shape]).map_err(|error| error.message)?;
            let access = found.reads(0, 0).filter(|access| access.is_known());
            let Some([mapped]) = access.map(|access| &access.maps[..]) else { return Err(not_imported(i)) };
            let is_bitcast = matches!(i.operation, Operation::Bitcast);
            each(&mut |w, index| {
                let at = mapped.map.evaluate(index).map_err(|error| error.message)?.ok_or_else(|| not_imported(i))?;
                let (value, from) = (operands[0].at(&at), operands[0].element);
                match is_bitcast {
                    true => reinterpreted(w, value, from, element).ok_or_else(|| not_imported(i)),
                    false => converted(w, value, from, element),
                }
            })
        }
        _ => Err(not_imported(i)),
    }
}

/// Sums of products; those of floats of less than 32 bits are summed in `f32` and rounded once.
fn dot(
    w: &mut Writer,
    batch: [&Vec<usize>; 2],
    contracting: [&Vec<usize>; 2],
    operands: &[&Elements],
    out: &Array,
) -> Done<Elements> {
    let element = out.element;
    let wide = if element.is_float() && element.bits() < Some(32) { ElementType::F32 } else { element };
    let of = element_type(wide).ok_or("a `dot` of this type cannot be imported")?;
    let factors = [operands[0].converted(w, wide)?, operands[1].converted(w, wide)?];
    let summed: Vec<i64> = contracting[0].iter().map(|dim| factors[0].sizes[*dim]).collect();
    let sizes = sizes(out)?;
    let mut values = Vec::new();
    for index in indices(&sizes) {
        let mut sum = zero(w, wide, &of);
        for place in indices(&summed) {
            let mut free = batch[0].len();
            let mut factor = |side: usize| {
                let factor = &factors[side];
                let mut at = vec![0; factor.sizes.len()];
                batch[side].iter().zip(&index).for_each(|(dim, k)| at[*dim] = *k);
                contracting[side].iter().zip(&place).for_each(|(dim, k)| at[*dim] = *k);
                let others = (0..at.len()).filter(|dim| !batch[side].contains(dim) && !contracting[side].contains(dim));
                for dim in others {
                    at[dim] = index[free];
                    free += 1;
                }
                factor.at(&at).to_string()
            };
            let both = [factor(0), factor(1)];
            sum = added(w, &sum, &both, wide, &of);
        }
        values.push(converted(w, &sum, wide, element)?);
    }
    Ok(Elements { element, sizes, values })
}

/// A reduction inside of a computation: the operands are the inputs, then as many initial values.
fn reduce(
    module: &Module,
    i: &Instruction,
    w: &mut Writer,
    dims: &[usize],
    operands: &[&Elements],
) -> Done<Vec<Elements>> {
    let number = i.called.first().copied().ok_or_else(|| not_imported(i))?;
    let outs = leaves(&i.shape);
    let (inputs, initial) = operands.split_at(outs.len());
    let to: Vec<ElementType> = outs.iter().map(|out| out.element).collect();
    let from: Vec<ElementType> = to.iter().copied().chain(inputs.iter().map(|input| input.element)).collect();
    let all = &inputs.first().ok_or_else(|| not_imported(i))?.sizes;
    let reduced: Vec<i64> = dims.iter().map(|dim| all[*dim]).collect();
    let kept: Vec<usize> = (0..all.len()).filter(|dim| !dims.contains(dim)).collect();
    let mut results = outs
        .iter()
        .zip(&to)
        .map(|(out, element)| Ok(Elements { element: *element, sizes: sizes(out)?, values: Vec::new() }))
        .collect::<Done<Vec<_>>>()?;
    let own: Vec<i64> = kept.iter().map(|dim| all[*dim]).collect();
    for index in indices(&own) {
        let begin = initial.iter().zip(&to).map(|(value, to)| converted(w, value.at(&[]), value.element, *to));
        let mut sums = begin.collect::<Done<Vec<_>>>()?;
        for place in indices(&reduced) {
            let mut at = vec![0; all.len()];
            kept.iter().zip(&index).chain(dims.iter().zip(&place)).for_each(|(dim, k)| at[*dim] = *k);
            let next = inputs.iter().map(|input| input.at(&at).to_string());
            let arguments: Vec<String> = sums.into_iter().chain(next).collect();
            sums = applied(module, number, w, &arguments, &from, &to)?;
        }
        results.iter_mut().zip(sums).for_each(|(result, sum)| result.values.push(sum));
    }
    Ok(results)
}

/// The sizes of an array, of which there are not too many elements.
fn sizes(array: &Array) -> Done<Vec<i64>> {
    let sizes = array.sizes().ok_or("an array without a bound cannot be imported into a computation on scalars")?;
    match sizes.iter().try_fold(1i64, |all, n| all.checked_mul(*n)).filter(|all| *all <= MOST_ELEMENTS) {
        Some(_) => Ok(sizes),
        None => Err(format!(
            "an array in a computation on scalars must have at most {MOST_ELEMENTS} elements, found the sizes {sizes:?}"
        )
        .into()),
    }
}

/// All indices of an array, row-major.
fn indices(sizes: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let sizes = sizes.to_vec();
    (0..sizes.iter().product()).map(move |mut n: i64| {
        let mut index: Vec<i64> = sizes
            .iter()
            .rev()
            .map(|size| {
                let k = n % size;
                n /= size;
                k
            })
            .collect();
        index.reverse();
        index
    })
}

/// The place of an index in row-major order.
fn linear(index: &[i64], sizes: &[i64]) -> usize {
    let place = index.iter().zip(sizes).fold(0, |place, (k, size)| place * size + k);
    usize::try_from(place).unwrap_or(0)
}

fn not_imported(i: &Instruction) -> Fault {
    format!("`{}` cannot be imported into a computation on scalars", i.opcode).into()
}

#[cfg(test)]
mod tests {
    use tensor_layout::hlo::Module;

    /// The import of a reduction of `f32[10]` by a computation of `a` and `b`.
    fn reduced(body: &str) -> Result<String, String> {
        let text = format!(
            "HloModule m\nfn {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n{body}}}\nENTRY main {{\n  \
             x = f32[10] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=fn\n}}\n"
        );
        let module = Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").map_err(|errors| errors[0].message.clone())
    }

    #[test]
    fn arrays_are_written_element_by_element() {
        let dot = "  c = f32[2] broadcast(a), dimensions={}\n  d = f32[2] broadcast(b), dimensions={}\n  \
                   ROOT s = f32[] dot(c, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
        let text = reduced(dot).expect("MLIR");
        let (_, text) = text.split_once("@main").expect("the entry");
        assert_eq!((text.matches("arith.mulf").count(), text.matches("arith.addf").count()), (2, 2), "{text}");
        for body in [
            "  c = f32[2,3] broadcast(a), dimensions={}\n  t = f32[3,2] transpose(c), dimensions={1,0}\n  \
             e = f32[6] reshape(t)\n  s = f32[1] slice(e), slice={[2:3]}\n  q = f32[] reshape(s)\n  ROOT r = f32[] add(q, b)\n",
            "  c = f32[1] reshape(a)\n  d = f32[1] reshape(b)\n  e = f32[2] concatenate(c, d), dimensions={0}\n  \
             k = f32[2] constant({1, 2})\n  m = f32[2] multiply(e, k)\n  v = f32[2] reverse(m), dimensions={0}\n  \
             ROOT s = f32[] dot(v, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n",
            "  c = s32[] bitcast(a)\n  d = s32[] bitcast(b)\n  e = s32[] maximum(c, d)\n  ROOT r = f32[] bitcast(e)\n",
        ] {
            assert!(reduced(body).is_ok(), "{body}");
        }
        let large = "  c = f32[2000] broadcast(a), dimensions={}\n  s = f32[1] slice(c), slice={[0:1]}\n  q = f32[] reshape(s)\n  \
                     ROOT r = f32[] add(q, b)\n";
        let message = "an array in a computation on scalars must have at most 1024 elements, found the sizes [2000]";
        assert_eq!(reduced(large), Err(message.to_string()));
    }

    /// Faults are at the instructions of the computations, one for all that call them; of a computation that is called there,
    /// too.
    #[test]
    fn faults_are_at_the_instruction_of_the_computation() {
        let select = "q = f32[] conditional(p, a, b), true_computation=same, false_computation=same";
        let text = format!(
            "HloModule m\nsame {{\n  ROOT a = f32[] parameter(0)\n}}\ninner {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
             p = pred[] compare(a, b), direction=GT\n  ROOT {select}\n}}\nfn {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  \
             ROOT c = f32[] call(a, b), to_apply=inner\n}}\nENTRY main {{\n  x = f32[4] parameter(0)\n  z = f32[] constant(0)\n  \
             k = f32[4] map(x, x), dimensions={{0}}, to_apply=inner\n  s = f32[4] reduce-window(x, z), window={{size=4 pad=3_0}}, to_apply=fn\n  \
             o = f32[4] sort(x), dimensions={{0}}, to_apply=order\n  ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=fn\n}}\n\
             order {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  n = f32[] call(a, b), to_apply=inner\n  \
             w = f32[2000] broadcast(n), dimensions={{}}\n  ROOT p = pred[] compare(a, b), direction=LT\n}}\n"
        );
        let module = Module::parse(&text).expect("HLO");
        let errors = crate::import(&module, &text, "m.hlo").expect_err("a fault");
        let found: Vec<_> = errors.iter().map(|error| (error.at, error.message.as_str())).collect();
        assert_eq!(found, [(text.find("q = "), "`conditional` cannot be imported into a computation on scalars")]);
        let text = text.replace(select, "q = f32[] add(a, b)");
        let module = Module::parse(&text).expect("HLO");
        let errors = crate::import(&module, &text, "m.hlo").expect_err("a fault");
        let found: Vec<_> = errors.iter().map(|error| (error.at, error.message.as_str())).collect();
        let message = "an array in a computation on scalars must have at most 1024 elements, found the sizes [2000]";
        assert_eq!(found, [(text.find("w = "), message)]);
    }
}
