//! XLA's buffer assignment: the address of each buffer, as a dump has it beside the module.
//!
//! ```text
//! BufferAssignment:
//! allocation 2: size 4096, color 1, preallocated-temp:
//!  value: <25 fusion.9{1} @1> (size=512,offset=1024): f32[128]{0:T(128)S(1)}
//! ```

use super::aliases::{AliasedPart, FirstLeaves, part};
use super::module::Module;
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error};
use std::collections::{BTreeMap, HashMap};

/// The addresses that XLA gave to the buffers of a module.
///
/// Offsets are relative to allocations, of which the text has no addresses. So the allocations of a memory lie one behind
/// the other, in the order of the text, without those of a thread, which are inside of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    /// The bytes of all allocations, by memory space.
    pub bytes: BTreeMap<u8, i64>,
    addresses: HashMap<LeafPlace, i64>,
}

/// A leaf of an instruction: the numbers of its computation, of itself and of the leaf.
type LeafPlace = (usize, usize, usize);

/// The computation, the number and the shape of each instruction.
type Named<'m> = HashMap<&'m str, (usize, usize, &'m Shape)>;

impl Assignment {
    /// The assignment of a module. Buffers of instructions that the module does not have are left out.
    ///
    /// # Errors
    /// A text of another form, with the byte of its line; bytes that overflow 64 bits.
    pub fn parse(text: &str, module: &Module) -> Result<Assignment, Error> {
        let named = named(module);
        let (mut found, mut firsts) = (Assignment::default(), FirstLeaves::new());
        // The address of the allocation above; none of one of a thread.
        let mut base = None;
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let wrong = |expected: &str| Error::at(from, format!("expected {expected}")).syntax();
            let sum = |a: i64, b: i64| {
                a.checked_add(b).ok_or_else(|| Error::at(from, "the addresses do not fit in 64 bits").too_large())
            };
            if from == 0 && !line.starts_with("BufferAssignment:") {
                return Err(wrong("`BufferAssignment:`"));
            }
            if line.starts_with("allocation ") {
                let (size, space) = allocation(line).ok_or_else(|| wrong("`allocation NUMBER: size BYTES, ..:`"))?;
                let bytes = found.bytes.entry(space).or_default();
                let is_whole = !line.contains(", thread-local");
                base = is_whole.then_some(*bytes);
                *bytes = sum(*bytes, if is_whole { size } else { 0 })?;
            } else if line.starts_with(" value: ") {
                let (name, index, offset) =
                    value(line).ok_or_else(|| wrong("`value: <NUMBER NAME @NUMBER> (size=BYTES,offset=BYTES)`"))?;
                let place = place(&named, name, index, &mut firsts);
                if let Some((place, base)) = place.zip(base) {
                    found.addresses.insert(place, sum(base, offset)?);
                }
            }
            from += line.len();
        }
        Ok(found)
    }

    /// The address of a leaf; `None` where XLA has no buffer that begins with it.
    pub fn address(&self, computation: usize, instruction: usize, leaf: usize) -> Option<i64> {
        self.addresses.get(&(computation, instruction, leaf)).copied()
    }
}

fn named(module: &Module) -> Named<'_> {
    let all = module.computations.iter().enumerate();
    let all = all.flat_map(|(c, own)| own.instructions.iter().enumerate().map(move |(k, own)| (c, k, own)));
    all.map(|(c, k, own)| (&*own.name, (c, k, &own.shape))).collect()
}

/// The size and the memory space of an allocation.
fn allocation(line: &str) -> Option<(i64, u8)> {
    let space = line.contains(", color ").then(|| number(line, ", color "));
    Some((number(line, ": size ")?, space.map_or(Some(0), |space| space?.try_into().ok())?))
}

/// The instruction of a value, the index of its leaf, such as `{1}` or nothing, and the offset.
fn value(line: &str) -> Option<(&str, &str, i64)> {
    let (name, _) = line.split_once('<')?.1.split_once(" @")?;
    let (_, name) = name.split_once(' ')?;
    let (name, index) = name.split_at(name.find('{').unwrap_or(name.len()));
    Some((name, index, number(line, ",offset=")?))
}

/// The digits behind a word.
fn number(line: &str, word: &str) -> Option<i64> {
    let rest = line.split_once(word)?.1;
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

/// The leaf at an index; `None` for a tuple, whose table has a buffer of its own, and for an unknown name.
fn place(named: &Named, name: &str, index: &str, firsts: &mut FirstLeaves) -> Option<LeafPlace> {
    let (computation, instruction, shape) = *named.get(name)?;
    let whole = AliasedPart { first: 0, shape };
    let part = if index.is_empty() { whole } else { part(&mut Cursor::new(index), shape, firsts).ok()? };
    (!matches!(part.shape, Shape::Tuple(_))).then_some((computation, instruction, part.first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
BufferAssignment:
allocation 0: size 128, thread-local:
 value: <0 x @0> (size=128,offset=0): f32[32]{0}
allocation 1: size 512, parameter 0, shape |f32[128]| at ShapeIndex {}:
 value: <1 p @0> (size=512,offset=0): f32[128]{0}
allocation 2: size 64, color 1, preallocated-temp:
 value: <3 t{1,0} @1> (size=16,offset=32): f32[4]{0:S(1)}
allocation 3: size 4096, preallocated-temp:
 value: <2 t{} @0> (size=24,offset=8): (f32[2]{0}, (f32[4]{0:S(1)}, f32[8]{0}))
 value: <4 t{1,1} @0> (size=32,offset=128): f32[8]{0}
 value: <5 gone @0> (size=32,offset=256): f32[8]{0}

Total bytes used: 4672 (4.56KiB)

Used values:
<0 x @0>
 positions:
  x
";

    fn module() -> Module {
        let text = "HloModule m
ENTRY main {
  p = f32[128]{0} parameter(0)
  ROOT t = (f32[2]{0}, (f32[4]{0:S(1)}, f32[8]{0})) custom-call(p), custom_call_target=\"f\"
}";
        Module::parse(text).unwrap()
    }

    #[test]
    fn allocations_of_a_memory_lie_one_behind_the_other() {
        let found = Assignment::parse(TEXT, &module()).unwrap();
        let at = |k, leaf| found.address(0, k, leaf);
        assert_eq!([at(0, 0), at(1, 0), at(1, 1), at(1, 2)], [Some(0), None, Some(32), Some(512 + 128)]);
        assert_eq!(found.bytes, BTreeMap::from([(0, 512 + 4096), (1, 64)]));
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |from: &str, to: &str| {
            let text = TEXT.replacen(from, to, 1);
            let error = Assignment::parse(&text, &module()).unwrap_err();
            (error.line_column(&text).unwrap(), error.message)
        };
        assert_eq!(wrong("BufferAssignment", "HloModule"), ((1, 1), "expected `BufferAssignment:`".to_string()));
        assert_eq!(wrong("size 512", "bytes").0, (4, 1));
        assert_eq!(wrong("color 1", "color 256").0, (6, 1));
        assert_eq!(wrong("offset=128", "offset=x").0, (10, 1));
        assert_eq!(wrong("offset=128", "offset=9223372036854775807").1, "the addresses do not fit in 64 bits");
    }
}
