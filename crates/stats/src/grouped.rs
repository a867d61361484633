//! `Grouped`: large numbers as people read them.

use std::fmt;

/// A whole number with a comma before every three digits.
///
/// ```
/// use anqi_stats::Grouped;
///
/// assert_eq!(Grouped(12_345_678).to_string(), "12,345,678");
/// assert_eq!(format!("{:>8}", Grouped(1000)), "   1,000");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}
