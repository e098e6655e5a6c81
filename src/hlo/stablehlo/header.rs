//! The header of HLO: the layouts of the entry, its aliases and the number of devices.

use super::attributes::MlirAttribute;
use super::site::{braces, check_note};
use super::syntax::{Argument, Operation};
use super::writer::{Placed, Writer};
use crate::operations::shape::Shape;
use crate::text::{Error, did_you_mean, excerpt, nearest};
use std::collections::HashMap;

/// The name of the entry.
const MAIN: &str = "main";

/// Writes the entry and all that it calls; returns the header and the name of the entry. `end` is the end of the text.
pub(super) fn entry<'a>(writer: &mut Writer<'a>, end: usize) -> Result<(Placed, String), Error> {
    let names: Vec<&str> = writer.function_names().collect();
    let name = match names[..] {
        [only] => only,
        _ => MAIN,
    };
    let Some(function) = writer.function(name) else {
        let near = nearest(MAIN, names.iter().copied()).and_then(|near| writer.function(near));
        let hint = did_you_mean(MAIN, names.iter().copied());
        let at = near.map_or(end, |near| near.at);
        return Err(Error::at(at, format!("expected a function `@main`, found none{hint}")));
    };
    let (entry, results) = writer.call(name, function.at)?;
    let header = header(writer, function, &results)?;
    Ok((header, entry))
}

fn header(writer: &Writer, function: &Operation, results: &[Shape]) -> Result<Placed, Error> {
    let [body, types] = &function.regions[..] else { return Ok(Placed::default()) };
    for own in body.arguments.iter().chain(&types.arguments).flat_map(|own| &own.attributes) {
        check_note(own)?;
    }
    let mut header = Placed::default();
    let name = if writer.module.name.is_empty() { MAIN } else { writer.module.name };
    header.push(&format!("HloModule {}", super::writer::named(name, "module")), 0);
    if let Some(alias) = aliases(&body.arguments, results.len())? {
        header.push(&format!(", input_output_alias={}", alias.0), alias.1);
    }
    let donor = |(k, own): (usize, &Argument)| find(own, "jax.buffer_donor").map(|_| format!("({k}, {{}})"));
    let donors: Vec<String> = body.arguments.iter().enumerate().filter_map(donor).collect();
    if !donors.is_empty() {
        header.push(&format!(", buffer_donor={{ {} }}", donors.join(", ")), function.at);
    }
    header.push(", entry_computation_layout={(", function.at);
    list(&mut header, &body.arguments, function.at)?;
    let (open, close) = if results.len() == 1 { ("", "") } else { ("(", ")") };
    header.push(&format!(")->{open}"), function.at);
    list(&mut header, &types.arguments, function.at)?;
    header.push(&format!("{close}}}"), function.at);
    for (theirs, ours) in [("mhlo.num_replicas", "replica_count"), ("mhlo.num_partitions", "num_partitions")] {
        let own = writer.module.attributes.iter().find(|own| own.name == theirs);
        let count = own.map(|own| Ok::<_, Error>((own.integer()?, own.at))).transpose()?;
        if let Some((count, at)) = count.filter(|(count, _)| *count != 1) {
            header.push(&format!(", {ours}={count}"), at);
        }
    }
    header.push("\n\n", function.at);
    Ok(header)
}

fn find<'o, 'a>(own: &'o Argument<'a>, name: &str) -> Option<&'o MlirAttribute<'a>> {
    own.attributes.iter().find(|own| own.name == name)
}

/// Writes the shapes of arguments or results with the layouts that `mhlo.layout_mode` says: `default`, `auto`, which is
/// the default to start from, or an order of dimensions.
fn list(header: &mut Placed, arguments: &[Argument], at: usize) -> Result<(), Error> {
    for (k, own) in arguments.iter().enumerate() {
        let separator = if k == 0 { "" } else { ", " };
        let mut shape = own.kind.clone()?;
        let mut place = at;
        if let (Some(mode), Shape::Array(array)) = (find(own, "mhlo.layout_mode"), &mut shape) {
            let text = mode.string()?;
            if !matches!(&*text, "default" | "auto") {
                // Past the quote.
                array.layout = text.parse().map_err(|error: Error| error.shifted(mode.at + 1))?;
                if array.layout.rank() != array.dims.len() {
                    let message =
                        format!("a layout must have {} dimensions, found `{}`", array.dims.len(), excerpt(&text));
                    return Err(Error::at(mode.at, message));
                }
            }
            place = mode.at;
        }
        header.push(&format!("{separator}{shape}"), place);
    }
    Ok(())
}

/// The aliases of results with arguments, and the place of the first.
fn aliases(arguments: &[Argument], results: usize) -> Result<Option<(String, usize)>, Error> {
    let (mut pairs, mut place, mut seen) = (Vec::new(), None, HashMap::new());
    for (k, own) in arguments.iter().enumerate() {
        let Some(output) = find(own, "tf.aliasing_output") else { continue };
        let result = output.integer()?;
        if !usize::try_from(result).is_ok_and(|result| result < results) {
            return Err(output.expected(&format!("the number of one of {results} results")));
        }
        if let Some(other) = seen.insert(result, k) {
            let message = format!("result {result} must alias one argument, found arguments {other} and {k}");
            return Err(Error::at(output.at, message));
        }
        let must = find(own, "mhlo.must_alias").is_some();
        let index = if results == 1 { Vec::new() } else { vec![result] };
        pairs.push(format!("{}: ({k}, {{}}, {}-alias)", braces(&index), if must { "must" } else { "may" }));
        place = place.or(Some(output.at));
    }
    Ok(place.map(|place| (format!("{{ {} }}", pairs.join(", ")), place)))
}
