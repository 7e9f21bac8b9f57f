//! Every caller to every server through the bay: all pairs of revisions, over memory, with scripted ends.

mod matrix;
mod rooms;
mod script;
