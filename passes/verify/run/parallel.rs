//! Loops whose iterations run in any order: no iteration may write what another reads or writes.

use crate::reader::model::{Action, End, Region, Slot};
use crate::run::machine::{Value, each_index};
use crate::run::{Frame, Run, Stop};
use rustc_hash::FxHashMap;

impl<'p> Run<'p> {
    /// Runs all iterations, in their order, and remembers which touches what.
    pub fn parallel(
        &mut self,
        frame: &mut Frame<'p>,
        [lower, upper, steps]: [Vec<i64>; 3],
        outputs: &'p [Slot],
        body: &'p Region,
    ) -> Result<Vec<Value>, Stop> {
        if steps.iter().any(|step| *step <= 0) {
            return self.fault(format!("loops of steps {steps:?}"));
        }
        let trips = |d: usize| {
            let length = (i128::from(upper[d]) - i128::from(lower[d])).max(0);
            i64::try_from((length + i128::from(steps[d]) - 1) / i128::from(steps[d])).ok()
        };
        let Some(trips) = (0..lower.len()).map(trips).collect::<Option<Vec<i64>>>() else { return Err(Stop::Steps) };
        let (mut values, before) = (self.all(frame, outputs)?, self.iterations);
        let Some(block) = body.blocks.first() else { return self.unknown("a region without blocks") };
        let End::Yield { inserts, .. } = &block.end else { return self.unknown("a branch") };
        // By which iteration each element of an output was inserted.
        let mut inserted: FxHashMap<(usize, Vec<i64>), u32> = FxHashMap::default();
        let (first, around) = (self.next_iteration, before.unwrap_or_default());
        each_index(&trips, |trip| {
            self.count(1)?;
            self.next_iteration += 1;
            self.iterations = around.inside(first, self.next_iteration);
            if self.iterations.is_none() {
                return self.unknown("so many loops in any order inside of each other");
            }
            let known = self.buffers.len();
            let indices = trip.iter().enumerate().map(|(d, k)| Value::Index(lower[d] + k * steps[d]));
            let arguments = indices.chain(self.all(frame, outputs)?).collect();
            self.block(frame, block, arguments)?;
            for insert in inserts {
                let Action::Slice { source, offsets, sizes, strides, .. } = &insert.action else {
                    return self.unknown("this insertion");
                };
                let Some(k) = block.arguments[trips.len()..].iter().position(|slot| slot == source) else {
                    return self.unknown("an insertion into this");
                };
                let part = [offsets, sizes, strides].map(|list| self.sizes(frame, list));
                let [offsets, extents, steps] = part;
                let (offsets, extents, steps) = (offsets?, extents?, steps?);
                each_index(&extents, |index| {
                    self.count(1)?;
                    let at = |d: usize| steps[d].wrapping_mul(index[d]).wrapping_add(offsets[d]);
                    let at: Vec<i64> = (0..index.len()).map(at).collect();
                    let number = self.next_iteration;
                    if *inserted.entry((k, at)).or_insert(number) != number {
                        return self.fault("an element that two iterations insert");
                    }
                    Ok(())
                })?;
                frame.1[*source as usize] = Some(values[k].clone());
                values[k] = self.action(frame, insert, &insert.action)?.remove(0);
            }
            self.leave(known);
            Ok(())
        })?;
        self.next_iteration += 1;
        self.iterations = before;
        Ok(values)
    }
}
