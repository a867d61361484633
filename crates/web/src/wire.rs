//! Every message between a page and the server, as types. `docs/PAGE.md` describes them for people.
//!
//! `page/wire.d.ts` is generated from these types; a test compares it (`UPDATE=1` rewrites it). A page sends a
//! [`Request`] and gets one [`Response`] to it; an [`Event`] comes unasked.

use serde::{Deserialize, Serialize};

use anqi_rules::excerpt;

use crate::study::Study;
use crate::view::{Change, GameView, PositionView};
use anqi_play::{Level, PlyReview, Review, SeatName};

/// Which messages a connection speaks: the oldest, unless `hello` names another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Schema {
    /// Every change of the open game sends the whole game.
    #[default]
    #[serde(rename = "anqi-page-1")]
    Whole,
    /// Every change of the open game sends what has changed.
    #[serde(rename = "anqi-page-2")]
    Changes,
}

/// What a page asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields = nullable))]
pub(crate) enum Request {
    Hello {
        #[serde(default)]
        schema: Option<Schema>,
    },
    New {
        first: String,
        second: String,
        #[serde(default)]
        rules: Option<String>,
        #[serde(default)]
        clock: Option<String>,
        #[serde(default)]
        position: Option<String>,
        /// The seat of a second person, who comes by a link.
        #[serde(default)]
        invite: Option<SeatName>,
        /// Whether persons contribute to the deal: then nothing is dealt before they have. Who is invited always does.
        #[serde(default)]
        contribute: Option<bool>,
    },
    Open {
        game: String,
        /// That of a seat, or the invitation to one; without it the game is watched.
        #[serde(default)]
        token: Option<String>,
    },
    OpenLink {
        link: String,
    },
    Close {},
    /// The open game, whose journal is damaged, goes on as a new game from what is before the damage.
    GoOn {},
    Play {
        #[serde(rename = "move")]
        mv: String,
        /// How many plies were played when the move was chosen.
        ply: usize,
        /// Warn before a blunder instead of playing it.
        #[serde(default)]
        teach: bool,
    },
    TakeBack {},
    Resign {},
    /// The human to move, or the only one, offers a draw. Engines decline at once.
    OfferDraw {},
    AcceptDraw {},
    DeclineDraw {},
    Hint {},
    At {
        ply: usize,
    },
    Analyse {
        ply: usize,
        /// Stop after so many positions.
        #[serde(default)]
        nodes: Option<u64>,
    },
    StopAnalysis {},
    Review {},
    Link {},
    /// Takes the free seat of the open game.
    Join {
        /// The invitation.
        token: String,
    },
    /// Commits to a part of the deal.
    Commit {
        commitment: String,
    },
    /// Reveals it.
    Reveal {
        seed: String,
        nonce: String,
    },
    /// The other player has left: the game is lost for it.
    Claim {},
    /// A series of games of a person against a program begins.
    BeginSeries {
        person: String,
        /// How strong the person is, 1 for the strongest.
        #[serde(default)]
        rank: Option<u32>,
        /// A level, or a player string with its budget.
        program: String,
        /// Those of Chen et al., if they are left out.
        #[serde(default)]
        rules: Option<String>,
        #[serde(default)]
        clock: Option<String>,
        /// How many games in each order; five, if it is left out.
        #[serde(default)]
        each: Option<u32>,
    },
    /// How a series stands.
    Series {
        series: String,
    },
    /// Opens the game of a series that is in play, or begins the next one.
    NextGame {
        series: String,
    },
}

/// The answer to a request.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Response {
    Welcome(Welcome),
    Game(Box<OpenedGame>),
    Closed {},
    Done {},
    /// The move was not played: it is a blunder.
    Warning {
        #[serde(rename = "move")]
        mv: String,
        better: String,
        /// Expected score that the move gives away.
        loss: f64,
    },
    Hint {
        #[serde(rename = "move")]
        mv: String,
    },
    Position {
        shown: Box<PositionView>,
    },
    Link {
        link: String,
    },
    Series(SeriesView),
    Error(Refused),
}

/// A game that a page has opened.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OpenedGame {
    #[serde(flatten)]
    pub(crate) view: GameView,
    /// Left out where every page may act for both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) you: Option<You>,
}

/// What a connection is in the game that it has opened.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct You {
    /// The seats for which it acts; none if it watches.
    pub(crate) seats: Vec<SeatName>,
    /// The seat that its invitation is good for, until it joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) invited: Option<SeatName>,
    /// The token of its seats, told once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) token: Option<String>,
    /// The token for the other player, told once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) invitation: Option<String>,
}

/// What a page is told without having asked.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Event {
    Game(Box<GameView>),
    Change(Box<Change>),
    Analysis(Box<Study>),
    ReviewPly { game: String, review: PlyReview },
    Review(Review),
}

/// Why a request was not done.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Refused {
    pub(crate) kind: RefusalKind,
    /// The same in words, with what was received.
    pub(crate) message: String,
}

/// Why a request was not done, for programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum RefusalKind {
    /// The message is not a request.
    Malformed,
    /// The rules, position or clock of a new game cannot be used.
    WrongSetup,
    /// Neither `person`, nor a level, nor a player with a budget that is allowed here.
    WrongPlayer,
    NoSuchGame,
    WrongLink,
    NothingOpen,
    NoSuchPly,
    NotAMove,
    Illegal,
    /// The move was chosen at another ply than the game stands at.
    OtherPly,
    NotYourTurn,
    NothingToTakeBack,
    NobodyToResign,
    /// No draw is offered that a human could answer.
    NoOffer,
    /// A draw was offered at this ply before.
    OfferedAlready,
    /// A kept game, which is not played.
    Kept,
    Over,
    StillPlayed,
    NothingToPlay,
    TooManyNodes,
    /// The game cannot be written.
    Storage,
    /// The game cannot be read.
    Damaged,
    /// Only a damaged game goes on as a new one.
    NotDamaged,
    /// Only the players of a game can do that, not those who watch.
    NotSeated,
    /// A token that is no seat's of the game, nor an invitation.
    WrongToken,
    /// The invitation was used.
    Taken,
    /// A player has not come, or the deal is not made.
    NotBegun,
    /// No such part of the deal is asked for, or not now.
    NotAwaited,
    /// Not what was committed to.
    NotOpened,
    /// Nothing is taken back between two people.
    NoTakeBack,
    /// Only the game of a player who has left can be claimed.
    NotAway,
    NothingToClaim,
    /// The game ended before it began.
    Void,
    /// A game of a series is in play: nothing is taken back, and the engine helps with nothing.
    InSeries,
    NoSuchSeries,
    /// All games of the series are over.
    SeriesOver,
    /// Too much is asked of the server at the moment: later it may be done.
    Busy,
    /// A bound of the server is reached: waiting does not help soon.
    Quota,
}

/// What a page needs to begin.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Welcome {
    pub(crate) schema: Schema,
    pub(crate) version: &'static str,
    pub(crate) levels: Vec<LevelView>,
    pub(crate) rules: Vec<&'static str>,
    pub(crate) players: Vec<&'static str>,
}

/// A level of play.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LevelView {
    number: usize,
    player: &'static str,
    /// The rating, and half of its 95 % interval.
    elo: [i32; 2],
}

impl From<&Level> for LevelView {
    fn from(level: &Level) -> LevelView {
        LevelView { number: level.number, player: level.player, elo: level.elo }
    }
}

/// A series of games of a person against a program, and how it stands.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SeriesView {
    /// Its name.
    pub(crate) series: String,
    pub(crate) person: String,
    pub(crate) rank: Option<u32>,
    pub(crate) program: String,
    pub(crate) rules: String,
    pub(crate) clock: Option<String>,
    /// In the order in which they are played.
    pub(crate) games: Vec<GameOfSeries>,
    /// The number of the game that is in play, or else of the next one; none if all are over.
    pub(crate) next: Option<u32>,
    /// The scores of the finished games; more than one row if the program has changed in between.
    pub(crate) table: Vec<TableRow>,
}

/// A game of a series.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct GameOfSeries {
    /// From 1.
    pub(crate) number: u32,
    /// Who moves first.
    pub(crate) first: Mover,
    pub(crate) stands: GameStands,
    /// Its name, once it has begun.
    pub(crate) game: Option<String>,
    pub(crate) result: Option<PersonResult>,
    /// The fingerprint of its deal, which is promised with the series.
    pub(crate) commitment: String,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Mover {
    Person,
    Program,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum GameStands {
    Waiting,
    InPlay,
    Over,
    /// Its files cannot be read: it does not count, and the series goes on without it.
    Unreadable,
}

/// How a game ended for the person.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum PersonResult {
    Won,
    Drawn,
    Lost,
}

/// A row of Table 5 of Chen et al.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TableRow {
    pub(crate) program: String,
    /// Wins, losses and draws of the program where it moved first.
    pub(crate) computer_first: [u64; 3],
    /// Wins, losses and draws of the person where the person did.
    pub(crate) human_first: [u64; 3],
    pub(crate) gs_first: Option<f64>,
    pub(crate) gs_second: Option<f64>,
    pub(crate) ts: Option<f64>,
}

/// The list of series.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SeriesList {
    #[cfg_attr(test, ts(type = "'anqi-series-list-1'"))]
    pub(crate) schema: &'static str,
    pub(crate) series: Vec<SeriesView>,
}

/// The list of games.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Games {
    #[cfg_attr(test, ts(type = "'anqi-games-1'"))]
    pub(crate) schema: &'static str,
    pub(crate) games: Vec<Listed>,
}

/// One line of the list of games.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Listed {
    pub(crate) game: String,
    pub(crate) date: Option<String>,
    pub(crate) first: ListedPlayer,
    pub(crate) second: ListedPlayer,
    pub(crate) result: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) plies: usize,
    pub(crate) in_play: bool,
    /// A file of it is not what was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub(crate) damaged: bool,
}

/// The player of one side of a listed game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ListedPlayer {
    pub(crate) name: String,
    pub(crate) level: Option<usize>,
}

/// What an import kept, and what it could not read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Imported {
    #[cfg_attr(test, ts(type = "'anqi-import-1'"))]
    pub(crate) schema: &'static str,
    pub(crate) games: Vec<String>,
    pub(crate) errors: Vec<String>,
}

/// A message of a page: a request, and the number that its answer carries.
pub(crate) struct Asked {
    pub(crate) re: Option<u64>,
    pub(crate) request: Result<Request, Refused>,
}

impl Asked {
    pub(crate) fn parse(text: &str) -> Asked {
        #[derive(Deserialize)]
        #[serde(expecting = "an object with a type")]
        struct Whole {
            #[serde(default, deserialize_with = "number")]
            re: Option<u64>,
            #[serde(flatten)]
            request: Request,
        }
        /// What can be read of a message that is not a request.
        #[derive(Deserialize)]
        struct Head {
            #[serde(default, deserialize_with = "number")]
            re: Option<u64>,
        }
        match serde_json::from_str(text) {
            Ok(Whole { re, request }) => Asked { re, request: Ok(request) },
            Err(error) => {
                let message = format!("{error}; the message reads {:?}", excerpt(text));
                let re = serde_json::from_str(text).ok().and_then(|Head { re }| re);
                Asked { re, request: Err(Refused { kind: RefusalKind::Malformed, message }) }
            }
        }
    }
}

fn number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    u64::deserialize(deserializer).map(Some).map_err(|_| serde::de::Error::custom("re is not a whole number"))
}

/// A response as text, with the number of its request in it.
pub(crate) fn answer(re: Option<u64>, response: &Response) -> String {
    #[derive(Serialize)]
    struct NumberedResponse<'a> {
        #[serde(flatten)]
        response: &'a Response,
        #[serde(skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
    }
    text(&NumberedResponse { response, re })
}

/// A message as text.
pub(crate) fn text<T: Serialize>(message: &T) -> String {
    // The keys are text, and numbers and lists are always JSON: this cannot fail.
    serde_json::to_string(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::{env, fs};

    use ts_rs::{Config, TS, TypeVisitor};

    use super::*;

    /// The declarations of a type and of all that it names.
    struct Declarations {
        config: Config,
        all: BTreeMap<String, String>,
    }

    impl TypeVisitor for Declarations {
        fn visit<T: TS + 'static + ?Sized>(&mut self) {
            // Types of the standard library have no path, and no declaration.
            if T::output_path().is_some() {
                let name = T::ident(&self.config);
                if self.all.contains_key(&name) {
                    return;
                }
                let docs = T::docs().unwrap_or_default();
                self.all.insert(name, format!("{docs}export {}\n", T::decl(&self.config)));
            }
            T::visit_dependencies(self);
            T::visit_generics(self);
        }
    }

    #[test]
    fn the_declarations_of_the_page_are_these_types() {
        let mut found = Declarations { config: Config::new().with_large_int("number"), all: BTreeMap::new() };
        found.visit::<Request>();
        found.visit::<Response>();
        found.visit::<Event>();
        found.visit::<Games>();
        found.visit::<Imported>();
        found.visit::<SeriesList>();
        let declarations: Vec<String> = found.all.into_values().collect();
        let head = "// Generated from crates/web/src/wire.rs: UPDATE=1 cargo test -p anqi-web --lib wire\n";
        let expected = format!("{head}\n{}", declarations.join("\n"));
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/page/wire.d.ts");
        if env::var_os("UPDATE").is_some() {
            fs::write(path, &expected).unwrap();
        }
        let committed = fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == expected,
            "page/wire.d.ts differs from wire.rs: run with UPDATE=1, and look at the difference"
        );
    }

    #[test]
    fn a_message_is_a_request_or_says_what_is_wrong() {
        let asked = Asked::parse(r#"{"re":7,"type":"play","move":"c4","ply":3}"#);
        assert_eq!(asked.re, Some(7));
        assert!(matches!(asked.request, Ok(Request::Play { ply: 3, teach: false, .. })));
        for (text, re, expected) in [
            (r#"{"type":"play","move":"c4","ply":3,"colour":1,"re":2}"#, Some(2), "unknown field `colour`"),
            (r#"{"type":"castle","re":2}"#, Some(2), "unknown variant `castle`"),
            (r#"{"type":"open","re":18446744073709551615}"#, Some(u64::MAX), "missing field `game`"),
            (r#"{"move":"c4"}"#, None, "missing field `type`"),
            (r#"{"type":"hello","re":-1}"#, None, "re is not a whole number"),
            (r#"{"type":"hello","re":1.5}"#, None, "re is not a whole number"),
            (r#"{"type":"hello","re":"1"}"#, None, "re is not a whole number"),
            (r#"{"type":"hello","schema":"anqi-page-9"}"#, None, "anqi-page-9"),
            (r#"["hello"]"#, None, "invalid type"),
            ("null", None, "expected an object with a type"),
            ("", None, "EOF"),
        ] {
            let asked = Asked::parse(text);
            let refused = asked.request.unwrap_err();
            assert_eq!((asked.re, refused.kind), (re, RefusalKind::Malformed), "{text}");
            assert!(refused.message.contains(expected), "{text}: {}", refused.message);
            assert!(refused.message.contains("the message reads"), "{text}");
        }
    }

    #[test]
    fn an_answer_carries_the_number_of_its_request() {
        assert_eq!(answer(Some(3), &Response::Done {}), r#"{"type":"done","re":3}"#);
        assert_eq!(answer(None, &Response::Closed {}), r#"{"type":"closed"}"#);
        let refused = Refused { kind: RefusalKind::NotYourTurn, message: "not now".to_owned() };
        let expected = r#"{"type":"error","kind":"not-your-turn","message":"not now","re":1}"#;
        assert_eq!(answer(Some(1), &Response::Error(refused)), expected);
    }
}
