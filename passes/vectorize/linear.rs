//! Addresses as sums over the loops of a nest.

use super::distance::Distance;
use super::plan::RunTime;
use crate::buffers::index::IndexVars;
use crate::kernel::access::Operand;
use std::collections::BTreeMap;
use tensor_layout::expr::Expr;

/// The reason why there is no vector code for a nest.
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// The dimensions that cause it; empty if others do, too.
    pub dims: Vec<usize>,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Refusal {
        Refusal { reason, dims: Vec::new() }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Refusal {
        reason.to_string().into()
    }
}

/// A sum of variables times distances.
#[derive(Default)]
pub struct Linear {
    pub factors: BTreeMap<usize, Distance>,
    pub constant: Distance,
    /// Terms in values only, without a linear form: the same for all elements, as the tile of a row computed at run
    /// time.
    pub fixed: Vec<(Expr, Distance)>,
}

/// The address, before its swizzle, of an operand's element at an index of the iteration space, as a sum over variables:
/// loop variables, whose dimension `dim_of` returns, and values. Strides known only at run time are added to `values`.
pub fn address<'c>(
    number: usize,
    operand: &Operand<'c>,
    dims: &[Expr],
    vars: &mut IndexVars<'c>,
    values: &mut Vec<RunTime>,
    dim_of: &dyn Fn(usize) -> Option<usize>,
) -> Result<Linear, Refusal> {
    let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(dims)).collect();
    let (index, within) = operand.access.unswizzled(vars, &view);
    let index = vars.simplified(&index, &within);
    let mut address = Linear::default();
    for (dim, e) in index.iter().enumerate() {
        let stride = match operand.access.strides[dim] {
            Some(stride) => Distance::fixed(stride),
            None => {
                values.push(RunTime::Stride { operand: number, dim });
                Distance::value(values.len() - 1, operand.access.guess(dim))
            }
        };
        address.add(e, 1, &stride, &|var| dim_of(var).is_none() && vars.is_bound(var)).ok_or_else(|| {
            let mut dims = Vec::new();
            e.for_each_var(&mut |var| dims.extend(dim_of(var).filter(|dim| !dims.contains(dim))));
            Refusal { reason: "the tile boundaries of its operands do not align".into(), dims }
        })?;
    }
    Ok(address)
}

impl Linear {
    /// Adds an expression times a number and a distance; `None` if it is not linear, except in values, or exceeds 64
    /// bits.
    fn add(&mut self, e: &Expr, times: i64, stride: &Distance, is_value: &dyn Fn(usize) -> bool) -> Option<()> {
        let fits = |n: i64| stride.fixed.checked_mul(n).map(|_| stride.times(n));
        match e {
            Expr::Const(c) => {
                let far = fits(c.checked_mul(times)?)?;
                self.constant = std::mem::take(&mut self.constant).plus(&far);
            }
            Expr::Var(v) => {
                let factor = self.factors.entry(*v).or_default();
                *factor = std::mem::take(factor).plus(&fits(times)?);
            }
            Expr::Add(a, b) => {
                self.add(a, times, stride, is_value)?;
                self.add(b, times, stride, is_value)?;
            }
            Expr::Mul(a, f) => self.add(a, times.checked_mul(*f)?, stride, is_value)?,
            _ => {
                let mut of_values = true;
                e.for_each_var(&mut |var| of_values &= is_value(var));
                self.fixed.push((of_values.then(|| e.clone())?, fits(times)?));
            }
        }
        Some(())
    }
}
