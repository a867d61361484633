//! The frame of every page: one stylesheet, and nothing that has to be fetched.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const BOARD_STYLE: &str = include_str!("page/board.css");

/// What wrote a page.
pub(crate) const MADE_BY: &str = concat!("anqi ", env!("CARGO_PKG_VERSION"));

/// A page with a title that is its first heading, too.
pub(crate) fn titled(title: &str, body: &Markup) -> String {
    page(title, &html! { h1 { (title) } (body) })
}

/// A page that needs no other file.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (title) }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(MADE_BY);
                style { (PreEscaped(STYLE)) (PreEscaped(BOARD_STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// Names and values, one below the other.
pub(crate) fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    html! { dl.facts { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}

/// A drawing with its caption; nothing for an empty one.
pub(crate) fn figure(caption: &str, svg: &str) -> Markup {
    html! { @if !svg.is_empty() { figure { figcaption { (caption) } (PreEscaped(svg)) } } }
}

/// JSON inside a `<script>` element, which must not see its own end tag.
pub(crate) fn json_in_script(value: &impl serde::Serialize) -> PreEscaped<String> {
    // Only maps with keys that are not text fail, and there are none.
    PreEscaped(serde_json::to_string(value).unwrap_or_default().replace('<', "\\u003c"))
}
