//! How many elements and bytes: numbers that are known, or only bounded.

/// A number that is known, or between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least as many.
    pub least: u128,
    /// At most as many; `None` where there is no bound.
    pub most: Option<u128>,
}

/// How much of a tensor is read when everything that is made of it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The elements of the tensor.
    pub size: u128,
    /// How many of them are read.
    pub elements: Count,
    /// How often elements are read: once for each point of each map.
    pub reads: Count,
}

/// Bytes to and from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes of elements that are read, each at least once.
    pub read: Count,
    /// Bytes that are written.
    pub written: Count,
}

impl Count {
    /// A number that is known.
    pub fn exactly(n: u128) -> Count {
        Count { least: n, most: Some(n) }
    }

    pub(super) fn between(least: u128, most: u128) -> Count {
        Count { least, most: Some(most) }
    }

    /// The number, where it is known.
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
    /// Which share of the tensor is read, where this is known; all of a tensor without elements.
    pub fn share(&self) -> Option<f64> {
        let elements = self.elements.exact()?;
        Some(if self.size == 0 { 1.0 } else { elements as f64 / self.size as f64 })
    }

    /// How often an element that is read is read, on average.
    pub fn reads_per_element(&self) -> Option<f64> {
        let (reads, elements) = (self.reads.exact()?, self.elements.exact()?);
        (elements != 0).then(|| reads as f64 / elements as f64)
    }
}
