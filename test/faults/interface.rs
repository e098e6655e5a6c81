//! The interface of a lowered function: types from text, element positions in memory, and random elements.

use crate::text;
use layout_reference::choices::Choices;
use layout_reference::tiled::lay_out;
use tensor_layout::tiled::Layout;

/// The limit of elements in an argument or result.
const LARGEST: i64 = 1 << 14;

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    pub bits: usize,
    /// The bits of the exponent and of the fraction, for a floating-point type.
    pub float: Option<(u32, u32)>,
}

impl Element {
    fn named(text: &str) -> Option<Element> {
        let float = |bits, exponent, fraction| Some(Element { bits, float: Some((exponent, fraction)) });
        match text {
            "f64" => float(64, 11, 52),
            "f32" => float(32, 8, 23),
            "f16" => float(16, 5, 10),
            "bf16" => float(16, 8, 7),
            "index" => Some(Element { bits: 64, float: None }),
            _ => {
                let bits = text.strip_prefix('i').or_else(|| text.strip_prefix("ui"))?.parse().ok()?;
                (bits <= 64).then_some(Element { bits, float: None })
            }
        }
    }

    /// The size of an element in bytes.
    fn bytes(self) -> usize {
        self.bits.div_ceil(8).next_power_of_two()
    }

    /// The bits with all NaNs replaced by one.
    fn plain(self, bits: u64) -> u64 {
        match self.float {
            Some((exponent, fraction)) => {
                let (most, inner) = ((1 << exponent) - 1, bits & ((1 << fraction) - 1));
                if bits >> fraction & most == most && inner != 0 {
                    most << fraction | 1 << (fraction - 1)
                } else {
                    bits
                }
            }
            None => bits,
        }
    }

    /// The floating-point number of these bits.
    pub fn number(self, bits: u64) -> Option<f64> {
        let (exponent, fraction) = self.float?;
        let sign = if bits >> (self.bits - 1) & 1 == 1 { -1.0 } else { 1.0 };
        let inner = (bits & ((1 << fraction) - 1)) as f64 / (1_u64 << fraction) as f64;
        let bias = (1 << (exponent - 1)) - 1;
        Some(match (bits >> fraction & ((1 << exponent) - 1)) as i32 {
            0 => sign * inner * 2_f64.powi(1 - bias),
            e if e == (1 << exponent) - 1 => {
                if inner == 0.0 {
                    sign * f64::INFINITY
                } else {
                    f64::NAN
                }
            }
            e => sign * (1.0 + inner) * 2_f64.powi(e - bias),
        })
    }

    /// The bits of a number, rounded toward zero.
    fn of(self, (exponent, fraction): (u32, u32), n: f64) -> u64 {
        let bits = n.to_bits();
        let e = (bits >> 52 & 0x7ff) as i64 - 1023 + (1 << (exponent - 1)) - 1;
        let sign = (bits >> 63) << (self.bits - 1);
        if n == 0.0 || e <= 0 {
            return sign;
        }
        sign | (e as u64) << fraction | (bits & ((1 << 52) - 1)) >> (52 - fraction)
    }

    /// Random bits: numbers that round, small integers, or special numbers.
    fn random(self, choices: &mut Choices, draw: usize) -> u64 {
        let mask = u64::MAX >> (64 - self.bits);
        let Some(parts) = self.float else {
            return mask
                & match draw % 3 {
                    0 => choices.u64(0..5),
                    1 => choices.u64(..),
                    _ => choices.choice(&[0, 1, u64::MAX, 1 << (self.bits - 1), mask >> 1, 2, 3, 7, 0xfe]),
                };
        };
        let (exponent, fraction) = parts;
        let infinity = ((1_u64 << exponent) - 1) << fraction;
        let uniform = |choices: &mut Choices| choices.i64(-1_000_000..1_000_000) as f64 / 500_000.0;
        match draw % 3 {
            0 => self.of(parts, uniform(choices)),
            1 => self.of(parts, choices.i64(-4..5) as f64),
            _ if choices.bool() => self.of(parts, uniform(choices)),
            _ => {
                let bits = choices.choice(&[
                    infinity,
                    infinity | 1,
                    infinity | 1 << (fraction - 1),
                    0,
                    1,
                    infinity - 1,
                    1 << fraction,
                ]);
                bits | u64::from(choices.bool()) << (self.bits - 1)
            }
        }
    }
}

/// An argument or a result.
#[derive(Clone, Debug)]
pub enum Value {
    Number(Element),
    Memory(Memory),
}

/// The positions of an array's elements in memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub element: Element,
    /// The descriptor's offset, sizes and strides.
    pub offset: i64,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
    /// The first bit of each element, relative to the descriptor's pointer.
    places: Vec<usize>,
    /// The number of bits that a write of an element changes.
    written: usize,
    /// The size of the buffer in bytes.
    pub bytes: usize,
}

/// The parts of a shaped type: its sizes, its element type, and its other parameters.
fn shaped(text: &str) -> Option<(Vec<i64>, Element, Vec<String>)> {
    let inside = text.strip_prefix("memref<").or_else(|| text.strip_prefix("tensor<"))?.strip_suffix('>')?;
    let mut rest = text::split(inside);
    let mut shape = rest.remove(0);
    let mut sizes = vec![];
    while shape.starts_with(|c: char| c.is_ascii_digit()) {
        let (size, other) = shape.split_once('x')?;
        sizes.push(size.parse().ok()?);
        shape = other.to_owned();
    }
    Some((sizes, Element::named(&shape)?, rest))
}

/// The strides and the offset of a memref of these sizes and parameters; `None` if it has another layout.
fn strided(sizes: &[i64], place: &[String]) -> Option<(Vec<i64>, i64)> {
    let mut strides: Vec<i64> =
        sizes.iter().rev().scan(1, |next, n| Some(std::mem::replace(next, *next * n))).collect();
    strides.reverse();
    let mut offset = 0;
    for part in place {
        if let Some(inside) = part.strip_prefix("strided<[") {
            let (list, behind) = inside.split_once(']')?;
            strides = text::split(list).iter().map(|n| n.parse().ok()).collect::<Option<_>>()?;
            offset = behind.strip_prefix(", offset: ").map_or(Some(0), |n| n.trim_end_matches('>').parse().ok())?;
        } else if part.contains("affine_map") || part.starts_with("#layout") {
            return None;
        }
    }
    Some((strides, offset))
}

/// The lowered value of a type; `None` if this test cannot pass it.
pub fn value(before: &str, after: &str) -> Option<Value> {
    if let Some(element) = Element::named(after) {
        return (before == after).then_some(Value::Number(element));
    }
    let (logical, element, encoding) = shaped(before)?;
    let (sizes, unit, place) = shaped(after)?;
    let count = |sizes: &[i64]| sizes.iter().try_fold(1_i64, |all, n| all.checked_mul(*n));
    let small = |sizes: &[i64]| count(sizes).is_some_and(|count| count <= LARGEST);
    if !after.starts_with("memref<") || !small(&logical) || !small(&sizes) {
        return None;
    }
    let (strides, offset) = strided(&sizes, &place)?;
    let bytes = unit.bytes();
    let extent: i64 = if sizes.contains(&0) {
        0
    } else {
        1 + sizes.iter().zip(&strides).map(|(n, stride)| (n - 1) * stride).sum::<i64>()
    };
    let whole = usize::try_from(offset + extent).ok()? * bytes;
    let layout = encoding.iter().find_map(|part| part.strip_prefix("#layout.tiled<"));
    let memory = |places, written, size| {
        Some(Value::Memory(Memory {
            element,
            offset,
            sizes: sizes.clone(),
            strides: strides.clone(),
            places,
            written,
            bytes: size,
        }))
    };
    let start = offset as usize * bytes * 8;
    let Some(layout) = layout else {
        if encoding.iter().any(|part| part.starts_with("#layout")) || logical != sizes || element != unit {
            return None;
        }
        let place =
            |index: Vec<i64>| start + 8 * bytes * index.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>() as usize;
        return memory(layout_reference::boxes::indices(&logical).into_iter().map(place).collect(), 8 * bytes, whole);
    };
    let layout: Layout = layout.strip_suffix('>')?.parse().ok()?;
    let own = 8 * element.bytes();
    let stored = if layout.element_bits == 0 { own } else { layout.element_bits as usize };
    let memory_of = lay_out(&logical, &layout);
    let places = memory_of.offsets(&logical).into_iter().map(|at| start + at as usize * stored).collect();
    let size = start / 8 + (memory_of.cells.len() * stored).div_ceil(8).div_ceil(bytes) * bytes;
    memory(places, if stored == own { own } else { element.bits }, size.max(whole))
}

impl Memory {
    /// Writes random elements.
    pub fn write(&self, choices: &mut Choices, draw: usize, memory: &mut [u8]) {
        for place in &self.places {
            let value = self.element.random(choices, draw);
            for bit in 0..self.written {
                let (byte, mask) = ((place + bit) / 8, 1 << ((place + bit) % 8));
                let set = bit < 64 && value >> bit & 1 == 1;
                memory[byte] = if set { memory[byte] | mask } else { memory[byte] & !mask };
            }
        }
    }

    /// The elements.
    pub fn read(&self, memory: &[u8]) -> Vec<u64> {
        let bit = |at: usize| u64::from(memory[at / 8] >> (at % 8) & 1);
        let all = |place: &usize| (0..self.element.bits).map(|k| bit(place + k) << k).sum();
        self.places.iter().map(|place| self.element.plain(all(place))).collect()
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The size in bytes up to the end of the last element.
    pub fn reach(&self) -> usize {
        self.places.iter().map(|place| (place + self.element.bits).div_ceil(8)).max().unwrap_or(0)
    }
}

impl Value {
    pub fn element(&self) -> Element {
        match self {
            Value::Number(element) => *element,
            Value::Memory(memory) => memory.element,
        }
    }

    /// A random number.
    pub fn random(&self, choices: &mut Choices, draw: usize) -> u64 {
        // An index must fit small arrays.
        let draw = if self.element() == (Element { bits: 64, float: None }) { 0 } else { draw };
        self.element().random(choices, draw)
    }

    pub fn plain(&self, bits: u64) -> u64 {
        let element = self.element();
        element.plain(bits & (u64::MAX >> (64 - element.bits)))
    }
}

/// The arguments and results of a function.
#[derive(Clone, Debug)]
pub struct Interface {
    pub name: String,
    pub arguments: Vec<Value>,
    pub results: Vec<Value>,
}

/// The types in the first line of a function in generic form.
pub fn types_of(header: &str) -> Option<(Vec<String>, Vec<String>)> {
    let start = header.find("function_type = ")? + "function_type = ".len();
    let end = header.find(", sym_name = ")?;
    text::signature(header.get(start..end)?)
}

impl Interface {
    /// The interface of a function before and after lowering.
    pub fn new(name: &str, before: &str, after: &str) -> Option<Interface> {
        let ((inputs, outputs), (arguments, results)) = (types_of(before)?, types_of(after)?);
        if inputs.len() != arguments.len() || outputs.len() != results.len() {
            return None;
        }
        let all = |from: &[String], to: &[String]| -> Option<Vec<Value>> {
            from.iter().zip(to).map(|(from, to)| value(from, to)).collect()
        };
        Some(Interface { name: name.into(), arguments: all(&inputs, &arguments)?, results: all(&outputs, &results)? })
    }
}
