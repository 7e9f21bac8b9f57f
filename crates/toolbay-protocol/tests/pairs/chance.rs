//! Chance.
