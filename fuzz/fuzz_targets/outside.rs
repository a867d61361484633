//! Descriptions of outside programs and clocks print as ones that read the same.
#![no_main]

use anqi_protocol::{Clock, OutsideSpec};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(value) = text.parse::<OutsideSpec>() {
        assert_eq!(value.to_string().parse::<OutsideSpec>().ok(), Some(value));
    }
    if let Ok(value) = text.parse::<Clock>() {
        assert_eq!(value.to_string().parse::<Clock>().ok(), Some(value));
    }
});
