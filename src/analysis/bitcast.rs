//! Bitcasts: elements that share bytes.
//!
//! A layout is a list of equations `whole = major * size + minor` between logical and expanded indices
//! ([`crate::tiled::expansion`]); the equality of two offsets is such equations, too. Together they relate the elements
//! of two arrays. A value not below its size is padding, so an element at a padding byte of the other side is related
//! to nothing. If the elements of one side are wider, a further unknown counts the other side's elements in them.

use super::relation::{Direction, Relation, reshape};
use crate::operations::shape::{Array, bits};
use crate::text::Error;
use crate::tiled::expansion::Expansion;

/// Adds the equations under which elements of `out` and `input`, with the relation's indices, share bytes. Returns the
/// reason if this is not known.
pub(super) fn relate(
    r: &mut Relation,
    out: &Array,
    input: &Array,
    direction: Direction,
) -> Result<Option<String>, Error> {
    let (Some(out_bits), Some(in_bits)) = (bits(out), bits(input)) else {
        return Ok(Some("the elements are not data".to_string()));
    };
    let (wide, narrow) = (out_bits.max(in_bits), out_bits.min(in_bits));
    if narrow < 1 || wide % narrow != 0 {
        return Ok(Some(format!("elements of {out_bits} bits and of {in_bits} do not begin together")));
    }
    if out.layout.metadata_prefix != input.layout.metadata_prefix {
        return Ok(Some("the sizes of the metadata before the data differ".to_string()));
    }
    let mut expanded = [Vec::new(), Vec::new()];
    for (side, array) in [out, input].into_iter().enumerate() {
        if array.layout.index_type.is_some() || array.layout.pointer_type.is_some() {
            return Ok(Some("the layout is sparse".to_string()));
        }
        let Some(sizes) = array.sizes() else { return Ok(Some("a size is not bounded".to_string())) };
        let expansion = Expansion::new(&sizes, &array.layout)?;
        if expansion.is_split_across_memories() {
            return Ok(Some("the layout is cut across memories".to_string()));
        }
        let equations = expansion.equations();
        let logical = (0..sizes.len()).map(|k| if side == 0 { r.out(k) } else { r.input(k) });
        let mut values: Vec<usize> = logical.collect();
        for size in &equations.sizes[values.len()..] {
            values.push(r.unknown(0, size - 1));
        }
        for (whole, major, size, minor) in equations.digits {
            r.equation(vec![(values[major], size), (values[minor], 1), (values[whole], -1)], 0)?;
        }
        expanded[side].extend(equations.expanded.iter().map(|v| (values[*v], equations.sizes[*v])));
    }
    if wide != narrow {
        let part = r.unknown(0, wide / narrow - 1);
        expanded[usize::from(in_bits == wide)].push((part, wide / narrow));
        if (direction == Direction::Reads) == (out_bits == wide) {
            r.range(part);
        }
    }
    reshape(r, &expanded[0], &expanded[1])?;
    Ok(None)
}
