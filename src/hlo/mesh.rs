//! Groups of devices by the axes of a mesh: `mesh['x'=2,'y'=4] {'y'}`.
//!
//! The devices 0, 1, 2, ... are laid out row-major in the sizes of the axes; `device_ids=([4,2]T(1,0))` or
//! `device_ids=(0,2,1,3)` gives another order. A group has the devices that differ only in the axes in braces, the
//! first axis majormost: `{'y'}` of 2 by 4 gives `{0,1,2,3}` and `{4,5,6,7}`. `'y':(2)2` is a part of an axis: its size
//! is 2, and `(2)` is the product of the sizes of the more major parts.

use super::devices::{MOST_DEVICES, counted};
use crate::text::{Cursor, Error, did_you_mean, excerpt};

/// An axis: its name and its size.
pub(crate) type MeshAxis<'a> = (&'a str, i64);

/// A part of an axis.
#[derive(Clone, Copy)]
pub(crate) struct AxisPart {
    /// The number of the axis.
    pub axis: usize,
    /// The product of the sizes of the more major parts of the axis.
    pub before: i64,
    /// The size of the part.
    pub size: i64,
}

impl AxisPart {
    /// The stride of the part's digit along the axis.
    pub fn stride(&self, axes: &[MeshAxis]) -> i64 {
        axes[self.axis].1 / (self.before * self.size)
    }
}

/// Parses `mesh['x'=2,'y'=4], device_ids=(0,1,..) {'y'}`, and returns the groups.
pub(super) fn groups(cursor: &mut Cursor) -> Result<Vec<Vec<i64>>, Error> {
    let (axes, devices) = mesh(cursor)?;
    let parts = parts(cursor, &axes, &mut Vec::new())?;
    let of_axes = others(&axes, &parts);
    // The stride of devices along a part.
    let stride = |part: &AxisPart| {
        let minor: i64 = axes[part.axis + 1..].iter().map(|(_, size)| size).product();
        part.stride(&axes) * minor
    };
    let places = |parts: &[AxisPart]| {
        parts.iter().fold(vec![0], |places: Vec<i64>, part| {
            let stride = stride(part);
            places.iter().flat_map(|place| (0..part.size).map(move |k| place + k * stride)).collect()
        })
    };
    let inside = places(&parts);
    // A position is below the number of devices, which is small.
    let device = |place: i64| usize::try_from(place).map_or(0, |place| devices[place]);
    let group = |first: i64| inside.iter().map(|place| device(first + place)).collect();
    Ok(places(&of_axes).into_iter().map(group).collect())
}

/// Parses the axes, and the device at each position.
fn mesh<'a>(cursor: &mut Cursor<'a>) -> Result<(Vec<MeshAxis<'a>>, Vec<i64>), Error> {
    cursor.word();
    let (axes, all) = mesh_axes(cursor)?;
    if !cursor.eat(",") {
        return Ok((axes, (0..all).collect()));
    }
    let at = cursor.at();
    if cursor.word() != Some("device_ids") {
        return Err(Error::at(at, "expected `device_ids=` after the axes").syntax());
    }
    cursor.expect("=", "`=` after `device_ids`")?;
    cursor.expect("(", "`(` to open the devices")?;
    let devices = if cursor.peek() == Some(b'[') { counted(cursor, at, all)? } else { listed(cursor, all)? };
    cursor.expect(")", "`)` to close the devices")?;
    Ok((axes, devices))
}

/// Parses `['x'=2,'y'=4]`, and returns the axes and the number of devices.
pub(crate) fn mesh_axes<'a>(cursor: &mut Cursor<'a>) -> Result<(Vec<MeshAxis<'a>>, i64), Error> {
    cursor.expect("[", "`[` and the axes of the mesh")?;
    let (mut axes, mut all): (Vec<MeshAxis>, i64) = (Vec::new(), 1);
    while !cursor.eat("]") {
        if !axes.is_empty() {
            cursor.expect(",", "`,` or `]` to close the axes")?;
        }
        let (name, at) = axis(cursor)?;
        if axes.iter().any(|(known, _)| *known == name) {
            return Err(Error::at(at, format!("an axis must be there once, found `{}` a second time", excerpt(name))));
        }
        cursor.expect("=", "`=` and the size of the axis")?;
        let at = cursor.at();
        let size = cursor.integer("the size of the axis")?;
        all = all.saturating_mul(size);
        if size == 0 || all > MOST_DEVICES {
            return Err(Error::at(at, format!("there must be 1 to {MOST_DEVICES} devices, found {all}")));
        }
        axes.push((name, size));
    }
    Ok((axes, all))
}

/// Parses `0,2,1,3`.
fn listed(cursor: &mut Cursor, count: i64) -> Result<Vec<i64>, Error> {
    let mut devices = Vec::new();
    for k in 0..count {
        if k > 0 {
            cursor.expect(",", &format!("`,` and a device, {count} in all"))?;
        }
        devices.push(cursor.integer("a device")?);
    }
    Ok(devices)
}

/// Parses `'x'`, `"x"` or `x`; returns the name and its position.
fn axis<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a str, usize), Error> {
    let (at, rest) = (cursor.at(), cursor.rest());
    let in_quotes = |quote: char| rest.strip_prefix(quote).and_then(|rest| Some(&rest[..rest.find(quote)?]));
    let quoted = in_quotes('\'').or_else(|| in_quotes('"'));
    let Some(name) = quoted.or_else(|| cursor.peek_name()) else {
        return Err(cursor.expected("the name of an axis"));
    };
    cursor.advance(name.len() + if quoted.is_some() { 2 } else { 0 });
    Ok((name, at))
}

/// Parses axes, `{'x','y':(2)2}`, and adds them to `taken`; no two parts of an axis may overlap. A `?` at the end,
/// which allows more axes later, is ignored.
pub(crate) fn parts(cursor: &mut Cursor, axes: &[MeshAxis], taken: &mut Vec<AxisPart>) -> Result<Vec<AxisPart>, Error> {
    let mut parts: Vec<AxisPart> = Vec::new();
    cursor.expect("{", "`{` and axes")?;
    while !cursor.eat("}") {
        if !parts.is_empty() {
            cursor.expect(",", "`,` or `}` to close the axes")?;
        }
        if cursor.eat("?") {
            cursor.expect("}", "`}` after `?`")?;
            break;
        }
        let (name, at) = axis(cursor)?;
        let Some(axis) = axes.iter().position(|(known, _)| *known == name) else {
            let hint = did_you_mean(name, axes.iter().map(|(known, _)| *known));
            return Err(Error::at(at, format!("unknown axis `{}` of the mesh{hint}", excerpt(name))).unknown());
        };
        let (before, size) = if cursor.eat(":") { sub_axis(cursor, axes[axis])? } else { (1, axes[axis].1) };
        let apart = |other: &AxisPart| before % (other.before * other.size) == 0 || other.before % (before * size) == 0;
        if !taken.iter().filter(|other| other.axis == axis).all(apart) {
            let must = format!("a part of an axis must be there once, found one of `{}` again", excerpt(name));
            return Err(Error::at(at, must));
        }
        let part = AxisPart { axis, before, size };
        taken.push(part);
        parts.push(part);
    }
    Ok(parts)
}

/// Parses `(2)4`, a part of an axis.
fn sub_axis(cursor: &mut Cursor, (name, whole): MeshAxis) -> Result<(i64, i64), Error> {
    let at = cursor.at();
    cursor.expect("(", "`(` and what is more major in the axis")?;
    let before = cursor.integer("a size")?;
    cursor.expect(")", "`)` and the size of the part")?;
    let size = cursor.integer("the size of the part")?;
    match before.checked_mul(size) {
        Some(all) if all > 0 && whole % all == 0 => Ok((before, size)),
        _ => {
            let name = excerpt(name);
            let must = format!("must be a part of axis `{name}`, of size {whole}, found ({before}){size}");
            Err(Error::at(at, must))
        }
    }
}

/// The remaining parts of the axes, from the majormost.
pub(crate) fn others(axes: &[MeshAxis], parts: &[AxisPart]) -> Vec<AxisPart> {
    let mut others = Vec::new();
    for (axis, (_, whole)) in axes.iter().enumerate() {
        let mut taken: Vec<&AxisPart> = parts.iter().filter(|part| part.axis == axis).collect();
        taken.sort_by_key(|part| part.before);
        let mut before = 1;
        for part in taken {
            others.push(AxisPart { axis, before, size: part.before / before });
            before = part.before * part.size;
        }
        others.push(AxisPart { axis, before, size: whole / before });
    }
    others
}
