//! Products with scales and with groups, scans, and reshapes to sizes in operands.

use super::site::{Found, Site, Types};
use crate::element::ElementType;
use crate::hlo::shapes::{array, finest, plain, together};
use crate::operations::operation::{Algorithm, Contraction, Operation, RaggedDot};
use crate::operations::shape::Shape;
use crate::operations::sizes::Sizes;
use crate::text::Error;

fn checked(site: &Site, algorithm: Algorithm, types: &Types) -> Found {
    site.checked(Operation::Algorithm(Box::new(algorithm)), types)
}

/// The four lists of dimensions of a product.
fn contraction(site: &mut Site) -> Result<Contraction, Error> {
    Ok(Contraction {
        lhs_batch: site.dims("lhs_batch", "lhs_batch_dims")?,
        rhs_batch: site.dims("rhs_batch", "rhs_batch_dims")?,
        lhs_contracting: site.dims("lhs_contracting", "lhs_contracting_dims")?,
        rhs_contracting: site.dims("rhs_contracting", "rhs_contracting_dims")?,
    })
}

/// Scales are floats, of any type.
pub fn scaled_dot(site: &mut Site) -> Found {
    let operands = (0..4).map(|k| site.class(k)).collect::<Result<Vec<_>, _>>()?;
    let dims = contraction(site)?;
    let results = vec![site.result_element(finest(&operands[..2]))?];
    checked(site, Algorithm::ScaledDot(dims), &Types { operands, results })
}

/// `lhs_ragged_dims` is the grouped dimension, `rhs_group_dims` the dimension of groups.
pub fn ragged_dot(site: &mut Site) -> Found {
    let operands = (0..3).map(|k| site.element(k)).collect::<Result<Vec<_>, _>>()?;
    if !operands[2].is_signed() && !operands[2].is_unsigned() {
        return Err(site.operand_must(2, "have integers as elements"));
    }
    let dims = contraction(site)?;
    let ragged = site.dim("ragged", "lhs_ragged_dims")?;
    let group = match site.dims("group", "rhs_group_dims")?[..] {
        [] => None,
        _ => Some(site.dim("group", "rhs_group_dims")?),
    };
    let results = vec![site.result_element(finest(&operands[..2]))?];
    checked(site, Algorithm::RaggedDot(RaggedDot { dims, ragged, group }), &Types { operands, results })
}

/// `to_apply` computes the slices of the outputs and the next carries from the slices of the inputs and the carries.
pub fn scan(site: &mut Site) -> Found {
    let operands = (0..site.operands.len()).map(|k| site.element(k)).collect::<Result<Vec<_>, _>>()?;
    let dim = site.dim("dim", "dimensions")?;
    let carries = site.index("num_carries", "num_carries", "1")?;
    site.need("to_apply", "computation")?;
    let Some(inputs) = operands.len().checked_sub(carries).filter(|inputs| *inputs > 0) else {
        let must = format!("be less than the {} operands, found {carries}", operands.len());
        return Err(site.attribute_must("num_carries", must));
    };
    let reversed = match site.attribute("is_reverse").map(|attribute| attribute.text) {
        None | Some("false") => false,
        Some("true") => true,
        _ => {
            let found = site.excerpt("is_reverse");
            return Err(site.attribute_must("is_reverse", format!("be true or false, found {found}")));
        }
    };
    let [computation] = site.called[..] else {
        return Err(site.error(format!("must name one computation, found {}", site.called.len())));
    };
    let whole = match site.written {
        Some(written) => written.clone(),
        None => site.shape_or(&stacked(site.result_of(computation)?, carries, dim, site.sizes(0)?)).clone(),
    };
    let parts: Vec<&Shape> = match &whole {
        Shape::Tuple(parts) => parts.iter().collect(),
        shape => vec![shape],
    };
    let mut results = Vec::new();
    let mut slices = Vec::new();
    let outputs = parts.len().saturating_sub(carries);
    for (k, part) in parts.into_iter().enumerate() {
        let Shape::Array(part) = part else { return Err(site.result_must("be a tuple of arrays")) };
        results.push(part.element);
        slices.push(slice(part.element, Sizes::of(part), (k < outputs).then_some(dim)));
    }
    let algorithm = Algorithm::Scan { dim, inputs, reversed };
    let operation = checked(site, algorithm, &Types { operands: operands.clone(), results })?;
    let mut taken = Vec::new();
    for (k, element) in operands.into_iter().enumerate() {
        taken.push(slice(element, site.sizes(k)?, (k < inputs).then_some(dim)));
    }
    site.calls("to_apply", computation, &taken.iter().collect::<Vec<_>>(), &together(slices))?;
    Ok(operation)
}

/// The result of a scan, from its computation's: the stacked slices of all steps, then the carries.
fn stacked(slices: &Shape, carries: usize, dim: usize, input: Sizes) -> Shape {
    let parts = if let Shape::Tuple(parts) = slices { parts.clone() } else { vec![slices.clone()] };
    let outputs = parts.len().saturating_sub(carries);
    let steps = input.0.get(dim).copied().flatten();
    let whole = |(k, part): (usize, Shape)| match part {
        Shape::Array(slice) if k < outputs && dim <= slice.dims.len() => {
            let mut sizes = Sizes::of(&slice);
            sizes.0.insert(dim, steps);
            array(slice.element, &sizes.0)
        }
        part => part,
    };
    together(parts.into_iter().enumerate().map(whole).collect())
}

/// An array without one of its dimensions.
fn slice(element: ElementType, mut sizes: Sizes, dim: Option<usize>) -> Shape {
    if let Some(dim) = dim.filter(|dim| *dim < sizes.rank()) {
        sizes.0.remove(dim);
    }
    array(element, &sizes.0)
}

/// One scalar for each dimension of the result.
pub fn dynamic_reshape(site: &mut Site) -> Found {
    let element = site.element(0)?;
    for k in 1..site.operands.len() {
        let size = site.array(k)?;
        if size.element != ElementType::S32 || !size.dims.is_empty() {
            return Err(site.operand_must(k, format!("be {}", plain(&array(ElementType::S32, &[])))));
        }
    }
    let mut operands = vec![ElementType::S32; site.operands.len()];
    operands[0] = element;
    checked(site, Algorithm::DynamicReshape, &Types { operands, results: vec![element] })
}
