//! See `toolbay_fuzz::headers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::headers(data));
