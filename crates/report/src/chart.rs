//! Plots as SVG: the only place that knows the plotting library.

use anqi_stats::Estimate;
use kuva::plot::{BarPlot, ForestPlot, Histogram};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

const INK: &str = "#3b6ea5";
const WIDTH: f64 = 520.0;
/// Axis, its numbers and its label.
const FRAME: f64 = 70.0;

/// One line for each estimate: a point and its interval, against a value that means nothing happened. Estimates that
/// are not finite are left out.
pub(crate) fn intervals(axis: &str, neutral: f64, rows: &[(String, Estimate)]) -> String {
    draw_intervals(neutral, rows, |layout| layout.with_x_label(axis))
}

/// The same for shares of the points, from 0 to 1.
pub(crate) fn shares(rows: &[(String, Estimate)]) -> String {
    let inside = |estimate: &Estimate| estimate.map(|share| share.clamp(0.0, 1.0));
    let rows: Vec<_> = rows.iter().map(|(label, estimate)| (label.clone(), inside(estimate))).collect();
    let axis = |layout: Layout| layout.with_x_label("share of the points").with_x_axis_min(0.0).with_x_axis_max(1.0);
    draw_intervals(0.5, &rows, axis)
}

fn draw_intervals(neutral: f64, rows: &[(String, Estimate)], axis: impl FnOnce(Layout) -> Layout) -> String {
    let rows = rows.iter().filter(|(_, e)| [e.value, e.low, e.high].into_iter().all(f64::is_finite));
    let mut plot = ForestPlot::new().with_color(INK).with_null_value(neutral).with_marker_size(4.0);
    let mut count = 0;
    for (label, estimate) in rows {
        plot = plot.with_row(label, estimate.value, estimate.low, estimate.high);
        count += 1;
    }
    let plot = plot.with_whisker_width(2.0).with_cap_size(4.0);
    draw(Plot::from(plot), count, 26.0, axis)
}

/// One bar for each count, the largest on top.
pub(crate) fn bars(axis: &str, counts: &[(String, u64)]) -> String {
    let mut counts = counts.to_vec();
    // The library begins at the bottom.
    counts.sort_by_key(|(_, count)| *count);
    let labelled = counts.iter().map(|(label, count)| (format!("{label} {count}"), *count as f64));
    let plot = BarPlot::new().with_bars(labelled).with_color(INK).with_horizontal(true);
    draw(Plot::from(plot), counts.len(), 26.0, |layout| layout.with_x_label(axis))
}

/// How often each value came, in at most `bins` bins of whole numbers.
pub(crate) fn histogram(axis: &str, values: &[u64], bins: u64) -> String {
    let (Some(&low), Some(&high)) = (values.iter().min(), values.iter().max()) else { return String::new() };
    let width = ((high - low) / bins + 1).max(1);
    let from = low / width * width;
    let mut counts = vec![0.0; ((high - from) / width + 1) as usize];
    values.iter().for_each(|value| counts[((value - from) / width) as usize] += 1.0);
    let edges = (0..=counts.len() as u64).map(|bin| (from + bin * width) as f64).collect();
    let plot = Histogram::from_bins(edges, counts).with_color(INK);
    draw(Plot::from(plot), 1, 150.0, |layout| layout.with_x_label(axis).with_y_label("games"))
}

fn draw(plot: Plot, rows: usize, row: f64, label: impl FnOnce(Layout) -> Layout) -> String {
    if rows == 0 {
        return String::new();
    }
    let plots = vec![plot];
    let layout = Layout::auto_from_plots(&plots).with_width(WIDTH).with_height(FRAME + rows as f64 * row);
    kuva::render_to_svg(plots, label(layout))
}
