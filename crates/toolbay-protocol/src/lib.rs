//! The words and rules of the Model Context Protocol: every revision, no IO, no clock, no async.
