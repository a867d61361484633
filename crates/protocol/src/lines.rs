//! Lines from anywhere: any length, any bytes, bounded memory.

use std::io::{self, BufRead};

/// The longest line that is looked at. The longest that anybody needs is a `position` with all the moves of a very
/// long game.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;

/// A line without its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InputLine {
    Text(String),
    /// Not UTF-8; shown with replacement characters.
    Bytes(String),
    /// Longer than [`LONGEST_LINE`]; its beginning.
    TooLong(String),
}

impl InputLine {
    /// The text, or why there is none.
    pub(crate) fn text(&self) -> Result<&str, String> {
        match self {
            InputLine::Text(text) => Ok(text),
            InputLine::Bytes(text) => Err(format!("{:?} is not UTF-8", anqi_rules::excerpt(text))),
            InputLine::TooLong(start) => {
                Err(format!("the line {:?} is longer than {LONGEST_LINE} bytes", anqi_rules::excerpt(start)))
            }
        }
    }

    /// Whatever can be read of it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            InputLine::Text(text) | InputLine::Bytes(text) | InputLine::TooLong(text) => text,
        }
    }
}

impl From<Vec<u8>> for InputLine {
    fn from(mut bytes: Vec<u8>) -> InputLine {
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        String::from_utf8(bytes)
            .map_or_else(|bad| InputLine::Bytes(String::from_utf8_lossy(bad.as_bytes()).into_owned()), InputLine::Text)
    }
}

/// The next line; `None` at the end of the input. What is too long is read to its end and forgotten.
pub(crate) fn read_line(input: &mut impl BufRead) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let at_end = available.is_empty();
        let newline = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..newline.unwrap_or(available.len())];
        let room = LONGEST_LINE - line.len();
        too_long |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(newline.is_some());
        input.consume(used);
        if newline.is_some() || at_end {
            return Ok(match () {
                () if too_long => Some(InputLine::TooLong(String::from_utf8_lossy(&line).into_owned())),
                () if at_end && line.is_empty() => None,
                () => Some(InputLine::from(line)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_and_any_bytes() {
        let mut input = b"one\r\n\n\xff\0two\n".to_vec();
        input.extend(vec![b'x'; LONGEST_LINE]);
        input.push(b'\n');
        input.extend(vec![b'y'; 3 * LONGEST_LINE]);
        input.extend(b"\nlast");
        let mut input = io::BufReader::with_capacity(1000, &input[..]);
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines[0], InputLine::Text("one".to_owned()));
        assert_eq!(lines[1], InputLine::Text(String::new()));
        assert_eq!(lines[2], InputLine::Bytes("\u{fffd}\0two".to_owned()));
        assert_eq!(lines[3], InputLine::Text("x".repeat(LONGEST_LINE)));
        assert_eq!(lines[4], InputLine::TooLong("y".repeat(LONGEST_LINE)));
        assert_eq!(lines[5..], [InputLine::Text("last".to_owned())]);
    }
}
