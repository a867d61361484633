//! Files that are written whole and say of themselves what they hold: a damaged one is refused with the line and the reason.
//!
//! A sealed text begins with its kind and version; its last line has the checksum of every line before it:
//!
//! ```text
//! anqi weights 2
//! eval static
//! king 1200
//! end 3 8c736521 272f6839 a5e2ad0b 1b2c3d4e
//! ```
//!
//! `end` is followed by the number of lines, a CRC-32 for each, and the CRC-32 of all that. A sealed object is JSON on one line
//! whose last field is `"checksum"`, the CRC-32 of everything before that field.

use std::borrow::Cow;

use crate::{Damage, DamageReason};

const VERSION: u32 = 2;

/// A text with its kind in the first line and the checksums of all lines in the last.
#[must_use]
pub fn seal_text(kind: &str, text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let sealed = format!("anqi {kind} {VERSION}\n{text}{end}");
    let last = end_line(sealed.lines().map(|line| crc32fast::hash(line.as_bytes())));
    format!("{sealed}{last}\n")
}

/// The text of a sealed file, with empty lines in place of its first and last, so that its lines keep their numbers. `None`
/// if it was written without a seal, as version 1 was.
///
/// # Errors
/// If it was sealed and is not what was written, is of another kind, or of a version that is not known.
pub fn unseal_text(kind: &str, bytes: &[u8]) -> Result<Option<String>, Damage> {
    let is_empty = bytes.is_empty();
    let lines: Vec<&[u8]> = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&byte| byte == b'\n').collect();
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    let beginning = format!("anqi {kind} ");
    // An empty first line is one of a text that was written by hand.
    let is_cut = (is_empty || !first.is_empty()) && beginning.as_bytes().starts_with(first);
    let is_begun = is_cut || first.starts_with(beginning.as_bytes());
    let sums = end_sums(last);
    if !is_begun && sums.is_none() && !last.starts_with(b"end ") {
        return Ok(None);
    }
    let damage = |line: usize, reason| Damage { line: line as u64 + 1, reason };
    let content = |what: &str| DamageReason::Content(what.to_owned());
    let cut = || content("it is not the line of checksums that ends the file, which was cut off or damaged there");
    let sums = match sums {
        Some(sums) if bytes.ends_with(b"\n") && lines.len() > 1 => sums,
        _ if is_empty => return Err(damage(0, content("the file is empty"))),
        _ => return Err(damage(lines.len() - 1, cut())),
    };
    for (number, line) in lines[..lines.len() - 1].iter().enumerate() {
        let said =
            *sums.get(number).ok_or_else(|| damage(number, content("it was not there when the file was written")))?;
        let is = crc32fast::hash(line);
        if is != said {
            return Err(damage(number, DamageReason::Checksum { said, is }));
        }
    }
    if sums.len() != lines.len() - 1 {
        return Err(damage(lines.len() - 1, content("lines are missing before it")));
    }
    if first != format!("{beginning}{VERSION}").as_bytes() {
        let first = crate::excerpt(&String::from_utf8_lossy(first));
        let what = format!("it says {first:?}, and \"{beginning}{VERSION}\" was expected");
        return Err(damage(0, DamageReason::Content(what)));
    }
    let mut text = String::from("\n");
    for (number, line) in lines[1..lines.len() - 1].iter().enumerate() {
        text.push_str(std::str::from_utf8(line).map_err(|_| damage(number + 1, DamageReason::NotText))?);
        text.push('\n');
    }
    Ok(Some(text))
}

/// What the last line has of the others, if it is one of checksums.
fn end_sums(line: &[u8]) -> Option<Vec<u32>> {
    let line = std::str::from_utf8(line).ok()?;
    let mut sums: Vec<u32> = Vec::new();
    for word in line.strip_prefix("end ")?.split(' ').skip(1) {
        sums.push(u32::from_str_radix(word, 16).ok()?);
    }
    sums.pop()?;
    (end_line(sums.iter().copied()) == line).then_some(sums)
}

fn end_line(sums: impl Iterator<Item = u32>) -> String {
    let sums: Vec<String> = sums.map(|sum| format!(" {sum:08x}")).collect();
    let line = format!("end {}{}", sums.len(), sums.concat());
    format!("{line} {:08x}", crc32fast::hash(line.as_bytes()))
}

/// A JSON object on one line with the checksum of the rest as its last field.
#[must_use]
pub fn seal_object(json: &str) -> String {
    let rest = json.trim_end().strip_suffix('}').unwrap_or(json);
    format!("{rest}{}\n", checksum_field(rest))
}

/// The text of a sealed object, which is JSON as it stands.
///
/// # Errors
/// If it is not what was written.
pub fn unseal_object(bytes: &[u8]) -> Result<&str, Damage> {
    let damage = |reason| Damage { line: 1, reason };
    let text = std::str::from_utf8(bytes).map_err(|_| damage(DamageReason::NotText))?;
    let from = text.len().checked_sub(checksum_field("").len() + 1);
    let rest = from.and_then(|from| text.get(..from));
    let said = rest.and_then(|rest| {
        let sum = text[rest.len()..].strip_prefix(CHECKSUM)?.strip_suffix("\"}\n")?;
        let said = u32::from_str_radix(sum, 16).ok()?;
        (format!("{said:08x}") == sum).then_some((rest, said))
    });
    let Some((rest, said)) = said else {
        let end: Cow<'_, str> = match text.char_indices().rev().nth(39) {
            Some((at, _)) => format!("…{}", &text[at..]).into(),
            None => text.into(),
        };
        return Err(damage(DamageReason::NoChecksum(end.into_owned())));
    };
    let is = crc32fast::hash(rest.as_bytes());
    if is == said { Ok(text) } else { Err(damage(DamageReason::Checksum { said, is })) }
}

const CHECKSUM: &str = ",\"checksum\":\"";

fn checksum_field(rest: &str) -> String {
    format!("{CHECKSUM}{:08x}\"}}", crc32fast::hash(rest.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\neval static\nking 9\n";

    #[test]
    fn what_is_sealed_is_read() {
        let sealed = seal_text("weights", TEXT);
        assert_eq!(unseal_text("weights", sealed.as_bytes()), Ok(Some(format!("\n{TEXT}"))));
        assert_eq!(sealed.lines().next(), Some("anqi weights 2"));
        assert_eq!(sealed.lines().last(), Some("end 4 aeba39fb 80d22149 83b0ee40 1b33ba39 97dbc780"));
        for unsealed in [TEXT, &format!("\n{TEXT}")] {
            assert_eq!(unseal_text("weights", unsealed.as_bytes()), Ok(None), "as version 1 was written");
        }
        let object = seal_object(r#"{"schema":"x","n":1}"#);
        assert_eq!(unseal_object(object.as_bytes()), Ok(object.as_str()));
        assert_eq!(object, "{\"schema\":\"x\",\"n\":1,\"checksum\":\"7d7c27a5\"}\n");
    }

    #[test]
    fn damage_names_its_line() {
        let sealed = seal_text("weights", TEXT);
        let told = |text: &str| unseal_text("weights", text.as_bytes()).unwrap_err().to_string();
        let sum = |text: &str| crc32fast::hash(text.as_bytes());
        assert_eq!(
            told(&sealed.replace("king 9", "king 8")),
            format!(
                "line 4 is damaged: its checksum is {:08x}, and that of its text {:08x}",
                sum("king 9"),
                sum("king 8")
            )
        );
        assert!(told(&sealed.replace("king 9\n", "")).starts_with("line 4 is damaged: "));
        assert!(
            told(&sealed.replace("king 9\n", "king 9\nking 9\n")).starts_with("line 5 is damaged: it was not there")
        );
        assert!(told(&sealed[..sealed.len() - 30]).starts_with("line 5 is damaged: it is not the line of checksums"));
        assert!(told("").starts_with("line 1 is damaged: the file is empty"));
        let newer = sealed.replace("weights 2", "weights 3");
        assert!(told(&newer).starts_with("line 1 is damaged: its checksum"), "{}", told(&newer));
        let other = seal_text("something", TEXT);
        let expected = "line 1 is damaged: it says \"anqi something 2\", and \"anqi weights 2\" was expected";
        assert_eq!(told(&other), expected);
    }
}
