//! From the parts of a text to a [`Module`]: names become numbers, order is made, every instruction is checked.

use super::module::{Computation, Instruction, Module, Source};
use super::opcodes::{find, nearest};
use super::raw::{Head, RawAttribute, RawComputation, RawInstruction, RawModule, Tables};
use super::rules::{Signature, Site, fits, plain};
use super::words::{name, unquote};
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt};
use std::collections::{BTreeMap, HashMap};

/// The attributes that name computations, in the order in which [`Instruction::called`] lists them.
const CALLS: [&str; 10] = [
    "condition",
    "body",
    "true_computation",
    "false_computation",
    "branch_computations",
    "select",
    "scatter",
    "to_apply",
    "calls",
    "called_computations",
];

/// A computation with its names resolved, in the order of the text.
#[derive(Default)]
struct Resolved {
    /// For each instruction: how many operands, and the operands, then those that must run before.
    uses: Vec<(usize, Vec<usize>)>,
    /// For each instruction that names computations: their numbers in the text.
    calls: BTreeMap<usize, Vec<usize>>,
    parameters: Vec<usize>,
    root: usize,
    /// Whether all operands of an instruction are there.
    whole: Vec<bool>,
    /// The instructions, each behind those that it uses.
    order: Vec<usize>,
}

/// Makes a module; `None` where something is wrong, of which `errors` then has a word.
pub(super) fn module(raw: RawModule, end: usize, errors: &mut Vec<Error>) -> Option<Module> {
    let mut names = HashMap::new();
    let mut entries = Vec::new();
    for (i, computation) in raw.computations.iter().enumerate() {
        if names.insert(computation.name, i).is_some() {
            errors
                .push(Error::at(computation.at, format!("computation `{}` appears twice", excerpt(computation.name))));
        }
        if computation.entry {
            if !entries.is_empty() {
                errors.push(Error::at(computation.at, "a module has one `ENTRY`, this is the second"));
            }
            entries.push(i);
        }
    }
    if entries.is_empty() && !raw.broken {
        errors.push(Error::at(end, "expected a computation that begins with `ENTRY`"));
    }
    let resolved: Vec<_> = raw.computations.iter().map(|c| resolve(c, &names, errors)).collect();
    let called = |i: usize| resolved[i].calls.values().flatten().copied().collect::<Vec<_>>();
    let order = sorted(raw.computations.len(), called).unwrap_or_else(|at| {
        let computation = &raw.computations[at];
        let message = format!("computation `{}` calls itself, perhaps through others", excerpt(computation.name));
        errors.push(Error::at(computation.at, message));
        (0..raw.computations.len()).collect()
    });
    let place = inverse(&order);
    let mut signatures: Vec<Option<Signature>> = raw.computations.iter().map(|_| None).collect();
    for (i, computation) in raw.computations.iter().enumerate() {
        signatures[place[i]] = signature(computation, &resolved[i], errors);
    }
    let mut operations = Vec::new();
    for (computation, resolved) in raw.computations.iter().zip(&resolved) {
        operations.push(check(computation, resolved, &place, &signatures, &raw.tables, errors));
    }
    let entry = *entries.first()?;
    if let (Some(layout), Some(signature)) =
        (raw.attributes.iter().find(|a| a.name == "entry_computation_layout"), &signatures[place[entry]])
    {
        errors.extend(layout.read(|cursor| check_entry(cursor, signature)).err());
    }
    if !errors.is_empty() || raw.broken {
        return None;
    }
    drop(signatures);
    let mut made: Vec<Option<Computation>> = raw.computations.iter().map(|_| None).collect();
    for (i, ((computation, resolved), operations)) in
        raw.computations.into_iter().zip(resolved).zip(operations).enumerate()
    {
        made[place[i]] = Some(make(computation, resolved, operations, &place)?);
    }
    Some(Module {
        name: raw.name.to_string(),
        attributes: raw.attributes.iter().map(RawAttribute::owned).collect(),
        computations: made.into_iter().collect::<Option<_>>()?,
        entry: place[entry],
    })
}

/// The numbers `0..n`, each behind those that it needs, in their own order where that is such an order already; an
/// error names one that needs itself.
fn sorted<E: AsRef<[usize]>>(n: usize, needs: impl Fn(usize) -> E) -> Result<Vec<usize>, usize> {
    let mut order = Vec::with_capacity(n);
    // Not seen, begun, done.
    let mut state = vec![0u8; n];
    let mut path: Vec<(usize, E, usize)> = Vec::new();
    for first in 0..n {
        if state[first] == 0 {
            state[first] = 1;
            path.push((first, needs(first), 0));
        }
        while let Some((node, edges, next)) = path.last_mut() {
            match edges.as_ref().get(*next) {
                None => {
                    state[*node] = 2;
                    order.push(*node);
                    path.pop();
                }
                Some(&needed) => {
                    *next += 1;
                    match state[needed] {
                        0 => {
                            state[needed] = 1;
                            path.push((needed, needs(needed), 0));
                        }
                        1 => return Err(needed),
                        _ => {}
                    }
                }
            }
        }
    }
    Ok(order)
}

/// Where each number stands in a permutation.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        place[from] = to;
    }
    place
}

/// Resolves the names in a computation.
fn resolve(raw: &RawComputation, computations: &HashMap<&str, usize>, errors: &mut Vec<Error>) -> Resolved {
    let mut resolved = Resolved::default();
    let mut names = HashMap::new();
    let mut roots = Vec::new();
    let mut parameters: Vec<(i64, usize)> = Vec::new();
    for (i, instruction) in raw.instructions.iter().enumerate() {
        // A name without a shape may be no name but a slip.
        if names.insert(instruction.name, i).is_some() && instruction.shape.is_some() {
            errors.push(Error::at(instruction.at, format!("`{}` appears twice", excerpt(instruction.name))));
        }
        if instruction.root {
            if !roots.is_empty() {
                errors.push(Error::at(instruction.at, "a computation has one `ROOT`, this is the second"));
            }
            roots.push(i);
        }
        parameters.extend(instruction.number.map(|n| (n, i)));
    }
    let computation = excerpt(raw.name);
    match (raw.instructions.len().checked_sub(1), raw.broken) {
        (Some(last), _) => resolved.root = roots.first().copied().unwrap_or(last),
        (None, true) => {}
        (None, false) => errors.push(Error::at(raw.end, format!("computation `{computation}` has no instruction"))),
    }
    parameters.sort();
    for (expected, &(number, i)) in parameters.iter().enumerate() {
        let at = raw.instructions[i].at;
        if resolved.parameters.len() == expected && number > expected as i64 && !raw.broken {
            errors.push(Error::at(at, format!("computation `{computation}` has no parameter {expected}")));
        } else if resolved.parameters.len() == expected && number < expected as i64 {
            errors.push(Error::at(at, format!("computation `{computation}` has two parameters {number}")));
        } else {
            resolved.parameters.push(i);
        }
    }
    for (i, instruction) in raw.instructions.iter().enumerate() {
        let mut whole = !instruction.broken;
        let mut uses = Vec::new();
        for operand in &instruction.operands {
            match names.get(operand.name) {
                Some(&used) => {
                    let defined = raw.instructions[used].shape.as_ref();
                    if let (Some(written), Some(defined)) = (&operand.shape, defined)
                        && !fits(written, defined)
                    {
                        let (name, is) = (excerpt(operand.name), plain(defined));
                        let message = format!("`{name}` is {is}, {} is written", plain(written));
                        errors.push(Error::at(operand.at, message));
                    }
                    uses.push(used);
                }
                None => {
                    whole = false;
                    // What could not be read may have been its definition.
                    if !raw.broken {
                        let message = format!("nothing in `{computation}` is called `{}`", excerpt(operand.name));
                        errors.push(Error::at(operand.at, message));
                    }
                }
            }
        }
        let operands = uses.len();
        let find = |key: &str| instruction.attributes.iter().find(|a| a.name == key);
        if let Some(before) = find("control-predecessors") {
            whole &= list(before, &names, "instruction", &mut uses, errors);
        }
        let mut called = Vec::new();
        for attribute in CALLS.iter().filter_map(|key| find(key)) {
            whole &= list(attribute, computations, "computation", &mut called, errors);
        }
        if !called.is_empty() {
            resolved.calls.insert(i, called);
        }
        resolved.uses.push((operands, uses));
        resolved.whole.push(whole);
    }
    match sorted(resolved.uses.len(), |i| &resolved.uses[i].1) {
        Ok(order) => resolved.order = order,
        Err(i) => {
            let found = &raw.instructions[i];
            errors.push(Error::at(found.at, format!("`{}` needs its own result", excerpt(found.name))));
        }
    }
    resolved
}

/// Finds what `name` or `{name, name}` names; says whether all is known.
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
            let unknown = || Error::at(at, format!("there is no {kind} `{}`", excerpt(name)));
            found.push(*known.get(name).ok_or_else(unknown)?);
        }
        Ok(())
    });
    let whole = read.is_ok();
    errors.extend(read.err());
    whole
}

/// What a computation takes and gives, and whether its head says the same; `None` where it could not be read.
fn signature<'a>(raw: &'a RawComputation, resolved: &Resolved, errors: &mut Vec<Error>) -> Option<Signature<'a>> {
    if raw.broken {
        return None;
    }
    let shape = |i: usize| raw.instructions.get(i)?.shape.as_ref();
    let parameters: Option<Vec<&Shape>> = resolved.parameters.iter().map(|&i| shape(i)).collect();
    let signature = Signature { name: raw.name, parameters: parameters?, result: shape(resolved.root)? };
    if let Some(Head { parameters: head, result: (result, result_at) }) = &raw.head {
        let (said, there) = (head.len(), signature.parameters.len());
        if said != there {
            errors.push(Error::at(
                raw.at,
                format!("the number of parameters is {said} in the head, {there} in the body"),
            ));
        }
        for (i, ((written, at), is)) in head.iter().zip(&signature.parameters).enumerate() {
            if !fits(written, is) {
                errors.push(Error::at(*at, format!("parameter {i} is {}, {} is written", plain(is), plain(written))));
            }
        }
        if !fits(result, signature.result) {
            let (is, written) = (plain(signature.result), plain(result));
            errors.push(Error::at(*result_at, format!("the root is {is}, {written} is written")));
        }
    }
    Some(signature)
}

/// Checks `{(f32[2])->f32[3]}`, the entry's shapes in the header.
fn check_entry(cursor: &mut Cursor, signature: &Signature) -> Result<(), Error> {
    let compare = |cursor: &mut Cursor, is: &Shape, what: &str| {
        let at = cursor.at();
        let written = Shape::read(cursor, 0)?;
        if fits(&written, is) {
            return Ok(());
        }
        Err(Error::at(at, format!("{what} of the entry is {}, {} is written", plain(is), plain(&written))))
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

/// Checks the instructions of a computation; their operations and sources, in the order of the text.
fn check(
    raw: &RawComputation,
    resolved: &Resolved,
    place: &[usize],
    signatures: &[Option<Signature>],
    tables: &Tables,
    errors: &mut Vec<Error>,
) -> Vec<(Operation, Source)> {
    let mut operations = Vec::with_capacity(raw.instructions.len());
    let nothing = Vec::new();
    for (i, instruction) in raw.instructions.iter().enumerate() {
        if errors.len() >= Module::MAX_ERRORS {
            break;
        }
        let called = resolved.calls.get(&i).unwrap_or(&nothing).iter().map(|&c| place[c]).collect();
        match (operation(raw, resolved, i, called, signatures), source(instruction, tables)) {
            (Ok(operation), Ok(source)) => operations.extend(operation.map(|operation| (operation, source))),
            (operation, source) => errors.extend(operation.err().into_iter().chain(source.err())),
        }
    }
    operations
}

/// The operation of one instruction; `None` where it could not be read, which was told already.
fn operation(
    raw: &RawComputation,
    resolved: &Resolved,
    i: usize,
    called: Vec<usize>,
    signatures: &[Option<Signature>],
) -> Result<Option<Operation>, Error> {
    let instruction = &raw.instructions[i];
    if instruction.opcode.is_empty() {
        return Ok(None);
    }
    let name = instruction.opcode;
    let opcode = find(name).ok_or_else(|| {
        let hint = nearest(name).map_or(String::new(), |near| format!(", `{near}` is near"));
        Error::at(instruction.opcode_at, format!("there is no operation `{}`{hint}", excerpt(name)))
    })?;
    if !instruction.broken {
        let (least, most) = opcode.operands;
        let found = instruction.operands.len();
        if found < least || found > most {
            let needs = match (least, most) {
                (1, 1) => "1 operand".to_string(),
                (n, m) if n == m => format!("{n} operands"),
                (n, usize::MAX) => format!("{n} operands or more"),
                (n, m) => format!("{n} to {m} operands"),
            };
            return Err(Error::at(instruction.opcode_at, format!("`{name}` has {needs}, {found} written")));
        }
    }
    let shape = |&i: &usize| raw.instructions[i].shape.as_ref();
    let (count, uses) = &resolved.uses[i];
    let operands: Option<Vec<&Shape>> = uses[..*count].iter().map(shape).collect();
    match (operands, &instruction.shape, resolved.whole[i]) {
        (Some(operands), Some(shape), true) => {
            (opcode.rule)(&Site { raw: instruction, note: opcode.note, shape, operands, called, signatures }).map(Some)
        }
        _ => Ok(None),
    }
}

/// Puts a computation together in order; `None` where there is none.
fn make(
    raw: RawComputation,
    resolved: Resolved,
    operations: Vec<(Operation, Source)>,
    place: &[usize],
) -> Option<Computation> {
    let uses = &resolved.uses;
    let new = inverse(&resolved.order);
    let mut instructions: Vec<Option<Instruction>> = uses.iter().map(|_| None).collect();
    for (i, (raw, (operation, source))) in raw.instructions.into_iter().zip(operations).enumerate() {
        let (count, uses) = &uses[i];
        let moved = |uses: &[usize]| uses.iter().map(|&u| new[u]).collect();
        instructions[new[i]] = Some(Instruction {
            name: raw.name.to_string(),
            at: raw.at,
            shape: raw.shape?,
            opcode: raw.opcode.to_string(),
            operands: moved(&uses[..*count]),
            operation,
            called: resolved.calls.get(&i).into_iter().flatten().map(|&c| place[c]).collect(),
            control: moved(&uses[*count..]),
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

/// What the metadata says about where an instruction comes from.
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
