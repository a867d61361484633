//! Rules that can be read print as rules that read the same.
#![no_main]

use anqi_rules::{Position, Rules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(rules) = text.parse::<Rules>() {
        assert_eq!(rules.to_string().parse(), Ok(rules));
        assert!(Position::initial(&rules).has_moves());
    }
});
