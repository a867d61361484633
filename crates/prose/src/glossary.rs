//! One word, one thing: a type that the glossary of the map names is declared where the glossary says, and nowhere else.

use std::collections::BTreeMap;

use crate::Text;

/// The file with the glossary; its section `## Words` is a table whose last column names types as `crate::Type` or
/// `crate::{A, B}`.
const MAP: &str = "docs/ARCHITECTURE.md";

/// Other types of the same name: file, name, and why no reader takes one for the other.
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("crates/cli/src/main.rs", "Command", "the commands of the program, as clap calls them; private to the file")];

/// Declarations that contradict the glossary, and words of it that no type has.
pub(crate) fn contradictions(texts: &[Text]) -> Vec<String> {
    check(texts, &EXCEPTIONS)
}

fn check(texts: &[Text], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let Some(map) = texts.iter().find(|text| text.path == MAP) else { return vec![format!("{MAP} is missing")] };
    let homes = homes(&map.text);
    if homes.is_empty() {
        return vec![format!("{MAP}: no table under \"## Words\" whose last column names types")];
    }
    let mut complaints = Vec::new();
    let mut unused: Vec<_> = exceptions.iter().collect();
    let mut found: BTreeMap<&str, usize> = homes.keys().map(|name| (name.as_str(), 0)).collect();
    for (at, name) in texts.iter().flat_map(declarations) {
        let Some((name, home)) = homes.get_key_value(name) else { continue };
        let (path, _) = at.rsplit_once(':').unwrap_or((&at, ""));
        let times = found.entry(name.as_str()).or_default();
        if path.starts_with(&format!("crates/{home}/src/")) && *times == 0 {
            *times += 1;
        } else if exceptions.iter().any(|(file, word, _)| *file == path && word == name) {
            unused.retain(|(file, word, _)| *file != path || word != name);
        } else {
            complaints
                .push(format!("{at}: `{name}` means `{home}::{name}` ({MAP}, Words); give this type another name"));
        }
    }
    let missing = found.iter().filter(|(_, times)| **times == 0).map(|(name, _)| (name, &homes[*name]));
    complaints
        .extend(missing.map(|(name, home)| format!("{MAP}: Words names `{home}::{name}`, which is not declared")));
    complaints.extend(unused.iter().map(|(file, word, _)| format!("{file}: the exception for `{word}` is not needed")));
    complaints
}

/// The types of the glossary with their crates.
fn homes(map: &str) -> BTreeMap<String, String> {
    let section =
        map.lines().skip_while(|line| *line != "## Words").skip(1).take_while(|line| !line.starts_with("## "));
    let mut homes = BTreeMap::new();
    for row in section.filter(|line| line.starts_with('|')) {
        let places = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        // Every second piece between backticks is code.
        for (home, names) in places.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::")) {
            for name in names.trim_matches(['{', '}']).split(',') {
                homes.insert(name.trim().to_owned(), home.to_owned());
            }
        }
    }
    homes
}

/// The types that a source file declares, macros included, each with file and line. Associated types are none: an indented
/// `type` without `pub` belongs to a trait.
fn declarations(text: &Text) -> impl Iterator<Item = (String, &str)> {
    let is_source = text.path.starts_with("crates/") && text.path.contains("/src/") && text.path.ends_with(".rs");
    let lines = text.text.lines().enumerate().filter(move |_| is_source);
    lines.filter_map(|(number, line)| Some((format!("{}:{}", text.path, number + 1), declared(line)?)))
}

/// The type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let public = line.trim_start().strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    let (keyword, rest) = public.unwrap_or(line).trim_start().split_once(' ')?;
    let is_declaration = match keyword {
        "struct" | "enum" | "union" | "trait" => true,
        "type" => public.is_some() || !line.starts_with(' '),
        _ => false,
    };
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    is_declaration.then_some(&rest[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "# The map\n\n`other::Word`\n\n## Words\n\n| word | what it is | where |\n|---|---|---|\n\
        | deal | what `x::Nothing` hides | `rules::Deal` |\n| move, ply | decided; happened | `rules::{Move, Ply}` |\n\n## Next\n\n\
        | a | b | `rules::No` |\n";

    fn found(files: &[(&str, &str)], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
        let own = "pub struct Deal {\n}\n\npub(crate) enum Move<T> {\n    Deal(u8),\n}\ntype Ply = u8;\n";
        let files = [(MAP, GLOSSARY), ("crates/rules/src/lib.rs", own)].into_iter().chain(files.iter().copied());
        let texts = files.map(|(path, text)| Text { path: path.to_owned(), text: text.to_owned() });
        check(&texts.collect::<Vec<_>>(), exceptions)
    }

    #[test]
    fn the_last_column_is_read() {
        let expected = ["Deal", "Move", "Ply"].map(|name| (name.to_owned(), "rules".to_owned()));
        assert_eq!(homes(GLOSSARY), BTreeMap::from(expected));
    }

    #[test]
    fn a_second_meaning_is_said() {
        assert!(found(&[], &[]).is_empty());
        for (path, text) in [
            ("crates/lab/src/deal.rs", "//! A deal.\nstruct Deal;"),
            ("crates/lab/src/deal.rs", "\npub(in crate::x) trait Move: Sized {"),
            ("crates/lab/src/deal.rs", "\n    enum Deal<'a> {"),
            ("crates/lab/src/deal.rs", "\n    pub type Ply = u8;"),
            ("crates/rules/src/other.rs", "\ntype Deal = u8;"),
        ] {
            let complaints = found(&[(path, text)], &[]);
            assert!(complaints.len() == 1 && complaints[0].starts_with(&format!("{path}:2: `")), "{complaints:?}");
        }
        for text in [
            "    type Ply = u8;",
            "pub struct Dealer;",
            "/// struct Deal",
            "let x: Deal = 1;",
            "impl Deal {",
            "use a::Deal;",
        ] {
            assert!(found(&[("crates/lab/src/deal.rs", text)], &[]).is_empty(), "{text}");
        }
        assert!(found(&[("crates/lab/tests/deal.rs", "struct Deal;")], &[]).is_empty());
    }

    #[test]
    fn words_without_types_are_said() {
        let map = Text { path: MAP.to_owned(), text: GLOSSARY.to_owned() };
        assert_eq!(check(&[map], &[]).len(), 3);
        assert!(check(&[], &[])[0].contains("missing"));
        let empty = Text { path: MAP.to_owned(), text: "## Words\n".to_owned() };
        assert!(check(&[empty], &[])[0].contains("no table"));
    }

    #[test]
    fn exceptions_are_needed() {
        let exceptions = [("crates/lab/src/deal.rs", "Deal", "a test")];
        assert!(found(&[("crates/lab/src/deal.rs", "struct Deal;")], &exceptions).is_empty());
        assert!(found(&[], &exceptions)[0].contains("is not needed"));
    }
}
