//! See `toolbay_fuzz::conform`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::conform(data));
