//! Plots as SVG: the only place that knows the plotting library.

mod curve;
pub(crate) mod curves;
mod readings;
mod svg;

use anqi_experiment::{Content, Figure, FigureLine, Number};
use anqi_stats::Estimate;
use kuva::plot::{BarPlot, ForestPlot, Histogram, LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use crate::board::board;
use crate::sets::SetsPicture;

const INK: &str = "#3b6ea5";
const WIDTH: f64 = 520.0;
/// Axis, its numbers and its label.
const FRAME: f64 = 70.0;

/// Colours that are told apart by most eyes (Okabe & Ito 2008), after black.
const INKS: [&str; 8] = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933"];

/// A figure of an experiment: measured lines with intervals, printed ones dashed; boards.
pub(crate) fn figure(figure: &Figure) -> String {
    match &figure.content {
        Content::Board(position) => board(position),
        Content::Fit(fit) => readings::draw(fit),
        Content::Curve(curve) => curve::draw(curve),
        Content::Dots { board, sets, rows } => {
            SetsPicture { board: board.clone(), sets: *sets, classes: rows.len(), rows: rows.clone() }.to_svg()
        }
        Content::Lines(axis, lines) => draw_lines(axis, figure.measure, lines),
        Content::Rows(rows) => {
            let whose = |name: &str, who: &str, number: &Option<Number>| {
                number.filter(|number| number.value.is_finite()).map(|Number { value, error, .. }| {
                    let margin = Number::new(value, error).margin();
                    (format!("{name}{who}"), Estimate { value, low: value - margin, high: value + margin })
                })
            };
            let both = |(name, printed, measured): &(String, Option<Number>, Option<Number>)| {
                let who = if printed.is_some() { ", measured" } else { "" };
                [whose(name, ", printed", printed), whose(name, who, measured)]
            };
            let rows: Vec<_> = rows.iter().flat_map(both).flatten().collect();
            let neutral = if figure.measure == "score" { 0.5 } else { 0.0 };
            intervals(figure.measure, neutral, &rows)
        }
    }
}

fn draw_lines(x: &str, y: &str, lines: &[FigureLine]) -> String {
    let mut plots = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        // Black comes last: no line here is more than the others.
        let ink = INKS[(place + 1) % 7];
        let data = |points: &[(f64, Number)]| points.iter().map(|(x, y)| (*x, y.value)).collect::<Vec<_>>();
        let plot = |points: &[(f64, Number)]| LinePlot::new().with_data(data(points)).with_color(ink);
        // A figure may have one line that needs no name.
        let name = |who: &str| if line.name.is_empty() { who.to_owned() } else { line.name.clone() };
        let printed = if line.name.is_empty() { "printed".to_owned() } else { format!("{}, printed", line.name) };
        if !line.measured.is_empty() {
            let margins: Vec<f64> = line.measured.iter().map(|(_, number)| number.margin()).collect();
            let dots = ScatterPlot::new().with_data(data(&line.measured)).with_color(ink).with_size(3.0);
            plots.push(Plot::from(plot(&line.measured).with_y_err(margins).with_legend(name("measured"))));
            plots.push(Plot::from(dots));
        }
        if !line.printed.is_empty() {
            plots.push(Plot::from(plot(&line.printed).with_dashed().with_legend(printed)));
        }
    }
    if plots.is_empty() {
        return String::new();
    }
    let layout = Layout::auto_from_plots(&plots).with_width(1.3 * WIDTH).with_height(0.8 * WIDTH);
    let values = lines.iter().flat_map(|line| line.measured.iter().chain(&line.printed));
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
    let layout = layout.with_x_label(x).with_y_label(y);
    // Sizes that double want a scale that does.
    let layout = if low > 0.0 && high / low > 8.0 { layout.with_log_x() } else { layout };
    kuva::render_to_svg(plots, layout)
}

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
