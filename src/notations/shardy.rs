//! Shardings of Shardy, after the shape that they divide:
//! `f32[8,6]{1,0} #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y"}]>`.
//!
//! Each axis of the mesh is an axis of the layout, with letters and digits of its name. The axes in its braces divide a
//! dimension, the first of them the majormost, so that the example is `((2_x, 4:2), (4_y, 2:1))` with 6 columns of 8.
//! `"y":(2)2` is a part of an axis: its size is 2, and 2 is the product of the sizes of the more major parts. Along an
//! axis that no dimension names there are copies. Whether a dimension is open (`?`), its priority (`p1`) and the list
//! of replicated axes move no element.

use crate::element::ElementType;
use crate::hlo::mesh::{AxisPart, MeshAxis, mesh_axes, others, parts};
use crate::notations::described::Described;
use crate::notations::sharded::{DeviceAxis, Sharded};
use crate::notations::shardings::copies;
use crate::operations::shape::Array;
use crate::places::machine::{TIME, WORD};
use crate::places::tensor_layout::{Broadcast, Part, check_axis};
use crate::text::{Cursor, Error, excerpt};

/// Reads `#sdy.sharding<..>` after the shape of `array`.
pub(super) fn read_shardy(cursor: &mut Cursor, array: &Array, sizes: &[i64]) -> Result<Described, Error> {
    let start = cursor.at();
    cursor.expect("#sdy.sharding", "`#sdy.sharding<..>`")?;
    cursor.expect("<", "`<` and a mesh")?;
    let axes = read_mesh(cursor)?;
    let mesh = named(&axes);
    cursor.expect(",", "`,` and the axes of each dimension")?;
    let at = cursor.at();
    let mut taken = Vec::new();
    let dims = read_dims(cursor, &axes, &mesh, &mut taken)?;
    if dims.len() != sizes.len() {
        let message =
            format!("there must be axes in braces for each of {} dimensions, found {}", sizes.len(), dims.len());
        return Err(Error::at(at, message));
    }
    while cursor.eat(",") {
        let at = cursor.at();
        match cursor.word() {
            Some("replicated") => {
                cursor.expect("=", "`=` after `replicated`")?;
                parts(cursor, &axes, &mut taken.clone())?;
            }
            Some("unreduced") => {
                let message = "a layout cannot say sums that are still to be added up (`unreduced`)";
                return Err(Error::at(at, message).unsupported());
            }
            _ => return Err(Error::at(at, "expected `replicated=` or `unreduced=` after the dimensions").syntax()),
        }
    }
    cursor.expect(">", "`>` to close the sharding")?;
    let copied: Vec<Broadcast> = others(&axes, &taken)
        .iter()
        .filter(|part| part.size > 1)
        .map(|part| copies(&mesh[part.axis].axis, part.size, part.stride(&axes)))
        .collect();
    let sharded = Sharded { dims, copies: copied, layout: array.layout.clone(), mesh };
    sharded
        .described(sizes, Some(array.element))
        .map_err(|error| Error { at: Some(error.at.unwrap_or(start)), ..error })
}

/// Reads `mesh<["x"=2, "y"=4]>`.
fn read_mesh<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<MeshAxis<'a>>, Error> {
    let at = cursor.at();
    if cursor.peek() == Some(b'@') {
        return Err(Error::at(at, "a mesh by its name says no sizes; expected `mesh<[\"x\"=2, ..]>`").unsupported());
    }
    if cursor.word() != Some("mesh") {
        return Err(Error::at(at, "expected `mesh<` and its axes").syntax());
    }
    cursor.expect("<", "`<` and axes")?;
    let (axes, _) = mesh_axes(cursor)?;
    if cursor.peek() == Some(b',') {
        let message = "a layout cannot say which device is where in the mesh (`device_ids`); expected `>`";
        return Err(Error::at(cursor.at(), message).unsupported());
    }
    cursor.expect(">", "`>` to close the mesh")?;
    Ok(axes)
}

/// Reads `[{"x"}, {"y"}]`, the axes of each dimension; `taken` gets the parts of axes that they take.
fn read_dims(
    cursor: &mut Cursor,
    axes: &[MeshAxis],
    mesh: &[DeviceAxis],
    taken: &mut Vec<AxisPart>,
) -> Result<Vec<Vec<Part>>, Error> {
    cursor.expect("[", "`[` and the axes of each dimension")?;
    let mut dims = Vec::new();
    let step = |part: &AxisPart| Part::along(&mesh[part.axis].axis, part.size, part.stride(axes));
    while !cursor.eat("]") {
        if !dims.is_empty() {
            cursor.expect(",", "`,` or `]` to close the dimensions")?;
        }
        dims.push(parts(cursor, axes, taken)?.iter().map(step).collect());
        priority(cursor)?;
    }
    Ok(dims)
}

/// The axes of a mesh with names that are valid in a layout: their own, its letters and digits, or `Axis0` and so on.
fn named(axes: &[MeshAxis]) -> Vec<DeviceAxis> {
    let can_be = |name: &str| check_axis(name).is_ok() && ![TIME, WORD].contains(&name);
    let mut named: Vec<DeviceAxis> = Vec::new();
    for (k, (name, size)) in axes.iter().enumerate() {
        let is_free = |axis: &String| {
            can_be(axis) && (axis == name || named.iter().all(|a| a.axis != *axis) && axes.iter().all(|a| a.0 != axis))
        };
        let letters = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let numbers = (k..).map(|k| format!("Axis{k}"));
        let axis = [(*name).to_string(), letters].into_iter().chain(numbers).find(is_free).unwrap_or_default();
        named.push(DeviceAxis { name: (*name).to_string(), axis, size: *size });
    }
    named
}

/// Reads `p1`, if it is next.
fn priority(cursor: &mut Cursor) -> Result<(), Error> {
    let at = cursor.at();
    match cursor.peek_name() {
        None => Ok(()),
        Some(name)
            if name.strip_prefix('p').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) =>
        {
            cursor.advance(name.len());
            Ok(())
        }
        Some(name) => Err(Error::at(at, format!("expected a priority, as `p1`, found `{}`", excerpt(name))).syntax()),
    }
}

/// The layout with Shardy's sharding, over the mesh that it was read with, or a mesh of the layout's axes in order of
/// appearance.
///
/// # Errors
/// The reason why there is none.
pub fn write_shardy(described: &Described, element: ElementType) -> Result<String, Error> {
    let sharded = Sharded::of(described)?;
    let copied = sharded.copies.iter().map(|copied| match copied {
        Broadcast::Part { extent, axis, stride } => Ok((axis, *extent, stride.unwrap_or(1))),
        Broadcast::Axis(axis) => {
            let message = format!("a mesh has sizes; expected `B@[n_{axis}:1]` for copies along all of `{axis}`");
            Err(Error::new(message).unsupported())
        }
    });
    let copied = copied.collect::<Result<Vec<_>, Error>>()?;
    let of_dims = sharded.dims.iter().flatten();
    let of_dims = of_dims.filter_map(|part| part.axis.as_ref().map(|axis| (axis, part.extent, part.stride)));
    // The most significant part of an axis determines its size.
    let mut axes: Vec<MeshAxis> = sharded.mesh.iter().map(|axis| (&axis.axis[..], axis.size)).collect();
    for (axis, extent, stride) in of_dims.chain(copied) {
        let large = || Error::new(format!("the size of axis `{axis}` does not fit in 64 bits")).too_large();
        let size = extent.checked_mul(stride).ok_or_else(large)?;
        match axes.iter_mut().find(|(name, _)| name == axis) {
            Some(known) => known.1 = known.1.max(size),
            None => axes.push((axis, size)),
        }
    }
    let written = |axis: &str| {
        let known = sharded.mesh.iter().find(|known| known.axis == axis);
        known.map_or(axis.to_string(), |known| known.name.clone())
    };
    let one = |part: &Part| -> Result<String, Error> {
        let name = part.axis.as_deref().unwrap_or_default();
        let whole = axes.iter().find(|(axis, _)| *axis == name).map_or(1, |(_, size)| *size);
        if whole % (part.extent * part.stride) != 0 {
            let message = format!(
                "{} steps of {} are no part of the axis `{name}`, of size {whole}, which they do not divide",
                part.extent, part.stride
            );
            return Err(Error::new(message).unsupported());
        }
        let before = whole / (part.extent * part.stride);
        let all = before == 1 && part.stride == 1;
        let name = written(name);
        Ok(if all { format!("\"{name}\"") } else { format!("\"{name}\":({before}){}", part.extent) })
    };
    let dims = sharded.dims.iter().map(|parts| {
        let parts = parts.iter().map(one).collect::<Result<Vec<_>, Error>>()?;
        Ok(format!("{{{}}}", parts.join(", ")))
    });
    let dims = dims.collect::<Result<Vec<_>, Error>>()?;
    let mesh: Vec<String> = axes.iter().map(|(name, size)| format!("\"{}\"={size}", written(name))).collect();
    let shape = sharded.shape(described.description.sizes(), element);
    Ok(format!("{shape} #sdy.sharding<mesh<[{}]>, [{}]>", mesh.join(", "), dims.join(", ")))
}
