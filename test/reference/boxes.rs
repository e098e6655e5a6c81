//! Boxes of indices, in row-major order: the last dimension is fastest.

/// Every index of a box of these sizes.
pub fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        all = all.iter().flat_map(|index| (0..size).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    all
}

/// The number of an index.
pub fn position(index: &[i64], sizes: &[i64]) -> usize {
    sizes.iter().zip(index).fold(0, |at, (size, i)| at * *size as usize + *i as usize)
}

/// The index of a number.
pub fn index_at(position: usize, sizes: &[i64]) -> Vec<i64> {
    let mut rest = position as i64;
    let mut index = vec![0; sizes.len()];
    for (i, size) in index.iter_mut().zip(sizes).rev() {
        *i = rest % size;
        rest /= size;
    }
    index
}

/// Whether an index is one of the box.
pub fn is_inside(index: &[i64], sizes: &[i64]) -> bool {
    index.iter().zip(sizes).all(|(i, size)| (0..*size).contains(i))
}

/// The sums of a number and a multiple of each stride, below its extent.
pub fn steps(first: i64, parts: &[(i64, i64)]) -> Vec<i64> {
    let extents: Vec<i64> = parts.iter().map(|part| part.0).collect();
    let sum = |index: Vec<i64>| first + index.iter().zip(parts).map(|(i, part)| i * part.1).sum::<i64>();
    indices(&extents).into_iter().map(sum).collect()
}
