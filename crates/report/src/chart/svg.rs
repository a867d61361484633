//! What drawings that are written by hand share: text that is safe, widths, colours.

/// Text inside an element.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// About how wide a text is at 12 pixels.
pub(super) fn width(text: &str) -> f64 {
    7.0 * text.chars().count() as f64
}

/// The texts as lines of at most so many characters, broken between words.
pub(super) fn lines(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The lines of a drawing.
pub(super) struct Svg {
    lines: Vec<String>,
}

impl Svg {
    pub(super) fn new() -> Svg {
        Svg { lines: Vec::new() }
    }

    pub(super) fn put(&mut self, line: String) {
        self.lines.push(line);
    }

    /// A text; `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, [x, y]: [f64; 2], anchor: &str, text: &str) {
        self.put(format!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#, escape(text)));
    }

    pub(super) fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], style: &str) {
        self.put(format!(r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" {style}/>"#));
    }

    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4], style: &str) {
        self.put(format!(r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" {style}/>"#));
    }

    /// The whole drawing. It is shown at its size, or smaller where there is less room.
    pub(super) fn finish(self, [width, height]: [f64; 2]) -> String {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" style="max-width:100%;height:auto" font-family="sans-serif" font-size="12">
<rect width="{width:.0}" height="{height:.0}" fill="white"/>
{}
</svg>
"#,
            self.lines.join("\n")
        )
    }
}
