//! What only a file has.
