//! Equality of layouts as functions of the index, with the index that shows a difference.

use crate::algebra::bits::Columns;
use crate::algebra::compose::LOOKED_AT;
use crate::algebra::layout::{LayoutFunction, written};
use crate::maps::equal::Equality;

impl LayoutFunction {
    /// Compares the places of all indices. The witness is the first index with other places, in coordinates of this
    /// layout.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// use tensor_layout::maps::Equality;
    /// let [a, b] = ["(2,3):(1,2)", "(3,2):(1,4)"].map(|text| LayoutFunction::parse(text).unwrap());
    /// let Equality::Different { witness, reason } = a.equal(&b) else { panic!("4 elements move") };
    /// assert_eq!((witness, &*reason), (Some(vec![1, 1]), "index 3 is at 3 and 4"));
    /// ```
    pub fn equal(&self, other: &LayoutFunction) -> Equality {
        let different = |witness, reason| Equality::Different { witness, reason };
        if self.size() != other.size() {
            return different(None, format!("the sizes are {} and {}", self.size(), other.size()));
        }
        if self.axes.len() != other.axes.len() || self.axes.iter().any(|axis| !other.axes.contains(axis)) {
            return different(None, format!("the axes are {:?} and {:?}", self.axes, other.axes));
        }
        let (own, theirs) = (self.coalesce(), other.along(&self.axes).coalesce());
        if own.copies != theirs.copies {
            return different(None, "the copies are at other places".to_string());
        }
        if own == theirs {
            return Equality::Equal;
        }
        let unlike = |index: &i64| own.place(*index) != theirs.place(*index);
        let linear = [&own, &theirs].map(Columns::new);
        if let [Some(a), Some(b)] = &linear
            && a.first == b.first
            && a.columns == b.columns
        {
            return Equality::Equal;
        }
        // A difference of two layouts of bits is at a power of two, and one of digits at the weight of a digit.
        let mut weights = vec![0];
        [&own, &theirs].iter().for_each(|side| {
            side.mode.each(1, &mut |weight, digit| {
                weights.extend([weight, weight.saturating_mul(digit.extent)]);
            })
        });
        weights.extend((0..62).map(|bit| 1 << bit));
        weights.retain(|weight| *weight < self.size());
        weights.sort_unstable();
        let near = (0..self.size().min(LOOKED_AT)).find(unlike);
        match near.or_else(|| weights.into_iter().find(unlike)) {
            Some(index) => {
                let [a, b] = [&own, &theirs].map(|side| written(&side.place(index)));
                different(Some(self.coordinates(index)), format!("index {index} is at {a} and {b}"))
            }
            None if self.size() <= LOOKED_AT => Equality::Equal,
            None => Equality::Unknown { reason: format!("no difference among the first {LOOKED_AT} elements") },
        }
    }
}
