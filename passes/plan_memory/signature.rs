//! What a function is given by its callers.

/// The memory that a function is given by its callers.
pub struct GivenMemory {
    /// The bytes of each result, in one argument each; none for a result that the function allocates.
    pub returned: Vec<Option<i64>>,
    /// The bytes of all others, in the last argument; 0 for no argument.
    pub scratch: i64,
}
