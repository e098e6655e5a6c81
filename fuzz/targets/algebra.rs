//! See `layout_fuzz::CHECKS`.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| layout_fuzz::check("algebra", data));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    layout_fuzz::mutate_in_place("algebra", data, size, most, seed, libfuzzer_sys::fuzzer_mutate)
});
