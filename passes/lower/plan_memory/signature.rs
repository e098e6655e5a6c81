//! The memory arguments of a function.

/// The memory that a function is given by its callers.
pub struct GivenMemory {
    /// The bytes of each result, one argument for each; `None` for a result that the function allocates.
    pub returned: Vec<Option<i64>>,
    /// The bytes of scratch memory, in the last argument; 0 for no argument.
    pub scratch: i64,
}
