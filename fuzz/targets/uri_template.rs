//! See `toolbay_fuzz::uri_template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolbay_fuzz::uri_template(data));
