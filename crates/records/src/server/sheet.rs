//! `Sheet`: the lines of one record of the match server, in and out.

use std::fmt;
use std::io::BufRead;

use anqi_rules::{Material, Ply};

use super::board::{ServerBoard, counts_text, parse_counts};
use super::ending::ServerEnding;
use crate::error::{Flaw, RecordError};
use crate::lines::{Lines, TextLine};
use crate::movetext::{MOST_PLIES, check_number};

const BEGINNING: &str = "INITIAL";

/// Whether a record begins with this line.
pub(super) fn is_beginning(line: &str) -> bool {
    line.trim_ascii_end() == BEGINNING
}

/// What the lines say.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) counts: Material,
    pub(super) board: ServerBoard,
    /// The number in the line `first`, whatever it means.
    pub(super) server_first: String,
    /// Seconds a side.
    pub(super) time: String,
    pub(super) plies: Vec<Ply>,
    pub(super) ending: ServerEnding,
}

impl Sheet {
    /// Reads the record that begins with the line `first`; also gives its last line.
    pub(super) fn read(lines: &mut Lines<impl BufRead>, first: TextLine) -> Result<(Sheet, TextLine), RecordError> {
        if !is_beginning(first.sound()?) {
            return Err(first.damage(Flaw::Stray(BEGINNING)).into());
        }
        let mut body = Body { lines, line: first };
        let (first, second) = body.next(parse_players)?;
        let counts = body.next(parse_counts)?;
        let mut board = ServerBoard::default();
        for rank in (0..8).rev() {
            body.next(|text| board.read_row(rank, text))?;
        }
        let server_first = body.next(|text| parse_number(text, "first ", "a number such as * first 0"))?;
        let time = body.next(|text| parse_number(text, "time ", "seconds such as * time 900"))?;
        let mut plies = Vec::new();
        while body.next(|text| read_plies(text, &mut plies))? {}
        let ending = body.parse(|text| ServerEnding::parse(text, &first, &second))?;
        Ok((Sheet { first, second, counts, board, server_first, time, plies, ending }, body.line))
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{BEGINNING}")?;
        writeln!(f, "* {} vs {}", self.first, self.second)?;
        writeln!(f, "* {}", counts_text(&self.counts))?;
        write!(f, "{}", self.board)?;
        writeln!(f, "* first {}", self.server_first)?;
        writeln!(f, "* time {}", self.time)?;
        for (number, plies) in (1..).zip(self.plies.chunks(2)) {
            write!(f, "* {number}.")?;
            plies.iter().try_for_each(|ply| write!(f, " {ply}"))?;
            writeln!(f)?;
        }
        writeln!(f, "* {}", self.ending.text)
    }
}

/// The lines of one record, of which one is being read.
struct Body<'a, R> {
    lines: &'a mut Lines<R>,
    line: TextLine,
}

impl<R: BufRead> Body<'_, R> {
    /// Goes to the next line and reads it.
    fn next<T>(&mut self, read: impl FnOnce(&str) -> Result<T, Flaw>) -> Result<T, RecordError> {
        match self.lines.next()? {
            Some(line) if !line.is_blank() && !is_beginning(&line.text) => self.line = line,
            end => {
                end.into_iter().for_each(|line| self.lines.put_back(line));
                return Err(self.line.damage(Flaw::NoResult).into());
            }
        }
        self.parse(read)
    }

    /// Reads this line again.
    fn parse<T>(&self, read: impl FnOnce(&str) -> Result<T, Flaw>) -> Result<T, RecordError> {
        let text = self.line.sound()?.strip_prefix("* ").ok_or(Flaw::Expected("a line that begins with a star"));
        Ok(text.and_then(read).map_err(|flaw| self.line.damage(flaw))?)
    }
}

fn parse_players(text: &str) -> Result<(String, String), Flaw> {
    let (first, second) = text.split_once(" vs ").ok_or(Flaw::Expected("players such as * Alice vs Bob"))?;
    Ok((first.to_owned(), second.to_owned()))
}

fn parse_number(text: &str, name: &str, what: &'static str) -> Result<String, Flaw> {
    let number = text.strip_prefix(name).filter(|number| is_number(number));
    number.map(str::to_owned).ok_or(Flaw::Expected(what))
}

/// Whether this can stand for a number in a sheet.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds the plies of a line `1. b8(G) d8(c)`; says whether it is one.
fn read_plies(text: &str, plies: &mut Vec<Ply>) -> Result<bool, Flaw> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return Ok(false);
    }
    let mut words = text.split_ascii_whitespace();
    check_number(words.next().unwrap_or_default(), plies.len())?;
    if plies.len() + 2 > MOST_PLIES {
        return Err(Flaw::ManyPlies(MOST_PLIES));
    }
    let before = plies.len();
    plies.extend(words.by_ref().take(2).map(str::parse).collect::<Result<Vec<Ply>, _>>()?);
    if plies.len() == before || words.next().is_some() {
        return Err(Flaw::Expected("one or two plies after the number"));
    }
    Ok(true)
}
