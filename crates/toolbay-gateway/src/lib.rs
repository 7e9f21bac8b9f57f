//! Many Model Context Protocol servers as one endpoint.
