//! One computation as one function.

use crate::scalar::{self, Writer};
use crate::{element, encoded, plain, quoted, symbol};
use std::fmt::Write;
use tensor_layout::analysis::maps;
use tensor_layout::element::ElementType;
use tensor_layout::expr::{Expr, Named};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::maps::Interval;
use tensor_layout::operations::leaves;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::operations::{Convolution, Gather, Operation, WindowDim};
use tensor_layout::text::Error;

/// A tensor that an instruction gives: its name, and the array it is.
#[derive(Clone)]
struct Tensor {
    name: String,
    sizes: Vec<i64>,
    element: ElementType,
    /// The type of an element, and of the tensor with its encoding.
    of: String,
    ty: String,
}

impl Tensor {
    fn plain(&self) -> String {
        plain(&self.sizes, &self.of)
    }

    fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }
}

/// The function of a computation, while it is written.
pub struct Function<'a> {
    module: &'a Module,
    computation: &'a Computation,
    entry: bool,
    file: &'a str,
    starts: &'a [usize],
    w: Writer,
    /// The leaves of each instruction so far.
    values: Vec<Vec<Tensor>>,
}

type Done<T> = Result<T, String>;

/// An operand of `linalg.generic`: its name, its type, and its map's results.
type Operand = (String, String, String);

impl<'a> Function<'a> {
    pub fn new(module: &'a Module, number: usize, file: &'a str, starts: &'a [usize]) -> Function<'a> {
        let computation = &module.computations[number];
        let entry = number == module.entry;
        Function { module, computation, entry, file, starts, w: Writer::new(), values: Vec::new() }
    }

    /// Writes the function, or what is wrong with its instructions.
    pub fn import(mut self, out: &mut String, errors: &mut Vec<Error>) {
        let mut arguments: Vec<Vec<Tensor>> = Vec::new();
        let mut wrong = Vec::new();
        let mut count = 0;
        for k in &self.computation.parameters {
            let i = &self.computation.instructions[*k];
            match tensors(&i.shape) {
                Ok(mut all) => {
                    for tensor in &mut all {
                        tensor.name = format!("%a{count}");
                        count += 1;
                    }
                    arguments.push(all);
                }
                Err(reason) => {
                    wrong.push(Error::at(i.at, reason));
                    arguments.push(Vec::new());
                }
            }
        }
        for i in &self.computation.instructions {
            self.w.location = format!(" loc({})", self.location(i));
            let done = match &i.operation {
                Operation::Parameter { number } => Ok(arguments[*number].clone()),
                _ => self.instruction(i),
            };
            // An instruction whose operands failed says nothing more.
            let skipped = i.operands.iter().any(|k| self.values[*k].is_empty() && !leaves(self.shape(*k)).is_empty());
            self.values.push(match done {
                Ok(values) => values,
                Err(reason) => {
                    if !skipped {
                        wrong.push(Error::at(i.at, reason));
                    }
                    Vec::new()
                }
            });
        }
        if !wrong.is_empty() {
            errors.extend(wrong);
            return;
        }
        let typed = |all: &[Tensor]| all.iter().map(|t| t.ty.clone()).collect::<Vec<_>>().join(", ");
        let of_parameters = self.computation.parameters.iter().zip(&arguments).flat_map(|(k, all)| {
            let location = self.location(&self.computation.instructions[*k]);
            all.iter().map(move |t| format!("{}: {} loc({location})", t.name, t.ty))
        });
        let listed: Vec<String> = of_parameters.collect();
        let results = &self.values[self.computation.root];
        let visibility = if self.entry { "" } else { "private " };
        let _ = writeln!(
            out,
            "  func.func {visibility}{}({}) -> ({}) {{",
            symbol(&self.computation.name),
            listed.join(", "),
            typed(results)
        );
        out.push_str(&self.w.text);
        let names: Vec<&str> = results.iter().map(|t| &*t.name).collect();
        let colon = if results.is_empty() { "" } else { " : " };
        let root = self.location(self.computation.result());
        let own = format!("{}({})", quoted(&self.computation.name), self.place(self.computation.at));
        let _ = writeln!(out, "    return {}{colon}{} loc({root})\n  }} loc({own})", names.join(", "), typed(results));
    }

    fn shape(&self, k: usize) -> &Shape {
        &self.computation.instructions[k].shape
    }

    /// The name of an instruction, at its place in the program or else in this text.
    fn location(&self, i: &Instruction) -> String {
        let place = match (&i.source.file, i.source.line) {
            (Some(file), Some(line)) => format!("{}:{}:1", quoted(file), line.clamp(0, i64::from(u32::MAX))),
            _ => self.place(i.at),
        };
        format!("{}({place})", quoted(&i.name))
    }

    /// A place in this text.
    fn place(&self, at: usize) -> String {
        let line = self.starts.partition_point(|start| *start <= at);
        format!("{}:{line}:{}", quoted(self.file), at - self.starts[line - 1] + 1)
    }

    fn instruction(&mut self, i: &Instruction) -> Done<Vec<Tensor>> {
        let operands: Vec<Vec<Tensor>> = i.operands.iter().map(|k| self.values[*k].clone()).collect();
        if operands.iter().zip(&i.operands).any(|(all, k)| all.is_empty() && !leaves(self.shape(*k)).is_empty()) {
            return Err("an operand cannot be imported".into());
        }
        let results = tensors(&i.shape)?;
        let flat: Vec<Tensor> = operands.concat();
        match &i.operation {
            Operation::Tuple => return Ok(self.all_converted(&flat, &results)),
            Operation::GetTupleElement { index } => {
                let Shape::Tuple(parts) = self.shape(i.operands[0]) else { return Err("it needs a tuple".into()) };
                let first: usize = parts[..*index].iter().map(|part| leaves(part).len()).sum();
                return Ok(self.all_converted(&flat[first..first + results.len()], &results));
            }
            Operation::Call { computation } => return self.call(*computation, &flat, results),
            Operation::While { condition, body } => return self.repeat(*condition, *body, &flat),
            Operation::Conditional { branches } => return self.branch(branches, &operands, results),
            Operation::Other { .. } => {}
            // What has no elements is made of none, and blocks without elements lie nowhere.
            _ if results.iter().all(Tensor::is_empty) => {
                return Ok(results.iter().map(|out| self.empty(out)).collect());
            }
            Operation::Reduce { dims } => return self.reduce(i, dims, &flat, results),
            Operation::ReduceWindow { window } => return self.reduce_window(i, window, &flat, results),
            _ => {}
        }
        let done = match &i.operation {
            _ if matches!(&*i.opcode, "optimization-barrier" | "opt-barrier") => {
                let each = flat.iter().zip(&results);
                return each.map(|(from, to)| self.precise(from, to).map(|t| self.converted(&t, to))).collect();
            }
            _ if results.len() != 1 => return Err(format!("`{}` cannot be imported", i.opcode)),
            operation => self.one(i, operation, &flat, &results[0])?,
        };
        Ok(vec![done])
    }

    /// An instruction with one result.
    fn one(&mut self, i: &Instruction, operation: &Operation, ins: &[Tensor], out: &Tensor) -> Done<Tensor> {
        let rank = out.sizes.len();
        // What only moves elements has them in the precision of its result.
        let moves = match operation {
            Operation::Elementwise => i.opcode == "copy",
            _ if i.opcode == "bitcast-convert" => false,
            Operation::Select | Operation::Bitcast | Operation::Dot { .. } | Operation::Convolution(_) => false,
            _ => true,
        };
        let ins =
            &ins.iter().map(|t| if moves { self.precise(t, out) } else { Ok(t.clone()) }).collect::<Done<Vec<_>>>()?;
        match operation {
            Operation::Constant if i.literal.is_some() => {
                let value = i.literal.as_ref().and_then(|literal| scalar::dense(literal, out.element, &out.sizes));
                let value =
                    value.ok_or("the value of this constant is left out of the text, or MLIR has no text for it")?;
                Ok(self.named(out, |w| w.op(&format!("arith.constant dense<{value}> : {}", out.ty))))
            }
            Operation::Elementwise | Operation::Select if i.opcode == "copy" => Ok(self.converted(&ins[0], out)),
            Operation::Elementwise | Operation::Select => {
                let from: Vec<ElementType> = ins.iter().map(|t| t.element).collect();
                let own = |t: &Tensor| (t.name.clone(), t.ty.clone(), dims(0..t.sizes.len()));
                let operands = ins.iter().map(own).collect();
                self.generic(rank, operands, &["parallel"], vec![out.clone()], vec![None], |w, args| {
                    Ok(vec![w.element(i, &args[..from.len()], &from, out.element)?])
                })
                .map(|mut all| all.remove(0))
            }
            Operation::Broadcast { .. } if i.opcode == "bitcast-convert" => self.parts(&ins[0], out),
            Operation::Broadcast { dims: of } => {
                let operand = (ins[0].name.clone(), ins[0].ty.clone(), dims(of.iter().copied()));
                self.moved(rank, operand, out)
            }
            Operation::Transpose { permutation } => {
                let mut index = vec![0; rank];
                permutation.iter().enumerate().for_each(|(k, dim)| index[*dim] = k);
                self.moved(rank, (ins[0].name.clone(), ins[0].ty.clone(), dims(index)), out)
            }
            Operation::Reverse { dims: turned } => {
                let source = self.flattened(&ins[0]);
                let index = |k: usize| match turned.contains(&k) {
                    true => format!("-d{k} + {}", out.sizes[k] - 1),
                    false => format!("d{k}"),
                };
                let map = (0..rank).map(index).collect::<Vec<_>>().join(", ");
                self.moved(rank, (source.name.clone(), source.ty.clone(), map), out)
            }
            Operation::Reshape => {
                let reshaped = self.reshaped(&ins[0], &out.sizes);
                Ok(self.converted(&reshaped, out))
            }
            Operation::Bitcast => self.bitcast(i, &ins[0], out),
            Operation::Slice { starts, strides, .. } => {
                let offsets: Vec<String> = starts.iter().map(i64::to_string).collect();
                let cut = self.cut(&ins[0], &offsets, &out.sizes, strides);
                Ok(self.converted(&cut, out))
            }
            Operation::Concatenate { dim } => {
                let parts: Vec<Tensor> = ins.iter().filter(|t| !t.is_empty()).map(|t| self.flattened(t)).collect();
                let names: Vec<&str> = parts.iter().map(|t| &*t.name).collect();
                let types: Vec<&str> = parts.iter().map(|t| &*t.ty).collect();
                let (names, types) = (names.join(", "), types.join(", "));
                let text = format!("tensor.concat dim({dim}) {names} : ({types}) -> {}", out.plain());
                let all = self.as_plain(out, |w| w.op(&text));
                Ok(self.converted(&all, out))
            }
            Operation::Pad { low, high, interior } => {
                let value = self.scalar(&ins[1]);
                let padded = self.padded(&ins[0], low, high, interior, &value)?;
                Ok(self.converted(&padded, out))
            }
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                let free = |t: &Tensor, batch: &[usize], gone: &[usize]| {
                    (0..t.sizes.len()).filter(|k| !batch.contains(k) && !gone.contains(k)).collect::<Vec<_>>()
                };
                let (left, right) = (&ins[0], &ins[1]);
                let own = free(left, lhs_batch, lhs_contracting);
                let other = free(right, rhs_batch, rhs_contracting);
                let (mut a, mut b) = (vec![0; left.sizes.len()], vec![0; right.sizes.len()]);
                lhs_batch.iter().zip(rhs_batch).enumerate().for_each(|(k, (x, y))| (a[*x], b[*y]) = (k, k));
                own.iter().enumerate().for_each(|(k, x)| a[*x] = lhs_batch.len() + k);
                other.iter().enumerate().for_each(|(k, y)| b[*y] = lhs_batch.len() + own.len() + k);
                lhs_contracting
                    .iter()
                    .zip(rhs_contracting)
                    .enumerate()
                    .for_each(|(k, (x, y))| (a[*x], b[*y]) = (rank + k, rank + k));
                let operands = vec![
                    (left.name.clone(), left.ty.clone(), dims(a)),
                    (right.name.clone(), right.ty.clone(), dims(b)),
                ];
                self.product(rank, lhs_contracting.len(), operands, [left.element, right.element], out)
            }
            Operation::Convolution(c) => self.convolution(c, &ins[0], &ins[1], out),
            Operation::DynamicSlice { sizes } => {
                let offsets = self.starts(&ins[1..], &ins[0].sizes, sizes)?;
                let cut = self.cut(&ins[0], &offsets, sizes, &vec![1; rank]);
                Ok(self.converted(&cut, out))
            }
            Operation::DynamicUpdateSlice if ins[1].is_empty() => Ok(self.converted(&ins[0], out)),
            Operation::DynamicUpdateSlice => {
                let offsets = self.starts(&ins[2..], &ins[0].sizes, &ins[1].sizes)?;
                let (data, update) = (self.flattened(&ins[0]), self.flattened(&ins[1]));
                let text = format!(
                    "tensor.insert_slice {} into {}[{}] {:?} {:?} : {} into {}",
                    update.name,
                    data.name,
                    offsets.join(", "),
                    update.sizes,
                    vec![1; rank],
                    update.ty,
                    data.ty
                );
                let written = self.as_plain(out, |w| w.op(&text));
                Ok(self.converted(&written, out))
            }
            Operation::Gather(g) => self.gather(g, &ins[0], &ins[1], out),
            Operation::Iota { dim } => {
                let (element, dim) = (out.element, *dim);
                self.generic(rank, Vec::new(), &["parallel"], vec![out.clone()], vec![None], |w, _| {
                    let index = w.op(&format!("linalg.index {dim} : index"));
                    let wide = w.op(&format!("arith.index_cast {index} : index to i64"));
                    let value = w.convert(&wide, ElementType::S64, element);
                    Ok(vec![value.ok_or("an `iota` of this type cannot be imported")?])
                })
                .map(|mut all| all.remove(0))
            }
            _ => Err(format!("`{}` cannot be imported", i.opcode)),
        }
    }

    /// The result with the name that an operation gives it.
    fn named(&mut self, t: &Tensor, op: impl FnOnce(&mut Writer) -> String) -> Tensor {
        Tensor { name: op(&mut self.w), ..t.clone() }
    }

    /// The same, as a tensor without an encoding.
    fn as_plain(&mut self, t: &Tensor, op: impl FnOnce(&mut Writer) -> String) -> Tensor {
        Tensor { name: op(&mut self.w), ty: t.plain(), ..t.clone() }
    }

    /// A tensor whose elements may be anything.
    fn empty(&mut self, t: &Tensor) -> Tensor {
        self.named(t, |w| w.op(&format!("tensor.empty() : {}", t.ty)))
    }

    /// A tensor all of whose elements are this value.
    fn filled(&mut self, t: &Tensor, value: &str) -> Tensor {
        let empty = self.empty(t);
        let (of, ty) = (&t.of, &t.ty);
        let text = format!("linalg.fill ins({value} : {of}) outs({} : {ty}) -> {ty}", empty.name);
        self.named(t, |w| w.op(&text))
    }

    /// The tensor in the layout of another.
    fn converted(&mut self, from: &Tensor, to: &Tensor) -> Tensor {
        if from.ty == to.ty {
            return Tensor { name: from.name.clone(), ..to.clone() };
        }
        if from.is_empty() {
            return self.empty(to);
        }
        let text = format!("layout.convert {} : {} to {}", from.name, from.ty, to.ty);
        self.named(to, |w| w.op(&text))
    }

    fn all_converted(&mut self, from: &[Tensor], to: &[Tensor]) -> Vec<Tensor> {
        from.iter().zip(to).map(|(from, to)| self.converted(from, to)).collect()
    }

    /// The tensor without an encoding.
    fn flattened(&mut self, t: &Tensor) -> Tensor {
        self.converted(t, &Tensor { ty: t.plain(), ..t.clone() })
    }

    /// Zero, as an element of a tensor.
    fn zero(&mut self, t: &Tensor) -> String {
        let value = match t.element {
            ElementType::C64 => return self.w.op("complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>"),
            ElementType::C128 => return self.w.op("complex.constant [0.0, 0.0] : complex<f64>"),
            ElementType::Pred => "false",
            e if e.is_float() => "0.0",
            _ => "0",
        };
        self.w.constant(value, &t.of)
    }

    /// The element of a tensor of rank 0.
    fn scalar(&mut self, t: &Tensor) -> String {
        self.w.op(&format!("tensor.extract {}[] : {}", t.name, t.ty))
    }

    /// The same, as a number of another type.
    fn number(&mut self, t: &Tensor, to: ElementType) -> Done<String> {
        let value = self.scalar(t);
        converted(&mut self.w, &value, t.element, to)
    }

    /// The tensor with floats of the precision that another has.
    fn precise(&mut self, t: &Tensor, like: &Tensor) -> Done<Tensor> {
        if !t.element.is_float() || !like.element.is_float() || t.element == like.element {
            return Ok(t.clone());
        }
        let (from, to, own) = (t.element, like.element, dims(0..t.sizes.len()));
        let out = Tensor { element: to, of: like.of.clone(), ty: plain(&t.sizes, &like.of), ..t.clone() };
        let operand = (t.name.clone(), t.ty.clone(), own);
        let all = self.generic(t.sizes.len(), vec![operand], &["parallel"], vec![out], vec![None], |w, args| {
            Ok(vec![converted(w, &args[0], from, to)?])
        });
        all.map(|mut all| all.remove(0))
    }

    /// `linalg.generic` over `loops` loops, the last of which reduce where there are two iterator kinds for them:
    /// `iterators` are given for the loops, the last one repeated. Operations for single elements come from `body`.
    fn generic(
        &mut self,
        loops: usize,
        ins: Vec<Operand>,
        iterators: &[&str],
        outs: Vec<Tensor>,
        inits: Vec<Option<String>>,
        body: impl FnOnce(&mut Writer, &[String]) -> Done<Vec<String>>,
    ) -> Done<Vec<Tensor>> {
        let rank = outs.first().map_or(0, |t| t.sizes.len());
        let names: Vec<String> = outs
            .iter()
            .zip(inits)
            .map(|(t, init)| match init {
                None => self.empty(t).name,
                Some(value) => self.filled(t, &value).name,
            })
            .collect();
        let all = dims(0..loops);
        let map = |results: &str| format!("affine_map<({all}) -> ({results})>");
        let maps: Vec<String> =
            ins.iter().map(|operand| map(&operand.2)).chain(outs.iter().map(|_| map(&dims(0..rank)))).collect();
        let kinds: Vec<String> = (0..loops)
            .map(|k| format!("\"{}\"", if k < rank { "parallel" } else { iterators.last().unwrap_or(&"parallel") }))
            .collect();
        let result = self.w.fresh();
        let several = if outs.len() > 1 { format!(":{}", outs.len()) } else { String::new() };
        let typed = |names: Vec<&str>, types: Vec<&str>| format!("({} : {})", names.join(", "), types.join(", "));
        let inputs = match ins.is_empty() {
            true => String::new(),
            false => {
                let (names, types) = (ins.iter().map(|o| &*o.0).collect(), ins.iter().map(|o| &*o.1).collect());
                format!("ins{} ", typed(names, types))
            }
        };
        let outputs = typed(names.iter().map(|n| &**n).collect(), outs.iter().map(|t| &*t.ty).collect());
        self.w.line(&format!(
            "{result}{several} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} {inputs}outs{outputs} {{",
            maps.join(", "),
            kinds.join(", ")
        ));
        let element_of = |ty: &str| {
            let inner = ty.trim_start_matches("tensor<").trim_end_matches('>');
            let inner = inner.split(", #").next().unwrap_or(inner);
            match inner.find("complex") {
                Some(at) => format!("{}>", inner[at..].trim_end_matches('>')),
                None => inner.rsplit('x').next().unwrap_or(inner).to_string(),
            }
        };
        let mut arguments = Vec::new();
        let mut listed = Vec::new();
        for ty in ins.iter().map(|o| &o.1).chain(outs.iter().map(|t| &t.ty)) {
            let name = self.w.fresh();
            listed.push(format!("{name}: {}", element_of(ty)));
            arguments.push(name);
        }
        self.w.line(&format!("^bb0({}):", listed.join(", ")));
        self.w.indent += 2;
        let yielded = body(&mut self.w, &arguments);
        if let Ok(values) = &yielded {
            let types: Vec<&str> = outs.iter().map(|t| &*t.of).collect();
            let end = format!("linalg.yield {} : {}{}", values.join(", "), types.join(", "), self.w.location);
            self.w.line(&end);
        }
        self.w.indent -= 2;
        let types: Vec<&str> = outs.iter().map(|t| &*t.ty).collect();
        let types = if types.len() == 1 { types[0].to_string() } else { format!("({})", types.join(", ")) };
        let end = format!("}} -> {types}{}", self.w.location);
        self.w.line(&end);
        yielded?;
        let several = outs.len() > 1;
        let name = |k: usize| if several { format!("{result}#{k}") } else { result.clone() };
        Ok(outs.into_iter().enumerate().map(|(k, t)| Tensor { name: name(k), ..t }).collect())
    }

    /// Elements in another order.
    fn moved(&mut self, loops: usize, operand: Operand, out: &Tensor) -> Done<Tensor> {
        let copied = self.generic(loops, vec![operand], &["parallel"], vec![out.clone()], vec![None], |_, args| {
            Ok(vec![args[0].clone()])
        });
        copied.map(|mut all| all.remove(0))
    }

    /// Sums of products over the loops behind those of the result.
    fn product(
        &mut self,
        rank: usize,
        reduced: usize,
        operands: Vec<Operand>,
        from: [ElementType; 2],
        out: &Tensor,
    ) -> Done<Tensor> {
        let to = out.element;
        if to.is_complex() {
            return Err("products of complex numbers cannot be imported".into());
        }
        let zero = self.zero(out);
        let of = out.of.clone();
        self.generic(
            rank + reduced,
            operands,
            &["parallel", "reduction"],
            vec![out.clone()],
            vec![Some(zero)],
            |w, args| {
                let mut factor = |k: usize| converted(w, &args[k], from[k], to);
                let (a, b) = (factor(0)?, factor(1)?);
                let (multiply, add) = match to {
                    ElementType::Pred => ("arith.andi", "arith.ori"),
                    _ if to.is_float() => ("arith.mulf", "arith.addf"),
                    _ => ("arith.muli", "arith.addi"),
                };
                let product = w.op(&format!("{multiply} {a}, {b} : {of}"));
                Ok(vec![w.op(&format!("{add} {}, {product} : {of}", args[args.len() - 1]))])
            },
        )
        .map(|mut all| all.remove(0))
    }

    /// The same elements in row-major order, without an encoding.
    fn reshaped(&mut self, t: &Tensor, sizes: &[i64]) -> Tensor {
        let mut t = self.flattened(t);
        if t.sizes == sizes {
            return t;
        }
        let group = |rank: usize| match rank {
            0 => "[]".to_string(),
            rank => format!("[[{}]]", (0..rank).map(|k| k.to_string()).collect::<Vec<_>>().join(", ")),
        };
        // Rank 0 is reached through sizes of 1, which need no line of elements.
        if t.sizes.len() > 1 || sizes.is_empty() {
            let line = if sizes.is_empty() { Vec::new() } else { vec![t.sizes.iter().product()] };
            let groups = if line.is_empty() { "[]".to_string() } else { group(t.sizes.len()) };
            let to = Tensor { sizes: line, ..t.clone() };
            let text = format!("tensor.collapse_shape {} {groups} : {} into {}", t.name, t.ty, to.plain());
            t = self.as_plain(&to, |w| w.op(&text));
        }
        if t.sizes != sizes {
            let groups = if t.sizes.is_empty() { "[]".to_string() } else { group(sizes.len()) };
            let to = Tensor { sizes: sizes.to_vec(), ..t.clone() };
            let text = format!(
                "tensor.expand_shape {} {groups} output_shape {sizes:?} : {} into {}",
                t.name,
                t.ty,
                to.plain()
            );
            t = self.as_plain(&to, |w| w.op(&text));
        }
        t
    }

    /// The same bytes: each element is read where the operand has it.
    fn bitcast(&mut self, i: &Instruction, from: &Tensor, out: &Tensor) -> Done<Tensor> {
        let operand = self.shape(i.operands[0]);
        let found = maps(&i.operation, &[operand], &[&i.shape]).map_err(|error| error.message)?;
        let access = found.reads(0, 0).ok_or("a `bitcast` of this shape cannot be imported")?;
        if let Some(reason) = access.unknown.first() {
            return Err(format!("this `bitcast` cannot be imported: {reason}"));
        }
        let width =
            |shape: &Shape| leaves(shape).first().map(|array| (array.element.bytes(), array.layout.element_bits));
        let map = match &access.maps[..] {
            // All of the result is padding of the operand.
            [] => return Ok(self.empty(out)),
            [mapped] if mapped.map.ranges == 0 && width(operand) == width(&i.shape) => &mapped.map,
            _ => return Err("a `bitcast` to elements of another width cannot be imported".into()),
        };
        let rank = out.sizes.len();
        let index: Vec<String> = map.results.iter().map(|e| Named(e, &|v| format!("d{v}")).to_string()).collect();
        if index.iter().any(|e| e.contains("min(") || e.contains("max(")) {
            return Err("the elements of this `bitcast` lie at places that MLIR has no map for".into());
        }
        // Where the map says nothing, the operand has padding: any element will do there, of those that there are. Nor
        // may a loop of `linalg.generic` stand alone for a part of a dimension.
        let everywhere = map.domain.constraints.is_empty()
            && map.domain.vars.iter().zip(&out.sizes).all(|(within, n)| *within == Interval::new(0, n - 1))
            && map.results.iter().zip(&from.sizes).all(|(e, n)| !matches!(e, Expr::Var(v) if out.sizes[*v] != *n));
        let source = if everywhere { from.clone() } else { self.flattened(from) };
        let operand = (source.name.clone(), source.ty.clone(), index.join(", "));
        let operands = if everywhere { vec![operand] } else { Vec::new() };
        let (elements, of) = ([from.element, out.element], source.of.clone());
        let read = move |w: &mut Writer, args: &[String]| {
            if everywhere {
                return args[0].clone();
            }
            let loops: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
            let mut at = Vec::with_capacity(index.len());
            for (e, n) in index.iter().zip(&source.sizes) {
                let map = format!("affine_map<({}) -> ({e})>", dims(0..rank));
                let place = w.op(&format!("affine.apply {map}({})", loops.join(", ")));
                at.push(between(w, &place, n - 1));
            }
            w.op(&format!("tensor.extract {}[{}] : {}", source.name, at.join(", "), source.ty))
        };
        let cast = self.generic(rank, operands, &["parallel"], vec![out.clone()], vec![None], |w, args| {
            let value = read(w, args);
            let wrong = || format!("a `bitcast` of {of} to {} cannot be imported", out.of);
            Ok(vec![w.reinterpreted(&value, elements[0], elements[1]).ok_or_else(wrong)?])
        });
        cast.map(|mut all| all.remove(0))
    }

    /// The parts of each element along a last dimension, the least significant one first.
    fn parts(&mut self, from: &Tensor, out: &Tensor) -> Done<Tensor> {
        let rank = out.sizes.len();
        let operand = (from.name.clone(), from.ty.clone(), dims(0..rank - 1));
        let elements = [from.element, out.element];
        let cut = self.generic(rank, vec![operand], &["parallel"], vec![out.clone()], vec![None], |w, args| {
            let wrong = || format!("parts of {} cannot be imported as {}", elements[0].name(), elements[1].name());
            Ok(vec![w.part(&args[0], elements[0], elements[1], rank - 1).ok_or_else(wrong)?])
        });
        cut.map(|mut all| all.remove(0))
    }

    /// A block without an encoding.
    fn cut(&mut self, t: &Tensor, offsets: &[String], sizes: &[i64], strides: &[i64]) -> Tensor {
        let source = self.flattened(t);
        let to = Tensor { sizes: sizes.to_vec(), ..source.clone() };
        let text = format!(
            "tensor.extract_slice {}[{}] {sizes:?} {strides:?} : {} to {}",
            source.name,
            offsets.join(", "),
            source.ty,
            to.plain()
        );
        self.as_plain(&to, |w| w.op(&text))
    }

    /// Starts clamped so that a block of these sizes fits into the data.
    fn starts(&mut self, scalars: &[Tensor], data: &[i64], block: &[i64]) -> Done<Vec<String>> {
        let each = scalars.iter().zip(data.iter().zip(block));
        each.map(|(t, (n, size))| {
            let value = self.scalar(t);
            clamped(&mut self.w, &value, t, n - size)
        })
        .collect()
    }

    /// The data with padding, without an encoding.
    fn padded(&mut self, t: &Tensor, low: &[i64], high: &[i64], interior: &[i64], value: &str) -> Done<Tensor> {
        let mut t = self.flattened(t);
        let of = t.of.clone();
        let positive = |all: &[i64]| all.iter().map(|n| (*n).max(0)).collect::<Vec<i64>>();
        let (before, behind) = (positive(low), positive(high));
        // The sizes with what lies between the elements, with the padding, and without what is cut off.
        let sizes = |n: i64, k: usize| {
            let wide = (n - 1).max(0).checked_mul(interior[k].checked_add(1)?)?.checked_add(n.min(1))?;
            let whole = wide.checked_add(before[k])?.checked_add(behind[k])?;
            Some(((wide, whole), whole + low[k].min(0) + high[k].min(0)))
        };
        let all: Option<Vec<_>> = t.sizes.iter().enumerate().map(|(k, n)| sizes(*n, k)).collect();
        let ((wide, whole), left): ((Vec<i64>, Vec<i64>), Vec<i64>) =
            all.ok_or("the padded sizes do not fit in 64 bits")?.into_iter().unzip();
        let bare = |sizes: Vec<i64>| Tensor { ty: plain(&sizes, &of), sizes, ..t.clone() };
        let (wide, whole) = (bare(wide), bare(whole));
        if t.is_empty() {
            return Ok(self.filled(&bare(left), value));
        }
        if wide.sizes != t.sizes {
            // What lies between the elements: they are written into a block of the value.
            let filled = self.filled(&wide, value);
            let strides: Vec<i64> = interior.iter().map(|n| n + 1).collect();
            let text = format!(
                "tensor.insert_slice {} into {}{:?} {:?} {strides:?} : {} into {}",
                t.name,
                filled.name,
                vec![0; strides.len()],
                t.sizes,
                t.ty,
                wide.ty
            );
            t = self.named(&wide, |w| w.op(&text));
        }
        if whole.sizes != t.sizes {
            let name = self.w.fresh();
            self.w.line(&format!("{name} = tensor.pad {} low{before:?} high{behind:?} {{", t.name));
            let indices: Vec<String> = whole.sizes.iter().map(|_| format!("{}: index", self.w.fresh())).collect();
            self.w.line(&format!("^bb0({}):", indices.join(", ")));
            let end_of_body = format!("  tensor.yield {value} : {of}{}", self.w.location);
            self.w.line(&end_of_body);
            let end = format!("}} : {} to {}{}", t.ty, whole.ty, self.w.location);
            self.w.line(&end);
            t = Tensor { name, ..whole };
        }
        if left != t.sizes {
            let offsets: Vec<String> = low.iter().map(|n| n.min(&0).unsigned_abs().to_string()).collect();
            t = self.cut(&t, &offsets, &left, &vec![1; low.len()]);
        }
        Ok(t)
    }

    /// A call of a computation.
    fn call(&mut self, computation: usize, arguments: &[Tensor], results: Vec<Tensor>) -> Done<Vec<Tensor>> {
        let callee = &self.module.computations[computation];
        let mut taken = Vec::with_capacity(arguments.len());
        let wanted = callee.parameters.iter().map(|k| tensors(&callee.instructions[*k].shape));
        for (from, to) in arguments.iter().zip(wanted.collect::<Done<Vec<_>>>()?.concat()) {
            taken.push(self.converted(from, &to));
        }
        let given = tensors(&callee.result().shape)?;
        let given = give(&mut self.w, &format!("func.call {}", symbol(&callee.name)), &taken, given);
        Ok(self.all_converted(&given, &results))
    }

    fn repeat(&mut self, condition: usize, body: usize, state: &[Tensor]) -> Done<Vec<Tensor>> {
        let types: Vec<&str> = state.iter().map(|t| &*t.ty).collect();
        let types = types.join(", ");
        let (name, location) = (self.w.fresh(), self.w.location.clone());
        let fresh = |w: &mut Writer| state.iter().map(|t| Tensor { name: w.fresh(), ..t.clone() }).collect::<Vec<_>>();
        let (first, second) = (fresh(&mut self.w), fresh(&mut self.w));
        let list = |all: &[Tensor]| all.iter().map(|t| t.name.clone()).collect::<Vec<_>>().join(", ");
        let entered: Vec<String> = first.iter().zip(state).map(|(a, t)| format!("{} = {}", a.name, t.name)).collect();
        let count = if state.len() == 1 { String::new() } else { format!(":{}", state.len()) };
        self.w.line(&format!("{name}{count} = scf.while ({}) : ({types}) -> ({types}) {{", entered.join(", ")));
        self.w.indent += 2;
        let pred = scalar_tensor(ElementType::Pred, "i1");
        let again = self.call(condition, &first, vec![pred])?.remove(0);
        let flag = self.scalar(&again);
        self.w.line(&format!("scf.condition({flag}) {} : {types}{location}", list(&first)));
        self.w.indent -= 2;
        self.w.line("} do {");
        let listed: Vec<String> = second.iter().map(|t| format!("{}: {}", t.name, t.ty)).collect();
        self.w.line(&format!("^bb0({}):", listed.join(", ")));
        self.w.indent += 2;
        let next = self.call(body, &second, state.to_vec())?;
        self.w.line(&format!("scf.yield {} : {types}{location}", list(&next)));
        self.w.indent -= 2;
        self.w.line(&format!("}}{location}"));
        let result = |k: usize| if state.len() == 1 { name.clone() } else { format!("{name}#{k}") };
        Ok(state.iter().enumerate().map(|(k, t)| Tensor { name: result(k), ..t.clone() }).collect())
    }

    fn branch(&mut self, branches: &[usize], operands: &[Vec<Tensor>], results: Vec<Tensor>) -> Done<Vec<Tensor>> {
        let chosen = operands[0][0].clone();
        let value = self.scalar(&chosen);
        let types: Vec<&str> = results.iter().map(|t| &*t.ty).collect();
        let types = types.join(", ");
        let (name, location) = (self.w.fresh(), self.w.location.clone());
        let count = if results.len() > 1 { format!(":{}", results.len()) } else { String::new() };
        let call = |f: &mut Self, k: usize| -> Done<()> {
            f.w.indent += 2;
            let given = f.call(branches[k], &operands[k + 1], results.clone())?;
            let names: Vec<&str> = given.iter().map(|t| &*t.name).collect();
            let end = format!("scf.yield {} : {types}{}", names.join(", "), f.w.location);
            f.w.line(&end);
            f.w.indent -= 2;
            Ok(())
        };
        if chosen.element == ElementType::Pred {
            self.w.line(&format!("{name}{count} = scf.if {value} -> ({types}) {{"));
            call(self, 0)?;
            self.w.line("} else {");
            call(self, 1)?;
        } else {
            // What is out of range takes the last branch.
            let index = self.w.op(&format!("arith.index_cast {value} : {} to index", chosen.of));
            self.w.line(&format!("{name}{count} = scf.index_switch {index} -> {types}"));
            for k in 0..branches.len() - 1 {
                self.w.line(&format!("case {k} {{"));
                call(self, k)?;
                self.w.line("}");
            }
            self.w.line("default {");
            call(self, branches.len() - 1)?;
        }
        self.w.line(&format!("}}{location}"));
        let result = |k: usize| if results.len() > 1 { format!("{name}#{k}") } else { name.clone() };
        Ok(results.iter().enumerate().map(|(k, t)| Tensor { name: result(k), ..t.clone() }).collect())
    }

    fn reduce(&mut self, i: &Instruction, gone: &[usize], ins: &[Tensor], outs: Vec<Tensor>) -> Done<Vec<Tensor>> {
        let n = outs.len();
        let rank = ins[0].sizes.len();
        let kept: Vec<usize> = (0..rank).filter(|k| !gone.contains(k)).collect();
        // Loops: those of the result, then the reduced ones.
        let place = |k: usize| match kept.iter().position(|dim| *dim == k) {
            Some(place) => place,
            None => kept.len() + gone.iter().position(|dim| *dim == k).unwrap_or(0),
        };
        let index = dims((0..rank).map(place));
        let operands = ins[..n].iter().map(|t| (t.name.clone(), t.ty.clone(), index.clone())).collect();
        let inits = ins[n..].iter().zip(&outs).map(|(t, out)| Ok(Some(self.number(t, out.element)?)));
        let inits = inits.collect::<Done<_>>()?;
        let combine = self.combiner(i, &ins[..n], &outs)?;
        self.generic(rank, operands, &["parallel", "reduction"], outs, inits, |w, args| {
            combine(w, &[&args[n..], &args[..n]].concat())
        })
    }

    fn reduce_window(
        &mut self,
        i: &Instruction,
        window: &[WindowDim],
        ins: &[Tensor],
        outs: Vec<Tensor>,
    ) -> Done<Vec<Tensor>> {
        let n = outs.len();
        let rank = window.len();
        let part = |of: fn(&WindowDim) -> i64| window.iter().map(of).collect::<Vec<i64>>();
        let (low, high, between) = (part(|w| w.low), part(|w| w.high), part(|w| w.base_dilation - 1));
        let mut operands = Vec::new();
        let mut inits = Vec::new();
        for (k, (t, init)) in ins[..n].iter().zip(&ins[n..]).enumerate() {
            let value = self.number(init, t.element)?;
            let padded = self.padded(t, &low, &high, &between, &value)?;
            let index =
                |k: usize| format!("d{k} * {} + d{} * {}", window[k].stride, rank + k, window[k].window_dilation);
            let map: Vec<String> = (0..rank).map(index).collect();
            operands.push((padded.name.clone(), padded.ty.clone(), map.join(", ")));
            inits.push(Some(self.number(init, outs[k].element)?));
        }
        operands.push(self.places(window, rank));
        let combine = self.combiner(i, &ins[..n], &outs)?;
        self.generic(2 * rank, operands, &["parallel", "reduction"], outs, inits, |w, args| {
            combine(w, &[&args[n + 1..], &args[..n]].concat())
        })
    }

    /// Writes the computation of a reduction, which combines elements of the results with such of the operands.
    fn combiner(
        &self,
        i: &Instruction,
        ins: &[Tensor],
        outs: &[Tensor],
    ) -> Done<impl FnOnce(&mut Writer, &[String]) -> Done<Vec<String>> + use<'a>> {
        let number = i.called.first().copied().ok_or("a reduction needs a computation")?;
        let module = self.module;
        let from: Vec<ElementType> = outs.iter().chain(ins).map(|t| t.element).collect();
        Ok(move |w: &mut Writer, args: &[String]| {
            let given = inlined(module, number, w, args, &from)?;
            let own = leaves(&module.computations[number].result().shape);
            let each = given.iter().zip(own).zip(from);
            each.map(|((value, array), to)| converted(w, value, array.element, to)).collect()
        })
    }

    /// A tensor that no one reads, whose sizes say how large a window is.
    fn places(&mut self, window: &[WindowDim], first: usize) -> Operand {
        let sizes: Vec<i64> = window.iter().map(|w| w.size).collect();
        let ty = plain(&sizes, "i1");
        (self.w.op(&format!("tensor.empty() : {ty}")), ty, dims(first..first + window.len()))
    }

    fn convolution(&mut self, c: &Convolution, input: &Tensor, kernel: &Tensor, out: &Tensor) -> Done<Tensor> {
        let (rank, spatial) = (out.sizes.len(), c.window.len());
        let zero = self.zero(input);
        let mut padding = [vec![0; rank], vec![0; rank], vec![0; rank]];
        for (k, w) in c.window.iter().enumerate() {
            let dim = c.input_spatial[k];
            (padding[0][dim], padding[1][dim], padding[2][dim]) = (w.low, w.high, w.base_dilation - 1);
        }
        let padded = self.padded(input, &padding[0], &padding[1], &padding[2], &zero)?;
        // Loops: the result's, the window's, and the input features of a group.
        let (batch, feature, deep) = (c.output_batch, c.output_feature, rank + spatial);
        let features = kernel.sizes[c.kernel_input_feature];
        let group = |groups: i64| format!("d{feature} floordiv {}", (out.sizes[feature] / groups).max(1));
        let mut of_input = vec![String::new(); rank];
        of_input[c.input_batch] = match c.batch_groups {
            1 => format!("d{batch}"),
            groups => format!("({}) * {} + d{batch}", group(groups), out.sizes[batch]),
        };
        of_input[c.input_feature] = match c.feature_groups {
            1 => format!("d{deep}"),
            groups => format!("({}) * {features} + d{deep}", group(groups)),
        };
        let mut of_kernel = vec![String::new(); rank];
        of_kernel[c.kernel_input_feature] = format!("d{deep}");
        of_kernel[c.kernel_output_feature] = format!("d{feature}");
        for (k, w) in c.window.iter().enumerate() {
            let (o, place) = (c.output_spatial[k], rank + k);
            of_input[c.input_spatial[k]] = format!("d{o} * {} + d{place} * {}", w.stride, w.window_dilation);
            of_kernel[c.kernel_spatial[k]] = match w.reversed {
                true => format!("-d{place} + {}", w.size - 1),
                false => format!("d{place}"),
            };
        }
        let kernel = if c.window.iter().any(|w| w.reversed) { self.flattened(kernel) } else { kernel.clone() };
        let operands = vec![
            (padded.name.clone(), padded.ty.clone(), of_input.join(", ")),
            (kernel.name.clone(), kernel.ty.clone(), of_kernel.join(", ")),
            self.places(&c.window, rank),
        ];
        self.product(rank, spatial + 1, operands, [input.element, kernel.element], out)
    }

    fn gather(&mut self, g: &Gather, data: &Tensor, indices: &Tensor, out: &Tensor) -> Done<Tensor> {
        if data.is_empty() {
            // Blocks without elements of which the result has some: XLA gives zeros.
            let zero = self.zero(data);
            return Ok(self.filled(out, &zero));
        }
        let (source, places) = (self.flattened(data), self.flattened(indices));
        let rank = out.sizes.len();
        let batch: Vec<usize> = (0..rank).filter(|k| !g.offset_dims.contains(k)).collect();
        let windows: Vec<usize> = (0..data.sizes.len())
            .filter(|k| !g.collapsed_slice_dims.contains(k) && !g.operand_batching_dims.contains(k))
            .collect();
        let g = g.clone();
        let gathered = self.generic(rank, Vec::new(), &["parallel"], vec![out.clone()], vec![None], move |w, _| {
            let index: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
            // The dimensions of the indices that count blocks, with the vector of starts left out.
            let counted: Vec<usize> = (0..places.sizes.len()).filter(|k| *k != g.index_vector_dim).collect();
            let of_batch = |dim: usize| counted.iter().position(|k| *k == dim).map(|k| index[batch[k]].clone());
            let mut at = Vec::with_capacity(source.sizes.len());
            for dim in 0..source.sizes.len() {
                let offset = windows.iter().position(|k| *k == dim).map(|k| index[g.offset_dims[k]].clone());
                let start = if let Some(j) = g.start_index_map.iter().position(|k| *k == dim) {
                    let mut place: Vec<String> = (0..places.sizes.len()).filter_map(of_batch).collect();
                    if g.index_vector_dim < places.sizes.len() {
                        place.insert(g.index_vector_dim, w.constant(&j.to_string(), "index"));
                    }
                    let value = w.op(&format!("tensor.extract {}[{}] : {}", places.name, place.join(", "), places.ty));
                    Some(clamped(w, &value, &places, source.sizes[dim] - g.slice_sizes[dim].max(1))?)
                } else {
                    let j = g.operand_batching_dims.iter().position(|k| *k == dim);
                    j.and_then(|j| of_batch(g.start_indices_batching_dims[j]))
                };
                at.push(match (start, offset) {
                    (Some(a), Some(b)) => w.op(&format!("arith.addi {a}, {b} : index")),
                    (Some(one), None) | (None, Some(one)) => one,
                    (None, None) => w.constant("0", "index"),
                });
            }
            Ok(vec![w.op(&format!("tensor.extract {}[{}] : {}", source.name, at.join(", "), source.ty))])
        });
        gathered.map(|mut all| all.remove(0))
    }
}

/// `d0, d3`, for these loops.
fn dims(of: impl IntoIterator<Item = usize>) -> String {
    of.into_iter().map(|k| format!("d{k}")).collect::<Vec<_>>().join(", ")
}

/// The tensors of a shape, without names.
fn tensors(shape: &Shape) -> Done<Vec<Tensor>> {
    let one = |array: &&Array| {
        let sizes = array.dims.iter().map(|dim| match dim {
            tensor_layout::operations::Dim::Exact(n) => Ok(*n),
            _ => Err("sizes that are known only at run time cannot be imported".to_string()),
        });
        let sizes = sizes.collect::<Done<Vec<i64>>>()?;
        let of = element(array.element).ok_or_else(|| format!("`{}` cannot be imported", array.element.name()))?;
        // Elements that 64 bits do not count have no place in memory, and no products of sizes either.
        tensor_layout::tiled::Expansion::new(&sizes, &array.layout).map_err(|error| error.message)?;
        let ty = encoded(array, &sizes, &of);
        Ok(Tensor { name: String::new(), sizes, element: array.element, of, ty })
    };
    leaves(shape).iter().map(one).collect()
}

fn scalar_tensor(element: ElementType, of: &str) -> Tensor {
    Tensor { name: String::new(), sizes: Vec::new(), element, of: of.to_string(), ty: plain(&[], of) }
}

/// An operation on values that gives values.
fn give(w: &mut Writer, op: &str, arguments: &[Tensor], results: Vec<Tensor>) -> Vec<Tensor> {
    let names: Vec<&str> = arguments.iter().map(|t| &*t.name).collect();
    let types = |all: &[Tensor]| all.iter().map(|t| t.ty.clone()).collect::<Vec<_>>().join(", ");
    let name = w.fresh();
    let left = match results.len() {
        0 => String::new(),
        1 => format!("{name} = "),
        n => format!("{name}:{n} = "),
    };
    let text =
        format!("{left}{op}({}) : ({}) -> ({}){}", names.join(", "), types(arguments), types(&results), w.location);
    w.line(&text);
    let several = results.len() > 1;
    let own = |k: usize| if several { format!("{name}#{k}") } else { name.clone() };
    results.into_iter().enumerate().map(|(k, t)| Tensor { name: own(k), ..t }).collect()
}

/// An element of `t`, a start, as an index between 0 and `most`.
fn clamped(w: &mut Writer, value: &str, t: &Tensor, most: i64) -> Done<String> {
    let signed = t.element.is_signed();
    let kind = if signed { "index_cast" } else { "index_castui" };
    let index = w.op(&format!("arith.{kind} {value} : {} to index", t.of));
    if signed {
        return Ok(between(w, &index, most.max(0)));
    }
    let most = w.constant(&most.max(0).to_string(), "index");
    Ok(w.op(&format!("arith.minui {index}, {most} : index")))
}

/// The nearest index between 0 and `most`.
fn between(w: &mut Writer, index: &str, most: i64) -> String {
    let (zero, most) = (w.constant("0", "index"), w.constant(&most.to_string(), "index"));
    let raised = w.op(&format!("arith.maxsi {index}, {zero} : index"));
    w.op(&format!("arith.minsi {raised}, {most} : index"))
}

/// A number as one of another type.
fn converted(w: &mut Writer, value: &str, from: ElementType, to: ElementType) -> Done<String> {
    let wrong = || format!("`{}` as `{}` cannot be imported", from.name(), to.name());
    w.convert(value, from, to).ok_or_else(wrong)
}

/// A computation on scalars, written where it is used, with arguments of types `from`; returns the leaves of its root.
fn inlined(
    module: &Module,
    computation: usize,
    w: &mut Writer,
    arguments: &[String],
    from: &[ElementType],
) -> Done<Vec<String>> {
    let computation = &module.computations[computation];
    let mut values: Vec<Vec<String>> = Vec::new();
    for i in &computation.instructions {
        let operands: Vec<String> = i.operands.iter().flat_map(|k| values[*k].clone()).collect();
        let arrays = i.operands.iter().flat_map(|k| leaves(&computation.instructions[*k].shape));
        let from_operands: Vec<ElementType> = arrays.map(|array| array.element).collect();
        let own = match &i.shape {
            Shape::Array(array) if array.dims.is_empty() => Some(array.element),
            _ => None,
        };
        values.push(match (&i.operation, own) {
            (Operation::Parameter { number }, Some(e)) => {
                vec![converted(w, &arguments[*number], from[*number], e)?]
            }
            (Operation::Tuple, _) => operands,
            (Operation::GetTupleElement { index }, Some(_)) => vec![operands[*index].clone()],
            (Operation::Call { computation }, _) => inlined(module, *computation, w, &operands, &from_operands)?,
            (Operation::Constant, Some(e)) => vec![scalar::scalar_constant(w, i, e)?],
            (Operation::Elementwise | Operation::Select, Some(e)) => {
                vec![w.element(i, &operands, &from_operands, e)?]
            }
            (Operation::Broadcast { .. } | Operation::Reshape, Some(e)) => {
                vec![converted(w, &operands[0], from_operands[0], e)?]
            }
            _ => return Err(format!("`{}` cannot be imported into the loops of a reduction", i.opcode)),
        });
    }
    Ok(values.swap_remove(computation.root))
}
