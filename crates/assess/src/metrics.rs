//! The numbers of section III of the paper and their modern kin: one name, one line each.

/// A number that says how good a search is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name in tables and files.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Whether more is better; `None` if it is neither.
    pub more_is_better: Option<bool>,
}

macro_rules! metrics {
    ($($place:ident $name:literal $better:expr, $help:literal;)*) => {
        /// All metrics, in the order of tables.
        pub const METRICS: [Metric; [$($name),*].len()] =
            [$(Metric { name: $name, help: $help, more_is_better: $better }),*];

        /// A value for each metric.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(crate) struct Numbers { $(pub(crate) $place: f64,)* }

        impl Numbers {
            pub(crate) const fn list(&self) -> [f64; METRICS.len()] { [$(self.$place),*] }
        }
    };
}

metrics! {
    acc "ACC" Some(true), "share of positions whose winner is predicted";
    fsc "FSC" Some(true), "harmonic mean of precision and recall";
    lft "LFT" Some(true), "precision among the best quarter, as printed";
    lft_table "LFT (tables)" None, "the same divided by TP/total, which is what the paper's tables hold";
    lift "lift" Some(true), "the same divided by the share of wins: the usual definition";
    roc "ROC" Some(true), "area under the ROC curve: how often a won position has a larger value than a lost one";
    apr "APR" Some(true), "mean precision at recalls 0, 0.1, …, 1";
    ap "AP" Some(true), "average precision: mean precision over all wins";
    bep "BEP" Some(true), "precision where it equals recall";
    tau "tau" Some(true), "Kendall's tau as printed, ties counted as concordant: 1 for a constant evaluator";
    tau_table "tau (tables)" Some(true), "the same over pairs with different results, which is what the paper's tables hold";
    tau_b "tau-b" Some(true), "Kendall's tau-b, corrected for ties";
    ev "E(v)" Some(true), "difference between the mean values of won and of lost positions";
    ev_sd "E(v)/sd" Some(true), "the same in standard deviations of the values";
    brier "Brier" Some(false), "mean squared error of the predicted chance";
    reliability "reliability" Some(false), "part of the Brier score: chances that are not what they say";
    resolution "resolution" Some(true), "part of the Brier score: chances that differ from each other";
    uncertainty "uncertainty" None, "part of the Brier score: the variance of the results";
    log_loss "log loss" Some(false), "mean negative logarithm of the chance of what happened";
    ece "ECE" Some(false), "expected calibration error: mean distance of chance and share of wins over ten bins";
}
