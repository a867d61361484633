//! `SeriesScores`: what people and programs made of their series, as the tables 4 and 5 of Chen, Shen & Hsu print it.

use std::collections::{BTreeMap, BTreeSet};

use anqi_records::{EndingCheck, GameResult, Record, ReplayError, replay};
use anqi_rules::Seat;
use anqi_stats::{ChenScores, CrossTable, Games, Points};
use serde::Serialize;

use crate::series::SeriesGame;

/// A game of a series that is over, by its record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesResult {
    /// Its place.
    pub game: SeriesGame,
    /// The program with its budget.
    pub program: String,
    /// The fingerprint of the program, if the record tells.
    pub engine: Option<String>,
    /// The rules.
    pub rules: String,
    /// The seat of the person.
    pub person: Seat,
    /// What the game brought the first player.
    pub first: Points,
    /// Why it ended.
    pub reason: String,
    /// How many plies it had.
    pub plies: usize,
    /// The day on which it began.
    pub date: Option<String>,
}

/// Why a record is no game of a series.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SeriesRecordError {
    /// A tag says something else.
    #[error("{0}")]
    Tag(String),
    /// A record that cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A record that the rules refuse.
    #[error("ply {ply}: {error}")]
    Illegal {
        /// The ply, from 1.
        ply: usize,
        /// Why.
        error: anqi_rules::PlyError,
    },
    /// A result that is not the one of the board.
    #[error("the result does not follow from the game: {0}")]
    Ending(EndingCheck),
    /// Two people or two programs.
    #[error("the players are {0:?} and {1:?}, expected \"person\" and a program")]
    Players(String, String),
    /// Plies were taken back, which a series does not allow.
    #[error("plies were taken back")]
    TakenBack,
}

impl SeriesResult {
    /// What a record tells; `None` if its game is of no series, or not over. The game is replayed by its rules.
    ///
    /// # Errors
    /// If the record cannot be that of a game of a series.
    pub fn of_record(record: &Record) -> Result<Option<SeriesResult>, SeriesRecordError> {
        let tags = record.tags();
        let Some(game) = SeriesGame::of_record(tags).map_err(SeriesRecordError::Tag)? else { return Ok(None) };
        let first = match record.result() {
            GameResult::Unfinished => return Ok(None),
            GameResult::Won(Seat::First) => Points::Win,
            GameResult::Won(Seat::Second) => Points::Loss,
            GameResult::Drawn => Points::Draw,
        };
        let names = Seat::ALL.map(|seat| record.player(seat).unwrap_or("?").to_owned());
        let person = match names.each_ref().map(|name| name == "person") {
            [true, false] => Seat::First,
            [false, true] => Seat::Second,
            _ => {
                let [first, second] = names;
                return Err(SeriesRecordError::Players(first, second));
            }
        };
        if tags.get("TakeBacks").is_some() {
            return Err(SeriesRecordError::TakenBack);
        }
        let replay = replay(record, None)?;
        if let Some(illegal) = replay.illegal {
            return Err(SeriesRecordError::Illegal { ply: illegal.ply, error: illegal.error });
        }
        if replay.ending != EndingCheck::Equal {
            return Err(SeriesRecordError::Ending(replay.ending));
        }
        let engine = if person == Seat::First { "SecondEngine" } else { "FirstEngine" };
        let tag = |name| tags.get(name).map(str::to_owned);
        Ok(Some(SeriesResult {
            game,
            program: names[person.other() as usize].clone(),
            engine: tag(engine),
            rules: replay.game.rules().to_string(),
            person,
            first,
            reason: tag("Termination").unwrap_or_default(),
            plies: record.plies().len(),
            date: tag("Date"),
        }))
    }

    /// What the game brought the person.
    #[must_use]
    pub const fn of_person(&self) -> Points {
        match self.person {
            Seat::First => self.first,
            Seat::Second => self.first.inverted(),
        }
    }
}

/// The scores of programs and people in their series.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SeriesScores {
    /// The rows of Table 5, by name.
    pub programs: Vec<ProgramScores>,
    /// What Table 4 has of the people, by name.
    pub people: Vec<PersonScores>,
    /// How far every series is.
    pub series: Vec<SeriesProgress>,
    /// All games that were counted, by series and number.
    #[serde(skip)]
    results: Vec<SeriesResult>,
}

/// A row of Table 5. What another program, other rules or another version of the program played is another row.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProgramScores {
    /// The program with its budget.
    pub program: String,
    /// Its fingerprint, if the records tell.
    pub engine: Option<String>,
    /// The rules.
    pub rules: String,
    /// How many people it has met.
    pub people: usize,
    /// The games in which it moved first: its results.
    pub computer_first: Games,
    /// The games in which a person moved first: the person's results, as those of the first player.
    pub human_first: Games,
    /// GS_f, GS_s and TS of the program.
    #[serde(flatten)]
    pub scores: ChenScores,
}

/// A person, and how the games ended for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PersonScores {
    /// The name.
    pub person: String,
    /// The rank, or all that were given.
    pub ranks: Vec<u32>,
    /// The person's results against all programs.
    pub games: Games,
}

/// How many games of a series are over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SeriesProgress {
    /// Its name.
    pub series: String,
    /// The person.
    pub person: String,
    /// The program with its budget.
    pub program: String,
    /// How many games are over.
    pub over: usize,
    /// How many it has.
    pub of: u32,
}

/// Two records of one game of a series that tell different things.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {number} of series {series} is there twice with different results or players")]
pub struct SeriesConflict {
    /// The series.
    pub series: String,
    /// The game.
    pub number: u32,
}

impl SeriesScores {
    /// The scores of these games. A game that is there more than once counts once.
    ///
    /// # Errors
    /// If two records of one game differ, or two games of one series are of different people.
    pub fn of(results: impl IntoIterator<Item = SeriesResult>) -> Result<SeriesScores, SeriesConflict> {
        let mut games: BTreeMap<(String, u32), SeriesResult> = BTreeMap::new();
        let mut heads: BTreeMap<String, SeriesGame> = BTreeMap::new();
        for result in results {
            let SeriesGame { series, number, .. } = result.game.clone();
            let conflict = SeriesConflict { series: series.clone(), number };
            let head = heads.entry(series.clone()).or_insert_with(|| result.game.clone());
            if *head != (SeriesGame { number: head.number, ..result.game.clone() }) {
                return Err(conflict);
            }
            if *games.entry((series, number)).or_insert_with(|| result.clone()) != result {
                return Err(conflict);
            }
        }
        let results: Vec<SeriesResult> = games.into_values().collect();
        Ok(SeriesScores { programs: programs(&results), people: people(&results), series: progress(&results), results })
    }

    /// Table 5 as CSV: a line for each program, with columns for (w, l, d) of the first player in each order.
    #[must_use]
    pub fn table_csv(&self) -> String {
        let mut csv = Csv::new(&[
            "program",
            "rules",
            "engine",
            "people",
            "computer_first_wins",
            "computer_first_losses",
            "computer_first_draws",
            "human_first_wins",
            "human_first_losses",
            "human_first_draws",
            "gs_f",
            "gs_s",
            "ts",
        ]);
        for row in &self.programs {
            let counts = |games: Games| [games.wins(), games.losses(), games.draws()].map(|count| count.to_string());
            let score = |score: Option<f64>| score.map_or_else(String::new, |score| format!("{score:.4}"));
            let ChenScores { gs_first, gs_second, ts } = row.scores;
            let names = [row.program.clone(), row.rules.clone(), row.engine.clone().unwrap_or_default()];
            let fields = names.into_iter().chain([row.people.to_string()]);
            let fields = fields.chain(counts(row.computer_first)).chain(counts(row.human_first));
            csv.row(fields.chain([gs_first, gs_second, ts].map(score)));
        }
        csv.0
    }

    /// All games as CSV, one a line.
    #[must_use]
    pub fn games_csv(&self) -> String {
        let mut csv = Csv::new(&[
            "series",
            "game",
            "of",
            "person",
            "rank",
            "program",
            "rules",
            "engine",
            "first",
            "result",
            "person_result",
            "reason",
            "plies",
            "date",
        ]);
        for SeriesResult { game, program, engine, rules, person, first, reason, plies, date } in &self.results {
            let result = ["0-1", "1/2-1/2", "1-0"][first.half_points()];
            let of_person = if *person == Seat::First { *first } else { first.inverted() };
            let fields: [String; 14] = [
                game.series.clone(),
                game.number.to_string(),
                game.of.to_string(),
                game.person.clone(),
                game.rank.map_or_else(String::new, |rank| rank.to_string()),
                program.clone(),
                rules.clone(),
                engine.clone().unwrap_or_default(),
                if *person == Seat::First { "human" } else { "computer" }.to_owned(),
                result.to_owned(),
                ["loss", "draw", "win"][of_person.half_points()].to_owned(),
                reason.clone(),
                plies.to_string(),
                date.clone().unwrap_or_default(),
            ];
            csv.row(fields);
        }
        csv.0
    }
}

/// Rows of Table 5: programs and people are the players of a cross table.
fn programs(results: &[SeriesResult]) -> Vec<ProgramScores> {
    type Row<'a> = (&'a str, &'a str, Option<&'a str>);
    fn row(result: &SeriesResult) -> Row<'_> {
        (&result.program, &result.rules, result.engine.as_deref())
    }
    let rows: BTreeSet<Row<'_>> = results.iter().map(row).collect();
    let persons: BTreeSet<&str> = results.iter().map(|result| result.game.person.as_str()).collect();
    let (rows, persons): (Vec<_>, Vec<_>) = (rows.into_iter().collect(), persons.into_iter().collect());
    let mut table = CrossTable::new(rows.len() + persons.len());
    for result in results {
        // Both are in the sets that were made of these results.
        let program = rows.partition_point(|known| *known < row(result));
        let person = rows.len() + persons.partition_point(|known| *known < result.game.person.as_str());
        match result.person {
            Seat::First => table.add(person, program, result.first),
            Seat::Second => table.add(program, person, result.first),
        }
    }
    let sum = |games: &dyn Fn(usize) -> Games| {
        let mut sum = Games::default();
        for person in rows.len()..table.players() {
            sum.0.iter_mut().zip(games(person).0).for_each(|(sum, count)| *sum += count);
        }
        sum
    };
    let rows = rows.iter().enumerate().map(|(index, &(program, rules, engine))| ProgramScores {
        program: program.to_owned(),
        engine: engine.map(str::to_owned),
        rules: rules.to_owned(),
        people: (rows.len()..table.players()).filter(|&person| table.between(index, person).0 != [0; 3]).count(),
        computer_first: sum(&|person| table.games(index, person)),
        human_first: sum(&|person| table.games(person, index)),
        scores: table.scores(index),
    });
    rows.collect()
}

fn people(results: &[SeriesResult]) -> Vec<PersonScores> {
    let mut people: BTreeMap<&str, (BTreeSet<u32>, Games)> = BTreeMap::new();
    for result in results {
        let (ranks, games) = people.entry(&result.game.person).or_default();
        ranks.extend(result.game.rank);
        games.0[result.of_person().half_points()] += 1;
    }
    let row = |(person, (ranks, games)): (&str, (BTreeSet<u32>, Games))| PersonScores {
        person: person.to_owned(),
        ranks: ranks.into_iter().collect(),
        games,
    };
    people.into_iter().map(row).collect()
}

fn progress(results: &[SeriesResult]) -> Vec<SeriesProgress> {
    let mut all: Vec<SeriesProgress> = Vec::new();
    for SeriesResult { game, program, .. } in results {
        match all.last_mut().filter(|last| last.series == game.series) {
            Some(last) => last.over += 1,
            None => all.push(SeriesProgress {
                series: game.series.clone(),
                person: game.person.clone(),
                program: program.clone(),
                over: 1,
                of: game.of,
            }),
        }
    }
    all.sort_by(|a, b| (&a.person, &a.program, &a.series).cmp(&(&b.person, &b.program, &b.series)));
    all
}

/// Comma-separated values, with quotes where a field needs them.
struct Csv(String);

impl Csv {
    fn new(head: &[&str]) -> Csv {
        Csv(format!("{}\n", head.join(",")))
    }

    fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        let quoted = fields.into_iter().map(|field| match field.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field,
        });
        self.0.push_str(&quoted.collect::<Vec<_>>().join(","));
        self.0.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Persons and their ranks, as Table 4 prints them.
    const TABLE_4: [(&str, u32); 5] = [("4", 1), ("1", 2), ("2", 2), ("5", 2), ("3", 3)];

    /// (w, l, d) of the first player, the computer and then the human; GS_f, GS_s, TS.
    type PrintedRow = (&'static str, [u64; 3], [u64; 3], [&'static str; 3]);

    /// Table 5 as it was printed.
    const TABLE_5: [PrintedRow; 3] = [
        ("VAR1", [4, 17, 4], [17, 5, 3], ["0.2400", "0.2600", "0.2500"]),
        ("VAR2", [3, 21, 1], [19, 2, 4], ["0.1400", "0.1600", "0.1500"]),
        ("VAR3", [2, 19, 4], [18, 3, 4], ["0.1600", "0.2000", "0.2300"]),
    ];

    fn result(program: &str, (person, rank): (&str, u32), number: u32, seat: Seat, first: Points) -> SeriesResult {
        SeriesResult {
            game: SeriesGame {
                series: format!("{person} {program}"),
                number,
                of: 10,
                person: person.to_owned(),
                rank: Some(rank),
            },
            program: program.to_owned(),
            engine: None,
            rules: "chen".to_owned(),
            person: seat,
            first,
            reason: "resignation".to_owned(),
            plies: 0,
            date: None,
        }
    }

    /// The printed counts, shared out among five persons with five games in each order.
    fn printed() -> Vec<SeriesResult> {
        let mut all = Vec::new();
        for (program, computer_first, human_first, _) in TABLE_5 {
            for (seat, [wins, losses, draws]) in [(Seat::Second, computer_first), (Seat::First, human_first)] {
                let points = [(Points::Win, wins), (Points::Loss, losses), (Points::Draw, draws)];
                let points = points.into_iter().flat_map(|(points, count)| (0..count).map(move |_| points));
                for (index, points) in points.enumerate() {
                    let number = 1 + (index / 5) as u32 + 5 * u32::from(seat == Seat::First);
                    all.push(result(program, TABLE_4[index % 5], number, seat, points));
                }
            }
        }
        all
    }

    /// The printed counts give the printed scores, but for one: TS of VAR3 is (0.16 + 0.20) / 2.
    #[test]
    fn the_printed_counts_give_the_printed_scores() {
        let scores = SeriesScores::of(printed()).unwrap();
        assert_eq!(scores.programs.len(), 3);
        for (row, (program, computer_first, human_first, [gs_f, gs_s, ts])) in scores.programs.iter().zip(TABLE_5) {
            let counts = |games: Games| [games.wins(), games.losses(), games.draws()];
            assert_eq!((row.program.as_str(), row.people), (program, 5));
            assert_eq!((counts(row.computer_first), counts(row.human_first)), (computer_first, human_first));
            let ChenScores { gs_first, gs_second, ts: ours } = row.scores;
            let text = |score: Option<f64>| format!("{:.4}", score.unwrap());
            assert_eq!([text(gs_first), text(gs_second)], [gs_f, gs_s], "{program}");
            assert_eq!(text(ours), if program == "VAR3" { "0.1800" } else { ts }, "{program}");
        }
        let ranks: Vec<(&str, &[u32])> =
            scores.people.iter().map(|row| (row.person.as_str(), row.ranks.as_slice())).collect();
        assert_eq!(ranks, [("1", &[2][..]), ("2", &[2]), ("3", &[3]), ("4", &[1]), ("5", &[2])]);
        assert!(scores.people.iter().all(|row| row.games.0.iter().sum::<u64>() == 30));
        assert_eq!(scores.series.len(), 15);
        assert!(scores.series.iter().all(|series| (series.over, series.of) == (10, 10)));
        let csv = scores.table_csv();
        assert_eq!(csv.lines().nth(3), Some("VAR3,chen,,5,2,19,4,18,3,4,0.1600,0.2000,0.1800"));
        assert_eq!(scores.games_csv().lines().count(), 151);
    }

    /// People count alike: GS is the mean over the opponents, as in Table 3, and not over the games.
    #[test]
    fn every_person_counts_alike() {
        let (alice, bob) = (("Alice", 1), ("Bob", 2));
        let mut results: Vec<SeriesResult> =
            (1..=4).map(|number| result("p", alice, number, Seat::Second, Points::Win)).collect();
        results.push(result("p", bob, 1, Seat::Second, Points::Loss));
        let scores = SeriesScores::of(results).unwrap();
        let row = &scores.programs[0];
        assert_eq!((row.computer_first, row.human_first), (Games([1, 0, 4]), Games::default()));
        assert_eq!(row.scores, ChenScores { gs_first: Some(0.5), gs_second: None, ts: None });
        assert!(scores.table_csv().ends_with("p,chen,,2,4,1,0,0,0,0,0.5000,,\n"));
    }

    #[test]
    fn a_game_counts_once_and_a_contradiction_is_named() {
        let one = result("p", ("Alice", 1), 2, Seat::First, Points::Win);
        let scores = SeriesScores::of([one.clone(), one.clone()]).unwrap();
        assert_eq!(scores.programs[0].human_first, Games([0, 0, 1]));
        let other = SeriesResult { first: Points::Draw, ..one.clone() };
        let conflict = SeriesScores::of([one.clone(), other]).unwrap_err();
        assert_eq!(conflict.to_string(), "game 2 of series Alice p is there twice with different results or players");
        let mut stranger = SeriesResult { game: SeriesGame { number: 3, ..one.game.clone() }, ..one.clone() };
        assert!(SeriesScores::of([one.clone(), stranger.clone()]).is_ok());
        stranger.game.person = "Bob".to_owned();
        assert!(SeriesScores::of([one, stranger]).is_err());
        assert_eq!(SeriesScores::of([]).unwrap(), SeriesScores::default());
    }

    /// Another version of a program, other rules or another budget is another row.
    #[test]
    fn what_differs_is_not_added_up() {
        let one = result("p", ("Alice", 1), 1, Seat::First, Points::Win);
        let rows = [
            one.clone(),
            SeriesResult {
                game: SeriesGame { number: 2, ..one.game.clone() },
                engine: Some("p1-0".into()),
                ..one.clone()
            },
            SeriesResult { game: SeriesGame { number: 3, ..one.game.clone() }, rules: "server".into(), ..one.clone() },
            SeriesResult { game: SeriesGame { number: 4, ..one.game.clone() }, program: "q".into(), ..one },
        ];
        let scores = SeriesScores::of(rows).unwrap();
        assert_eq!(scores.programs.len(), 4);
        assert!(scores.programs.iter().all(|row| row.human_first == Games([0, 0, 1])));
    }

    #[test]
    fn names_with_commas_and_quotes_stay_one_field() {
        let one = result("chen:var1,below=moves nodes=5", ("O\"Hara, J.", 1), 1, Seat::First, Points::Loss);
        let scores = SeriesScores::of([one]).unwrap();
        let line = scores.games_csv().lines().nth(1).unwrap().to_owned();
        assert_eq!(
            line,
            "\"O\"\"Hara, J. chen:var1,below=moves nodes=5\",1,10,\"O\"\"Hara, J.\",1,\"chen:var1,below=moves nodes=5\",chen,,human,0-1,\
             loss,resignation,0,"
        );
    }

    fn record(text: &str) -> Result<Option<SeriesResult>, SeriesRecordError> {
        SeriesResult::of_record(&text.parse().unwrap())
    }

    const HEAD: &str =
        "[Series \"a\"]\n[SeriesGame \"2/10\"]\n[Person \"Alice\"]\n[Rules \"chen,repeat=position:3\"]\n";

    #[test]
    fn a_record_is_believed_if_the_rules_confirm_it() {
        let text = format!(
            "{HEAD}[First \"chen:var1 nodes=5\"]\n[Second \"person\"]\n[FirstEngine \"p1-7\"]\n[Termination \"resignation\"]\n\n1. a1(K) 1-0\n"
        );
        let found = record(&text).unwrap().unwrap();
        assert_eq!((found.person, found.first, found.of_person()), (Seat::Second, Points::Win, Points::Loss));
        assert_eq!((found.engine.as_deref(), found.plies), (Some("p1-7"), 1));
        assert_eq!((found.game.number, found.game.of), (2, 10));
        let problem = |from: &str, to: &str| {
            assert!(text.contains(from));
            record(&text.replace(from, to)).unwrap_err().to_string()
        };
        assert!(problem("a1(K)", "a1-a2").starts_with("ply 1: "));
        assert!(
            problem("resignation", "elimination").starts_with("the result does not follow from the game: recorded")
        );
        assert_eq!(
            problem("chen:var1 nodes=5", "person"),
            "the players are \"person\" and \"person\", expected \"person\" and a program"
        );
        assert_eq!(problem("[Termination", "[TakeBacks \"1\"]\n[Termination"), "plies were taken back");
        assert!(problem("2/10", "two").starts_with("tag SeriesGame says \"two\""));
        assert_eq!(record(&text.replace("[Series \"a\"]\n", "")).unwrap(), None);
        assert_eq!(record(&text.replace("1-0", "*")).unwrap(), None);
    }
}
