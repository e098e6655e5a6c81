//! Computations on scalars, at their uses: in the region of a `linalg.generic`, or in a loop.
//!
//! A short computation of elementwise instructions on scalars is inlined. Any other one is called as a
//! function on scalars, which calls the computation's usual function:
//!
//! ```text
//! func.func private @fold.scalars(%a0: f32, %a1: f32) -> (f32) {
//!   %0 = tensor.from_elements %a0 : tensor<f32>
//!   %1 = tensor.from_elements %a1 : tensor<f32>
//!   %2 = func.call @fold(%0, %1) : (tensor<f32>, tensor<f32>) -> (tensor<f32>)
//!   %3 = tensor.extract %2[] : tensor<f32>
//!   return %3 : f32
//! }
//! ```
//!
//! No region holds a tensor, so bufferization works on functions alone. The text is at most a constant times as long
//! as the HLO, however often computations call each other.

use super::is_identity;
use crate::scalar::convert::{converted, reinterpreted};
use crate::scalar::elementwise;
use crate::syntax::symbol;
use crate::tensor::{ImportResult, Tensor, first_leaf, tensors, types};
use crate::writer::{Writer, with_types};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Operation, Shape, count, leaves};

/// The most instructions of an inlined computation, with those of the computations that it calls. Computations that
/// combine elements have fewer than 20 in programs of JAX.
const MOST_WRITTEN: usize = 256;

/// The values of a walk over a computation on scalars.
pub trait Scalars {
    type Value: Clone;

    /// The same number as another type.
    fn converted(&mut self, value: &Self::Value, to: ElementType) -> Option<Self::Value>;

    /// The result of an instruction that computes; `None` where it has no counterpart on scalars.
    fn computed(&mut self, i: &Instruction, operands: &[Self::Value], to: ElementType) -> Option<Self::Value>;
}

/// A scalar value.
#[derive(Clone)]
pub struct Scalar {
    name: String,
    element: ElementType,
}

impl Scalar {
    /// The same number as another type.
    fn converted(&self, w: &mut Writer, to: ElementType) -> ImportResult<Scalar> {
        Ok(Scalar { name: converted(w, &self.name, self.element, to)?, element: to })
    }
}

/// The results of a computation for arguments of types `from`, converted to types `to`.
///
/// # Errors
/// There is no conversion between types of arguments and parameters, or of results.
pub fn applied(
    module: &Module,
    computation: usize,
    w: &mut Writer,
    arguments: &[String],
    from: &[ElementType],
    to: &[ElementType],
) -> ImportResult<Vec<String>> {
    let scalar = |(name, element): (&String, &ElementType)| Scalar { name: name.clone(), element: *element };
    let arguments: Vec<Scalar> = arguments.iter().zip(from).map(scalar).collect();
    let written = match w.declared.on_scalars(computation) {
        Some(_) => None,
        None => {
            let each: Vec<Vec<Scalar>> = arguments.iter().map(|argument| vec![argument.clone()]).collect();
            let mut room = MOST_WRITTEN;
            w.attempt(|w| inlined(module, computation, w, &each, &mut room))
        }
    };
    let given = match written {
        Some(given) => given,
        None => called(module, computation, w, &arguments)?,
    };
    given.iter().zip(to).map(|(own, to)| Ok(own.converted(w, *to)?.name)).collect()
}

/// Inlines a computation with the scalars of each argument; the scalars of its root. `None` where it has
/// more instructions than `room`, or one that is not on scalars.
fn inlined<S: Scalars>(
    module: &Module,
    number: usize,
    scalars: &mut S,
    arguments: &[Vec<S::Value>],
    room: &mut usize,
) -> Option<Vec<S::Value>> {
    let computation = &module.computations[number];
    let mut values: Vec<Vec<S::Value>> = Vec::new();
    for i in &computation.instructions {
        *room = room.checked_sub(1)?;
        let to = leaves(&i.shape);
        if to.iter().any(|array| !array.dims.is_empty()) {
            return None;
        }
        let operands: Vec<&[S::Value]> = i.operands.iter().map(|k| &values[*k][..]).collect();
        let given = match &i.operation {
            Operation::Parameter { number } => arguments[*number].clone(),
            Operation::Tuple | Operation::Broadcast { .. } | Operation::Reshape => operands.concat(),
            Operation::Elementwise if is_identity(i) => operands.concat(),
            Operation::GetTupleElement { index } => {
                let before = first_leaf(&computation.instructions[i.operands[0]].shape, *index)?;
                operands[0][before..before + count(&i.shape)].to_vec()
            }
            Operation::Call { computation } => {
                let arguments: Vec<Vec<S::Value>> = operands.iter().map(|operand| operand.to_vec()).collect();
                inlined(module, *computation, scalars, &arguments, room)?
            }
            Operation::Elementwise if i.opcode == "map" => {
                let arguments: Vec<Vec<S::Value>> = operands.iter().map(|operand| operand.to_vec()).collect();
                inlined(module, *i.called.first()?, scalars, &arguments, room)?
            }
            _ => match &i.shape {
                Shape::Array(array) => vec![scalars.computed(i, &operands.concat(), array.element)?],
                _ => return None,
            },
        };
        let converted = given.iter().zip(to).map(|(value, array)| scalars.converted(value, array.element));
        values.push(converted.collect::<Option<_>>()?);
    }
    Some(values.swap_remove(computation.root))
}

/// The scalars of the root of a computation for these values of its parameters. `None` where it has more than
/// [`MOST_WRITTEN`] instructions, or one that is not on scalars.
pub fn roots<S: Scalars>(
    module: &Module,
    number: usize,
    scalars: &mut S,
    arguments: &[S::Value],
) -> Option<Vec<S::Value>> {
    let each: Vec<Vec<S::Value>> = arguments.iter().map(|argument| vec![argument.clone()]).collect();
    inlined(module, number, scalars, &each, &mut { MOST_WRITTEN })
}

/// Values that are written as MLIR.
impl Scalars for Writer<'_> {
    type Value = Scalar;

    fn converted(&mut self, value: &Scalar, to: ElementType) -> Option<Scalar> {
        value.converted(self, to).ok()
    }

    fn computed(&mut self, i: &Instruction, operands: &[Scalar], element: ElementType) -> Option<Scalar> {
        let name = match &i.operation {
            Operation::Constant => elementwise::constant(self, &i.literal.as_ref()?.values, element)?,
            Operation::Bitcast => reinterpreted(self, &operands.first()?.name, operands[0].element, element)?,
            Operation::Elementwise | Operation::Select => {
                let names: Vec<String> = operands.iter().map(|operand| operand.name.clone()).collect();
                let from: Vec<ElementType> = operands.iter().map(|operand| operand.element).collect();
                elementwise::elementwise(self, i, &names, &from, element).ok()?
            }
            _ => return None,
        };
        Some(Scalar { name, element })
    }
}

/// A call of a computation's function on scalars, which is written at the first call.
fn called(module: &Module, number: usize, w: &mut Writer, arguments: &[Scalar]) -> ImportResult<Vec<Scalar>> {
    let computation = &module.computations[number];
    let of = |i: &Instruction| tensors(&i.shape).map_err(|fault| fault.inside(i.at));
    let parameters = computation.parameters.iter().map(|k| of(&computation.instructions[*k]));
    let (takes, gives) = (parameters.collect::<ImportResult<Vec<_>>>()?.concat(), of(computation.result())?);
    let taken = arguments.iter().zip(&takes).map(|(argument, t)| Ok(argument.converted(w, t.element)?.name));
    let taken = taken.collect::<ImportResult<Vec<_>>>()?;
    let callee = match w.declared.on_scalars(number) {
        Some(callee) => callee.clone(),
        None => function(computation, number, w, &takes, &gives),
    };
    let results = w.call(&callee, &taken.join(", "), &elements(&takes), &elements(&gives), gives.len());
    let named = |(name, t): (String, Tensor)| Scalar { name, element: t.element };
    Ok(results.into_iter().zip(gives).map(named).collect())
}

/// The element types of tensors, with commas between them.
fn elements(all: &[Tensor]) -> String {
    all.iter().map(|t| t.element_text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Writes the function on scalars of a computation, whose own function has tensors of rank 0; returns its symbol.
fn function(computation: &Computation, number: usize, w: &mut Writer, takes: &[Tensor], gives: &[Tensor]) -> String {
    let own = w.declared.name_on_scalars(number, &computation.name);
    let mut f = Writer::new(w.declared);
    f.location.clone_from(&w.location);
    let arguments: Vec<String> = takes.iter().enumerate().map(|(k, t)| format!("%a{k}: {}", t.element_text)).collect();
    f.indent = 2;
    f.line(&format!("func.func private {own}({}) -> ({}) {{", arguments.join(", "), elements(gives)));
    f.indent = 4;
    let given = |(k, t): (usize, &Tensor)| f.op(&format!("tensor.from_elements %a{k} : {}", t.ty));
    let given: Vec<String> = takes.iter().enumerate().map(given).collect();
    let made = f.call(&symbol(&computation.name), &given.join(", "), &types(takes), &types(gives), gives.len());
    let scalar = |(name, t): (&String, &Tensor)| f.op(&format!("tensor.extract {name}[] : {}", t.ty));
    let scalars: Vec<String> = made.iter().zip(gives).map(scalar).collect();
    f.located(&format!("return{}", with_types(&scalars.join(", "), &elements(gives))));
    f.indent = 2;
    f.located("}");
    let text = f.text;
    w.declared.define(&text);
    own
}

#[cfg(test)]
mod tests {
    use tensor_layout::hlo::Module;

    /// The import of a reduction of `f32[10]` by a computation of `a` and `b`.
    fn reduced(body: &str) -> Result<String, String> {
        let text = format!(
            "HloModule m\nsame {{\n  ROOT a = f32[] parameter(0)\n}}\nfn {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n{body}}}\nENTRY main {{\n  \
             x = f32[10] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=fn\n}}\n"
        );
        let module = Module::parse(&text).expect("HLO");
        crate::import(&module, &text, "m.hlo").map_err(|errors| errors[0].message.clone())
    }

    /// The number of the entry's calls of a function on scalars.
    fn calls(text: &str) -> usize {
        text.split_once("@main").map_or(0, |(_, entry)| entry.matches("func.call @fn.scalars(").count())
    }

    #[test]
    fn computations_that_are_not_elementwise_are_functions() {
        for body in [
            "  c = f32[2] broadcast(a), dimensions={}\n  d = f32[2] broadcast(b), dimensions={}\n  \
             ROOT s = f32[] dot(c, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n",
            "  c = f32[2,3] broadcast(a), dimensions={}\n  t = f32[3,2] transpose(c), dimensions={1,0}\n  \
             e = f32[6] reshape(t)\n  s = f32[1] slice(e), slice={[2:3]}\n  q = f32[] reshape(s)\n  ROOT r = f32[] add(q, b)\n",
            "  c = u8[4] bitcast-convert(a)\n  r = u8[4] reverse(c), dimensions={0}\n  d = f32[] bitcast-convert(r)\n  \
             ROOT e = f32[] maximum(d, b)\n",
            "  c = f32[20000] broadcast(a), dimensions={}\n  s = f32[1] slice(c), slice={[0:1]}\n  q = f32[] reshape(s)\n  \
             ROOT r = f32[] add(q, b)\n",
            "  p = pred[] compare(a, b), direction=GT\n  ROOT r = f32[] conditional(p, a, b), true_computation=same, \
             false_computation=same\n",
        ] {
            let text = reduced(body).expect("MLIR");
            assert_eq!((calls(&text), text.matches("func.func private @fn.scalars(").count()), (1, 1), "{text}");
        }
        for body in [
            "  ROOT r = f32[] add(a, b)\n",
            "  c = s32[] bitcast(a)\n  d = s32[] bitcast(b)\n  e = s32[] maximum(c, d)\n  ROOT r = f32[] bitcast(e)\n",
            "  t = (f32[], f32[]) tuple(a, b)\n  c = f32[] get-tuple-element(t), index=1\n  d = f32[] call(a), to_apply=same\n  \
             e = f32[] map(c), dimensions={}, to_apply=same\n  ROOT r = f32[] multiply(d, e)\n",
        ] {
            assert_eq!(calls(&reduced(body).expect("MLIR")), 0, "{body}");
        }
    }

    /// Each computation calls the one before it twice: the text is at most a constant times as long as the HLO.
    #[test]
    fn computations_that_call_each_other_are_written_once() {
        let written = |depth: usize| {
            let mut text = String::from("HloModule m\n");
            for k in 0..depth {
                let [c, r] = match k {
                    0 => ["negate(a)".to_string(), "add(c, b)".to_string()],
                    _ => ["a", "c"].map(|x| format!("call({x}, b), to_apply=f{}", k - 1)),
                };
                text += &format!(
                    "f{k} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] {c}\n  ROOT r = f32[] {r}\n}}\n"
                );
            }
            text += &format!(
                "ENTRY main {{\n  x = f32[10] parameter(0)\n  z = f32[] constant(0)\n  \
                 ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=f{}\n}}\n",
                depth - 1
            );
            let module = Module::parse(&text).expect("HLO");
            crate::import(&module, &text, "m.hlo").expect("MLIR").len()
        };
        let [short, long, longer] = [20, 40, 60].map(written);
        assert!(longer - long < (long - short) * 11 / 10, "{short}, {long}, {longer}");
    }

    /// Faults are at the instructions of the computations, one for all callers; also in a computation that is called
    /// inside another.
    #[test]
    fn faults_are_at_the_instruction_of_the_computation() {
        let text = "HloModule m\ninner {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  q = f32[?] custom-call(a), \
                    custom_call_target=\"f\"\n  ROOT s = f32[] add(a, b)\n}\nfn {\n  a = f32[] parameter(0)\n  \
                    b = f32[] parameter(1)\n  ROOT c = f32[] call(a, b), to_apply=inner\n}\nENTRY main {\n  \
                    x = f32[4] parameter(0)\n  z = f32[] constant(0)\n  k = f32[4] map(x, x), dimensions={0}, to_apply=inner\n  \
                    s = f32[4] reduce-window(x, z), window={size=4 pad=3_0}, to_apply=fn\n  \
                    ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=fn\n}\n";
        let module = Module::parse(text).expect("HLO");
        let errors = crate::import(&module, text, "m.hlo").expect_err("a fault");
        let found: Vec<_> = errors.iter().map(|error| (error.at, error.message.as_str())).collect();
        assert_eq!(found, [(text.find("q = "), "sizes without a bound cannot be imported")]);
    }
}
