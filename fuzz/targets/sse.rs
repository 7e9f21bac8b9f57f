//! See `toolbay_fuzz::sse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::sse(data));
