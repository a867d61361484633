//! Plies and moves are read in one spelling only, and print back as they were read.
#![no_main]

use anqi_rules::{Move, Ply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(ply) = text.parse::<Ply>() {
        assert_eq!(ply.to_string(), text);
    }
    if let Ok(mv) = text.parse::<Move>() {
        assert_eq!(mv.to_string(), text);
    }
});
