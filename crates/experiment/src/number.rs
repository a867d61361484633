//! `Number`: what was measured or printed, with its standard error.

/// Standard errors to either side of a 95 % interval.
pub const Z: f64 = 1.96;

/// A number, its standard error, and the standard deviation of what it is the mean of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// The spread of single observations, where tables print it.
    pub sd: Option<f64>,
}

impl Number {
    /// A number without a spread to show.
    #[must_use]
    pub const fn new(value: f64, error: f64) -> Number {
        Number { value, error, sd: None }
    }

    /// The number after ± in a 95 % interval.
    #[must_use]
    pub fn margin(self) -> f64 {
        Z * self.error
    }

    /// Whether the difference is within the 95 % interval of such a difference.
    #[must_use]
    pub fn agrees(self, other: Number) -> bool {
        (self.value - other.value).abs() <= Z * self.error.hypot(other.error)
    }

    /// How far it is from a printed number, and whether the two agree.
    #[must_use]
    pub fn difference(self, printed: Number, places: usize) -> String {
        let (by, margin) = (self.value - printed.value, Z * self.error.hypot(printed.error));
        let verdict = if self.agrees(printed) { "agrees" } else { "differs" };
        format!("{by:+.places$} ± {margin:.places$}, {verdict}")
    }
}

/// A number with its 95 % interval, and the spread if tables print it; a dash for none.
#[must_use]
pub fn show(number: Option<Number>, places: usize) -> String {
    let Some(Number { value, error, sd }) = number else { return "–".to_owned() };
    let sd = sd.map_or(String::new(), |sd| format!(" ({sd:.2})"));
    format!("{value:.places$} ± {:.places$}{sd}", Z * error)
}
