//! Shardings as layouts: HLO's `sharding={devices=[2,4]<=[8]}`, which numbers devices, after the shape that it divides.
//!
//! A dimension of `n` elements in `t` parts has `ceil(n / t)` of them on each device, fewer on the last ones; the
//! layout of the shape is that of each part. The parts of a dimension are steps along the axis `Device`, copies are
//! `B@[..]`, and elements on a device have an address there:
//! `f32[8,6]{1,0} sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}` is
//! `((4_Device:1, 2:6), (6:1); B@[2_Device:4])`: device 5 has rows 2 and 3, a copy of device 1's. Groups of devices
//! with arrays of their own (`manual`) are copies along the axis `Manual`, with their distance in devices.

use crate::conversion::meaning::Meaning;
use crate::conversion::{digits, made, to_tensor_layout, to_tiled};
use crate::element::ElementType;
use crate::expr::Expr;
use crate::hlo::sharding::{DeviceTiles, Sharding, Subgroup};
use crate::maps::map::IndexingMap;
use crate::notations::described::{Described, Description};
use crate::notations::sharded::{DeviceAxis, Sharded};
use crate::operations::shape::{Array, Dim, Shape};
use crate::places::machine::{Machine, TIME, WORD};
use crate::places::placement::{Copies, Placement};
use crate::places::tensor_layout::{Broadcast, Part, TensorLayout};
use crate::places::views::joined;
use crate::text::{Cursor, Error};
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::Layout;

/// The axis of the devices.
const DEVICE: &str = "Device";

/// The axis of groups of devices with arrays of their own.
const MANUAL: &str = "Manual";

/// `extent_axis:stride` as copies.
pub(super) fn copies(axis: &str, extent: i64, stride: i64) -> Broadcast {
    Broadcast::Part { extent, axis: axis.to_string(), stride: Some(stride) }
}

/// Reads `sharding={..}` after the shape of `array`.
pub(super) fn read_sharding(cursor: &mut Cursor, array: &Array, sizes: &[i64]) -> Result<Described, Error> {
    cursor.expect("sharding", "`sharding=`")?;
    cursor.expect("=", "`=` after `sharding`")?;
    let start = cursor.at();
    let located = |error: Error| Error { at: Some(error.at.map_or(start, |at| start + at)), ..error };
    let text = cursor.rest();
    let sharding = Sharding::read(text, sizes.len()).map_err(located)?;
    cursor.advance(text.len());
    let unsaid = |what: &str| Error::at(start, format!("a layout cannot say {what}")).unsupported();
    let (mut dims, mut copied) = (vec![Vec::new(); sizes.len()], Vec::new());
    match sharding {
        Sharding::Replicated => {}
        Sharding::Maximal(0) => copied.push(copies(DEVICE, 1, 1)),
        Sharding::Maximal(_) => return Err(unsaid("that all is on another device than 0: layouts have no offset")),
        Sharding::Manual => return Err(unsaid("which array each device has (`manual`)")),
        Sharding::Unknown => return Err(unsaid("a sharding that is still to be chosen (`unknown`)")),
        Sharding::Unreduced => return Err(unsaid("sums that are still to be added up (`unreduced`)")),
        Sharding::Named => {
            let what = "the axes of a mesh here; expected `devices=`, or `#sdy.sharding<mesh<..>, ..>` in place of `sharding=`";
            return Err(Error::at(start, format!("a sharding cannot have {what}")).unsupported());
        }
        Sharding::Tiles(tiles) => {
            let found = steps(&tiles).ok_or_else(|| unsaid("devices in no order of equal steps from device 0 on"))?;
            for (k, parts) in found.into_iter().enumerate() {
                match k.checked_sub(sizes.len()).map(|k| tiles.subgroups[k]) {
                    None => dims[k] = parts,
                    Some(Subgroup::Replicated) => {
                        copied.extend(parts.iter().map(|p| copies(DEVICE, p.extent, p.stride)))
                    }
                    Some(Subgroup::Manual) => copied.extend(parts.iter().map(|p| copies(MANUAL, p.extent, p.stride))),
                    Some(_) => return Err(unsaid("subgroups that are neither `replicated` nor `manual`")),
                }
            }
        }
    }
    let sharded = Sharded { dims, copies: copied, layout: array.layout.clone(), mesh: Vec::new() };
    sharded.described(sizes, Some(array.element)).map_err(located)
}

/// The steps of the device number along each dimension of the devices; `None` if they are not equal steps.
fn steps(tiles: &DeviceTiles) -> Option<Vec<Vec<Part>>> {
    let strides: Vec<i64> = (0..tiles.sizes.len()).map(|d| tiles.sizes[d + 1..].iter().product()).collect();
    let number = |index: &[i64]| index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<i64>();
    let device = |index: &[i64]| tiles.devices.get(usize::try_from(number(index)).ok()?).copied();
    let place = |index: &[i64]| Some(vec![device(index)?, 0]);
    let axes = [DEVICE.to_string()];
    let parts: Vec<Vec<Part>> =
        (0..tiles.sizes.len()).map(|dim| digits(&tiles.sizes, dim, &axes, &place)).collect::<Option<_>>()?;
    let sum_is_device = tiles.devices.iter().zip(0i64..).all(|(device, k)| {
        let mut sum = Some(0i64);
        for (dim, parts) in parts.iter().enumerate() {
            let mut index = k / strides[dim] % tiles.sizes[dim];
            for part in parts.iter().rev() {
                let step = (index % part.extent).checked_mul(part.stride);
                sum = sum.zip(step).and_then(|(sum, step)| sum.checked_add(step));
                index /= part.extent;
            }
        }
        sum == Some(*device)
    });
    sum_is_device.then_some(parts)
}

/// The number of parts of a dimension.
fn count(parts: &[Part]) -> Result<i64, Error> {
    let count = parts.iter().try_fold(1i64, |n, part| n.checked_mul(part.extent));
    count.ok_or_else(|| Error::new("the number of devices does not fit in 64 bits").too_large())
}

/// `ceil(n / parts)`.
fn shard(n: i64, parts: i64) -> i64 {
    n / parts + i64::from(n % parts != 0)
}

impl Sharded {
    /// The layout on an array of these sizes, with its division.
    pub(super) fn described(self, sizes: &[i64], element: Option<ElementType>) -> Result<Described, Error> {
        let description = self.description(sizes)?;
        let memory_space = self.layout.memory_space;
        Ok(Described { element, memory_space, description, sharded: Some(Box::new(self)) })
    }

    fn description(&self, sizes: &[i64]) -> Result<Description, Error> {
        let counts = self.dims.iter().map(|parts| count(parts)).collect::<Result<Vec<i64>, Error>>()?;
        if sizes.is_empty() {
            return match self.copies.is_empty() {
                true => Ok(Description::Tiled { sizes: Vec::new(), layout: self.layout.clone() }),
                false => Err(Error::new("a layout cannot say on which devices a scalar is").unsupported()),
            };
        }
        let shards: Vec<i64> = sizes.iter().zip(&counts).map(|(n, parts)| shard(*n, *parts)).collect();
        let expansion = Expansion::new(&shards, &self.layout)?;
        if let Ok(local) = to_tensor_layout(&expansion, &self.layout) {
            let padded = local.padded_sizes()?;
            let is_dense = |dim: usize| counts[dim] == 1 || padded[dim] == shards[dim];
            if sizes.contains(&0) || (0..sizes.len()).all(is_dense) {
                let whole = |(parts, local): (&Vec<Part>, Vec<Part>)| [&parts[..], &local[..]].concat();
                let dims = self.dims.iter().zip(local.dims).map(whole).collect();
                let layout = made(sizes, dims, self.copies.clone());
                let placement = Placement::new(&layout, Some(sizes)).map_err(|misplaced| misplaced.error)?;
                return Ok(Description::Parts(Box::new(placement)));
            }
        }
        // Each part has its own padding, which lies between elements of the dimension: only a map can express this.
        let mut axes: Vec<String> = Vec::new();
        let named = self.copies.iter().map(|copies| match copies {
            Broadcast::Axis(axis) | Broadcast::Part { axis, .. } => axis,
        });
        for axis in self.dims.iter().flatten().filter_map(|part| part.axis.as_ref()).chain(named) {
            if !axes.contains(axis) {
                axes.push(axis.clone());
            }
        }
        let mut results = vec![Vec::new(); axes.len()];
        let mut within = Vec::new();
        for (dim, parts) in self.dims.iter().enumerate() {
            let mut weight = shards[dim].saturating_mul(counts[dim]);
            for part in parts {
                weight /= part.extent;
                let axis = axes.iter().position(|axis| Some(axis) == part.axis.as_ref()).unwrap_or_default();
                results[axis].push(Expr::Var(dim).digit(weight, part.extent, sizes[dim]).times(part.stride));
            }
            within.push(if counts[dim] == 1 { Expr::Var(dim) } else { Expr::Var(dim).modulo(shards[dim]) });
        }
        let address = expansion.offset_expr().substitute(&within);
        let map = IndexingMap::of_sizes(sizes, results.into_iter().map(Expr::sum).chain([address]).collect());
        let copied = |axis: &String| {
            let steps = self.copies.iter().filter_map(|copies| match copies {
                Broadcast::Part { extent, axis: of, stride } if of == axis => Some((*extent, stride.unwrap_or(1))),
                _ => None,
            });
            Copies::of_steps(steps.collect())
        };
        let copies = axes.iter().map(copied).collect();
        Ok(Description::Map(Box::new(Meaning { sizes: sizes.to_vec(), axes, map, copies, memory_space: 0 })))
    }

    /// The division with devices numbered row-major in the mesh.
    pub(super) fn numbered(&self) -> Result<Sharded, Error> {
        let stride = |name: &str, own: i64| {
            let k = self.mesh.iter().position(|known| known.axis == name)?;
            self.mesh[k + 1..].iter().try_fold(own, |stride, minor| stride.checked_mul(minor.size))
        };
        let unknown = |name: &str| Error::new(format!("there is no axis `{name}` in the mesh"));
        let part = |part: &Part| {
            let name = part.axis.as_deref().unwrap_or_default();
            let stride = stride(name, part.stride).ok_or_else(|| unknown(name))?;
            Ok(Part::along(DEVICE, part.extent, stride))
        };
        let copied = |copied: &Broadcast| match copied {
            Broadcast::Part { extent, axis, stride: own } => {
                let stride = stride(axis, own.unwrap_or(1)).ok_or_else(|| unknown(axis))?;
                Ok(copies(DEVICE, *extent, stride))
            }
            Broadcast::Axis(axis) => Err(unknown(axis)),
        };
        // Axes of a single device do not change the number.
        let numbered = |parts: &Vec<Part>| parts.iter().filter(|part| part.extent > 1).map(part).collect();
        let dims = self.dims.iter().map(numbered).collect::<Result<_, Error>>()?;
        let copies = self.copies.iter().map(copied).collect::<Result<_, Error>>()?;
        Ok(Sharded { dims, copies, layout: self.layout.clone(), mesh: Vec::new() })
    }

    /// The division with devices, numbered row-major, as places of these axes.
    fn placed(&self, axes: &[DeviceAxis]) -> Result<Sharded, Error> {
        let placed = |extent: i64, step: i64| {
            let crosses = || {
                let named: Vec<String> = axes.iter().map(|axis| format!("{}_{}", axis.size, axis.axis)).collect();
                let message =
                    format!("{extent} devices {step} apart are no places of whole parts of {}", named.join(", "));
                Error::new(message).unsupported()
            };
            let end = extent.checked_mul(step).ok_or_else(crosses)?;
            let (mut found, mut minor) = (Vec::new(), 1);
            for axis in axes.iter().rev() {
                let all = axis.size * minor;
                let (first, last) = (step.max(minor), end.min(all));
                if first < last {
                    if first % minor != 0 || last % first != 0 || all % last != 0 {
                        return Err(crosses());
                    }
                    found.insert(0, Part::along(&axis.axis, last / first, first / minor));
                }
                minor = all;
            }
            if end > minor { Err(crosses()) } else { Ok(found) }
        };
        let of_dim = |parts: &Vec<Part>| {
            let found = parts.iter().map(|part| placed(part.extent, part.stride));
            Ok(found.collect::<Result<Vec<_>, Error>>()?.concat())
        };
        let dims = self.dims.iter().map(of_dim).collect::<Result<_, Error>>()?;
        let mut copied = Vec::new();
        for own in &self.copies {
            match own {
                Broadcast::Part { extent, axis, stride } if axis == DEVICE => {
                    let found = placed(*extent, stride.unwrap_or(1))?.into_iter();
                    copied.extend(found.filter_map(|part| Some(copies(&part.axis?, part.extent, part.stride))));
                }
                own => copied.push(own.clone()),
            }
        }
        Ok(Sharded { dims, copies: copied, layout: self.layout.clone(), mesh: axes.to_vec() })
    }

    /// The number of devices.
    fn devices(&self) -> Result<i64, Error> {
        let copied = self.copies.iter().filter_map(|own| match own {
            Broadcast::Part { extent, axis, .. } if axis == DEVICE => Some(*extent),
            _ => None,
        });
        let all = self.dims.iter().flatten().map(|part| part.extent).chain(copied).try_fold(1, i64::checked_mul);
        all.ok_or_else(|| Error::new("the number of devices does not fit in 64 bits").too_large())
    }

    /// The division of the array, or of a layout whose parts on devices cut each dimension first and evenly.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn of(described: &Described) -> Result<Sharded, Error> {
        let memory_space = described.memory_space;
        if let Some(sharded) = &described.sharded {
            return Ok((**sharded).clone());
        }
        if let Description::Tiled { sizes, layout } = &described.description
            && sizes.is_empty()
        {
            return Ok(Sharded { dims: Vec::new(), copies: Vec::new(), layout: layout.clone(), mesh: Vec::new() });
        }
        let placement = described.placement().map_err(|error| match &described.description {
            Description::Map(meaning) if !meaning.axes.is_empty() => {
                let message =
                    "what tiles pad of the part of each device is between elements, which no parts of dimensions say";
                Error::new(message).unsupported()
            }
            _ => error,
        })?;
        let sizes = placement.sizes();
        let (mut dims, mut local, mut shards) = (Vec::new(), Vec::new(), Vec::new());
        for (dim, parts) in placement.layout().dims.iter().enumerate() {
            let parts = joined(parts.clone());
            let outer = parts.iter().take_while(|part| part.axis.is_some()).count();
            if let Some(part) = parts[outer..].iter().find_map(|part| part.axis.as_ref()) {
                let message = format!(
                    "a sharding cuts a dimension into runs of elements, found {part} inside of one in dimension {dim}"
                );
                return Err(Error::new(message).unsupported());
            }
            let (outer, inner) = parts.split_at(outer);
            let (parts, run) = (count(outer)?, count(inner)?);
            let wanted = shard(sizes[dim], parts);
            if parts > 1 && wanted != run {
                let message = format!(
                    "{parts} parts of {} elements must have {wanted} each, found {run} in dimension {dim}",
                    sizes[dim]
                );
                return Err(Error::new(message).unsupported());
            }
            dims.push(outer.to_vec());
            local.push(inner.to_vec());
            shards.push(if parts > 1 { run } else { sizes[dim] });
        }
        let local: TensorLayout = made(&shards, local, Vec::new());
        let local = Placement::new(&local, Some(&shards)).map_err(|misplaced| misplaced.error)?;
        Ok(Sharded {
            dims,
            copies: placement.layout().broadcast.clone(),
            layout: Layout { memory_space, ..to_tiled(&local)? },
            mesh: Vec::new(),
        })
    }

    /// The shape with the layout of a part.
    pub(super) fn shape(&self, sizes: &[i64], element: ElementType) -> String {
        let dims = sizes.iter().map(|size| Dim::Exact(*size)).collect();
        Shape::Array(Array { element, dims, layout: self.layout.clone() }).to_string()
    }
}

impl Described {
    /// The layout with the axes of a mesh as one, `Device`, along which devices are numbered row-major in the mesh.
    ///
    /// # Errors
    /// Counts that do not fit in 64 bits.
    pub fn on_devices(&self) -> Result<Described, Error> {
        match &self.sharded {
            Some(sharded) if !sharded.mesh.is_empty() => {
                sharded.numbered()?.described(self.description.sizes(), self.element)
            }
            _ => Ok(self.clone()),
        }
    }

    /// The layout over a machine. If the machine has no axis `Device`, nor the axes of the mesh, devices are numbered
    /// row-major as the places of its outer axes, as many axes as have that many places.
    ///
    /// # Errors
    /// The outer axes have another number of places, or a part of the devices does not fall on whole parts of axes.
    ///
    /// ```
    /// use tensor_layout::notations::read;
    /// use tensor_layout::places::Machine;
    /// let machine = Machine::parse("axes: (2_Host, 4_Chip), memories: (), word: 64").unwrap();
    /// let sharded = read("f32[1024,512] sharding={devices=[8,1]<=[8]}").unwrap().on_machine(&machine).unwrap();
    /// assert_eq!(sharded.placement().unwrap().layout().to_string(), "((2_Host, 4_Chip, 128:512), (512:1))");
    /// ```
    pub fn on_machine(&self, machine: &Machine) -> Result<Described, Error> {
        let has = |name: &str| machine.axes.iter().any(|axis| axis.name == name);
        let Some(sharded) = &self.sharded else { return Ok(self.clone()) };
        if sharded.mesh.iter().all(|axis| has(&axis.axis)) && (has(DEVICE) || !sharded.mesh.is_empty()) {
            return Ok(self.clone());
        }
        let numbered = if sharded.mesh.is_empty() { (**sharded).clone() } else { sharded.numbered()? };
        let devices = numbered.devices()?;
        let (mut axes, mut all) = (Vec::new(), 1i64);
        for axis in machine.axes.iter().take_while(|axis| ![TIME, WORD].contains(&&axis.name[..])) {
            if all >= devices {
                break;
            }
            all = all.saturating_mul(axis.extent);
            axes.push(DeviceAxis { name: axis.name.clone(), axis: axis.name.clone(), size: axis.extent });
        }
        if all != devices {
            let named: Vec<String> = axes.iter().map(|axis| format!("{}_{}", axis.size, axis.axis)).collect();
            let message = format!(
                "{devices} devices must be all places of outer axes of the machine, found ({})",
                named.join(", ")
            );
            return Err(Error::new(message));
        }
        numbered.placed(&axes)?.described(self.description.sizes(), self.element)
    }

    /// Both layouts over the same devices: unchanged if both have the same mesh, or neither has one, else with devices
    /// numbered.
    ///
    /// # Errors
    /// As [`Described::on_devices`].
    ///
    /// ```
    /// use tensor_layout::notations::{Described, read};
    /// let of_mesh = read(r#"f32[8] #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"y"}]>"#).unwrap();
    /// let (_, other) = Described::on_common_devices(&read("f32[8] sharding={replicated}").unwrap(), &of_mesh).unwrap();
    /// assert_eq!(other.placement().unwrap().layout().to_string(), "((4_Device:1, 2:1); B@[2_Device:4])");
    /// ```
    pub fn on_common_devices(a: &Described, b: &Described) -> Result<(Described, Described), Error> {
        let mesh = |side: &Described| side.sharded.as_ref().map(|sharded| sharded.mesh.clone());
        match mesh(a).zip(mesh(b)) {
            Some((first, second)) if first != second => Ok((a.on_devices()?, b.on_devices()?)),
            _ => Ok((a.clone(), b.clone())),
        }
    }
}

/// The layout with HLO's sharding.
///
/// # Errors
/// The reason why there is none.
pub fn write_sharding(described: &Described, element: ElementType) -> Result<String, Error> {
    let sharded = Sharded::of(described)?;
    // The steps in the order of the tiles, each with the number of its tile dimension: first the array's, then copies,
    // groups.
    let rank = sharded.dims.len();
    let mut steps: Vec<(usize, i64, i64)> = Vec::new();
    for (dim, part) in
        sharded.dims.iter().enumerate().flat_map(|(dim, parts)| parts.iter().map(move |part| (dim, part)))
    {
        if part.axis.as_deref() != Some(DEVICE) {
            let axis = part.axis.as_deref().unwrap_or_default();
            return Err(Error::new(format!("`sharding=` numbers devices along one axis, `{DEVICE}`, found `{axis}`"))
                .unsupported());
        }
        steps.push((dim, part.extent, part.stride));
    }
    let mut all_on_one = false;
    for copies in &sharded.copies {
        match copies {
            Broadcast::Part { extent: 1, axis, .. } if axis == DEVICE => all_on_one = true,
            Broadcast::Part { extent, axis, stride } if axis == DEVICE => {
                steps.push((rank, *extent, stride.unwrap_or(1)))
            }
            Broadcast::Part { extent, axis, stride } if axis == MANUAL => {
                steps.push((rank + 1, *extent, stride.unwrap_or(1)))
            }
            Broadcast::Axis(axis) if axis == DEVICE => {}
            Broadcast::Axis(axis) | Broadcast::Part { axis, .. } => {
                return Err(Error::new(format!(
                    "`sharding=` numbers devices along one axis, `{DEVICE}`, found copies along `{axis}`"
                ))
                .unsupported());
            }
        }
    }
    steps.sort_by_key(|(dim, ..)| *dim);
    let shape = sharded.shape(described.description.sizes(), element);
    if steps.is_empty() {
        let word = if all_on_one { "maximal device=0" } else { "replicated" };
        return Ok(format!("{shape} sharding={{{word}}}"));
    }
    let tile = |of: usize| steps.iter().filter(|(dim, ..)| *dim == of).map(|(_, extent, _)| extent).product::<i64>();
    let mut tiles: Vec<i64> = (0..rank).map(tile).collect();
    let (replicated, manual) = (tile(rank), tile(rank + 1));
    let words = match (replicated > 1, manual > 1) {
        (false, false) => "",
        (true, false) => " last_tile_dim_replicate",
        (false, true) => " last_tile_dims={manual}",
        (true, true) => " last_tile_dims={replicated, manual}",
    };
    tiles.extend([replicated, manual].iter().filter(|count| **count > 1));
    Ok(format!("{shape} sharding={{devices=[{}]<={}{words}}}", commas(&tiles), iota(&steps)?))
}

fn commas<N: ToString>(numbers: &[N]) -> String {
    numbers.iter().map(N::to_string).collect::<Vec<_>>().join(",")
}

/// `[2,4]T(1,0)`: the devices of these steps, the majormost first.
fn iota(steps: &[(usize, i64, i64)]) -> Result<String, Error> {
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (_, extent, stride) in steps {
        match joined.last_mut() {
            Some(last) if extent.checked_mul(*stride) == Some(last.1) => *last = (last.0 * extent, *stride),
            _ => joined.push((*extent, *stride)),
        }
    }
    let mut order: Vec<usize> = (0..joined.len()).collect();
    order.sort_by_key(|k| std::cmp::Reverse(joined[*k].1));
    let mut all = 1;
    for k in order.iter().rev() {
        if joined[*k].1 != all {
            let message =
                format!("`sharding=` numbers all devices, found none with a number from {all} to {}", joined[*k].1 - 1);
            return Err(Error::new(message).unsupported());
        }
        all *= joined[*k].0;
    }
    if joined.len() == 1 {
        return Ok(format!("[{all}]"));
    }
    let sizes: Vec<i64> = order.iter().map(|k| joined[*k].0).collect();
    let places: Vec<usize> =
        (0..joined.len()).map(|k| order.iter().position(|own| *own == k).unwrap_or_default()).collect();
    Ok(format!("[{}]T({})", commas(&sizes), commas(&places)))
}
