//! Products, gathers and scatters.

use super::attributes::{MlirAttribute, field};
use super::control::body;
use super::site::{OperationSite, braces, field_integers, precision};
use super::writer::{Value, Written};
use crate::text::Error;

/// `dot`: the last dimension of the left operand by the first of the right one.
pub(super) fn dot(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (at, rank) = (site.operation.at, site.operand_array(0)?.dims.len());
    let left = braces(&[rank.saturating_sub(1) as i64]);
    let mut attributes = vec![("lhs_contracting_dims", left, at), ("rhs_contracting_dims", "{0}".to_string(), at)];
    attributes.extend(precision(site)?);
    site.one("dot", &attributes)
}

/// The dimensions of a product.
const DOT: [(&str, &str); 4] = [
    ("lhs_batching_dimensions", "lhs_batch_dims"),
    ("lhs_contracting_dimensions", "lhs_contracting_dims"),
    ("rhs_batching_dimensions", "rhs_batch_dims"),
    ("rhs_contracting_dimensions", "rhs_contracting_dims"),
];

pub(super) fn dot_general(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let mut attributes = Vec::new();
    let mut add = |name: &'static str, dims: &[i64], at: usize| {
        if !dims.is_empty() {
            attributes.push((name, braces(dims), at));
        }
    };
    if let Some(own) = site.attribute(&["dot_dimension_numbers"]) {
        let fields = own.fields_of(&DOT.map(|own| own.0))?;
        for (theirs, ours) in DOT {
            add(ours, &field_integers(&fields, theirs)?, own.at);
        }
    } else {
        for (name, left, right) in [
            ("batching_dims", "lhs_batch_dims", "rhs_batch_dims"),
            ("contracting_dims", "lhs_contracting_dims", "rhs_contracting_dims"),
        ] {
            let Some(own) = site.attribute(&[name]) else { continue };
            let (first, second) =
                own.text.split_once('x').ok_or_else(|| own.expected("dimensions such as `[1] x [0]`"))?;
            let list = |text| MlirAttribute { name: "", text, at: own.at }.integers();
            add(left, &list(first.trim())?, own.at);
            add(right, &list(second.trim())?, own.at);
        }
    }
    attributes.extend(precision(site)?);
    attributes.extend(algorithm(site)?);
    site.one("dot", &attributes)
}

/// `algorithm=dot_bf16_bf16_f32_x3`: the types of the operands and of the sum, and the number of products.
fn algorithm(site: &mut OperationSite) -> Result<Option<Written>, Error> {
    let Some(own) = site.attribute(&["algorithm"]) else { return Ok(None) };
    let fields = own.fields_of(&[
        "lhs_precision_type",
        "rhs_precision_type",
        "accumulation_type",
        "lhs_component_count",
        "rhs_component_count",
        "num_primitive_operations",
        "allow_imprecise_accumulation",
    ])?;
    let text = |name: &str| field(&fields, name).map_or(String::new(), |own| own.untyped().to_lowercase());
    let (left, right, sum) = (text("lhs_precision_type"), text("rhs_precision_type"), text("accumulation_type"));
    let count = field(&fields, "num_primitive_operations").map_or(Ok(1), MlirAttribute::integer)?;
    let fast = field(&fields, "allow_imprecise_accumulation").map_or(Ok(false), MlirAttribute::flag)?;
    let name = if left.starts_with("f8") {
        format!("dot_any_f8_any_f8_{sum}{}", if fast { "_fast_accum" } else { "" })
    } else if count > 1 {
        format!("dot_{left}_{right}_{sum}_x{count}")
    } else {
        format!("dot_{left}_{right}_{sum}")
    };
    Ok(Some(("algorithm", name, own.at)))
}

/// `chlo.ragged_dot`.
pub(super) fn ragged_dot(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["ragged_dot_dimension_numbers"])?;
    let fields = own.fields()?;
    let mut attributes = Vec::new();
    for (theirs, ours) in DOT
        .into_iter()
        .chain([("lhs_ragged_dimensions", "lhs_ragged_dims"), ("rhs_group_dimensions", "rhs_group_dims")])
    {
        let dims = field_integers(&fields, theirs)?;
        if !dims.is_empty() {
            attributes.push((ours, braces(&dims), own.at));
        }
    }
    attributes.extend(precision(site)?);
    site.one("ragged-dot", &attributes)
}

/// The lists of a gather.
const GATHER: [(&str, &str); 5] = [
    ("offset_dims", "offset_dims"),
    ("collapsed_slice_dims", "collapsed_slice_dims"),
    ("start_index_map", "start_index_map"),
    ("operand_batching_dims", "operand_batching_dims"),
    ("start_indices_batching_dims", "start_indices_batching_dims"),
];

/// The lists of a scatter.
const SCATTER: [(&str, &str); 5] = [
    ("update_window_dims", "update_window_dims"),
    ("inserted_window_dims", "inserted_window_dims"),
    ("scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"),
    ("input_batching_dims", "input_batching_dims"),
    ("scatter_indices_batching_dims", "scatter_indices_batching_dims"),
];

/// The lists of a structure; those of batches only where they have entries.
fn lists(own: &MlirAttribute, names: [(&'static str, &'static str); 5]) -> Result<Vec<Written>, Error> {
    let known: Vec<&str> = names.iter().map(|own| own.0).chain(["index_vector_dim"]).collect();
    let fields = own.fields_of(&known)?;
    let mut attributes = Vec::new();
    for (theirs, ours) in names {
        let dims = field_integers(&fields, theirs)?;
        if !dims.is_empty() || !ours.contains("batching") {
            attributes.push((ours, braces(&dims), own.at));
        }
    }
    let vector = field(&fields, "index_vector_dim").map_or(Ok(0), MlirAttribute::integer)?;
    attributes.push(("index_vector_dim", vector.to_string(), own.at));
    Ok(attributes)
}

pub(super) fn gather(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    gather_of(site, None)
}

/// A gather of slices of these sizes, or of those of its attribute.
pub(super) fn gather_of(site: &mut OperationSite, sizes: Option<Vec<i64>>) -> Result<Vec<Value>, Error> {
    let own = site.need(&["dimension_numbers"])?;
    let mut attributes = lists(&own, GATHER)?;
    attributes.push(match sizes {
        Some(sizes) => ("slice_sizes", braces(&sizes), site.operation.at),
        None => site.list("slice_sizes", &["slice_sizes"])?,
    });
    flags(site, &["indices_are_sorted"], &mut attributes)?;
    site.one("gather", &attributes)
}

pub(super) fn scatter(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["scatter_dimension_numbers"])?;
    let mut attributes = lists(&own, SCATTER)?;
    flags(site, &["indices_are_sorted", "unique_indices"], &mut attributes)?;
    attributes.push(body(site, 0, "update")?);
    site.many("scatter", &attributes)
}

/// Adds the flags that are true.
fn flags(site: &mut OperationSite, names: &[&'static str], attributes: &mut Vec<Written>) -> Result<(), Error> {
    for name in names {
        if let Some((true, at)) = site.flag(&[name])? {
            attributes.push((name, "true".to_string(), at));
        }
    }
    Ok(())
}
