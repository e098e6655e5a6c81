//! Shardings: the text in `mhlo.sharding`, or axes of a mesh of Shardy as tiles of devices.
//!
//! `#sdy.sharding<@mesh, [{"x"}, {}]>` of the mesh `["x"=2, "y"=2]` is `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`:
//! the devices are an array with a dimension for each axis, transposed so that the axes of each dimension of the data
//! come first, in order, and the other axes last.

use super::attributes::{MlirAttribute, field};
use super::syntax::MlirModule;
use super::types::parts;
use crate::operations::shape::Shape;
use crate::text::{Error, did_you_mean, excerpt};
use std::collections::HashMap;

/// The meshes of a module, by their names.
pub(super) struct Meshes<'a> {
    meshes: HashMap<&'a str, Result<Mesh, Error>>,
}

/// The axes of a mesh with their sizes, and the devices in another order than row-major.
#[derive(Clone, Default)]
struct Mesh {
    axes: Vec<(String, i64)>,
    devices: Option<Vec<i64>>,
}

/// A part of an axis: the number of the axis, the product of the more major parts, and the size.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    axis: usize,
    before: i64,
    size: i64,
}

impl<'a> Meshes<'a> {
    pub fn of(module: &'a MlirModule<'a>) -> Meshes<'a> {
        let meshes = module.operations.iter().filter(|own| own.name == "sdy.mesh").filter_map(|own| {
            let text = own.attribute(&["mesh"]).or_else(|| own.positional().next())?;
            Some((own.symbol("sym_name")?.0, Mesh::read(text)))
        });
        Meshes { meshes: meshes.collect() }
    }

    /// The sharding of a value with these attributes, and its place.
    pub fn sharding(&self, attributes: &[MlirAttribute<'a>], shape: &Shape) -> Result<Option<(String, usize)>, Error> {
        let find = |name: &str| attributes.iter().find(|own| own.name == name);
        let (text, at) = if let Some(own) = find("sdy.sharding") {
            (self.of_axes(own, shape)?, own.at)
        } else if let Some(own) = find("mhlo.sharding") {
            (own.string()?, own.at)
        } else {
            return Ok(None);
        };
        Ok(Some((text, at)))
    }

    /// The text of a sharding by axes, for one array or, in a list, for each.
    pub fn of_axes(&self, own: &MlirAttribute<'a>, shape: &Shape) -> Result<String, Error> {
        let inner = own.text.find('<').and_then(|at| own.text[at + 1..].strip_suffix('>').map(|text| (text, at + 1)));
        let (inner, from) = inner.ok_or_else(|| own.expected("`#sdy.sharding<@mesh, [{\"x\"}, {}]>`"))?;
        if inner.trim_start().starts_with('[') {
            let each = MlirAttribute { name: "", text: inner.trim(), at: own.at + from }.list()?;
            let shapes = match shape {
                Shape::Tuple(shapes) => &shapes[..],
                one => std::slice::from_ref(one),
            };
            let texts: Vec<String> =
                each.iter().zip(shapes).map(|(own, shape)| self.of_axes(own, shape)).collect::<Result<_, _>>()?;
            return Ok(if let [one] = &texts[..] { one.clone() } else { format!("{{{}}}", texts.join(", ")) });
        }
        let list = parts(inner);
        let (Some((name, _)), Some((dims, at))) = (list.first(), list.get(1)) else {
            return Err(own.expected("a mesh and a list of axes for each dimension"));
        };
        if let Some(inline) = name.strip_prefix("mesh") {
            let mesh = Mesh::read(&MlirAttribute { name: "", text: inline, at: own.at + from })?;
            let dims = MlirAttribute { name: "", text: dims, at: own.at + from + at };
            return mesh.tiles(&dims);
        }
        let name = name.trim_start_matches('@').trim_matches('"');
        let Some(mesh) = self.meshes.get(name) else {
            let hint = did_you_mean(name, self.meshes.keys().copied());
            return Err(Error::at(own.at + from, format!("unknown mesh `{}`{hint}", excerpt(name))).unknown());
        };
        let dims = MlirAttribute { name: "", text: dims, at: own.at + from + at };
        mesh.clone()?.tiles(&dims)
    }
}

impl Mesh {
    /// Reads `<["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>`.
    fn read(own: &MlirAttribute) -> Result<Mesh, Error> {
        let wrong = || own.expected("a mesh such as `<[\"x\"=2, \"y\"=2]>`");
        let fields = own.fields()?;
        let mut mesh = Mesh::default();
        if let Some(devices) = field(&fields, "device_ids") {
            mesh.devices = Some(devices.integers()?);
        }
        let begin = own.text.find('[').ok_or_else(wrong)?;
        let end = own.text.find(']').filter(|end| *end > begin).ok_or_else(wrong)?;
        for (axis, _) in parts(&own.text[begin + 1..end]) {
            let (name, size) = axis.split_once('=').ok_or_else(wrong)?;
            let size: i64 = size.trim().parse().ok().filter(|size| *size > 0).ok_or_else(wrong)?;
            mesh.axes.push((name.trim().trim_matches('"').to_string(), size));
        }
        let count = mesh.count().ok_or_else(|| own.expected("a mesh of at most 65536 devices"))?;
        let listed = mesh.devices.as_ref().map_or(count, |devices| devices.len() as i64);
        if listed != count && !mesh.axes.is_empty() {
            return Err(own.expected(&format!("{count} devices")));
        }
        Ok(mesh)
    }

    /// The number of devices.
    fn count(&self) -> Option<i64> {
        let product = self.axes.iter().try_fold(1i64, |product, (_, size)| product.checked_mul(*size));
        product.filter(|count| *count <= crate::limits::HLO_DEVICES)
    }

    /// Reads `"x"` or `"x":(2)4`.
    fn part(&self, text: &str, own: &MlirAttribute) -> Result<Part, Error> {
        let wrong = || own.expected("axes such as `\"x\"` or `\"x\":(2)4`");
        let (name, rest) = text.strip_prefix('"').and_then(|text| text.split_once('"')).ok_or_else(wrong)?;
        let axis = self.axes.iter().position(|(own, _)| own == name).ok_or_else(|| {
            let hint = did_you_mean(name, self.axes.iter().map(|(name, _)| &**name));
            Error::at(own.at, format!("unknown axis `{}`{hint}", excerpt(name))).unknown()
        })?;
        let whole = self.axes[axis].1;
        let Some(sub) = rest.strip_prefix(":(") else { return Ok(Part { axis, before: 1, size: whole }) };
        let (before, size) = sub.split_once(')').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|n| *n > 0);
        let (before, size) = number(before).zip(number(size)).ok_or_else(wrong)?;
        let fits = before.checked_mul(size).is_some_and(|part| whole % part == 0);
        if fits { Ok(Part { axis, before, size }) } else { Err(wrong()) }
    }

    /// The tiles of devices, where the dimensions of the data have these axes: `[{"x"}, {"y", ?}, {}p1]`.
    fn tiles(&self, dims: &MlirAttribute) -> Result<String, Error> {
        if self.axes.is_empty() {
            let device = self.devices.as_ref().and_then(|devices| devices.first());
            return Ok(device.map_or("{replicated}".to_string(), |device| format!("{{maximal device={device}}}")));
        }
        let (mut sizes, mut used) = (Vec::new(), Vec::new());
        for own in dims.list()? {
            let inner = own.text.strip_prefix('{').and_then(|text| text.rsplit_once('}'));
            let (inner, _) = inner.ok_or_else(|| own.expected("axes in braces, such as `{\"x\"}`"))?;
            let axes = parts(inner).into_iter().filter(|(text, _)| *text != "?");
            let axes: Vec<Part> = axes.map(|(text, _)| self.part(text, &own)).collect::<Result<_, _>>()?;
            sizes.push(axes.iter().map(|part| part.size).product::<i64>());
            used.extend(axes);
        }
        if sizes.iter().all(|size| *size == 1) {
            return Ok("{replicated}".to_string());
        }
        let wrong = || dims.expected("each axis once");
        let digits = self.digits(&used).ok_or_else(wrong)?;
        let place = |part: &Part| digits.iter().position(|own| own == part);
        let mut order: Vec<usize> = used.iter().map(place).collect::<Option<_>>().ok_or_else(wrong)?;
        let mut seen = vec![false; digits.len()];
        if order.iter().any(|k| std::mem::replace(&mut seen[*k], true)) {
            return Err(wrong());
        }
        order.extend((0..digits.len()).filter(|k| !seen[*k]));
        let rest: i64 = digits.iter().zip(&seen).filter(|(_, seen)| !**seen).map(|(part, _)| part.size).product();
        if rest > 1 {
            sizes.push(rest);
        }
        let last = if rest > 1 { " last_tile_dim_replicate" } else { "" };
        Ok(format!("{{devices=[{}]{}{last}}}", comma(&sizes), self.device_text(&digits, &order)))
    }

    /// All parts of all axes, such that the used parts are among them.
    fn digits(&self, used: &[Part]) -> Option<Vec<Part>> {
        let mut digits = Vec::new();
        for (axis, (_, whole)) in self.axes.iter().enumerate() {
            let mut cuts: Vec<i64> = vec![1, *whole];
            cuts.extend(
                used.iter().filter(|part| part.axis == axis).flat_map(|part| [part.before, part.before * part.size]),
            );
            cuts.sort_unstable();
            cuts.dedup();
            if cuts.windows(2).any(|cut| cut[1] % cut[0] != 0) {
                return None;
            }
            digits.extend(cuts.windows(2).map(|cut| Part { axis, before: cut[0], size: cut[1] / cut[0] }));
            if *whole == 1 {
                digits.push(Part { axis, before: 1, size: 1 });
            }
        }
        Some(digits)
    }

    /// `<=[2,2]T(1,0)`, or the devices one by one where the mesh has an order of its own.
    fn device_text(&self, digits: &[Part], order: &[usize]) -> String {
        let sizes: Vec<i64> = digits.iter().map(|part| part.size).collect();
        let Some(devices) = &self.devices else {
            // Digits that stay together are one.
            let kept: Vec<usize> = order.iter().copied().filter(|k| sizes[*k] > 1).collect();
            let mut groups: Vec<Vec<usize>> = Vec::new();
            let next = |k: usize| (k + 1..sizes.len()).find(|k| sizes[*k] > 1);
            for k in kept {
                match groups.last_mut() {
                    Some(group) if group.last().is_some_and(|last| next(*last) == Some(k)) => group.push(k),
                    _ => groups.push(vec![k]),
                }
            }
            let mut sorted: Vec<usize> = (0..groups.len()).collect();
            sorted.sort_by_key(|g| groups[*g].first().copied());
            let size = |g: &usize| groups[*g].iter().map(|k| sizes[*k]).product::<i64>();
            let merged: Vec<i64> = sorted.iter().map(size).collect();
            let places: Vec<i64> =
                (0..groups.len()).map(|g| sorted.iter().position(|own| *own == g).map_or(0, |k| k as i64)).collect();
            let transposed = if places.is_sorted() { String::new() } else { format!("T({})", comma(&places)) };
            let merged = if places.is_sorted() { vec![merged.iter().product()] } else { merged };
            return format!("<=[{}]{transposed}", comma(&merged));
        };
        let strides: Vec<i64> = (0..sizes.len()).map(|k| sizes[k + 1..].iter().product()).collect();
        let mut places = vec![0i64];
        for k in order {
            places = places
                .iter()
                .flat_map(|place| (0..sizes[*k]).map(|digit| place + digit * strides[*k]).collect::<Vec<_>>())
                .collect();
        }
        let device =
            |place: &i64| usize::try_from(*place).ok().and_then(|place| devices.get(place)).copied().unwrap_or(0);
        comma(&places.iter().map(device).collect::<Vec<_>>())
    }
}

fn comma(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}
