//! Do our texts hold? Every link in a Markdown file must lead to a file and a heading that exist, every chapter must be
//! in the book, a type of the glossary must be declared once, and words that hide who does what may only become fewer.
//! `./test` runs it; it asks no network.
//!
//! ```text
//! cargo run -p anqi-prose
//! ```

mod glossary;
mod links;
mod words;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{fs, io};

fn main() -> ExitCode {
    match check(Path::new(".")) {
        Ok(complaints) if complaints.is_empty() => ExitCode::SUCCESS,
        Ok(complaints) => {
            complaints.iter().for_each(|complaint| eprintln!("{complaint}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("anqi-prose: {error}; run it from the project's root, with git");
            ExitCode::FAILURE
        }
    }
}

fn check(root: &Path) -> io::Result<Vec<String>> {
    let markdown = read(root, &["*.md"])?;
    let mut complaints = links::broken(root, &markdown);
    complaints.extend(links::missing_chapters(&markdown));
    let texts = read(root, &["*.md", "*.rs"])?;
    complaints.extend(glossary::contradictions(&texts));
    complaints.extend(words::too_many(&texts));
    Ok(complaints)
}

/// A file of the project and its text.
struct Text {
    /// From the root, with `/`.
    path: String,
    text: String,
}

/// The files that git tracks under these patterns, and those that it would: new ones count before they are committed.
fn read(root: &Path, patterns: &[&str]) -> io::Result<Vec<Text>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"])
        .args(patterns)
        .current_dir(root)
        .output()?;
    if !listed.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&listed.stderr).trim().to_owned()));
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let texts = names.split_terminator('\0').filter(|name| root.join(name).is_file()).map(|name| {
        let text = fs::read_to_string(root.join(name)).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        Ok(Text { path: name.to_owned(), text })
    });
    texts.collect()
}
