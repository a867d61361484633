//! The UCI dialect: lines that can be read print as ones that read the same.
#![no_main]

use anqi_protocol::uci::{UciCommand, UciReply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(value) = text.parse::<UciCommand>() {
        assert_eq!(value.to_string().parse::<UciCommand>().ok(), Some(value));
    }
    if let Ok(value) = text.parse::<UciReply>() {
        assert_eq!(value.to_string().parse::<UciReply>().ok(), Some(value));
    }
});
