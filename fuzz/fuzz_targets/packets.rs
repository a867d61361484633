//! Protocol B: packets that can be read print as ones that read the same.
#![no_main]

use anqi_protocol::packets::{FromEngine, FromServer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(value) = text.parse::<FromServer>() {
        assert_eq!(value.to_string().parse::<FromServer>().ok(), Some(value));
    }
    if let Ok(value) = text.parse::<FromEngine>() {
        assert_eq!(value.to_string().parse::<FromEngine>().ok(), Some(value));
    }
});
