//! Arrays of numbers, and the collectives on them by their definitions.

/// An array in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub sizes: Vec<usize>,
    pub data: Vec<f64>,
}

/// All indices below some sizes, in row-major order.
pub fn each(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let sizes = sizes.to_vec();
    (0..sizes.iter().product::<usize>()).map(move |mut k| {
        let mut index = vec![0; sizes.len()];
        for (at, size) in index.iter_mut().zip(&sizes).rev() {
            (*at, k) = (k % size, k / size);
        }
        index
    })
}

impl Tensor {
    pub fn build(sizes: &[usize], f: impl FnMut(Vec<usize>) -> f64) -> Tensor {
        Tensor { sizes: sizes.to_vec(), data: each(sizes).map(f).collect() }
    }

    pub fn place(&self, index: &[usize]) -> usize {
        assert!(index.iter().zip(&self.sizes).all(|(at, size)| at < size), "{index:?} of {:?}", self.sizes);
        index.iter().zip(&self.sizes).fold(0, |k, (at, size)| k * size + at)
    }

    pub fn at(&self, index: &[usize]) -> f64 {
        self.data[self.place(index)]
    }

    /// Part `k` of `count` equal parts along a dimension.
    pub fn part(&self, dim: usize, k: usize, count: usize) -> Tensor {
        assert_eq!(self.sizes[dim] % count, 0, "{count} parts of {:?}", self.sizes);
        let mut sizes = self.sizes.clone();
        sizes[dim] /= count;
        let own = sizes[dim];
        Tensor::build(&sizes, |mut index| {
            index[dim] += k * own;
            self.at(&index)
        })
    }
}

/// Tensors concatenated along a dimension.
pub fn joined(parts: &[Tensor], dim: usize) -> Tensor {
    let mut sizes = parts[0].sizes.clone();
    sizes[dim] = parts.iter().map(|part| part.sizes[dim]).sum();
    Tensor::build(&sizes, |mut index| {
        let mut own = 0;
        while index[dim] >= parts[own].sizes[dim] {
            index[dim] -= parts[own].sizes[dim];
            own += 1;
        }
        parts[own].at(&index)
    })
}

/// Tensors reduced element by element.
pub fn combined(parts: &[Tensor], kind: &str) -> Tensor {
    let f = |x: f64, y: f64| match kind {
        "sum" => x + y,
        "product" => x * y,
        "max" => x.max(y),
        "min" => x.min(y),
        "bitwise_and" => ((x as i64) & (y as i64)) as f64,
        "bitwise_or" => ((x as i64) | (y as i64)) as f64,
        "bitwise_xor" => ((x as i64) ^ (y as i64)) as f64,
        other => panic!("the reduction {other} is not evaluated"),
    };
    let data = (0..parts[0].data.len()).map(|k| parts.iter().map(|part| part.data[k]).reduce(f).expect("a part"));
    Tensor { sizes: parts[0].sizes.clone(), data: data.collect() }
}

/// The group of a process: all processes that differ from it only along `axes`, ordered by these axes, the first one
/// most significant.
pub fn group(process: usize, grid: &[usize], axes: &[usize]) -> Vec<usize> {
    let of = coordinates(process, grid);
    each(&axes.iter().map(|axis| grid[*axis]).collect::<Vec<_>>())
        .map(|index| {
            let mut own = of.clone();
            axes.iter().zip(index).for_each(|(axis, at)| own[*axis] = at);
            own.iter().zip(grid).fold(0, |k, (at, size)| k * size + at)
        })
        .collect()
}

/// The coordinates of a process in a grid.
pub fn coordinates(process: usize, grid: &[usize]) -> Vec<usize> {
    each(grid).nth(process).expect("a process of the grid")
}
