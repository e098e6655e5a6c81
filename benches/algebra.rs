//! The speed of the algebra of layouts: nanoseconds of one call of each operation.
//!
//! `cargo bench --bench algebra -- FILE` takes lines as `compose (6,2):(8,2) (4,3):(3,1)` from a file. Without one it takes
//! published examples of CuTe, `benches/algebra.txt`. `benches/algebra.py` measures pycute on the same lines.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tensor_layout::algebra::{LayoutFunction, Tiler};
use tensor_layout::text::Error;

const EXAMPLES: &str = include_str!("algebra.txt");

/// A layout, another one, the tiles of that one, and the size that a complement is within.
struct Operands {
    layout: LayoutFunction,
    other: LayoutFunction,
    tile: Tiler,
    tiles: Tiler,
    size: Option<i64>,
}

type Operation = fn(&Operands) -> Result<LayoutFunction, Error>;

const OPERATIONS: &[(&str, Operation)] = &[
    ("compose", |on| on.layout.compose(&on.other)),
    ("coalesce", |on| Ok(on.layout.coalesce())),
    ("complement", |on| on.layout.complement(on.size)),
    ("right_inverse", |on| on.layout.right_inverse()),
    ("left_inverse", |on| on.layout.left_inverse()),
    ("logical_divide", |on| on.layout.logical_divide(&on.tile)),
    ("logical_product", |on| on.layout.logical_product(&on.tile)),
    ("zipped_divide", |on| on.layout.zipped_divide(&on.tiles)),
    ("tiled_product", |on| on.layout.tiled_product(&on.tile)),
];

impl Operands {
    fn parse(layout: &str, other: &str) -> Operands {
        let [layout, other] =
            [layout, other].map(|text| LayoutFunction::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")));
        let tile = Tiler::Layout(other.clone());
        let tiles = Tiler::Modes(vec![Some(tile.clone())]);
        let size = Some(other.size());
        Operands { layout, other, tile, tiles, size }
    }
}

/// The least seconds of a call in a tenth of a second: of the calls on all operands, and of at least 100.
fn time(operation: Operation, operands: &[Operands]) -> f64 {
    let (begin, calls) = (Instant::now(), operands.len().max(100));
    let mut least = f64::INFINITY;
    while begin.elapsed() < Duration::from_millis(100) {
        let start = Instant::now();
        for on in operands.iter().cycle().take(calls) {
            black_box(operation(black_box(on)).is_ok());
        }
        least = least.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    least
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let text = file.map_or(EXAMPLES.to_string(), |file| std::fs::read_to_string(file).expect("a file of operations"));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    for (name, operation) in OPERATIONS {
        let own = lines.iter().filter(|line| line[0] == *name);
        let operands: Vec<Operands> = own.map(|line| Operands::parse(line[1], line[2])).collect();
        if !operands.is_empty() {
            println!("{name} {:.1}", time(*operation, &operands) * 1e9);
        }
    }
}
