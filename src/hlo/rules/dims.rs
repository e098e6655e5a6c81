//! Operations that permute, insert or reduce dimensions.

use super::site::{Found, Site, Types};
use crate::hlo::shapes::{agree, alike, finest, plain};
use crate::operations::operation::{Algorithm, Operation};
use crate::operations::rules::dims::same_bits;
use crate::operations::shape::{Array, Shape};
use crate::operations::sizes::Sizes;
use crate::text::Error;

/// An operation of one operand, whose result has its type.
fn moved(site: &Site, operation: Operation) -> Found {
    let element = site.element(0)?;
    site.checked(operation, &Types { operands: vec![element], results: vec![element] })
}

/// `dimensions` are the result's.
pub fn broadcast(site: &mut Site) -> Found {
    if !site.array(0)?.dims.is_empty() {
        site.need("dimensions", "{result dimensions}")?;
    }
    let dims = site.dims("dims", "dimensions")?;
    if dims.is_empty() {
        site.shape_or(site.operands[0]);
    }
    moved(site, Operation::Broadcast { dims })
}

/// `dimensions` is a permutation.
pub fn transpose(site: &mut Site) -> Found {
    site.need("dimensions", "{permutation}")?;
    let permutation = site.dims("permutation", "dimensions")?;
    moved(site, Operation::Transpose { permutation })
}

/// `dimensions` run backwards.
pub fn reverse(site: &mut Site) -> Found {
    site.need("dimensions", "{dimensions}")?;
    let dims = site.dims("dims", "dimensions")?;
    moved(site, Operation::Reverse { dims })
}

/// A reshape keeps the number of elements.
pub fn reshape(site: &mut Site) -> Found {
    moved(site, Operation::Reshape)
}

/// A bitcast keeps the number of bits.
pub fn bitcast(site: &mut Site) -> Found {
    let operation = Operation::Bitcast;
    let types = Types { operands: Vec::new(), results: Vec::new() };
    let written = site.written()?;
    match (site.operands[0], written) {
        (Shape::Array(from), Shape::Array(to)) if from.element.is_data() && to.element.is_data() => {
            let refused = |refusal| site.refused(&refusal, &types);
            operation.check(&site.operands, &[written]).map_err(refused).map(|()| operation)
        }
        // Tokens and tuples have no bits.
        (from, to) if agree(from, to, &|a, b| a == b) => Ok(operation),
        (from, _) => Err(site.result_must(format!("be {}", plain(from)))),
    }
}

/// The same number of bits without regard to layouts; if the element size changes, the wider type has one dimension
/// less.
pub fn bitcast_convert(site: &mut Site) -> Found {
    let (from, to) = (site.array(0)?, site.result()?);
    let types = Types { operands: vec![from.element], results: vec![to.element] };
    let each = |array: &Array| array.element.bits();
    same_bits("bitcast_convert_c1", (from, each(from)), (to, each(to)))
        .map_err(|refusal| site.refused(&refusal, &types))?;
    if each(from) == each(to) {
        let operation = site.checked(Operation::Elementwise, &types)?;
        site.not_spread(0..1, &types)?;
        return Ok(operation);
    }
    // The last dimension of the narrower type counts the parts of an element.
    let cut = from.dims.len() < to.dims.len();
    let (mut long, short) = if cut { (Sizes::of(to), Sizes::of(from)) } else { (Sizes::of(from), Sizes::of(to)) };
    let parts = long.0.pop();
    if parts.is_none() || !long.fits(&short) {
        let must =
            format!("have the sizes of the operand, {}, with one dimension more or less at the end", Sizes::of(from));
        return Err(site.result_must(must));
    }
    // For indices, an element is broadcast to its parts.
    Ok(match cut {
        true => Operation::Broadcast { dims: (0..short.rank()).collect() },
        false => Operation::Algorithm(Box::new(Algorithm::Joined)),
    })
}

/// Concatenates the operands along the dimension in `dimensions`.
pub fn concatenate(site: &mut Site) -> Found {
    let each = (0..site.operands.len()).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    let dim = site.dim("dim", "dimensions")?;
    let types = Types { operands: vec![each[0]; each.len()], results: vec![finest(&each)] };
    site.checked(Operation::Concatenate { dim }, &types)
}

/// Four lists of dimensions. The result's type is free.
pub fn dot(site: &mut Site) -> Found {
    let operation = Operation::Dot {
        lhs_batch: site.dims("lhs_batch", "lhs_batch_dims")?,
        rhs_batch: site.dims("rhs_batch", "rhs_batch_dims")?,
        lhs_contracting: site.dims("lhs_contracting", "lhs_contracting_dims")?,
        rhs_contracting: site.dims("rhs_contracting", "rhs_contracting_dims")?,
    };
    let operands = vec![site.element(0)?, site.element(1)?];
    if let Some(operand) = operands.iter().position(|element| !element.is_data()) {
        return Err(site.operand_must(operand, "have numbers as elements"));
    }
    let results = vec![site.result_element(finest(&operands))?];
    site.checked(operation, &Types { operands, results })
}

impl Site<'_> {
    /// Checks that the result has this shape, except for the precision of floats and the layout.
    pub(super) fn result_is(&self, expected: &Shape) -> Result<(), Error> {
        if agree(expected, self.shape_or(expected), &alike) {
            return Ok(());
        }
        Err(self.result_must(format!("be {}", plain(expected))))
    }
}
