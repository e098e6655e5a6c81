//! MLIR's descriptor of a memref: two pointers, an offset, sizes and strides, each a word of 64 bits.

/// The words of a descriptor, in MLIR's order.
///
/// ```
/// use layout_runtime::Descriptor;
/// let mut numbers = [0f32; 15];
/// let memory = Descriptor::new(numbers.as_mut_ptr() as u64, 0, &[3, 5], &[5, 1]);
/// assert_eq!((memory.sizes(), memory.strides()), (vec![3, 5], vec![5, 1]));
/// assert_eq!(memory.words().len(), 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    words: Vec<u64>,
}

/// The words in front of the sizes.
const HEAD: usize = 3;

impl Descriptor {
    /// The descriptor of memory at an address: its offset, sizes and strides in elements.
    ///
    /// # Panics
    /// The numbers of sizes and strides differ.
    pub fn new(start: u64, offset: i64, sizes: &[i64], strides: &[i64]) -> Descriptor {
        assert_eq!(sizes.len(), strides.len(), "a dimension has a size and a stride");
        let numbers = [&[offset], sizes, strides].concat();
        Descriptor { words: [start, start].into_iter().chain(numbers.into_iter().map(|n| n as u64)).collect() }
    }

    /// Room for the descriptor of a result with this rank.
    pub fn of_rank(rank: usize) -> Descriptor {
        Descriptor { words: vec![0; HEAD + 2 * rank] }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        (self.words.len() - HEAD) / 2
    }

    /// The address for `free`.
    pub fn allocated(&self) -> u64 {
        self.words[0]
    }

    /// The address at offset 0.
    pub fn start(&self) -> u64 {
        self.words[1]
    }

    /// The offset of the first element, in elements.
    pub fn offset(&self) -> i64 {
        self.words[2] as i64
    }

    /// The size of each dimension.
    pub fn sizes(&self) -> Vec<i64> {
        self.words[HEAD..][..self.rank()].iter().map(|word| *word as i64).collect()
    }

    /// The stride of each dimension, in elements.
    pub fn strides(&self) -> Vec<i64> {
        self.words[HEAD + self.rank()..].iter().map(|word| *word as i64).collect()
    }

    /// All words, for callers that call compiled code in another way.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of a result, for compiled code to write.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}
