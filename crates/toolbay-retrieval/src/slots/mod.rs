//! The words of a request, read as arguments: places, routes, dates, what to search for.
//!
//! Not a planner: which tool takes the arguments is somebody else's choice.
