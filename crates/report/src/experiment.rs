//! The report of an experiment as files: Markdown, figures, and one page with everything on it.

use std::fmt::Write as _;

use anqi_experiment::{ExperimentError, ExperimentReport, Run};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use crate::chart;
use crate::html::Escaped;

/// Writes `report.md`, its figures, and `report.html`, which needs no other file, into the folder of a run.
///
/// # Errors
/// If one of them cannot be written; every file is there whole or as it was.
pub fn write_experiment(run: &Run, report: &ExperimentReport) -> Result<(), ExperimentError> {
    let drawings: Vec<String> = report.figures.iter().map(chart::figure).collect();
    for (place, drawing) in drawings.iter().enumerate() {
        run.write(&ExperimentReport::figure_file(place + 1), drawing.as_bytes())?;
    }
    run.write("report.md", report.markdown.as_bytes())?;
    run.write("report.html", page(&report.markdown, &drawings).as_bytes())
}

/// Markdown as a page, drawings in the place of images.
fn page(markdown: &str, drawings: &[String]) -> String {
    let mut drawings = drawings.iter();
    // Between the start and the end of an image is its title.
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Start(Tag::Image { .. }) => {
            let drawing = drawings.next().map_or("", String::as_str);
            Event::InlineHtml(format!("<figure>{drawing}<figcaption>").into())
        }
        Event::End(TagEnd::Image) => Event::InlineHtml("</figcaption></figure>".into()),
        event => event,
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    // A paragraph holds no figure.
    let body = body.replace("<p><figure>", "<figure>").replace("</figure></p>", "</figure>");
    let title = markdown.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">");
    let _ = write!(page, "<meta name=\"viewport\" content=\"width=device-width\"><title>{}</title>", Escaped(title));
    let _ = write!(page, "<style>{}</style>\n<main class=\"wide\">{body}</main></html>\n", include_str!("page.css"));
    page
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn a_page_needs_no_other_file() {
        let text = "# one: run 2\n\n| a | b |\n|---|---|\n| 1 < 2 | **yes** |\n\n![Fig. 4](figure-1.svg)\n";
        let page = page(text, &["<svg>lines</svg>".to_owned()]);
        assert!(page.contains("<title>one: run 2</title>"), "{page}");
        assert!(page.contains("<td>1 &lt; 2</td><td><strong>yes</strong></td>"), "{page}");
        assert!(page.contains("<figure><svg>lines</svg><figcaption>Fig. 4</figcaption></figure>\n"), "{page}");
        assert!(!page.contains("figure-1.svg"), "{page}");
    }
}
