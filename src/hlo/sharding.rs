//! Shardings of values over devices: `sharding={devices=[2,4]<=[8] last_tile_dim_replicate}`.
//!
//! A sharding has no effect on the elements that an instruction reads; it is checked and passed on unchanged. A tuple
//! has one in braces for each of its arrays, or one for all. A [`Sharding`] is for one array.

use super::devices::{MOST_DEVICES, counted, sizes};
use super::tokens::{End, value};
use crate::operations::shape::{Shape, leaves};
use crate::text::{Cursor, Error, did_you_mean, excerpt};

/// Words that are a whole sharding.
const WHOLE: [&str; 5] = ["replicated", "maximal", "manual", "unknown", "unreduced"];

/// Words that may come after one.
const FURTHER: [&str; 6] =
    ["last_tile_dim_replicate", "last_tile_dims", "shard_as", "shard_like", "metadata", "device"];

/// The division of an array's elements among devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sharding {
    /// Each device has all elements.
    Replicated,
    /// One device has all elements.
    Maximal(i64),
    /// Each device has an array of its own.
    Manual,
    /// The sharding is not chosen yet.
    Unknown,
    /// The elements are sums over all devices.
    Unreduced,
    /// Each device has a part.
    Tiles(DeviceTiles),
    /// The axes of a named mesh, kept as text.
    Named,
}

/// An array of devices: dimension `d` of the data has `sizes[d]` parts of equal size, except a shorter last one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceTiles {
    /// A size for each dimension of the array, then one for each of `subgroups`.
    pub sizes: Vec<i64>,
    /// The devices, row-major.
    pub devices: Vec<i64>,
    /// The relation of devices that differ only in one of the last dimensions.
    pub subgroups: Vec<Subgroup>,
}

/// The relation of devices that share a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subgroup {
    /// A copy each.
    Replicated,
    /// Arrays of their own.
    Manual,
    /// Not chosen yet.
    Unknown,
    /// Partial sums.
    Unreduced,
    /// All elements on one of them.
    Maximal,
}

impl Sharding {
    /// Reads `{devices=[2,4]<=[8]}` of an array of so many dimensions.
    ///
    /// # Errors
    /// A syntax error, with its byte.
    ///
    /// ```
    /// use tensor_layout::hlo::Sharding;
    /// let Ok(Sharding::Tiles(tiles)) = Sharding::read("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2) else { panic!() };
    /// assert_eq!((tiles.sizes, tiles.devices), (vec![2, 1, 2], vec![0, 2, 1, 3]));
    /// assert_eq!(Sharding::read("{devices=[2]<=[2]}", 2).unwrap_err().at, Some(9));
    /// ```
    pub fn read(text: &str, rank: usize) -> Result<Sharding, Error> {
        let mut cursor = Cursor::new(text);
        cursor.expect("{", "`{` to open the sharding")?;
        let sharding = one(&mut cursor, Some(rank), None)?;
        cursor.finish("the end of the sharding")?;
        Ok(sharding)
    }
}

/// The texts of the shardings of a shape's arrays, with braces: `{{manual}, {replicated}}` has two.
pub fn shardings<'a>(text: &'a str, shape: &Shape) -> Vec<&'a str> {
    let arrays = leaves(shape).len();
    let mut parts = Vec::new();
    let mut cursor = Cursor::new(text);
    if cursor.eat("{") && cursor.peek() == Some(b'{') {
        while let Ok((_, part)) = value(&mut cursor, End::Space) {
            parts.push(part);
            if !cursor.eat(",") {
                break;
            }
        }
    }
    if parts.is_empty() { vec![text; arrays] } else { parts }
}

/// Checks `{..}` or `{{..}, {..}}` for a shape; `partitions` is the number of devices, if the header has it.
pub(super) fn check(cursor: &mut Cursor, shape: &Shape, partitions: Option<i64>) -> Result<(), Error> {
    let arrays = leaves(shape);
    cursor.expect("{", "`{` to open the sharding")?;
    if cursor.peek() != Some(b'{') {
        let array = if let (Shape::Array(_), [array]) = (shape, &arrays[..]) { Some(array.dims.len()) } else { None };
        return one(cursor, array, partitions).map(|_| ());
    }
    let (at, mut found) = (cursor.at(), 0);
    while !cursor.eat("}") {
        if found > 0 {
            cursor.expect(",", "`,` or `}` to close the shardings")?;
        }
        cursor.expect("{", "`{` to open the sharding of an array")?;
        one(cursor, arrays.get(found).map(|array| array.dims.len()), partitions)?;
        found += 1;
    }
    if found == arrays.len() || arrays.is_empty() && found == 1 {
        return Ok(());
    }
    let must = format!("`sharding` must have one for each array, {}, found {found}", arrays.len());
    Err(Error::at(at, must))
}

/// Parses the sharding between `{` and `}`, for an array of so many dimensions.
fn one(cursor: &mut Cursor, rank: Option<usize>, partitions: Option<i64>) -> Result<Sharding, Error> {
    // A named mesh is kept as text.
    if cursor.peek() == Some(b'@') || matches!(cursor.peek_word(), Some("mesh" | "maximal_mesh")) {
        while !matches!(cursor.peek(), Some(b'}') | None) {
            value(cursor, End::Space)?;
            cursor.eat(",");
        }
        return cursor.expect("}", "`}` to close the sharding").map(|()| Sharding::Named);
    }
    let at = cursor.at();
    let mut tiles_at = at;
    let mut sharding = match cursor.word() {
        Some("devices") => {
            let (at, sizes, devices) = devices(cursor, partitions)?;
            tiles_at = at;
            Sharding::Tiles(DeviceTiles { sizes, devices, subgroups: Vec::new() })
        }
        Some("maximal") => {
            let at = cursor.at();
            if cursor.word() != Some("device") {
                return Err(Error::at(at, "expected `device=` and its number after `maximal`").syntax());
            }
            cursor.expect("=", "`=` after `device`")?;
            Sharding::Maximal(below(cursor, partitions)?)
        }
        Some("replicated") => Sharding::Replicated,
        Some("manual") => Sharding::Manual,
        Some("unknown") => Sharding::Unknown,
        Some("unreduced") => Sharding::Unreduced,
        word => {
            let hint = word.map_or(String::new(), |word| did_you_mean(word, WHOLE.into_iter().chain(["devices"])));
            return Err(Error::at(at, format!("expected `devices=` or {}{hint}", WHOLE.join(", "))).syntax());
        }
    };
    let mut further = Vec::new();
    while !cursor.eat("}") {
        rest(cursor, &mut further)?;
    }
    let Sharding::Tiles(tiles) = &mut sharding else { return Ok(sharding) };
    let (found, more) = (tiles.sizes.len(), further.len());
    if let Some(rank) = rank.filter(|rank| found != rank + more) {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("`devices` must have a size for each of {rank} dimensions{more}, found {found}");
        return Err(Error::at(tiles_at, message));
    }
    tiles.subgroups = further;
    Ok(sharding)
}

/// Parses `=[2,4]<=[8]` or `=[2,2]0,2,1,3`; returns the position, the sizes, and the devices.
fn devices(cursor: &mut Cursor, partitions: Option<i64>) -> Result<(usize, Vec<i64>, Vec<i64>), Error> {
    cursor.expect("=", "`=` after `devices`")?;
    let (at, sizes, count) = sizes(cursor)?;
    if let Some(most) = partitions.filter(|most| count > *most) {
        return Err(Error::at(at, format!("`devices` must be at most {most}, as many as there are, found {count}")));
    }
    if cursor.eat("<=") {
        let devices = counted(cursor, at, count)?;
        return Ok((at, sizes, devices));
    }
    let (mut seen, mut devices) = (std::collections::BTreeSet::new(), Vec::new());
    for k in 0..count {
        if k > 0 {
            cursor.expect(",", &format!("`,` and a device, {count} in all"))?;
        }
        let at = cursor.at();
        let device = below(cursor, partitions)?;
        if !seen.insert(device) {
            return Err(Error::at(at, format!("a device must be there once, found {device} a second time")));
        }
        devices.push(device);
    }
    Ok((at, sizes, devices))
}

/// Parses the number of a device.
fn below(cursor: &mut Cursor, partitions: Option<i64>) -> Result<i64, Error> {
    let at = cursor.at();
    let device = cursor.integer("the number of a device")?;
    let count = partitions.unwrap_or(MOST_DEVICES);
    match device < count {
        true => Ok(device),
        false => Err(Error::at(at, format!("a device must be below {count}, found {device}"))),
    }
}

/// Parses a word after the devices, and adds its subgroups.
fn rest(cursor: &mut Cursor, subgroups: &mut Vec<Subgroup>) -> Result<(), Error> {
    let at = cursor.at();
    match cursor.word() {
        Some("last_tile_dim_replicate") => subgroups.push(Subgroup::Replicated),
        Some("last_tile_dims") => {
            cursor.expect("=", "`=` after `last_tile_dims`")?;
            cursor.expect("{", "`{` to open the list")?;
            let mut first = true;
            while !cursor.eat("}") {
                if !first {
                    cursor.expect(",", "`,` or `}` to close the list")?;
                }
                first = false;
                let at = cursor.at();
                subgroups.push(match cursor.word() {
                    Some("replicated") => Subgroup::Replicated,
                    Some("maximal") => Subgroup::Maximal,
                    Some("manual") => Subgroup::Manual,
                    Some("unknown") => Subgroup::Unknown,
                    Some("unreduced") => Subgroup::Unreduced,
                    _ => return Err(Error::at(at, format!("expected one of {}", WHOLE.join(", ")))),
                });
            }
        }
        Some("shard_as" | "shard_like") => _ = cursor.integer("the number of a group")?,
        Some("metadata") => {
            cursor.expect("=", "`=` after `metadata`")?;
            value(cursor, End::Space)?;
        }
        word => {
            let found = word.map_or("something else".to_string(), |word| format!("`{}`", excerpt(word)));
            let hint = word.map_or(String::new(), |word| did_you_mean(word, FURTHER.into_iter()));
            return Err(Error::at(at, format!("expected `}}` to close the sharding, found {found}{hint}")).syntax());
        }
    }
    Ok(())
}
