//! Protocol A: commands and answers that can be read print as ones that read the same.
#![no_main]

use anqi_protocol::numbered::{NumberedCommand, NumberedReply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(value) = text.parse::<NumberedCommand>() {
        assert_eq!(value.to_string().parse::<NumberedCommand>().ok(), Some(value));
    }
    if let Ok(value) = text.parse::<NumberedReply>() {
        assert_eq!(value.to_string().parse::<NumberedReply>().ok(), Some(value));
    }
});
