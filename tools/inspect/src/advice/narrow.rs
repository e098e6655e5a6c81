//! A smaller type: f32 as bf16, half of the bytes.
//!
//! All temporaries at the peak that one line of the program makes change together, with what only moves or renames their
//! bytes, or all arrays of an argument, which the function widens again at once. An argument that an output has the shape of
//! is a state, which keeps its type, and the compiler adds what it scatters in f32.

use super::{AdviceKind, Advised, BufferPlace, Candidate, leaves_mut};
use crate::hlo::origins::Provenance;
use layout_plan::memory::RunsAs;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, leaves};
use tensor_layout::targets::Target;
use tensor_layout::tiled::Layout;

const FROM: ElementType = ElementType::F32;
const TO: ElementType = ElementType::BF16;

/// The operations that only move or rename bytes.
const MOVES: [&str; 6] = ["copy", "copy-start", "copy-done", "transpose", "reshape", "bitcast"];

/// The frame of a computation, and the number of a buffer in it.
type BufferNumber = ((usize, RunsAs), usize);

/// A candidate for each line whose temporaries are f32, and for each such argument.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let mut groups: BTreeMap<(bool, String), BTreeSet<BufferNumber>> = BTreeMap::new();
    let mut origins = BTreeMap::new();
    for own in program.temporaries() {
        let (k, leaf) = own.buffer.made;
        let instruction = &program.module.computations[own.computation].instructions[k];
        let number = program.used.frames[&(own.computation, own.frame)].of[k][leaf];
        let (true, Some(number)) = (leaves(&instruction.shape)[leaf].element == FROM, number) else { continue };
        let origin = program.origins.get(instruction, (own.computation, k));
        let Some(line) = origin.source.clone().filter(|_| !MOVES.contains(&&*instruction.opcode)) else { continue };
        groups.entry((false, line.clone())).or_default().insert(((own.computation, own.frame), number));
        // A gradient has the type of its value: a line that makes no value has nothing to change.
        if !origin.op_name.as_ref().is_some_and(|name| name.contains("transpose(")) {
            origins.entry((false, line)).or_insert(origin);
        }
    }
    groups.retain(|name, _| origins.contains_key(name));
    let is_state =
        |array: &Array| program.outputs().iter().any(|(_, own)| own.dims == array.dims && own.element == FROM);
    for (k, _) in program.arguments().filter(|(_, array)| array.element == FROM && !is_state(array)) {
        let name = (true, program.argument(k).0);
        let number = program.entry_buffers().of[k][0];
        groups
            .entry(name.clone())
            .or_default()
            .extend(number.map(|number| ((program.module.entry, RunsAs::Entry), number)));
        origins.entry(name.clone()).or_insert(Provenance { source: None, op_name: Some(name.1) });
    }
    let candidate = |(name, group): ((bool, String), BTreeSet<BufferNumber>)| {
        let origin = origins.remove(&name).unwrap_or_default();
        candidate(program, &name, group, origin)
    };
    groups.into_iter().map(candidate).collect()
}

fn candidate<'p>(
    program: &'p Advised,
    (is_argument, name): &(bool, String),
    group: BTreeSet<BufferNumber>,
    origin: Provenance,
) -> Candidate<'p> {
    let things: BTreeSet<BufferPlace> =
        group.iter().map(|(frame, number)| (frame.0, program.used.frames[frame].buffers[*number].made)).collect();
    let follows = !is_argument;
    let (change, code) = if *is_argument {
        (
            format!("keep the argument `{name}` in bf16"),
            format!("f({name}.astype(jnp.bfloat16)), and in f first {name} = {name}.astype(jnp.float32)"),
        )
    } else {
        let operation = origin.op_name.as_deref().and_then(|name| name.rsplit('/').next()).unwrap_or("the result");
        (
            format!("keep what {name} makes in bf16"),
            format!(".astype(jnp.bfloat16) on the result of {operation} at {name}"),
        )
    };
    Candidate {
        kind: AdviceKind::Type,
        change,
        code,
        things,
        origin,
        ends: Vec::new(),
        changed: Box::new(move || changed(program, &group, follows)),
    }
}

/// Whether an instruction scatters, or the computations that it runs.
fn scatters(module: &Module, instruction: &Instruction) -> bool {
    let inside = |called: &usize| module.computations[*called].instructions.iter().any(|own| scatters(module, own));
    matches!(&*instruction.opcode, "scatter" | "select-and-scatter") || instruction.called.iter().any(inside)
}

/// The module with the buffers in the smaller type; with `follows` what only moves or renames their bytes, too.
fn changed(program: &Advised, group: &BTreeSet<BufferNumber>, follows: bool) -> Option<Module> {
    let mut changed = program.module.clone();
    let mut all = group.clone();
    for frame in group.iter().map(|(frame, _)| *frame).collect::<BTreeSet<_>>() {
        let found = &program.used.frames[&frame];
        for (k, instruction) in program.module.computations[frame.0].instructions.iter().enumerate() {
            let takes = |k: usize| found.of[k].iter().flatten().any(|own| all.contains(&(frame, *own)));
            let reads = instruction.operands.iter().any(|operand| takes(*operand));
            ((!reads && !takes(k)) || !scatters(program.module, instruction)).then_some(())?;
            if follows && reads && MOVES.contains(&&*instruction.opcode) {
                all.extend(found.of[k].iter().flatten().map(|own| (frame, *own)));
            }
            for (leaf, array) in
                leaves_mut(&mut changed.computations[frame.0].instructions[k].shape).into_iter().enumerate()
            {
                if array.element == FROM && found.of[k][leaf].is_some_and(|own| all.contains(&(frame, own))) {
                    *array = narrowed(program.target, array)?;
                }
            }
        }
    }
    Some(changed)
}

/// The array in the smaller type, in the machine's tiles for its order where it has tiles.
fn narrowed(target: &Target, array: &Array) -> Option<Array> {
    let mut layout = array.layout.clone();
    if layout.is_tiled() {
        let own = target.layout(TO, &array.sizes()?, &layout.minor_to_major).ok()?;
        layout = Layout { memory_space: layout.memory_space, ..own };
    }
    Some(Array { element: TO, layout, ..array.clone() })
}
