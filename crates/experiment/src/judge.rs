//! Claims judged by numbers.
//!
//! A claim is *confirmed* if the whole 95 % interval of what it compares is on its side, *refuted* if the whole interval is
//! on the other side, and *open* otherwise. "The best" is confirmed if it is above each of the others in this sense, and
//! refuted if one of them is above it, at a level divided by their number, since there are many that might by chance.

use std::fmt;

use statrs::distribution::{ContinuousCDF, Normal};

use crate::facts::{Facts, Pattern, Sum};
use crate::number::{Number, Z};
use crate::outline::{Claim, Form};

/// What numbers say about a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// It holds.
    Confirmed,
    /// The contrary holds.
    Refuted,
    /// Nothing is certain.
    Open,
    /// The numbers are not there.
    NotMeasured,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Judgement::Confirmed => "confirmed",
            Judgement::Refuted => "refuted",
            Judgement::Open => "open",
            Judgement::NotMeasured => "not measured",
        })
    }
}

/// A judgement and the numbers that it rests on, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// What the numbers say.
    pub judgement: Judgement,
    /// The numbers; a dash if there are none.
    pub reason: String,
}

impl Claim {
    /// What a table says about it.
    pub(crate) fn judge(&self, facts: &Facts) -> Judged {
        self.judged(facts).unwrap_or(Judged { judgement: Judgement::NotMeasured, reason: "–".to_owned() })
    }

    fn judged(&self, facts: &Facts) -> Option<Judged> {
        let mean = |patterns| facts.mean(self.measure, patterns);
        Some(match &self.form {
            Form::More(more, less) => {
                let [more, less] = [mean(more)?, mean(less)?];
                let by = facts.number(&more.clone().plus(-1.0, &less));
                let reason = format!("{} against {}: {}", plain(facts, &more), plain(facts, &less), signed(by));
                Judged { judgement: side(by), reason }
            }
            Form::Above(of, than) => {
                let by = facts.number(&mean(of)?.plus(-1.0, &Sum::constant(*than)));
                Judged { judgement: side(by), reason: signed_to(by, *than) }
            }
            Form::Below(of, than) => {
                let by = facts.number(&mean(of)?.plus(-1.0, &Sum::constant(*than)));
                Judged { judgement: side(Number::new(-by.value, by.error)), reason: signed_to(by, *than) }
            }
            Form::Is(of, is) => {
                let by = facts.number(&mean(of)?.plus(-1.0, &Sum::constant(*is)));
                let inside = by.value.abs() <= by.margin();
                let judgement = if inside { Judgement::Confirmed } else { Judgement::Refuted };
                Judged { judgement, reason: signed_to(by, *is) }
            }
            Form::Best(name, among) => self.extreme(facts, name, among, 1.0)?,
            Form::Least(name, among) => self.extreme(facts, name, among, -1.0)?,
        })
    }
}

impl Claim {
    /// One against all others; `sign` is −1 if less is better.
    fn extreme(&self, facts: &Facts, name: &Pattern, among: &[Pattern], sign: f64) -> Option<Judged> {
        let (name, best) = *facts.find(self.measure, std::slice::from_ref(name)).first()?;
        let others = facts.find(self.measure, among).into_iter().filter(|(other, _)| *other != name);
        let lead = |sum: &Sum| facts.number(&Sum::default().plus(sign, best).plus(-sign, sum));
        let leads: Vec<(&str, Number)> = others.map(|(other, sum)| (other, lead(sum))).collect();
        // The one that is hardest to beat, counted in standard errors.
        let ratio = |lead: &Number| lead.value / lead.error.max(f64::MIN_POSITIVE);
        let (rival, least) = *leads.iter().min_by(|a, b| ratio(&a.1).total_cmp(&ratio(&b.1)))?;
        let many = quantile(1.0 - 0.025 / leads.len() as f64);
        let judgement = match least.value {
            lead if lead > Z * least.error => Judgement::Confirmed,
            lead if lead < -many * least.error => Judgement::Refuted,
            _ => Judgement::Open,
        };
        let by = Number::new(sign * least.value, least.error);
        Some(Judged { judgement, reason: format!("{}; against {rival}: {}", plain(facts, best), signed(by)) })
    }
}

/// On which side of nothing a number surely is.
fn side(by: Number) -> Judgement {
    match by.value {
        value if value > by.margin() => Judgement::Confirmed,
        value if value < -by.margin() => Judgement::Refuted,
        _ => Judgement::Open,
    }
}

/// Where the normal distribution has passed a share.
fn quantile(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

fn plain(facts: &Facts, sum: &Sum) -> String {
    digits(facts.number(sum).value)
}

fn signed(number: Number) -> String {
    format!(
        "{}{} ± {}",
        if number.value < 0.0 { "−" } else { "+" },
        digits(number.value.abs()),
        digits(number.margin())
    )
}

fn signed_to(by: Number, than: f64) -> String {
    format!("{} ± {} against {than}", digits(by.value + than), digits(by.margin()))
}

/// As many places as three digits take.
fn digits(value: f64) -> String {
    match value.abs() {
        small if small < 10.0 => format!("{value:.3}"),
        middle if middle < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}
