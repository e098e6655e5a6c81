//! Proofs that two functions return the same.

use crate::proof::follow::Proof;
use crate::proof::layout::{AddressMap, row_major};
use crate::proof::linear::{Linear, Shown, Space, Undecided, unproved};
use crate::proof::statements::FunctionResult;
use crate::proof::subscript::Subscript;
use crate::proof::value::{Head, LoopPosition, Thunk};
use crate::reader::floats::{Format, parts};

impl Proof<'_> {
    /// Proves that both programs leave the same in the result of this number.
    ///
    /// # Errors
    /// [`Undecided::Unproved`], and why.
    pub fn same(&mut self, number: usize) -> Shown<()> {
        self.memo.forget(0);
        self.space = Space::default();
        let [meant, made] =
            self.programs.map(|program| (program.results.get(number), (0, program.blocks[0].statements.len())));
        match (meant, made) {
            (
                (Some(FunctionResult::Value { value: a, lanes, of }), _),
                (Some(FunctionResult::Value { value: b, lanes: others, of: other }), _),
            ) => {
                if (lanes, of) != (others, other) {
                    return unproved("results of different types");
                }
                let lane = Linear::var(self.space.var(*lanes));
                let [a, b] = [(0, *a), (1, *b)].map(|(side, value)| Thunk::Value {
                    side,
                    value,
                    lane: lane.clone(),
                    place: LoopPosition::default(),
                });
                self.shown(&a, &b)
            }
            ((Some(FunctionResult::Elements(meant)), end), (Some(FunctionResult::Elements(made)), made_end)) => {
                if meant.sizes.contains(&0) {
                    return Ok(());
                }
                let (a, b, here) = (&meant.buffer, &made.buffer, &meant.here);
                let index: Vec<Linear> = meant.sizes.iter().map(|n| Linear::var(self.space.var(*n))).collect();
                let lowered = match (&meant.there, &made.there) {
                    (Some(there), None) if made.is_memref => {
                        let AddressMap::Strided(Subscript::Constant(0), strides) = &made.here else {
                            return unproved("a result that does not begin where its buffer does");
                        };
                        if !there.has_parts(&made.sizes, strides) {
                            return unproved("a result whose strides are not those of its layout");
                        }
                        if there.size(&meant.sizes).is_none_or(|size| self.programs[1].buffers[*b].0 < size) {
                            return unproved("a result in a buffer that is smaller than its layout");
                        }
                        there
                    }
                    (there, kept) if there == kept && meant.sizes == made.sizes => {
                        let plain = if meant.is_memref { Some(meant.here.clone()) } else { row_major(&made.sizes) };
                        if there.is_none() && made.is_memref && plain.as_ref() != Some(&made.here) {
                            return unproved("a result that does not lie where its type puts it");
                        }
                        &made.here
                    }
                    _ => return unproved("results of different shapes or layouts"),
                };
                if meant.of != made.of {
                    return unproved("results of different elements");
                }
                // Each of the copies in lowered memory.
                let mut copies = index.clone();
                if made.there.is_none() {
                    copies.extend(lowered.copies().iter().map(|(n, _)| Linear::var(self.space.var(*n))));
                }
                let first = Thunk::Memory {
                    side: 0,
                    buffer: *a,
                    address: self.address(here, &index)?,
                    at: end,
                    place: LoopPosition::default(),
                };
                let second = Thunk::Memory {
                    side: 1,
                    buffer: *b,
                    address: self.address(lowered, &copies)?,
                    at: made_end,
                    place: LoopPosition::default(),
                };
                self.shown(&first, &second)
            }
            ((Some(FunctionResult::Unknown(why)), _), _) | (_, (Some(FunctionResult::Unknown(why)), _)) => {
                unproved(why.clone())
            }
            _ => unproved("results of different kinds"),
        }
    }

    /// Shows that two elements of results are equal, for each value of the variables.
    ///
    /// # Errors
    /// [`Undecided::Wrong`] where they are elements of arguments that differ for some value.
    fn shown(&mut self, a: &Thunk, b: &Thunk) -> Shown<()> {
        self.cases(&mut |proof| match proof.equal_here(a, b) {
            Err(Undecided::Unproved(why)) if !proof.space.is_reached() => unproved(why),
            Err(Undecided::Unproved(why)) => match [proof.head(a.clone())?, proof.head(b.clone())?] {
                [Head::Input(m, x), Head::Input(n, y)]
                    if [&m, &n].iter().all(|name| name.starts_with("argument"))
                        && (m != n || proof.space.has_other(&x.minus(&y)?)?) =>
                {
                    Err(Undecided::Wrong(match m == n {
                        true => format!("an element of {n} that is read at another index than before"),
                        false => format!("an element of {n}, which differs from one of {m}"),
                    }))
                }
                [Head::Constant(m), Head::Constant(n)] if is_other(&m, &n) => {
                    Err(Undecided::Wrong(format!("the constant {n}, which differs from {m}")))
                }
                _ => unproved(why),
            },
            found => found,
        })
    }
}

/// Whether two constants, `type bits`, are not the same number, where NaNs are alike.
fn is_other(a: &str, b: &str) -> bool {
    let split = |text: &str| {
        let (of, bits) = text.split_once(' ')?;
        Some((of.to_owned(), bits.parse::<u64>().ok()?))
    };
    let Some(((of, a), (other, b))) = split(a).zip(split(b)) else { return false };
    let differs = |(float, low): (Option<Format>, u32)| {
        let Some(float) = float else { return a != b };
        let [a, b] = [a, b].map(|bits| float.part(bits, low));
        a != b && !(float.is_nan(a) && float.is_nan(b))
    };
    of == other && parts(&of).into_iter().any(differs)
}
