//! The operations of StableHLO and CHLO as instructions of HLO: one row each.

use super::attributes::{Attribute, field};
use super::constants::{Dense, Value as Elements};
use super::syntax::Operation;
use super::writer::{Inside, Value, Writer, Written, named};
use super::{collectives, control, functions, products, windows};
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::{Error, excerpt, nearest};
use std::collections::BTreeSet;

/// An operation to be written.
pub(super) struct Site<'w, 'a> {
    pub writer: &'w mut Writer<'a>,
    pub operation: &'a Operation<'a>,
    pub operands: Vec<Value>,
    pub results: Vec<Shape>,
    /// The names of attributes that a row has asked for.
    asked: BTreeSet<&'static str>,
}

/// A row writes an operation, and returns its results.
type Row = fn(&mut Site) -> Result<Vec<Value>, Error>;

/// Operations whose opcode is their name with dashes, by their operands alone.
const PLAIN: &[&str] = &[
    "abs",
    "and",
    "atan2",
    "bitcast_convert",
    "cbrt",
    "ceil",
    "clamp",
    "complex",
    "cosine",
    "count_leading_zeros",
    "divide",
    "exponential",
    "exponential_minus_one",
    "floor",
    "imag",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "maximum",
    "minimum",
    "negate",
    "not",
    "or",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "remainder",
    "replica_id",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
];

/// The other operations of StableHLO, sorted.
static ROWS: &[(&str, Row)] = &[
    ("add", add),
    ("after_all", |site| site.one("after-all", &[])),
    ("all_gather", collectives::all_gather),
    ("all_reduce", collectives::all_reduce),
    ("all_to_all", collectives::all_to_all),
    ("batch_norm_grad", |site| batch_norm(site, "batch-norm-grad")),
    ("batch_norm_inference", |site| batch_norm(site, "batch-norm-inference")),
    ("batch_norm_training", |site| batch_norm(site, "batch-norm-training")),
    ("broadcast", broadcast),
    ("broadcast_in_dim", broadcast_in_dim),
    ("case", control::conditional),
    ("cholesky", |site| {
        let lower = site.flag(&["lower"])?;
        site.one("cholesky", &lower.map_or(Vec::new(), |own| vec![("lower", own.0.to_string(), own.1)]))
    }),
    ("collective_broadcast", collectives::collective_broadcast),
    ("collective_permute", collectives::collective_permute),
    ("compare", compare),
    ("composite", control::composite),
    ("concatenate", |site| {
        let dims = site.list("dimensions", &["dimension", "dim"])?;
        site.one("concatenate", &[dims])
    }),
    ("constant", constant),
    ("convert", |site| site.one_unless_same("convert", &[])),
    ("convolution", windows::convolution),
    ("create_token", |site| site.one("after-all", &[])),
    ("custom_call", control::custom_call),
    ("dot", products::dot),
    ("dot_general", products::dot_general),
    ("dynamic_broadcast_in_dim", broadcast_in_dim),
    ("dynamic_iota", iota),
    ("dynamic_reshape", |site| {
        site.needs_static()?;
        site.operands.truncate(1);
        reshape(site)
    }),
    ("dynamic_slice", |site| {
        let sizes = site.list("dynamic_slice_sizes", &["slice_sizes", "sizes"])?;
        site.one("dynamic-slice", &[sizes])
    }),
    ("dynamic_update_slice", |site| site.one("dynamic-update-slice", &[])),
    ("fft", |site| {
        let kind = site.word(&["fft_type", "type"])?;
        let length = site.list("fft_length", &["fft_length", "length"])?;
        site.one("fft", &[("fft_type", kind.0.to_string(), kind.1), length])
    }),
    ("gather", products::gather),
    ("get_dimension_size", |site| {
        let dim = site.list("dimensions", &["dimension", "dim"])?;
        site.one("get-dimension-size", &[dim])
    }),
    ("get_tuple_element", get_tuple_element),
    ("if", control::conditional),
    ("infeed", collectives::infeed),
    ("iota", iota),
    ("map", |site| {
        let (dims, body) = (site.list("dimensions", &["dimensions"])?, control::body(site, 0, "body")?);
        site.one("map", &[dims, body])
    }),
    ("multiply", multiply),
    ("optimization_barrier", control::barrier),
    ("outfeed", collectives::outfeed),
    ("pad", pad),
    ("recv", collectives::recv),
    ("reduce", control::reduce),
    ("reduce_precision", reduce_precision),
    ("reduce_scatter", collectives::reduce_scatter),
    ("reduce_window", windows::reduce_window),
    ("reshape", reshape),
    ("reverse", |site| {
        let dims = site.list("dimensions", &["dimensions", "dims"])?;
        site.one("reverse", &[dims])
    }),
    ("rng", |site| {
        let kind = site.word(&["rng_distribution", "distribution"])?;
        site.operands.truncate(2);
        site.one("rng", &[("distribution", format!("rng_{}", kind.0.to_lowercase()), kind.1)])
    }),
    ("rng_bit_generator", |site| {
        let (kind, at) = site.word(&["rng_algorithm", "algorithm"])?;
        let kind = if kind == "THREE_FRY" { "three_fry".to_string() } else { kind.to_lowercase() };
        site.tuple_of("rng-bit-generator", &[("algorithm", format!("rng_{kind}"), at)])
    }),
    ("scatter", products::scatter),
    ("select", |site| match &site.operands[..] {
        [_, yes, no] if yes.name == no.name => Ok(vec![yes.clone()]),
        _ => site.one("select", &[]),
    }),
    ("select_and_scatter", windows::select_and_scatter),
    ("send", collectives::send),
    ("set_dimension_size", |site| {
        let dim = site.list("dimensions", &["dimension", "dim"])?;
        site.one("set-dimension-size", &[dim])
    }),
    ("slice", slice),
    ("sort", |site| {
        let dims = site.list("dimensions", &["dimension"])?;
        let mut attributes = vec![dims];
        if let Some((true, at)) = site.flag(&["is_stable"])? {
            attributes.push(("is_stable", "true".to_string(), at));
        }
        attributes.push(control::body(site, 0, "comparator")?);
        site.many("sort", &attributes)
    }),
    ("transpose", |site| {
        let own = site.need(&["permutation", "dims"])?;
        let dims = own.integers()?;
        if dims.is_sorted() {
            return site.one_unless_same("transpose", &[("dimensions", braces(&dims), own.at)]);
        }
        site.one("transpose", &[("dimensions", braces(&dims), own.at)])
    }),
    ("triangular_solve", triangular_solve),
    ("tuple", |site| site.one("tuple", &[])),
    ("while", control::while_loop),
];

/// Operations of other dialects that a module of StableHLO has, sorted.
static OTHERS: &[(&str, Row)] = &[
    ("arith.constant", constant),
    ("call", control::call),
    ("func.call", control::call),
    ("sdy.manual_computation", control::manual_computation),
    ("sdy.propagation_barrier", control::same),
    ("sdy.reshard", control::resharded),
    ("sdy.sharding_constraint", control::resharded),
    ("sdy.sharding_group", |_| Ok(Vec::new())),
];

/// Operations whose sizes are operands.
const DYNAMIC: &[&str] = &["dynamic_conv", "dynamic_gather", "dynamic_pad", "real_dynamic_slice"];

/// Writes an operation, and returns its results.
pub(super) fn convert<'a>(
    writer: &mut Writer<'a>,
    operation: &'a Operation<'a>,
    operands: Vec<Value>,
    results: Vec<Shape>,
) -> Result<Vec<Value>, Error> {
    let mut site = Site { writer, operation, operands, results, asked: BTreeSet::new() };
    site.put_splat_last();
    let row = row(operation)?;
    let values = match row {
        Some(row) => row(&mut site)?,
        None => {
            let opcode = site.short_name().replace('_', "-");
            site.one(&opcode, &[])?
        }
    };
    site.check_attributes()?;
    Ok(values)
}

/// The row of an operation; `None` for a plain one.
fn row(operation: &Operation) -> Result<Option<Row>, Error> {
    let find = |rows: &[(&str, Row)], name| rows.binary_search_by_key(&name, |row| row.0).ok().map(|k| rows[k].1);
    let name = operation.name;
    if let Some(short) = name.strip_prefix("stablehlo.").or_else(|| name.strip_prefix("mhlo.")) {
        if let Some(row) = find(ROWS, short) {
            return Ok(Some(row));
        }
        if PLAIN.binary_search(&short).is_ok() {
            return Ok(None);
        }
        if DYNAMIC.contains(&short) {
            return Err(sizes_at_run_time(operation));
        }
    } else if let Some(row) = name.strip_prefix("chlo.").and_then(|short| find(functions::ROWS, short)) {
        return Ok(Some(row));
    } else if let Some(row) = find(OTHERS, name) {
        return Ok(Some(row));
    }
    let known = ROWS.iter().map(|row| format!("stablehlo.{}", row.0));
    let known = known.chain(PLAIN.iter().map(|name| format!("stablehlo.{name}")));
    let known: Vec<String> = known.chain(functions::ROWS.iter().map(|row| format!("chlo.{}", row.0))).collect();
    let hint = nearest(name, known.iter().map(|name| &**name))
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Error::at(operation.at, format!("unknown operation `{}`{hint}", excerpt(name))).unknown())
}

/// The error of an operation whose sizes are values.
fn sizes_at_run_time(operation: &Operation) -> Error {
    let message = format!(
        "the sizes of `{}` must be known, found values: `stablehlo-opt --stablehlo-canonicalize-dynamism` finds them \
         where they are constants",
        operation.name
    );
    Error::at(operation.at, message).unsupported()
}

/// Attributes without effect on the instruction.
fn is_note(name: &str) -> bool {
    name.is_empty()
        || name == "@"
        || name.contains('.')
        || matches!(name, "result_accuracy" | "operandSegmentSizes" | "error_message")
}

impl<'w, 'a> Site<'w, 'a> {
    /// The name without its dialect.
    pub fn short_name(&self) -> &'a str {
        self.operation.name.rsplit('.').next().unwrap_or(self.operation.name)
    }

    /// The attribute of one of these names.
    pub fn attribute(&mut self, names: &[&'static str]) -> Option<Attribute<'a>> {
        self.asked.extend(names);
        self.operation.attribute(names).copied()
    }

    /// The required attribute of one of these names.
    pub fn need(&mut self, names: &[&'static str]) -> Result<Attribute<'a>, Error> {
        self.attribute(names).ok_or_else(|| {
            let attributes = &self.operation.attributes;
            let near = |own: &&Attribute| nearest(own.name, names.iter().copied()).is_some();
            match attributes.iter().find(near) {
                Some(own) => self.unknown_attribute(own, names[0]),
                None => self.error(&format!("must have the attribute `{}`, found none", names[0])),
            }
        })
    }

    /// The error of a name that is not `near`.
    fn unknown_attribute(&self, own: &Attribute, near: &str) -> Error {
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

    /// The only result, which must be an array.
    pub fn result_array(&self) -> Result<Array, Error> {
        match &self.results[..] {
            [Shape::Array(array)] => Ok(array.clone()),
            _ => Err(self.error("must have one result, which is an array")),
        }
    }

    /// The error of sizes at run time in the result, if it has some.
    pub fn needs_static(&self) -> Result<(), Error> {
        let exact = |dim: &Dim| matches!(dim, Dim::Exact(_));
        if self.result_array()?.dims.iter().all(exact) { Ok(()) } else { Err(sizes_at_run_time(self.operation)) }
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
    fn one_unless_same(&mut self, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
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
    fn put_splat_last(&mut self) {
        let commutes = ["add", "and", "maximum", "minimum", "multiply", "or", "xor"].contains(&self.short_name());
        if let ([x, y], true) = (&self.operands[..], commutes)
            && self.writer.splat(x).is_some()
            && self.writer.splat(y).is_none()
        {
            self.operands.swap(0, 1);
        }
    }

    /// Checks that each attribute has been asked for: a near miss is an error, another one a warning.
    fn check_attributes(&mut self) -> Result<(), Error> {
        for own in &self.operation.attributes {
            if is_note(own.name) || self.asked.contains(own.name) {
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

fn batch_norm(site: &mut Site, opcode: &str) -> Result<Vec<Value>, Error> {
    let (epsilon, feature) = (site.need(&["epsilon"])?, site.need(&["feature_index"])?);
    let attributes = [
        ("epsilon", epsilon.untyped().to_string(), epsilon.at),
        ("feature_index", feature.integer()?.to_string(), feature.at),
    ];
    site.many(opcode, &attributes)
}

fn broadcast(site: &mut Site) -> Result<Vec<Value>, Error> {
    let own = site.need(&["broadcast_sizes", "sizes"])?;
    let rank = site.operand_array(0)?.dims.len() as i64;
    let added = own.integers()?.len() as i64;
    let dims: Vec<i64> = (added..added + rank).collect();
    site.one("broadcast", &[("dimensions", braces(&dims), own.at)])
}

/// A broadcast. HLO repeats no dimension of size 1: such dimensions go first, by a `reshape`.
fn broadcast_in_dim(site: &mut Site) -> Result<Vec<Value>, Error> {
    let own = site.need(&["broadcast_dimensions", "dims"])?;
    site.attribute(&["known_expanding_dimensions", "known_nonexpanding_dimensions"]);
    if site.short_name().starts_with("dynamic") {
        site.needs_static()?;
    }
    let (dims, from, to) = (own.integers()?, site.operand_array(0)?, site.result_array()?);
    let operand = site.operand(0)?.clone();
    if dims.len() != from.dims.len() {
        let (count, rank) = (dims.len(), from.dims.len());
        return Err(Error::at(own.at, format!("there must be {rank} dimensions, as the operand has, found {count}")));
    }
    let target = |dim: &i64| usize::try_from(*dim).ok().and_then(|dim| to.dims.get(dim)).copied();
    let repeats = |k: usize| from.dims[k] == Dim::Exact(1) && target(&dims[k]).is_some_and(|dim| dim != Dim::Exact(1));
    let kept: Vec<usize> = (0..dims.len()).filter(|k| !repeats(*k)).collect();
    let elements = |array: &Array| array.sizes().map(|sizes| sizes.iter().product::<i64>());
    let exact = |array: &Array| array.dims.iter().all(|dim| matches!(dim, Dim::Exact(_)));
    if from == to && dims.is_sorted() {
        return Ok(vec![operand]);
    }
    if exact(&from) && exact(&to) && elements(&from) == elements(&to) && dims.is_sorted() && kept.len() == dims.len() {
        site.operands.truncate(1);
        return reshape(site);
    }
    if kept.len() == dims.len() {
        let splat = site.writer.splat(&operand).map(str::to_string);
        let values = site.result("broadcast", &[operand], &[("dimensions", braces(&dims), own.at)])?;
        if let Some(text) = splat {
            site.writer.set_splat(&values[0], &text);
        }
        return Ok(values);
    }
    let smaller = array_like(&from, kept.iter().map(|k| from.dims[*k]).collect());
    let reshaped = site.step("reshape", &smaller, "reshape", &[operand], &[]);
    let dims: Vec<i64> = kept.iter().map(|k| dims[*k]).collect();
    site.result("broadcast", &[reshaped], &[("dimensions", braces(&dims), own.at)])
}

fn compare(site: &mut Site) -> Result<Vec<Value>, Error> {
    let words: Vec<Attribute> = site.operation.positional().copied().collect();
    let direction = site.attribute(&["comparison_direction"]).or(words.first().copied());
    let direction = direction.ok_or_else(|| site.error("must have a direction such as `LT`, found none"))?;
    let kind = site.attribute(&["compare_type"]).or(words.get(1).copied());
    let mut attributes = vec![("direction", direction.word().to_string(), direction.at)];
    attributes.extend(
        kind.filter(|kind| kind.word() == "TOTALORDER").map(|kind| ("type", "TOTALORDER".to_string(), kind.at)),
    );
    site.one("compare", &attributes)
}

/// A constant; one value for all elements is a `broadcast`.
pub(super) fn constant(site: &mut Site) -> Result<Vec<Value>, Error> {
    let positional = site.operation.positional().next().copied();
    let own = site.attribute(&["value"]).or(positional);
    let own = own.ok_or_else(|| site.error("must have a value such as `dense<0.0>`, found none"))?;
    let array = site.result_array()?;
    let value = elements(site, &own, &array)?;
    let (text, is_splat) = match value {
        Elements::Elements(text) => (text, false),
        Elements::Splat(text) => (text, true),
    };
    if !is_splat || array.dims.is_empty() {
        let values = site.constant(&text, own.at)?;
        if is_splat {
            site.writer.set_splat(&values[0], &text);
        }
        return Ok(values);
    }
    let scalar = site.scalar(&array, &text, own.at);
    let values = site.result("broadcast", &[scalar], &[("dimensions", "{}".to_string(), own.at)])?;
    site.writer.set_splat(&values[0], &text);
    Ok(values)
}

/// A sum; one with the integer 0 is the other operand. A sum of -0.0 and 0.0 is not.
fn add(site: &mut Site) -> Result<Vec<Value>, Error> {
    let integers = site.result_array().is_ok_and(|own| own.element.is_signed() || own.element.is_unsigned());
    match &site.operands[..] {
        [x, y] if integers && site.writer.splat(y) == Some("0") && x.shape == y.shape => Ok(vec![x.clone()]),
        _ => site.one("add", &[]),
    }
}

/// A product; one with 1 is the other operand, as in each gradient of JAX.
fn multiply(site: &mut Site) -> Result<Vec<Value>, Error> {
    let is_one = |value: &Value| site.writer.splat(value).and_then(|text| text.parse::<f64>().ok()) == Some(1.0);
    match &site.operands[..] {
        [x, y] if is_one(x) && x.shape == y.shape => Ok(vec![y.clone()]),
        [x, y] if is_one(y) && x.shape == y.shape => Ok(vec![x.clone()]),
        _ => site.one("multiply", &[]),
    }
}

/// A reshape; that of a constant is a constant.
fn reshape(site: &mut Site) -> Result<Vec<Value>, Error> {
    let constant = site.operation.operands.first().and_then(|operand| site.writer.constant(operand.name));
    if site.writer.splat(site.operand(0)?).is_some() || constant.is_none() || site.operand(0)?.shape == site.results[0]
    {
        return site.one_unless_same("reshape", &[]);
    }
    let (array, own) =
        (site.result_array()?, constant.and_then(|own| own.attribute(&["value"]).or(own.positional().next())));
    let own = own.copied().ok_or_else(|| site.error("must have an operand with a value"))?;
    match elements(site, &own, &array)? {
        Elements::Elements(text) => site.constant(&text, own.at),
        Elements::Splat(_) => site.one("reshape", &[]),
    }
}

/// The elements of `dense<..>`, which have the type of an array.
fn elements(site: &Site, own: &Attribute, array: &Array) -> Result<Elements, Error> {
    if let Some(name) = own.text.strip_prefix("dense_resource<") {
        return resource(site, own, array, name);
    }
    let inner = own.untyped().strip_prefix("dense<").and_then(|text| text.strip_suffix('>'));
    let inner = inner.ok_or_else(|| own.expected("elements such as `dense<0.0>`"))?;
    Dense::of_text(own, array, inner).value()
}

/// The elements of `dense_resource<name>`: their bytes follow four bytes of alignment.
fn resource(site: &Site, own: &Attribute, array: &Array, name: &str) -> Result<Elements, Error> {
    let name = name.split('>').next().unwrap_or(name);
    let Some(digits) = site.writer.module.resources.get(name) else {
        let message = format!("unknown resource `{}`: the text must have it in `dialect_resources`", excerpt(name));
        return Err(Error::at(own.at, message).unknown());
    };
    let digits = format!("\"0x{}\"", digits.get(8..).unwrap_or_default());
    Dense::of_text(&Attribute { name: "", text: own.text, at: own.at }, array, &digits).value()
}

impl Site<'_, '_> {
    /// Writes the constant that is the result.
    fn constant(&mut self, text: &str, at: usize) -> Result<Vec<Value>, Error> {
        let (shape, name) = (self.results[0].clone(), self.result_name(0));
        Ok(vec![self.writer.line(&name, &shape, ("constant", Inside::Text(text)), &[], at, self.operation.location)])
    }

    /// Writes a scalar constant of the element type of an array.
    pub fn scalar(&mut self, array: &Array, text: &str, at: usize) -> Value {
        let (shape, name) = (array_like(array, Vec::new()), self.further_name("scalar"));
        self.writer.line(&name, &shape, ("constant", Inside::Text(text)), &[], at, None)
    }
}

/// Numbers along a dimension: one row of them, which the other dimensions repeat.
fn iota(site: &mut Site) -> Result<Vec<Value>, Error> {
    let own = site.need(&["iota_dimension", "dim"])?;
    site.needs_static()?;
    let (array, dim) = (site.result_array()?, own.integer()?);
    let size = usize::try_from(dim).ok().and_then(|dim| array.dims.get(dim)).copied();
    let size = size.ok_or_else(|| own.expected("a dimension of the result"))?;
    let zero = ("iota_dimension", "0".to_string(), own.at);
    if array.dims.len() == 1 {
        return site.result("iota", &[], &[zero]);
    }
    let row = site.step("row", &array_like(&array, vec![size]), "iota", &[], &[zero]);
    site.result("broadcast", &[row], &[("dimensions", braces(&[dim]), own.at)])
}

fn get_tuple_element(site: &mut Site) -> Result<Vec<Value>, Error> {
    let positional = site.operation.positional().next().copied();
    let own = site.attribute(&["index"]).or(positional);
    let own = own.ok_or_else(|| site.error("must have an index such as `[0]`, found none"))?;
    let &[index] = &own.integers()?[..] else { return Err(own.expected("one index")) };
    site.one("get-tuple-element", &[("index", index.to_string(), own.at)])
}

fn pad(site: &mut Site) -> Result<Vec<Value>, Error> {
    let own = site.need(&["edge_padding_low", "low"])?;
    let low = own.integers()?;
    let high = site.integers(&["edge_padding_high", "high"])?;
    let interior = site.integers(&["interior_padding", "interior"])?;
    if low.len() != high.len() || low.len() != interior.len() {
        return Err(site.error("must have as many low as high and interior paddings"));
    }
    let dim = |k: usize| match interior[k] {
        0 => format!("{}_{}", low[k], high[k]),
        between => format!("{}_{}_{between}", low[k], high[k]),
    };
    if low.iter().chain(&high).chain(&interior).all(|padding| *padding == 0)
        && site.operand(0)?.shape == site.results[0]
    {
        return Ok(vec![site.operand(0)?.clone()]);
    }
    site.one("pad", &[("padding", by((0..low.len()).map(dim)), own.at)])
}

fn reduce_precision(site: &mut Site) -> Result<Vec<Value>, Error> {
    let (exponent, mantissa, at) = match site.attribute(&["format"]) {
        Some(own) => {
            let parts = own.text.strip_prefix('e').and_then(|text| text.split_once('m'));
            let (exponent, mantissa) = parts.ok_or_else(|| own.expected("a format such as `e5m10`"))?;
            (exponent.to_string(), mantissa.to_string(), own.at)
        }
        None => {
            let (exponent, mantissa) = (site.need(&["exponent_bits"])?, site.need(&["mantissa_bits"])?);
            (exponent.integer()?.to_string(), mantissa.integer()?.to_string(), exponent.at)
        }
    };
    site.one("reduce-precision", &[("exponent_bits", exponent, at), ("mantissa_bits", mantissa, at)])
}

fn slice(site: &mut Site) -> Result<Vec<Value>, Error> {
    let (parts, at) = match site.operation.positional().next().copied() {
        Some(own) => (own.list()?.iter().map(|part| part.text.to_string()).collect::<Vec<_>>(), own.at),
        None => {
            let own = site.need(&["start_indices"])?;
            let (start, limit) = (own.integers()?, site.integers(&["limit_indices"])?);
            let strides = site.integers(&["strides"])?;
            if start.len() != limit.len() || start.len() != strides.len() {
                return Err(site.error("must have as many starts as limits and strides"));
            }
            ((0..start.len()).map(|k| format!("{}:{}:{}", start[k], limit[k], strides[k])).collect(), own.at)
        }
    };
    let parts: Vec<String> = parts.iter().map(|part| format!("[{part}]")).collect();
    site.one_unless_same("slice", &[("slice", format!("{{{}}}", parts.join(", ")), at)])
}

fn triangular_solve(site: &mut Site) -> Result<Vec<Value>, Error> {
    let mut attributes = Vec::new();
    for name in ["left_side", "lower", "unit_diagonal"] {
        if let Some((flag, at)) = site.flag(&[name])? {
            attributes.push((name, flag.to_string(), at));
        }
    }
    let transpose = site.word(&["transpose_a"])?;
    attributes.push(("transpose_a", transpose.0.to_string(), transpose.1));
    site.one("triangular-solve", &attributes)
}

/// `operand_precision={high,highest}`, if one is not the default.
pub(super) fn precision(site: &mut Site) -> Result<Option<Written>, Error> {
    let Some(own) = site.attribute(&["precision_config", "precision"]) else { return Ok(None) };
    let words: Vec<String> = own.list()?.iter().map(|word| word.word().to_lowercase()).collect();
    let is_default = words.iter().all(|word| word == "default");
    Ok((!is_default).then(|| ("operand_precision", format!("{{{}}}", words.join(",")), own.at)))
}

/// The integers of a field, empty without it.
pub(super) fn field_integers(fields: &[Attribute], name: &str) -> Result<Vec<i64>, Error> {
    field(fields, name).map_or(Ok(Vec::new()), |own| own.integers())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(PLAIN.is_sorted());
        for rows in [ROWS, OTHERS, functions::ROWS] {
            assert!(rows.is_sorted_by_key(|row| row.0));
        }
    }
}
