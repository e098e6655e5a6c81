//! The pictures that the page can show: the offsets of a tensor's first tile, and its TensorLayout as a tree.

use crate::report;
use crate::svg;
use serde::Serialize;
use std::collections::BTreeMap;
use tensor_layout::places::{ADDRESS, Placement};

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
    /// Where it can be said as a TensorLayout: its text, and its dimensions.
    pub layout: Option<String>,
    pub dims: Vec<Branch>,
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
            self.all.push(Picture { shape: shape.to_string(), drawing, layout, dims });
            self.all.len() - 1
        });
        self.numbers.insert(shape.to_string(), number);
        number
    }

    pub fn all(self) -> Vec<Picture> {
        self.all
    }
}

fn branches(placement: &Placement) -> Vec<Branch> {
    let sizes = placement.sizes().iter().zip(placement.padded_sizes());
    let branch = |((size, padded), parts): ((&i64, &i64), &Vec<tensor_layout::places::Part>)| Branch {
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
