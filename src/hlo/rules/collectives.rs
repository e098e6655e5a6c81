//! Exchanges between devices: their groups, and the rules of each exchange.

use super::algorithms::flag;
use super::control::other;
use super::site::{Found, Site, Types};
use crate::element::ElementType;
use crate::hlo::devices::{MOST_DEVICES, tiles};
use crate::hlo::mesh;
use crate::hlo::shapes::{alike, plain, scalar};
use crate::operations::collective::{Collective, Exchange};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use crate::operations::sizes::Sizes;
use crate::text::{Cursor, Error, counted};

/// The meaning of the numbers in groups.
#[derive(Clone, Copy, PartialEq)]
enum Ids {
    /// Replicas; each partition exchanges with the same one of other replicas.
    Replicas,
    /// Replicas, with all their partitions.
    Whole,
    /// Partitions; each replica exchanges among its own.
    Partitions,
    /// Devices.
    Devices,
}

impl Ids {
    fn name(self) -> &'static str {
        match self {
            Ids::Replicas | Ids::Whole => "replica",
            Ids::Partitions => "partition",
            Ids::Devices => "device",
        }
    }
}

/// Groups as parsed.
struct Listed {
    groups: Vec<Vec<i64>>,
    /// The position in the text of each entry; empty for a pattern.
    places: Vec<Vec<usize>>,
}

/// Each device gets the operands of all along `dimensions`.
pub fn all_gather(site: &mut Site) -> Found {
    let dim = site.dim("dim", "dimensions")?;
    checked(site, Exchange::Gather { dim })
}

/// `to_apply` combines the operands of all devices: each operand separately, or, with two parameters for each operand,
/// all at once.
pub fn all_reduce(site: &mut Site) -> Found {
    let count = site.operands.len();
    let parameters =
        site.called.first().and_then(|&callee| Some(site.signatures.get(callee)?.as_ref()?.parameters.len()));
    if count < 2 || parameters != Some(2 * count) {
        return combined(site, Exchange::Reduce);
    }
    let operation = checked(site, Exchange::ReduceTogether)?;
    let each = (0..count).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    site.reducer("to_apply", 0, &each)?;
    Ok(operation)
}

/// An all-reduce, cut into parts along `dimensions`.
pub fn reduce_scatter(site: &mut Site) -> Found {
    let dim = site.dim("dim", "dimensions")?;
    combined(site, Exchange::ReduceScatter { dim })
}

/// Exchanges parts along `dimensions`, or whole operands without it.
pub fn all_to_all(site: &mut Site) -> Found {
    let dim = match site.attribute("dimensions") {
        Some(_) => Some(site.dim("dim", "dimensions")?),
        None => None,
    };
    checked(site, Exchange::AllToAll { dim })
}

/// The first device of each group sends to all others. With `has_dynamic_root`, or if two operands give one array, the
/// last operand holds the root's position in the group for each other operand.
pub fn collective_broadcast(site: &mut Site) -> Found {
    let is_root = site.operands.len() == 2 && matches!(site.written, Some(Shape::Array(_)));
    if !flag(site, "has_dynamic_root")? && !is_root {
        return checked(site, Exchange::Broadcast);
    }
    let Some(last) = site.operands.len().checked_sub(1).filter(|last| *last > 0) else {
        return Err(site.error("must have an operand and, behind all, the places of the roots, found 1 operand"));
    };
    let roots = site.array(last)?;
    // XLA's parser accepts numbers of any type, and a scalar.
    let (number, sizes) = (roots.element, Sizes::of(roots));
    let is_number = number.is_signed() || number.is_unsigned() || number.is_float();
    let is_scalar = last == 1 && sizes.0.is_empty();
    if !is_number || !is_scalar && !sizes.fits(&Sizes(vec![i64::try_from(last).ok()])) {
        return Err(site.operand_must(last, format!("be s32[{last}], the place of the root for each operand")));
    }
    let operands = std::mem::take(&mut site.operands);
    site.operands = operands[..last].to_vec();
    let checked = checked(site, Exchange::Broadcast);
    site.operands = operands;
    checked.map(|_| Operation::Other { reason: "collective-broadcast: the root is an operand".to_string() })
}

/// `source_target_pairs` has the senders and receivers; with `slice_sizes`, blocks go into another operand.
pub fn collective_permute(site: &mut Site) -> Found {
    if is_of_blocks(site) { permute_blocks(site) } else { checked(site, Exchange::Permute) }
}

/// Whether a permutation moves blocks: its operands are an input and an output, or tuples of these, and two tuples of
/// scalars.
pub fn is_of_blocks(site: &Site) -> bool {
    site.attribute("slice_sizes").is_some() && site.operands.len() == 4
}

/// The operands are the input, the output, and the starts of blocks in both. `slice_sizes` has the sizes of each block.
fn permute_blocks(site: &mut Site) -> Found {
    let attribute = *site.need("slice_sizes", "{{sizes}}")?;
    let Listed { groups: blocks, places } = attribute.read(lists)?;
    let written = site.written()?;
    let (inputs, results) = (leaves(site.operands[0]), leaves(written));
    let sets = blocks.len() / results.len().max(1);
    if sets == 0 || sets * results.len() != blocks.len() {
        let (arrays, found) = (counted(results.len(), "array"), blocks.len());
        return Err(
            site.attribute_must("slice_sizes", format!("have as many blocks for each of {arrays}, found {found}"))
        );
    }
    let operation = exchanged(site, Exchange::PermuteBlocks { sets }, blocks)?;
    site.origin(("blocks", None), "slice_sizes", "", attribute.at);
    for (k, at) in places.iter().enumerate().filter_map(|(k, places)| Some((k, places.first()?))) {
        site.origin(("blocks", Some(k)), "slice_sizes", "", attribute.at + at);
    }
    let types = Types { operands: Vec::new(), results: Vec::new() };
    operation.check(&site.operands, &[written]).map_err(|refusal| site.refused(&refusal, &types))?;
    let alike = |a: &&Array, b: &&Array| alike(a.element, b.element);
    for (k, all) in [(0, &inputs), (1, &leaves(site.operands[1]))] {
        if all.len() != results.len() || !all.iter().zip(&results).all(|(a, b)| alike(a, b)) {
            return Err(site.operand_must(k, format!("have the types of the result, {}", plain(written))));
        }
    }
    let whole = |array: &&Array| array.element.is_signed() || array.element.is_unsigned();
    for k in 2..4 {
        if !leaves(site.operands[k]).iter().all(whole) {
            return Err(site.operand_must(k, "have integers as elements"));
        }
    }
    Ok(operation)
}

/// Rows go to positions that operands hold.
pub fn ragged_all_to_all(site: &mut Site) -> Found {
    let (data, index) = (site.element(0)?, site.element(2)?);
    if !index.is_signed() && !index.is_unsigned() {
        return Err(site.operand_must(2, "have integers as elements"));
    }
    let types = Types { operands: vec![data, data, index, index, index, index], results: vec![data] };
    let operation = exchanged(site, Exchange::Ragged, Vec::new())?;
    site.checked(operation, &types)
}

/// The number of the current partition or replica.
pub fn device_id(site: &mut Site) -> Found {
    site.result_is(&scalar(ElementType::U32))?;
    other(site)
}

fn combined(site: &mut Site, exchange: Exchange) -> Found {
    let operation = checked(site, exchange)?;
    let element = site.element(0)?;
    site.reducer("to_apply", 0, &[element])?;
    Ok(operation)
}

/// An exchange whose results have the types of its operands; a single operand may give a tuple of one array.
fn checked(site: &mut Site, exchange: Exchange) -> Found {
    let operation = exchanged(site, exchange, Vec::new())?;
    let each = (0..site.operands.len()).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    site.checked_in_tuple(operation, &Types { operands: each.clone(), results: each }, false)
}

/// The exchange with its groups, checked against the module's devices.
fn exchanged(site: &mut Site, exchange: Exchange, blocks: Vec<Vec<i64>>) -> Found {
    let by_pairs = matches!(exchange, Exchange::Permute | Exchange::PermuteBlocks { .. });
    let key = if by_pairs { "source_target_pairs" } else { "replica_groups" };
    let Listed { groups, places } = match site.attribute(key) {
        Some(attribute) => attribute.read(|cursor| match cursor.peek() {
            Some(b'[') => pattern(cursor),
            Some(b'm') => Ok(Listed { groups: mesh::groups(cursor)?, places: Vec::new() }),
            _ => lists(cursor),
        })?,
        None if by_pairs => {
            return Err(site.error(format!("must have the attribute `{key}={{{{0,1}}}}`, found none")));
        }
        None => Listed { groups: Vec::new(), places: Vec::new() },
    };
    let ids = ids(site, exchange)?;
    // If the header gives no count, or 1, the groups' largest number gives it, as in XLA's verifier; without numbers,
    // the shapes do.
    let named = groups.iter().flatten().max().map(|most| most.saturating_add(1));
    let named = named.or_else(|| times_as_large(site, exchange)).map_or(1, |count| count.clamp(1, MOST_DEVICES));
    let known = site.devices;
    let said = |count: Option<i64>| count.filter(|count| *count > 1);
    let one = |count: Option<i64>| count.unwrap_or(1);
    let (replicas, partitions) = match ids {
        Ids::Replicas | Ids::Whole => (said(known.replicas).unwrap_or(named), one(known.partitions)),
        Ids::Partitions => (one(known.replicas), said(known.partitions).unwrap_or(named)),
        Ids::Devices if said(known.replicas).or(said(known.partitions)).is_some() => {
            (one(known.replicas), one(known.partitions))
        }
        Ids::Devices => (named, 1),
    };
    let all = match ids {
        Ids::Replicas | Ids::Whole => replicas,
        Ids::Partitions => partitions,
        Ids::Devices => replicas * partitions,
    };
    let attribute_at = site.attribute(key).map_or(site.raw.opcode_at, |attribute| attribute.at);
    let groups = match groups.iter().all(Vec::is_empty) {
        true if by_pairs => Vec::new(),
        true => vec![(0..all).collect()],
        false => groups,
    };
    exchange.fits(&groups, all, ids.name()).map_err(|misfit| {
        let place =
            misfit.entry.and_then(|(group, k)| places.get(group)?.get(k).or(places.get(group)?.first()).copied());
        let at = place.map_or(attribute_at, |at| attribute_at + at);
        Error::at(at, format!("`{key}` of `{}` {}", site.raw.opcode, misfit.must))
    })?;
    let devices = replicas * partitions;
    let groups = match exchange {
        // Each set is spread separately.
        Exchange::PermuteBlocks { sets } => {
            let length = (groups.len() / sets.max(1)).max(1);
            groups.chunks(length).flat_map(|set| spread(set, ids, replicas, partitions)).collect()
        }
        _ => spread(&groups, ids, replicas, partitions),
    };
    Ok(Operation::Collective(Box::new(Collective { exchange, devices, groups, blocks })))
}

/// The number of devices in a group, from the sizes of a gather or a reduce-scatter.
fn times_as_large(site: &Site, exchange: Exchange) -> Option<i64> {
    let size = |shape: &Shape, dim: usize| leaves(shape).first()?.sizes()?.get(dim).copied();
    let (dim, whole, part) = match exchange {
        Exchange::Gather { dim } => (dim, site.written?, *site.operands.first()?),
        Exchange::ReduceScatter { dim } => (dim, *site.operands.first()?, site.written?),
        _ => return None,
    };
    let (whole, part) = (size(whole, dim)?, size(part, dim)?);
    (part > 0 && whole % part == 0).then(|| whole / part)
}

/// The meaning of the numbers in an instruction's groups.
fn ids(site: &Site, exchange: Exchange) -> Result<Ids, Error> {
    let channel = match site.attribute("channel_id") {
        Some(attribute) => attribute.read(|cursor| cursor.integer("a channel's number"))? > 0,
        None => false,
    };
    let global = match site.attribute("use_global_device_ids").map(|attribute| attribute.text) {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            let found = site.excerpt("use_global_device_ids");
            return Err(site.attribute_must("use_global_device_ids", format!("be true or false, found {found}")));
        }
    };
    if global && !channel {
        return Err(site.attribute_must("use_global_device_ids", "be there with a `channel_id`, found none"));
    }
    let among_partitions = !matches!(exchange, Exchange::Gather { .. } | Exchange::ReduceScatter { .. })
        && !matches!(exchange, Exchange::Reduce | Exchange::ReduceTogether);
    Ok(match (channel, global) {
        (true, true) => Ids::Devices,
        (true, false) if among_partitions => Ids::Partitions,
        (true, false) => Ids::Whole,
        (false, _) => Ids::Replicas,
    })
}

/// Translates groups to groups of devices.
fn spread(groups: &[Vec<i64>], ids: Ids, replicas: i64, partitions: i64) -> Vec<Vec<i64>> {
    let each = |of: &dyn Fn(i64) -> i64| {
        groups.iter().map(|group| group.iter().map(|id| of(*id)).collect()).collect::<Vec<Vec<i64>>>()
    };
    match ids {
        Ids::Devices => groups.to_vec(),
        Ids::Replicas => (0..partitions).flat_map(|p| each(&|id| id * partitions + p)).collect(),
        Ids::Partitions => (0..replicas).flat_map(|r| each(&|id| r * partitions + id)).collect(),
        Ids::Whole => {
            let all = |id: &i64| (0..partitions).map(|p| id * partitions + p).collect::<Vec<i64>>();
            groups.iter().map(|group| group.iter().flat_map(all).collect()).collect()
        }
    }
}

/// Parses `[2,4]<=[8]`: the rows are groups.
fn pattern(cursor: &mut Cursor) -> Result<Listed, Error> {
    let at = cursor.at();
    let tiles = tiles(cursor)?;
    let [_, size] = tiles.sizes[..] else {
        return Err(Error::at(at, format!("must be groups and their devices, 2 sizes, found {}", tiles.sizes.len())));
    };
    // Sizes are small positive numbers.
    let groups = tiles.devices.chunks(usize::try_from(size).unwrap_or(1)).map(<[i64]>::to_vec).collect();
    Ok(Listed { groups, places: Vec::new() })
}

/// Parses `{{0,1},{2,3}}`.
fn lists(cursor: &mut Cursor) -> Result<Listed, Error> {
    let mut listed = Listed { groups: Vec::new(), places: Vec::new() };
    cursor.expect("{", "`{` and groups, `[` or `mesh`")?;
    while !cursor.eat("}") {
        if !listed.groups.is_empty() {
            cursor.expect(",", "`,` or `}` to close the groups")?;
        }
        cursor.expect("{", "`{` to open a group")?;
        let (mut group, mut places) = (Vec::new(), Vec::new());
        while !cursor.eat("}") {
            if !group.is_empty() {
                cursor.expect(",", "`,` or `}` to close the group")?;
            }
            places.push(cursor.at());
            group.push(cursor.integer("a device")?);
        }
        listed.groups.push(group);
        listed.places.push(places);
    }
    Ok(listed)
}
