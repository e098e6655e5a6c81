//! One operation to be written: its attributes, operands and results, and the instructions that it becomes.

use super::attributes::{MlirAttribute, field};
use super::constants::Dense;
use super::syntax::Operation;
use super::writer::{Inside, Value, Writer, Written, named};
use crate::element::ElementType;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::{Error, did_you_mean, excerpt, nearest};
use std::collections::BTreeSet;

/// An operation to be written.
pub(super) struct OperationSite<'w, 'a> {
    pub writer: &'w mut Writer<'a>,
    pub operation: &'a Operation<'a>,
    pub operands: Vec<Value>,
    pub results: Vec<Shape>,
    /// The names of attributes that a row has asked for.
    asked: BTreeSet<&'static str>,
}

/// Writes an operation, and returns its results.
pub(super) type Conversion = fn(&mut OperationSite) -> Result<Vec<Value>, Error>;

/// The attribute `type` of a comparison; none for the order that the element type has by itself.
pub(super) fn comparison_type(own: &MlirAttribute) -> Result<Option<Written>, Error> {
    const TYPES: [&str; 5] = ["FLOAT", "NOTYPE", "SIGNED", "TOTALORDER", "UNSIGNED"];
    match own.word() {
        "TOTALORDER" => Ok(Some(("type", "TOTALORDER".to_string(), own.at))),
        word if TYPES.contains(&word) => Ok(None),
        word => {
            let hint = did_you_mean(word, TYPES.into_iter());
            Err(Error::at(own.at, format!("unknown type of comparison `{}`{hint}", excerpt(word))).unknown())
        }
    }
}

/// The error of an operation whose sizes are values.
pub(super) fn sizes_at_run_time(operation: &Operation) -> Error {
    let message = format!(
        "the sizes of `{}` must be known, found values: `stablehlo-opt --stablehlo-canonicalize-dynamism` finds them \
         where they are constants",
        operation.name
    );
    Error::at(operation.at, message).unsupported()
}

/// The attributes of other dialects that have a meaning here.
const NOTES: [&str; 7] = [
    "mhlo.backend_config",
    "mhlo.layout_mode",
    "mhlo.must_alias",
    "mhlo.sharding",
    "jax.buffer_donor",
    "sdy.sharding",
    "tf.aliasing_output",
];

/// Refuses a near miss of an attribute with a meaning.
pub(super) fn check_note(own: &MlirAttribute) -> Result<(), Error> {
    match nearest(own.name, NOTES.into_iter()).filter(|near| own.name.contains('.') && *near != own.name) {
        Some(near) => {
            let message = format!("unknown attribute `{}`; did you mean `{near}`?", excerpt(own.name));
            Err(Error::at(own.at, message).unknown())
        }
        None => Ok(()),
    }
}

/// Attributes without effect on the instruction.
fn is_note(name: &str) -> bool {
    name.is_empty()
        || name == "@"
        || name.contains('.')
        || matches!(name, "result_accuracy" | "operandSegmentSizes" | "error_message")
}

impl<'w, 'a> OperationSite<'w, 'a> {
    pub fn new(
        writer: &'w mut Writer<'a>,
        operation: &'a Operation<'a>,
        operands: Vec<Value>,
        results: Vec<Shape>,
    ) -> OperationSite<'w, 'a> {
        OperationSite { writer, operation, operands, results, asked: BTreeSet::new() }
    }

    /// The name without its dialect.
    pub fn short_name(&self) -> &'a str {
        self.operation.name.rsplit('.').next().unwrap_or(self.operation.name)
    }

    /// The attribute of one of these names.
    pub fn attribute(&mut self, names: &[&'static str]) -> Option<MlirAttribute<'a>> {
        self.asked.extend(names);
        let own = self.operation.attribute(names).copied()?;
        let alias = own.text.strip_prefix('#').and_then(|name| self.writer.module.aliases.get(name));
        Some(MlirAttribute { text: alias.unwrap_or(&own.text), ..own })
    }

    /// The required attribute of one of these names.
    pub fn need(&mut self, names: &[&'static str]) -> Result<MlirAttribute<'a>, Error> {
        self.attribute(names).ok_or_else(|| {
            let attributes = &self.operation.attributes;
            let near = |own: &&MlirAttribute| nearest(own.name, names.iter().copied()).is_some();
            match attributes.iter().find(near) {
                Some(own) => self.unknown_attribute(own, names[0]),
                None => self.error(&format!("must have the attribute `{}`, found none", names[0])),
            }
        })
    }

    /// The error of a name that is not `near`.
    fn unknown_attribute(&self, own: &MlirAttribute, near: &str) -> Error {
        let (name, of) = (excerpt(own.name), excerpt(self.operation.name));
        Error::at(own.at, format!("unknown attribute `{name}` of `{of}`; did you mean `{near}`?")).unknown()
    }

    /// The integers of a required attribute.
    pub fn integers(&mut self, names: &[&'static str]) -> Result<Vec<i64>, Error> {
        self.need(names)?.integers()
    }

    /// The integers of an attribute, empty without it.
    pub fn integers_or_none(&mut self, names: &[&'static str]) -> Result<Vec<i64>, Error> {
        self.attribute(names).map_or(Ok(Vec::new()), |own| own.integers())
    }

    /// A list of HLO from the integers of an attribute.
    pub fn list(&mut self, name: &'static str, names: &[&'static str]) -> Result<Written, Error> {
        let own = self.need(names)?;
        Ok((name, braces(&own.integers()?), own.at))
    }

    /// The value of a flag, and its place.
    pub fn flag(&mut self, names: &[&'static str]) -> Result<Option<(bool, usize)>, Error> {
        self.attribute(names).map(|own| Ok((own.flag()?, own.at))).transpose()
    }

    /// The word of an enumeration, and its place.
    pub fn word(&mut self, names: &[&'static str]) -> Result<(&'a str, usize), Error> {
        self.need(names).map(|own| (own.word(), own.at))
    }

    /// An error at the operation.
    pub fn error(&self, message: &str) -> Error {
        Error::at(self.operation.at, format!("`{}` {message}", excerpt(self.operation.name)))
    }

    /// An operand that must be there.
    pub fn operand(&self, k: usize) -> Result<&Value, Error> {
        let count = self.operands.len();
        self.operands.get(k).ok_or_else(|| self.error(&format!("must have at least {} operands, found {count}", k + 1)))
    }

    /// The array of a value.
    pub fn array<'s>(&self, value: &'s Value) -> Result<&'s Array, Error> {
        match &value.shape {
            Shape::Array(array) => Ok(array),
            other => Err(self.error(&format!("must have operands that are arrays, found `{other}`"))),
        }
    }

    /// The array of an operand.
    pub fn operand_array(&self, k: usize) -> Result<Array, Error> {
        self.operand(k).and_then(|value| self.array(value)).cloned()
    }

    /// Checks the elements of an operand, or of an argument of a region that takes its elements.
    pub fn check_element(&self, k: usize, shape: &Shape, element: ElementType) -> Result<(), Error> {
        match (shape, self.operation.operands.get(k)) {
            (Shape::Array(array), Some(operand)) if array.element != element => {
                let message = format!("expected elements of `{element}`, found `{}`", array.element);
                Err(Error::at(operand.at, message))
            }
            _ => Ok(()),
        }
    }

    /// The only result, which must be an array.
    pub fn result_array(&self) -> Result<Array, Error> {
        match &self.results[..] {
            [Shape::Array(array)] => Ok(array.clone()),
            _ => Err(self.error("must have one result, which is an array")),
        }
    }

    /// The integers of an operand that is a constant.
    pub fn operand_integers(&self, k: usize) -> Option<Vec<i64>> {
        let constant = self.writer.constant(self.operation.operands.get(k)?.name)?;
        let own = constant.attribute(&["value"]).or(constant.positional().next())?;
        let Ok(Shape::Array(array)) = constant.results.first()? else { return None };
        let inner = own.untyped().strip_prefix("dense<")?.strip_suffix('>')?;
        Dense::of_text((own.text, own.at), array, inner).integers().ok()
    }

    /// The error of sizes at run time in the result, if it has some.
    pub fn needs_static(&self) -> Result<(), Error> {
        let exact = |dim: &Dim| matches!(dim, Dim::Exact(_));
        if self.result_array()?.dims.iter().all(exact) { Ok(()) } else { Err(sizes_at_run_time(self.operation)) }
    }

    /// Checks that the sizes of the result are known, and that they are those of an operand that is a constant.
    pub fn needs_sizes(&self, k: usize) -> Result<(), Error> {
        self.needs_static()?;
        let result = self.result_array()?;
        match (self.operand_integers(k), self.operation.operands.get(k)) {
            (Some(sizes), Some(operand)) if result.sizes().as_ref() != Some(&sizes) => {
                let message =
                    format!("the sizes must be those of `{}`, found {}", Shape::Array(result), braces(&sizes));
                Err(Error::at(operand.at, message))
            }
            _ => Ok(()),
        }
    }

    /// The name of a result.
    fn result_name(&self, k: usize) -> String {
        let mut rest = k;
        for (name, count) in &self.operation.groups {
            if rest < *count {
                let name = named(name, self.operation.name);
                return if *count == 1 { name } else { format!("{name}.{rest}") };
            }
            rest -= count;
        }
        self.short_name().to_string()
    }

    /// The name of an instruction that is no result.
    fn further_name(&self, role: &str) -> String {
        let name = self.operation.groups.first().map_or(self.short_name(), |(name, _)| name);
        format!("{}.{role}", named(name, self.operation.name))
    }

    /// The attribute `sharding` of the results.
    fn sharding(&mut self, shape: &Shape) -> Vec<Written> {
        let operation = self.operation;
        self.writer.sharding_of(&operation.attributes, shape)
    }

    /// Writes an instruction that is no result.
    pub fn step(
        &mut self,
        role: &str,
        shape: &Shape,
        opcode: &str,
        operands: &[Value],
        attributes: &[Written],
    ) -> Value {
        let name = self.further_name(role);
        let (at, location) = (self.operation.at, self.operation.location);
        self.writer.line(&name, shape, (opcode, Inside::Values(operands)), attributes, at, location)
    }

    /// Writes the instruction of the only result, from these operands.
    pub fn result(&mut self, opcode: &str, operands: &[Value], attributes: &[Written]) -> Result<Vec<Value>, Error> {
        let [shape] = &self.results[..] else {
            return Err(self.error(&format!("must have one result, found {}", self.results.len())));
        };
        let shape = shape.clone();
        let mut attributes = attributes.to_vec();
        attributes.extend(self.sharding(&shape));
        let (at, location, name) = (self.operation.at, self.operation.location, self.result_name(0));
        Ok(vec![self.writer.line(&name, &shape, (opcode, Inside::Values(operands)), &attributes, at, location)])
    }

    /// Writes the instruction of the only result, from the operands.
    pub fn one(&mut self, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
        let operands = self.operands.clone();
        self.result(opcode, &operands, attributes)
    }

    /// Writes the instruction of the only result; none where the operand is the result already.
    pub fn one_unless_same(&mut self, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
        let is_noted = self.operation.attributes.iter().any(|own| own.name.ends_with(".sharding"));
        match (&self.operands[..], &self.results[..]) {
            ([operand], [result]) if operand.shape == *result && !is_noted => Ok(vec![operand.clone()]),
            _ => self.one(opcode, attributes),
        }
    }

    /// Writes an instruction whose result is a tuple unless there is one result.
    pub fn many(&mut self, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
        if self.results.len() == 1 { self.one(opcode, attributes) } else { self.tuple_of(opcode, attributes) }
    }

    /// Writes an instruction whose result is a tuple, and its elements.
    pub fn tuple_of(&mut self, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
        let shape = Shape::Tuple(self.results.clone());
        let mut attributes = attributes.to_vec();
        attributes.extend(self.sharding(&shape));
        let operands = self.operands.clone();
        let tuple = self.step(&opcode.replace('-', "_"), &shape, opcode, &operands, &attributes);
        Ok(self.elements(&tuple))
    }

    /// The elements of a tuple as the results.
    pub fn elements(&mut self, tuple: &Value) -> Vec<Value> {
        let (at, location) = (self.operation.at, self.operation.location);
        let shapes = self.results.clone();
        let element = |(k, shape): (usize, &Shape)| {
            let name = self.result_name(k);
            self.writer.element(tuple, k, (&name, shape), at, location)
        };
        shapes.iter().enumerate().map(element).collect()
    }

    /// The elements of a value of several shapes; the value itself where it has one.
    pub fn elements_of(&mut self, role: &str, value: &Value, shapes: &[Shape]) -> Vec<Value> {
        if shapes.len() == 1 {
            return vec![value.clone()];
        }
        let (at, location, name) = (self.operation.at, self.operation.location, self.further_name(role));
        let element = |(k, shape)| self.writer.element(value, k, (&format!("{name}.{k}"), shape), at, location);
        shapes.iter().enumerate().map(element).collect()
    }

    /// One value of these: itself, or a tuple.
    pub fn together(&mut self, role: &str, values: &[Value]) -> Value {
        if let [one] = values {
            return one.clone();
        }
        let (name, at) = (self.further_name(role), self.operation.at);
        self.writer.tuple(&name, values, at)
    }

    /// Exchanges the operands of a commutative operation where the first has one value for all elements. XLA does so, and
    /// prints the operands in this order.
    pub fn put_splat_last(&mut self) {
        let commutes = ["add", "and", "maximum", "minimum", "multiply", "or", "xor"].contains(&self.short_name());
        if let ([x, y], true) = (&self.operands[..], commutes)
            && self.writer.splat(x).is_some()
            && self.writer.splat(y).is_none()
        {
            self.operands.swap(0, 1);
        }
    }

    /// Checks that each attribute has been asked for: a near miss is an error, another one a warning.
    pub fn check_attributes(&mut self) -> Result<(), Error> {
        for own in &self.operation.attributes {
            if self.asked.contains(own.name) {
                continue;
            }
            if is_note(own.name) {
                check_note(own)?;
                continue;
            }
            if let Some(near) = nearest(own.name, self.asked.iter().copied()) {
                return Err(self.unknown_attribute(own, near));
            }
            let (name, of) = (excerpt(own.name), excerpt(self.operation.name));
            let message = format!("unknown attribute `{name}` of `{of}`, which is skipped");
            self.writer.warnings.push(Error::at(own.at, message).unknown());
        }
        Ok(())
    }

    /// Writes the constant that is the result.
    pub fn constant(&mut self, text: &str, at: usize) -> Result<Vec<Value>, Error> {
        let (shape, name) = (self.results[0].clone(), self.result_name(0));
        Ok(vec![self.writer.line(&name, &shape, ("constant", Inside::Text(text)), &[], at, self.operation.location)])
    }

    /// Writes a scalar constant of the element type of an array.
    pub fn scalar(&mut self, array: &Array, text: &str, at: usize) -> Value {
        let (shape, name) = (array_like(array, Vec::new()), self.further_name("scalar"));
        self.writer.line(&name, &shape, ("constant", Inside::Text(text)), &[], at, None)
    }
}

/// `{1,2}`.
pub(super) fn braces(numbers: &[i64]) -> String {
    format!("{{{}}}", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// `2x3`.
pub(super) fn by(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("x")
}

/// An array without a layout of its own.
pub(super) fn array_like(array: &Array, dims: Vec<Dim>) -> Shape {
    let layout = crate::tiled::layout::Layout::row_major(dims.len());
    Shape::Array(Array { element: array.element, dims, layout })
}

/// `operand_precision={high,highest}`, if one is not the default.
pub(super) fn precision(site: &mut OperationSite) -> Result<Option<Written>, Error> {
    let Some(own) = site.attribute(&["precision_config", "precision"]) else { return Ok(None) };
    let words: Vec<String> = own.list()?.iter().map(|word| word.word().to_lowercase()).collect();
    if !words.iter().all(|word| ["default", "high", "highest"].contains(&&**word)) {
        return Err(own.expected("`DEFAULT`, `HIGH` or `HIGHEST` for each operand"));
    }
    let is_default = words.iter().all(|word| word == "default");
    Ok((!is_default).then(|| ("operand_precision", format!("{{{}}}", words.join(",")), own.at)))
}

/// The integers of a field, empty without it.
pub(super) fn field_integers(fields: &[MlirAttribute], name: &str) -> Result<Vec<i64>, Error> {
    field(fields, name).map_or(Ok(Vec::new()), |own| own.integers())
}
