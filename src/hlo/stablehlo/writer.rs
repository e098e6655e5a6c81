//! Writing HLO: computations of instructions, each with its place in the text of StableHLO.

use super::attributes::MlirAttribute;
use super::locations::Locations;
use super::sharding::Meshes;
use super::syntax::{Argument, MlirModule, Operand, Operation, Region};
use super::types::is_same;
use crate::hlo;
use crate::hlo::raw::CALLS;
use crate::operations::shape::Shape;
use crate::text::{Error, excerpt};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// A value of a computation.
#[derive(Clone)]
pub(super) struct Value {
    pub name: String,
    pub shape: Shape,
    /// The number of its instruction in the computation.
    pub line: usize,
}

/// The operands of an instruction, or the number of a parameter or the literal of a constant in their place.
#[derive(Clone, Copy)]
pub(super) enum Inside<'v> {
    Values(&'v [Value]),
    Text(&'v str),
}

/// An attribute of HLO: its name, its text, and the place of its origin.
pub(super) type Written = (&'static str, String, usize);

/// A text with the place that each part comes from.
#[derive(Default)]
pub(super) struct Placed {
    pub text: String,
    /// Offsets in `text`, ascending, each with the offset of its origin.
    pub places: Vec<(usize, usize)>,
}

impl Placed {
    pub fn push(&mut self, text: &str, at: usize) {
        self.places.push((self.text.len(), at));
        self.text.push_str(text);
    }

    fn append(&mut self, other: &Placed) {
        let begin = self.text.len();
        self.places.extend(other.places.iter().map(|(at, from)| (at + begin, *from)));
        self.text.push_str(&other.text);
    }

    /// The origin of an offset.
    pub fn origin(&self, at: usize) -> usize {
        let next = self.places.partition_point(|(begin, _)| *begin <= at);
        next.checked_sub(1).map_or(0, |k| self.places[k].1)
    }
}

/// A computation in the making.
#[derive(Default)]
struct Scope<'a> {
    name: String,
    at: usize,
    lines: Vec<Placed>,
    /// The length of `  name = shape` in each line.
    heads: Vec<usize>,
    /// The lines of the operands of each line.
    inputs: Vec<Vec<usize>>,
    /// The lines that are written whether they are used or not: the root, parameters and effects.
    kept: Vec<usize>,
    /// The computations that the lines name.
    calls: Vec<(usize, String)>,
    /// The value that all elements of a line have.
    splats: HashMap<usize, String>,
    names: HashMap<String, usize>,
    /// The values by name and number of the result; `None` after an error.
    values: HashMap<(&'a str, usize), Option<Value>>,
    /// The constants, which a region may use from outside.
    constants: HashMap<&'a str, &'a Operation<'a>>,
}

impl Scope<'_> {
    /// Whether regions repeat this value: it is a short constant.
    fn repeats(&self, name: &str) -> bool {
        let is_short = |own: &&Operation| own.attributes.iter().all(|own| own.text.len() <= LONGEST);
        self.constants.get(name).filter(|own| is_short(own)).is_some()
    }
}

/// A computation as written.
struct Done {
    name: String,
    text: Placed,
    calls: Vec<String>,
    /// Its instructions that nothing uses, as a computation of their own; empty without any.
    unused: Placed,
    /// The computations that these call.
    unused_calls: Vec<String>,
}

/// Writes an operation with its operands and the shapes of its results.
type Convert<'a> = fn(&mut Writer<'a>, &'a Operation<'a>, Vec<Value>, Vec<Shape>) -> Result<Vec<Value>, Error>;

/// The limit on calls inside each other.
const MOST_CALLS: usize = crate::limits::STABLEHLO_CALLS;

/// The longest text of a constant that a region repeats; it takes a longer one as an argument.
const LONGEST: usize = 256;

/// The module in the making.
pub(super) struct Writer<'a> {
    pub module: &'a MlirModule<'a>,
    convert: Convert<'a>,
    pub meshes: Meshes<'a>,
    locations: Locations<'a>,
    functions: HashMap<&'a str, &'a Operation<'a>>,
    /// The names of the computations, each with the number of the next like it.
    names: HashMap<String, usize>,
    /// The functions that have computations, with the names of these.
    written: HashMap<&'a str, String>,
    open: BTreeSet<&'a str>,
    scopes: Vec<Scope<'a>>,
    done: Vec<Done>,
    /// The computations that have effects.
    effects: HashSet<String>,
    /// The shapes that the region written last returns.
    returned: Vec<Shape>,
    /// The results that the function whose region is next says.
    declared: Option<&'a [Argument<'a>]>,
    pub errors: Vec<Error>,
    pub warnings: Vec<Error>,
}

/// The arguments and results of a region's computation.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// Each argument is a parameter.
    Each,
    /// One parameter, a tuple where there is not one argument.
    Together,
    /// As `Together`; the results are one value, too, and end with the captured values.
    Carried,
}

/// A value from outside that a region uses, with its name and number there.
pub(super) type Captured<'a> = ((&'a str, usize), Value);

impl<'a> Writer<'a> {
    pub fn new(module: &'a MlirModule<'a>, convert: Convert<'a>) -> Writer<'a> {
        let named = |operation: &'a Operation<'a>| Some((operation.symbol("sym_name")?.0, operation));
        let functions = module.operations.iter().filter(|own| matches!(own.name, "func.func" | "func"));
        let (mut seen, mut errors) = (HashSet::new(), Vec::new());
        for (name, at) in functions.clone().filter_map(|own| own.symbol("sym_name")) {
            if !seen.insert(name) {
                let message = format!("function `{}` must be defined once, found a second", excerpt(name));
                errors.push(Error::at(at, message));
            }
        }
        Writer {
            module,
            convert,
            meshes: Meshes::of(module),
            locations: Locations::of(module),
            functions: functions.filter_map(named).collect(),
            names: HashMap::new(),
            written: HashMap::new(),
            open: BTreeSet::new(),
            scopes: Vec::new(),
            done: Vec::new(),
            effects: HashSet::new(),
            returned: Vec::new(),
            declared: None,
            errors,
            warnings: Vec::new(),
        }
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&'a Operation<'a>> {
        self.functions.get(name).copied()
    }

    /// The names of the functions.
    pub fn function_names(&self) -> impl Iterator<Item = &'a str> {
        self.functions.keys().copied()
    }

    /// The header and all computations, the entry last; and a module of the instructions that nothing uses, to be
    /// checked, if there are any.
    pub fn finish(self, header: &Placed, entry: &str) -> (Placed, Option<Placed>) {
        let needed = self.needed(HashSet::from([entry]));
        let mut all = Placed::default();
        all.append(header);
        for computation in self.done.iter().filter(|own| needed.contains(&*own.name)) {
            if computation.name == entry {
                all.push("ENTRY ", computation.text.origin(0));
            }
            all.append(&computation.text);
        }
        let unused: Vec<&Done> = self.done.iter().filter(|own| !own.unused.text.is_empty()).collect();
        let called = unused.iter().flat_map(|own| &own.unused_calls).map(|name| &**name).collect();
        let called = self.needed(called);
        let mut module = Placed::default();
        module.push("HloModule unused\n\n", 0);
        self.done.iter().filter(|own| called.contains(&*own.name)).for_each(|own| module.append(&own.text));
        unused.iter().for_each(|own| module.append(&own.unused));
        module.push("ENTRY unused.entry {\n  ROOT nothing = () tuple()\n}\n", 0);
        (all, (!unused.is_empty()).then_some(module))
    }

    /// The computations that some call, and these.
    fn needed<'n>(&'n self, mut needed: HashSet<&'n str>) -> HashSet<&'n str> {
        // A computation is written after those that it calls, but for the entry's.
        let entry = self.done.iter().rev().filter(|own| needed.contains(&*own.name)).collect::<Vec<_>>();
        for computation in entry.into_iter().chain(self.done.iter().rev()) {
            if needed.contains(&*computation.name) {
                needed.extend(computation.calls.iter().map(|name| &**name));
            }
        }
        needed
    }

    /// A name of a computation that no other one has.
    pub fn computation_name(&mut self, wanted: &str) -> String {
        unique(&mut self.names, wanted)
    }

    /// Writes the computation of a function once, and returns its name and the shapes of its results.
    pub fn call(&mut self, name: &'a str, at: usize) -> Result<(String, Vec<Shape>), Error> {
        let Some(function) = self.function(name) else {
            let hint = crate::text::did_you_mean(name, self.function_names());
            return Err(Error::at(at, format!("unknown function `{}`{hint}", excerpt(name))).unknown());
        };
        let [body, results] = &function.regions[..] else {
            return Err(Error::at(at, format!("function `{}` must have a body, found none", excerpt(name))));
        };
        if body.operations.is_empty() {
            let message = format!("function `{}` must have a body, found a declaration", excerpt(name));
            return Err(Error::at(at, message));
        }
        if self.open.len() >= MOST_CALLS {
            let message = format!("calls must be at most {MOST_CALLS} inside each other, found more");
            return Err(Error::at(at, message).too_large());
        }
        let shapes: Vec<Shape> = results.arguments.iter().map(|own| own.kind.clone()).collect::<Result<_, _>>()?;
        if let Some(written) = self.written.get(name) {
            return Ok((written.clone(), shapes));
        }
        if !self.open.insert(name) {
            let message =
                format!("function `{}` must not call itself, found a call, perhaps through others", excerpt(name));
            return Err(Error::at(at, message));
        }
        let own = self.computation_name(name);
        // A function sees no values of its caller.
        let outside = std::mem::take(&mut self.scopes);
        self.declared = Some(&results.arguments);
        self.region(body, &own, function.at, (Form::Each, &[]));
        self.scopes = outside;
        self.open.remove(name);
        self.written.insert(name, own.clone());
        Ok((own, shapes))
    }

    /// Writes the computation of a region.
    pub fn region(&mut self, region: &'a Region<'a>, name: &str, at: usize, (form, captured): (Form, &[Captured<'a>])) {
        let (constants, declared) = (self.outer_constants(region), self.declared.take());
        self.scopes.push(Scope { name: name.to_string(), at, ..Scope::default() });
        self.parameters(region, (form, captured), at);
        for constant in constants {
            self.operation(constant);
        }
        let returned = region.operations.last().filter(|last| last.name.ends_with("return"));
        let last = region.operations.len() - usize::from(returned.is_some());
        self.check_outer(region.arguments.iter().map(|own| own.name), at);
        for operation in &region.operations[..last] {
            self.check_outer(operation.groups.iter().map(|(name, _)| *name), operation.at);
            self.operation(operation);
        }
        match returned {
            Some(returned) => self.results(returned, form, captured, declared),
            None => {
                let found = region.operations.last().map_or("nothing", |last| last.name);
                let message = format!("a region must end with a `return`, found `{}`", excerpt(found));
                self.errors.push(Error::at(at, message));
            }
        }
        self.close();
    }

    /// An error for each name that a value around the region has.
    fn check_outer(&mut self, names: impl Iterator<Item = &'a str>, at: usize) {
        let Some((_, outer)) = self.scopes.split_last() else { return };
        let is_known = |name: &&str| outer.iter().any(|scope| scope.values.contains_key(&(*name, 0)));
        let again = names
            .filter(is_known)
            .map(|name| Error::at(at, format!("`%{}` must be defined once, found a second", excerpt(name))));
        self.errors.extend(again);
    }

    /// Writes the computation of one operation on scalars, as `applies stablehlo.add` has it.
    pub fn applied(&mut self, name: &str, at: usize, opcode: &str, scalar: &Shape) {
        self.scopes.push(Scope { name: name.to_string(), at, ..Scope::default() });
        let operands: Vec<Value> = (0..2)
            .map(|k| self.line(&format!("arg{k}"), scalar, ("parameter", Inside::Text(&k.to_string())), &[], at, None))
            .collect();
        let value = self.line("value", scalar, (opcode, Inside::Values(&operands)), &[], at, None);
        self.root(&value);
        self.close();
    }

    /// The values from outside that regions use and that are no constants, in the order of their first use.
    pub fn captured(&self, regions: &[&'a Region<'a>]) -> Vec<Captured<'a>> {
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        let known = |place: &(&'a str, usize)| -> Option<Captured<'a>> {
            let value = scope.values.get(place)?.as_ref().filter(|_| !scope.repeats(place.0))?;
            Some((*place, value.clone()))
        };
        free(regions).iter().filter_map(known).collect()
    }

    /// The constants from outside that a region uses.
    fn outer_constants(&self, region: &'a Region<'a>) -> Vec<&'a Operation<'a>> {
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        let own = free(&[region]);
        let repeated = own.iter().filter(|(name, _)| scope.repeats(name));
        repeated.filter_map(|(name, _)| scope.constants.get(name).copied()).collect()
    }

    /// Writes the parameters of a computation.
    fn parameters(&mut self, region: &'a Region<'a>, (form, captured): (Form, &[Captured<'a>]), at: usize) {
        let own = region.arguments.iter().map(|own| (own.name, 0));
        let places: Vec<(&'a str, usize)> = own.chain(captured.iter().map(|(place, _)| *place)).collect();
        let own = region.arguments.iter().map(|own| own.kind.clone());
        let further = captured.iter().map(|(_, value)| Ok(value.shape.clone()));
        let shapes: Vec<Shape> = match own.chain(further).collect() {
            Ok(shapes) => shapes,
            Err(error) => {
                self.errors.push(error);
                return self.bind_all(places.into_iter(), &[]);
            }
        };
        let together = form != Form::Each && shapes.len() != 1;
        let tuple = together.then(|| {
            self.line("arguments", &Shape::Tuple(shapes.clone()), ("parameter", Inside::Text("0")), &[], at, None)
        });
        let mut values = Vec::new();
        for (k, shape) in shapes.iter().enumerate() {
            let name = named(places[k].0, "arg");
            values.push(if let Some(tuple) = &tuple {
                self.element(tuple, k, (&name, shape), at, None)
            } else {
                let argument = region.arguments.get(k);
                let attributes = argument.map_or(Vec::new(), |own| self.sharding_of(&own.attributes, shape));
                let location = argument.and_then(|own| own.location);
                self.line(&name, shape, ("parameter", Inside::Text(&k.to_string())), &attributes, at, location)
            });
        }
        self.bind_all(places.into_iter(), &values);
    }

    /// Binds each place to a value; to an error where there are fewer values.
    fn bind_all(&mut self, places: impl Iterator<Item = (&'a str, usize)>, values: &[Value]) {
        let Some(scope) = self.scopes.last_mut() else { return };
        for (k, place) in places.enumerate() {
            scope.values.insert(place, values.get(k).cloned());
        }
    }

    /// The attribute `sharding` of a value with attributes of MLIR.
    pub fn sharding_of(&mut self, attributes: &[MlirAttribute<'a>], shape: &Shape) -> Vec<Written> {
        match self.meshes.sharding(attributes, shape) {
            Ok(sharding) => sharding.into_iter().map(|(text, at)| ("sharding", text, at)).collect(),
            Err(error) => {
                self.errors.push(error);
                Vec::new()
            }
        }
    }

    /// Writes the root from the values that a region returns.
    fn results(
        &mut self,
        returned: &'a Operation<'a>,
        form: Form,
        captured: &[Captured<'a>],
        declared: Option<&'a [Argument<'a>]>,
    ) {
        let passed: Vec<Operand<'a>> = match form {
            Form::Carried => {
                captured.iter().map(|((name, number), _)| Operand { name, number: *number, at: returned.at }).collect()
            }
            _ => Vec::new(),
        };
        let mut values = Vec::new();
        for operand in returned.operands.iter().chain(&passed) {
            match self.value(operand) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return,
                Err(error) => return self.errors.push(error),
            }
        }
        if let Err(error) = self.check_kinds(returned, &values) {
            return self.errors.push(error);
        }
        if let Some(declared) = declared {
            match self.as_declared(returned, &values, declared) {
                Ok(declared) => values = declared,
                Err(error) => return self.errors.push(error),
            }
        }
        self.returned = values.iter().map(|value| value.shape.clone()).collect();
        let root = match &values[..] {
            [one] => one.clone(),
            _ => self.tuple("results", &values, returned.at),
        };
        self.root(&root);
    }

    /// The values that a function returns, with the shardings that its head says.
    fn as_declared(
        &mut self,
        returned: &'a Operation<'a>,
        values: &[Value],
        declared: &'a [Argument<'a>],
    ) -> Result<Vec<Value>, Error> {
        if values.len() != declared.len() {
            let (wanted, found) = (declared.len(), values.len());
            return Err(Error::at(returned.at, format!("the function must return {wanted} values, found {found}")));
        }
        let mut all = Vec::new();
        for ((value, own), operand) in values.iter().zip(declared).zip(&returned.operands) {
            let wanted = own.kind.clone()?;
            if !is_same(&wanted, &value.shape) {
                let message = format!("the function must return `{wanted}`, found `{}`", value.shape);
                return Err(Error::at(operand.at, message));
            }
            let Some((text, at)) = self.meshes.sharding(&own.attributes, &wanted)? else {
                all.push(value.clone());
                continue;
            };
            let target = ("custom_call_target", "\"Sharding\"".to_string(), at);
            let inside = Inside::Values(std::slice::from_ref(value));
            let written = [target, ("sharding", text, at)];
            all.push(self.line("result", &value.shape, ("custom-call", inside), &written, returned.at, None));
        }
        Ok(all)
    }

    /// Checks that operands have the types that the signature says.
    fn check_kinds(&self, operation: &Operation<'a>, values: &[Value]) -> Result<(), Error> {
        // The short form of `reduce` has its operands in another order.
        let Some(kinds) =
            operation.kinds.as_ref().filter(|_| operation.is_generic || !operation.name.ends_with(".reduce"))
        else {
            return Ok(());
        };
        let own = &values[..values.len().min(operation.operands.len())];
        if kinds.len() != own.len() {
            let (wanted, found) = (kinds.len(), own.len());
            let name = excerpt(operation.name);
            return Err(Error::at(
                operation.at,
                format!("`{name}` must have {wanted} operands, as its types, found {found}"),
            ));
        }
        for ((kind, value), operand) in kinds.iter().zip(own).zip(&operation.operands) {
            let kind = kind.clone()?;
            if !is_same(&kind, &value.shape) {
                let message = format!("`%{}` must be `{kind}`, found `{}`", excerpt(operand.name), value.shape);
                return Err(Error::at(operand.at, message));
            }
        }
        Ok(())
    }

    /// The shapes that the region written last returns.
    pub fn result_shapes(&self) -> Vec<Shape> {
        self.returned.clone()
    }

    /// Marks the root.
    fn root(&mut self, value: &Value) {
        let Some(scope) = self.scopes.last_mut() else { return };
        scope.kept.push(value.line);
        let Some(line) = scope.lines.get_mut(value.line) else { return };
        let (text, at) = (std::mem::take(&mut line.text), line.origin(0));
        line.places.iter_mut().for_each(|(begin, _)| *begin += "ROOT ".len());
        line.places.insert(0, (0, at));
        line.text = format!("ROOT {text}");
    }

    /// Ends the innermost computation.
    fn close(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let order = depth_first(&scope.inputs, &scope.kept);
        let mut text = Placed::default();
        text.push(&format!("{} {{\n", scope.name), scope.at);
        for line in &order {
            text.append(&scope.lines[*line]);
        }
        text.push("}\n\n", scope.at);
        let mut is_written = vec![false; scope.lines.len()];
        order.iter().for_each(|line| is_written[*line] = true);
        let calls_of = |written: bool| {
            let own = scope.calls.iter().filter(|(line, _)| is_written[*line] == written);
            own.map(|(_, name)| name.clone()).collect()
        };
        let (calls, unused_calls) = (calls_of(true), calls_of(false));
        let unused = self.unused(&scope, &is_written);
        self.done.push(Done { name: scope.name, text, calls, unused, unused_calls });
    }

    /// The lines that are not written as a computation, whose parameters are the operands that are written.
    fn unused(&mut self, scope: &Scope, is_written: &[bool]) -> Placed {
        let is_constant = |line: usize| scope.lines[line].text[scope.heads[line]..].starts_with(" constant(");
        let unused: Vec<usize> =
            (0..is_written.len()).filter(|line| !is_written[*line] && !is_constant(*line)).collect();
        let mut text = Placed::default();
        if unused.is_empty() {
            return text;
        }
        let name = self.computation_name("unused");
        text.push(&format!("{name} {{\n"), scope.at);
        let operands: BTreeSet<usize> = unused.iter().flat_map(|line| scope.inputs[*line].iter().copied()).collect();
        let taken = operands.into_iter().filter(|line| is_written[*line] || is_constant(*line));
        for (number, line) in taken.enumerate() {
            let (own, head) = (&scope.lines[line], scope.heads[line]);
            let head = own.text.trim_start_matches("ROOT ").get(..head).unwrap_or_default();
            text.push(&format!("{head} parameter({number})\n"), own.origin(0));
        }
        unused.iter().for_each(|line| text.append(&scope.lines[*line]));
        text.push("  ROOT unused.root = () tuple()\n}\n\n", scope.at);
        text
    }

    /// Notes that all elements of a value are this one.
    pub fn set_splat(&mut self, value: &Value, text: &str) {
        let scope = self.scopes.last_mut();
        scope.map(|scope| scope.splats.insert(value.line, text.to_string()));
    }

    /// The value that all elements have, if it is known.
    pub fn splat(&self, value: &Value) -> Option<&str> {
        self.scopes.last()?.splats.get(&value.line).map(|text| &**text)
    }

    /// The constant of this name.
    pub fn constant(&self, name: &str) -> Option<&'a Operation<'a>> {
        self.scopes.last()?.constants.get(name).copied()
    }

    /// A value by its name; `None` if an error left it out.
    pub fn value(&self, operand: &Operand<'a>) -> Result<Option<Value>, Error> {
        let scope = self.scopes.last();
        let find = |number: usize| scope.and_then(|scope| scope.values.get(&(operand.name, number)));
        if let Some(None) = find(0) {
            return Ok(None);
        }
        find(operand.number).cloned().ok_or_else(|| {
            let (name, number) = (excerpt(operand.name), operand.number);
            match find(0) {
                Some(_) => {
                    Error::at(operand.at, format!("`%{name}` must have more than {number} results, found fewer"))
                }
                None => Error::at(operand.at, format!("unknown value `%{name}`: it must be defined before")).unknown(),
            }
        })
    }

    /// Writes an operation, or its errors.
    fn operation(&mut self, operation: &'a Operation<'a>) {
        if self.errors.len() >= hlo::Module::MAX_ERRORS {
            return;
        }
        let values = self.converted(operation).unwrap_or_else(|error| {
            self.errors.extend(error);
            None
        });
        let Some(scope) = self.scopes.last_mut() else { return };
        if operation.name == "arith.constant" || operation.name.ends_with("hlo.constant") {
            scope.constants.extend(operation.groups.iter().map(|(name, _)| (*name, operation)));
        }
        // After an error, the first of each group stands for all.
        let most = if values.is_some() { usize::MAX } else { 1 };
        let places = operation.groups.iter().flat_map(|(name, count)| (0..(*count).min(most)).map(|k| (*name, k)));
        let again = operation.groups.iter().find(|(name, _)| scope.values.contains_key(&(*name, 0)));
        if let Some((name, _)) = again {
            let message = format!("`%{}` must be defined once, found a second", excerpt(name));
            self.errors.push(Error::at(operation.at, message));
        }
        self.bind_all(places, &values.unwrap_or_default());
    }

    /// The results of an operation; no error where an operand has one that is known.
    fn converted(&mut self, operation: &'a Operation<'a>) -> Result<Option<Vec<Value>>, Option<Error>> {
        let mut operands = Vec::new();
        for operand in &operation.operands {
            operands.push(self.value(operand)?.ok_or(None)?);
        }
        let results: Vec<Shape> = operation.results.iter().cloned().collect::<Result<_, _>>()?;
        let count = operation.count();
        if count != results.len() && count > 0 {
            let message = format!("`{}` must have {count} types of results, found {}", operation.name, results.len());
            return Err(Some(Error::at(operation.at, message)));
        }
        self.check_kinds(operation, &operands)?;
        Ok(Some((self.convert)(self, operation, operands, results)?))
    }

    /// Writes `name = shape opcode(operands), attributes`, under a new name like `wanted`.
    pub fn line(
        &mut self,
        wanted: &str,
        shape: &Shape,
        (opcode, inside): (&str, Inside),
        attributes: &[Written],
        at: usize,
        location: Option<&'a str>,
    ) -> Value {
        let metadata = location.map_or(String::new(), |location| self.locations.metadata(location));
        let Some(scope) = self.scopes.last_mut() else {
            return Value { name: String::new(), shape: shape.clone(), line: 0 };
        };
        let name = unique(&mut scope.names, wanted);
        let (text, inputs) = match inside {
            Inside::Values(values) => (names(values), values.iter().map(|value| value.line).collect()),
            Inside::Text(text) => (text.to_string(), Vec::new()),
        };
        let called: Vec<String> =
            attributes.iter().filter(|own| CALLS.contains(&own.0)).flat_map(|own| called(&own.1)).collect();
        if opcode == "parameter" || is_kept(opcode, attributes) || called.iter().any(|name| self.effects.contains(name))
        {
            scope.kept.push(scope.lines.len());
            if opcode != "parameter" {
                self.effects.insert(scope.name.clone());
            }
        }
        scope.calls.extend(called.into_iter().map(|name| (scope.lines.len(), name)));
        let mut line = Placed::default();
        let head = format!("  {name} = {shape}");
        line.push(&format!("{head} {opcode}({text})"), at);
        for (name, text, at) in attributes {
            line.push(&format!(", {name}={text}"), *at);
        }
        line.push(&format!("{metadata}\n"), at);
        scope.lines.push(line);
        scope.heads.push(head.len());
        scope.inputs.push(inputs);
        Value { name, shape: shape.clone(), line: scope.lines.len() - 1 }
    }

    /// Writes a tuple.
    pub fn tuple(&mut self, wanted: &str, values: &[Value], at: usize) -> Value {
        let shape = Shape::Tuple(values.iter().map(|value| value.shape.clone()).collect());
        self.line(wanted, &shape, ("tuple", Inside::Values(values)), &[], at, None)
    }

    /// Writes an element of a tuple.
    pub fn element(
        &mut self,
        tuple: &Value,
        k: usize,
        (wanted, shape): (&str, &Shape),
        at: usize,
        location: Option<&'a str>,
    ) -> Value {
        self.line(
            wanted,
            shape,
            ("get-tuple-element", Inside::Values(std::slice::from_ref(tuple))),
            &[("index", k.to_string(), at)],
            at,
            location,
        )
    }
}

/// The names of computations in the value of an attribute.
fn called(text: &str) -> Vec<String> {
    let names = text.split(['{', '}', ',', ' ']).filter(|name| !name.is_empty());
    names.map(str::to_string).collect()
}

/// Whether an instruction stays without users: it has an effect, or says a sharding.
fn is_kept(opcode: &str, attributes: &[Written]) -> bool {
    let says = |own: &Written| own.0 == "custom_call_has_side_effect" || own.0 == "sharding";
    hlo::module::opcode_has_effect(opcode) || attributes.iter().any(says)
}

/// The order in which XLA prints: each line after its operands, depth first, from the kept lines. Others are left out.
fn depth_first(inputs: &[Vec<usize>], kept: &[usize]) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::with_capacity(inputs.len()), vec![false; inputs.len()]);
    for last in kept.iter().copied() {
        if std::mem::replace(&mut seen[last], true) {
            continue;
        }
        let mut path = vec![(last, 0)];
        while let Some((line, next)) = path.last_mut() {
            match inputs[*line].get(*next) {
                Some(input) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*input], true) {
                        path.push((*input, 0));
                    }
                }
                None => {
                    order.push(*line);
                    path.pop();
                }
            }
        }
    }
    order
}

/// The names of values as operands.
fn names(values: &[Value]) -> String {
    let mut text = String::new();
    for (k, value) in values.iter().enumerate() {
        let _ = write!(text, "{}{}", if k > 0 { ", " } else { "" }, value.name);
    }
    text
}

/// A name of HLO from one of MLIR, which may be a number; `kind` then goes before it.
pub(super) fn named(name: &str, kind: &str) -> String {
    let letters = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let name: String = name.chars().map(letters).collect();
    let begins = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_word = ["ENTRY", "ROOT"].contains(&&*name);
    if begins(&name) && !is_word { name } else { format!("{}.{name}", kind.rsplit('.').next().unwrap_or(kind)) }
}

/// A name that is not in `taken`, which it joins.
fn unique(taken: &mut HashMap<String, usize>, wanted: &str) -> String {
    let wanted = named(wanted, "value");
    let mut name = wanted.clone();
    let mut k = taken.get(&wanted).copied().unwrap_or(0);
    while taken.contains_key(&name) {
        k += 1;
        name = format!("{wanted}.{k}");
    }
    taken.insert(wanted, k);
    taken.entry(name.clone()).or_insert(0);
    name
}

/// The names and numbers of values that regions use and do not bind, in the order of their first use.
fn free<'a>(regions: &[&'a Region<'a>]) -> Vec<(&'a str, usize)> {
    let (mut used, mut bound) = (Vec::new(), HashSet::new());
    let mut rest: Vec<&'a Region<'a>> = regions.iter().rev().copied().collect();
    while let Some(region) = rest.pop() {
        bound.extend(region.arguments.iter().map(|own| own.name));
        for operation in &region.operations {
            used.extend(operation.operands.iter().map(|own| (own.name, own.number)));
            bound.extend(operation.groups.iter().map(|(name, _)| *name));
            rest.extend(&operation.regions);
        }
    }
    let mut seen = HashSet::new();
    used.retain(|place| !bound.contains(place.0) && seen.insert(*place));
    used
}
