//! A sheet of the match server as a record, and back.
//!
//! A sheet becomes the tags `First`, `Second`, `Result`, `TimeControl` (seconds), `Termination` and,
//! unless the game starts from the beginning, `Position`. A player `?` and a time of 0 stand for
//! tags that are not there. What the server may write in more than one way is kept, where it is
//! not our way, in the tags `ServerFirst`, `ServerCounts` and `ServerResult`, so that a record goes
//! out as it came in.
//!
//! A sheet has no room for comments, rules and other tags: they stay behind. What it would turn
//! into something else is an error.

use anqi_rules::{Position, Rules, Seat, SetupError};

use super::board::{ServerBoard, all_pieces, counts_text, parse_counts};
use super::ending::{self, ServerEnding};
use super::sheet::{Sheet, is_number};
use crate::error::{Flaw, WriteError};
use crate::record::{PlayedPly, Record};
use crate::tags::Tags;

const NOBODY: &str = "?";
const NO_TIME: &str = "0";
const USUAL_FIRST: &str = "0";

impl Sheet {
    /// The record.
    pub(super) fn to_record(&self) -> Result<Record, Flaw> {
        let Sheet { first, second, ending, .. } = self;
        let start = self.start()?;
        let position = (start != Position::initial(&Rules::server())).then(|| start.to_string());
        let termination = ending.termination.as_deref();
        let usual_ending = ServerEnding::new(ending.result, termination, first, second).map(|usual| usual.text);

        let mut tags = Tags::new();
        for (name, value) in [
            ("First", unless(first, NOBODY)),
            ("Second", unless(second, NOBODY)),
            ("Result", Some(ending.result.name())),
            ("TimeControl", unless(&self.time, NO_TIME)),
            ("Termination", termination),
            ("Position", position.as_deref()),
            ("ServerFirst", unless(&self.server_first, USUAL_FIRST)),
            ("ServerCounts", unless(&counts_text(&self.counts), &counts_text(&all_pieces(&start)))),
            ("ServerResult", unless(&ending.text, &usual_ending.unwrap_or_default())),
        ] {
            value.map_or(Ok(()), |value| tags.push(name, value))?;
        }
        Ok(Record::new(tags, self.plies.iter().copied().map(PlayedPly::from).collect(), ending.result)?)
    }

    /// The sheet for a record.
    pub(super) fn of_record(record: &Record) -> Result<Sheet, WriteError> {
        let tags = record.tags();
        let first = record.player(Seat::First).unwrap_or(NOBODY).to_owned();
        let second = record.player(Seat::Second).unwrap_or(NOBODY).to_owned();
        if format!("{first} vs {second}").split_once(" vs ") != Some((&first, &second)) {
            return Err(WriteError::Players { first, second });
        }
        let number = |name, usual: &str| tags.get(name).filter(|text| is_number(text)).unwrap_or(usual).to_owned();
        let start = record.start(&record.rules()?.unwrap_or_default())?;
        let mut sheet = Sheet {
            counts: all_pieces(&start),
            board: ServerBoard::of(&start),
            server_first: number("ServerFirst", USUAL_FIRST),
            time: number("TimeControl", NO_TIME),
            plies: record.plies().iter().map(|played| played.ply).collect(),
            ending: ServerEnding::new(record.result(), tags.get("Termination"), &first, &second)?,
            first,
            second,
        };
        if sheet.start().ok() != Some(start) {
            return Err(WriteError::Start(start));
        }
        sheet.restore(tags);
        Ok(sheet)
    }

    /// Says in the server's own way, if it was kept, what the sheet says already.
    fn restore(&mut self, tags: &Tags) {
        if let Some(Ok(counts)) = tags.get("ServerCounts").map(parse_counts) {
            let same = self.board.position(&counts, &self.plies) == self.start();
            self.counts = if same { counts } else { self.counts };
        }
        if let Some(Ok(kept)) =
            tags.get("ServerResult").map(|text| ServerEnding::parse(text, &self.first, &self.second))
        {
            let words = [&kept, &self.ending].map(|ending| ending::word(ending.termination.as_deref()).ok());
            if kept.result == self.ending.result && words[0] == words[1] {
                self.ending = kept;
            }
        }
    }

    fn start(&self) -> Result<Position, SetupError> {
        self.board.position(&self.counts, &self.plies)
    }
}

/// `text`, unless it is what we would write anyway.
fn unless<'a>(text: &'a str, usual: &str) -> Option<&'a str> {
    Some(text).filter(|text| *text != usual)
}
