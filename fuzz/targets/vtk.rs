#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| topopt_fuzz::read(bytes, "vtk"));
