//! The sigmoid of the paper's appendix.

/// `1 / (1 + exp(-x))`, without overflow.
pub(crate) fn chance(x: f64) -> f64 {
    let small = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// The slope `w` for which `chance(w · value)` is most likely to have brought these points (the paper's MLM with one
/// weight). Values that predict everything have no best slope; then it is the one that makes their mean square 100.
pub(crate) fn slope(samples: &(impl Iterator<Item = (f64, f64)> + Clone)) -> f64 {
    let (squares, count) =
        samples.clone().fold((0.0, 0.0_f64), |(squares, count), (value, _)| (squares + value * value, count + 1.0));
    let size = (squares / count.max(1.0)).sqrt();
    if size == 0.0 {
        return 0.0;
    }
    // The likelihood is concave: Newton's steps, halved where they lead too far.
    let most = 10.0 / size;
    let mut slope = 1.0 / size;
    for _ in 0..100 {
        let (first, second) = samples.clone().fold((0.0, 0.0), |(first, second), (value, points)| {
            let chance = chance(slope * value);
            (first + value * (points - chance), second + value * value * chance * (1.0 - chance))
        });
        let step = (first / second).clamp(-1.0 / size, 1.0 / size);
        let next = (slope + step).clamp(-most, most);
        if !next.is_finite() || (next - slope).abs() <= 1e-12 * slope.abs() {
            break;
        }
        slope = next;
    }
    slope
}
