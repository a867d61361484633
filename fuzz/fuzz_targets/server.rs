//! The match server's format: what can be read is written so that it reads the same, and replays.
#![no_main]

use anqi_records::{Format, Reader, Writer, replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for entry in Reader::with_format(bytes, Format::Server).flatten() {
        let mut text = Vec::new();
        if Writer::new(&mut text, Format::Server).write(&entry.record).is_ok() {
            let again: Vec<_> = Reader::with_format(&text[..], Format::Server).flatten().collect();
            assert_eq!(again.len(), 1);
            assert_eq!(again[0].record, entry.record);
        }
        let _ = replay(&entry.record, None);
    }
});
