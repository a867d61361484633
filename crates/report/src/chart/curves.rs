//! Curves of assessments.

use anqi_assess::{Assessment, Curve, CurvePoint, Scale};
use anqi_stats::Estimate;
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::INKS;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 380.0;

/// A line of a plot.
struct PlotLine {
    name: String,
    points: Vec<(f64, f64)>,
    /// Lower and upper ends of the intervals.
    band: Option<Vec<(f64, f64)>>,
}

/// Curves of one search in one picture, with their intervals.
pub(crate) fn curves(assessment: &Assessment, curves: &[&Curve]) -> String {
    let lines = curves.iter().map(|curve| line(curve, curve.name())).collect();
    shares(lines, "value", "share of the points", assessment.scale)
}

/// The total curves of several searches with the same kind of value in one picture.
pub(crate) fn totals(assessments: &[&Assessment]) -> String {
    let Some(scale) = assessments.first().map(|assessment| assessment.scale) else { return String::new() };
    let total = |assessment: &&Assessment| Some(line(assessment.curves.first()?, assessment.name.clone()));
    shares(assessments.iter().filter_map(total).collect(), "value", "share of the points", scale)
}

/// Wins, draws and losses apart.
pub(crate) fn outcomes(assessment: &Assessment) -> String {
    let Some(total) = assessment.curves.first() else { return String::new() };
    let part = |name: &str, part: &dyn Fn(&CurvePoint) -> Estimate| PlotLine {
        name: name.to_owned(),
        points: total.points.iter().map(|point| (point.value, part(point).value)).collect(),
        band: Some(total.points.iter().map(|point| (part(point).low, part(point).high)).collect()),
    };
    let lines =
        vec![part("won", &|point| point.win), part("drawn", &|point| point.draw), part("lost", &|point| point.loss)];
    shares(lines, "value", "share of the positions", assessment.scale)
}

/// The ROC curves of several searches.
pub(crate) fn roc(assessments: &[&Assessment]) -> String {
    let line = |assessment: &&Assessment| PlotLine {
        name: assessment.name.clone(),
        points: [(0.0, 0.0)].into_iter().chain(assessment.roc.iter().copied()).collect(),
        band: None,
    };
    shares(assessments.iter().map(line).collect(), "lost positions above", "won positions above", Scale::Probability)
}

/// The precision-recall curves of several searches.
pub(crate) fn precision_recall(assessments: &[&Assessment]) -> String {
    let line = |assessment: &&Assessment| PlotLine {
        name: assessment.name.clone(),
        points: assessment.precision_recall.clone(),
        band: None,
    };
    shares(assessments.iter().map(line).collect(), "recall", "precision", Scale::Probability)
}

fn line(curve: &Curve, name: String) -> PlotLine {
    PlotLine {
        name,
        points: curve.points.iter().map(|point| (point.value, point.score.value)).collect(),
        band: Some(curve.points.iter().map(|point| (point.score.low, point.score.high)).collect()),
    }
}

/// Lines between 0 and 1; against chances also the diagonal, on which chances are what they say.
fn shares(lines: Vec<PlotLine>, x: &str, y: &str, scale: Scale) -> String {
    let lines: Vec<PlotLine> = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut plots = Vec::new();
    if scale == Scale::Probability && y != "precision" {
        let diagonal = LinePlot::new().with_data([(0.0, 0.0), (1.0, 1.0)]).with_color("#bbbbbb").with_stroke_width(1.0);
        plots.push(Plot::from(diagonal.with_dashed()));
    }
    for (number, line) in lines.into_iter().enumerate() {
        let colour = INKS[number % INKS.len()];
        let mut plot = LinePlot::new().with_data(line.points).with_color(colour).with_stroke_width(2.0);
        if number >= INKS.len() {
            plot = plot.with_dashed();
        }
        if let Some(band) = line.band {
            let ends = |share: f64| share.clamp(0.0, 1.0);
            plot = plot.with_band(band.iter().map(|band| ends(band.0)), band.iter().map(|band| ends(band.1)));
        }
        plots.push(Plot::from(plot.with_legend(line.name)));
    }
    let layout = Layout::auto_from_plots(&plots).with_width(WIDTH).with_height(HEIGHT);
    let layout = layout.with_x_label(x).with_y_label(y).with_y_axis_min(0.0).with_y_axis_max(1.0);
    let layout = match scale {
        Scale::Probability => layout.with_x_axis_min(0.0).with_x_axis_max(1.0),
        Scale::Score => layout,
    };
    kuva::render_to_svg(plots, layout)
}
