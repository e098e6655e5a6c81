//! A smaller type: f32 as bf16, half of the bytes.
//!
//! All temporaries that one line of the program makes change together, if one is live at the peak. What only moves or
//! renames their bytes changes with them, and what is made of them alone: JAX computes bf16 of bf16. So does a gradient of
//! their sizes. Or all arrays of an argument change, which the function widens again at once. An argument that an output
//! has the shape of is a state, which keeps its type.
//!
//! Nothing changes that an instruction fixes the type of: what a loop carries or stacks has the type that its body gives it,
//! a kernel is compiled for its types, and the compiler adds what it scatters in f32. A convolution of `lax` takes operands
//! of one type, so what it reads is widened again, and only gradients follow.

use super::{AdviceKind, Advised, BufferPlace, Candidate, elide, forget_overwritten, leaves_mut};
use crate::hlo::origins::Provenance;
use layout_plan::memory::{Role, RunsAs};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, Dim, leaves};
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
    let line = |computation: usize, (k, leaf): (usize, usize)| {
        let instruction = &program.module.computations[computation].instructions[k];
        let is_wide = leaves(&instruction.shape)[leaf].element == FROM;
        let is_made = is_wide && !MOVES.contains(&&*instruction.opcode) && !is_kernel(instruction);
        let origin = program.origins.get(instruction, (computation, k));
        Some((origin.source.clone().filter(|_| is_made)?, origin))
    };
    let at_peak = program.temporaries().filter_map(|own| line(own.computation, own.buffer.made));
    let lines: BTreeSet<String> = at_peak.map(|(line, _)| line).collect();
    for (frame, found) in &program.used.frames {
        for (number, buffer) in found.buffers.iter().enumerate().filter(|(_, own)| own.role == Role::Temporary) {
            let Some((line, origin)) = line(frame.0, buffer.made).filter(|(line, _)| lines.contains(line)) else {
                continue;
            };
            // A gradient has the type of its value, so it follows one.
            if !origin.is_backward() {
                groups.entry((false, line.clone())).or_default().insert((*frame, number));
                origins.entry((false, line)).or_insert(origin);
            }
        }
    }
    let outputs = program.outputs().into_iter().filter(|(_, own)| own.element == FROM);
    let states: HashSet<&[Dim]> = outputs.map(|(_, own)| &*own.dims).collect();
    let is_state = |array: &Array| states.contains(&*array.dims);
    for (_, k, _) in program.arguments().filter(|(.., array)| array.element == FROM && !is_state(array)) {
        let name = (true, program.argument(k).0);
        let number = program.entry_buffers().of[k][0];
        groups
            .entry(name.clone())
            .or_default()
            .extend(number.map(|number| ((program.module.entry, RunsAs::Entry), number)));
        origins.entry(name.clone()).or_insert(Provenance { source: None, op_name: Some(name.1) });
    }
    let candidate = |(name, mut group): ((bool, String), BTreeSet<BufferNumber>)| {
        let origin = origins.remove(&name).unwrap_or_default();
        let mut all = group.clone();
        add_results(program, &mut all, true);
        let is_widened = !name.0 && feeds_convolution(program, &all);
        if is_widened {
            add_results(program, &mut group, false);
        } else if !name.0 {
            group = all;
        }
        candidate(program, &name, group, origin, is_widened)
    };
    groups.into_iter().map(candidate).collect()
}

fn candidate<'p>(
    program: &'p Advised,
    (is_argument, name): &(bool, String),
    group: BTreeSet<BufferNumber>,
    origin: Provenance,
    is_widened: bool,
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
        let widened = if is_widened { ".astype(jnp.float32)" } else { "" };
        (
            format!("keep what {name} makes in bf16"),
            format!(".astype(jnp.bfloat16){widened} on the result of {operation} at {name}"),
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

/// Adds gradients that one instruction reads or makes together with a value of their sizes in the group, and with
/// `results` the f32 temporaries of the entry whose f32 operands are all in the group.
fn add_results(program: &Advised, group: &mut BTreeSet<BufferNumber>, results: bool) {
    let (entry, found, frame) = (program.entry(), program.entry_buffers(), (program.module.entry, RunsAs::Entry));
    let array = |number: usize| {
        let (k, leaf) = found.buffers[number].made;
        leaves(&entry.instructions[k].shape)[leaf]
    };
    let is_wide = |number: &usize| array(*number).element == FROM && !array(*number).dims.is_empty();
    let is_gradient = |number: usize| program.origin(found.buffers[number].made.0).is_backward();
    for (k, instruction) in entry.instructions.iter().enumerate() {
        let of = |k: usize| found.of[k].iter().flatten().copied().filter(is_wide);
        let operands: Vec<usize> = instruction.operands.iter().flat_map(|operand| of(*operand)).collect();
        let narrowed: Vec<usize> = operands.iter().copied().filter(|own| group.contains(&(frame, *own))).collect();
        let is_like = |own: usize| narrowed.iter().any(|like| array(*like).dims == array(own).dims);
        let follows = |own: &usize| {
            let is_all = results && narrowed.len() == operands.len() && !operands.contains(own);
            found.buffers[*own].role == Role::Temporary && (is_all || is_like(*own) && is_gradient(*own))
        };
        if !narrowed.is_empty() {
            let more: Vec<usize> = operands.iter().copied().chain(of(k)).filter(follows).collect();
            group.extend(more.into_iter().map(|own| (frame, own)));
        }
    }
}

/// Whether a convolution of the forward pass reads a buffer of the entry that is in the group.
fn feeds_convolution(program: &Advised, group: &BTreeSet<BufferNumber>) -> bool {
    let (entry, found, frame) = (program.entry(), program.entry_buffers(), (program.module.entry, RunsAs::Entry));
    let is_convolution = |own: &Instruction| {
        let name = own.source.op_name.as_deref().unwrap_or_default();
        own.opcode == "convolution" && name.ends_with("/conv_general_dilated")
    };
    entry.instructions.iter().enumerate().any(|(k, own)| {
        let mut read = own.operands.iter().flat_map(|operand| &found.of[*operand]).flatten();
        let reads = read.any(|number| group.contains(&(frame, *number)));
        reads && !program.origin(k).is_backward() && runs(program.module, own, &is_convolution)
    })
}

/// Whether an instruction, or one of the computations that it runs, is of a kind.
fn runs(module: &Module, instruction: &Instruction, kind: &dyn Fn(&Instruction) -> bool) -> bool {
    let inside = |called: &usize| module.computations[*called].instructions.iter().any(|own| runs(module, own, kind));
    kind(instruction) || instruction.called.iter().any(inside)
}

/// Whether an instruction fixes the types of what it reads and makes.
fn fixes_types(instruction: &Instruction) -> bool {
    matches!(&*instruction.opcode, "scatter" | "select-and-scatter" | "while") || is_kernel(instruction)
}

/// Whether an instruction is a kernel of XLA or of Pallas.
fn is_kernel(instruction: &Instruction) -> bool {
    instruction.string("custom_call_target").as_deref() == Some("tpu_custom_call")
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
            let is_near = reads || takes(k);
            (!is_near || !runs(program.module, instruction, &fixes_types)).then_some(())?;
            if follows && reads && MOVES.contains(&&*instruction.opcode) {
                all.extend(found.of[k].iter().flatten().map(|own| (frame, *own)));
            }
            let own = &mut changed.computations[frame.0].instructions[k];
            if is_near {
                forget_overwritten(own);
            }
            for (leaf, array) in leaves_mut(&mut own.shape).into_iter().enumerate() {
                if array.element == FROM && found.of[k][leaf].is_some_and(|own| all.contains(&(frame, own))) {
                    *array = narrowed(program.target, array)?;
                }
            }
            // What moves or converts a value into its own type and layout does nothing.
            let own = &changed.computations[frame.0].instructions;
            if is_near && matches!(&*own[k].opcode, "convert" | "copy") && own[own[k].operands[0]].shape == own[k].shape
            {
                elide(&mut changed.computations[frame.0].instructions[k]);
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
