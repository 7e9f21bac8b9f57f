//! The Model Context Protocol SDK: a server in an afternoon, a client in a line.
