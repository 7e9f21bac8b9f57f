//! See `toolbay_fuzz::peer_ops`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::peer_ops(data));
