//! How elements lie in lowered memory, by the layout that the form before says.

use crate::reader::layouts::{Layout, TilePart, are_parts, are_sizes, are_strides, row_major};
use crate::reader::model::{Axes, Type};
use crate::reader::places::Places;
use crate::reader::swizzles::Swizzle;
use crate::run::Stop;
use crate::run::machine::View;
use std::ops::Range;

/// A layout on a shape.
enum Lies {
    Tiled(Layout),
    Spread(Places),
}

/// How elements lie in lowered memory.
pub struct Physical {
    lies: Lies,
    /// The shape.
    pub sizes: Vec<i64>,
    /// The dimensions whose size only the program has.
    open: Vec<usize>,
    /// Bits of an element, of its place, and of a unit of memory.
    pub bits: [i64; 3],
    swizzle: Option<Swizzle>,
}

impl Physical {
    /// Memory of a type that a layout cannot have is a fault.
    pub fn of(before: &Type, after: &Type, sizes: &[i64], axes: &Axes) -> Result<Physical, Stop> {
        let unknown = |why: String| Err(Stop::Unknown(why, 0));
        let (Some(text), Type::Shaped { element: inner, sizes: said, .. }, Type::Shaped { element: unit, .. }) =
            (before.layout(), before, after)
        else {
            return unknown("of types that do not correspond".into());
        };
        let (swizzle, below) = Swizzle::read(text).unzip();
        // A swizzled layout is of one memory, whatever the machine.
        let axes = if swizzle.is_some() { &Axes::new() } else { axes };
        let text = below.as_deref().unwrap_or(text);
        let (tiled, spread) = (Layout::read(text), Places::read(text, sizes, axes));
        let bits = tiled.as_ref().and_then(|layout| layout.bits);
        let tiled_bits = tiled.as_ref().map(|layout| layout.is_in_bytes(inner.bits));
        let lies = match (spread, tiled) {
            (Some(places), _) if inner == unit => Lies::Spread(places),
            (None, Some(layout)) if layout.is_tiled() => Lies::Tiled(layout),
            _ => return unknown(format!("of the layout {text}")),
        };
        // An element that is a unit of memory takes one, in as many bytes as its type takes.
        let place = bits.filter(|_| inner != unit).map_or(i64::from(unit.bits), i64::from);
        if inner == unit && tiled_bits.is_some_and(|is| !is) {
            return Err(Stop::Fault(format!("of the layout {text} in memory of whole elements"), 0));
        }
        if inner != unit && inner.bits.max(unit.bits) > 64 {
            return unknown("of elements of more than 64 bits".into());
        }
        let open: Vec<usize> = (0..said.len()).filter(|d| said[*d].is_none()).collect();
        if swizzle.is_some() && (inner != unit || !open.is_empty()) {
            return unknown(format!("of the swizzle of {text}"));
        }
        let bits = [inner.bits.into(), place, unit.bits.into()];
        Ok(Physical { lies, sizes: sizes.to_vec(), open, bits, swizzle })
    }

    /// How far copies are behind the first one.
    pub fn copies(&self) -> Vec<i64> {
        if let Lies::Spread(places) = &self.lies { places.shifts() } else { vec![0] }
    }

    /// The units of memory that the layout takes.
    pub fn units(&self) -> Option<i64> {
        let [_, place, unit] = self.bits;
        let units = match &self.lies {
            Lies::Spread(places) => places.size,
            Lies::Tiled(layout) => {
                let bits = layout.size(&self.sizes)?.checked_mul(place)?;
                bits.checked_add(unit - 1)?.div_euclid(unit).checked_add(self.prefix())?
            }
        };
        self.swizzle.map_or(Some(units), |swizzle| swizzle.blocks(units))
    }

    pub fn prefix(&self) -> i64 {
        let Lies::Tiled(layout) = &self.lies else { return 0 };
        layout.prefix_bytes / self.bits[2].div_euclid(8).max(1)
    }

    /// The parts of a tiled layout, each with its dimension, in the order of memory. Where the last one of several elements is
    /// not of whole units of memory, there is one.
    fn parts(&self, layout: &Layout) -> Option<Vec<TilePart>> {
        let [_, place, unit] = self.bits;
        // Lowering leaves out no part where a size is known at run time alone.
        let is_static = self.open.is_empty();
        let mut parts = if is_static { layout.lowered(&self.sizes)? } else { layout.parts(&self.sizes)? };
        match parts.iter_mut().rfind(|part| part.size != 1) {
            _ if place == unit => {}
            Some(last) if last.size.checked_mul(place)? % unit == 0 => last.size = last.size * place / unit,
            _ => {
                let bits = parts.iter().try_fold(place, |bits, part| bits.checked_mul(part.size))?;
                parts = vec![TilePart::whole(0, bits.checked_add(unit - 1)?.div_euclid(unit))];
            }
        }
        Some(parts)
    }

    /// The units between the prefix and the tail.
    pub fn tiles(&self) -> Option<Range<usize>> {
        let (Lies::Tiled(layout), None) = (&self.lies, self.swizzle) else { return Some(0..0) };
        let parts = self.parts(layout)?;
        let count = parts.iter().try_fold(1_i64, |count, part| count.checked_mul(part.size))?;
        let end = |units: i64| usize::try_from(units).ok();
        Some(end(self.prefix())?..end(self.prefix().checked_add(count)?)?)
    }

    /// The sizes that only the program has and that are not those of a part: dimensions of stride 0 in front carry them.
    fn carried(&self, layout: &Layout) -> Option<Vec<i64>> {
        let parts = layout.parts(&self.sizes)?;
        let is_whole = |d: usize| parts.iter().any(|part| part.dim == d as isize && part.is_whole);
        Some(self.open.iter().filter(|d| !is_whole(**d)).map(|d| self.sizes[*d]).collect())
    }

    /// Whether a view has the parts of the layout, in the order of memory or in that of dimensions, and begins behind the
    /// prefix.
    pub fn is_view(&self, view: &View) -> Option<bool> {
        let lies = match &self.lies {
            _ if self.sizes.contains(&0) => true,
            _ if self.swizzle.is_some() => {
                view.sizes == [self.units()?] && are_strides(&view.sizes, &view.strides, &mut [Some(1)].into_iter())
            }
            Lies::Spread(places) => places.is_shape(&view.sizes, &view.strides),
            Lies::Tiled(layout) => {
                let carried = self.carried(layout)?;
                let (sizes, strides) = (view.sizes.get(carried.len()..), view.strides.get(carried.len()..));
                view.sizes.starts_with(&carried)
                    && are_parts(
                        layout,
                        self.parts(layout)?,
                        (sizes.unwrap_or_default(), strides.unwrap_or_default()),
                        self.open.is_empty(),
                    )?
            }
        };
        Some(view.layout.is_none() && view.offset == self.prefix() && lies)
    }

    /// The sizes and strides of an argument of a type, whose parts are in the order of memory or in that of dimensions; none
    /// where both would do.
    pub fn shape(&self, sizes: &[Option<i64>], strides: Option<&[Option<i64>]>) -> Option<(Vec<i64>, Vec<i64>)> {
        let known = |list: &[Option<i64>]| list.iter().copied().collect::<Option<Vec<i64>>>();
        if let Some(sizes) = known(sizes)
            && let Some(strides) = strides.map_or_else(|| row_major(&sizes), known)
        {
            return Some((sizes, strides));
        }
        let Lies::Tiled(layout) = &self.lies else { return None };
        let (carried, parts) = (self.carried(layout)?, self.parts(layout)?);
        let own = row_major(&parts.iter().map(|part| part.size).collect::<Vec<_>>())?;
        let mut by_dim: Vec<usize> = (0..parts.len()).collect();
        by_dim.sort_by_key(|k| parts[*k].significance());
        let shape = |order: Vec<usize>| -> (Vec<i64>, Vec<i64>) {
            let sizes = carried.iter().copied().chain(order.iter().map(|k| parts[*k].size)).collect();
            (sizes, carried.iter().map(|_| 0).chain(order.iter().map(|k| own[*k])).collect())
        };
        let mut found = [(0..parts.len()).collect(), by_dim].map(shape).to_vec();
        found.dedup();
        found.retain(|(n, along)| {
            let plain = row_major(n).map(|plain| plain.into_iter().map(Some).collect::<Vec<_>>());
            let said = strides.map(<[_]>::to_vec).or(plain).unwrap_or_default();
            are_sizes(n, sizes) && along.len() == said.len() && are_strides(n, along, &mut said.into_iter())
        });
        if found.len() == 1 { found.pop() } else { None }
    }

    /// The pieces of units that an element is made of: unit, first bit and number of bits, from the least significant on; one
    /// of no bits where an element is a unit.
    pub fn pieces(&self, index: &[i64]) -> Option<Vec<(i64, u8, u8)>> {
        let [inner, place, unit] = self.bits;
        let swizzled = |at: i64| self.swizzle.map_or(at, |swizzle| swizzle.of(at));
        let layout = match &self.lies {
            Lies::Spread(places) => return Some(vec![(swizzled(places.offset(index)?), 0, 0)]),
            Lies::Tiled(layout) => layout,
        };
        let at = swizzled(layout.offset(&self.sizes, index)?);
        if inner == place && inner == unit {
            return Some(vec![(at.checked_add(self.prefix())?, 0, 0)]);
        }
        let (mut bit, mut left) = (at.checked_mul(place)?, inner);
        let mut all = vec![];
        while left > 0 {
            let len = left.min(unit - bit % unit);
            let narrow = |n: i64| u8::try_from(n).ok();
            all.push((bit.div_euclid(unit).checked_add(self.prefix())?, narrow(bit % unit)?, narrow(len)?));
            (bit, left) = (bit + len, left - len);
        }
        Some(all)
    }
}
