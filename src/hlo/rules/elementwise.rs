//! Operations on elements at the same index.

use super::site::{ANY, Found, Site, Types};
use crate::element::ElementType;
use crate::hlo::shapes::finest;
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::Error;

/// The result has the type of the operands.
pub fn elementwise(site: &mut Site) -> Found {
    if let ([whole], ANY) = (&site.operands[..], site.note)
        && match whole {
            Shape::Tuple(_) => true,
            Shape::Array(array) => !array.element.is_data(),
            Shape::Buffer(_) => false,
        }
    {
        // A copy, a barrier or a domain may take a whole tuple or a token.
        site.result_is(site.operands[0])?;
        return Ok(Operation::Tuple);
    }
    typed(site, |element| element)
}

/// The operands have one type, the result another.
fn typed(site: &mut Site, of: impl Fn(ElementType) -> ElementType) -> Found {
    let n = site.operands.len();
    for k in 0..n {
        site.class(k)?;
    }
    let each = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    let types = Types { operands: vec![each[0]; n], results: vec![of(finest(&each))] };
    let operation = site.checked(Operation::Elementwise, &types)?;
    site.not_spread(0..n, &types)?;
    Ok(operation)
}

/// `direction` is one of six comparisons.
pub fn compare(site: &mut Site) -> Found {
    const DIRECTIONS: [&str; 6] = ["EQ", "NE", "GE", "GT", "LE", "LT"];
    let direction = site.need("direction", "EQ")?;
    if !DIRECTIONS.contains(&direction.text) {
        let found = site.excerpt("direction");
        return Err(site.attribute_must("direction", format!("be one of {}, found {found}", DIRECTIONS.join(", "))));
    }
    typed(site, |_| ElementType::Pred)
}

/// The result is `pred`.
pub fn is_finite(site: &mut Site) -> Found {
    typed(site, |_| ElementType::Pred)
}

/// `abs`, `real` and `imag`: complex numbers give floats of half the size.
pub fn magnitude(site: &mut Site) -> Found {
    typed(site, |element| match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        _ => element,
    })
}

/// Real and imaginary parts give complex numbers.
pub fn complex(site: &mut Site) -> Found {
    match site.class(0)? {
        ElementType::F32 => typed(site, |_| ElementType::C64),
        ElementType::F64 => typed(site, |_| ElementType::C128),
        _ => Err(site.operand_must(0, "have elements of f32 or f64")),
    }
}

/// The result's type is free.
pub fn convert(site: &mut Site) -> Found {
    site.class(0)?;
    let result = site.written().and_then(|_| site.result())?.element;
    free(site, result)
}

/// The second operand holds random bits. The result's type is free.
pub fn stochastic_convert(site: &mut Site) -> Found {
    site.class(0)?;
    site.class(1)?;
    let result = site.written().and_then(|_| site.result())?.element;
    free(site, result)
}

/// The types of the operands and of the result are free; scalar operands are not broadcast.
fn free(site: &Site, result: ElementType) -> Found {
    let n = site.operands.len();
    let operands = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    let types = Types { operands, results: vec![result] };
    let operation = site.checked(Operation::Elementwise, &types)?;
    site.not_spread(0..n, &types)?;
    Ok(operation)
}

/// The bounds, operands 0 and 2, may be scalars.
pub fn clamp(site: &mut Site) -> Found {
    let element = site.class(1)?;
    let types = Types { operands: vec![element; 3], results: vec![element] };
    let operation = site.checked(Operation::Elementwise, &types)?;
    site.not_spread(1..2, &types)?;
    Ok(operation)
}

/// The predicate, operand 0, may be a scalar.
pub fn select(site: &mut Site) -> Found {
    let element = site.class(1)?;
    let results = vec![finest(&[element, site.class(2)?])];
    let types = Types { operands: vec![ElementType::Pred, element, element], results };
    let operation = site.checked(Operation::Select, &types)?;
    site.not_spread(1..3, &types)?;
    Ok(operation)
}

/// `to_apply` maps the elements.
pub fn map(site: &mut Site) -> Found {
    for k in 0..site.operands.len() {
        site.class(k)?;
    }
    let result = match site.called.first().filter(|_| site.written.is_none()).map(|callee| site.result_of(*callee)) {
        Some(Ok(Shape::Array(array))) => array.element,
        _ => site.result()?.element,
    };
    let operation = free(site, result)?;
    let takes = (0..site.operands.len()).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    site.region("to_apply", 0, &takes, &[result])?;
    Ok(operation)
}

/// Numbers along a dimension.
pub fn iota(site: &mut Site) -> Found {
    let element = site.written().and_then(|_| site.result())?.element;
    if !element.is_data() {
        return Err(site.result_must("have numbers as elements"));
    }
    let dim = site.dim("dim", "iota_dimension")?;
    site.checked(Operation::Iota { dim }, &Types { operands: Vec::new(), results: vec![element] })
}

/// `exponent_bits`, at least 1, and `mantissa_bits`.
pub fn reduce_precision(site: &mut Site) -> Found {
    let exponent = site.index("exponent_bits", "exponent_bits", "8")?;
    site.index("mantissa_bits", "mantissa_bits", "7")?;
    if exponent == 0 {
        return Err(site.attribute_must("exponent_bits", "be at least 1, found 0"));
    }
    elementwise(site)
}
