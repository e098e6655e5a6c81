//! The division of an array among devices: the part of a sharding that its layout does not keep.

use crate::places::tensor_layout::{Broadcast, Part};
use crate::tiled::layout::Layout;

/// An array that is divided among devices.
#[derive(Clone, Debug)]
pub(super) struct Sharded {
    /// The parts of each dimension as steps along axes of devices, the most significant first.
    pub dims: Vec<Vec<Part>>,
    /// Copies along those axes.
    pub copies: Vec<Broadcast>,
    /// The layout of the part on one device.
    pub layout: Layout,
    /// The axes of the mesh, the majormost first; empty if devices are numbered along `Device`.
    pub mesh: Vec<DeviceAxis>,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceAxis {
    /// The name in the mesh.
    pub name: String,
    /// The name in a layout, with letters and digits only.
    pub axis: String,
    /// The number of devices along it.
    pub size: i64,
}
