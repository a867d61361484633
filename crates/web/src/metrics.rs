//! Numbers for the operator, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::wire::{self, RefusalKind};

/// The bounds of a histogram, in milliseconds.
const BOUNDS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000];

/// How often something took how long.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Histogram {
    pub(crate) fn add(&self, took: Duration) {
        let place = BOUNDS.iter().position(|&bound| took <= Duration::from_millis(bound)).unwrap_or(BOUNDS.len());
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

/// What is counted as it happens.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) games_begun: AtomicU64,
    pub(crate) plies: AtomicU64,
    pub(crate) messages: AtomicU64,
    pub(crate) throttled: AtomicU64,
    pub(crate) sync_failures: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    pub(crate) shed: AtomicU64,
    pub(crate) too_slow: AtomicU64,
    /// By kind, as the kinds are met.
    refusals: Mutex<BTreeMap<String, u64>>,
    pub(crate) answers: Histogram,
}

/// Counts one more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Metrics {
    /// A request was refused for this reason.
    pub(crate) fn refused(&self, kind: RefusalKind) {
        let kind = wire::text(&kind).trim_matches('"').to_owned();
        *self.refusals.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
    }

    pub(crate) fn refusals(&self) -> Vec<(String, u64)> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.iter().map(|(kind, number)| (kind.clone(), *number)).collect()
    }
}

/// A document in the text format of Prometheus, version 0.0.4.
#[derive(Default)]
pub(crate) struct Exposition(String);

impl Exposition {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text cannot fail.
        let _ = write!(self.0, "# HELP anqi_{name} {help}\n# TYPE anqi_{name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "anqi_{name}{labels} {value}");
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, "gauge", help);
        self.line(name, "", value);
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str, counter: &AtomicU64) {
        self.head(name, "counter", help);
        self.line(name, "", counter.load(Ordering::Relaxed));
    }

    /// A family with one label.
    pub(crate) fn family<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (impl Display, V)>,
    ) {
        self.head(name, kind, help);
        for (of, value) in values {
            self.line(name, &format!("{{{label}=\"{of}\"}}"), value);
        }
    }

    /// Histograms with one label.
    pub(crate) fn histograms<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        histograms: impl IntoIterator<Item = (&'a str, &'a Histogram)>,
    ) {
        self.head(name, "histogram", help);
        for (of, histogram) in histograms {
            let mut sum = 0;
            for (place, count) in histogram.counts.iter().enumerate() {
                sum += count.load(Ordering::Relaxed);
                let bound = BOUNDS.get(place).map_or("+Inf".to_owned(), |&bound| (bound as f64 / 1000.0).to_string());
                self.line(&format!("{name}_bucket"), &format!("{{{label}=\"{of}\",le=\"{bound}\"}}"), sum);
            }
            let seconds = histogram.micros.load(Ordering::Relaxed) as f64 / 1e6;
            self.line(&format!("{name}_sum"), &format!("{{{label}=\"{of}\"}}"), seconds);
            self.line(&format!("{name}_count"), &format!("{{{label}=\"{of}\"}}"), sum);
        }
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// The memory of this process, in bytes, where the system tells it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_up() {
        let histogram = Histogram::default();
        for millis in [0, 1, 3, 700, 60_000] {
            histogram.add(Duration::from_millis(millis));
        }
        let mut page = Exposition::default();
        page.histograms("wait_seconds", "Help.", "class", [("move", &histogram)]);
        let text = page.finish();
        for line in [
            "# TYPE anqi_wait_seconds histogram",
            "anqi_wait_seconds_bucket{class=\"move\",le=\"0.001\"} 2",
            "anqi_wait_seconds_bucket{class=\"move\",le=\"0.005\"} 3",
            "anqi_wait_seconds_bucket{class=\"move\",le=\"1\"} 4",
            "anqi_wait_seconds_bucket{class=\"move\",le=\"+Inf\"} 5",
            "anqi_wait_seconds_sum{class=\"move\"} 60.704",
            "anqi_wait_seconds_count{class=\"move\"} 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
