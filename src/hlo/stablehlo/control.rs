//! Calls, loops, branches, reductions and custom calls: operations that run a computation.
//!
//! A region of StableHLO uses values from outside, and a computation of HLO only its parameters: constants are written
//! again inside, and other values are passed as further arguments.

use super::attributes::{MlirAttribute, field};
use super::site::{OperationSite, array_like, braces, field_integers};
use super::strings::quoted;
use super::syntax::Region;
use super::types::is_same;
use super::writer::{Captured, Form, Value, Written};
use crate::operations::shape::Shape;
use crate::text::{Error, excerpt};

/// A computation's attribute and name.
type Body = Written;

/// Writes region `k` as a computation of its own; `role` is part of its name.
pub(super) fn body(site: &mut OperationSite, k: usize, role: &str) -> Result<Body, Error> {
    let region = region(site, k)?;
    let captured = site.writer.captured(&[region]);
    if let Some(((name, _), _)) = captured.first() {
        let message = format!("must use only its arguments and constants in its region, found `%{}`", excerpt(name));
        return Err(site.error(&message).unsupported());
    }
    let name = written(site, region, role, (Form::Each, &[]));
    Ok(("to_apply", name, site.operation.at))
}

/// Region `k`.
fn region<'a>(site: &OperationSite<'_, 'a>, k: usize) -> Result<&'a Region<'a>, Error> {
    let count = site.operation.regions.len();
    let operation = site.operation;
    operation.regions.get(k).ok_or_else(|| site.error(&format!("must have at least {} regions, found {count}", k + 1)))
}

/// Writes the computation of a region, and returns its name.
fn written<'a>(
    site: &mut OperationSite<'_, 'a>,
    region: &'a Region<'a>,
    role: &str,
    form: (Form, &[Captured<'a>]),
) -> String {
    let name = site.writer.computation_name(&format!("{}.{role}", site.short_name()));
    site.writer.region(region, &name, site.operation.at, form);
    name
}

/// A call of a function.
pub(super) fn call(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    called(site, "callee", &[])
}

/// A composite: a call of its decomposition.
pub(super) fn composite(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    site.attribute(&["name", "composite_attributes", "version"]);
    let at = site.operation.at;
    called(site, "decomposition", &[("is_composite", "true".to_string(), at)])
}

fn called(site: &mut OperationSite, name: &'static str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
    site.attribute(&[name]);
    let (symbol, at) = site.operation.symbol(name).ok_or_else(|| site.error("must name a function, found none"))?;
    let (computation, shapes) = site.writer.call(symbol, at)?;
    if shapes.len() != site.results.len() || shapes.iter().zip(&site.results).any(|(a, b)| !is_same(a, b)) {
        let found = site.results.iter().map(Shape::to_string).collect::<Vec<_>>().join(", ");
        let right = shapes.iter().map(Shape::to_string).collect::<Vec<_>>().join(", ");
        return Err(site.error(&format!("must have the results ({right}) of `{}`, found ({found})", excerpt(symbol))));
    }
    let mut all = vec![("to_apply", computation, at)];
    all.extend_from_slice(attributes);
    site.many("call", &all)
}

/// A loop. It carries its operands and what its regions use from outside, as one value.
pub(super) fn while_loop(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (condition, body) = (region(site, 0)?, region(site, 1)?);
    let captured = site.writer.captured(&[condition, body]);
    let first: Vec<Value> = site.operands.iter().chain(captured.iter().map(|(_, value)| value)).cloned().collect();
    let carried = site.together("carried", &first);
    let at = site.operation.at;
    let body = written(site, body, "body", (Form::Carried, &captured));
    let condition = written(site, condition, "condition", (Form::Together, &captured));
    let attributes = [("condition", condition, at), ("body", body, at)];
    if first.len() == 1 && site.results.len() == 1 {
        return site.result("while", &[carried], &attributes);
    }
    let shape = carried.shape.clone();
    let tuple = site.step("while", &shape, "while", &[carried], &attributes);
    Ok(site.elements(&tuple))
}

/// `case` and `if`: each branch takes what it uses from outside, as one value.
pub(super) fn conditional(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let operation = site.operation;
    if site.short_name() == "if" && operation.regions.len() != 2 {
        return Err(site.error(&format!("must have two regions, found {}", operation.regions.len())));
    }
    let (mut operands, mut branches) = (vec![site.operand(0)?.clone()], Vec::new());
    for (k, region) in operation.regions.iter().enumerate() {
        let captured = site.writer.captured(&[region]);
        let values: Vec<Value> = captured.iter().map(|(_, value)| value.clone()).collect();
        operands.push(site.together(&format!("branch_{k}"), &values));
        branches.push(written(site, region, &format!("branch_{k}"), (Form::Together, &captured)));
    }
    let at = operation.at;
    let attributes = match &branches[..] {
        [yes, no] if site.short_name() == "if" => {
            vec![("true_computation", yes.clone(), at), ("false_computation", no.clone(), at)]
        }
        _ => vec![("branch_computations", format!("{{{}}}", branches.join(", ")), at)],
    };
    site.operands = operands;
    site.many("conditional", &attributes)
}

/// A reduction, with a region or `applies stablehlo.add`.
pub(super) fn reduce(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let dims = site.list("dimensions", &["dimensions"])?;
    let is_name = |word: &&MlirAttribute| word.text.contains('.');
    let applied = site.operation.positional().find(is_name).copied();
    if let Some(word) = applied.filter(|word| !["stablehlo.", "mhlo."].iter().any(|own| word.text.starts_with(own))) {
        return Err(Error::at(word.at, format!("unknown operation `{}`", excerpt(word.text))).unknown());
    }
    let body = match applied {
        Some(word) => {
            let array = site.operand_array(0)?;
            let name = site.writer.computation_name("reduce.body");
            let opcode = word.word().replace('_', "-");
            site.writer.applied(&name, word.at, &opcode, &array_like(&array, Vec::new()));
            ("to_apply", name, word.at)
        }
        None => body(site, 0, "body")?,
    };
    // The short form has each operand beside its first value.
    if !site.operation.is_generic {
        let (values, firsts): (Vec<_>, Vec<_>) =
            site.operands.iter().cloned().enumerate().partition(|(k, _)| k % 2 == 0);
        site.operands = values.into_iter().chain(firsts).map(|(_, value)| value).collect();
    }
    site.many("reduce", &[dims, body])
}

/// A barrier: one value through an `opt-barrier`.
pub(super) fn barrier(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    if site.operands.len() == 1 {
        return site.one("opt-barrier", &[]);
    }
    let operands = site.operands.clone();
    site.operands = vec![site.together("operands", &operands)];
    site.tuple_of("opt-barrier", &[])
}

/// A custom call.
pub(super) fn custom_call(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    site.attribute(&["call_target_name"]);
    let (target, target_at) = site
        .operation
        .symbol("call_target_name")
        .ok_or_else(|| site.error("must have a target such as `@name`, found none"))?;
    let mut attributes = vec![("custom_call_target", format!("\"{target}\""), target_at)];
    if let Some((true, at)) = site.flag(&["has_side_effect"])? {
        attributes.push(("custom_call_has_side_effect", "true".to_string(), at));
    }
    let version = site.attribute(&["api_version"]).map(|own| Ok::<_, Error>((own.integer()?, own.at))).transpose()?;
    let typed = site.attribute(&["mhlo.backend_config"]);
    // JAX writes its typed interface so.
    let version = version.filter(|_| typed.is_none()).or(typed.map(|own| (4, own.at)));
    attributes.extend(version.and_then(|(version, at)| Some(("api_version", api_version(version)?.to_string(), at))));
    if let Some(own) = typed.or(site.attribute(&["backend_config"])).filter(|own| own.text != "\"\"") {
        let text = if own.text.starts_with('"') { quoted(&own.string()?) } else { own.text.to_string() };
        attributes.push(("backend_config", text, own.at));
    }
    layouts(site, &mut attributes)?;
    if let Some(own) = site.attribute(&["output_operand_aliases"]) {
        let pair = |own: &MlirAttribute| -> Result<String, Error> {
            let fields = own.fields()?;
            let (output, inner) =
                (field_integers(&fields, "output_tuple_indices")?, field_integers(&fields, "operand_tuple_indices")?);
            let operand = field(&fields, "operand_index").ok_or_else(|| own.expected("`operand_index`"))?.integer()?;
            Ok(format!("{}: ({operand}, {})", braces(&output), braces(&inner)))
        };
        let pairs: Vec<String> = own.list()?.iter().map(pair).collect::<Result<_, _>>()?;
        if !pairs.is_empty() {
            attributes.push(("output_to_operand_aliasing", format!("{{{}}}", pairs.join(", ")), own.at));
        }
    }
    if let Some(own) = site.attribute(&["called_computations"]) {
        let mut names = Vec::new();
        for symbol in own.list()? {
            names.push(site.writer.call(symbol.text.trim_start_matches('@'), symbol.at)?.0);
        }
        if !names.is_empty() {
            attributes.push(("called_computations", format!("{{{}}}", names.join(", ")), own.at));
        }
    }
    if site.results.is_empty() {
        // An instruction of HLO has a result.
        let operands = site.operands.clone();
        let effect = ("custom_call_has_side_effect", "true".to_string(), site.operation.at);
        if !attributes.iter().any(|own| own.0 == effect.0) {
            attributes.push(effect);
        }
        let nothing = Shape::Tuple(Vec::new());
        let operation = site.operation;
        attributes.extend(site.writer.sharding_of(&operation.attributes, &nothing));
        site.step("effect", &nothing, "custom-call", &operands, &attributes);
        return Ok(Vec::new());
    }
    site.many("custom-call", &attributes)
}

/// The name of a version of the interface of custom calls; the first one has none.
fn api_version(version: i64) -> Option<&'static str> {
    match version {
        2 => Some("API_VERSION_STATUS_RETURNING"),
        3 => Some("API_VERSION_STATUS_RETURNING_UNIFIED"),
        4 => Some("API_VERSION_TYPED_FFI"),
        _ => None,
    }
}

/// `operand_layout_constraints`, and the layouts of the results.
fn layouts<'a>(site: &mut OperationSite<'_, 'a>, attributes: &mut Vec<Written>) -> Result<(), Error> {
    let (operands, results) = (site.attribute(&["operand_layouts"]), site.attribute(&["result_layouts"]));
    let listed = |own: &MlirAttribute<'a>, count: usize, what: &str| {
        let layouts = own.list()?;
        let message = || format!("expected a layout for each of {count} {what}, found {}", layouts.len());
        if layouts.len() == count { Ok(layouts) } else { Err(Error::at(own.at, message())) }
    };
    if let Some(own) = results {
        let layouts = listed(&own, site.results.len(), "results")?;
        for (shape, layout) in site.results.iter_mut().zip(&layouts) {
            *shape = with_layout(shape, layout)?;
        }
    }
    if let Some(own) = operands {
        let layouts = listed(&own, site.operands.len(), "operands")?;
        let shapes: Vec<String> = site
            .operands
            .iter()
            .zip(&layouts)
            .map(|(value, layout)| Ok(with_layout(&value.shape, layout)?.to_string()))
            .collect::<Result<_, Error>>()?;
        attributes.push(("operand_layout_constraints", format!("{{{}}}", shapes.join(", ")), own.at));
    }
    Ok(())
}

/// A shape with the order of dimensions in `dense<[0, 1]> : tensor<2xindex>`, minor to major.
pub(super) fn with_layout(shape: &Shape, layout: &MlirAttribute) -> Result<Shape, Error> {
    let Shape::Array(array) = shape else { return Ok(shape.clone()) };
    let text = layout.untyped();
    let order = text.strip_prefix("dense<").and_then(|text| text.strip_suffix('>')).unwrap_or(text);
    let order = order.trim_matches(['[', ']']).replace(' ', "");
    let layout_of = format!("{{{order}}}").parse().map_err(|error: Error| error.with_offset(Some(layout.at)))?;
    let mut array = array.clone();
    array.layout = layout_of;
    if array.layout.rank() != array.dims.len() {
        return Err(layout.expected(&format!("a layout of {} dimensions", array.dims.len())));
    }
    Ok(Shape::Array(array))
}

/// The operand itself.
pub(super) fn same(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    Ok(site.operands.clone())
}

/// A sharding of a value, by a custom call as JAX writes it.
pub(super) fn resharded(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let positional = site.operation.positional().next().copied();
    let own = site.attribute(&["sharding"]).or(positional);
    let own = own.ok_or_else(|| site.error("must have a sharding, found none"))?;
    let shape = site.operand(0)?.shape.clone();
    let text = site.writer.meshes.of_axes(&own, &shape)?;
    let target = ("custom_call_target", "\"Sharding\"".to_string(), site.operation.at);
    site.one("custom-call", &[target, ("sharding", text, own.at)])
}

/// Shardy's computation on the part of each device, by the custom calls that XLA writes around the call of its body.
pub(super) fn manual_computation(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let region = region(site, 0)?;
    let notes = |site: &mut OperationSite, name: &'static str| -> Vec<Written> {
        let at = site.operation.at;
        let own = site.attribute(&[name]).map(|own| own.text.replace('\\', "\\\\").replace('"', "\\\""));
        let note = own.map(|text| ("frontend_attributes", format!("{{xla.sdy.{name}=\"{text}\"}}"), at));
        let effect = ("custom_call_has_side_effect", "true".to_string(), at);
        note.into_iter().chain([effect]).collect()
    };
    site.attribute(&["manual_axes"]);
    let (inside, outside) = (notes(site, "in_shardings"), notes(site, "out_shardings"));
    let parts: Vec<Shape> = region.arguments.iter().map(|own| own.kind.clone()).collect::<Result<_, _>>()?;
    let operands = site.operands.clone();
    let mut local = converted(site, ("local", "xla.sdy.GlobalToLocalShape"), &operands, &parts, inside);
    let captured = site.writer.captured(&[region]);
    local.extend(captured.iter().map(|(_, value)| value.clone()));
    let body = written(site, region, "body", (Form::Each, &captured));
    let returned = site.writer.result_shapes();
    let shape = if let [one] = &returned[..] { one.clone() } else { Shape::Tuple(returned.clone()) };
    let at = site.operation.at;
    let called = site.step("call", &shape, "call", &local, &[("to_apply", body, at)]);
    let called = site.elements_of("part", &called, &returned);
    let results = site.results.clone();
    Ok(converted(site, ("whole", "xla.sdy.LocalToGlobalShape"), &called, &results, outside))
}

/// The results of a custom call that gives each operand another shape.
fn converted(
    site: &mut OperationSite,
    (role, target): (&str, &str),
    operands: &[Value],
    shapes: &[Shape],
    notes: Vec<Written>,
) -> Vec<Value> {
    let mut attributes = vec![("custom_call_target", format!("\"{target}\""), site.operation.at)];
    attributes.extend(notes);
    let shape = if let [one] = shapes { one.clone() } else { Shape::Tuple(shapes.to_vec()) };
    let value = site.step(role, &shape, "custom-call", operands, &attributes);
    site.elements_of(role, &value, shapes)
}
