//! A layout on a shape, independent of its notation: the form that every notation is read into, and written from.
//!
//! There are three forms, each more expressive than the one before: the tiled layout and the TensorLayout, unchanged,
//! and a map for layouts that are neither, such as a swizzle.

use crate::algebra::LayoutFunction;
use crate::conversion::meaning::Meaning;
use crate::conversion::{digits, made, to_tensor_layout, to_tiled};
use crate::element::ElementType;
use crate::maps::equal::Equality;
use crate::notations::sharded::Sharded;
use crate::places::placement::{Copies, Placement};
use crate::places::tensor_layout::{ADDRESS, Broadcast, Part, TensorLayout};
use crate::text::Error;
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::Layout;

/// A layout on a shape.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Described {
    /// The element type, if the text says one.
    pub element: Option<ElementType>,
    /// XLA's number of the memory space; 0 by default.
    pub memory_space: u8,
    /// The places of the elements.
    pub description: Description,
    /// The division among devices, if read with a sharding.
    pub(super) sharded: Option<Box<Sharded>>,
}

/// The places of the elements of a tensor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Description {
    /// As a tiled layout.
    Tiled {
        /// The logical sizes.
        sizes: Vec<i64>,
        /// The layout, which is not cut across memories.
        layout: Layout,
    },
    /// As a TensorLayout.
    Parts(Box<Placement>),
    /// As a map, in memory space 0.
    Map(Box<Meaning>),
    /// As a function of the algebra, by bits or with copies on the address, as registers of Triton hold them.
    Function {
        /// The logical sizes.
        sizes: Vec<i64>,
        /// The function, with a mode for each dimension.
        function: Box<LayoutFunction>,
        /// The same as a map; `None` if it has copies on the address.
        map: Option<Box<Meaning>>,
    },
}

impl Description {
    /// A tensor of these sizes with parts `(dimension, weight, part)`, where a step of the part moves by `weight` in
    /// the index of the dimension. Rank 0 is the layout of a scalar.
    ///
    /// # Errors
    /// Elements that share a place, and numbers that do not fit in 64 bits.
    pub(super) fn of_parts(
        sizes: &[i64],
        mut parts: Vec<(usize, i64, Part)>,
        broadcast: Vec<Broadcast>,
    ) -> Result<Description, Error> {
        if sizes.is_empty() && broadcast.is_empty() {
            return Ok(Description::Tiled { sizes: Vec::new(), layout: Layout::row_major(0) });
        }
        parts.sort_by_key(|(dim, weight, _)| (*dim, std::cmp::Reverse(*weight)));
        let mut dims = vec![Vec::new(); sizes.len()];
        parts.into_iter().for_each(|(dim, _, part)| dims[dim].push(part));
        let layout = made(sizes, dims, broadcast);
        let placement = Placement::new(&layout, Some(sizes)).map_err(|misplaced| misplaced.error)?;
        Ok(Description::Parts(Box::new(placement)))
    }

    /// The sizes of the tensor.
    pub fn sizes(&self) -> &[i64] {
        match self {
            Description::Tiled { sizes, .. } | Description::Function { sizes, .. } => sizes,
            Description::Parts(placement) => placement.sizes(),
            Description::Map(meaning) => &meaning.sizes,
        }
    }
}

impl Described {
    /// A layout of unknown element type in memory space 0.
    pub fn new(description: Description) -> Described {
        Described { element: None, memory_space: 0, description, sharded: None }
    }

    /// The place of each element, as a map.
    ///
    /// # Errors
    /// Sizes that do not fit in 64 bits.
    pub fn meaning(&self) -> Result<Meaning, Error> {
        let memory_space = self.memory_space;
        Ok(match &self.description {
            Description::Tiled { sizes, layout } => Meaning::of_tiled(&Expansion::new(sizes, layout)?, memory_space),
            Description::Parts(placement) => Meaning { memory_space, ..Meaning::from(&**placement) },
            Description::Map(meaning) => Meaning { memory_space, ..(**meaning).clone() },
            Description::Function { map: Some(meaning), .. } => Meaning { memory_space, ..(**meaning).clone() },
            Description::Function { function, map: None, .. } => return Err(copies(function)),
        })
    }

    /// The TensorLayout on the sizes with the same places, without a memory space.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn placement(&self) -> Result<Placement, Error> {
        match &self.description {
            Description::Parts(placement) => Ok((**placement).clone()),
            Description::Tiled { sizes, layout } => {
                let parts = to_tensor_layout(&Expansion::new(sizes, layout)?, layout)?;
                Placement::new(&parts, Some(sizes)).map_err(|misplaced| misplaced.error)
            }
            Description::Map(meaning) => placed(meaning),
            Description::Function { map: Some(meaning), .. } => placed(meaning),
            Description::Function { function, map: None, .. } => Err(copies(function)),
        }
    }

    /// The tiled layout with the same places.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn tiled(&self) -> Result<Layout, Error> {
        match &self.description {
            Description::Tiled { layout, .. } => Ok(layout.clone()),
            _ => Ok(Layout { memory_space: self.memory_space, ..to_tiled(&self.placement()?)? }),
        }
    }
}

/// The error for a layout with copies on the address.
fn copies(function: &LayoutFunction) -> Error {
    let each: i64 = function.copies().iter().map(|digit| digit.extent).product();
    let message = format!(
        "each element has {each} copies, of which some are in registers of one thread; only `algebra` has these"
    );
    Error::new(message).unsupported()
}

/// The TensorLayout of a map.
fn placed(meaning: &Meaning) -> Result<Placement, Error> {
    let place = |index: &[i64]| meaning.map.evaluate(index).ok().flatten();
    let first = place(&vec![0; meaning.sizes.len()]).filter(|_| !meaning.sizes.is_empty());
    let first = first.ok_or_else(|| Error::new("a TensorLayout must have at least one element, found none"))?;
    if let Some(k) = first.iter().position(|coordinate| *coordinate != 0) {
        let axis = meaning.axes.get(k).map_or(ADDRESS, String::as_str);
        return Err(Error::new(format!(
            "the first element must be at 0 along {axis}, found it at {}; layouts have no offset",
            first[k]
        ))
        .unsupported());
    }
    let parts = |dim: usize| {
        let found = digits(&meaning.sizes, dim, &meaning.axes, &place);
        found.ok_or_else(|| {
            Error::new(format!("the places along dimension {dim} have no digits, as under a swizzle")).unsupported()
        })
    };
    let dims = (0..meaning.sizes.len()).map(parts).collect::<Result<Vec<_>, Error>>()?;
    let broadcast = meaning.axes.iter().zip(&meaning.copies).flat_map(|(axis, copies)| copied(axis, copies)).collect();
    let layout: TensorLayout = made(&meaning.sizes, dims, broadcast);
    let placement =
        Placement::new(&layout, Some(&meaning.sizes)).map_err(|misplaced| unlike(meaning, misplaced.error))?;
    match Meaning::from(&placement).compare(&Meaning { memory_space: 0, ..meaning.clone() }) {
        Equality::Equal => Ok(placement),
        Equality::Different { witness: Some(index), .. } => {
            Err(Error::new(format!("the places have no digits that reach element {index:?}, as under a swizzle"))
                .unsupported())
        }
        Equality::Different { reason, .. } | Equality::Unknown { reason } => Err(Error::new(reason)),
    }
}

/// The error for a map whose digits along each dimension do not add up to the whole.
fn unlike(meaning: &Meaning, error: Error) -> Error {
    match meaning.sizes.len() {
        1 => error,
        _ => Error::new("the places are no sum over the dimensions, as under a swizzle").unsupported(),
    }
}

fn copied(axis: &str, copies: &Copies) -> Vec<Broadcast> {
    match copies {
        Copies::All => vec![Broadcast::Axis(axis.to_string())],
        Copies::Steps(steps) => {
            let part = |&(extent, stride): &(i64, i64)| Broadcast::Part {
                extent,
                axis: axis.to_string(),
                stride: Some(stride),
            };
            steps.iter().map(part).collect()
        }
    }
}
