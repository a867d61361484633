//! Values files: any bytes are read to their end; what can be read is written so that it reads the same.
#![no_main]

use anqi_assess::ValuesFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = ValuesFile::read_csv(bytes) else { return };
    let mut text = Vec::new();
    file.samples.write_csv(&mut text).expect("a string takes everything");
    let again = ValuesFile::read_csv(&text[..]).expect("what was written is read");
    assert!(again.skipped.is_empty(), "{}", again.skipped);
    assert_eq!(again.samples, file.samples);
});
