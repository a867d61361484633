//! All sets of a small board in one picture: a line for each class, a point for each kind of square.

use anqi_experiment::Dots;

const ROW: f64 = 22.0;
const TOP: f64 = 64.0;
const LEFT: f64 = 250.0;
const WIDTH: f64 = 480.0;
const COLORS: [&str; 3] = ["#3b6ea5", "#c8553d", "#5a8f4e"];

/// What first flips are worth in all fair sets of a board.
#[derive(Clone, PartialEq, Debug)]
pub struct SetsPicture {
    /// The board.
    pub board: String,
    /// How many sets.
    pub sets: usize,
    /// How many classes of sets that are the same game.
    pub classes: usize,
    /// One for each class.
    pub rows: Vec<Dots>,
}

fn best(row: &Dots) -> f64 {
    row.points.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max)
}

impl SetsPicture {
    /// The picture as SVG, the best class for the first player on top.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut rows = self.rows.clone();
        rows.sort_by(|a, b| best(b).total_cmp(&best(a)));
        let values = || rows.iter().flat_map(|row| row.points.iter().map(|(_, value)| *value));
        let tenths = |value: f64, outward: f64| ((value * 10.0 + outward).round() / 10.0).clamp(-1.0, 1.0);
        let (low, high) = (tenths(values().fold(0.0, f64::min), -0.5), tenths(values().fold(0.0, f64::max), 0.5));
        let x = |value: f64| LEFT + (value - low) / (high - low) * WIDTH;
        let bottom = TOP + rows.len() as f64 * ROW;

        let mut svg = Vec::new();
        let mut put = |line: String| svg.push(line);
        let (width, height) = (LEFT + WIDTH + 30.0, bottom + 50.0);
        put(format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">"#
        ));
        put(format!(r#"<rect width="{width}" height="{height}" fill="white"/>"#));
        put(format!(
            r#"<text x="12" y="22" font-size="14">What the first flip is worth on the {} board: {} fair sets of {} classes</text>"#,
            self.board, self.sets, self.classes
        ));
        for (place, color) in legend(&rows).iter().zip(COLORS) {
            let (name, at) = (&place.0, LEFT + 110.0 * place.1 as f64);
            put(format!(
                r#"<circle cx="{at}" cy="40" r="5" fill="{color}"/><text x="{}" y="44">first flip {name}</text>"#,
                at + 9.0
            ));
        }
        let ticks = ((high - low) * 10.0).round() as i32;
        for tick in 0..=ticks {
            let value = low + f64::from(tick) / 10.0;
            let (at, stroke) = (x(value), if value.abs() < 1e-9 { "black" } else { "lightgray" });
            put(format!(r#"<line x1="{at:.1}" y1="{TOP}" x2="{at:.1}" y2="{bottom}" stroke="{stroke}"/>"#));
            put(format!(r#"<text x="{at:.1}" y="{}" text-anchor="middle">{:.1}</text>"#, bottom + 18.0, value + 0.0));
        }
        put(format!(
            r#"<text x="{}" y="{}" text-anchor="middle">P(win) − P(loss) of the player who flips first</text>"#,
            LEFT + WIDTH / 2.0,
            bottom + 40.0
        ));
        for (place, row) in rows.iter().enumerate() {
            let y = TOP + (place as f64 + 0.5) * ROW;
            put(format!(r#"<text x="{}" y="{}" text-anchor="end">{}</text>"#, LEFT - 14.0, y + 4.0, row.label));
            let worst = row.points.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            let (from, to) = (x(worst), x(best(row)));
            put(format!(r#"<line x1="{from:.1}" y1="{y}" x2="{to:.1}" y2="{y}" stroke="gray" stroke-width="2"/>"#));
            for ((square, value), color) in row.points.iter().zip(COLORS) {
                let at = x(*value);
                put(format!(
                    r#"<circle cx="{at:.1}" cy="{y}" r="5" fill="{color}"><title>{} {square}: {value:+.4}</title></circle>"#,
                    row.label
                ));
            }
        }
        put("</svg>\n".to_owned());
        svg.join("\n")
    }
}

/// The kinds of square with their place in the legend.
fn legend(rows: &[Dots]) -> Vec<(String, usize)> {
    let longest = rows.iter().max_by_key(|row| row.points.len());
    longest.into_iter().flat_map(|row| &row.points).enumerate().map(|(i, (square, _))| (square.clone(), i)).collect()
}
