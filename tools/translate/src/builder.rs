//! Operations on tensors, the parts of instructions.
//!
//! A [`Tensor`] may have an encoding. `linalg.generic` works on tensors in any layout; operations of the dialect
//! `tensor` require one encoding on both sides, so they get tensors without any: [`Builder::without_encoding`] before,
//! and [`Builder::converted`] after it.

use crate::collectives::Collectives;
use crate::external::{Declarations, Elided, External};
use crate::scalar::convert::converted;
use crate::syntax::{dims, plain};
use crate::tensor::{ImportResult, Tensor, names, types};
use crate::writer::Writer;
use std::collections::HashMap;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};

/// An unfinished function.
pub struct Builder<'a> {
    pub module: &'a Module,
    /// The treatment of exchanges between devices.
    pub collectives: Collectives,
    pub w: Writer<'a>,
    /// The names of zero arrays that only a device uses, by their types.
    device_only: HashMap<String, String>,
}

/// An operand of `linalg.generic`.
pub struct Operand {
    name: String,
    ty: String,
    /// The type of an element.
    element_text: String,
    /// The results of its indexing map: `d0, d2`.
    map: String,
}

impl Operand {
    /// The tensor, read at this index.
    pub fn new(t: &Tensor, map: String) -> Operand {
        Operand { name: t.name.clone(), ty: t.ty.clone(), element_text: t.element_text.clone(), map }
    }

    /// The tensor, read at the index of the loops.
    pub fn own(t: &Tensor) -> Operand {
        Operand::new(t, dims(0..t.sizes.len()))
    }
}

/// A `linalg.generic` whose results are read and written at the index of its first loops.
pub struct Generic {
    /// The number of loops; those after the rank of the results reduce.
    pub loops: usize,
    pub ins: Vec<Operand>,
    pub outs: Vec<Tensor>,
    /// The initial value of each result; `None` where it is not read.
    pub inits: Vec<Option<String>>,
}

impl<'a> Builder<'a> {
    pub fn new(module: &'a Module, collectives: Collectives, declared: &'a mut Declarations) -> Builder<'a> {
        Builder { module, collectives, w: Writer::new(declared), device_only: HashMap::new() }
    }

    /// The value of an array that only a device uses: zeros, written once in a function.
    pub fn device_only(&mut self, t: &Tensor) -> Tensor {
        if let Some(name) = self.device_only.get(&t.ty) {
            return Tensor { name: name.clone(), ..t.clone() };
        }
        let zero = self.zero(t);
        let filled = self.filled(t, &zero);
        self.device_only.insert(t.ty.clone(), filled.name.clone());
        filled
    }

    /// A call of an external function; its results have the types of `outs`.
    pub fn external(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        i: &Instruction,
        (ins, outs): (&[Tensor], &[Tensor]),
    ) -> Vec<Tensor> {
        let callee = self.w.declared.function(External::new(name, attributes, ins, outs), i);
        self.calls(&callee, ins, outs)
    }

    /// A call of a function whose results have the types of `outs`.
    pub fn calls(&mut self, callee: &str, ins: &[Tensor], outs: &[Tensor]) -> Vec<Tensor> {
        let results = self.w.call(callee, &names(ins), &types(ins), &types(outs), outs.len());
        Tensor::named(results, outs.to_vec())
    }

    /// A constant whose value the text leaves out.
    ///
    /// # Errors
    /// The options refuse such constants.
    pub fn elided(&mut self, i: &Instruction, out: &Tensor) -> ImportResult<Tensor> {
        if self.w.declared.elided == Elided::Error {
            return Err("the value of this constant is left out of the text".into());
        }
        let buffer = out.plain().replacen("tensor", "memref", 1);
        let global = self.w.declared.constant(&buffer, i);
        let buffered = self.w.op(&format!("memref.get_global {global} : {buffer}"));
        let plain = out.plain();
        let value = self.as_plain(out, &format!("bufferization.to_tensor {buffered} restrict : {buffer} to {plain}"));
        Ok(self.converted(&value, out))
    }

    /// An operation with a result of this type; returns the result.
    pub fn named(&mut self, t: &Tensor, op: &str) -> Tensor {
        Tensor { name: self.w.op(op), ..t.clone() }
    }

    /// An operation with a result of this type without its encoding.
    pub fn as_plain(&mut self, t: &Tensor, op: &str) -> Tensor {
        Tensor { name: self.w.op(op), ty: t.plain(), ..t.clone() }
    }

    /// A tensor whose elements are undefined.
    pub fn empty(&mut self, t: &Tensor) -> Tensor {
        self.named(t, &format!("tensor.empty() : {}", t.ty))
    }

    /// A tensor with this value in all elements.
    pub fn filled(&mut self, t: &Tensor, value: &str) -> Tensor {
        let empty = self.empty(t);
        let (of, ty) = (&t.element_text, &t.ty);
        self.named(t, &format!("linalg.fill ins({value} : {of}) outs({} : {ty}) -> {ty}", empty.name))
    }

    /// The tensor in the layout of another.
    pub fn converted(&mut self, from: &Tensor, to: &Tensor) -> Tensor {
        if from.ty == to.ty {
            return Tensor { name: from.name.clone(), ..to.clone() };
        }
        if from.is_empty() {
            return self.empty(to);
        }
        self.named(to, &format!("layout.convert {} : {} to {}", from.name, from.ty, to.ty))
    }

    /// Tensors in the layouts of others.
    ///
    /// # Errors
    /// Their sizes differ: one is up to a bound, the other exact.
    pub fn all_converted(&mut self, from: &[Tensor], to: &[Tensor]) -> ImportResult<Vec<Tensor>> {
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(from, to)| from.sizes == to.sizes);
        if !fits {
            return Err(
                "a size up to a bound where an exact one is expected, or the other way round, cannot be imported"
                    .into(),
            );
        }
        Ok(from.iter().zip(to).map(|(from, to)| self.converted(from, to)).collect())
    }

    /// The tensor without an encoding.
    pub fn without_encoding(&mut self, t: &Tensor) -> Tensor {
        self.converted(t, &Tensor { ty: t.plain(), ..t.clone() })
    }

    /// Zero, as an element of a tensor.
    pub fn zero(&mut self, t: &Tensor) -> String {
        zero(&mut self.w, t.element, &t.element_text)
    }

    /// The element of a tensor of rank 0.
    pub fn scalar(&mut self, t: &Tensor) -> String {
        self.w.op(&format!("tensor.extract {}[] : {}", t.name, t.ty))
    }

    /// An element of a tensor of rank 1, as a tensor of rank 0.
    pub fn element_as_tensor(&mut self, t: &Tensor, k: usize) -> Tensor {
        let at = self.w.index(k as i64);
        let value = self.w.op(&format!("tensor.extract {}[{at}] : {}", t.name, t.ty));
        let to = Tensor { name: String::new(), sizes: Vec::new(), ty: plain(&[], &t.element_text), ..t.clone() };
        self.named(&to, &format!("tensor.from_elements {value} : {}", to.ty))
    }

    /// The element of a tensor of rank 0, converted to another type.
    ///
    /// # Errors
    /// There is no conversion between the types.
    pub fn number(&mut self, t: &Tensor, to: ElementType) -> ImportResult<String> {
        let value = self.scalar(t);
        converted(&mut self.w, &value, t.element, to)
    }

    /// An element of `t` as an index, clamped between 0 and `most`.
    pub fn clamped(w: &mut Writer, value: &str, t: &Tensor, most: i64) -> String {
        let signed = t.element.is_signed();
        let kind = if signed { "index_cast" } else { "index_castui" };
        let index = w.op(&format!("arith.{kind} {value} : {} to index", t.element_text));
        if signed {
            return w.between(&index, most.max(0));
        }
        let most = w.constant(&most.max(0).to_string(), "index");
        w.op(&format!("arith.minui {index}, {most} : index"))
    }

    /// The tensor with its floats in the precision of another.
    ///
    /// # Errors
    /// There is no conversion between the types.
    pub fn precise(&mut self, t: &Tensor, like: &Tensor) -> ImportResult<Tensor> {
        if !t.element.is_float() || !like.element.is_float() || t.element == like.element {
            return Ok(t.clone());
        }
        let (from, to) = (t.element, like.element);
        let out = Tensor {
            element: to,
            element_text: like.element_text.clone(),
            ty: plain(&t.sizes, &like.element_text),
            ..t.clone()
        };
        self.each(vec![Operand::own(t)], &out, |w, args| converted(w, &args[0], from, to))
    }

    /// A block of a tensor, without an encoding.
    pub fn extract_slice(&mut self, t: &Tensor, offsets: &[String], sizes: &[i64], strides: &[i64]) -> Tensor {
        let source = self.without_encoding(t);
        let to = Tensor { sizes: sizes.to_vec(), ..source.clone() };
        let text = format!(
            "tensor.extract_slice {}[{}] {sizes:?} {strides:?} : {} to {}",
            source.name,
            offsets.join(", "),
            source.ty,
            to.plain()
        );
        self.as_plain(&to, &text)
    }

    /// The operation that inserts a block into a tensor, at these offsets.
    pub fn insertion(block: &Tensor, whole: &Tensor, offsets: &[String]) -> String {
        format!(
            "tensor.insert_slice {} into {}[{}] {:?} {:?} : {} into {}",
            block.name,
            whole.name,
            offsets.join(", "),
            block.sizes,
            vec![1; block.sizes.len()],
            block.ty,
            whole.ty
        )
    }

    /// A tensor whose elements `body` computes from the elements of the operands.
    ///
    /// # Errors
    /// The error of `body`.
    pub fn each(
        &mut self,
        ins: Vec<Operand>,
        out: &Tensor,
        body: impl FnOnce(&mut Writer, &[String]) -> ImportResult<String>,
    ) -> ImportResult<Tensor> {
        let (outs, inits) = (vec![out.clone()], vec![None]);
        let generic = Generic { loops: out.sizes.len(), ins, outs, inits };
        self.generic(generic, |w, args| Ok(vec![body(w, args)?])).map(|mut all| all.remove(0))
    }

    /// A tensor with the elements of another at the operand's map.
    pub fn moved(&mut self, operand: Operand, out: &Tensor) -> ImportResult<Tensor> {
        self.each(vec![operand], out, |_, args| Ok(args[0].clone()))
    }

    /// Writes a `linalg.generic`. `body` gets an element of each operand and of each result, and returns the elements
    /// of the results.
    ///
    /// # Errors
    /// The error of `body`.
    pub fn generic(
        &mut self,
        generic: Generic,
        body: impl FnOnce(&mut Writer, &[String]) -> ImportResult<Vec<String>>,
    ) -> ImportResult<Vec<Tensor>> {
        let inits: Vec<Tensor> = generic.outs.iter().zip(&generic.inits).map(|(t, init)| self.begun(t, init)).collect();
        let results = self.w.results(generic.outs.len());
        self.w.line(&generic.opening(&results.left, &inits));
        let elements: Vec<&String> =
            generic.ins.iter().map(|o| &o.element_text).chain(generic.outs.iter().map(|t| &t.element_text)).collect();
        let arguments: Vec<String> = elements.iter().map(|_| self.w.fresh()).collect();
        let listed: Vec<String> = arguments.iter().zip(elements).map(|(name, of)| format!("{name}: {of}")).collect();
        self.w.line(&format!("^bb0({}):", listed.join(", ")));
        self.w.indent += 2;
        let yielded = body(&mut self.w, &arguments)?;
        let elements: Vec<&str> = generic.outs.iter().map(|t| t.element_text.as_str()).collect();
        self.w.located(&format!("linalg.yield {} : {}", yielded.join(", "), elements.join(", ")));
        self.w.indent -= 2;
        let outs = types(&generic.outs);
        let outs = if generic.outs.len() == 1 { outs } else { format!("({outs})") };
        self.w.located(&format!("}} -> {outs}"));
        Ok(Tensor::named(results.names, generic.outs))
    }

    /// The initial tensor of a result.
    fn begun(&mut self, t: &Tensor, init: &Option<String>) -> Tensor {
        match init {
            None => self.empty(t),
            Some(value) => self.filled(t, value),
        }
    }
}

/// The zero of an element type, whose text is `of`.
pub fn zero(w: &mut Writer, element: ElementType, of: &str) -> String {
    let value = match element {
        ElementType::C64 => return w.op("complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>"),
        ElementType::C128 => return w.op("complex.constant [0.0, 0.0] : complex<f64>"),
        ElementType::Pred => "false",
        e if e.is_float() => "0.0",
        _ => "0",
    };
    w.constant(value, of)
}

impl Generic {
    /// The text of the operation up to its region.
    fn opening(&self, left: &str, inits: &[Tensor]) -> String {
        let rank = self.outs.first().map_or(0, |t| t.sizes.len());
        let all = dims(0..self.loops);
        let map = |results: &str| format!("affine_map<({all}) -> ({results})>");
        let own = dims(0..rank);
        let maps: Vec<String> =
            self.ins.iter().map(|o| map(&o.map)).chain(self.outs.iter().map(|_| map(&own))).collect();
        let kind = |k| if k < rank { "\"parallel\"" } else { "\"reduction\"" };
        let kinds: Vec<&str> = (0..self.loops).map(kind).collect();
        let inputs = match self.ins.is_empty() {
            true => String::new(),
            false => {
                let names: Vec<&str> = self.ins.iter().map(|o| o.name.as_str()).collect();
                let types: Vec<&str> = self.ins.iter().map(|o| o.ty.as_str()).collect();
                format!("ins({} : {}) ", names.join(", "), types.join(", "))
            }
        };
        format!(
            "{left}linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} {inputs}outs({} : {}) {{",
            maps.join(", "),
            kinds.join(", "),
            names(inits),
            types(&self.outs)
        )
    }
}
