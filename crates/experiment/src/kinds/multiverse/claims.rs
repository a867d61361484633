//! Claims about printed tables, judged in every reading, and all of them together.

use std::fmt;

use super::fit::PrintedTable;
use super::readings::Reading;
use super::template::Setting;
use crate::facts::Facts;
use crate::kinds::matches::{measured_facts, printed_facts};
use crate::outline::Form;
use crate::{Claim, Evidence, Judged, Judgement, Pattern, after_holm};

/// A claim in all readings.
#[derive(Clone, Debug)]
pub struct StudiedClaim {
    /// The claim.
    pub claim: Claim,
    /// The table that it is about.
    pub table: String,
    /// What printed numbers say.
    pub printed: Judged,
    /// The readings that have the numbers to judge it.
    pub readings: Vec<ClaimInReading>,
}

/// A claim in one reading.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimInReading {
    /// The name of the reading.
    pub reading: String,
    /// Its values.
    pub setting: Setting,
    /// What its numbers say.
    pub judged: Judged,
    /// What they say among all claims in all readings of the study, by Holm's method.
    pub jointly: Judgement,
}

/// In how many readings a claim holds: the words of every report and document.
///
/// ```
/// use anqi_experiment::{Judgement::*, Robustness};
///
/// let robustness = Robustness::of([Confirmed, Confirmed, Open, Refuted, Confirmed]);
/// assert_eq!(robustness.to_string(), "holds in 3 of 5 readings, contrary in 1, open in 1");
/// assert_eq!(Robustness::of([Open]).to_string(), "holds in 0 of 1 readings, contrary in 0, open in 1");
/// assert_eq!(Robustness::of([NotComparable, NotComparable]).to_string(), "not comparable");
/// assert_eq!(Robustness::of([]).to_string(), "not measured");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Robustness {
    /// Readings in which it is confirmed.
    pub holds: usize,
    /// Readings in which the contrary is.
    pub contrary: usize,
    /// Readings in which nothing is certain.
    pub open: usize,
    /// Readings that cannot be compared.
    pub not_comparable: usize,
}

impl Robustness {
    /// Counts judgements, one for each reading.
    #[must_use]
    pub fn of(judgements: impl IntoIterator<Item = Judgement>) -> Robustness {
        let mut counts = Robustness::default();
        for judgement in judgements {
            match judgement {
                Judgement::Confirmed => counts.holds += 1,
                Judgement::Refuted => counts.contrary += 1,
                Judgement::Open => counts.open += 1,
                Judgement::NotComparable => counts.not_comparable += 1,
                Judgement::NotMeasured => {}
            }
        }
        counts
    }
}

impl fmt::Display for Robustness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Robustness { holds, contrary, open, not_comparable } = self;
        match holds + contrary + open {
            0 if *not_comparable > 0 => f.write_str("not comparable"),
            0 => f.write_str("not measured"),
            all => write!(f, "holds in {holds} of {all} readings, contrary in {contrary}, open in {open}"),
        }
    }
}

impl StudiedClaim {
    /// Judges all claims about all tables in all readings.
    pub(super) fn all(tables: &[(PrintedTable, Vec<Claim>)], readings: &[Reading]) -> Vec<StudiedClaim> {
        let mut studied: Vec<StudiedClaim> = Vec::new();
        for (table, claims) in tables {
            let printed = printed_facts(&table.cells);
            let measured: Vec<(&Reading, bool, Facts)> = readings
                .iter()
                .map(|reading| {
                    let whole = table.cells.iter().all(|cell| reading.games(cell).is_some());
                    (reading, whole, measured_facts(&reading.rows_of(&table.cells)))
                })
                .collect();
            for claim in claims {
                let judge = |(reading, whole, facts): &(&Reading, bool, Facts)| {
                    claim.is_measured(&printed, facts, *whole).then(|| {
                        let judged = claim.judge_measured(facts);
                        let (reading, setting) = (reading.name.clone(), reading.setting.clone());
                        ClaimInReading { reading, setting, jointly: judged.judgement, judged }
                    })
                };
                studied.push(StudiedClaim {
                    claim: claim.clone(),
                    table: table.title.clone(),
                    printed: claim.judge(&printed),
                    readings: measured.iter().filter_map(judge).collect(),
                });
            }
        }
        let judged: Vec<&Judged> =
            studied.iter().flat_map(|claim| &claim.readings).map(|reading| &reading.judged).collect();
        let mut jointly = after_holm(&judged).into_iter();
        for reading in studied.iter_mut().flat_map(|claim| &mut claim.readings) {
            if let Some(judgement) = jointly.next() {
                reading.jointly = judgement;
            }
        }
        studied
    }

    /// In how many readings it holds, all claims of the study being looked at together.
    #[must_use]
    pub fn robustness(&self) -> Robustness {
        Robustness::of(self.readings.iter().map(|reading| reading.jointly))
    }

    /// What is drawn of it: each reading with its number.
    pub fn numbers(&self) -> impl Iterator<Item = (&ClaimInReading, Evidence)> {
        self.readings.iter().filter_map(|reading| Some((reading, reading.judged.evidence?)))
    }
}

impl Claim {
    /// Whether a reading has all numbers that the claim is about. Sums over games need the whole table.
    fn is_measured(&self, printed: &Facts, measured: &Facts, whole: bool) -> bool {
        let one = |pattern: &Pattern| {
            let names: Vec<&str> = measured.names(self.measure, pattern);
            let there = printed.names(self.measure, pattern);
            !there.is_empty() && there.iter().all(|name| names.contains(name) && (whole || name.contains(" v ")))
        };
        match &self.form {
            Form::Best(name, among) | Form::Least(name, among) => one(name) && among.iter().all(one),
            Form::More(more, less) => more.iter().chain(less).all(one),
            Form::Above(of, _) | Form::Below(of, _) | Form::Is(of, _) => of.iter().all(one),
        }
    }
}
