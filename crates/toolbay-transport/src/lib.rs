//! Bytes in and out for the Model Context Protocol: stdio, Streamable HTTP, HTTP+SSE, memory.

pub mod stdio;
