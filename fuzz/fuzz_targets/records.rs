//! Whatever is in a file: every record that can be read is written so that it reads the same, and replays.
#![no_main]

use anqi_records::{Format, Reader, Record, replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for entry in Reader::with_format(bytes, Format::Anqi).flatten() {
        let text = entry.record.to_string();
        assert_eq!(text.parse::<Record>().ok(), Some(entry.record.clone()), "{text}");
        let _ = replay(&entry.record, None);
    }
});
