//! The resolver from the raw parts of a text to a [`Module`].
//!
//! 1. Elements of tuples that a text names without an instruction become instructions.
//! 2. Names become numbers: of instructions in their computation, of computations in the module.
//! 3. Computations are sorted after their callees, and instructions after their operands. Both orders are found
//!    without recursion; a text already in such an order keeps it.
//! 4. Shapes that a text leaves out are inferred; then each computation has a signature.
//! 5. The rule of its opcode checks each instruction, with the shapes of its operands and the signatures of the
//!    computations that it names.
//! 6. The layouts of the entry and the aliases of the header are checked against the entry's signature.
//!
//! Every step continues after errors. An instruction whose text, operands or computations are wrong is not checked, so
//! one mistake gives one error. Names are looked up with the standard library's hash function, against which a text
//! cannot construct collisions.

use super::aliases;
use super::async_update;
use super::attributes;
use super::concat_bitcast;
use super::devices::Devices;
use super::literal::Values;
use super::module::{Computation, Instruction, Module, Source};
use super::opcodes::{Opcode, find, near};
use super::raw::{CALLS, Head, Inputs, RawAttribute, RawComputation, RawInstruction, RawModule, Tables};
use super::read::left_out;
use super::rules::{Signature, Site};
use super::shapes::{fits, plain};
use super::sharding;
use super::tokens::{name, numbers, unquote};
use super::tuple_elements;
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::{Cursor, Error, did_you_mean, excerpt};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A computation with its names resolved, in the order of the text.
#[derive(Default)]
struct Resolved<'a> {
    /// The inputs of each instruction.
    inputs: Vec<Inputs>,
    /// For each instruction that names computations: their numbers in the text.
    calls: BTreeMap<usize, Vec<usize>>,
    /// The instructions that bind operands of an asynchronous start, as starts.
    async_updates: BTreeMap<usize, RawInstruction<'a>>,
    parameters: Vec<usize>,
    root: usize,
    /// Whether all names in each instruction are known.
    is_resolved: Vec<bool>,
    /// The instructions, each after its operands.
    order: Vec<usize>,
}

/// Resolves a module; `None` after an error in `errors`.
pub(super) fn module(mut raw: RawModule, end: usize, errors: &mut Vec<Error>) -> Option<Module> {
    raw.computations.iter_mut().for_each(tuple_elements::expand);
    let names = computation_names(&raw, errors);
    let entry = entry(&raw, end, errors);
    let resolved: Vec<_> = raw.computations.iter().map(|c| resolve(c, &names, errors)).collect();
    let order = computation_order(&raw, &resolved, errors);
    let devices = Devices::of(&raw.attributes).unwrap_or_else(|error| {
        errors.push(error);
        Devices::default()
    });
    infer_shapes(&mut raw, &resolved, &order, devices, errors);
    let new_position = inverse(&order);
    let mut signatures: Vec<Option<Signature>> = raw.computations.iter().map(|_| None).collect();
    for (i, computation) in raw.computations.iter().enumerate() {
        signatures[new_position[i]] = signature(computation, &resolved[i], errors);
    }
    let (mut operations, mut warnings) = (Vec::new(), attributes::unknown(&raw.attributes));
    for (computation, resolved) in raw.computations.iter().zip(&resolved) {
        operations.push(check(computation, resolved, &new_position, (&signatures, devices), &raw.tables, errors));
        warnings.extend(computation.instructions.iter().flat_map(attributes::unknown_of));
    }
    let entry = entry?;
    if let (Some(layout), Some(signature)) =
        (raw.attributes.iter().find(|a| a.name == "entry_computation_layout"), &signatures[new_position[entry]])
    {
        errors.extend(layout.read(|cursor| check_entry(cursor, signature)).err());
    }
    if let (Some(alias), Some(signature)) =
        (raw.attributes.iter().find(|a| a.name == "input_output_alias"), &signatures[new_position[entry]])
    {
        let checked = aliases::check(alias.text, signature.result, &signature.parameters);
        errors.extend(checked.err().map(|error| error.shifted(alias.at)));
    }
    if !errors.is_empty() || raw.broken {
        return None;
    }
    drop(signatures);
    let mut made: Vec<Option<Computation>> = raw.computations.iter().map(|_| None).collect();
    for (i, ((computation, resolved), operations)) in
        raw.computations.into_iter().zip(resolved).zip(operations).enumerate()
    {
        made[new_position[i]] = Some(build(computation, resolved, operations, &new_position)?);
    }
    warnings.truncate(Module::MAX_ERRORS);
    Some(Module {
        name: raw.name.to_string(),
        attributes: raw.attributes.iter().map(RawAttribute::owned).collect(),
        warnings,
        computations: made.into_iter().collect::<Option<_>>()?,
        entry: new_position[entry],
    })
}

/// Infers omitted shapes: for a parameter from the head of its computation, otherwise by the rule of the operation,
/// from earlier operands and computations. Written shapes get the run-time sizes that a `set-dimension-size` of a
/// static result introduces.
fn infer_shapes(
    raw: &mut RawModule,
    resolved: &[Resolved],
    order: &[usize],
    devices: Devices,
    errors: &mut Vec<Error>,
) {
    for &c in order {
        let mut varying = HashSet::new();
        for &i in &resolved[c].order {
            let (computation, names) = (&raw.computations[c], &resolved[c]);
            let instruction = &computation.instructions[i];
            if instruction.broken || !names.is_resolved[i] {
                continue;
            }
            let found = match (&instruction.shape, &computation.head, instruction.number) {
                (None, Some(head), Some(number)) => {
                    let parameter = usize::try_from(number).ok().and_then(|number| head.parameters.get(number));
                    parameter
                        .map(|shape| Ok(shape.clone()))
                        .or_else(|| Some(Err(left_out(instruction.opcode, instruction.opcode_at))))
                }
                (None, ..) => inferred(raw, resolved, (c, i), devices),
                (Some(written), ..) => {
                    let varies = match instruction.opcode {
                        "set-dimension-size" => sets_size(computation, names, i),
                        _ => names.inputs[i].operands.iter().any(|used| varying.contains(used)),
                    };
                    let inferred = if varies { inferred(raw, resolved, (c, i), devices) } else { None };
                    let shape = inferred.and_then(Result::ok).and_then(|shape| at_run_time(written, &shape));
                    if shape.is_some() {
                        varying.insert(i);
                    }
                    shape.map(Ok)
                }
            };
            match found {
                Some(Ok(shape)) => raw.computations[c].instructions[i].shape = Some(shape),
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
    }
}

/// Whether a `set-dimension-size` sets another size than the constant one of its result.
fn sets_size(raw: &RawComputation, resolved: &Resolved, i: usize) -> bool {
    let instruction = &raw.instructions[i];
    let constant = || match raw.instructions[*resolved.inputs[i].operands.get(1)?].literal.as_ref()?.values {
        Values::Integers(ref values) => values.first().copied(),
        _ => None,
    };
    let sizes = |shape: &Option<Shape>| if let Some(Shape::Array(array)) = shape { array.sizes() } else { None };
    let whole = || {
        let attribute = instruction.attributes.iter().find(|attribute| attribute.name == "dimensions")?;
        let dim = attribute.read(numbers).ok()?.first()?.0;
        sizes(&instruction.shape)?.get(usize::try_from(dim).ok()?).copied()
    };
    constant().is_none_or(|n| whole().map(i128::from) != Some(n))
}

/// A written shape with the run-time sizes of the inferred one; `None` if it has them already.
fn at_run_time(written: &Shape, inferred: &Shape) -> Option<Shape> {
    match (written, inferred) {
        (Shape::Tuple(parts), Shape::Tuple(inferred)) if parts.len() == inferred.len() => {
            let each: Vec<_> = parts.iter().zip(inferred).map(|(part, inferred)| at_run_time(part, inferred)).collect();
            let changes = each.iter().any(Option::is_some);
            let part = |(new, part): (Option<Shape>, &Shape)| new.unwrap_or_else(|| part.clone());
            changes.then(|| Shape::Tuple(each.into_iter().zip(parts).map(part).collect()))
        }
        (Shape::Array(array), Shape::Array(inferred)) if array.dims.len() == inferred.dims.len() => {
            let dim = |(written, inferred): (&Dim, &Dim)| match (written, inferred) {
                (Dim::Exact(n), Dim::Bounded(bound)) if n == bound => *inferred,
                _ => *written,
            };
            let dims: Vec<Dim> = array.dims.iter().zip(&inferred.dims).map(dim).collect();
            (dims != array.dims).then(|| Shape::Array(Array { dims, ..array.clone() }))
        }
        _ => None,
    }
}

/// The shape by the rule of an instruction, for any written shape; `None` if an input has an error reported elsewhere.
fn inferred(
    raw: &RawModule,
    resolved: &[Resolved],
    (c, i): (usize, usize),
    devices: Devices,
) -> Option<Result<Shape, Error>> {
    let (computation, names) = (&raw.computations[c], &resolved[c]);
    let instruction = &computation.instructions[i];
    let opcode = find(instruction.opcode)?;
    counted(instruction, &opcode).and_then(|()| attributes::check(instruction)).ok()?;
    let operands = names.inputs[i].operands.iter().map(|&k| computation.instructions[k].shape.as_ref());
    let signatures: Vec<Option<Signature>> =
        names.calls.get(&i).into_iter().flatten().map(|&c| shapes(&raw.computations[c], &resolved[c])).collect();
    if signatures.iter().any(Option::is_none) {
        return None;
    }
    let mut site = Site {
        raw: instruction,
        note: opcode.note,
        wrapped: opcode.wrapped,
        written: None,
        inferred: OnceCell::new(),
        operands: operands.collect::<Option<_>>()?,
        called: (0..signatures.len()).collect(),
        signatures: &signatures,
        devices,
        origins: Vec::new(),
    };
    Some((opcode.rule)(&mut site).and_then(|_| site.shape().cloned()))
}

/// The numbers of the computations by name.
fn computation_names<'a>(raw: &'a RawModule, errors: &mut Vec<Error>) -> HashMap<&'a str, usize> {
    let mut names = HashMap::new();
    for (i, computation) in raw.computations.iter().enumerate() {
        if names.insert(&*computation.name, i).is_some() {
            let message = format!("computation `{}` must be defined once, found a second", excerpt(&computation.name));
            errors.push(Error::at(computation.at, message));
        }
    }
    names
}

/// The number of the entry; `end` is the end of the text.
fn entry(raw: &RawModule, end: usize, errors: &mut Vec<Error>) -> Option<usize> {
    let mut entries = (0..raw.computations.len()).filter(|i| raw.computations[*i].entry);
    let first = entries.next();
    for i in entries {
        errors.push(Error::at(raw.computations[i].at, "a module must have one `ENTRY`, found a second"));
    }
    if first.is_none() && !raw.broken {
        errors.push(Error::at(end, "expected a computation, found the end of the text").syntax());
    }
    first
}

/// The computations, each after its callees; in the order of the text if there is a cycle.
fn computation_order(raw: &RawModule, resolved: &[Resolved], errors: &mut Vec<Error>) -> Vec<usize> {
    let called = |i: usize| resolved[i].calls.values().flatten().copied();
    sorted(raw.computations.len(), called).unwrap_or_else(|at| {
        let computation = &raw.computations[at];
        let name = excerpt(&computation.name);
        let message = format!("computation `{name}` must not call itself, found a call, perhaps through others");
        errors.push(Error::at(computation.at, message));
        (0..raw.computations.len()).collect()
    })
}

/// A topological order of `0..n`: depth first, with the stack on the heap. A sequence in such an order is kept. The
/// error is a number on a cycle.
fn sorted<I: Iterator<Item = usize>>(n: usize, needs: impl Fn(usize) -> I) -> Result<Vec<usize>, usize> {
    let mut order = Vec::with_capacity(n);
    // Unseen, begun, done.
    let mut state = vec![0u8; n];
    let mut path: Vec<(usize, I)> = Vec::new();
    for first in 0..n {
        if state[first] == 0 {
            state[first] = 1;
            path.push((first, needs(first)));
        }
        while let Some((node, rest)) = path.last_mut() {
            match rest.next() {
                None => {
                    state[*node] = 2;
                    order.push(*node);
                    path.pop();
                }
                Some(needed) => match state[needed] {
                    0 => {
                        state[needed] = 1;
                        path.push((needed, needs(needed)));
                    }
                    1 => return Err(needed),
                    _ => {}
                },
            }
        }
    }
    Ok(order)
}

/// The inverse of a permutation.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut new_position = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        new_position[from] = to;
    }
    new_position
}

/// Resolves the names in a computation.
fn resolve<'a>(raw: &RawComputation<'a>, computations: &HashMap<&str, usize>, errors: &mut Vec<Error>) -> Resolved<'a> {
    let names = instruction_names(raw, errors);
    let mut resolved = Resolved { root: root(raw, errors), parameters: parameters(raw, errors), ..Resolved::default() };
    for (i, instruction) in raw.instructions.iter().enumerate() {
        let mut inputs = Inputs::default();
        let mut is_resolved = operands(raw, instruction, &names, &mut inputs.operands, errors) && !instruction.broken;
        let find = |key: &str| instruction.attributes.iter().find(|a| a.name == key);
        if let Some(before) = find("control-predecessors") {
            is_resolved &= list(before, &names, "instruction", &mut inputs.control, errors);
        }
        let mut called = Vec::new();
        for attribute in CALLS.iter().filter_map(|key| find(key)) {
            if let Some((_, inside)) = instruction.inside.iter().find(|(name, _)| *name == attribute.name) {
                called.extend(inside.iter().filter_map(|name| computations.get(&**name)));
                continue;
            }
            is_resolved &= list(attribute, computations, "computation", &mut called, errors);
        }
        if !called.is_empty() {
            resolved.calls.insert(i, called);
        }
        resolved.inputs.push(inputs);
        resolved.is_resolved.push(is_resolved);
    }
    concat_bitcast::order(raw, &mut resolved.inputs);
    resolved.async_updates = async_update::bind(raw, &mut resolved.inputs, &mut resolved.calls);
    match sorted(resolved.inputs.len(), |i| resolved.inputs[i].all()) {
        Ok(order) => resolved.order = order,
        Err(i) => {
            let found = &raw.instructions[i];
            let message = format!("`{}` must not need its own result, found a cycle", excerpt(&found.name));
            errors.push(Error::at(found.at, message));
        }
    }
    resolved
}

/// The numbers of the instructions by name.
fn instruction_names<'a>(raw: &'a RawComputation, errors: &mut Vec<Error>) -> HashMap<&'a str, usize> {
    let mut names = HashMap::new();
    for (i, instruction) in raw.instructions.iter().enumerate() {
        // Without a shape the name is probably a typing error, so it is not reported as a second definition.
        if names.insert(&*instruction.name, i).is_some() && instruction.shape.is_some() {
            let message = format!("`{}` must be defined once, found a second", excerpt(&instruction.name));
            errors.push(Error::at(instruction.at, message));
        }
    }
    names
}

/// The first instruction with `ROOT`, or the last instruction.
fn root(raw: &RawComputation, errors: &mut Vec<Error>) -> usize {
    let mut roots = (0..raw.instructions.len()).filter(|i| raw.instructions[*i].root);
    let first = roots.next();
    for i in roots {
        errors.push(Error::at(raw.instructions[i].at, "a computation must have one `ROOT`, found a second"));
    }
    if raw.instructions.is_empty() && !raw.broken {
        let message = format!("computation `{}` must have an instruction, found none", excerpt(&raw.name));
        errors.push(Error::at(raw.end, message));
    }
    first.unwrap_or(raw.instructions.len().saturating_sub(1))
}

/// The parameters by number; the numbers must be 0, 1, 2 and so on.
fn parameters(raw: &RawComputation, errors: &mut Vec<Error>) -> Vec<usize> {
    let all = raw.instructions.iter().enumerate();
    let mut numbered: Vec<(i64, usize)> = all.filter_map(|(i, instruction)| Some((instruction.number?, i))).collect();
    numbered.sort_unstable();
    let mut found = Vec::new();
    for (expected, &(number, i)) in numbered.iter().enumerate() {
        let (at, name) = (raw.instructions[i].at, excerpt(&raw.name));
        // Only the first error: all later numbers are wrong, too.
        let first = found.len() == expected;
        let wanted = i64::try_from(expected).unwrap_or(i64::MAX);
        if first && number > wanted && !raw.broken {
            let message = format!("expected parameter {expected} of computation `{name}`, found parameter {number}");
            errors.push(Error::at(at, message).syntax());
        } else if first && number < wanted {
            let message = format!("parameter {number} of computation `{name}` must be defined once, found a second");
            errors.push(Error::at(at, message));
        } else {
            found.push(i);
        }
    }
    found
}

/// Adds the numbers of the operands to `found`; returns whether all are known.
fn operands(
    raw: &RawComputation,
    instruction: &RawInstruction,
    names: &HashMap<&str, usize>,
    found: &mut Vec<usize>,
    errors: &mut Vec<Error>,
) -> bool {
    let mut all_known = true;
    for operand in &instruction.operands {
        let Some(&used) = names.get(&*operand.name) else {
            all_known = false;
            // An unreadable line may have been its definition.
            if !raw.broken {
                let hint = known_near(&operand.name, names, errors);
                let (name, computation) = (excerpt(&operand.name), excerpt(&raw.name));
                let message = format!("unknown instruction `{name}` in computation `{computation}`{hint}");
                errors.push(Error::at(operand.at, message).unknown());
            }
            continue;
        };
        let defined = raw.instructions[used].shape.as_ref();
        if let (Some(written), Some(defined)) = (&operand.shape, defined)
            && !fits(written, defined)
        {
            let (name, is, found) = (excerpt(&operand.name), plain(defined), plain(written));
            errors.push(Error::at(operand.at, format!("the shape of `{name}` must be {is}, found {found}")));
        }
        found.push(used);
    }
    all_known
}

/// A hint with the known name nearest to an unknown one. Skipped if slow: among many names, or after many errors.
fn known_near(name: &str, known: &HashMap<&str, usize>, errors: &[Error]) -> String {
    const MOST_NAMES: usize = 1000;
    const MOST_ERRORS: usize = 100;
    let few = known.len() <= MOST_NAMES && errors.len() < MOST_ERRORS;
    if few { did_you_mean(name, known.keys().copied()) } else { String::new() }
}

/// Looks up the names in `name` or `{name, name}`; returns whether all are known.
fn list(
    attribute: &RawAttribute,
    known: &HashMap<&str, usize>,
    kind: &str,
    found: &mut Vec<usize>,
    errors: &mut Vec<Error>,
) -> bool {
    let read = attribute.read(|cursor: &mut Cursor| {
        let braces = attribute.name.ends_with('s') && cursor.eat("{");
        let mut first = true;
        while !braces && first || braces && !cursor.eat("}") {
            if !std::mem::take(&mut first) {
                cursor.expect(",", "`,` or `}` to close the list")?;
            }
            let (name, at) = name(cursor, &format!("the name of a {kind}"))?;
            let hint = || known_near(name, known, errors);
            let unknown = || Error::at(at, format!("unknown {kind} `{}`{}", excerpt(name), hint())).unknown();
            found.push(*known.get(name).ok_or_else(unknown)?);
        }
        Ok(())
    });
    let all_known = read.is_ok();
    errors.extend(read.err());
    all_known
}

/// The parameters and the result of a computation, whose head has that result; `None` if it could not be read.
fn signature<'a>(raw: &'a RawComputation, resolved: &Resolved, errors: &mut Vec<Error>) -> Option<Signature<'a>> {
    if raw.broken {
        return None;
    }
    let signature = shapes(raw, resolved)?;
    if let Some(Head { result: (result, result_at), .. }) = &raw.head
        && !fits(result, signature.result)
    {
        let (is, found) = (plain(signature.result), plain(result));
        errors.push(Error::at(*result_at, format!("the result must be {is}, as the root, found {found}")));
    }
    Some(signature)
}

/// The parameters and the result of a computation; `None` if a shape is unknown.
fn shapes<'a>(raw: &'a RawComputation, resolved: &Resolved) -> Option<Signature<'a>> {
    let shape = |i: usize| raw.instructions.get(i)?.shape.as_ref();
    let parameters: Option<Vec<&Shape>> = resolved.parameters.iter().map(|&i| shape(i)).collect();
    Some(Signature { name: &raw.name, parameters: parameters?, result: shape(resolved.root)? })
}

/// Checks `{(f32[2])->f32[3]}`, the entry's shapes in the header.
fn check_entry(cursor: &mut Cursor, signature: &Signature) -> Result<(), Error> {
    let compare = |cursor: &mut Cursor, is: &Shape, what: &str| {
        let at = cursor.at();
        let written = Shape::read(cursor, 0)?;
        if fits(&written, is) {
            return Ok(());
        }
        Err(Error::at(at, format!("{what} of the entry must be {}, found {}", plain(is), plain(&written))))
    };
    cursor.expect("{", "`{` to open the layout")?;
    cursor.expect("(", "`(` to open the parameters")?;
    for (i, parameter) in signature.parameters.iter().enumerate() {
        if i != 0 {
            cursor.expect(",", &format!("`,` and the shape of parameter {i} of the entry"))?;
        }
        compare(cursor, parameter, &format!("parameter {i}"))?;
    }
    cursor.expect(")", "`)` to close the parameters")?;
    cursor.expect("->", "`->` and the shape of the result")?;
    compare(cursor, signature.result, "the result")?;
    cursor.expect("}", "`}` to close the layout")
}

/// Checks the instructions of a computation; returns operations and sources, in the order of the text.
fn check(
    raw: &RawComputation,
    resolved: &Resolved,
    new_position: &[usize],
    module: (&[Option<Signature>], Devices),
    tables: &Tables,
    errors: &mut Vec<Error>,
) -> Vec<(Operation, Source)> {
    let mut operations = Vec::with_capacity(raw.instructions.len());
    let nothing = Vec::new();
    for (i, instruction) in raw.instructions.iter().enumerate() {
        if errors.len() >= Module::MAX_ERRORS {
            break;
        }
        if let Err(error) = attributes::check(instruction) {
            errors.push(error);
            continue;
        }
        let called = resolved.calls.get(&i).unwrap_or(&nothing).iter().map(|&c| new_position[c]).collect();
        match (operation(raw, resolved, i, called, module), source(instruction, tables)) {
            (Ok(operation), Ok(source)) => operations.extend(operation.map(|operation| (operation, source))),
            (operation, source) => errors.extend(operation.err().into_iter().chain(source.err())),
        }
    }
    operations
}

/// The operation of one instruction; `None` if it could not be read, with an error reported before.
fn operation(
    raw: &RawComputation,
    resolved: &Resolved,
    i: usize,
    called: Vec<usize>,
    (signatures, devices): (&[Option<Signature>], Devices),
) -> Result<Option<Operation>, Error> {
    // An update that binds operands is checked as the start with these operands.
    let instruction = resolved.async_updates.get(&i).unwrap_or(&raw.instructions[i]);
    if instruction.opcode.is_empty() {
        return Ok(None);
    }
    let name = instruction.opcode;
    let opcode = find(name).ok_or_else(|| {
        Error::at(instruction.opcode_at, format!("unknown operation `{}`{}", excerpt(name), near(name))).unknown()
    })?;
    if !instruction.broken {
        counted(instruction, &opcode)?;
    }
    let shape = |&i: &usize| raw.instructions[i].shape.as_ref();
    let operands: Option<Vec<&Shape>> = resolved.inputs[i].operands.iter().map(shape).collect();
    let written = raw.instructions[i].shape.as_ref();
    if let (Some(attribute), Some(shape)) = (instruction.attributes.iter().find(|a| a.name == "sharding"), written) {
        attribute.read(|cursor| sharding::check(cursor, shape, devices.partitions))?;
    }
    match (operands, written, resolved.is_resolved[i]) {
        (Some(operands), Some(_), true) => (opcode.rule)(&mut Site {
            raw: instruction,
            note: opcode.note,
            wrapped: opcode.wrapped,
            written,
            inferred: OnceCell::new(),
            operands,
            called,
            signatures,
            devices,
            origins: Vec::new(),
        })
        .map(Some),
        _ => Ok(None),
    }
}

/// Checks the number of operands of an instruction.
fn counted(instruction: &RawInstruction, opcode: &Opcode) -> Result<(), Error> {
    let ((least, most), found) = (opcode.operands, instruction.operands.len());
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let needs = match (least, most) {
        (1, 1) => "1 operand".to_string(),
        (n, m) if n == m => format!("{n} operands"),
        (1, usize::MAX) => "at least 1 operand".to_string(),
        (n, usize::MAX) => format!("at least {n} operands"),
        (n, m) => format!("{n} to {m} operands"),
    };
    Err(Error::at(instruction.opcode_at, format!("`{}` must have {needs}, found {found}", instruction.opcode)))
}

/// Builds a computation in its order; `None` if a shape is missing.
fn build(
    raw: RawComputation,
    resolved: Resolved,
    operations: Vec<(Operation, Source)>,
    new_position: &[usize],
) -> Option<Computation> {
    let new = inverse(&resolved.order);
    let mut instructions: Vec<Option<Instruction>> = raw.instructions.iter().map(|_| None).collect();
    for (i, (raw, (operation, source))) in raw.instructions.into_iter().zip(operations).enumerate() {
        let moved = |inputs: &[usize]| inputs.iter().map(|&input| new[input]).collect();
        instructions[new[i]] = Some(Instruction {
            name: raw.name.to_string(),
            at: raw.at,
            shape: raw.shape?,
            opcode: raw.opcode.to_string(),
            operands: moved(&resolved.inputs[i].operands),
            operation,
            called: resolved.calls.get(&i).into_iter().flatten().map(|&c| new_position[c]).collect(),
            control: moved(&resolved.inputs[i].control),
            literal: raw.literal,
            attributes: raw.attributes.iter().map(RawAttribute::owned).collect(),
            source,
        });
    }
    Some(Computation {
        name: raw.name.to_string(),
        at: raw.at,
        instructions: instructions.into_iter().collect::<Option<_>>()?,
        parameters: resolved.parameters.iter().map(|&i| new[i]).collect(),
        root: new[resolved.root],
    })
}

/// The source of an instruction, from its metadata.
fn source(raw: &RawInstruction, tables: &Tables) -> Result<Source, Error> {
    let mut source = Source::default();
    let Some(metadata) = raw.attributes.iter().find(|a| a.name == "metadata") else { return Ok(source) };
    for field in metadata.fields()? {
        match field.name {
            "op_name" => source.op_name = unquote(field.text),
            "source_file" => source.file = unquote(field.text),
            "source_line" => source.line = Some(field.read(|cursor| cursor.integer("a line"))?),
            "stack_frame_id" => {
                let frame = field.read(|cursor| cursor.integer("a stack frame"))?;
                if let Some((file, line)) = tables.frame(frame).map_err(|message| Error::at(field.at, message))? {
                    source.file.get_or_insert_with(|| file.to_string());
                    source.line.get_or_insert(line);
                }
            }
            _ => {}
        }
    }
    Ok(source)
}
