//! `layout-inspect machine`: the text of a machine, and measuring the computer itself.
//!
//! Measured on one core, each the fastest of several runs:
//!
//! - copies of arrays of several sizes, from the first cache to beyond the last: the rates of each memory;
//! - a copy of eight numbers: the cost of starting a kernel;
//! - addition inside the first cache: the cost of an operation for a register of 8 numbers;
//! - transposes of arrays inside the first cache, of the minor dimension and of others;
//! - a product inside the first cache: the cost of a register of one operand times 8 of the other.
//!
//! The loops are plain Rust, so the compiler's code uses registers no wider than the target has.

use crate::stopwatch::Stopwatch;
use layout_console::Complaint;
use std::hint::black_box;
use std::time::Duration;
use tensor_layout::places::{Machine, READY};
use tensor_layout::text::Error;

/// Print the text of a machine, or measure the one that this runs on
#[derive(clap::Args)]
pub struct MachineOptions {
    #[arg(value_name = "MACHINE", help = accepted("The machine"))]
    machine: String,
    /// Measure the costs on this computer; takes a few seconds. The machine's own are not used
    #[arg(long)]
    measure: bool,
}

/// The help of an option that takes a machine: its use, and all names.
pub fn accepted(what: &str) -> String {
    let names: Vec<&str> = READY.iter().map(|(name, _)| *name).collect();
    format!(
        "{what}: {}, or a text such as axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 32",
        names.join(", ")
    )
}

/// Prints the machine's text.
pub fn run(MachineOptions { machine, measure }: &MachineOptions) -> Result<String, Complaint> {
    let found = found(machine, *measure).map_err(|error| Complaint::in_argument(machine, &error))?;
    Ok(format!("{found}\n"))
}

/// The machine of this text, measured if asked.
///
/// # Errors
/// The text is no machine, or not the only one that can be measured, `cpu`.
pub fn found(text: &str, measure: bool) -> Result<Machine, Error> {
    let machine = Machine::parse(text)?;
    match (measure, text) {
        (false, _) => Ok(machine),
        (true, "cpu") => Machine::parse(&measured()).map_err(|error| error.with_offset(None)),
        (true, _) => Err(Error::at(0, format!("only `cpu` can be measured, found `{text}`"))),
    }
}

/// The numbers of 32 bits in a register of the text, whatever the processor has.
const LANES: usize = 8;

/// The memories with the bytes that they hold beside code and other data.
const MEMORIES: [(&str, usize); 4] = [("l1", 24 << 10), ("l2", 512 << 10), ("l3", 8 << 20), ("ram", 128 << 20)];

/// The text of the computer as a machine.
fn measured() -> String {
    let memories = MEMORIES.map(|(name, bytes)| {
        let rate = rate(bytes);
        // The memory beyond the last cache has room for everything.
        let room = if name == "ram" { 1 << 34 } else { bytes as u64 };
        format!("{name}: 0 with {room} bytes reading {rate:.6} writing {rate:.6}")
    });
    let kernel = picoseconds(|| black_box(&mut [0f32; LANES]).copy_from_slice(black_box(&[1f32; LANES])));
    let [copied, sublanes, lanes] = relayouts();
    let beside = |time: f64| (time - copied).max(0.0);
    let added = beside(added());
    format!(
        "axes: (), memories: ({}), word: 32, unit: picosecond, registers: 1x{LANES}, costs: (kernel: {kernel:.0}, \
         computed_tile: {added:.0}, copy: {kernel:.0}, sublane_tile: {:.0}, transpose_window: {kernel:.0}, \
         turned_reading: {:.2}, product: {kernel:.0}, pass: {:.0}, least_passes: 1, scattered_tile: {:.0})",
        memories.join(", "),
        beside(sublanes),
        // The factor by which reading is slower: reading and writing in order each take half of a copy.
        (2.0 * lanes / copied - 1.0).max(1.0),
        pass(),
        lanes,
    )
}

/// The picoseconds of a run: the fastest of several measurements, each of as many runs as take a millisecond.
fn picoseconds(mut run: impl FnMut()) -> f64 {
    let mut runs = 1u32;
    loop {
        let start = Stopwatch::start();
        (0..runs).for_each(|_| run());
        if start.elapsed() >= Duration::from_millis(1) || runs >= 1 << 24 {
            break;
        }
        runs *= 2;
    }
    let one = |_| {
        let start = Stopwatch::start();
        (0..runs).for_each(|_| run());
        start.elapsed().as_nanos() as f64 * 1000.0 / f64::from(runs)
    };
    (0..9).map(one).fold(f64::INFINITY, f64::min)
}

/// The bytes read in a picosecond, and as many written, while `bytes / 2` bytes are copied. Both count as equally
/// fast: together they take as long as the copy.
fn rate(bytes: usize) -> f64 {
    let (from, mut to) = (vec![1f32; bytes / 8], vec![0f32; bytes / 8]);
    bytes as f64 / picoseconds(|| black_box(&mut to).copy_from_slice(black_box(&from)))
}

/// The picoseconds per register of 8 numbers of a copy, of a transpose of dimensions but the minor one, and of a
/// transpose of the minor one.
fn relayouts() -> [f64; 3] {
    const SIDE: usize = 48;
    let tiles = (SIDE * SIDE / LANES) as f64;
    let (from, mut to) = (vec![1f32; SIDE * SIDE], vec![0f32; SIDE * SIDE]);
    let copied = picoseconds(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    let rows = SIDE / LANES;
    let sublanes = picoseconds(|| {
        let (from, to) = (black_box(&from), black_box(&mut to));
        for i in 0..SIDE {
            for j in 0..rows {
                let (a, b) = ((i * rows + j) * LANES, (j * SIDE + i) * LANES);
                to[b..b + LANES].copy_from_slice(&from[a..a + LANES]);
            }
        }
    });
    let lanes = picoseconds(|| {
        let (from, to) = (black_box(&from), black_box(&mut to));
        for i in (0..SIDE).step_by(LANES) {
            for j in (0..SIDE).step_by(LANES) {
                for a in 0..LANES {
                    for b in 0..LANES {
                        to[(j + b) * SIDE + i + a] = from[(i + a) * SIDE + j + b];
                    }
                }
            }
        }
    });
    [copied, sublanes, lanes].map(|time| time / tiles)
}

/// The picoseconds per register of adding a number to each element of an array in place.
fn added() -> f64 {
    const SIZE: usize = 2048;
    let mut x = vec![1f32; SIZE];
    picoseconds(|| black_box(&mut x).iter_mut().for_each(|x| *x += 1.5)) / (SIZE / LANES) as f64
}

/// The picoseconds of a pass: a row of 8 numbers times 8 rows of 8, in a product with operands in the first cache.
fn pass() -> f64 {
    const ROWS: usize = 6;
    const DEPTH: usize = 256;
    let (a, b) = (vec![1f32; ROWS * DEPTH], vec![1f32; DEPTH * 2 * LANES]);
    let time = picoseconds(|| {
        let (a, b) = (black_box(&a), black_box(&b));
        let mut sums = [[0f32; 2 * LANES]; ROWS];
        for (k, b) in b.chunks_exact(2 * LANES).enumerate() {
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = a[k * ROWS + row];
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += factor * b);
            }
        }
        black_box(sums);
    });
    time / (ROWS * DEPTH * 2 / LANES) as f64
}
