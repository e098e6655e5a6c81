//! Where a tiled layout puts an element, from the definition.
//!
//! Sizes and index go from the dimension that is slowest in memory to the fastest. A tile of rank `k` takes the last `k` sizes
//! `d` with index `i`, and leaves `ceil(d / t)` with `i / t` for all of them, and then `t` with `i mod t`. At the end, the
//! index is counted in row-major order.

/// `#layout.tiled<{minor to major:T(tile)(tile)}>`
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The dimensions, the slowest first.
    order: Vec<usize>,
    tiles: Vec<Vec<i64>>,
}

impl Layout {
    /// Reads a layout of tiles; none of what is more than an order, tiles and a memory space.
    pub fn read(text: &str) -> Option<Layout> {
        let inside = text.strip_prefix("#layout.tiled<{")?.strip_suffix("}>")?;
        let (order, mut rest) = inside.split_once(':').unwrap_or((inside, ""));
        let numbers = |text: &str| text.split(',').map(|n| n.trim().parse().ok()).collect::<Option<Vec<i64>>>();
        let order = if order.is_empty() { vec![] } else { numbers(order)? };
        let order: Vec<usize> = order.into_iter().rev().map(|d| d as usize).collect();
        let mut tiles = vec![];
        let mut kind = ' ';
        while let Some(open) = rest.find('(') {
            let (before, after) = rest.split_at(open);
            kind = before.chars().next().unwrap_or(kind);
            let (list, behind) = after[1..].split_once(')')?;
            match kind {
                'T' => tiles.push(numbers(list).filter(|tile| tile.iter().all(|t| *t > 0))?),
                'S' => (),
                _ => return None,
            }
            rest = behind;
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        (rest.is_empty() && sorted.into_iter().eq(0..order.len())).then_some(Layout { order, tiles })
    }

    /// The parts of the dimensions, the slowest in memory first: each the dimension, its size, and the index in it. The
    /// dimensions that a tile longer than the rank adds come before all others.
    fn parts(&self, sizes: &[i64], index: &[i64]) -> Option<Vec<(isize, i64, i64)>> {
        (sizes.len() == self.order.len()).then_some(())?;
        let mut parts: Vec<_> = self.order.iter().map(|d| (*d as isize, sizes[*d], index[*d])).collect();
        for tile in &self.tiles {
            while parts.len() < tile.len() {
                parts.insert(0, (-1 - parts.len() as isize, 1, 0));
            }
            let tiled = parts.split_off(parts.len() - tile.len());
            parts.extend(
                tiled.iter().zip(tile).map(|((d, n, i), t)| (*d, n.div_euclid(*t) + i64::from(n % t != 0), i / t)),
            );
            parts.extend(tiled.iter().zip(tile).map(|((d, _, i), t)| (*d, *t, i % t)));
        }
        Some(parts)
    }

    /// The address of an element; none beyond 64 bits.
    pub fn address(&self, sizes: &[i64], index: &[i64]) -> Option<usize> {
        let mut parts = self.parts(sizes, index)?.into_iter();
        usize::try_from(parts.try_fold(0i64, |sum, (_, n, i)| sum.checked_mul(n)?.checked_add(i))?).ok()
    }

    /// How many elements the memory has, padding included.
    pub fn size(&self, sizes: &[i64]) -> Option<usize> {
        let mut parts = self.parts(sizes, &vec![0; sizes.len()])?.into_iter();
        usize::try_from(parts.try_fold(1i64, |all, (_, n, _)| all.checked_mul(n))?).ok()
    }

    /// Whether a memref of these sizes and strides is one of the parts, in the order of memory or in that of the dimensions.
    /// A dimension of one element has any stride.
    pub fn is_of_parts(&self, sizes: &[i64], memref: &[i64], strides: &[i64]) -> bool {
        let Some(parts) = self.parts(sizes, &vec![0; sizes.len()]) else { return false };
        let of = |n: i64, stride: i64| (n, if n == 1 { 0 } else { stride });
        let (mut stride, mut all) = (1i64, Vec::<(isize, (i64, i64))>::new());
        for (d, n, _) in parts.iter().rev() {
            // One element is left out, but for the last part of a dimension that has no other.
            let is_kept =
                *d >= 0 && all.iter().all(|part| part.0 != *d) && parts.iter().all(|part| part.0 != *d || part.1 == 1);
            (*n != 1 || is_kept).then(|| all.insert(0, (*d, of(*n, stride))));
            stride = stride.saturating_mul((*n).max(1));
        }
        let found: Vec<_> = memref.iter().zip(strides).map(|(n, stride)| of(*n, *stride)).collect();
        let is = |all: &[(isize, (i64, i64))]| all.iter().map(|part| part.1).eq(found.iter().copied());
        let in_memory = is(&all);
        all.sort_by_key(|part| part.0);
        in_memory || is(&all)
    }
}
