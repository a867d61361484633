//! Many claims at once: Holm's step-down method.

/// p-values adjusted for their number, in the order of the originals: rejecting every hypothesis with an adjusted p-value of
/// at most 0.05 rejects a true one with a chance of at most 5 %, however the hypotheses depend on each other.
///
/// S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2), 1979.
///
/// ```
/// // As p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R.
/// let adjusted = anqi_stats::holm(&[0.01, 0.04, 0.03, 0.005]);
/// let expected = [0.03, 0.06, 0.06, 0.02];
/// assert!(adjusted.iter().zip(expected).all(|(p, expected)| (p - expected).abs() < 1e-12));
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    // The smallest counts for all, the next one for all but one, and none counts less than one before it.
    let mut least: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        let others = (p_values.len() - rank) as f64;
        least = least.max((others * p_values[place]).min(1.0));
        adjusted[place] = least;
    }
    adjusted
}
