//! Tuples, calls of computations, and unknown operations.

use super::site::{Found, Site, Types};
use crate::element::ElementType;
use crate::hlo::shapes::{fits, plain, scalar};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::Error;

/// An operation that indices do not describe, with the reason from the table.
pub fn other(site: &mut Site) -> Found {
    Ok(Operation::Other { reason: format!("{}: {}", site.raw.opcode, site.note) })
}

/// The literal was read with the shape.
pub fn constant(_: &mut Site) -> Found {
    Ok(Operation::Constant)
}

/// The number was read in place of operands.
pub fn parameter(site: &mut Site) -> Found {
    let number = site.raw.number.and_then(|n| usize::try_from(n).ok());
    number.map(|number| Operation::Parameter { number }).ok_or_else(|| site.error("must have a number, found none"))
}

/// The parts of the result are the operands.
pub fn tuple(site: &mut Site) -> Found {
    let operands =
        site.written.is_none().then(|| Shape::Tuple(site.operands.iter().map(|shape| (*shape).clone()).collect()));
    let shape = operands.as_ref().map_or_else(|| site.shape(), |shape| Ok(site.shape_or(shape)))?;
    let Shape::Tuple(parts) = shape else { return Err(site.result_must("be a tuple")) };
    if parts.len() != site.operands.len() {
        let found = parts.len();
        let must =
            format!("the result of `tuple` must have a part for each operand, {}, found {found}", site.operands.len());
        return Err(Error::at(site.raw.shape_at, must));
    }
    match parts.iter().zip(&site.operands).position(|(part, operand)| !fits(part, operand)) {
        Some(k) => Err(site.operand_must(k, format!("be part {k} of the result, {}", plain(&parts[k])))),
        None => Ok(Operation::Tuple),
    }
}

/// The result is part `index` of the operand.
pub fn get_tuple_element(site: &mut Site) -> Found {
    let Shape::Tuple(parts) = site.operands[0] else { return Err(site.operand_must(0, "be a tuple")) };
    let index = site.index("index", "index", "number")?;
    if let Some(part) = parts.get(index).filter(|part| !fits(part, site.shape_or(part))) {
        return Err(site.result_must(format!("be part {index} of the tuple, {}", plain(part))));
    }
    let operation = Operation::GetTupleElement { index };
    let types = Types { operands: Vec::new(), results: Vec::new() };
    let results: Vec<&Shape> = site.shape().into_iter().collect();
    operation.check(&site.operands, &results).map_err(|refusal| site.refused(&refusal, &types))?;
    Ok(operation)
}

/// `to_apply` of a call, `calls` of a fusion.
pub fn call(site: &mut Site) -> Found {
    let key = ["calls", "to_apply"].into_iter().find(|key| site.attribute(key).is_some());
    let usual = if site.raw.opcode == "call" { "to_apply" } else { "calls" };
    let (Some(key), [computation]) = (key, &site.called[..]) else {
        return Err(site.error(format!("must have the attribute `{usual}=computation`, found none")));
    };
    site.calls_whole(key, *computation, &site.operands)?;
    Ok(Operation::Call { computation: *computation })
}

/// `condition` decides whether `body` runs once more; both take the operand.
pub fn while_loop(site: &mut Site) -> Found {
    site.need("condition", "computation")?;
    site.need("body", "computation")?;
    let [condition, body] = site.called[..] else {
        return Err(site.error(format!("must name a condition and a body, found {} computations", site.called.len())));
    };
    site.calls("condition", condition, &site.operands, &scalar(ElementType::Pred))?;
    site.calls("body", body, &site.operands, site.operands[0])?;
    site.result_is(site.operands[0])?;
    Ok(Operation::While { condition, body })
}

/// The first operand selects a computation: `pred[]` one of two, `s32[]` one of `branch_computations`.
pub fn conditional(site: &mut Site) -> Found {
    let (pred, index) = match site.array(0)? {
        Array { element: ElementType::Pred, dims, .. } if dims.is_empty() => (true, false),
        Array { element: ElementType::S32, dims, .. } if dims.is_empty() => (false, true),
        _ => (false, false),
    };
    if !pred && !index {
        return Err(site.operand_must(0, "be pred[] or s32[]"));
    }
    // An integer selects neither a true nor a false computation.
    let keys: &[&str] = match site.attribute("branch_computations") {
        None if pred => &["true_computation", "false_computation"],
        _ => &["branch_computations"],
    };
    for key in keys {
        site.need(key, if keys.len() == 1 { "{computations}" } else { "computation" })?;
    }
    let branches = site.called.clone();
    if pred && branches.len() != 2 {
        return Err(site.attribute_must(keys[0], format!("name 2 computations, found {}", branches.len())));
    }
    if branches.len() + 1 != site.operands.len() {
        let found = site.operands.len();
        let must =
            format!("must have {} operands, one for each branch and one before, found {found}", branches.len() + 1);
        return Err(site.error(must));
    }
    for (i, &branch) in branches.iter().enumerate() {
        site.calls_whole(keys[i.min(keys.len() - 1)], branch, &site.operands[i + 1..i + 2])?;
    }
    Ok(Operation::Conditional { branches })
}

/// The result is the first operand; the second, a token, only orders operations.
pub fn dependency(site: &mut Site) -> Found {
    site.result_is(site.operands[0])?;
    if !fits(site.operands[1], &scalar(ElementType::Token)) {
        return Err(site.operand_must(1, "be token[]"));
    }
    let arrays = leaves(site.operands[0]).len();
    Ok(Operation::Leaves { numbers: (0..arrays).map(Some).collect() })
}

/// The result is a token.
pub fn token(site: &mut Site) -> Found {
    site.result_is(&scalar(ElementType::Token))?;
    other(site)
}
