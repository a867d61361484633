//! The report of an experiment as files: Markdown, figures, and one page with everything on it.

use anqi_experiment::{ExperimentError, Findings, Run};
use maud::{PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::assessment::assessment_html;
use crate::chart;
use crate::markdown::{experiment_markdown, figure_file};
use crate::page::page;

/// Writes `report.md`, its figures, `report.html`, which needs no other file, and a page for each assessment into the folder
/// of a run. The Markdown comes back.
///
/// # Errors
/// If one of them cannot be written; every file is there whole or as it was.
pub fn write_experiment(run: &Run, findings: &Findings) -> Result<String, ExperimentError> {
    let drawings: Vec<String> = findings.figures.iter().map(chart::figure).collect();
    for (place, drawing) in drawings.iter().enumerate() {
        run.write(&figure_file(place + 1), drawing.as_bytes())?;
    }
    let markdown = experiment_markdown(findings);
    run.write("report.md", markdown.as_bytes())?;
    run.write("report.html", prose(&markdown, &drawings).as_bytes())?;
    for page in &findings.pages {
        run.write(&format!("{}.html", page.name), assessment_html(&page.report()?).as_bytes())?;
    }
    Ok(markdown)
}

/// Markdown as a page, drawings in the place of images.
fn prose(markdown: &str, drawings: &[String]) -> String {
    let mut drawings = drawings.iter();
    // Between the start and the end of an image is its title, which stands above the drawing.
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).flat_map(|event| match event {
        Event::Start(Tag::Image { .. }) => vec![Event::InlineHtml("<figure><figcaption>".into())],
        Event::End(TagEnd::Image) => {
            let drawing = drawings.next().map_or("", String::as_str);
            vec![Event::InlineHtml(format!("</figcaption>{drawing}</figure>").into())]
        }
        // A wide table is moved inside its frame, not with the page.
        Event::Start(Tag::Table(columns)) => {
            vec![Event::Html("<div class=\"wide\">".into()), Event::Start(Tag::Table(columns))]
        }
        Event::End(TagEnd::Table) => vec![Event::End(TagEnd::Table), Event::Html("</div>\n".into())],
        event => vec![event],
    });
    let mut body = String::new();
    pulldown_cmark::html::push_html(&mut body, events);
    // A paragraph holds no figure.
    let body = body.replace("<p><figure>", "<figure>").replace("</figure></p>", "</figure>");
    let title = markdown.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    page(title, &html! { div.words { (PreEscaped(body)) } })
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn a_page_needs_no_other_file() {
        let text = "# one: run 2\n\n| a | b |\n|---|---|\n| 1 < 2 | **yes** |\n\n![Fig. 4](figure-1.svg)\n";
        let page = prose(text, &["<svg>lines</svg>".to_owned()]);
        assert!(page.contains("<title>one: run 2</title>"), "{page}");
        assert!(page.contains("<td>1 &lt; 2</td><td><strong>yes</strong></td>"), "{page}");
        assert!(page.contains("<figure><figcaption>Fig. 4</figcaption><svg>lines</svg></figure>\n"), "{page}");
        assert!(!page.contains("figure-1.svg"), "{page}");
    }
}
