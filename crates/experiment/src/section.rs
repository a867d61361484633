//! `Section`: a part of a report as values; Markdown and HTML are made of it elsewhere.

/// A heading with words, and perhaps a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// The heading; empty for words that need none.
    pub title: String,
    /// What is said before the table, in Markdown.
    pub before: String,
    /// The table.
    pub table: Option<SectionTable>,
    /// What is said after the table, in Markdown.
    pub after: String,
}

/// Names of columns, and rows with as many cells, in Markdown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SectionTable {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// Words without a heading.
    #[must_use]
    pub fn words(text: impl Into<String>) -> Section {
        Section { before: text.into(), ..Section::default() }
    }

    /// A table under a heading.
    #[must_use]
    pub fn table(title: impl Into<String>, columns: &[&str], rows: Vec<Vec<String>>) -> Section {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Section { title: title.into(), table: Some(SectionTable { columns, rows }), ..Section::default() }
    }
}
