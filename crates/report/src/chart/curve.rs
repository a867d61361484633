//! A specification curve (Simonsohn, Simmons & Nelson 2020): the number that decides a claim in every reading, in order, and
//! below it which values the reading has.

use anqi_experiment::{CurveFigure, Judgement, Number, Z};

use super::svg::{Svg, width};

const HEIGHT: f64 = 240.0;
const TOP: f64 = 16.0;
const ROW: f64 = 18.0;
/// No page is wider.
const MOST_WIDTH: f64 = 1200.0;
const CONFIRMED: &str = "#0072b2";
const REFUTED: &str = "#d55e00";
const OPEN: &str = "#777777";

pub(super) fn draw(curve: &CurveFigure) -> String {
    if curve.points.is_empty() {
        return String::new();
    }
    let mut svg = Svg::new();
    // Every value of every axis, in order.
    let mut values: Vec<(&str, &str)> = Vec::new();
    for point in &curve.points {
        values.extend(point.setting.iter().map(|(axis, value)| (axis.as_str(), value.as_str())));
    }
    values.sort_by(|a, b| a.0.cmp(b.0).then_with(|| by_number(a.1, b.1)));
    values.dedup();
    let labels: Vec<String> = values.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    let left = labels.iter().map(|label| width(label)).fold(60.0, f64::max) + 24.0;
    let step = ((MOST_WIDTH - left - 30.0) / curve.points.len() as f64).min(44.0);
    let right = left + step * curve.points.len() as f64;

    let ends = |number: Number| [number.value - number.margin(), number.value + number.margin()];
    let numbers = curve.points.iter().map(|point| point.number).chain(curve.printed);
    let all = numbers.flat_map(ends).chain([curve.neutral]).filter(|value| value.is_finite());
    let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let pad = ((high - low) * 0.06).max(1e-6);
    let (low, high) = (low - pad, high + pad);
    let y = |value: f64| TOP + (high - value) / (high - low) * HEIGHT;
    for tick in ticks(low, high) {
        svg.line([left, y(tick), right, y(tick)], r##"stroke="#e4e4e4""##);
        svg.text([left - 8.0, y(tick) + 4.0], "end", &format!("{tick:.2}").replace('-', "−"));
    }
    if let Some(printed) = curve.printed {
        let [from, to] = ends(printed);
        svg.rect([left, y(to), right - left, y(from) - y(to)], r##"fill="#e69f00" opacity="0.2""##);
        svg.line([left, y(printed.value), right, y(printed.value)], r##"stroke="#e69f00" stroke-width="2""##);
    }
    svg.line([left, y(curve.neutral), right, y(curve.neutral)], r#"stroke="black" stroke-dasharray="4 3""#);
    for (place, point) in curve.points.iter().enumerate() {
        let x = left + (place as f64 + 0.5) * step;
        let [from, to] = ends(point.number);
        let ink = match point.judgement {
            Judgement::Confirmed => CONFIRMED,
            Judgement::Refuted => REFUTED,
            _ => OPEN,
        };
        svg.line([x, y(from), x, y(to)], &format!(r#"stroke="{ink}" stroke-width="2""#));
        let title = format!("{}: {:.3} ± {:.3}", point.reading, point.number.value, Z * point.number.error);
        svg.put(format!(
            r#"<circle cx="{x:.1}" cy="{:.1}" r="4.5" fill="{ink}"><title>{}</title></circle>"#,
            y(point.number.value),
            super::svg::escape(&title)
        ));
    }
    let below = TOP + HEIGHT + 14.0;
    let mut at = below;
    for (row, ((axis, value), label)) in values.iter().zip(&labels).enumerate() {
        if row > 0 && values[row - 1].0 != *axis {
            at += 6.0;
        }
        svg.text([left - 8.0, at + ROW / 2.0 + 4.0], "end", label);
        svg.line([left, at + ROW / 2.0, right, at + ROW / 2.0], r##"stroke="#eeeeee""##);
        for (place, point) in curve.points.iter().enumerate() {
            if point.setting.get(*axis).is_some_and(|own| own == value) {
                let x = left + (place as f64 + 0.5) * step;
                svg.put(format!(r#"<circle cx="{x:.1}" cy="{:.1}" r="4" fill="black"/>"#, at + ROW / 2.0));
            }
        }
        at += ROW;
    }
    let mut x = 12.0;
    let marks =
        [("confirmed", CONFIRMED), ("contrary", REFUTED), ("open", OPEN), ("printed, with its interval", "#e69f00")];
    for (text, ink) in marks {
        svg.put(format!(r#"<circle cx="{:.1}" cy="{:.1}" r="4.5" fill="{ink}"/>"#, x + 4.0, at + 18.0));
        svg.text([x + 14.0, at + 22.0], "start", text);
        x += width(text) + 36.0;
    }
    svg.finish([(right + 20.0).max(x), at + 34.0])
}

/// Numbers by their size, other values by their letters.
fn by_number(a: &str, b: &str) -> std::cmp::Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    }
}

/// Round numbers between two ends.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let step =
        [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0].into_iter().find(|step| (high - low) / step <= 8.0).unwrap_or(2.0);
    let first = (low / step).ceil() as i64;
    (first..).map(|count| count as f64 * step).take_while(|tick| *tick <= high).collect()
}
