//! The operations of StableHLO and CHLO as instructions of HLO: one row each.

use super::attributes::MlirAttribute;
use super::complex;
use super::constants::number;
use super::literals::{constant, reshape};
use super::site::{Conversion, OperationSite, array_like, braces, by, comparison_type, sizes_at_run_time};
use super::syntax::Operation;
use super::writer::{Value, Writer};
use super::{collectives, control, functions, products, windows};
use crate::element::ElementType;
use crate::hlo::read::FOUND_VHLO;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::{Error, excerpt, nearest};
use std::sync::LazyLock;

/// Operations whose opcode is their name with dashes, by their operands alone.
const PLAIN: &[&str] = &[
    "abs",
    "and",
    "atan2",
    "bitcast_convert",
    "cbrt",
    "ceil",
    "clamp",
    "complex",
    "cosine",
    "count_leading_zeros",
    "divide",
    "exponential",
    "exponential_minus_one",
    "floor",
    "imag",
    "is_finite",
    "log",
    "logistic",
    "maximum",
    "minimum",
    "negate",
    "not",
    "or",
    "partition_id",
    "popcnt",
    "power",
    "real",
    "remainder",
    "replica_id",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
];

/// The other operations of StableHLO, sorted.
static ROWS: &[(&str, Conversion)] = &[
    ("add", add),
    ("after_all", |site| site.one("after-all", &[])),
    ("all_gather", collectives::all_gather),
    ("all_reduce", collectives::all_reduce),
    ("all_to_all", collectives::all_to_all),
    ("batch_norm_grad", |site| batch_norm(site, "batch-norm-grad")),
    ("batch_norm_inference", |site| batch_norm(site, "batch-norm-inference")),
    ("batch_norm_training", |site| batch_norm(site, "batch-norm-training")),
    ("broadcast", broadcast),
    ("broadcast_in_dim", broadcast_in_dim),
    ("case", control::conditional),
    ("cholesky", |site| {
        let lower = site.flag(&["lower"])?;
        site.one("cholesky", &lower.map_or(Vec::new(), |own| vec![("lower", own.0.to_string(), own.1)]))
    }),
    ("collective_broadcast", collectives::collective_broadcast),
    ("collective_permute", collectives::collective_permute),
    ("compare", compare),
    ("composite", control::composite),
    ("concatenate", |site| {
        let (dims, result) = (site.list("dimensions", &["dimension", "dim"])?, site.result_array()?);
        for k in 0..site.operands.len() {
            site.check_element(k, &site.operands[k].shape, result.element)?;
        }
        site.one("concatenate", &[dims])
    }),
    ("constant", constant),
    ("convert", |site| site.one_unless_same("convert", &[])),
    ("convolution", windows::convolution),
    ("create_token", |site| site.one("after-all", &[])),
    ("custom_call", control::custom_call),
    ("dot", products::dot),
    ("dot_general", products::dot_general),
    ("dynamic_broadcast_in_dim", broadcast_in_dim),
    ("dynamic_conv", windows::dynamic_convolution),
    ("dynamic_gather", |site| {
        let sizes = site.operand_integers(2).ok_or_else(|| sizes_at_run_time(site.operation))?;
        site.operands.truncate(2);
        products::gather_of(site, Some(sizes))
    }),
    ("dynamic_iota", iota),
    ("dynamic_pad", dynamic_pad),
    ("dynamic_reshape", |site| {
        site.needs_sizes(1)?;
        site.operands.truncate(1);
        reshape(site)
    }),
    ("dynamic_slice", |site| {
        let sizes = site.list("dynamic_slice_sizes", &["slice_sizes", "sizes"])?;
        site.one("dynamic-slice", &[sizes])
    }),
    ("dynamic_update_slice", |site| site.one("dynamic-update-slice", &[])),
    ("fft", |site| {
        let kind = site.word(&["fft_type", "type"])?;
        let length = site.list("fft_length", &["fft_length", "length"])?;
        site.one("fft", &[("fft_type", kind.0.to_string(), kind.1), length])
    }),
    ("gather", products::gather),
    ("get_dimension_size", |site| {
        let dim = site.list("dimensions", &["dimension", "dim"])?;
        site.one("get-dimension-size", &[dim])
    }),
    ("get_tuple_element", get_tuple_element),
    ("if", control::conditional),
    ("infeed", collectives::infeed),
    ("iota", iota),
    ("log_plus_one", |site| {
        complex::function(site, |complex, z| complex.log_plus_one(z), |site| site.one("log-plus-one", &[]))
    }),
    ("map", |site| {
        let (dims, body) = (site.list("dimensions", &["dimensions"])?, control::body(site, 0, "body")?);
        site.one("map", &[dims, body])
    }),
    ("multiply", multiply),
    ("optimization_barrier", control::barrier),
    ("outfeed", collectives::outfeed),
    ("pad", pad),
    ("real_dynamic_slice", real_dynamic_slice),
    ("recv", collectives::recv),
    ("reduce", control::reduce),
    ("reduce_precision", reduce_precision),
    ("reduce_scatter", collectives::reduce_scatter),
    ("reduce_window", windows::reduce_window),
    ("reshape", reshape),
    ("reverse", |site| {
        let dims = site.list("dimensions", &["dimensions", "dims"])?;
        site.one("reverse", &[dims])
    }),
    ("rng", |site| {
        let kind = site.word(&["rng_distribution", "distribution"])?;
        site.needs_sizes(2)?;
        site.operands.truncate(2);
        site.one("rng", &[("distribution", format!("rng_{}", kind.0.to_lowercase()), kind.1)])
    }),
    ("rng_bit_generator", |site| {
        let (kind, at) = site.word(&["rng_algorithm", "algorithm"])?;
        let kind = if kind == "THREE_FRY" { "three_fry".to_string() } else { kind.to_lowercase() };
        site.tuple_of("rng-bit-generator", &[("algorithm", format!("rng_{kind}"), at)])
    }),
    ("scatter", products::scatter),
    ("select", select),
    ("select_and_scatter", windows::select_and_scatter),
    ("send", collectives::send),
    ("set_dimension_size", |site| {
        let dim = site.list("dimensions", &["dimension", "dim"])?;
        site.one("set-dimension-size", &[dim])
    }),
    ("slice", slice),
    ("sort", |site| {
        let (rank, at) = (site.operand_array(0)?.dims.len() as i64, site.operation.at);
        let own =
            site.attribute(&["dimension"]).map_or(Ok((-1, at)), |own| Ok::<_, Error>((own.integer()?, own.at)))?;
        // From the end.
        let dim = if own.0 < 0 { own.0 + rank } else { own.0 };
        let mut attributes = vec![("dimensions", braces(&[dim]), own.1)];
        if let Some((true, at)) = site.flag(&["is_stable"])? {
            attributes.push(("is_stable", "true".to_string(), at));
        }
        for (k, argument) in site.operation.regions.iter().flat_map(|region| &region.arguments).enumerate() {
            let element = site.operand_array(k / 2)?.element;
            site.check_element(k / 2, &argument.kind.clone()?, element)?;
        }
        attributes.push(control::body(site, 0, "comparator")?);
        site.many("sort", &attributes)
    }),
    ("transpose", |site| {
        let own = site.need(&["permutation", "dims"])?;
        let dims = own.integers()?;
        if dims.iter().enumerate().all(|(k, dim)| usize::try_from(*dim) == Ok(k)) {
            return site.one_unless_same("transpose", &[("dimensions", braces(&dims), own.at)]);
        }
        site.one("transpose", &[("dimensions", braces(&dims), own.at)])
    }),
    ("triangular_solve", triangular_solve),
    ("tuple", |site| site.one("tuple", &[])),
    ("while", control::while_loop),
];

/// Operations of other dialects that a module of StableHLO has, sorted.
static OTHERS: &[(&str, Conversion)] = &[
    ("arith.constant", constant),
    ("call", control::call),
    ("func.call", control::call),
    ("sdy.manual_computation", control::manual_computation),
    ("sdy.propagation_barrier", control::same),
    ("sdy.reshard", control::resharded),
    ("sdy.sharding_constraint", control::resharded),
    ("sdy.sharding_group", |_| Ok(Vec::new())),
];

/// The operations that have regions, sorted.
const WITH_REGIONS: &[&str] = &[
    "all_reduce",
    "case",
    "if",
    "manual_computation",
    "map",
    "reduce",
    "reduce_scatter",
    "reduce_window",
    "scatter",
    "select_and_scatter",
    "sort",
    "while",
];

/// The names of all operations.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let known = ROWS.iter().map(|row| row.0).chain(PLAIN.iter().copied()).map(|name| format!("stablehlo.{name}"));
    known.chain(functions::ROWS.iter().map(|row| format!("chlo.{}", row.0))).collect()
});

/// Writes an operation, and returns its results.
pub(super) fn convert<'a>(
    writer: &mut Writer<'a>,
    operation: &'a Operation<'a>,
    operands: Vec<Value>,
    results: Vec<Shape>,
) -> Result<Vec<Value>, Error> {
    let mut site = OperationSite::new(writer, operation, operands, results);
    site.put_splat_last();
    let row = row(operation)?;
    if !operation.regions.is_empty() && WITH_REGIONS.binary_search(&site.short_name()).is_err() {
        return Err(site.error("must have no region, found one"));
    }
    let values = match row {
        Some(row) => row(&mut site)?,
        None => {
            let opcode = site.short_name().replace('_', "-");
            site.one(&opcode, &[])?
        }
    };
    site.check_attributes()?;
    Ok(values)
}

/// The row of an operation; `None` for a plain one.
fn row(operation: &Operation) -> Result<Option<Conversion>, Error> {
    let find =
        |rows: &[(&str, Conversion)], name| rows.binary_search_by_key(&name, |row| row.0).ok().map(|k| rows[k].1);
    let name = operation.name;
    if let Some(short) = name.strip_prefix("stablehlo.").or_else(|| name.strip_prefix("mhlo.")) {
        if let Some(row) = find(ROWS, short) {
            return Ok(Some(row));
        }
        if PLAIN.binary_search(&short).is_ok() {
            return Ok(None);
        }
    } else if let Some(row) = name.strip_prefix("chlo.").and_then(|short| find(functions::ROWS, short)) {
        return Ok(Some(row));
    } else if let Some(row) = find(OTHERS, name) {
        return Ok(Some(row));
    }
    if name.ends_with("return") {
        let message = format!("`{}` must be the last operation of its region", excerpt(name));
        return Err(Error::at(operation.at, message));
    }
    if name.starts_with("vhlo.") {
        return Err(Error::at(operation.at, FOUND_VHLO).unsupported());
    }
    let hint = nearest(name, NAMES.iter().map(|name| &**name))
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Error::at(operation.at, format!("unknown operation `{}`{hint}", excerpt(name))).unknown())
}

fn batch_norm(site: &mut OperationSite, opcode: &str) -> Result<Vec<Value>, Error> {
    let (epsilon, feature) = (site.need(&["epsilon"])?, site.need(&["feature_index"])?);
    let attributes = [
        ("epsilon", number(epsilon.at, epsilon.untyped(), ElementType::F32)?, epsilon.at),
        ("feature_index", feature.integer()?.to_string(), feature.at),
    ];
    site.many(opcode, &attributes)
}

fn broadcast(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["broadcast_sizes", "sizes"])?;
    let (rank, sizes) = (site.operand_array(0)?.dims.len() as i64, own.integers()?);
    let result = site.result_array()?;
    if !sizes.iter().zip(&result.dims).all(|(size, dim)| *dim == Dim::Exact(*size)) {
        return Err(own.expected(&format!("the first sizes of `{}`", Shape::Array(result))));
    }
    let added = sizes.len() as i64;
    let dims: Vec<i64> = (added..added + rank).collect();
    site.one("broadcast", &[("dimensions", braces(&dims), own.at)])
}

/// A broadcast. HLO repeats no dimension of size 1: such dimensions go first, by a `reshape`.
fn broadcast_in_dim(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["broadcast_dimensions", "dims"])?;
    site.attribute(&["known_expanding_dimensions", "known_nonexpanding_dimensions"]);
    if site.short_name().starts_with("dynamic") {
        site.needs_sizes(1)?;
    }
    let (mut dims, mut from, to) = (own.integers()?, site.operand_array(0)?, site.result_array()?);
    let mut operand = site.operand(0)?.clone();
    if dims.len() != from.dims.len() {
        let (count, rank) = (dims.len(), from.dims.len());
        return Err(Error::at(own.at, format!("there must be {rank} dimensions, as the operand has, found {count}")));
    }
    let target = |dim: &i64| usize::try_from(*dim).ok().and_then(|dim| to.dims.get(dim)).copied();
    let fits = |k: usize| target(&dims[k]).is_some_and(|dim| dim == from.dims[k] || from.dims[k] == Dim::Exact(1));
    if !(0..dims.len()).all(fits) {
        return Err(own.expected(&format!("dimensions of the result with the sizes of `{}`", Shape::Array(from))));
    }
    if !dims.is_sorted() {
        (operand, from) = sorted(site, &operand, &from, (&dims, own.at));
        dims.sort_unstable();
        site.operands[0] = operand.clone();
        if from.dims == to.dims {
            return Ok(vec![operand]);
        }
    }
    let repeats = |k: usize| from.dims[k] == Dim::Exact(1) && target(&dims[k]).is_some_and(|dim| dim != Dim::Exact(1));
    let kept: Vec<usize> = (0..dims.len()).filter(|k| !repeats(*k)).collect();
    let elements = |array: &Array| {
        array.sizes().and_then(|sizes| sizes.iter().try_fold(1i64, |product, size| product.checked_mul(*size)))
    };
    let exact = |array: &Array| array.dims.iter().all(|dim| matches!(dim, Dim::Exact(_)));
    let in_place = dims.iter().enumerate().all(|(k, dim)| usize::try_from(*dim) == Ok(k));
    if from == to && in_place {
        return Ok(vec![operand]);
    }
    if exact(&from) && exact(&to) && elements(&from) == elements(&to) && dims.is_sorted() && kept.len() == dims.len() {
        site.operands.truncate(1);
        return reshape(site);
    }
    if kept.len() == dims.len() {
        let splat = site.writer.splat(&operand).map(str::to_string);
        let values = site.result("broadcast", &[operand], &[("dimensions", braces(&dims), own.at)])?;
        if let Some(text) = splat {
            site.writer.set_splat(&values[0], &text);
        }
        return Ok(values);
    }
    let smaller = array_like(&from, kept.iter().map(|k| from.dims[*k]).collect());
    let reshaped = site.step("reshape", &smaller, "reshape", &[operand], &[]);
    let dims: Vec<i64> = kept.iter().map(|k| dims[*k]).collect();
    site.result("broadcast", &[reshaped], &[("dimensions", braces(&dims), own.at)])
}

/// The operand of a broadcast with its dimensions in the order of those of the result; no element moves.
fn sorted(site: &mut OperationSite, operand: &Value, from: &Array, (dims, at): (&[i64], usize)) -> (Value, Array) {
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|k| dims[*k]);
    let mut minor_to_major: Vec<usize> = (0..order.len()).collect();
    minor_to_major.sort_by_key(|k| std::cmp::Reverse(order[*k]));
    let mut array = array_like(from, order.iter().map(|k| from.dims[*k]).collect());
    if let Shape::Array(array) = &mut array {
        array.layout.minor_to_major = minor_to_major;
    }
    let numbers: Vec<i64> = order.iter().map(|k| *k as i64).collect();
    let value = site.step(
        "transpose",
        &array,
        "transpose",
        std::slice::from_ref(operand),
        &[("dimensions", braces(&numbers), at)],
    );
    let Shape::Array(array) = array else { return (value, from.clone()) };
    (value, array)
}

fn compare(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let words: Vec<MlirAttribute> = site.operation.positional().copied().collect();
    let direction = site.attribute(&["comparison_direction"]).or(words.first().copied());
    let direction = direction.ok_or_else(|| site.error("must have a direction such as `LT`, found none"))?;
    let kind = site.attribute(&["compare_type"]).or(words.get(1).copied());
    let mut attributes = vec![("direction", direction.word().to_string(), direction.at)];
    attributes.extend(kind.map_or(Ok(None), |kind| comparison_type(&kind))?);
    site.one("compare", &attributes)
}

/// A sum; one with the integer 0 is the other operand. A sum of -0.0 and 0.0 is not.
fn add(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let integers = site.result_array().is_ok_and(|own| own.element.is_signed() || own.element.is_unsigned());
    match &site.operands[..] {
        [x, y] if integers && site.writer.splat(y) == Some("0") && x.shape == y.shape && x.shape == site.results[0] => {
            Ok(vec![x.clone()])
        }
        _ => site.one("add", &[]),
    }
}

/// A choice; a condition for all elements is broadcast, and equal values need none.
fn select(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let condition = site.operand_array(0)?;
    let (result, at) = (site.result_array()?, site.operation.at);
    match &site.operands[..] {
        [_, yes, no]
            if yes.name == no.name
                && condition.element == ElementType::Pred
                && (condition.dims.is_empty() || condition.dims == result.dims)
                && yes.shape == site.results[0] =>
        {
            Ok(vec![yes.clone()])
        }
        [one, yes, no] if condition.dims.is_empty() && !result.dims.is_empty() => {
            let (one, values) = (one.clone(), [yes.clone(), no.clone()]);
            let whole = Shape::Array(Array { element: condition.element, ..result });
            let none = ("dimensions", "{}".to_string(), at);
            let each = site.step("broadcast", &whole, "broadcast", &[one], &[none]);
            site.result("select", &[&[each][..], &values[..]].concat(), &[])
        }
        _ => site.one("select", &[]),
    }
}

/// A product; one with 1 is the other operand, as in each gradient of JAX.
fn multiply(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let is_one = |value: &Value| site.writer.splat(value).and_then(|text| text.parse::<f64>().ok()) == Some(1.0);
    match &site.operands[..] {
        [x, y] if is_one(x) && x.shape == y.shape && x.shape == site.results[0] => Ok(vec![y.clone()]),
        [x, y] if is_one(y) && x.shape == y.shape && x.shape == site.results[0] => Ok(vec![x.clone()]),
        _ => site.one("multiply", &[]),
    }
}

/// Numbers along a dimension: one row of them, which the other dimensions repeat.
fn iota(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["iota_dimension", "dim"])?;
    site.needs_sizes(0)?;
    let (array, dim) = (site.result_array()?, own.integer()?);
    let size = usize::try_from(dim).ok().and_then(|dim| array.dims.get(dim)).copied();
    let size = size.ok_or_else(|| own.expected("a dimension of the result"))?;
    let zero = ("iota_dimension", "0".to_string(), own.at);
    if array.dims.len() == 1 {
        return site.result("iota", &[], &[zero]);
    }
    let row = site.step("row", &array_like(&array, vec![size]), "iota", &[], &[zero]);
    site.result("broadcast", &[row], &[("dimensions", braces(&[dim]), own.at)])
}

fn get_tuple_element(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let positional = site.operation.positional().next().copied();
    let own = site.attribute(&["index"]).or(positional);
    let own = own.ok_or_else(|| site.error("must have an index such as `[0]`, found none"))?;
    let &[index] = &own.integers()?[..] else { return Err(own.expected("one index")) };
    site.one("get-tuple-element", &[("index", index.to_string(), own.at)])
}

fn pad(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["edge_padding_low", "low"])?;
    let low = own.integers()?;
    let high = site.integers(&["edge_padding_high", "high"])?;
    let interior = site.integers(&["interior_padding", "interior"])?;
    if low.len() != high.len() || low.len() != interior.len() {
        return Err(site.error("must have as many low as high and interior paddings"));
    }
    let dim = |k: usize| match interior[k] {
        0 => format!("{}_{}", low[k], high[k]),
        between => format!("{}_{}_{between}", low[k], high[k]),
    };
    let of_element = site.operand_array(0)?.element == site.operand_array(1)?.element;
    if low.iter().chain(&high).chain(&interior).all(|padding| *padding == 0)
        && low.len() == site.operand_array(0)?.dims.len()
        && of_element
        && site.operand(0)?.shape == site.results[0]
    {
        return Ok(vec![site.operand(0)?.clone()]);
    }
    site.one("pad", &[("padding", by((0..low.len()).map(dim)), own.at)])
}

/// Padding by constants.
fn dynamic_pad(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let lists: Option<Vec<Vec<i64>>> = (2..5).map(|k| site.operand_integers(k)).collect();
    let lists = lists.filter(|lists| lists.iter().all(|list| list.len() == lists[0].len()));
    let lists = lists.ok_or_else(|| sizes_at_run_time(site.operation))?;
    let dim = |k: usize| format!("{}_{}_{}", lists[0][k], lists[1][k], lists[2][k]);
    let padding = by((0..lists[0].len()).map(dim));
    site.operands.truncate(2);
    site.one("pad", &[("padding", padding, site.operation.at)])
}

/// A slice between constants.
fn real_dynamic_slice(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let lists: Option<Vec<Vec<i64>>> = (1..4).map(|k| site.operand_integers(k)).collect();
    let lists = lists.filter(|lists| lists.iter().all(|list| list.len() == lists[0].len()));
    let lists = lists.ok_or_else(|| sizes_at_run_time(site.operation))?;
    let dim = |k: usize| format!("[{}:{}:{}]", lists[0][k], lists[1][k], lists[2][k]);
    let parts: Vec<String> = (0..lists[0].len()).map(dim).collect();
    site.operands.truncate(1);
    site.one("slice", &[("slice", format!("{{{}}}", parts.join(", ")), site.operation.at)])
}

fn reduce_precision(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (exponent, mantissa, at) = match site.attribute(&["format"]) {
        Some(own) => {
            let parts = own.text.strip_prefix('e').and_then(|text| text.split_once('m'));
            let (exponent, mantissa) = parts.ok_or_else(|| own.expected("a format such as `e5m10`"))?;
            (exponent.to_string(), mantissa.to_string(), own.at)
        }
        None => {
            let (exponent, mantissa) = (site.need(&["exponent_bits"])?, site.need(&["mantissa_bits"])?);
            (exponent.integer()?.to_string(), mantissa.integer()?.to_string(), exponent.at)
        }
    };
    site.one("reduce-precision", &[("exponent_bits", exponent, at), ("mantissa_bits", mantissa, at)])
}

fn slice(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (parts, at) = match site.operation.positional().next().copied() {
        Some(own) => (own.list()?.iter().map(|part| part.text.to_string()).collect::<Vec<_>>(), own.at),
        None => {
            let own = site.need(&["start_indices"])?;
            let (start, limit) = (own.integers()?, site.integers(&["limit_indices"])?);
            let strides = site.integers(&["strides"])?;
            if start.len() != limit.len() || start.len() != strides.len() {
                return Err(site.error("must have as many starts as limits and strides"));
            }
            ((0..start.len()).map(|k| format!("{}:{}:{}", start[k], limit[k], strides[k])).collect(), own.at)
        }
    };
    let parts: Vec<String> = parts.iter().map(|part| format!("[{part}]")).collect();
    let sizes = site.operand_array(0)?.sizes().unwrap_or_default();
    let whole = |size: &i64| [format!("[0:{size}]"), format!("[0:{size}:1]")];
    let is_whole = |(part, size): (&String, &i64)| whole(size).contains(part);
    let attribute = ("slice", format!("{{{}}}", parts.join(", ")), at);
    if parts.len() == sizes.len() && parts.iter().zip(&sizes).all(is_whole) {
        return site.one_unless_same("slice", &[attribute]);
    }
    site.one("slice", &[attribute])
}

fn triangular_solve(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let mut attributes = Vec::new();
    for name in ["left_side", "lower", "unit_diagonal"] {
        if let Some((flag, at)) = site.flag(&[name])? {
            attributes.push((name, flag.to_string(), at));
        }
    }
    let transpose = site.word(&["transpose_a"])?;
    attributes.push(("transpose_a", transpose.0.to_string(), transpose.1));
    site.one("triangular-solve", &attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(PLAIN.is_sorted());
        assert!(WITH_REGIONS.is_sorted());
        for rows in [ROWS, OTHERS, functions::ROWS] {
            assert!(rows.is_sorted_by_key(|row| row.0));
        }
    }
}
