//! Values of the forward pass that the backward pass makes again: `jax.checkpoint`.
//!
//! JAX names operations `jvp(..)` in the forward pass and `transpose(jvp(..))` in the backward pass. A temporary that the
//! first makes and the second reads is kept in between. The values of one line of the program are made again together,
//! right before the first instruction of the backward pass that reads them, from what is kept anyway:
//!
//! ```text
//! h = fusion(x, w)         512 MiB             h = fusion(x, w)
//! ..                       h is kept           ..
//!                                              h.again = fusion(x, w)
//! g = fusion(h, y)                             g = fusion(h.again, y)
//! ```

use super::{AdviceKind, Advised, BufferPlace, Candidate};
use crate::hlo::origins::Provenance;
use layout_plan::memory::{MemoryUse, RunsAs};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tensor_layout::hlo::{Computation, Instruction, Module};

/// The values of a line that are this part of the peak or more are kept under a name.
const LARGE: i64 = 20;

/// The most instructions that one read makes again.
const MOST: usize = 64;

/// A candidate for each line whose values are kept for the backward pass.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let mut groups: BTreeMap<String, (BTreeSet<usize>, Provenance)> = BTreeMap::new();
    for own in program.temporaries().filter(|own| own.frame == RunsAs::Entry) {
        let (k, leaf) = own.buffer.made;
        let origin = program.origin(k);
        let (Some(line), Some(buffer)) = (origin.source.clone(), program.entry_buffers().of[k][leaf]) else { continue };
        if origin.is_forward() && program.origin(own.buffer.live.1).is_backward() {
            groups.entry(line).or_insert_with(|| (BTreeSet::new(), origin)).0.insert(buffer);
        }
    }
    let large = |(group, _): &&(BTreeSet<usize>, Provenance)| {
        let bytes = |own: &usize| program.entry_buffers().buffers[*own].footprint.padded;
        group.iter().map(bytes).sum::<i64>() >= program.used.spaces[&0].peak / LARGE
    };
    let lines: Vec<String> = groups.iter().filter(|(_, own)| large(own)).map(|(line, _)| line.clone()).collect();
    groups.into_iter().map(|(line, (group, origin))| candidate(program, &line, &lines, group, origin)).collect()
}

fn candidate<'p>(
    program: &'p Advised,
    line: &str,
    lines: &[String],
    group: BTreeSet<usize>,
    origin: Provenance,
) -> Candidate<'p> {
    let buffers = &program.entry_buffers().buffers;
    let things: BTreeSet<BufferPlace> = group.iter().map(|own| (program.module.entry, buffers[*own].made)).collect();
    Candidate {
        kind: AdviceKind::Recompute,
        change: format!("make what {line} makes again in the backward pass"),
        code: code(line, lines),
        things,
        origin,
        ends: Vec::new(),
        changed: Box::new(move || least(program, &group)),
    }
}

/// `jax.checkpoint` of the function of a line, with names for what other lines of the file make and keep.
fn code(line: &str, lines: &[String]) -> String {
    let (file, number) = line.rsplit_once(':').unwrap_or((line, ""));
    let kept = lines.iter().filter(|own| *own != line && own.rsplit_once(':').is_some_and(|(own, _)| own == file));
    let kept: Vec<&str> = kept.filter_map(|own| Some(own.rsplit_once(':')?.1)).collect();
    if kept.is_empty() {
        return format!("g = jax.checkpoint(g), where g is the function with line {number}");
    }
    let names = kept.iter().map(|own| format!("\"line{own}\"")).collect::<Vec<_>>().join(", ");
    let named =
        kept.iter().map(|own| format!("y = checkpoint_name(y, \"line{own}\") in line {own}")).collect::<Vec<_>>();
    format!(
        "g = jax.checkpoint(g, policy=jax.checkpoint_policies.save_only_these_names({names})), where g is the function with \
         line {number}; {}",
        named.join("; ")
    )
}

/// The module of lower peak: in one a value that is made again is kept for all that read it, in the other until the next
/// one is made.
fn least(program: &Advised, group: &BTreeSet<usize>) -> Option<Module> {
    let modules = [false, true].into_iter().filter_map(|once| Remaking::new(program, group, once).changed());
    let peak = |module: &Module| MemoryUse::of(module).ok().and_then(|used| Some(used.spaces.get(&0)?.peak));
    modules.min_by_key(|module| peak(module).unwrap_or(i64::MAX))
}

/// The entry with values that are made again.
struct Remaking<'p> {
    program: &'p Advised<'p>,
    entry: &'p Computation,
    /// The buffers that are not kept.
    group: &'p BTreeSet<usize>,
    /// Whether a value that is made again is forgotten where the next one is made.
    once: bool,
    /// For each value, the one that it is a copy of, and all copies of each.
    source: Vec<usize>,
    copies: HashMap<usize, Vec<usize>>,
    /// The instructions that have effects, by computation.
    effects: Vec<bool>,
    /// The instructions in their new order; operands are numbers of it.
    made: Vec<Instruction>,
    /// The new number of each instruction, and of those that are made again.
    new: Vec<usize>,
    again: HashMap<usize, usize>,
}

impl<'p> Remaking<'p> {
    fn new(program: &'p Advised, group: &'p BTreeSet<usize>, once: bool) -> Remaking<'p> {
        let (entry, effects) = (program.entry(), program.module.effects());
        let mut source: Vec<usize> = Vec::new();
        let mut copies: HashMap<usize, Vec<usize>> = HashMap::new();
        for (k, own) in entry.instructions.iter().enumerate() {
            let copied = matches!(&*own.opcode, "copy" | "copy-start" | "copy-done").then(|| source[own.operands[0]]);
            source.push(copied.unwrap_or(k));
            if own.opcode != "copy-start" {
                copies.entry(source[k]).or_default().push(k);
            }
        }
        let (made, new, again) = (Vec::new(), Vec::new(), HashMap::new());
        Remaking { program, entry, group, once, source, copies, effects, made, new, again }
    }

    /// The module; `None` where a value cannot be made again.
    fn changed(mut self) -> Option<Module> {
        for k in 0..self.entry.instructions.len() {
            let mut instruction = self.entry.instructions[k].clone();
            let late = self.program.origin(k).is_backward();
            for operand in &mut instruction.operands {
                if !late || !self.is_dropped(*operand) {
                    *operand = self.new[*operand];
                    continue;
                }
                if self.once && !self.again.contains_key(operand) {
                    self.again.clear();
                }
                *operand = self.remade(*operand, k, 0)?;
            }
            instruction.control.iter_mut().for_each(|own| *own = self.new[*own]);
            self.new.push(self.made.len());
            self.made.push(instruction);
        }
        let mut changed = self.program.module.clone();
        let entry = &mut changed.computations[self.program.module.entry];
        entry.parameters.iter_mut().for_each(|own| *own = self.new[*own]);
        entry.root = self.new[entry.root];
        entry.instructions = self.made;
        Some(changed)
    }

    /// Whether a value is in a buffer that is not kept.
    fn is_dropped(&self, k: usize) -> bool {
        self.program.entry_buffers().of[k].iter().flatten().any(|own| self.group.contains(own))
            && !self.program.origin(k).is_backward()
    }

    /// Whether a value is there for the instruction `late` anyway.
    fn is_kept(&self, k: usize, late: usize) -> bool {
        let found = self.program.entry_buffers();
        let kept =
            |own: &Option<usize>| own.is_none_or(|own| !self.group.contains(&own) && found.buffers[own].live.1 >= late);
        self.entry.instructions[k].operands.is_empty() || found.of[k].iter().all(kept)
    }

    /// The new number of a value that is made again before the instruction `late`.
    fn remade(&mut self, k: usize, late: usize, depth: usize) -> Option<usize> {
        if let Some(again) = self.again.get(&k) {
            return Some(*again);
        }
        let copies = self.copies.get(&self.source[k]).into_iter().flatten();
        if let Some(kept) = [k].iter().chain(copies).find(|own| **own < late && self.is_kept(**own, late)) {
            return Some(self.new[*kept]);
        }
        let mut instruction = self.entry.instructions[k].clone();
        (depth < MOST && !instruction.runs_effect(&self.effects)).then_some(())?;
        for operand in &mut instruction.operands {
            *operand = self.remade(*operand, late, depth + 1)?;
        }
        instruction.control.clear();
        instruction.name += ".again";
        self.again.insert(k, self.made.len());
        self.made.push(instruction);
        Some(self.made.len() - 1)
    }
}
