//! Large texts of one shape.
