//! The page's files, in the binary.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $kind:literal,)*) => {
        /// All files, the page itself first.
        pub(crate) static ASSETS: &[Asset] =
            &[$(Asset { name: $name, kind: $kind, bytes: include_bytes!(concat!("../page/", $name)) },)*];
    };
}

assets! {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "board.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "main.js": "text/javascript; charset=utf-8",
    "backend.js": "text/javascript; charset=utf-8",
    "socket.js": "text/javascript; charset=utf-8",
    "board.js": "text/javascript; charset=utf-8",
    "glyphs.js": "text/javascript; charset=utf-8",
    "words.js": "text/javascript; charset=utf-8",
    "dom.js": "text/javascript; charset=utf-8",
    "study.js": "text/javascript; charset=utf-8",
    "review.js": "text/javascript; charset=utf-8",
    "games.js": "text/javascript; charset=utf-8",
    "series.js": "text/javascript; charset=utf-8",
    "seats.js": "text/javascript; charset=utf-8",
    "verify.js": "text/javascript; charset=utf-8",
}

#[cfg(test)]
mod tests {
    use super::ASSETS;

    #[test]
    fn the_page_is_small() {
        let all: usize = ASSETS.iter().map(|asset| asset.bytes.len()).sum();
        assert!(all < 300_000, "{all} bytes");
    }
}
