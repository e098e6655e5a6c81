//! The site of a check: an instruction, its attributes, and the positions of errors in the text.
//!
//! A rule reads the fields of an [`Operation`] from attributes. For each field, and each entry of a list, the position
//! is kept: if `dimensions={1,7}` of a transpose at byte 40 becomes `permutation`, entry 1 is at byte 54. So
//! [`Operation::check`], which knows no text, says `entry 1 of permutation`, and the error is at the `7`.

use crate::element::ElementType;
use crate::hlo::devices::Devices;
use crate::hlo::infer;
use crate::hlo::raw::{RawAttribute, RawInstruction};
use crate::hlo::read::left_out;
use crate::hlo::shapes::{alike, array, plain};
use crate::hlo::tokens::{number, numbers};
use crate::operations::operation::Operation;
use crate::operations::refusal::{Problem, Refusal, Subject};
use crate::operations::shape::{Array, Shape};
use crate::operations::sizes::Sizes;
use crate::text::{Error, excerpt};
use std::cell::OnceCell;

/// Elements of any kind.
pub(in crate::hlo) const ANY: &str = "psufc";

/// The classes of element types: the letter in [`Site::note`], and the words in messages.
const CLASSES: [(char, &str); 5] =
    [('p', "pred"), ('s', "signed integers"), ('u', "unsigned integers"), ('f', "floats"), ('c', "complex numbers")];

/// The parameters and the result of a computation.
pub(in crate::hlo) struct Signature<'a> {
    pub name: &'a str,
    pub parameters: Vec<&'a Shape>,
    pub result: &'a Shape,
}

/// An instruction to check.
pub(in crate::hlo) struct Site<'a> {
    pub raw: &'a RawInstruction<'a>,
    /// The note in the table of opcodes.
    pub note: &'static str,
    /// For the start of an asynchronous pair: the rule of the operation that it runs.
    pub wrapped: Option<OpcodeRule>,
    /// The shape before the opcode; `None` if omitted, so that the rule infers it.
    pub written: Option<&'a Shape>,
    /// The shape inferred by the rule, if none is written.
    pub inferred: OnceCell<Shape>,
    pub operands: Vec<&'a Shape>,
    /// The named computations.
    pub called: Vec<usize>,
    /// The signatures of all computations; `None` if one could not be read.
    pub signatures: &'a [Option<Signature<'a>>],
    /// The devices that run the module.
    pub devices: Devices,
    /// The positions of the operation's fields in the text.
    pub origins: Vec<Origin>,
}

/// The position in the text of an operation's field, or of an entry of it.
pub(in crate::hlo) struct Origin {
    pub field: &'static str,
    pub entry: Option<usize>,
    /// The source attribute.
    pub attribute: &'static str,
    /// The role of the entry in the attribute, such as `limit`; empty in a plain list.
    pub part: &'static str,
    pub at: usize,
}

/// The element types that an instruction must have.
pub(in crate::hlo) struct Types {
    /// The type of each operand.
    pub operands: Vec<ElementType>,
    /// The type of each array of the result.
    pub results: Vec<ElementType>,
}

pub(in crate::hlo) type Found = Result<Operation, Error>;

/// Checks an instruction against its operation's definition, and returns the operation.
pub(in crate::hlo) type OpcodeRule = fn(&mut Site) -> Found;

impl<'a> Site<'a> {
    /// The shape before the opcode.
    ///
    /// # Errors
    /// The shape is omitted and cannot be inferred.
    pub fn written(&self) -> Result<&'a Shape, Error> {
        self.written.ok_or_else(|| left_out(self.raw.opcode, self.raw.opcode_at))
    }

    /// The shape of the result, written or inferred.
    ///
    /// # Errors
    /// Neither exists.
    pub fn shape(&self) -> Result<&Shape, Error> {
        self.written.or(self.inferred.get()).ok_or_else(|| left_out(self.raw.opcode, self.raw.opcode_at))
    }

    /// The written shape, or else this one.
    pub fn shape_or(&self, expected: &Shape) -> &Shape {
        self.written.unwrap_or_else(|| self.inferred.get_or_init(|| expected.clone()))
    }

    /// An error at the opcode.
    pub fn error(&self, must: impl AsRef<str>) -> Error {
        Error::at(self.raw.opcode_at, format!("`{}` {}", self.raw.opcode, must.as_ref()))
    }

    /// An error at an operand, with its shape.
    pub fn operand_must(&self, operand: usize, must: impl AsRef<str>) -> Error {
        let (opcode, found) = (self.raw.opcode, plain(self.operands[operand]));
        let message = format!("operand {operand} of `{opcode}` must {}, found {found}", must.as_ref());
        Error::at(self.raw.operands[operand].at, message)
    }

    /// An error at the shape, with the shape.
    pub fn result_must(&self, must: impl AsRef<str>) -> Error {
        let (opcode, found) = (self.raw.opcode, self.shape().map_or(String::new(), plain));
        Error::at(self.raw.shape_at, format!("the result of `{opcode}` must {}, found {found}", must.as_ref()))
    }

    /// An error at the value of an attribute, or at the opcode if it is absent.
    pub fn attribute_must(&self, name: &str, must: impl AsRef<str>) -> Error {
        let at = self.attribute(name).map_or(self.raw.opcode_at, |a| a.at);
        Error::at(at, format!("`{name}` of `{}` must {}", self.raw.opcode, must.as_ref()))
    }

    /// Converts a refusal of the operation to an error at its subject.
    pub fn refused(&self, refusal: &Refusal, types: &Types) -> Error {
        let (opcode, problem) = (self.raw.opcode, &refusal.problem);
        let must = |element: Option<&ElementType>, found: Option<&Shape>| match (problem, element, found) {
            (Problem::Sizes { expected, found: sizes }, Some(element), found) => {
                let found = found.map_or_else(|| plain(&array(*element, &sizes.0)), plain);
                format!("must be {}, found {found}", plain(&array(*element, &expected.0)))
            }
            _ => problem.to_string(),
        };
        match refusal.subject {
            Subject::Whole => self.error(problem.to_string()),
            Subject::Operand(k) => {
                let must = must(types.operands.get(k), self.operands.get(k).copied());
                let at = self.raw.operands.get(k).map_or(self.raw.opcode_at, |operand| operand.at);
                Error::at(at, format!("operand {k} of `{opcode}` {must}"))
            }
            Subject::Result(k) => {
                let part = match self.written {
                    Some(Shape::Tuple(parts)) => parts.get(k).map(|part| (format!("part {k} of the result"), part)),
                    _ => None,
                };
                let (what, found) =
                    part.map_or(("the result".to_string(), self.written), |(what, part)| (what, Some(part)));
                Error::at(self.raw.shape_at, format!("{what} of `{opcode}` {}", must(types.results.get(k), found)))
            }
            Subject::Results => Error::at(self.raw.shape_at, format!("the result of `{opcode}` {problem}")),
            Subject::Field { name, entry } => self.refused_field(name, entry, problem),
        }
    }

    /// An error at the attribute's entry of a field, at the attribute, or at the opcode if it is absent.
    fn refused_field(&self, field: &str, entry: Option<usize>, problem: &Problem) -> Error {
        let origin = |entry| self.origins.iter().find(|origin| origin.field == field && origin.entry == entry);
        let opcode = self.raw.opcode;
        match (entry.and_then(|k| origin(Some(k)).map(|origin| (k, origin))), origin(None)) {
            (Some((k, Origin { part: "", attribute, at, .. })), _) => {
                Error::at(*at, format!("entry {k} of `{attribute}` of `{opcode}` {problem}"))
            }
            (Some((k, Origin { part, attribute, at, .. })), _) => {
                Error::at(*at, format!("the {part} of dimension {k} in `{attribute}` {problem}"))
            }
            (None, Some(Origin { attribute, at, .. })) => {
                Error::at(*at, format!("`{attribute}` of `{opcode}` {problem}"))
            }
            (None, None) => self.error(format!("{field} {problem}")),
        }
    }

    /// Checks the operation against operands and result, the sizes first and then the element types.
    pub fn checked(&self, operation: Operation, types: &Types) -> Found {
        self.checked_with(operation, &self.operands, types)
    }

    /// Like [`Site::checked`], for an operation whose single array may be in a tuple; `is_tuple` decides if the shape
    /// is omitted.
    pub fn checked_in_tuple(&mut self, operation: Operation, types: &Types, is_tuple: bool) -> Found {
        let whole = self.written;
        if let (Some(Shape::Tuple(parts)), [_]) = (whole, &types.results[..])
            && let [part] = &parts[..]
        {
            self.written = Some(part);
        }
        let found = self.checked(operation, types);
        self.written = whole;
        if let Some(shape) = self.inferred.take() {
            self.shape_or(&if is_tuple { Shape::Tuple(vec![shape]) } else { shape });
        }
        found
    }

    /// Like [`Site::checked`], with other operands than the instruction's.
    pub fn checked_with(&self, operation: Operation, operands: &[&Shape], types: &Types) -> Found {
        let refused = |refusal| self.refused(&refusal, types);
        if let Some(shape) = self.written {
            operation.check(operands, &[shape]).map_err(refused)?;
        } else if let Some(shape) =
            infer::shape(&operation, self.raw.opcode, operands, &types.results).map_err(refused)?
        {
            self.shape_or(&shape);
        }
        for (k, element) in types.operands.iter().enumerate() {
            self.operand_type(k, *element)?;
        }
        self.result_types(&types.results)?;
        Ok(operation)
    }

    /// Checks that an operand is an array of this element type; floats may have another precision.
    pub fn operand_type(&self, k: usize, element: ElementType) -> Result<(), Error> {
        let found = self.array(k)?;
        if alike(found.element, element) {
            return Ok(());
        }
        Err(self.operand_must(k, format!("be {}", plain(&array(element, &Sizes::of(found).0)))))
    }

    /// Checks that the result is an array of this element type, or a tuple of several arrays.
    fn result_types(&self, types: &[ElementType]) -> Result<(), Error> {
        let parts: Vec<&Shape> = match self.shape()? {
            Shape::Tuple(parts) if types.len() != 1 => parts.iter().collect(),
            shape => vec![shape],
        };
        let arrays: Option<Vec<&Array>> = parts.into_iter().map(as_array).collect();
        let Some(arrays) = arrays.filter(|arrays| arrays.len() == types.len()) else {
            let must = match types.len() {
                1 => "be an array".to_string(),
                n => format!("be a tuple of {n} arrays"),
            };
            return Err(self.result_must(must));
        };
        if arrays.iter().zip(types).all(|(found, element)| alike(found.element, *element)) {
            return Ok(());
        }
        let expected = arrays.iter().zip(types).map(|(found, element)| array(*element, &Sizes::of(found).0)).collect();
        Err(self.result_must(format!("be {}", plain(&crate::hlo::shapes::together(expected)))))
    }

    /// Checks that these operands have the rank of the result: the operation accepts scalars for all elements, but the
    /// instruction does not.
    pub fn not_spread(&self, operands: std::ops::Range<usize>, types: &Types) -> Result<(), Error> {
        let expected = Sizes::of(self.result()?);
        for k in operands {
            let found = Sizes::of(self.array(k)?);
            if !found.fits(&expected) {
                let problem = Problem::Sizes { expected: expected.clone(), found };
                let refusal = Refusal { rule: "elementwise_c2", subject: Subject::Operand(k), problem };
                return Err(self.refused(&refusal, types));
            }
        }
        Ok(())
    }

    /// An operand that must be an array.
    pub fn array(&self, operand: usize) -> Result<&'a Array, Error> {
        match self.operands[operand] {
            Shape::Array(array) | Shape::Buffer(array) => Ok(array),
            Shape::Tuple(_) => Err(self.operand_must(operand, "be an array")),
        }
    }

    /// The element type of an operand, which must be an array.
    pub fn element(&self, operand: usize) -> Result<ElementType, Error> {
        Ok(self.array(operand)?.element)
    }

    /// The sizes of an operand, which must be an array.
    pub fn sizes(&self, operand: usize) -> Result<Sizes, Error> {
        Ok(Sizes::of(self.array(operand)?))
    }

    /// The result, which must be an array.
    pub fn result(&self) -> Result<&Array, Error> {
        as_array(self.shape()?).ok_or_else(|| self.result_must("be an array"))
    }

    /// The free element type of the result: the written one, or else this one.
    pub fn result_element(&self, inferred: ElementType) -> Result<ElementType, Error> {
        if self.written.is_some() { Ok(self.result()?.element) } else { Ok(inferred) }
    }

    /// The result of the computation that an instruction of the same result runs.
    ///
    /// # Errors
    /// The computation could not be read.
    pub fn result_of(&self, callee: usize) -> Result<&'a Shape, Error> {
        let signature = self.signatures.get(callee).and_then(Option::as_ref);
        signature.map(|signature| signature.result).ok_or_else(|| left_out(self.raw.opcode, self.raw.opcode_at))
    }

    /// Checks the class of an operand's elements, and returns their type.
    pub fn class(&self, operand: usize) -> Result<ElementType, Error> {
        let element = self.element(operand)?;
        let class = match element {
            ElementType::Pred => 'p',
            _ if element.is_signed() => 's',
            _ if element.is_unsigned() => 'u',
            _ if element.is_float() => 'f',
            _ if element.is_complex() => 'c',
            _ => ' ',
        };
        if self.note.contains(class) {
            return Ok(element);
        }
        let classes: Vec<&str> =
            CLASSES.iter().filter(|(c, _)| self.note.contains(*c)).map(|(_, name)| *name).collect();
        let classes = match &classes[..] {
            [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
            all => all.concat(),
        };
        Err(self.operand_must(operand, format!("have elements of {classes}")))
    }

    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&RawAttribute<'a>> {
        self.raw.attributes.iter().find(|a| a.name == name)
    }

    /// The attribute with this name, which is required; `form` is an example.
    pub fn need(&self, name: &str, form: &str) -> Result<&RawAttribute<'a>, Error> {
        self.attribute(name).ok_or_else(|| self.error(format!("must have the attribute `{name}={form}`, found none")))
    }

    /// Records the position of a field, or of an entry of it.
    pub fn origin(
        &mut self,
        (field, entry): (&'static str, Option<usize>),
        attribute: &'static str,
        part: &'static str,
        at: usize,
    ) {
        self.origins.push(Origin { field, entry, attribute, part, at });
    }

    /// Reads a field that is a list of numbers; empty if the attribute is absent.
    pub fn list(&mut self, field: &'static str, name: &'static str) -> Result<Vec<i64>, Error> {
        let Some(&attribute) = self.attribute(name) else {
            self.origin((field, None), name, "", self.raw.opcode_at);
            return Ok(Vec::new());
        };
        let found = attribute.read(numbers)?;
        self.origin((field, None), name, "", attribute.at);
        for (k, (_, at)) in found.iter().enumerate() {
            self.origin((field, Some(k)), name, "", at + attribute.at);
        }
        Ok(found.into_iter().map(|(n, _)| n).collect())
    }

    /// Reads a field that is a list of dimensions; empty if the attribute is absent.
    pub fn dims(&mut self, field: &'static str, name: &'static str) -> Result<Vec<usize>, Error> {
        let found = self.list(field, name)?;
        let dimension = |(k, n): (usize, &i64)| {
            let must = || Problem::Other(format!("must be a dimension of at least 0, found {n}"));
            usize::try_from(*n).map_err(|_| self.refused_field(field, Some(k), &must()))
        };
        found.iter().enumerate().map(dimension).collect()
    }

    /// Reads a list of dimensions in ascending order.
    pub fn ascending(&mut self, field: &'static str, name: &'static str) -> Result<Vec<usize>, Error> {
        let dims = self.dims(field, name)?;
        if dims.is_sorted() {
            return Ok(dims);
        }
        Err(self.attribute_must(name, format!("be in ascending order, found {}", self.excerpt(name))))
    }

    /// Reads a field that is one dimension.
    pub fn dim(&mut self, field: &'static str, name: &'static str) -> Result<usize, Error> {
        self.need(name, "{dimension}")?;
        match self.dims(field, name)?[..] {
            [dim] => {
                // The field has the position of its only entry.
                self.origins.retain(|origin| origin.field != field || origin.entry.is_some());
                self.origins.iter_mut().filter(|origin| origin.field == field).for_each(|origin| origin.entry = None);
                Ok(dim)
            }
            _ => Err(self.attribute_must(name, format!("be one dimension, found {}", self.excerpt(name)))),
        }
    }

    /// The beginning of an attribute's value.
    pub fn excerpt(&self, name: &str) -> String {
        format!("`{}`", self.attribute(name).map_or(String::new(), |attribute| excerpt(attribute.text)))
    }

    /// Reads a field that is one number; `default` if the attribute is absent.
    pub fn number(&mut self, field: &'static str, name: &'static str, default: i64) -> Result<i64, Error> {
        let Some(&attribute) = self.attribute(name) else { return Ok(default) };
        let n = attribute.read(|cursor| number(cursor, "a number"))?.0;
        self.origin((field, None), name, "", attribute.at);
        Ok(n)
    }

    /// Reads a required field that is a number of at least 0.
    pub fn index(&mut self, field: &'static str, name: &'static str, form: &str) -> Result<usize, Error> {
        self.need(name, form)?;
        let n = self.number(field, name, 0)?;
        usize::try_from(n).map_err(|_| self.attribute_must(name, format!("be at least 0, found {n}")))
    }
}

fn as_array(shape: &Shape) -> Option<&Array> {
    match shape {
        Shape::Array(array) => Some(array),
        _ => None,
    }
}
