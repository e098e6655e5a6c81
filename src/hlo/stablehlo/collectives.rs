//! Operations between devices, and with the host.

use super::attributes::{MlirAttribute, field};
use super::control::{body, with_layout};
use super::site::{OperationSite, array_like, braces};
use super::strings::quoted;
use super::types;
use super::writer::{Value, Written};
use crate::operations::shape::{Dim, Shape};
use crate::text::Error;

/// The groups of devices, the channel and the meaning of the numbers.
fn groups(site: &mut OperationSite) -> Result<Vec<Written>, Error> {
    let mut attributes = Vec::new();
    if let Some(own) = site.attribute(&["replica_groups"]) {
        attributes.push(("replica_groups", pairs(&own)?, own.at));
    }
    let has_channel = channel(site, &mut attributes)?;
    // Without a channel, the numbers are of replicas.
    if let Some((true, at)) = site.flag(&["use_global_device_ids"])?.filter(|_| has_channel) {
        attributes.push(("use_global_device_ids", "true".to_string(), at));
    }
    Ok(attributes)
}

/// Adds `channel_id=1`, unless the channel is 0.
fn channel(site: &mut OperationSite, attributes: &mut Vec<Written>) -> Result<bool, Error> {
    let Some(own) = site.attribute(&["channel_handle"]) else { return Ok(false) };
    let handle = field(&own.fields()?, "handle").map_or(Ok(0), MlirAttribute::integer)?;
    if handle > 0 {
        attributes.push(("channel_id", handle.to_string(), own.at));
    }
    Ok(handle > 0)
}

/// `{{0,1},{2,3}}` of `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`; -1 fills a shorter group.
fn pairs(own: &MlirAttribute) -> Result<String, Error> {
    let text = own.text;
    let sizes = text.rsplit_once("tensor<").map_or("", |(_, sizes)| sizes);
    let size = |k: usize| sizes.split('x').nth(k).and_then(|size| size.parse::<usize>().ok());
    let (rows, columns) = size(0).zip(size(1)).ok_or_else(|| own.expected("a list of groups"))?;
    let all = if rows == 0 || columns == 0 { Vec::new() } else { own.integers()? };
    let row = |row: &[i64]| braces(&row.iter().copied().filter(|device| *device >= 0).collect::<Vec<_>>());
    let rows: Vec<String> = all.chunks(columns.max(1)).map(row).collect();
    Ok(format!("{{{}}}", rows.join(",")))
}

pub(super) fn all_gather(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let mut attributes = vec![site.list("dimensions", &["all_gather_dim"])?];
    attributes.extend(groups(site)?);
    site.many("all-gather", &attributes)
}

pub(super) fn all_reduce(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let mut attributes = groups(site)?;
    attributes.push(body(site, 0, "sum")?);
    site.many("all-reduce", &attributes)
}

pub(super) fn reduce_scatter(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let mut attributes = vec![site.list("dimensions", &["scatter_dimension"])?];
    attributes.extend(groups(site)?);
    attributes.push(body(site, 0, "sum")?);
    site.many("reduce-scatter", &attributes)
}

/// An exchange. HLO splits and concatenates along one dimension: the parts then become a dimension of their own, which
/// is moved and merged.
pub(super) fn all_to_all(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let split = site.need(&["split_dimension"])?;
    let to = site.need(&["concat_dimension"])?;
    let count = site.need(&["split_count"])?.integer()?;
    let groups = groups(site)?;
    let (from, into) = (split.integer()?, to.integer()?);
    let mut attributes = vec![("dimensions", braces(&[from]), split.at)];
    attributes.extend(groups);
    if from == into {
        return site.many("all-to-all", &attributes);
    }
    let array = site.operand_array(0)?;
    let place = |dim: i64, own: &MlirAttribute| {
        usize::try_from(dim)
            .ok()
            .filter(|dim| *dim < array.dims.len())
            .ok_or_else(|| own.expected("a dimension of the operand"))
    };
    let (from, into) = (place(from, &split)?, place(into, &to)?);
    let Some(size) = array.dims[from].bound().filter(|size| count > 0 && size % count == 0) else {
        return Err(split.expected("a dimension whose size is a multiple of `split_count`"));
    };
    let operand = site.operand(0)?.clone();
    let exchanged = site.step("exchange", &operand.shape.clone(), "all-to-all", &[operand], &attributes);
    let mut dims = array.dims.clone();
    dims.splice(from..=from, [Dim::Exact(count), Dim::Exact(size / count)]);
    let parts = site.step("parts", &array_like(&array, dims.clone()), "reshape", &[exchanged], &[]);
    // The parts go before the dimension that they are concatenated along.
    let mut order: Vec<usize> = (0..dims.len()).filter(|dim| *dim != from).collect();
    order.insert(into, from);
    let moved = array_like(&array, order.iter().map(|dim| dims[*dim]).collect());
    let order = braces(&order.iter().map(|dim| *dim as i64).collect::<Vec<_>>());
    let moved = site.step("moved", &moved, "transpose", &[parts], &[("dimensions", order, split.at)]);
    site.result("reshape", &[moved], &[])
}

pub(super) fn collective_broadcast(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let attributes = groups(site)?;
    site.one("collective-broadcast", &attributes)
}

pub(super) fn collective_permute(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let own = site.need(&["source_target_pairs"])?;
    let mut attributes = vec![("source_target_pairs", pairs(&own)?, own.at)];
    channel(site, &mut attributes)?;
    site.one("collective-permute", &attributes)
}

/// The data and the token of `infeed` and `recv`: the results of StableHLO are the arrays, then the token.
fn received(site: &mut OperationSite, opcode: &str, operands: &[Value], attributes: &[Written]) -> Vec<Value> {
    let arrays = site.results.split_last().map_or(Vec::new(), |(_, arrays)| arrays.to_vec());
    let data = if let [one] = &arrays[..] { one.clone() } else { Shape::Tuple(arrays.clone()) };
    let both = Shape::Tuple(vec![data.clone(), types::token()]);
    let tuple = site.step(&opcode.replace('-', "_"), &both, opcode, operands, attributes);
    let index = |k: usize| [("index", k.to_string(), site.operation.at)];
    let (first, second) = (index(0), index(1));
    let mut values = match &arrays[..] {
        [_] => vec![site.step("data", &data, "get-tuple-element", std::slice::from_ref(&tuple), &first)],
        _ => {
            let data = site.step("data", &data, "get-tuple-element", std::slice::from_ref(&tuple), &first);
            let results = std::mem::replace(&mut site.results, arrays);
            let values = site.elements(&data);
            site.results = results;
            values
        }
    };
    values.push(site.step("token", &types::token(), "get-tuple-element", &[tuple], &second));
    values
}

pub(super) fn infeed(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    if let Some(own) = site.attribute(&["layout"]) {
        // The token has none.
        let arrays = site.results.len().saturating_sub(1);
        for (shape, layout) in site.results.iter_mut().take(arrays).zip(own.list()?) {
            *shape = with_layout(shape, &layout)?;
        }
    }
    let config = site.attribute(&["infeed_config"]).filter(|own| own.text != "\"\"");
    let attributes: Vec<Written> = config
        .map(|own| Ok(("infeed_config", quoted(&own.string()?), own.at)))
        .into_iter()
        .collect::<Result<_, Error>>()?;
    let operands = site.operands.clone();
    Ok(received(site, "infeed", &operands, &attributes))
}

pub(super) fn outfeed(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let config = site.attribute(&["outfeed_config"]).filter(|own| own.text != "\"\"");
    let attributes: Vec<Written> = config
        .map(|own| Ok(("outfeed_config", quoted(&own.string()?), own.at)))
        .into_iter()
        .collect::<Result<_, Error>>()?;
    let operands = data_and_token(site)?;
    site.result("outfeed", &operands, &attributes)
}

/// The operands as one value and the token.
fn data_and_token(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let operands = site.operands.clone();
    let (token, data) = operands.split_last().ok_or_else(|| site.error("must have a token, found no operand"))?;
    let data = site.together("data", data);
    Ok(vec![data, token.clone()])
}

/// The channel of a transfer, and whether the host is at its other end.
fn transfer(site: &mut OperationSite) -> Result<Vec<Written>, Error> {
    let mut attributes = Vec::new();
    channel(site, &mut attributes)?;
    site.attribute(&["source_target_pairs"]);
    if let Some((true, at)) = site.flag(&["is_host_transfer"])? {
        attributes.push(("is_host_transfer", "true".to_string(), at));
    }
    Ok(attributes)
}

pub(super) fn send(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let (attributes, operands) = (transfer(site)?, data_and_token(site)?);
    let context = types::scalar_u32();
    let shape = Shape::Tuple(vec![operands[0].shape.clone(), context, types::token()]);
    let begun = site.step("send", &shape, "send", &operands, &attributes);
    site.result("send-done", &[begun], &attributes)
}

pub(super) fn recv(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let attributes = transfer(site)?;
    let arrays = site.results.split_last().map_or(Vec::new(), |(_, arrays)| arrays.to_vec());
    let data = if let [one] = &arrays[..] { one.clone() } else { Shape::Tuple(arrays) };
    let shape = Shape::Tuple(vec![data, types::scalar_u32(), types::token()]);
    let operands = site.operands.clone();
    let begun = site.step("recv", &shape, "recv", &operands, &attributes);
    Ok(received(site, "recv-done", &[begun], &attributes))
}
