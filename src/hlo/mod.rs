//! HLO text, as XLA and JAX dump it.
