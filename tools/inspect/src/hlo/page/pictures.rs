//! The pictures of the page: how full the tiles of a tensor are, its TensorLayout as a tree, and the offsets of its
//! first elements.

use crate::report;
use crate::svg;
use serde::Serialize;
use std::collections::BTreeMap;
use tensor_layout::operations::Shape;
use tensor_layout::places::{ADDRESS, Part, Placement};
use tensor_layout::tiled::TileEntry;

/// The most pictures on a page: each takes about 20 KB.
const PICTURES: usize = 24;

/// The most rows and columns that are drawn: a tile of 8 rows, and the first of its 128 lanes.
const ROWS: i64 = 8;
const COLUMNS: i64 = 16;

/// The pictures of a page, each shape once.
#[derive(Default)]
pub struct Pictures {
    numbers: BTreeMap<String, Option<usize>>,
    all: Vec<Picture>,
}

/// The picture of a shape.
#[derive(Serialize)]
pub struct Picture {
    pub shape: String,
    /// An image in SVG.
    pub drawing: String,
    /// The TensorLayout as text, where the shape has one, and its dimensions.
    pub layout: Option<String>,
    pub dims: Vec<Branch>,
    /// `None` where the layout has no tiles, or tiles that join dimensions.
    pub tile: Option<TileFill>,
}

/// The first tile of a layout, and how full the last one along each dimension is; first down, then across.
#[derive(Serialize)]
pub struct TileFill {
    /// The sizes of a tile, and its dimensions: the second minormost and the minormost.
    pub sizes: [i64; 2],
    pub dims: [Option<usize>; 2],
    /// The number of tiles.
    pub tiles: [i64; 2],
    /// The logical elements in the last tile.
    pub filled: [i64; 2],
    /// The height of its drawing, in pixels.
    pub height: i64,
}

/// A dimension of a TensorLayout.
#[derive(Serialize)]
pub struct Branch {
    pub size: i64,
    pub padded: i64,
    /// The parts, the most significant first.
    pub parts: Vec<Twig>,
}

/// A part of a dimension.
#[derive(Serialize)]
pub struct Twig {
    pub extent: i64,
    pub stride: i64,
    pub axis: String,
}

impl Pictures {
    /// The number of a shape's picture; `None` where it cannot be drawn, and where there are too many.
    pub fn number(&mut self, shape: &str) -> Option<usize> {
        if let Some(known) = self.numbers.get(shape) {
            return *known;
        }
        let room = self.all.len() < PICTURES;
        let drawn = room.then(|| svg::draw_part(shape, [ROWS, COLUMNS]).ok()).flatten();
        let number = drawn.map(|drawing| {
            let placement = report::placement(shape).ok();
            let dims = placement.as_ref().map(branches).unwrap_or_default();
            let layout = placement.map(|placement| placement.layout().to_string());
            let tile = Shape::parse(shape).ok().and_then(|shape| TileFill::of(&shape));
            self.all.push(Picture { shape: shape.to_string(), drawing, layout, dims, tile });
            self.all.len() - 1
        });
        self.numbers.insert(shape.to_string(), number);
        number
    }

    pub fn all(self) -> Vec<Picture> {
        self.all
    }
}

impl TileFill {
    /// The width of the drawing, in pixels, as the template has it.
    const WIDTH: i64 = 512;

    fn of(shape: &Shape) -> Option<TileFill> {
        let (array, sizes) = report::laid_out(shape)?;
        let tile = array.layout.tiles.first().filter(|_| !sizes.contains(&0))?;
        let entry = |from_end: usize| match tile.iter().rev().nth(from_end) {
            Some(TileEntry::Size(size)) => Some(*size),
            Some(TileEntry::Combine) => None,
            None => Some(1),
        };
        if tile.len() > 2 {
            return None;
        }
        let dims = [1, 0].map(|place| array.layout.minor_to_major.get(place).copied());
        let tile = [entry(1)?, entry(0)?];
        let last = |axis: usize| {
            let size = dims[axis].map_or(1, |dim| sizes[dim]);
            let tiles = (size - 1) / tile[axis] + 1;
            (tiles, size - (tiles - 1) * tile[axis])
        };
        let [down, across] = [last(0), last(1)];
        let height = (i128::from(Self::WIDTH) * i128::from(tile[0]) / i128::from(tile[1])).clamp(24, 192);
        Some(TileFill {
            sizes: tile,
            dims,
            tiles: [down.0, across.0],
            filled: [down.1, across.1],
            height: height as i64,
        })
    }
}

fn branches(placement: &Placement) -> Vec<Branch> {
    let sizes = placement.sizes().iter().zip(placement.padded_sizes());
    let branch = |((size, padded), parts): ((&i64, &i64), &Vec<Part>)| Branch {
        size: *size,
        padded: *padded,
        parts: parts
            .iter()
            .map(|part| Twig {
                extent: part.extent,
                stride: part.stride,
                axis: part.axis.clone().unwrap_or_else(|| ADDRESS.to_string()),
            })
            .collect(),
    };
    sizes.zip(&placement.layout().dims).map(branch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tile_is_as_full_as_the_sizes_leave_it() {
        let tile = |text: &str| TileFill::of(&Shape::parse(text).unwrap());
        let of = |text: &str| tile(text).map(|tile| (tile.sizes, tile.dims, tile.tiles, tile.filled)).unwrap();
        let two = [Some(0), Some(1)];
        assert_eq!(of("f32[1000,3]{1,0:T(8,128)}"), ([8, 128], two, [125, 1], [8, 3]));
        assert_eq!(of("f32[9,256]{1,0:T(8,128)}"), ([8, 128], two, [2, 2], [1, 128]));
        assert_eq!(of("bf16[8,7,5,64]{3,0,2,1:T(8,128)(2,1)}"), ([8, 128], [Some(0), Some(3)], [1, 1], [8, 64]));
        assert_eq!(of("f32[300]{0:T(128)}"), ([1, 128], [None, Some(0)], [1, 3], [1, 44]));
        assert_eq!(of("f32[]{:T(128)}"), ([1, 128], [None, None], [1, 1], [1, 1]));
        for text in ["f32[4,4]{1,0}", "f32[4,4]{1,0:T(*,4)}", "f32[0,4]{1,0:T(2,2)}", "f32[2,2,2]{2,1,0:T(2,2,2)}"] {
            assert!(tile(text).is_none(), "{text}");
        }
        let most = of(&format!("s8[{}]{{0:T(128)}}", i64::MAX));
        assert_eq!((most.2, most.3), ([1, i64::MAX / 128 + 1], [1, 127]));
    }

    #[test]
    fn each_shape_has_one_picture_and_there_are_not_too_many() {
        let mut pictures = Pictures::default();
        assert_eq!(
            ["f32[2]{0}", "f32[3]{0}", "f32[2]{0}"].map(|shape| pictures.number(shape)),
            [Some(0), Some(1), Some(0)]
        );
        assert_eq!(["token[]", "f32[6]{0:SC(0:1)}"].map(|shape| pictures.number(shape)), [None, None]);
        let numbers: Vec<_> = (10..60).map(|n| pictures.number(&format!("f32[{n}]{{0}}"))).collect();
        assert_eq!(numbers.iter().flatten().count(), PICTURES - 2);
        assert_eq!(pictures.all().len(), PICTURES);
    }
}
