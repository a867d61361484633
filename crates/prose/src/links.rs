//! Links between our Markdown files.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::Text;

/// Links of `texts` that lead to no file, or to no heading of it.
pub(crate) fn broken(root: &Path, texts: &[Text]) -> Vec<String> {
    let mut complaints = Vec::new();
    for Text { path, text } in texts {
        for (line, target) in links(text) {
            let mut complain = |why: &str| complaints.push(format!("{path}:{line}: the link to {target} {why}"));
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let there = if file.is_empty() { Some(PathBuf::from(path)) } else { resolve(path, file) };
            let Some(there) = there.filter(|there| root.join(there).exists()) else {
                complain("leads to no file");
                continue;
            };
            let known = texts.iter().find(|other| Path::new(&other.path) == there);
            if let Some(known) = known.filter(|_| !heading.is_empty())
                && !headings(&known.text).contains(heading)
            {
                complain("leads to no heading of that file");
            }
        }
    }
    complaints
}

/// Files of `docs/` that the book's table of contents does not name.
pub(crate) fn missing_chapters(texts: &[Text]) -> Vec<String> {
    let summary = "docs/SUMMARY.md";
    let Some(contents) = texts.iter().find(|text| text.path == summary) else {
        return vec![format!("{summary}: there is none")];
    };
    let named: HashSet<PathBuf> = links(&contents.text).filter_map(|(_, target)| resolve(summary, target)).collect();
    let chapters = texts.iter().map(|text| &text.path).filter(|path| path.starts_with("docs/") && *path != summary);
    let missing = chapters.filter(|path| !named.contains(Path::new(path)));
    missing.map(|path| format!("{summary}: does not name {path}")).collect()
}

/// The file that a link in `from` means.
fn resolve(from: &str, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

/// What `[text](target)` and `![text](target)` lead to within the project, with the line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).flat_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        let line = if in_code || is_fence { "" } else { line };
        line.match_indices("](").filter_map(move |(at, _)| {
            // Within code, an odd number of backticks stands before.
            let is_code = line[..at].matches('`').count() % 2 == 1;
            let target = line[at + 2..].split([')', ' ']).next()?;
            let is_ours = !target.contains("://") && !target.starts_with("mailto:") && !target.is_empty();
            (is_ours && !is_code).then_some((number, target))
        })
    })
}

/// The names by which a heading is linked: lower case, without punctuation, blanks as hyphens.
fn headings(text: &str) -> HashSet<String> {
    let mut all = HashSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_code) else { continue };
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
        let name: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        // A second heading of the same words is called after its number.
        let named = (1..).map(|number| format!("{name}-{number}")).find(|name| !all.contains(name));
        all.insert(if all.contains(&name) { named.unwrap_or_default() } else { name });
    }
    all
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn broken_links_are_named() {
        let root = std::env::temp_dir().join(format!("anqi-prose-{}", std::process::id()));
        fs::create_dir_all(root.join("docs")).unwrap();
        let text = "# One\n\n## A `b`, c\n[1](#a-b-c) [2](B.md#two) ![3](none.png) [4](B.md#three) `[5](x.md)` [6](http://x)\n\
                    ```\n[7](y.md)\n```\n[8](../docs/B.md) [9](../../B.md)\n";
        let texts = [("docs/A.md", text), ("docs/B.md", "## Two\n[1](#two)"), ("docs/SUMMARY.md", "[A](A.md)")]
            .map(|(path, text)| Text { path: path.to_owned(), text: text.to_owned() });
        for Text { path, text } in &texts {
            fs::write(root.join(path), text).unwrap();
        }
        let found = broken(&root, &texts);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            found,
            [
                "docs/A.md:4: the link to none.png leads to no file",
                "docs/A.md:4: the link to B.md#three leads to no heading of that file",
                "docs/A.md:8: the link to ../../B.md leads to no file",
            ]
        );
        assert_eq!(missing_chapters(&texts), ["docs/SUMMARY.md: does not name docs/B.md"]);
    }
}
