//! The grid of processes: the axis `Process` of the machine, cut where layouts cut it.
//!
//! On 8 processes `((2_Process:4, 512:128), (4_Process:1, 128:1))` and `((8_Process, 128:512), (512:1))` cut the axis
//! only at 4: the grid is 2 × 4, the axis with the larger stride first, so that the linear index of a process is its
//! rank. The first layout has a digit of dimension 0 on axis 0 and one of dimension 1 on axis 1; the second one has
//! digits of dimension 0 on both, with weights 512 and 128.

use crate::distribute::PROCESS;
use tensor_layout::places::Placement;

/// A digit of the index along a dimension, `index floordiv weight mod extent`, that selects the process of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessDigit {
    /// The dimension.
    pub dim: usize,
    /// The elements of a step.
    pub weight: i64,
    /// The number of steps.
    pub extent: i64,
}

/// For each axis of the grid, a tensor's digit; `None` stands for copies.
pub type Digits = Vec<Option<ProcessDigit>>;

/// The axes of the grid, the most significant first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of processes along each axis.
    pub extents: Vec<i64>,
    /// The rank stride of each axis.
    pub strides: Vec<i64>,
}

impl Grid {
    /// The grid of `processes`, cut at these strides.
    ///
    /// # Errors
    /// Two strides, neither of which divides the other, or one that does not divide the number of processes.
    pub fn new(processes: i64, cuts: &[i64]) -> Result<Grid, String> {
        let mut bounds: Vec<i64> = cuts.iter().copied().filter(|cut| *cut > 1 && *cut < processes).collect();
        bounds.extend([1, processes]);
        bounds.sort_unstable();
        bounds.dedup();
        if let Some(pair) = bounds.windows(2).find(|pair| pair[1] % pair[0] != 0) {
            let [a, b] = pair else { unreachable!("windows of two") };
            return Err(match *b == processes {
                true => format!(
                    "the layouts cut the {processes} processes into groups of {a}: the size of a group must divide their number"
                ),
                false => format!(
                    "the layouts cut the {processes} processes into groups of {a} and of {b}: one of the two must divide the \
                     other"
                ),
            });
        }
        let (mut extents, mut strides) = (Vec::new(), Vec::new());
        for pair in bounds.windows(2).rev() {
            extents.push(pair[1] / pair[0]);
            strides.push(pair[0]);
        }
        if extents.is_empty() {
            (extents, strides) = (vec![1], vec![1]);
        }
        Ok(Grid { extents, strides })
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of processes.
    pub fn processes(&self) -> i64 {
        self.extents.iter().product()
    }

    /// The number of processes along some of the axes.
    pub fn along(&self, axes: &[usize]) -> i64 {
        axes.iter().map(|axis| self.extents[*axis]).product()
    }

    /// The axes between two strides, the most significant first; `None` if the grid is not cut there.
    pub fn between(&self, stride: i64, extent: i64) -> Option<Vec<usize>> {
        let end = stride.checked_mul(extent)?;
        let inside = |axis: &usize| self.strides[*axis] >= stride && self.strides[*axis] < end;
        let axes: Vec<usize> = (0..self.rank()).filter(inside).collect();
        let (first, last) = (*axes.first()?, *axes.last()?);
        (self.strides[last] == stride && self.strides[first] * self.extents[first] == end).then_some(axes)
    }

    /// The strides at which a placement cuts the processes.
    pub fn cuts(placement: &Placement) -> Vec<i64> {
        let along = on_processes(placement);
        along.into_iter().flat_map(|part| [part.stride, part.stride.saturating_mul(part.extent)]).collect()
    }

    /// The digits of a placement on the axes of this grid.
    ///
    /// # Errors
    /// Processes without any part, and a size that is not divided evenly.
    pub fn digits(&self, placement: &Placement) -> Result<Digits, String> {
        let (processes, mut digits) = (self.processes(), vec![None; self.rank()]);
        let Some(axis) = placement.axes().iter().position(|name| name == PROCESS) else { return Ok(digits) };
        if placement.copies(axis) == tensor_layout::places::Copies::All {
            return Ok(digits);
        }
        let along = on_processes(placement);
        let reached = along.iter().fold(1i64, |n, part| n.saturating_mul(part.extent));
        if reached != processes {
            return Err(format!(
                "{} is at {reached} of {processes} processes: each must have a part of it, or a copy, as with `B@[{}_{PROCESS}:..]`",
                placement.layout(),
                processes / reached.max(1)
            ));
        }
        for ProcessPart { dim, extent, weight, stride } in along {
            let axes = self
                .between(stride, extent)
                .ok_or_else(|| format!("the grid has no axes for {}", placement.layout()))?;
            for axis in axes {
                let weight = weight.checked_mul(self.strides[axis] / stride);
                let weight = weight.ok_or("a stride does not fit in 64 bits")?;
                digits[axis] = dim.map(|dim| ProcessDigit { dim, weight, extent: self.extents[axis] });
            }
        }
        for (dim, size) in placement.sizes().iter().enumerate() {
            check_size(dim, *size, &digits)?;
        }
        Ok(digits)
    }
}

/// A digit of a layout along the processes, of a dimension or of copies.
struct ProcessPart {
    dim: Option<usize>,
    extent: i64,
    weight: i64,
    stride: i64,
}

fn on_processes(placement: &Placement) -> Vec<ProcessPart> {
    let Some(axis) = placement.axes().iter().position(|name| name == PROCESS) else { return Vec::new() };
    let on_axis = placement.digits().iter().filter(|digit| digit.axis == axis && digit.extent > 1);
    on_axis
        .map(|digit| ProcessPart { dim: digit.dim, extent: digit.extent, weight: digit.weight, stride: digit.stride })
        .collect()
}

/// Checks that all processes have the same number of indices of a dimension.
fn check_size(dim: usize, size: i64, digits: &Digits) -> Result<(), String> {
    let of_dim = || digits.iter().flatten().filter(|digit| digit.dim == dim);
    let Some(top) = of_dim().max_by_key(|digit| digit.weight) else { return Ok(()) };
    let whole = top.weight.checked_mul(top.extent).ok_or("a size does not fit in 64 bits")?;
    if size % whole == 0 {
        return Ok(());
    }
    let parts: i64 = of_dim().map(|digit| digit.extent).product();
    Err(format!(
        "{parts} processes cannot have equal parts of dimension {dim}: its size must be a multiple of {whole}, found {size}"
    ))
}

/// The sizes of one process's part.
pub fn local_sizes(sizes: &[i64], digits: &Digits) -> Vec<i64> {
    let parts =
        |dim| digits.iter().flatten().filter(|digit| digit.dim == dim).map(|digit| digit.extent).product::<i64>();
    sizes.iter().enumerate().map(|(dim, size)| size / parts(dim)).collect()
}

/// The weight of a digit in one process's part: divided by the extents of lower digits of the same dimension.
pub fn local_weight(digit: &ProcessDigit, digits: &Digits) -> i64 {
    let below = digits.iter().flatten().filter(|other| other.dim == digit.dim && other.weight < digit.weight);
    digit.weight / below.map(|other| other.extent).product::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(grid: &Grid, layout: &str) -> Result<Digits, String> {
        grid.digits(&Placement::parse(layout).unwrap())
    }

    #[test]
    fn a_grid_is_cut_where_layouts_cut_it() {
        let layouts =
            ["((2_Process:4, 4:1), (4_Process:1, 2:4))", "((8_Process), (8:1))"].map(|l| Placement::parse(l).unwrap());
        let grid = Grid::new(8, &layouts.iter().flat_map(Grid::cuts).collect::<Vec<_>>()).unwrap();
        assert_eq!((&*grid.extents, &*grid.strides), (&[2, 4][..], &[4, 1][..]));
        assert_eq!(grid.between(1, 8), Some(vec![0, 1]));
        assert_eq!(grid.between(2, 2), None);
        let two = |weight| [Some(ProcessDigit { dim: 0, weight, extent: 2 }), None];
        assert_eq!(digits(&grid, "((2_Process:4, 4:1), (8:4); B@[4_Process:1])").unwrap(), two(4));
        assert_eq!(Grid::new(1, &[]).unwrap().extents, [1]);
        assert!(Grid::new(12, &[2, 3]).unwrap_err().contains("groups of 2 and of 3"));
        assert!(Grid::new(12, &[5]).unwrap_err().contains("groups of 5"));
    }

    #[test]
    fn processes_have_equal_parts() {
        let grid = Grid::new(4, &[]).unwrap();
        assert!(digits(&grid, "((2_Process, 4:1))").unwrap_err().contains("at 2 of 4 processes"));
        assert!(digits(&grid, "(10)/((4_Process, 3:1))").unwrap_err().contains("must be a multiple of 12, found 10"));
        let cyclic = digits(&grid, "((3:1, 4_Process))").unwrap();
        assert_eq!((local_sizes(&[12], &cyclic), cyclic[0].unwrap().weight), (vec![3], 1));
    }

    #[test]
    fn weights_inside_of_a_process() {
        let grid = Grid::new(4, &[2]).unwrap();
        let nested = digits(&grid, "((2_Process:2, 3:2, 2_Process:1, 2:1))").unwrap();
        let weights: Vec<_> =
            nested.iter().flatten().map(|digit| (digit.weight, local_weight(digit, &nested))).collect();
        assert_eq!(weights, [(12, 6), (2, 2)]);
        assert_eq!(local_sizes(&[24], &nested), [6]);
    }
}
