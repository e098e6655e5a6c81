//! The report on a TensorLayout: a line for each fact, then two pictures.
//!
//! The first picture is the tensor, with the place of each element, `.` for padding. The second is the memory of the
//! first places, with the element at each address, `-` for an address that the layout never uses. Here row 1 is on PE
//! 1:
//!
//! ```text
//! places, each as PE/Addr
//!          0   1
//!     0  0/0 0/1
//!     1  1/0 1/1
//! ```

use crate::numbers::counted;
use crate::text_picture::{SLICES, next, slices};
use std::fmt::Write;
use tensor_layout::conversion::to_tiled;
use tensor_layout::drawing::label;
use tensor_layout::places::ADDRESS;
use tensor_layout::places::{Copies, Held, Placement};
use tensor_layout::text::Error;

/// The most drawn lines of a place's memory, and the addresses in a line.
const LINES: i64 = 12;
const IN_A_LINE: i64 = 8;

/// The most printed numbers of a list.
const NAMED: usize = 8;

/// The report on a placement.
///
/// # Errors
/// The number of used places cannot be counted: too many strides overlap.
pub fn report(placement: &Placement) -> Result<String, Error> {
    let mut out = String::new();
    // A `String` takes all that is written to it.
    let mut line = |name: &str, value: String| writeln!(out, "{name:<9} {value}").unwrap();
    line("layout", placement.layout().to_string());
    let sizes = |sizes: &[i64], n: i64| format!("{sizes:?}, {}", counted(n, "element"));
    line("sizes", sizes(placement.sizes(), placement.elements()));
    line("padded", sizes(placement.padded_sizes(), placement.padded_elements()));
    let utilisation = placement.utilisation(None)?;
    if !placement.axes().is_empty() {
        let named = placement.axes().iter().enumerate().map(|(k, axis)| match placement.copies(k) {
            Copies::All => format!("{axis} *"),
            Copies::Steps(_) => format!("{axis} {}", utilisation.extents[k]),
        });
        let (used, all) = (utilisation.used, utilisation.places);
        line("places", format!("{used} of {all} are used: {}", named.collect::<Vec<_>>().join(", ")));
        if used < all {
            line("unused", unused(placement, &utilisation.extents)?);
        }
    }
    let local = placement.local_elements();
    let reach = placement.extents()[placement.axes().len()];
    line(
        "held",
        format!("{} in a place, padding included, at addresses up to {}", counted(local, "element"), reach - 1),
    );
    let copies: Vec<String> = (0..placement.axes().len()).filter_map(|axis| copies(placement, axis)).collect();
    if !copies.is_empty() {
        line("copies", copies.join("; "));
    }
    line("results", names(placement).join(", "));
    line("map", placement.map().to_string());
    line("as", to_tiled(placement).map_or_else(|why| format!("no tiled layout: {why}"), |tiled| tiled.to_string()));
    if placement.sizes().contains(&0) {
        return Ok(out);
    }
    let _ = writeln!(out, "\nplaces, each as {}", names(placement).join("/"));
    slices(&mut out, placement.sizes(), placement.padded_sizes(), |index| {
        placement.place(index).map_or_else(|error| error.to_string(), |place| label(placement, &place))
    });
    hold(&mut out, placement)?;
    Ok(out)
}

fn names(placement: &Placement) -> Vec<&str> {
    placement.axes().iter().map(String::as_str).chain([ADDRESS]).collect()
}

fn copies(placement: &Placement, axis: usize) -> Option<String> {
    let name = &placement.axes()[axis];
    match placement.copies(axis) {
        Copies::All => Some(format!("at every {name}")),
        Copies::Steps(steps) if steps.is_empty() => None,
        Copies::Steps(steps) => {
            let steps: Vec<String> = steps.iter().map(|(n, stride)| format!("{n} {name}, {stride} apart")).collect();
            Some(steps.join(" times "))
        }
    }
}

/// The coordinates along each axis that no place uses; where there are none, the first unused places.
fn unused(placement: &Placement, extents: &[i64]) -> Result<String, Error> {
    let mut all = Vec::new();
    for (axis, extent) in extents.iter().enumerate() {
        let idle = placement.unused_along(axis, *extent, NAMED + 1)?;
        if !idle.is_empty() {
            let named: Vec<String> = idle.iter().take(NAMED).map(i64::to_string).collect();
            let more = if idle.len() > NAMED { ", .." } else { "" };
            all.push(format!("{} {}{more}", placement.axes()[axis], named.join(", ")));
        }
    }
    if all.is_empty() {
        let places = placement.unused(extents, NAMED)?;
        let named: Vec<String> = places.iter().map(|place| label(placement, place)).collect();
        all.push(format!("{}: {}", placement.axes().join("/"), named.join(", ")));
    }
    Ok(all.join("; "))
}

/// Draws the memory of the first used places.
fn hold(out: &mut String, placement: &Placement) -> Result<(), Error> {
    let mut extents = placement.extents();
    let reach = extents.pop().unwrap_or(1);
    let mut place = vec![0; extents.len()];
    let mut drawn = 0;
    for _ in 0..Placement::LOOKED_AT {
        if drawn == SLICES {
            break;
        }
        if placement.is_used(&place)? {
            drawn += 1;
            let at = label(placement, &place);
            let named: Vec<String> =
                placement.axes().iter().zip(at.split('/')).map(|(axis, at)| format!("{axis} {at}")).collect();
            let who =
                if named.is_empty() { "held, by address".to_string() } else { format!("held by {}", named.join(", ")) };
            let _ = writeln!(out, "\n{who}");
            draw(out, placement, &place, reach)?;
        }
        if !next(&mut place, &extents) {
            break;
        }
    }
    let more = placement.utilisation(None)?.used - i128::from(drawn);
    if more > 0 {
        let _ = writeln!(out, "\n  .. {more} more places");
    }
    Ok(())
}

/// Draws the memory of a place: [`IN_A_LINE`] addresses a line, each line begins with its first address.
fn draw(out: &mut String, placement: &Placement, place: &[i64], reach: i64) -> Result<(), Error> {
    let shown = reach.min(LINES * IN_A_LINE);
    let mut cells = Vec::new();
    for address in 0..shown {
        cells.push(match placement.held(&[place, &[address]].concat())? {
            Held::Element(index) => index.iter().map(i64::to_string).collect::<Vec<_>>().join(","),
            Held::Padding => ".".to_string(),
            Held::Outside => "-".to_string(),
        });
    }
    let width = cells.iter().map(String::len).max().unwrap_or(1);
    for (k, line) in cells.chunks(IN_A_LINE as usize).enumerate() {
        let cells: String = line.iter().map(|cell| format!(" {cell:>width$}")).collect();
        let _ = writeln!(out, "  {:>4}  {cells}", k as i64 * IN_A_LINE);
    }
    if reach > shown {
        let _ = writeln!(out, "  .. {} more addresses", reach - shown);
    }
    Ok(())
}
