//! A position as SVG that needs nothing but itself: the page's board, its geometry and its pieces, with marked moves.

use std::fmt::Write as _;

use anqi_experiment::{BoardFigure, Mark};
use anqi_rules::{Color, Move, Position, Square};

/// The outlines of the pieces, as the page has them.
const GLYPHS: &str = include_str!("page/glyphs.js");

const CELL: f64 = 100.0;
const EDGE: f64 = 34.0;
const RADIUS: f64 = 42.0;
/// What a picture is wide on the page.
const WIDTH: f64 = 330.0;

const STYLE: &str = "text{font:20px system-ui,sans-serif;text-anchor:middle;dominant-baseline:central;fill:#5b6876}\
    .c{fill:#e7cd9b;stroke:#8a6d3b;stroke-width:2}.d{fill:#fff6e2;stroke:#7a5a2b;stroke-width:3}\
    .b{fill:#7d5d33;stroke:#7a5a2b;stroke-width:3}.r{fill:none;stroke:#a4804d;stroke-width:4}\
    .red{fill:#b3261e}.black{fill:#1b1b1b}.rim{fill:none;stroke-width:2}.rim.red{fill:none;stroke:#b3261e}\
    .rim.black{fill:none;stroke:#1b1b1b}.a{fill:none;stroke:#0072b2;stroke-width:10;stroke-opacity:.85}\
    .h{fill:#0072b2}.n{fill:#fff;font-weight:700}";

/// The position with its marked moves; numbers stand for what is said of them in the legend below.
pub(crate) fn board(BoardFigure { position, marks }: &BoardFigure) -> String {
    let (files, ranks) = size(position);
    let (width, bottom) = (EDGE + CELL * files + 4.0, CELL * ranks + EDGE);
    let height = bottom + 26.0 * marks.len() as f64 + if marks.is_empty() { 0.0 } else { 10.0 };
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{:.0}" viewBox="0 0 {width} {height}"><style>{STYLE}</style><rect width="{width}" height="{height}" fill="white"/>"#,
        WIDTH * height / width
    );
    for square in position.board().squares() {
        let (x, y) = corner(square, ranks);
        let _ = write!(svg, r#"<rect class="c" x="{x}" y="{y}" width="{CELL}" height="{CELL}"/>"#);
        svg += &piece(position, square, x + CELL / 2.0, y + CELL / 2.0);
    }
    for file in 0..files as u8 {
        let (letter, x) = (char::from(b'a' + file), EDGE + CELL * (f64::from(file) + 0.5));
        let _ = write!(svg, r#"<text x="{x}" y="{}">{letter}</text>"#, CELL * ranks + EDGE / 2.0);
    }
    for rank in 0..ranks as u8 {
        let y = CELL * (ranks - f64::from(rank) - 0.5);
        let _ = write!(svg, r#"<text x="{}" y="{y}">{}</text>"#, EDGE / 2.0, rank + 1);
    }
    for (place, mark) in marks.iter().enumerate() {
        svg += &marked(place + 1, mark, ranks);
        let y = bottom + 18.0 + 26.0 * place as f64;
        let says = if mark.says.is_empty() { String::new() } else { format!(": {}", escape(&mark.says)) };
        let _ = write!(
            svg,
            r#"<text x="8" y="{y}" style="text-anchor:start;font-size:18px">{}  {}{says}</text>"#,
            place + 1,
            mark.mv
        );
    }
    svg + "</svg>"
}

fn size(position: &Position) -> (f64, f64) {
    let squares = position.board().squares();
    let most = |of: fn(Square) -> u8| squares.iter().map(of).max().map_or(0.0, |most| f64::from(most) + 1.0);
    (most(Square::file), most(Square::rank))
}

fn corner(square: Square, ranks: f64) -> (f64, f64) {
    (EDGE + CELL * f64::from(square.file()), CELL * (ranks - 1.0 - f64::from(square.rank())))
}

fn centre(square: Square, ranks: f64) -> (f64, f64) {
    let (x, y) = corner(square, ranks);
    (x + CELL / 2.0, y + CELL / 2.0)
}

fn piece(position: &Position, square: Square, x: f64, y: f64) -> String {
    if position.hidden().contains(square) {
        return format!(
            r#"<circle class="b" cx="{x}" cy="{y}" r="{RADIUS}"/><circle class="r" cx="{x}" cy="{y}" r="{}"/>"#,
            RADIUS - 9.0
        );
    }
    let Some(piece) = position.piece_at(square) else { return String::new() };
    let color = if piece.color == Color::Red { "red" } else { "black" };
    format!(
        r#"<circle class="d" cx="{x}" cy="{y}" r="{RADIUS}"/><circle class="rim {color}" cx="{x}" cy="{y}" r="{}"/><path class="{color}" transform="translate({} {}) scale(0.54)" d="{}"/>"#,
        RADIUS - 6.0,
        x - 27.0,
        y - 27.0,
        outline(piece.char())
    )
}

/// The outline of a piece in a box of 100 by 100.
fn outline(letter: char) -> &'static str {
    let start = format!("  {letter}: '");
    let found = GLYPHS.lines().find_map(|line| line.strip_prefix(start.as_str()));
    found.and_then(|rest| rest.split('\'').next()).unwrap_or_default()
}

/// An arrow for a step, a ring for a flip, with its number.
fn marked(number: usize, Mark { mv, .. }: &Mark, ranks: f64) -> String {
    let badge = |x: f64, y: f64| {
        format!(
            r#"<circle class="h" cx="{x:.0}" cy="{y:.0}" r="15"/><text class="n" x="{x:.0}" y="{y:.0}">{number}</text>"#
        )
    };
    match *mv {
        Move::Flip(square) => {
            let (x, y) = centre(square, ranks);
            format!(r#"<circle class="a" cx="{x}" cy="{y}" r="{}"/>{}"#, RADIUS - 4.0, badge(x + 32.0, y - 32.0))
        }
        Move::Step { from, to } => {
            let ((x1, y1), (x2, y2)) = (centre(from, ranks), centre(to, ranks));
            let length = (x2 - x1).hypot(y2 - y1);
            let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
            // The tip ends before the middle of the square, so that what stands there is seen.
            let (tx, ty) = (x2 - 14.0 * dx, y2 - 14.0 * dy);
            let (hx, hy) = (tx - 26.0 * dx, ty - 26.0 * dy);
            format!(
                r#"<line class="a" x1="{x1:.0}" y1="{y1:.0}" x2="{hx:.0}" y2="{hy:.0}"/><path class="h" d="M{tx:.0} {ty:.0}L{:.0} {:.0}L{:.0} {:.0}Z"/>{}"#,
                hx - 16.0 * dy,
                hy + 16.0 * dx,
                hx + 16.0 * dy,
                hy - 16.0 * dx,
                badge(x1 + 0.5 * (hx - x1), y1 + 0.5 * (hy - y1))
            )
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use anqi_rules::Ladder;

    use super::*;

    #[test]
    fn every_piece_and_every_mark_is_drawn() {
        let position = Position::parse("n3/4/1GR1/G2M/2K1/1P2/3p/PN1x b r", Ladder::Taiwan).unwrap();
        let mark = |mv: &str, says: &str| Mark { mv: mv.parse().unwrap(), says: says.to_owned() };
        let marks = vec![mark("a8-a7", "best < all"), mark("d1", "")];
        let svg = board(&BoardFigure { position, marks });
        assert_eq!(svg.matches(r#"class="c""#).count(), 32);
        assert_eq!(svg.matches("<path class=\"red\"").count(), 8);
        assert_eq!(svg.matches("<path class=\"black\"").count(), 2);
        assert_eq!(svg.matches(r#"class="b""#).count(), 1);
        assert!(svg.contains("1  a8-a7: best &lt; all</text>") && svg.contains("2  d1</text>"), "{svg}");
        for letter in "KGMRNCPkgmrncp".chars() {
            assert!(outline(letter).starts_with('M'), "{letter}");
        }
    }
}
