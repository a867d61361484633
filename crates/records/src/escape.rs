//! Backslashes, in the values of tags and in comments alike.

/// `text` with a backslash before each `special` character and each backslash.
pub(crate) fn escape(text: &str, special: char) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == special || letter == '\\' {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Undoes [`escape`]; the error is what [`escape`] would not have written.
pub(crate) fn unescape(text: &str, special: char) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some(next) if next == special || next == '\\' => next,
                next => return Err(['\\'].into_iter().chain(next).collect()),
            },
            _ if letter == special => return Err(letter.to_string()),
            _ => letter,
        });
    }
    Ok(plain)
}
