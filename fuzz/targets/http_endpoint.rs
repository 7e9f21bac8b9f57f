//! See `toolbay_fuzz::http_endpoint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::http_endpoint(data));
