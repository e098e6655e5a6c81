//! Elements as numbers or as terms, and when two are the same.
//!
//! A term is an operation on elements, or what operations that associate and commute make of many: the operation with a hash
//! of the elements, in which their order does not count. Equal elements have equal terms, but for these rules, unequal terms
//! are of different elements.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// Bits.
    Number(u64),
    /// The number of a term.
    Term(u32),
    /// Padding, or memory that nobody wrote.
    Undefined,
}

/// The type of an element, as text with its bits.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    pub text: String,
    pub bits: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Node {
    /// An element of an argument.
    Input(usize, usize),
    Of(u32, Box<[Item]>),
    /// An operation in any order: the sum of the hashes of its elements, and how many there are.
    Any(u32, u128, u64),
}

type Fold = Box<dyn Fn(&[u64]) -> Option<u64>>;

/// An operation on elements.
pub struct Operation {
    /// Its name, the attributes that decide what it computes, and its types.
    pub text: String,
    /// What it makes of numbers, where that is computed here.
    pub fold: Option<Fold>,
    pub commutes: bool,
    /// Whether its operands may be grouped in any way and come in any order.
    pub any_order: bool,
    /// The bits of elements that change nothing, as the second operand, or as any where it commutes.
    pub neutral: Vec<u64>,
    /// The product and the sum of `math.fma`, where these may be rounded once.
    pub fused: Option<(u32, u32)>,
    /// The bits of -1, of a division: by 0, and by -1, it may be undefined behaviour.
    divides: Option<u64>,
}

/// All terms of both forms.
#[derive(Default)]
pub struct Terms {
    /// Each with the number of its text: those that differ in their flags alone have one.
    operations: Vec<(Operation, u32)>,
    texts: FxHashMap<String, u32>,
    nodes: Vec<Node>,
    by_node: FxHashMap<Node, u32>,
    /// The divisions of the first form that may be by 0, with their operands, and whether the second form runs.
    pub divisions: FxHashSet<(u32, Box<[Item]>)>,
    pub is_second: bool,
    /// Whether both forms are known to differ, and not only not known to be the same.
    pub differs: bool,
}

/// As many bits that are set.
pub fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// A hash of 128 bits.
fn hash(item: Item) -> u128 {
    let half = |salt: u8| u128::from(BuildHasherDefault::<DefaultHasher>::default().hash_one((salt, item)));
    half(0) << 64 | half(1)
}

impl Terms {
    /// The number of an operation.
    pub fn operation(&mut self, operation: Operation) -> u32 {
        let next = self.texts.len() as u32;
        let text = *self.texts.entry(operation.text.clone()).or_insert(next);
        self.operations.push((operation, text));
        self.operations.len() as u32 - 1
    }

    fn term(&mut self, node: Node) -> Item {
        let next = self.nodes.len() as u32;
        let id = *self.by_node.entry(node.clone()).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        Item::Term(id)
    }

    /// Whether two elements have other values, for some elements of the arguments: numbers and arguments that are not the same.
    pub fn is_other(&self, old: Item, new: Item) -> bool {
        let is_input = |item| matches!(item, Item::Term(t) if matches!(self.nodes[t as usize], Node::Input(..)));
        old != new && [old, new].into_iter().all(|item| is_input(item) || matches!(item, Item::Number(_)))
    }

    pub fn input(&mut self, argument: usize, element: usize) -> Item {
        self.term(Node::Input(argument, element))
    }

    /// The element that an operation makes of others.
    ///
    /// # Errors
    /// An operation on numbers that has no result.
    pub fn apply(&mut self, id: u32, items: &[Item]) -> Result<Item, String> {
        let made = self.made(id, items)?;
        let is_open = |ones: u64| !matches!(items[1], Item::Number(n) if n != 0 && n != ones);
        let (operation, same) = &self.operations[id as usize];
        if operation.divides.is_some_and(is_open) {
            let division = (*same, items.into());
            if !self.is_second {
                self.divisions.insert(division);
            } else if items.contains(&Item::Undefined) || !self.divisions.contains(&division) {
                return Err("a division that was not there".into());
            }
        }
        Ok(made)
    }

    fn made(&mut self, id: u32, items: &[Item]) -> Result<Item, String> {
        let (Operation { text, fold, commutes, any_order, neutral, fused, .. }, same) = &self.operations[id as usize];
        let same = *same;
        if items.contains(&Item::Undefined) {
            return Ok(Item::Undefined);
        }
        let number = |item: &Item| if let Item::Number(n) = item { Some(*n) } else { None };
        if let (Some(fold), Some(numbers)) = (fold, items.iter().map(number).collect::<Option<Vec<_>>>()) {
            return fold(&numbers)
                .map(Item::Number)
                .ok_or_else(|| format!("'{text}' of numbers that it has no result of"));
        }
        if let Some((product, sum)) = *fused {
            let product = self.apply(product, &items[..2])?;
            return self.apply(sum, &[product, items[2]]);
        }
        let is_neutral = |item: &Item| matches!(item, Item::Number(n) if neutral.contains(n));
        match items {
            [a, b] if is_neutral(b) => return Ok(*a),
            [a, b] if is_neutral(a) && *commutes => return Ok(*b),
            _ => (),
        }
        if !*any_order {
            let mut items: Box<[Item]> = items.into();
            if *commutes {
                items.sort_unstable_by_key(|item| hash(*item));
            }
            return Ok(self.term(Node::Of(same, items)));
        }
        let (mut sum, mut count) = (0u128, 0u64);
        for item in items {
            let node = if let Item::Term(t) = item { self.nodes.get(*t as usize) } else { None };
            let (more, of) = match node {
                Some(Node::Any(other, sum, count)) if *other == same => (*sum, *count),
                _ => (hash(*item), 1),
            };
            sum = sum.wrapping_add(more);
            // An element that is counted 2^64 times or more would be one that is counted less often.
            count = count.checked_add(of).filter(|n| *n < 1 << 40).ok_or("a sum of too many elements")?;
        }
        Ok(self.term(Node::Any(same, sum, count)))
    }
}

/// The operation of this name and these attributes: `from` and `to` are the types of its last operand and of its result, `flags`
/// those of [`flag`].
pub fn operation(name: &str, attributes: &str, of: [&Element; 2], flags: u32, allowed: u32) -> Operation {
    let [from, to] = of.map(|element| (&*element.text, element.bits));
    let (all, mask, width) = (ones(to.1), ones(from.1), from.1);
    let signed = move |n: u64| ((n << (64 - width.clamp(1, 64))) as i64) >> (64 - width.clamp(1, 64));
    let predicate = attributes.split("predicate = ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    let predicate: usize = predicate.unwrap_or(usize::MAX);
    let short = name.split_once('.').map_or("", |parts| parts.1);
    // Sums and products as exact integers, that the flags may bound.
    let exact = |f: fn(i128, i128) -> i128| -> Option<Fold> {
        Some(Box::new(move |n| {
            let (s, u) = (f(signed(n[0]).into(), signed(n[1]).into()), f(n[0].into(), n[1].into()));
            let result = s as u64 & mask;
            let wraps = flags & NSW != 0 && s != signed(result).into() || flags & NUW != 0 && u != result.into();
            (!wraps).then_some(result)
        }))
    };
    let unsigned =
        |f: fn(u64, u64) -> Option<u64>| -> Option<Fold> { Some(Box::new(move |n| Some(f(n[0], n[1])? & all))) };
    let integers = |f: fn(i64, i64) -> Option<i64>| -> Option<Fold> {
        Some(Box::new(move |n| Some(f(signed(n[0]), signed(n[1]))? as u64 & all)))
    };
    let shift = |f: fn(u64, u32) -> u64| -> Option<Fold> {
        Some(Box::new(move |n| (n[1] < width.into() && flags == 0).then(|| f(n[0], n[1] as u32) & all)))
    };
    let fold: Option<Fold> = match short {
        "addi" => exact(|a, b| a + b),
        "subi" => exact(|a, b| a - b),
        "muli" => exact(|a, b| a.wrapping_mul(b)),
        "divui" if flags == 0 => unsigned(u64::checked_div),
        "remui" => unsigned(u64::checked_rem),
        "divsi" if flags == 0 => integers(i64::checked_div),
        "andi" => unsigned(|a, b| Some(a & b)),
        "ori" if flags == 0 => unsigned(|a, b| Some(a | b)),
        "shli" => shift(|a, by| a << by),
        "shrui" => shift(|a, by| a >> by),
        "cmpi" => Some(Box::new(move |n| {
            let tests =
                [Ordering::is_eq, Ordering::is_ne, Ordering::is_lt, Ordering::is_le, Ordering::is_gt, Ordering::is_ge];
            // The last four are unsigned.
            let (test, order) = match predicate {
                0..6 => (predicate, signed(n[0]).cmp(&signed(n[1]))),
                _ => (predicate.checked_sub(4)?, n[0].cmp(&n[1])),
            };
            Some(tests.get(test)?(order).into())
        })),
        "extui" | "index_castui" | "trunci" if flags == 0 => Some(Box::new(move |n| Some(n[0] & all))),
        "extsi" | "index_cast" => Some(Box::new(move |n| Some(signed(n[0]) as u64 & all))),
        _ => None,
    };
    let any_order = match short {
        "addi" | "muli" => flags & (NSW | NUW) == 0,
        "andi" | "ori" | "xori" | "minsi" | "maxsi" | "minui" | "maxui" | "maximumf" | "minimumf" => true,
        "addf" | "mulf" | "maxnumf" | "minnumf" => (flags | allowed) & REASSOC != 0,
        _ => false,
    };
    let is_float = matches!(to.0, "f16" | "bf16" | "f32" | "f64");
    let top = 1u64 << (to.1.clamp(1, 64) - 1);
    let neutral = match short {
        _ if flags & 0x7f & !(REASSOC | CONTRACT) != 0 => vec![],
        "addi" | "subi" | "ori" | "xori" | "maxui" | "shli" | "shrui" | "shrsi" => vec![0],
        "muli" | "divui" | "divsi" => vec![1],
        "andi" | "minui" => vec![all],
        "maxsi" => vec![top],
        "minsi" => vec![all >> 1],
        "addf" if is_float && any_order => vec![top, 0],
        "addf" if is_float => vec![top],
        _ => vec![],
    };
    let commutes = any_order || matches!(short, "addi" | "muli" | "addf" | "mulf");
    let kept = if any_order { "in any order" } else { "" };
    // Both forms have the same flags, but for those that any operation may have.
    let text = format!("{name} {attributes}{kept} {} {} {}", flags & !allowed, from.0, to.0);
    let is_division = (short.contains("div") || short.contains("rem")) && !short.ends_with('f');
    Operation { text, fold, commutes, any_order, neutral, fused: None, divides: is_division.then_some(mask) }
}

/// Flags that decide what is computed; the others are above these.
pub const REASSOC: u32 = 1;
pub const CONTRACT: u32 = 1 << 5;
pub const NSW: u32 = 1 << 7;
pub const NUW: u32 = 1 << 8;

/// The flags in the text of an attribute `fastmath`, `overflowFlags` or `isExact`.
pub fn flags(name: &str, text: &str) -> Option<u32> {
    const NAMES: [&str; 9] = ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "nsw", "nuw"];
    let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).collect();
    let named = NAMES.iter().zip(0..).filter(|(name, _)| words.contains(name)).fold(0, |sum, (_, k)| sum | 1 << k);
    match name {
        "fastmath" if words.contains(&"fast") => Some(0x7f),
        "fastmath" | "overflowFlags" => Some(named),
        "isExact" | "nneg" | "isDisjoint" | "nonNeg" => Some(1 << 9),
        _ => None,
    }
}
