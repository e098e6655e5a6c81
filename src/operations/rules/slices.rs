//! Slices, updates and padding.

use super::arrays::{Arrays, Verdict, entries};
use super::windows::dilated;
use crate::operations::refusal::{Problem, Refusal, Subject};
use crate::operations::sizes::{Size, Sizes};
use crate::text::counted;

const EACH: &str = "one for each dimension of the operand";

/// - `slice_c1`: there are one operand and one result.
/// - `slice_c2`: `starts`, `limits` and `strides` have an entry for each dimension of the operand.
/// - `slice_c3`: `0 <= starts[k] <= limits[k]`.
/// - `slice_c4`: `limits[k]` is at most the size of the dimension.
/// - `slice_c5`: `strides[k]` is at least 1.
/// - `slice_c6`: the result has the sizes `ceil((limits[k] - starts[k]) / strides[k])`: from 1 to before 8 in steps of
///   3 are 3 elements, at 1, 4 and 7.
pub fn slice([starts, limits, strides]: [&[i64]; 3], arrays: &Arrays) -> Verdict {
    arrays.count("slice_c1", 1, 1)?;
    let sizes = &arrays.ins[0].0;
    for (name, list) in [("starts", starts), ("limits", limits), ("strides", strides)] {
        entries("slice_c2", name, list.len(), sizes.len(), EACH)?;
    }
    let mut expected = Vec::new();
    for (k, size) in sizes.iter().enumerate() {
        let (start, limit, stride) = (starts[k], limits[k], strides[k]);
        if start < 0 || start > limit {
            let must = format!("must be between 0 and the limit {limit}, found {start}");
            return Err(Refusal::entry("slice_c3", "starts", k, must));
        }
        if let Some(size) = size.filter(|size| limit > *size) {
            let must = format!("must be at most the size {size}, found {limit}");
            return Err(Refusal::entry("slice_c4", "limits", k, must));
        }
        if stride < 1 {
            let must = format!("must be at least 1, found {stride}");
            return Err(Refusal::entry("slice_c5", "strides", k, must));
        }
        // Neither the difference nor the rounding can leave 64 bits.
        expected.push(Some((limit - start) / stride + i64::from((limit - start) % stride != 0)));
    }
    arrays.result("slice_c6", 0, &expected)
}

/// - `pad_c1`: there are two operands, the data and a value, and one result.
/// - `pad_c2`: the value is a scalar.
/// - `pad_c3`: `low`, `high` and `interior` have an entry for each dimension of the data.
/// - `pad_c4`: `interior[k]` is at least 0.
/// - `pad_c5`: the result has the sizes `dilated(n, interior[k] + 1) + low[k] + high[k]`, which must not be negative: 3
///   elements with 1 between, 2 before and none after are `5 + 2 = 7`.
pub fn pad([low, high, interior]: [&[i64]; 3], arrays: &Arrays) -> Verdict {
    arrays.count("pad_c1", 2, 1)?;
    arrays.operand("pad_c2", 1, &[])?;
    let sizes = &arrays.ins[0].0;
    for (name, list) in [("low", low), ("high", high), ("interior", interior)] {
        entries("pad_c3", name, list.len(), sizes.len(), EACH)?;
    }
    let mut expected = Vec::new();
    for (k, size) in sizes.iter().enumerate() {
        if interior[k] < 0 {
            let must = format!("must be at least 0, found {}", interior[k]);
            return Err(Refusal::entry("pad_c4", "interior", k, must));
        }
        let Some(size) = *size else {
            expected.push(None);
            continue;
        };
        let padded =
            interior[k].checked_add(1).map(|step| dilated(size, step) + i128::from(low[k]) + i128::from(high[k]));
        let fits = padded.and_then(|n| i64::try_from(n).ok()).filter(|n| *n >= 0);
        expected.push(Some(fits.ok_or_else(|| {
            let found = padded.map_or("more".to_string(), |n| n.to_string());
            let must =
                format!("must give a size of at least 0 that fits in 64 bits from {size} elements, found {found}");
            Refusal::entry("pad_c5", "low", k, must)
        })?));
    }
    arrays.result("pad_c5", 0, &expected)
}

/// - `dynamic_slice_c1`: there is an operand, and one result.
/// - `dynamic_slice_c2`: `sizes` has an entry for each dimension of the operand.
/// - `dynamic_slice_c3`: `0 <= sizes[k]`, and at most the size of the dimension.
/// - `dynamic_slice_c4`: the result has these sizes.
/// - `starts_c1`: there is a start for each dimension.
/// - `starts_c2`: the starts are scalars.
pub fn dynamic_slice(sizes: &[i64], arrays: &Arrays) -> Verdict {
    data(arrays, "dynamic_slice_c1", 1)?;
    let data = &arrays.ins[0];
    entries("dynamic_slice_c2", "sizes", sizes.len(), data.rank(), EACH)?;
    fitting("dynamic_slice_c3", "sizes", sizes, data)?;
    let expected: Vec<Size> = sizes.iter().copied().map(Some).collect();
    arrays.result("dynamic_slice_c4", 0, &expected)?;
    starts(1, arrays)
}

/// - `dynamic_update_slice_c1`: there are at least two operands, the data and an update, and one result.
/// - `dynamic_update_slice_c2`: the update has the rank of the data and is not larger in any dimension.
/// - `dynamic_update_slice_c3`: the result has the sizes of the data.
///
/// And `starts_c1` and `starts_c2`, as for a [`dynamic_slice`].
pub fn dynamic_update_slice(arrays: &Arrays) -> Verdict {
    data(arrays, "dynamic_update_slice_c1", 2)?;
    let [data, update] = [&arrays.ins[0], &arrays.ins[1]];
    let inside = |(part, whole): (&Size, &Size)| part.zip(*whole).is_none_or(|(part, whole)| part <= whole);
    if data.rank() != update.rank() || !update.0.iter().zip(&data.0).all(inside) {
        let must = format!("must have at most the sizes {data}, found {update}");
        return Err(Refusal::new("dynamic_update_slice_c2", Subject::Operand(1), must));
    }
    arrays.result("dynamic_update_slice_c3", 0, &data.0)?;
    starts(2, arrays)
}

fn data(arrays: &Arrays, rule: &'static str, least: usize) -> Verdict {
    if arrays.ins.len() < least {
        let must = format!("must have at least {}, found {}", counted(least, "operand"), arrays.ins.len());
        return Err(Refusal::new(rule, Subject::Whole, must));
    }
    arrays.count(rule, arrays.ins.len(), 1)
}

/// Checks that from operand `first` on there is a scalar for each dimension of the data.
fn starts(first: usize, arrays: &Arrays) -> Verdict {
    let (needed, found) = (arrays.ins[0].rank(), arrays.ins.len() - first);
    if needed != found {
        let must = format!("must have {}, one for each dimension, found {found}", counted(needed, "start"));
        return Err(Refusal::new("starts_c1", Subject::Whole, must));
    }
    (first..first + needed).try_for_each(|k| arrays.operand("starts_c2", k, &[]))
}

/// Checks that the sizes of a block are not negative and at most those of the data.
pub fn fitting(rule: &'static str, name: &'static str, sizes: &[i64], data: &Sizes) -> Verdict {
    for (k, (size, whole)) in sizes.iter().zip(&data.0).enumerate() {
        if *size < 0 || whole.is_some_and(|whole| *size > whole) {
            let most = whole.map_or("at least 0".to_string(), |whole| format!("between 0 and the size {whole}"));
            return Err(Refusal::entry(rule, name, k, format!("must be {most}, found {size}")));
        }
    }
    Ok(())
}

/// - `insert_slice_c1`: there are two operands, the data and an update, and one result.
/// - `insert_slice_c2`: `starts` and `strides` have an entry for each dimension of the data, and the update has as
///   many.
/// - `insert_slice_c3`: `starts[k]` is at least 0.
/// - `insert_slice_c4`: `strides[k]` is at least 1.
/// - `insert_slice_c5`: the last element of the update is in the data, `starts[k] + strides[k] * (n - 1) < size`: 3
///   elements from 1 on in steps of 2 end at 5, which needs 6 elements.
/// - `insert_slice_c6`: the result has the sizes of the data.
pub fn insert_slice([starts, strides]: [&[i64]; 2], arrays: &Arrays) -> Verdict {
    arrays.count("insert_slice_c1", 2, 1)?;
    let (data, update) = (&arrays.ins[0], &arrays.ins[1]);
    entries("insert_slice_c2", "starts", starts.len(), data.rank(), EACH)?;
    entries("insert_slice_c2", "strides", strides.len(), data.rank(), EACH)?;
    if update.rank() != data.rank() {
        let problem =
            Problem::Other(format!("must have the rank {}, as the data, found {}", data.rank(), update.rank()));
        return Err(Refusal { rule: "insert_slice_c2", subject: Subject::Operand(1), problem });
    }
    for (k, (n, size)) in update.0.iter().zip(&data.0).enumerate() {
        if starts[k] < 0 {
            let must = format!("must be at least 0, found {}", starts[k]);
            return Err(Refusal::entry("insert_slice_c3", "starts", k, must));
        }
        if strides[k] < 1 {
            let must = format!("must be at least 1, found {}", strides[k]);
            return Err(Refusal::entry("insert_slice_c4", "strides", k, must));
        }
        let Some((n, size)) = n.zip(*size) else { continue };
        let last = i128::from(starts[k]) + i128::from(strides[k]) * i128::from(n - 1);
        if n > 0 && last >= size.into() {
            let must = format!("must put the last of {n} elements before the size {size}, found {last}");
            return Err(Refusal::entry("insert_slice_c5", "starts", k, must));
        }
    }
    arrays.result("insert_slice_c6", 0, &data.0)
}
