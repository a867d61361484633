//! Which readings explain which tables: a line for each reading, a field for each table or group of its cells.

use anqi_experiment::{Fit, Fitted, FittedReading};

use super::svg::{Svg, lines, width};

const ROW: f64 = 22.0;
const FIELD: f64 = 96.0;
const TOP: f64 = 58.0;
/// No page is wider.
const MOST_WIDTH: f64 = 1200.0;
/// What the scale ends with, in units of log-likelihood a cell.
const WORST: f64 = 50.0;
/// From bad to good: viridis (van der Walt & Smith 2015), which grows evenly lighter, turned round.
const SHADES: [[f64; 3]; 5] =
    [[253.0, 231.0, 37.0], [94.0, 201.0, 98.0], [33.0, 145.0, 140.0], [59.0, 82.0, 139.0], [68.0, 1.0, 84.0]];

/// The drawing. Colour is log-likelihood a cell relative to that of the printed frequencies, the text in a field the number
/// of compatible cells.
pub(super) fn draw(fit: &Fit) -> String {
    if fit.readings.is_empty() || fit.columns.is_empty() {
        return String::new();
    }
    let mut svg = Svg::new();
    let axes: Vec<&String> =
        fit.axes.iter().filter(|axis| fit.readings.iter().any(|r| r.setting.contains_key(*axis))).collect();
    let value = |reading: &FittedReading, axis: &String| reading.setting.get(axis).cloned().unwrap_or("–".to_owned());
    let mut x = 12.0;
    let head = TOP - 14.0;
    for axis in &axes {
        let texts: Vec<String> = fit.readings.iter().map(|reading| value(reading, axis)).collect();
        svg.put(r#"<g font-weight="bold">"#.to_owned());
        svg.text([x, head], "start", axis);
        svg.put("</g>".to_owned());
        for (row, text) in texts.iter().enumerate() {
            svg.text([x, middle(row)], "start", text);
        }
        x += texts.iter().chain([*axis]).map(|text| width(text)).fold(0.0, f64::max) + 18.0;
    }
    let room = (MOST_WIDTH - x - FIELD - 12.0) / fit.columns.len() as f64;
    let field = FIELD.min(room);
    for (place, column) in fit.columns.iter().enumerate() {
        let at = x + place as f64 * field;
        let title = lines(&column.title, ((field / 7.0) as usize).max(6));
        svg.put(format!(r#"<g font-weight="{}">"#, if column.whole { "bold" } else { "normal" }));
        for (line, text) in title.iter().rev().take(3).enumerate() {
            svg.text([at + field / 2.0, head - 14.0 * line as f64], "middle", text);
        }
        svg.put("</g>".to_owned());
        for (row, reading) in fit.readings.iter().enumerate() {
            let y = TOP + row as f64 * ROW;
            match reading.columns.get(place).and_then(Option::as_ref) {
                Some(fitted) => put_field(&mut svg, [at, y, field, ROW], fitted),
                None => svg.text([at + field / 2.0, middle(row)], "middle", "–"),
            }
        }
    }
    let right = x + field * fit.columns.len() as f64;
    svg.text([right + FIELD / 2.0, head], "middle", "posterior");
    for (row, reading) in fit.readings.iter().enumerate() {
        let share = reading.share.map_or("–".to_owned(), percent);
        svg.text([right + FIELD / 2.0, middle(row)], "middle", &share);
    }
    let bottom = TOP + fit.readings.len() as f64 * ROW;
    put_scale(&mut svg, bottom + 26.0, fit);
    svg.finish([(right + FIELD).max(560.0), bottom + 74.0])
}

fn middle(row: usize) -> f64 {
    TOP + row as f64 * ROW + ROW / 2.0 + 4.0
}

/// A share in percent; what is nearly none is not called none.
fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small < 0.05 => "< 0.1 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

fn put_field(svg: &mut Svg, [x, y, width, height]: [f64; 4], fitted: &Fitted) {
    let (shade, ink) = shade(fitted.relative());
    let title =
        format!("{:.2} a cell; {:.2} if the reading were the truth", fitted.relative(), fitted.relative_if_true());
    svg.put(format!(
        r#"<g fill="{ink}"><rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{shade}" stroke="white"/><title>{title}</title>"#
    ));
    let text = format!("{} of {}", fitted.compatible, fitted.cells);
    svg.text([x + width / 2.0, y + height / 2.0 + 4.0], "middle", &text);
    svg.put("</g>".to_owned());
}

/// The colours with their values, and where the readings would be if they were the truth.
fn put_scale(svg: &mut Svg, y: f64, fit: &Fit) {
    const LEFT: f64 = 24.0;
    const WIDTH: f64 = 360.0;
    const STEPS: usize = 60;
    let at = |relative: f64| LEFT + goodness(relative) * WIDTH;
    for step in 0..STEPS {
        let share = step as f64 / STEPS as f64;
        let (colour, _) = colour(share);
        svg.rect([LEFT + share * WIDTH, y, WIDTH / STEPS as f64 + 0.5, 12.0], &format!(r#"fill="{colour}""#));
    }
    for relative in [-50.0, -20.0, -10.0, -5.0, -2.0, -1.0, 0.0_f64] {
        svg.text([at(relative), y + 26.0], "middle", &format!("{relative}").replace('-', "−"));
    }
    let all = fit.readings.iter().flat_map(|reading| reading.columns.iter().flatten());
    let (sum, count) = all.fold((0.0, 0.0), |(sum, count), fitted| (sum + fitted.relative_if_true(), count + 1.0));
    let truth = sum / f64::max(count, 1.0);
    svg.line([at(truth), y - 5.0, at(truth), y + 12.0], r#"stroke="black" stroke-width="2""#);
    svg.text([LEFT + WIDTH + 30.0, y + 4.0], "start", "log-likelihood a cell, relative to the printed frequencies;");
    svg.text([LEFT + WIDTH + 30.0, y + 19.0], "start", "the mark is what a true reading has. Text: compatible cells");
}

/// 1 for the printed frequencies themselves, 0 at the end of the scale, by logarithms.
fn goodness(relative: f64) -> f64 {
    (1.0 - (1.0 + relative.abs()).ln() / (1.0 + WORST).ln()).clamp(0.0, 1.0)
}

/// The colour of a field and of the text in it.
fn shade(relative: f64) -> (String, &'static str) {
    colour(goodness(relative))
}

fn colour(goodness: f64) -> (String, &'static str) {
    let place = goodness.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64;
    let (low, rest) = ((place as usize).min(SHADES.len() - 2), place - (place as usize).min(SHADES.len() - 2) as f64);
    let mixed: [f64; 3] = std::array::from_fn(|part| SHADES[low][part] * (1.0 - rest) + SHADES[low + 1][part] * rest);
    let [red, green, blue] = mixed;
    let light = 0.299 * red + 0.587 * green + 0.114 * blue > 130.0;
    (format!("#{:02x}{:02x}{:02x}", red as u8, green as u8, blue as u8), if light { "black" } else { "white" })
}
