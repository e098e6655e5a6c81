//! Counts of elements and bytes, exact or bounded.

/// An exact number, or its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The lower bound.
    pub least: u128,
    /// The upper bound; `None` if there is none.
    pub most: Option<u128>,
}

/// The use of a tensor when all results computed from it are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The elements of the tensor.
    pub size: u128,
    /// The number of elements read.
    pub elements: Count,
    /// The number of reads: one for each point of each map.
    pub reads: Count,
}

/// Bytes to and from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes of the elements read, each counted at least once.
    pub read: Count,
    /// Bytes written.
    pub written: Count,
}

impl Count {
    /// An exact count.
    pub fn exactly(n: u128) -> Count {
        Count { least: n, most: Some(n) }
    }

    pub(super) fn between(least: u128, most: u128) -> Count {
        Count { least, most: Some(most) }
    }

    /// The number, if it is exact.
    pub fn exact(self) -> Option<u128> {
        self.most.filter(|most| *most == self.least)
    }

    pub(super) fn plus(self, other: Count) -> Count {
        let most = self.most.zip(other.most).and_then(|(a, b)| a.checked_add(b));
        Count { least: self.least.saturating_add(other.least), most }
    }

    pub(super) fn times(self, other: Count) -> Count {
        let most = self.most.zip(other.most).and_then(|(a, b)| a.checked_mul(b));
        Count { least: self.least.saturating_mul(other.least), most }
    }

    pub(super) fn at_most(self, n: u128) -> Count {
        Count::between(self.least.min(n), self.most.map_or(n, |most| most.min(n)))
    }
}

impl Usage {
    /// The share of the tensor that is read, if known; 1 for a tensor without elements.
    pub fn share(&self) -> Option<f64> {
        let elements = self.elements.exact()?;
        Some(if self.size == 0 { 1.0 } else { elements as f64 / self.size as f64 })
    }

    /// The average number of reads of an element that is read.
    pub fn reads_per_element(&self) -> Option<f64> {
        let (reads, elements) = (self.reads.exact()?, self.elements.exact()?);
        (elements != 0).then(|| reads as f64 / elements as f64)
    }
}
