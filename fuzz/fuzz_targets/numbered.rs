//! Protocol A: commands and answers that can be read print as ones that read the same.
#![no_main]

use anqi_protocol::numbered::{Command, Reply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(value) = text.parse::<Command>() {
        assert_eq!(value.to_string().parse::<Command>().ok(), Some(value));
    }
    if let Ok(value) = text.parse::<Reply>() {
        assert_eq!(value.to_string().parse::<Reply>().ok(), Some(value));
    }
});
