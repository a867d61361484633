//! Claims judged by numbers.
//!
//! A claim is *confirmed* if the whole 95 % interval of what it compares is on its side, *refuted* if the whole interval is
//! on the other side, and *open* otherwise. "The best" is confirmed if it is above each of the others in this sense, and
//! refuted if one of them is above it, at a level divided by their number, since there are many that might by chance.
//!
//! Among many claims some come out on a side by chance. [`after_holm`] judges them together, so that the chance of any such
//! verdict is at most 5 %.

use std::fmt;

use anqi_stats::holm;
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
    /// The numbers describe something else than the claim.
    NotComparable,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Judgement::Confirmed => "confirmed",
            Judgement::Refuted => "refuted",
            Judgement::Open => "open",
            Judgement::NotMeasured => "not measured",
            Judgement::NotComparable => "not comparable",
        })
    }
}

/// A judgement and the numbers that it rests on, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// What the numbers say.
    pub judgement: Judgement,
    /// The numbers; a dash if there are none.
    pub reason: String,
    /// What a joint judgement of many claims needs; none if there is nothing to judge.
    pub evidence: Option<Evidence>,
}

/// The number that decides a claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evidence {
    /// What is compared.
    pub number: Number,
    /// With which number.
    pub than: f64,
    /// How often chance alone gives a number as far from it on either side.
    pub p: f64,
    /// The judgement if that is rare, and if it is not.
    pub judgements: [Judgement; 2],
}

impl Evidence {
    /// `by` is the difference; `than` what it is a difference to. On the side of a positive difference the claim holds.
    fn one_sided(by: Number, than: f64, sign: f64) -> Evidence {
        let rare = if sign * by.value > 0.0 { Judgement::Confirmed } else { Judgement::Refuted };
        Evidence::new(by, than, [rare, Judgement::Open])
    }

    fn new(by: Number, than: f64, judgements: [Judgement; 2]) -> Evidence {
        // Without an error every difference is certain, and no difference is none.
        let ratio = if by.value == 0.0 { 0.0 } else { by.value.abs() / by.error.max(f64::MIN_POSITIVE) };
        let p = 2.0 * Normal::standard().sf(ratio);
        Evidence { number: Number::new(by.value + than, by.error), than, p, judgements }
    }
}

/// The chance of any wrong judgement among many claims that [`after_holm`] allows.
const LEVEL: f64 = 0.05;

/// What the numbers say about each of many claims if all of them are looked at together, by Holm's method: the chance that
/// any of them is judged confirmed or refuted by chance alone is at most 5 %.
#[must_use]
pub fn after_holm(judged: &[&Judged]) -> Vec<Judgement> {
    let p_values: Vec<f64> = judged.iter().filter_map(|judged| Some(judged.evidence?.p)).collect();
    let mut adjusted = holm(&p_values).into_iter();
    let again = |judged: &&Judged| match judged.evidence {
        None => judged.judgement,
        Some(Evidence { judgements: [rare, usual], .. }) => {
            if adjusted.next().is_some_and(|p| p <= LEVEL) {
                rare
            } else {
                usual
            }
        }
    };
    judged.iter().map(again).collect()
}

impl Claim {
    /// What a table says about it.
    pub(crate) fn judge(&self, facts: &Facts) -> Judged {
        let nothing = Judged { judgement: Judgement::NotMeasured, reason: "–".to_owned(), evidence: None };
        self.judged(facts).unwrap_or(nothing)
    }

    /// What measured numbers say about it, if they can.
    pub(crate) fn judge_measured(&self, facts: &Facts) -> Judged {
        let judged = self.judge(facts);
        match &self.not_comparable {
            None => judged,
            Some(why) => Judged {
                judgement: Judgement::NotComparable,
                reason: format!("{}: {why}", judged.reason),
                evidence: None,
            },
        }
    }

    fn judged(&self, facts: &Facts) -> Option<Judged> {
        let mean = |patterns| facts.mean(self.measure, patterns);
        let to = |of, than: f64| Some(facts.number(&mean(of)?.plus(-1.0, &Sum::constant(than))));
        Some(match &self.form {
            Form::More(more, less) => {
                let [more, less] = [mean(more)?, mean(less)?];
                let by = facts.number(&more.clone().plus(-1.0, &less));
                let reason = format!("{} against {}: {}", plain(facts, &more), plain(facts, &less), signed(by));
                Judged { judgement: side(by), reason, evidence: Some(Evidence::one_sided(by, 0.0, 1.0)) }
            }
            Form::Above(of, than) => {
                let by = to(of, *than)?;
                let evidence = Some(Evidence::one_sided(by, *than, 1.0));
                Judged { judgement: side(by), reason: signed_to(by, *than), evidence }
            }
            Form::Below(of, than) => {
                let by = to(of, *than)?;
                let evidence = Some(Evidence::one_sided(by, *than, -1.0));
                Judged { judgement: side(Number::new(-by.value, by.error)), reason: signed_to(by, *than), evidence }
            }
            Form::Is(of, is) => {
                let by = to(of, *is)?;
                let inside = by.value.abs() <= by.margin();
                let judgement = if inside { Judgement::Confirmed } else { Judgement::Refuted };
                let evidence = Some(Evidence::new(by, *is, [Judgement::Refuted, Judgement::Confirmed]));
                Judged { judgement, reason: signed_to(by, *is), evidence }
            }
            Form::Best(name, among) => self.extreme(facts, name, among, 1.0)?,
            Form::Least(name, among) => self.extreme(facts, name, among, -1.0)?,
        })
    }

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
        let mut evidence = Evidence::one_sided(by, 0.0, sign);
        if least.value < 0.0 {
            // Any of the others might be above by chance.
            evidence.p = (evidence.p * leads.len() as f64).min(1.0);
        }
        let reason = format!("{}; against {rival}: {}", plain(facts, best), signed(by));
        Some(Judged { judgement, reason, evidence: Some(evidence) })
    }
}

/// A p-value as tables show it.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
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
