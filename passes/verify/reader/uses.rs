//! The slots that an operation uses.

use crate::reader::bytes::OnBytes;
use crate::reader::model::{Action, Bound, Condition, End, PrintPiece, Region, Size, Slot, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::slice;

/// The slots that a step uses and that are defined outside of it.
pub fn uses(step: &Step) -> Vec<Slot> {
    let mut uses = Uses::default();
    uses.step(step);
    uses.used.retain(|slot| !uses.defined.contains(slot));
    uses.used
}

/// The slots that the operations of a region use.
pub fn region_uses(region: &Region) -> Vec<Slot> {
    let mut uses = Uses::default();
    uses.region(region);
    uses.used
}

/// A step and those inside of it.
pub fn within(step: &Step) -> Vec<&Step> {
    let mut steps = vec![step];
    for number in 0.. {
        let Some(step) = steps.get(number).copied() else { break };
        let blocks = regions(&step.action).iter().flat_map(|region| &region.blocks);
        steps.extend(blocks.flat_map(|block| &block.steps));
    }
    steps
}

/// The regions of an operation.
pub fn regions(action: &Action) -> &[Region] {
    match action {
        Action::Nest(nest) => slice::from_ref(&nest.body),
        Action::Generate { body, .. } | Action::Loop { body, .. } | Action::Parallel { body, .. } => {
            slice::from_ref(body)
        }
        Action::If { regions, .. } | Action::While { regions, .. } | Action::Switch { regions, .. } => regions,
        Action::Run(region) => slice::from_ref(region),
        _ => &[],
    }
}

/// The regions of an operation, to be changed.
pub fn regions_mut(action: &mut Action) -> &mut [Region] {
    match action {
        Action::Nest(nest) => slice::from_mut(&mut nest.body),
        Action::Generate { body, .. } | Action::Loop { body, .. } | Action::Parallel { body, .. } => {
            slice::from_mut(body)
        }
        Action::If { regions, .. } | Action::While { regions, .. } | Action::Switch { regions, .. } => regions,
        Action::Run(region) => slice::from_mut(region),
        _ => &mut [],
    }
}

/// The slot that a view shows another memref of; none of an operation that makes no view.
pub fn viewed(action: &Action) -> Option<Slot> {
    match action {
        Action::Cast(source)
        | Action::Slice { source, insert: None, .. }
        | Action::Reshape { source, .. }
        | Action::Transpose { source, .. }
        | Action::Reinterpret { source, .. }
        | Action::Bytes(OnBytes::View { source, .. } | OnBytes::Bools(source) | OnBytes::Recast(source)) => {
            Some(*source)
        }
        _ => None,
    }
}

/// The buffers of which a view has another layout of the same bytes.
pub fn recast_buffers(body: &Region) -> BTreeSet<Slot> {
    let mut recast = Recast::default();
    recast.region(body);
    recast.buffers
}

#[derive(Default)]
struct Recast {
    /// The buffer of each view.
    bases: BTreeMap<Slot, Slot>,
    buffers: BTreeSet<Slot>,
}

impl Recast {
    fn region(&mut self, region: &Region) {
        for step in region.blocks.iter().flat_map(|block| &block.steps) {
            if let (Some(source), Some(result)) = (viewed(&step.action), step.results.first()) {
                let base = self.bases.get(&source).copied().unwrap_or(source);
                self.bases.insert(*result, base);
                if let Action::Bytes(OnBytes::Recast(_)) = step.action {
                    self.buffers.insert(base);
                }
            }
            regions(&step.action).iter().for_each(|region| self.region(region));
        }
    }
}

#[derive(Default)]
struct Uses {
    used: Vec<Slot>,
    defined: Vec<Slot>,
}

impl Uses {
    fn step(&mut self, step: &Step) {
        self.defined.extend(&step.results);
        self.action(&step.action);
        regions(&step.action).iter().for_each(|region| self.region(region));
    }

    fn region(&mut self, region: &Region) {
        for block in &region.blocks {
            self.defined.extend(&block.arguments);
            block.steps.iter().for_each(|step| self.step(step));
            match &block.end {
                End::Yield { values, inserts } => {
                    self.used.extend(values);
                    inserts.iter().for_each(|step| self.step(step));
                }
                End::Branch { condition, targets } => {
                    self.used.extend(condition);
                    targets.iter().for_each(|(_, arguments)| self.used.extend(arguments));
                }
            }
        }
    }

    fn sizes(&mut self, sizes: &[Size]) {
        self.used.extend(sizes.iter().filter_map(|size| if let Size::Slot(slot) = size { Some(*slot) } else { None }));
    }

    fn bounds<'b>(&mut self, bounds: impl IntoIterator<Item = &'b Bound>) {
        bounds.into_iter().for_each(|bound| self.used.extend(&bound.operands));
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Constant(_) | Action::Global(_) | Action::Run(_) | Action::Nothing | Action::Unknown => {}
            Action::Index(bound) => self.bounds([bound]),
            Action::Compute { operands, .. } | Action::Lanes { operands, .. } => self.used.extend(operands),
            Action::Concat { parts, .. } => self.used.extend(parts),
            Action::Empty(sizes) => self.used.extend(sizes),
            Action::Call { arguments, .. } => self.used.extend(arguments),
            Action::Bitcast(slot)
            | Action::Free(slot)
            | Action::Clone(slot)
            | Action::Cast(slot)
            | Action::Metadata(slot) => self.used.push(*slot),
            Action::Transpose { source, .. } => self.used.push(*source),
            Action::Copy { from, to } => self.used.extend([from, to]),
            Action::Dim { source, dim } => self.used.extend([source, dim]),
            Action::Extract { source, at } => {
                self.used.push(*source);
                self.sizes(at);
            }
            Action::Insert { item, into, at } => {
                self.used.extend([item, into]);
                self.sizes(at);
            }
            Action::Slice { source, insert, offsets, sizes, strides } => {
                self.used.push(*source);
                self.used.extend(insert);
                [offsets, sizes, strides].into_iter().for_each(|list| self.sizes(list));
            }
            Action::Reshape { source, sizes, .. } => {
                self.used.push(*source);
                self.sizes(sizes.as_deref().unwrap_or_default());
            }
            Action::Reinterpret { source, offset, sizes, strides } => {
                self.used.push(*source);
                [&[*offset][..], sizes, strides].into_iter().for_each(|list| self.sizes(list));
            }
            Action::Access(access) => {
                self.used.push(access.buffer);
                self.used.extend(&access.operands);
                self.used.extend(access.store.iter().chain(&access.mask).chain(&access.other));
            }
            Action::Nest(nest) => {
                self.used.extend(nest.inputs.iter().chain(&nest.outputs));
                self.defined.extend(nest.indices.iter().map(|(slot, _)| *slot));
            }
            Action::Generate { source, sizes, .. } => {
                self.used.extend(sizes);
                if let Some((source, low, high)) = source {
                    self.used.push(*source);
                    self.sizes(low);
                    self.sizes(high);
                }
            }
            Action::Loop { lower, upper, step, carried, .. } => {
                self.bounds([lower, upper]);
                self.sizes(&[*step]);
                self.used.extend(carried);
            }
            Action::Parallel { lower, upper, steps, outputs, .. } => {
                self.bounds(lower.iter().chain(upper));
                self.sizes(steps);
                self.used.extend(outputs);
            }
            Action::If { condition: Condition::Value(slot), .. } => self.used.push(*slot),
            Action::If { condition: Condition::Set { operands, .. }, .. } => self.used.extend(operands),
            Action::While { carried, .. } => self.used.extend(carried),
            Action::Switch { on, .. } => self.used.push(*on),
            Action::Assert { condition, .. } => self.used.push(*condition),
            Action::Print(pieces) => self.used.extend(pieces.iter().filter_map(|piece| match piece {
                PrintPiece::Element(slot, _) => Some(*slot),
                PrintPiece::Text(_) => None,
            })),
            Action::Bytes(action) => match action {
                OnBytes::View { source, shift, sizes } => {
                    self.used.extend([source, shift]);
                    self.used.extend(sizes);
                }
                OnBytes::Bools(slot) | OnBytes::Recast(slot) | OnBytes::Address(slot) => self.used.push(*slot),
                OnBytes::Start { from, to, elements, tag } => {
                    self.used.extend(from.iter().chain(to).chain([elements]).chain(tag));
                }
                OnBytes::Wait { tag, elements } => self.used.extend(tag.iter().chain([elements])),
            },
        }
    }
}
