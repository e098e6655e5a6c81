//! How values are divided among devices: `sharding={devices=[2,4]<=[8] last_tile_dim_replicate}`.
//!
//! A sharding says nothing about which elements an instruction reads; it is checked, so that it can be passed on as it
//! is. A tuple has one in braces for each of its arrays, or one for all.

use super::devices::{counted, sizes};
use super::words::{End, value};
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::{Cursor, Error, did_you_mean, excerpt};

/// Words that are a whole sharding.
const WHOLE: [&str; 5] = ["replicated", "maximal", "manual", "unknown", "unreduced"];

/// Words that may come after one.
const FURTHER: [&str; 6] =
    ["last_tile_dim_replicate", "last_tile_dims", "shard_as", "shard_like", "metadata", "device"];

/// The shardings of the arrays of a shape, each as it is written with its braces: `{{manual}, {replicated}}` of two.
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

/// Checks `{..}` or `{{..}, {..}}` for a shape; `partitions` is the number of devices, where the header says it.
pub(super) fn check(cursor: &mut Cursor, shape: &Shape, partitions: Option<i64>) -> Result<(), Error> {
    let arrays = leaves(shape);
    cursor.expect("{", "`{` to open the sharding")?;
    if cursor.peek() != Some(b'{') {
        let array = if let (Shape::Array(_), [array]) = (shape, &arrays[..]) { Some(*array) } else { None };
        return one(cursor, array, partitions);
    }
    let (at, mut found) = (cursor.at(), 0);
    while !cursor.eat("}") {
        if found > 0 {
            cursor.expect(",", "`,` or `}` to close the shardings")?;
        }
        cursor.expect("{", "`{` to open the sharding of an array")?;
        one(cursor, arrays.get(found).copied(), partitions)?;
        found += 1;
    }
    if found == arrays.len() || arrays.is_empty() && found == 1 {
        return Ok(());
    }
    let must = format!("`sharding` must have one for each array, {}, found {found}", arrays.len());
    Err(Error::at(at, must))
}

/// Takes what is between `{` and `}`.
fn one(cursor: &mut Cursor, array: Option<&Array>, partitions: Option<i64>) -> Result<(), Error> {
    // A mesh with names: kept as it is.
    if cursor.peek() == Some(b'@') || matches!(cursor.peek_word(), Some("mesh" | "maximal_mesh")) {
        while !matches!(cursor.peek(), Some(b'}') | None) {
            value(cursor, End::Space)?;
            cursor.eat(",");
        }
        return cursor.expect("}", "`}` to close the sharding");
    }
    let mut tiles = None;
    let at = cursor.at();
    match cursor.word() {
        Some("devices") => tiles = Some(devices(cursor, partitions)?),
        Some("maximal") => {
            let at = cursor.at();
            if cursor.word() != Some("device") {
                return Err(Error::at(at, "expected `device=` and its number after `maximal`").syntax());
            }
            cursor.expect("=", "`=` after `device`")?;
            below(cursor, partitions)?;
        }
        Some(word) if WHOLE.contains(&word) => {}
        word => {
            let hint = word.map_or(String::new(), |word| did_you_mean(word, WHOLE.into_iter().chain(["devices"])));
            return Err(Error::at(at, format!("expected `devices=` or {}{hint}", WHOLE.join(", "))).syntax());
        }
    }
    let mut further = 0;
    while !cursor.eat("}") {
        further += rest(cursor)?;
    }
    let (Some((at, sizes)), Some(array)) = (tiles, array) else { return Ok(()) };
    let (found, rank) = (sizes.len(), array.dims.len());
    if found == rank + further {
        return Ok(());
    }
    let more = if further > 0 { format!(" and {further} more") } else { String::new() };
    Err(Error::at(at, format!("`devices` must have a size for each of {rank} dimensions{more}, found {found}")))
}

/// Takes `=[2,4]<=[8]` or `=[2,2]0,2,1,3`: where it is, and the sizes.
fn devices(cursor: &mut Cursor, partitions: Option<i64>) -> Result<(usize, Vec<i64>), Error> {
    cursor.expect("=", "`=` after `devices`")?;
    let (at, sizes, count) = sizes(cursor)?;
    if let Some(most) = partitions.filter(|most| count > *most) {
        return Err(Error::at(at, format!("`devices` must be at most {most}, as many as there are, found {count}")));
    }
    if cursor.eat("<=") {
        counted(cursor, at, count)?;
        return Ok((at, sizes));
    }
    let mut seen = std::collections::BTreeSet::new();
    for k in 0..count {
        if k > 0 {
            cursor.expect(",", &format!("`,` and a device, {count} in all"))?;
        }
        let at = cursor.at();
        let device = below(cursor, partitions)?;
        if !seen.insert(device) {
            return Err(Error::at(at, format!("a device must be there once, found {device} a second time")));
        }
    }
    Ok((at, sizes))
}

/// Takes the number of a device.
fn below(cursor: &mut Cursor, partitions: Option<i64>) -> Result<i64, Error> {
    let at = cursor.at();
    let device = cursor.integer("the number of a device")?;
    match partitions.filter(|count| device >= *count) {
        Some(count) => Err(Error::at(at, format!("a device must be below {count}, found {device}"))),
        None => Ok(device),
    }
}

/// Takes a word after the devices; how many sizes it stands for.
fn rest(cursor: &mut Cursor) -> Result<usize, Error> {
    let at = cursor.at();
    match cursor.word() {
        Some("last_tile_dim_replicate") => Ok(1),
        Some("last_tile_dims") => {
            cursor.expect("=", "`=` after `last_tile_dims`")?;
            cursor.expect("{", "`{` to open the list")?;
            let mut count = 0;
            while !cursor.eat("}") {
                if count > 0 {
                    cursor.expect(",", "`,` or `}` to close the list")?;
                }
                let at = cursor.at();
                if !cursor.word().is_some_and(|word| WHOLE.contains(&word)) {
                    return Err(Error::at(at, format!("expected one of {}", WHOLE.join(", "))));
                }
                count += 1;
            }
            Ok(count)
        }
        Some("shard_as" | "shard_like") => cursor.integer("the number of a group").map(|_| 0),
        Some("metadata") => {
            cursor.expect("=", "`=` after `metadata`")?;
            value(cursor, End::Space).map(|_| 0)
        }
        word => {
            let found = word.map_or("something else".to_string(), |word| format!("`{}`", excerpt(word)));
            let hint = word.map_or(String::new(), |word| did_you_mean(word, FURTHER.into_iter()));
            Err(Error::at(at, format!("expected `}}` to close the sharding, found {found}{hint}")).syntax())
        }
    }
}
