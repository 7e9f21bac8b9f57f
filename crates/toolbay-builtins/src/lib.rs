//! Servers that come with Toolbay: filesystem, time.
