//! The endpoint without a socket: requests in, responses out, with a scripted service behind it.

mod asks;
mod changes;
mod crowd;
mod eras;
mod failures;
mod kit;
mod modern;
mod pair;
mod sessions;
mod socket;
mod streams;
