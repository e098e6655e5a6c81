//! A function of MLIR as a list of closures, one for each operation. What an operation does is written here, in `elements`, in
//! `memory` and in `structured`.

use crate::machine::{Code, Done, Form, Function, Index, Instruction, Machine, Origin, Value};
use crate::mlir::{self, DYNAMIC, Expr, Kind, Op};
use crate::terms::{Item, Terms};
use melior::ir::{AttributeLike, Value as MlirValue, ValueLike, block::BlockLike, operation::OperationLike};
use rustc_hash::FxHashMap;

pub struct Compiler<'t> {
    slots: FxHashMap<usize, usize>,
    pub terms: &'t mut Terms,
    /// Flags that hold for all operations.
    pub allowed: u32,
}

/// Reads a module.
pub fn form(module: Op, terms: &mut Terms, allowed: u32) -> Form {
    let mut form = Form::default();
    for op in mlir::blocks(module, 0).into_iter().flat_map(|block| block.1) {
        let Some(symbol) = mlir::text(op, "sym_name") else { continue };
        let is_private = mlir::text(op, "sym_visibility").is_some_and(|text| text != "public");
        if let ("func.func", [(block, inside)]) = (&*mlir::name(op), &mlir::blocks(op, 0)[..]) {
            let arguments = (0..block.argument_count()).map(|k| mlir::kind(block.argument(k).ok()?.r#type()));
            let results = inside.last().into_iter().flat_map(|last| last.operands()).map(|r| mlir::kind(r.r#type()));
            let types = arguments.collect::<Option<Vec<_>>>().zip(results.collect::<Option<Vec<_>>>());
            let mut compiler = Compiler { slots: FxHashMap::default(), terms, allowed };
            let Some(((arguments, results), body)) = types.zip(compiler.region(op, 0)) else { continue };
            let (slots, types) = (compiler.slots.len(), [arguments, results]);
            form.functions.insert(symbol, Function { types, is_private, slots, body });
        } else if let ("memref.global", Some(global)) = (&*mlir::name(op), global(op)) {
            form.globals.insert(symbol, global);
        }
    }
    form
}

fn global(op: Op) -> Option<(Vec<Item>, Kind)> {
    mlir::attribute(op, "constant")?;
    let value = mlir::attribute(op, "initial_value")?;
    let kind = mlir::kind(value.r#type())?;
    Some((mlir::constant(value, &kind)?, kind))
}

/// An instruction that gives a value.
pub fn gives(result: usize, value: impl Fn(&mut Machine) -> Done<Value> + 'static) -> Option<Instruction> {
    Some(Box::new(move |m| {
        m.frame[result] = value(m)?;
        Ok(())
    }))
}

/// An integer or an index.
pub fn int(n: i64) -> Value {
    Value::Item(Item::Number(n as u64))
}

impl Compiler<'_> {
    fn slot(&mut self, value: MlirValue) -> usize {
        let next = self.slots.len();
        *self.slots.entry(value.to_raw().ptr as usize).or_insert(next)
    }

    pub fn operands(&mut self, op: Op) -> Vec<usize> {
        op.operands().map(|operand| self.slot(operand)).collect()
    }

    pub fn results(&mut self, op: Op) -> Vec<usize> {
        op.results().map(|result| self.slot(result.into())).collect()
    }

    /// The operands in the parts that `operandSegmentSizes` says.
    pub fn segments(&mut self, op: Op) -> Option<Vec<Vec<usize>>> {
        let mut all = self.operands(op).into_iter();
        let sizes = mlir::integers(op, "operandSegmentSizes")?;
        Some(sizes.into_iter().map(|n| all.by_ref().take(n as usize).collect()).collect())
    }

    /// Numbers of the text, with slots for those of them that the program computes.
    pub fn mixed(numbers: &[i64], slots: &[usize]) -> Index {
        let mut next = (0..).map(Expr::Operand);
        let one = |n: &i64| if *n == DYNAMIC { next.next() } else { Some(Expr::Number(*n)) };
        Index { map: numbers.iter().filter_map(one).collect(), slots: slots.to_vec() }
    }

    pub fn slots(slots: &[usize]) -> Index {
        Index { map: (0..slots.len()).map(Expr::Operand).collect(), slots: slots.to_vec() }
    }

    /// The map of an attribute, of these operands.
    pub fn map(op: Op, name: &str, slots: Vec<usize>) -> Option<Index> {
        Some(Index { map: mlir::map(mlir::attribute(op, name)?)?.1, slots })
    }

    /// A region of one block.
    pub fn region(&mut self, op: Op, number: usize) -> Option<Code> {
        let [(block, operations)] = &mlir::blocks(op, number)[..] else { return None };
        let (last, operations) = operations.split_last()?;
        let ends = "func.return scf.yield affine.yield linalg.yield tensor.yield scf.reduce scf.forall.in_parallel";
        ends.split(' ').any(|end| end == mlir::name(*last)).then_some(())?;
        let arguments = (0..block.argument_count()).map(|k| block.argument(k).ok()).collect::<Option<Vec<_>>>()?;
        let used = arguments.iter().map(|argument| mlir::is_used((*argument).into())).collect();
        let arguments = arguments.into_iter().map(|argument| self.slot(argument.into())).collect();
        let steps = operations.iter().map(|op| self.instruction(*op)).collect();
        Some(Code { arguments, used, steps, end: self.operands(*last) })
    }

    fn instruction(&mut self, op: Op) -> Instruction {
        let name = mlir::name(op);
        let found = match name.split_once('.').unwrap_or_default() {
            ("memref" | "affine" | "vector", "load" | "store" | "vector_load" | "vector_store")
            | ("vector", "maskedload" | "maskedstore" | "transfer_read" | "transfer_write")
            | ("tensor", "extract" | "insert") => self.access(op, &name),
            ("linalg", _) | ("tensor", "pad") => self.structured(op, &name),
            ("scf" | "func" | "affine", _) => self.control(op, &name),
            ("memref" | "bufferization" | "layout" | "tensor", _) => self.memory(op, &name),
            _ => self.elements(op, &name),
        };
        // What it defines has slots even where it is not known.
        self.results(op);
        found.unwrap_or_else(|| Box::new(move |_| Err(format!("'{name}'"))))
    }

    /// Loops, conditions and calls, and indices of `affine`.
    fn control(&mut self, op: Op, name: &str) -> Option<Instruction> {
        let (operands, results) = (self.operands(op), self.results(op));
        Some(match name {
            "affine.apply" | "affine.min" | "affine.max" => {
                let (map, greatest) = (Self::map(op, "map", operands)?, name == "affine.max");
                return gives(results[0], move |m| Ok(int(bound(m, &map, greatest)?)));
            }
            "scf.for" | "affine.for" => {
                let body = self.region(op, 0)?;
                let (lower, upper, step, carried) = if name == "scf.for" {
                    let is_index = mlir::kind(op.operand(0).ok()?.r#type())?.element.text == "index";
                    (is_index && mlir::attribute(op, "unsignedCmp").is_none()).then_some(())?;
                    let one = |k: usize| Self::slots(&operands[k..=k]);
                    (one(0), one(1), one(2), operands[3..].to_vec())
                } else {
                    let [lower, upper, carried] = <[_; 3]>::try_from(self.segments(op)?).ok()?;
                    let step = Self::mixed(&[mlir::integer(mlir::attribute(op, "step")?)?], &[]);
                    (Self::map(op, "lowerBoundMap", lower)?, Self::map(op, "upperBoundMap", upper)?, step, carried)
                };
                Box::new(move |m| {
                    let (mut i, end) = (bound(m, &lower, true)?, bound(m, &upper, false)?);
                    let (step, mut values) = (bound(m, &step, true)?, m.values(&carried));
                    while i < end {
                        m.step(1)?;
                        values = body.run(m, [int(i)].into_iter().chain(values).collect())?;
                        i = i.checked_add(step).filter(|_| step > 0).ok_or("a step that is not positive")?;
                    }
                    m.assign(&results, values)
                })
            }
            "scf.if" => {
                let (yes, no) = (self.region(op, 0)?, self.region(op, 1).unwrap_or_default());
                Box::new(move |m| {
                    let values = if m.int(operands[0])? & 1 == 1 { &yes } else { &no }.run(m, vec![])?;
                    m.assign(&results, values)
                })
            }
            "scf.parallel" | "scf.forall" => {
                // What they reduce or insert is not modelled.
                let (body, parts) = (self.region(op, 0).filter(|_| results.is_empty())?, self.segments(op)?);
                let of = |k: usize, name| {
                    let of_forall = mlir::integers(op, name).map(|numbers| Self::mixed(&numbers, &parts[k]));
                    of_forall.unwrap_or_else(|| Self::slots(&parts[k]))
                };
                let [lower, upper, steps] = [of(0, "staticLowerBound"), of(1, "staticUpperBound"), of(2, "staticStep")];
                Box::new(move |m| {
                    let (lower, upper, steps) = (m.index(&lower)?, m.index(&upper)?, m.index(&steps)?);
                    let extent = |d: usize| {
                        let step = u64::try_from(steps[d]).ok().filter(|step| *step > 0)?;
                        Some((upper[d].checked_sub(lower[d])?.max(0) as u64).div_ceil(step) as i64)
                    };
                    let extents = (0..steps.len()).map(extent).collect::<Option<Vec<_>>>();
                    m.in_parallel(&extents.ok_or("a step that is not positive")?, |m, index| {
                        m.step(1)?;
                        let at = index.iter().zip(lower.iter().zip(&steps)).map(|(i, (from, by))| int(from + i * by));
                        body.run(m, at.collect()).map(drop)
                    })
                })
            }
            "func.call" => {
                let callee = mlir::text(op, "callee")?;
                Box::new(move |m| m.call(&callee, m.values(&operands)).and_then(|values| m.assign(&results, values)))
            }
            _ => return None,
        })
    }
}

/// The greatest or least result of a map.
fn bound(m: &Machine, map: &Index, greatest: bool) -> Done<i64> {
    let all = m.index(map)?.into_iter();
    if greatest { all.max() } else { all.min() }.ok_or_else(|| "a bound of no results".into())
}

impl Code {
    /// Runs a block, and gives what it hands on.
    pub fn run(&self, m: &mut Machine, arguments: Vec<Value>) -> Done<Vec<Value>> {
        m.assign(&self.arguments, arguments)?;
        self.steps.iter().try_for_each(|step| step(m))?;
        Ok(m.values(&self.end))
    }
}

impl Machine<'_> {
    /// Calls a function.
    pub fn call(&mut self, name: &str, arguments: Vec<Value>) -> Done<Vec<Value>> {
        let function = self.form.functions.get(name).ok_or_else(|| format!("@{name}, which is not there"))?;
        self.step(1)?;
        // Deep recursion would end this process.
        self.calls = Some(self.calls + 1).filter(|calls| *calls < 50).ok_or("calls that are too deep")?;
        let (first, slots) = (self.buffers.len(), vec![Value::None; function.slots]);
        let frame = std::mem::replace(&mut self.frame, slots);
        let values = function.body.run(self, arguments)?;
        let made = self.buffers[first..].iter_mut();
        made.filter(|of| of.origin == Origin::Stack).for_each(|of| of.origin = Origin::Freed);
        self.calls -= 1;
        self.frame = frame;
        Ok(values)
    }
}
