//! How an array is divided among devices: what a sharding says beside the layout that is made of it.

use crate::places::tensor_layout::{Broadcast, Part};
use crate::tiled::layout::Layout;

/// An array that is divided among devices.
#[derive(Clone, Debug)]
pub(super) struct Sharded {
    /// For each dimension, its parts as steps along axes of devices, the most significant first.
    pub dims: Vec<Vec<Part>>,
    /// Copies along those axes.
    pub copies: Vec<Broadcast>,
    /// The layout of the part that a device has.
    pub layout: Layout,
    /// The axes of the mesh, the majormost first; none where devices are numbered along `Device`.
    pub mesh: Vec<DeviceAxis>,
}

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceAxis {
    /// Its name in the mesh.
    pub name: String,
    /// Its name in a layout, which has letters and digits alone.
    pub axis: String,
    /// How many devices there are along it.
    pub size: i64,
}
