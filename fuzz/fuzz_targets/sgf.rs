//! SGF: any bytes are read to their end; what can be read is written so that it reads the same.
#![no_main]

use anqi_games::{GameFormat, GameReader, write_record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for entry in GameReader::new(bytes, GameFormat::Sgf).flatten() {
        let Ok(record) = entry.record else { continue };
        let mut text = Vec::new();
        if write_record(&mut text, &record).is_ok() {
            let again: Vec<_> = GameReader::new(&text[..], GameFormat::Sgf).flatten().collect();
            assert_eq!(again.len(), 1);
            let again = again[0].record.as_ref().expect("what was written is read");
            assert_eq!((&again.moves, again.outcome), (&record.moves, record.outcome));
        }
    }
});
