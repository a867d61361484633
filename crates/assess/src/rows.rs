//! Rows for training a network: positions as numbers, as `training/train.py` reads them.

use std::io::{self, Write};
use std::path::PathBuf;

use anqi_records::{FileError, FileProblems, GameResult, Record, Replay, replay_files};
use anqi_rules::{Piece, Ply, Position, Rules, Seat, Square};
use serde::Serialize;

/// A quiet position of a game with a result, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrainingRow {
    /// What [`view`](anqi_engine::view) shows.
    pub view: [u8; Square::COUNT + Piece::COUNT],
    /// Quiet plies until a draw; [`u16::MAX`] without such a rule.
    pub left: u16,
    /// How many plies had been played.
    pub ply: u16,
    /// What became of the side to move: 1, 0 or −1.
    pub result: i8,
    /// What a search said of the move that was made, in units of its own.
    pub score: Option<i32>,
}

/// The fields of a row in their order: name, type as numpy writes it, how many, and what they are. The only definition of
/// the layout; `training/row.py` is made from it.
const FIELDS: [(&str, &str, usize, &str); 7] = [
    ("squares", "u1", Square::COUNT, "0 nothing, 1-7 own pieces by rung, 8-14 the enemy's, 15 face down"),
    ("pool", "u1", Piece::COUNT, "how many of each are face down"),
    ("left", "<u2", 1, "quiet plies until a draw"),
    ("ply", "<u2", 1, "plies played"),
    ("result", "i1", 1, "for the side to move: 1, 0, -1"),
    ("known", "u1", 1, "whether there is a score"),
    ("score", "<i4", 1, "what a search said, in units of its own"),
];

/// What came of writing the rows of some files.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct RowsWritten {
    /// How many games.
    pub games: u64,
    /// How many rows.
    pub positions: u64,
    /// Records that cannot be read or replayed.
    #[serde(flatten)]
    pub problems: FileProblems,
}

/// Writes the rows of the games in `files`, played under `rules` or their own.
///
/// # Errors
/// If a file cannot be read to its end, or `out` cannot be written to.
pub fn write_rows<E: From<FileError> + From<io::Error>>(
    files: &[PathBuf],
    rules: Option<Rules>,
    out: &mut dyn Write,
) -> Result<RowsWritten, E> {
    let mut written = RowsWritten::default();
    for replayed in replay_files(files, rules) {
        match replayed?.1 {
            Ok((record, replay)) => {
                written.games += 1;
                for row in TrainingRow::of(&replay, &record) {
                    out.write_all(&row.to_bytes())?;
                    written.positions += 1;
                }
            }
            Err(problem) => written.problems.push(problem),
        }
    }
    Ok(written)
}

impl TrainingRow {
    /// Bytes of a row.
    pub const SIZE: usize = {
        let (mut size, mut place) = (0, 0);
        while place < FIELDS.len() {
            let (_, kind, count, _) = FIELDS[place];
            // The last character of the type is the size of a number.
            size += count * (kind.as_bytes()[kind.len() - 1] - b'0') as usize;
            place += 1;
        }
        size
    };

    /// The rows of a game: its quiet positions, if it has a result. What a capture is worth is for the search to say.
    #[must_use]
    pub fn of(replay: &Replay, record: &Record) -> Vec<TrainingRow> {
        let mut rows = Vec::new();
        if replay.result == GameResult::Unfinished {
            return rows;
        }
        let draw = replay.game.rules().draw();
        let left = |position: &Position| draw.map_or(u16::MAX, |draw| draw.saturating_sub(position.quiet()));
        let played = replay.game.positions().iter().zip(record.plies()).take(replay.game.plies().len());
        for ((ply, (position, played)), seat) in played.enumerate().zip(Seat::ALL.into_iter().cycle()) {
            let captures = matches!(played.ply, Ply::Step { to, .. } if position.occupied().contains(to));
            if position.turn().is_none() || captures {
                continue;
            }
            rows.push(TrainingRow {
                view: anqi_engine::view(position),
                left: left(position),
                ply: u16::try_from(ply).unwrap_or(u16::MAX),
                result: match replay.result {
                    GameResult::Won(winner) if winner == seat => 1,
                    GameResult::Won(_) => -1,
                    _ => 0,
                },
                score: played.comment.eval.map(|eval| eval.get() as i32),
            });
        }
        rows
    }

    /// The row as it is written.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; TrainingRow::SIZE] {
        let TrainingRow { view, left, ply, result, score } = *self;
        let mut bytes = view
            .into_iter()
            .chain(left.to_le_bytes())
            .chain(ply.to_le_bytes())
            .chain(result.to_le_bytes())
            .chain([u8::from(score.is_some())])
            .chain(score.unwrap_or(0).to_le_bytes());
        std::array::from_fn(|_| bytes.next().unwrap_or_default())
    }

    /// The layout of a row for numpy: what `training/row.py` holds.
    #[must_use]
    pub fn numpy() -> String {
        let mut text = String::from(
            "\"\"\"The rows that `anqi records samples` writes. Made from crates/assess/src/rows.rs by its test; do not \
             edit.\"\"\"\n\nimport numpy as np\n\nSAMPLE = np.dtype(\n    [\n",
        );
        for (name, kind, count, help) in FIELDS {
            let count = if count == 1 { String::new() } else { format!(", {count}") };
            text += &format!("        (\"{name}\", \"{kind}\"{count}),  # {help}\n");
        }
        text + "    ]\n)\n"
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{FIELDS, TrainingRow};

    #[test]
    fn bytes_lie_where_the_layout_says() {
        let mut row = TrainingRow { view: [0; 46], left: 0x1234, ply: 0x5678, result: -1, score: Some(-70_000) };
        row.view.iter_mut().zip(1..).for_each(|(byte, number)| *byte = number);
        let bytes = row.to_bytes();
        let mut from = 0;
        for (name, kind, count, _) in FIELDS {
            let size = count * usize::from(kind.as_bytes()[kind.len() - 1] - b'0');
            let field = &bytes[from..from + size];
            let number = field.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            match name {
                "squares" => assert_eq!(field, &row.view[..32]),
                "pool" => assert_eq!(field, &row.view[32..]),
                "left" => assert_eq!(number, 0x1234),
                "ply" => assert_eq!(number, 0x5678),
                "result" => assert_eq!(number as u8 as i8, -1),
                "known" => assert_eq!(number, 1),
                "score" => assert_eq!(number as u32 as i32, -70_000),
                _ => panic!("{name} is not tested"),
            }
            from += size;
        }
        assert_eq!((from, TrainingRow::SIZE), (56, 56));
    }

    #[test]
    fn the_training_script_reads_what_we_write() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../training/row.py");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, TrainingRow::numpy()).expect("row.py is written");
        }
        assert_eq!(fs::read_to_string(&path).expect("row.py"), TrainingRow::numpy(), "UPDATE=1 writes it anew");
    }
}
