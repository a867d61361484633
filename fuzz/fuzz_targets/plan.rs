//! Plans of matches and tournaments print as ones that read the same, and so do lines of a suite of perft counts.
#![no_main]

use anqi_lab::Plan;
use anqi_rules::{PerftCase, Rules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(plan) = text.parse::<Plan>() {
        assert_eq!(plan.to_string().parse::<Plan>().ok(), Some(plan));
    }
    for line in text.lines() {
        let _ = PerftCase::parse(line, &Rules::default());
    }
});
