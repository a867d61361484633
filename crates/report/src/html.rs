//! Text as HTML.

use std::fmt::{self, Display};

/// A text that shows as it is.
pub(crate) struct Escaped<T>(pub(crate) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

/// JSON inside a `<script>` element, which must not see its own end tag.
pub(crate) fn json_in_script(value: &impl serde::Serialize) -> String {
    // Only maps with keys that are not text fail, and there are none.
    serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c")
}
