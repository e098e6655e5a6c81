//! Constants, and reshapes of constants.

use super::attributes::MlirAttribute;
use super::constants::{Dense, Elements};
use super::site::OperationSite;
use super::writer::Value;
use crate::operations::shape::{Array, Shape};
use crate::text::{Error, excerpt};

/// A constant; one value for all elements is a `broadcast`.
pub(super) fn constant(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let positional = site.operation.positional().next().copied();
    let own = site.attribute(&["value"]).or(positional);
    let own = own.ok_or_else(|| site.error("must have a value such as `dense<0.0>`, found none"))?;
    let array = site.result_array()?;
    let value = elements(site, &own, &array, &array)?;
    let (text, is_splat) = match value {
        Elements::Elements(text) => (text, false),
        Elements::Splat(text) => (text, true),
    };
    if !is_splat || array.dims.is_empty() {
        let values = site.constant(&text, own.at)?;
        if is_splat {
            site.writer.set_splat(&values[0], &text);
        }
        return Ok(values);
    }
    let scalar = site.scalar(&array, &text, own.at);
    let values = site.result("broadcast", &[scalar], &[("dimensions", "{}".to_string(), own.at)])?;
    site.writer.set_splat(&values[0], &text);
    Ok(values)
}

/// A reshape; that of a constant is a constant.
pub(super) fn reshape(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let constant = site.operation.operands.first().and_then(|operand| site.writer.constant(operand.name));
    if site.writer.splat(site.operand(0)?).is_some() || constant.is_none() || site.operand(0)?.shape == site.results[0]
    {
        return site.one_unless_same("reshape", &[]);
    }
    let from = site.operand_array(0)?;
    let (array, own) =
        (site.result_array()?, constant.and_then(|own| own.attribute(&["value"]).or(own.positional().next())));
    let own = own.copied().ok_or_else(|| site.error("must have an operand with a value"))?;
    let count = |own: &Array| own.sizes().map(|own| own.iter().map(|size| i128::from(*size)).product::<i128>());
    if count(&from) != count(&array) {
        return site.one("reshape", &[]);
    }
    match elements(site, &own, &from, &array)? {
        Elements::Elements(text) => site.constant(&text, own.at),
        Elements::Splat(_) => site.one("reshape", &[]),
    }
}

/// The elements of `dense<..>`, which have the type of an array, for one of the sizes of another.
fn elements(site: &OperationSite, own: &MlirAttribute, array: &Array, to: &Array) -> Result<Elements, Error> {
    let sizes = to.sizes().unwrap_or_default();
    if let Some(name) = own.text.strip_prefix("dense_resource<") {
        return resource(site, own, (array, &sizes), name);
    }
    if own.text.contains(": tensor") {
        let array_of = Dense::read(own.text, own.at)?;
        if !array_of.is_of(array) {
            return Err(own.expected(&format!("elements of `{}`", Shape::Array(array.clone()))));
        }
    }
    let inner = own.untyped().strip_prefix("dense<").and_then(|text| text.strip_suffix('>'));
    let inner = inner.ok_or_else(|| own.expected("elements such as `dense<0.0>`"))?;
    Dense::of_text((own.text, own.at), array, inner).value(&sizes)
}

/// The elements of `dense_resource<name>`: their bytes follow four bytes of alignment.
fn resource(
    site: &OperationSite,
    own: &MlirAttribute,
    (array, sizes): (&Array, &[i64]),
    name: &str,
) -> Result<Elements, Error> {
    let name = name.split('>').next().unwrap_or(name);
    if name == "__elided__" {
        return Err(Error::at(own.at, "the elements must be there, found `__elided__`: the printer left them out"));
    }
    let Some(digits) = site.writer.module.resources.get(name) else {
        let message = format!("unknown resource `{}`: the text must have it in `dialect_resources`", excerpt(name));
        return Err(Error::at(own.at, message).unknown());
    };
    let digits = format!("\"0x{}\"", digits.get(8..).unwrap_or_default());
    Dense::of_text((own.text, own.at), array, &digits).value(sizes)
}
