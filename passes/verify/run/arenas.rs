//! Memory seen as other elements than it was made of, and copies that run beside the program.
//!
//! An arena is memory of bytes of which parts are seen as elements of several bytes (`memref.view`). The first byte of an
//! element has its term, and each of its bytes has the address of the first and their number:
//!
//! ```text
//! store f32 at 4       items  . . . . x - - - . .      stored  (4, 4) of bytes 4 to 7
//! store bf16 at 6      items  . . . . x - y - . .      stored  (4, 4) of bytes 4 and 5, (6, 2) of 6 and 7
//! load f32 at 4        not all bytes are of one element of four: undefined
//! ```
//!
//! A copy that has started may have written any of its elements, and may still read any: until the program waits for it,
//! what it writes is undefined, and none of its elements may be written.

use crate::reader::bytes::OnBytes;
use crate::reader::layouts::row_major;
use crate::reader::model::{Slot, Step};
use crate::run::bytes::{SeenAs, Started};
use crate::run::machine::{Value, View, product};
use crate::run::terms::{Piece, Term};
use crate::run::{Frame, Run, Stop};
use std::rc::Rc;

/// How far apart buffers begin: no buffer that fits in a run has as many bytes.
const APART: i64 = 1 << 40;

impl<'p> Run<'p> {
    /// Runs an operation on bytes and gives its result, if it has one.
    pub fn on_bytes(&mut self, frame: &Frame<'p>, step: &'p Step, action: &'p OnBytes) -> Result<Vec<Value>, Stop> {
        let slot = step.results.first().copied().unwrap_or_default();
        match action {
            OnBytes::View { source, shift, sizes } => {
                let (view, start) = (self.view(self.get(frame, *source)?)?, self.index(frame, *shift)?);
                let first = match view.shown {
                    SeenAs::Same => Some(0),
                    SeenAs::Bytes { start, width: 1, .. } => Some(start),
                    _ => None,
                };
                let first = first.filter(|_| view.strides == [1]).and_then(|first| first.checked_add(view.offset));
                let (Some(first), 8) = (first, self.element(frame, *source)?.bits) else {
                    return self.unknown("a view of this");
                };
                let element = self.element(frame, slot)?;
                let sizes = self.sizes_of(frame, slot, sizes)?;
                let Some(strides) = row_major(&sizes) else { return self.unknown("a view of that size") };
                let start = start.saturating_add(first);
                let shown = SeenAs::Bytes { start, width: i64::from(element.pitch() / 8), bits: element.bits };
                let made = View { offset: 0, sizes, strides, shown, layout: None, ..(*view).clone() };
                Ok(vec![Value::View(Rc::new(made))])
            }
            OnBytes::Bools(source) => {
                let view = self.view(self.get(frame, *source)?)?;
                let byte = |slot| self.element(frame, slot).map(|element| element.bits);
                if byte(*source)? != 1 || byte(slot)? != 8 || view.shown != SeenAs::Same {
                    return self.unknown("memory as other elements");
                }
                Ok(vec![Value::View(Rc::new(View { shown: SeenAs::Bools, ..(*view).clone() }))])
            }
            OnBytes::Recast(_) => self.unknown("memory under another layout"),
            OnBytes::Address(source) => {
                let view = self.view(self.get(frame, *source)?)?;
                let start = if let SeenAs::Bytes { start, .. } = view.shown { start } else { 0 };
                Ok(vec![Value::Index((view.buffer as i64 + 1).saturating_mul(APART).saturating_add(start))])
            }
            OnBytes::Start { from, to, elements, tag } => {
                let count = self.index(frame, *elements)?;
                let tag = self.place(frame, tag)?;
                let [from, to] = [self.place(frame, from)?, self.place(frame, to)?];
                let mut items = vec![];
                for k in 0..count {
                    self.count(1)?;
                    items.push(self.at(from, k, None)?);
                }
                let bits = items.first().map_or(1, |item| u32::from(self.terms.info(*item).width));
                let undefined = self.terms.undefined(bits);
                for k in 0..count {
                    self.at(to, k, Some(undefined))?;
                }
                for (buffer, first) in [from, to] {
                    self.buffers[buffer].copied.push((first, first.saturating_add(count)));
                }
                self.started.push(Started { tag, from, to, items });
                Ok(vec![])
            }
            OnBytes::Wait { tag, elements } => {
                let (tag, count) = (self.place(frame, tag)?, self.index(frame, *elements)?);
                let Some(number) = self.started.iter().position(|started| started.tag == tag) else {
                    return self.fault("a wait for a copy that has not started");
                };
                let Started { from, to, items, .. } = self.started.remove(number);
                if count != items.len() as i64 {
                    return self.fault(format!("a wait for {count} elements of a copy of {}", items.len()));
                }
                for (buffer, first) in [from, to] {
                    let copied = &mut self.buffers[buffer].copied;
                    let range = (first, first.saturating_add(count));
                    copied.iter().position(|known| *known == range).map(|k| copied.remove(k));
                }
                for (k, item) in (0..).zip(items) {
                    self.count(1)?;
                    self.at(to, k, Some(item))?;
                }
                Ok(vec![])
            }
        }
    }

    /// The same bits as elements of another width.
    pub fn bitcast(&mut self, frame: &Frame, source: Slot, result: Slot) -> Result<Value, Stop> {
        let (from, to) = (self.element(frame, source)?.bits, self.element(frame, result)?.bits);
        let source = self.get(frame, source)?;
        let items = source.items(self.terms).unwrap_or_default();
        self.count(items.len())?;
        if from == to {
            return self.of_type(frame, result, source.sizes().to_vec(), items);
        }
        let [Ok(from), Ok(to)] = [from, to].map(u8::try_from) else { return self.unknown("elements of so many bits") };
        if from > 64 || to > 64 || from == 0 || to == 0 {
            return self.unknown("elements of so many bits");
        }
        let (mut all, mut pieces, mut filled): (_, Vec<Piece>, u8) = (vec![], vec![], 0);
        for item in items {
            let mut low = 0;
            while low < from {
                let len = (from - low).min(to - filled);
                pieces.extend(self.terms.pieces(item, low, len));
                (low, filled) = (low + len, filled + len);
                if filled == to {
                    all.push(self.terms.bits(std::mem::take(&mut pieces)));
                    filled = 0;
                }
            }
        }
        let sizes = self.static_sizes(frame, result)?;
        if product(&sizes) != Some(all.len()) {
            return self.unknown("a cast of other bits");
        }
        self.of_type(frame, result, sizes, all)
    }

    /// The buffer and the address of an element: a memref and its indices.
    fn place(&mut self, frame: &Frame<'p>, operands: &[Slot]) -> Result<(usize, i64), Stop> {
        let Some((memref, indices)) = operands.split_first() else { return self.unknown("a copy of nothing") };
        let view = self.view(self.get(frame, *memref)?)?;
        let mut at = vec![];
        for slot in indices {
            at.push(self.index(frame, *slot)?);
        }
        match view.address(&at) {
            Some(address) if self.is_plain(&view) && view.layout.is_none() => Ok((view.buffer, address)),
            Some(_) => self.unknown("a copy of this memory"),
            None => self.fault(format!("index {at:?} of a memref of sizes {:?}", view.sizes)),
        }
    }

    /// Whether nothing sees the memory of a view as other elements.
    pub fn is_plain(&self, view: &View) -> bool {
        view.shown == SeenAs::Same && self.buffers[view.buffer].stored.is_empty()
    }

    /// Reads or writes the `k`th element behind an address, and gives what was there.
    fn at(&mut self, (buffer, address): (usize, i64), k: i64, write: Option<Term>) -> Result<Term, Stop> {
        let (iterations, here) = (self.iterations, self.at);
        let writes = write.is_some();
        let done =
            self.buffers[buffer].access(address.saturating_add(k), iterations, writes, |old| write.unwrap_or(old));
        done.map_err(|what| Stop::Fault(what, here))
    }

    /// Reads or writes an element of a view of other elements, and gives what was there.
    pub fn element_of_bytes(
        &mut self,
        view: &View,
        shown: SeenAs,
        address: i64,
        write: Option<Term>,
    ) -> Result<Term, Stop> {
        let SeenAs::Bytes { start, width, bits } = shown else {
            let byte = |run: &mut Run, bool: Term| {
                let mut pieces = run.terms.pieces(bool, 0, 1);
                pieces.push(Piece { of: run.terms.constant(7, 0), low: 0, len: 7 });
                run.terms.bits(pieces)
            };
            let stored = match write {
                Some(new) => {
                    let low = self.terms.pieces(new, 0, 1);
                    let low = self.terms.bits(low);
                    if byte(self, low) != new {
                        return self.unknown("a byte that may be neither 0 nor 1");
                    }
                    Some(low)
                }
                None => None,
            };
            let before = self.at((view.buffer, address), 0, stored)?;
            return Ok(byte(self, before));
        };
        let Some(first) = address.checked_mul(width).and_then(|at| at.checked_add(start)) else {
            return self.fault(format!("address {address} of a view of bytes"));
        };
        let mut before = self.at((view.buffer, first), 0, write)?;
        for k in 1..width {
            self.at((view.buffer, first), k, write)?;
        }
        let buffer = &mut self.buffers[view.buffer];
        buffer.stored.resize(buffer.items.len(), (-1, 0));
        // All bytes are there.
        let bytes = &mut buffer.stored[first as usize..(first + width) as usize];
        let whole = bytes.iter().all(|of| *of == (first, width));
        if write.is_some() {
            bytes.fill((first, width));
        }
        // Other bits of as many bytes are other elements.
        if !whole || u32::from(self.terms.info(before).width) != bits {
            before = self.terms.undefined(bits);
        }
        Ok(before)
    }
}
