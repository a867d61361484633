//! Words that we do not use: they hide who does what.

use crate::Text;

/// Each word, and how often it still stands in comments, messages and documents. A number may only fall: lower it when
/// you remove the word somewhere; `None is a human player`, not "nobody is a person".
const WORDS: [(&str, usize); 5] =
    [("anybody", 13), ("everybody", 35), ("nobody", 94), ("somebody", 31), ("whoever", 56)];

/// Words that became more, with the places where they stand in the files that have most of them.
pub(crate) fn too_many(texts: &[Text]) -> Vec<String> {
    let texts = || texts.iter().filter(|text| !text.path.starts_with("crates/prose/"));
    let mut complaints = Vec::new();
    for (word, most) in WORDS {
        let found: usize = texts().map(|text| count(&text.text, word)).sum();
        if found > most {
            complaints.push(format!(
                "\"{word}\" stands in {found} places, {most} are allowed: say who or what it is \
                 (git diff | grep -iw {word}; section Words of CONTRIBUTING.md)"
            ));
        }
    }
    complaints
}

/// How often a word stands in a text, in capitals or not.
fn count(text: &str, word: &str) -> usize {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|found| found.eq_ignore_ascii_case(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_too_many_is_said() {
        let text = |times| [Text { path: "docs/A.md".to_owned(), text: "Nobody, nobody's\n".repeat(times) }];
        assert_eq!(count(&text(3)[0].text, "nobody"), 6);
        let (_, most) = WORDS[2];
        assert!(too_many(&text(most / 2)).is_empty());
        let places = 2 * (most / 2 + 1);
        assert!(too_many(&text(places / 2))[0].contains(&format!("\"nobody\" stands in {places} places")));
    }
}
