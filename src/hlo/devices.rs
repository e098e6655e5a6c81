//! The devices that run a module, and their iota lists: `[4,2]<=[2,4]T(1,0)`.
//!
//! The devices 0, 1, 2, ... are laid out row-major in the sizes after `<=`, transposed by the permutation after `T`,
//! and reshaped to the sizes in front.

use super::raw::RawAttribute;
use crate::limits;
use crate::text::{Cursor, Error};

/// The limit on devices of a list: far above the largest machines, and few enough to list them.
pub(super) const MOST_DEVICES: i64 = limits::HLO_DEVICES;

/// The device count of a module: `replica_count` times `num_partitions` of its header, each `None` if absent. Device
/// `r * partitions + p` is partition `p` of replica `r`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Devices {
    pub replicas: Option<i64>,
    pub partitions: Option<i64>,
}

impl Devices {
    /// Reads both attributes of the header.
    pub fn of(header: &[RawAttribute]) -> Result<Devices, Error> {
        let count = |name: &str| {
            let Some(attribute) = header.iter().find(|a| a.name == name) else { return Ok(None) };
            let count = attribute.read(|cursor| cursor.integer("a number of devices"))?;
            if (1..=MOST_DEVICES).contains(&count) {
                return Ok(Some(count));
            }
            Err(Error::at(attribute.at, format!("`{name}` must be 1 to {MOST_DEVICES}, found {count}")))
        };
        let found = Devices { replicas: count("replica_count")?, partitions: count("num_partitions")? };
        match found.replicas.unwrap_or(1) * found.partitions.unwrap_or(1) {
            all if all > MOST_DEVICES => {
                let at = header.iter().find(|a| a.name == "num_partitions").map_or(0, |a| a.at);
                Err(Error::at(at, format!("there must be at most {MOST_DEVICES} devices, found {all}")).too_large())
            }
            _ => Ok(found),
        }
    }
}

/// An array of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    /// The sizes of the array.
    pub sizes: Vec<i64>,
    /// The devices, row-major.
    pub devices: Vec<i64>,
}

/// Parses `[sizes]<=[sizes]T(permutation)`.
pub(super) fn tiles(cursor: &mut Cursor) -> Result<Tiles, Error> {
    let (at, sizes, count) = sizes(cursor)?;
    cursor.expect("<=", "`<=` and the sizes of the devices")?;
    Ok(Tiles { sizes, devices: counted(cursor, at, count)? })
}

/// Parses `[sizes]T(permutation)` after `<=`: the devices in order. The list before it, at `at`, has `count` devices.
pub(super) fn counted(cursor: &mut Cursor, at: usize, count: i64) -> Result<Vec<i64>, Error> {
    let (_, from, all) = sizes(cursor)?;
    if all != count {
        return Err(Error::at(at, format!("must have as many devices as the sizes after `<=`, {all}, found {count}")));
    }
    let order = if cursor.eat("T") { permutation(cursor, from.len())? } else { (0..from.len()).collect() };
    // The stride of devices along each dimension of the transposed array.
    let strides: Vec<i64> = order.iter().map(|dim| from[dim + 1..].iter().product()).collect();
    let mut devices = vec![0];
    for (dim, stride) in order.iter().zip(strides) {
        devices = devices.iter().flat_map(|first| (0..from[*dim]).map(move |k| first + k * stride)).collect();
    }
    Ok(devices)
}

/// Parses `[2,4]`; returns its position, the sizes and their product.
pub(super) fn sizes(cursor: &mut Cursor) -> Result<(usize, Vec<i64>, i64), Error> {
    let at = cursor.at();
    cursor.expect("[", "`[` and the sizes of a list of devices")?;
    let (mut sizes, mut all) = (Vec::new(), 1i64);
    while !cursor.eat("]") {
        if !sizes.is_empty() {
            cursor.expect(",", "`,` or `]` to close the sizes")?;
        }
        let at = cursor.at();
        let size = cursor.integer("a size")?;
        all = all.saturating_mul(size);
        if size == 0 || all > MOST_DEVICES {
            return Err(Error::at(at, format!("there must be 1 to {MOST_DEVICES} devices, found {all}")));
        }
        sizes.push(size);
    }
    Ok((at, sizes, all))
}

/// Parses `(1,0)`: each dimension below `rank` once.
fn permutation(cursor: &mut Cursor, rank: usize) -> Result<Vec<usize>, Error> {
    cursor.expect("(", "`(` and the order of the dimensions")?;
    let mut order = Vec::new();
    while order.len() < rank {
        if !order.is_empty() {
            cursor.expect(",", "`,` and the next dimension")?;
        }
        let at = cursor.at();
        let dim = cursor.integer("a dimension")?;
        match usize::try_from(dim).ok().filter(|dim| *dim < rank && !order.contains(dim)) {
            Some(dim) => order.push(dim),
            None => {
                let must = format!("must be a dimension below {rank} that is not named before, found {dim}");
                return Err(Error::at(at, must));
            }
        }
    }
    cursor.expect(")", "`)` to close the order")?;
    Ok(order)
}
