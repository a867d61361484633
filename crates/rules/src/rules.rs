//! `Rules`: everything that differs between the ways people play, as one value with a name.

use std::fmt;
use std::str::FromStr;

use crate::notation::{excerpt, number};
use crate::piece::{Color, Ladder, Material, Piece};
use crate::square::BoardSize;

/// When a repetition is a draw. It takes at least two times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repeat {
    /// Never.
    Off,
    /// The same plies so many times in a row (the match server; its games know periods 4, 8, 12).
    Cycle(u8),
    /// The same position with the same side to move so many times (the Olympiad's text).
    Position(u8),
}

/// The rules of a game. The text is a name with overrides, and goes round:
///
/// ```
/// use anqi_rules::Rules;
///
/// for text in ["server", "olympiad", "server,draw=40", "chen,board=2x4,army=KNCP,repeat=off", "server,chase=on"] {
///     assert_eq!(text.parse::<Rules>()?.to_string(), text);
/// }
/// assert_eq!("chen".parse::<Rules>()?.to_string(), "chen,repeat=position:3");
/// # Ok::<(), anqi_rules::RulesError>(())
/// ```
///
/// `chen` is always printed with its `repeat`: [files](Rules::parse_stored) where it has none are older than its repetition rule.
///
/// Fields are changed through [`RulesSetup`], so every value of this type can be played.
#[derive(Clone, Copy, Debug)]
pub struct Rules(RulesSetup);

/// Rules field by field, perhaps unplayable: `Rules::try_from` checks them.
///
/// ```
/// use anqi_rules::{Rules, RulesSetup};
///
/// let mut setup = RulesSetup::from(Rules::chen());
/// setup.draw = Some(50);
/// assert_eq!(Rules::try_from(setup)?.to_string(), "chen,draw=50,repeat=position:3");
/// setup.draw = Some(0);
/// assert!(Rules::try_from(setup).is_err());
/// # Ok::<(), anqi_rules::RulesError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RulesSetup {
    /// The board.
    pub board: BoardSize,
    /// All pieces of both sides; as many as the board has squares.
    pub army: Material,
    /// Who captures whom.
    pub ladder: Ladder,
    /// Draw after so many plies (at least one) without flip or capture; `None` = never.
    pub draw: Option<u16>,
    /// When a repetition is a draw.
    pub repeat: Repeat,
    /// Whether an endless chase is forbidden: once a fleeing piece returns to a square it already
    /// used in an unbroken chase, its chaser may not attack it again on the next move.
    pub chase: bool,
    /// The name that [`Display`](fmt::Display) starts from. Two rules are equal whatever they are called.
    base: NamedRules,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NamedRules {
    Server,
    Chen,
    Olympiad,
}

impl NamedRules {
    const ALL: [NamedRules; 3] = [NamedRules::Server, NamedRules::Chen, NamedRules::Olympiad];

    const fn name(self) -> &'static str {
        match self {
            NamedRules::Server => "server",
            NamedRules::Chen => "chen",
            NamedRules::Olympiad => "olympiad",
        }
    }

    fn rules(self) -> Rules {
        let (draw, repeat) = match self {
            NamedRules::Server => (60, Repeat::Cycle(3)),
            NamedRules::Chen => (40, Repeat::Position(3)),
            NamedRules::Olympiad => (180, Repeat::Position(3)),
        };
        let board = BoardSize::FourByEight;
        Rules(RulesSetup {
            board,
            army: usual_army(board),
            ladder: Ladder::Taiwan,
            draw: Some(draw),
            repeat,
            chase: false,
            base: self,
        })
    }
}

impl Rules {
    /// The match server of the Taiwanese course and tournaments: draw at 60 quiet plies or when
    /// the same plies come three times in a row. The default.
    #[must_use]
    pub fn server() -> Rules {
        NamedRules::Server.rules()
    }

    /// Chen, Shen & Hsu: draw at 40 quiet plies, and "repetition of positions also results in a draw", read as the third
    /// occurrence.
    #[must_use]
    pub fn chen() -> Rules {
        NamedRules::Chen.rules()
    }

    /// The Computer Olympiad: draw at 180 quiet plies or at the third occurrence of a position.
    #[must_use]
    pub fn olympiad() -> Rules {
        NamedRules::Olympiad.rules()
    }

    /// Reads the rules in a file. There `chen` without `repeat` has no repetition rule, as when it was written: the preset
    /// has had one since version 2 of plans, and what is written since then spells it out.
    ///
    /// ```
    /// use anqi_rules::Rules;
    ///
    /// assert_eq!(Rules::parse_stored("chen,draw=50")?, "chen,draw=50,repeat=off".parse()?);
    /// assert_eq!(Rules::parse_stored("chen,repeat=position:3")?, Rules::chen());
    /// # Ok::<(), anqi_rules::RulesError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a set of rules.
    pub fn parse_stored(text: &str) -> Result<Rules, RulesError> {
        let rules: Rules = text.parse()?;
        let says_repeat = text.split(',').any(|part| part.starts_with("repeat="));
        let unsaid = rules.0.base == NamedRules::Chen && !says_repeat;
        Ok(if unsaid { Rules(RulesSetup { repeat: Repeat::Off, ..rules.0 }) } else { rules })
    }

    /// The same rules on another board, with the usual army of that board.
    #[must_use]
    pub fn on_board(&self, board: BoardSize) -> Rules {
        if board == self.board() { *self } else { Rules(RulesSetup { board, army: usual_army(board), ..self.0 }) }
    }

    /// The same rules without draws: neither by quiet plies nor by repetition.
    #[must_use]
    pub const fn without_draws(&self) -> Rules {
        Rules(RulesSetup { draw: None, repeat: Repeat::Off, ..self.0 })
    }

    /// The board.
    #[must_use]
    pub const fn board(&self) -> BoardSize {
        self.0.board
    }

    /// All pieces of both sides, as many as the board has squares; both sides have some.
    #[must_use]
    pub const fn army(&self) -> &Material {
        &self.0.army
    }

    /// Who captures whom.
    #[must_use]
    pub const fn ladder(&self) -> Ladder {
        self.0.ladder
    }

    /// Draw after so many plies without flip or capture, at least one; `None` = never.
    #[must_use]
    pub const fn draw(&self) -> Option<u16> {
        self.0.draw
    }

    /// When a repetition is a draw, at the second time or later.
    #[must_use]
    pub const fn repeat(&self) -> Repeat {
        self.0.repeat
    }

    /// Whether an endless chase is forbidden ([`RulesSetup::chase`]).
    #[must_use]
    pub const fn chase(&self) -> bool {
        self.0.chase
    }

    /// The size of the state space as the literature estimates it, as a power of ten: every arrangement of the army, each piece
    /// face up or face down. Chen et al., section 1: 2^32 · 32! / ((5!)² (2!)^10), "roughly 10^37".
    ///
    /// ```
    /// assert_eq!(anqi_rules::Rules::chen().state_space_log10() as u32, 37);
    /// ```
    #[must_use]
    pub fn state_space_log10(&self) -> f64 {
        let factorial = |n: u32| (1..=n).map(|k| f64::from(k).log10()).sum::<f64>();
        let alike: f64 = self.army().iter().map(|(_, count)| factorial(u32::from(count))).sum();
        f64::from(self.army().len()) * 2_f64.log10() + factorial(self.army().len()) - alike
    }

    /// The names that a rule string may start with.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NamedRules::ALL.into_iter().map(NamedRules::name)
    }

    fn fields(&self) -> impl PartialEq + use<> {
        let RulesSetup { board, army, ladder, draw, repeat, chase, base: _ } = self.0;
        (board, army, ladder, draw, repeat, chase)
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::server()
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        self.fields() == other.fields()
    }
}

impl Eq for Rules {}

impl From<Rules> for RulesSetup {
    fn from(rules: Rules) -> RulesSetup {
        rules.0
    }
}

impl TryFrom<RulesSetup> for Rules {
    type Error = RulesError;

    fn try_from(setup: RulesSetup) -> Result<Rules, RulesError> {
        let RulesSetup { board, army, .. } = setup;
        if setup.draw == Some(0) {
            return Err(bad("draw", "0", DRAW_VALUES));
        }
        match setup.repeat {
            Repeat::Cycle(times @ ..2) => return Err(bad("repeat", &format!("cycle:{times}"), REPEAT_VALUES)),
            Repeat::Position(times @ ..2) => return Err(bad("repeat", &format!("position:{times}"), REPEAT_VALUES)),
            Repeat::Off | Repeat::Cycle(_) | Repeat::Position(_) => {}
        }
        if army.len() != board.squares().len() {
            return Err(RulesError::ArmySize { army, board });
        }
        if let Some(missing) = Color::ALL.into_iter().find(|&color| army.of(color) == 0) {
            return Err(RulesError::OneSided { army, missing });
        }
        Ok(Rules(setup))
    }
}

/// What each side starts with when the rules do not say.
fn usual_army(board: BoardSize) -> Material {
    let side = match board {
        BoardSize::TwoByTwo => "KP",
        BoardSize::ThreeByTwo => "KPP",
        BoardSize::TwoByFour => "KCPP",
        BoardSize::ThreeByFour => "KGNCPP",
        BoardSize::FourByFour => "KGMRNCPP",
        BoardSize::FourByEight => "KGGMMRRNNCCPPPPP",
    };
    both_sides(side.chars().filter_map(Piece::from_char).collect())
}

fn both_sides(red: Material) -> Material {
    red.pieces().chain(red.swapped().pieces()).collect()
}

/// Why a text is not a set of rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RulesError {
    /// Not a preset's name.
    #[error("unknown rules {0:?}, expected one of server, chen, olympiad")]
    UnknownName(String),
    /// Not a field.
    #[error("unknown rule field {0:?}, expected one of board, army, ladder, draw, repeat, chase")]
    UnknownField(String),
    /// A field given twice.
    #[error("rule field {0:?} is given twice")]
    Twice(String),
    /// A value that its field does not take.
    #[error("bad value {value:?} for rule field {field}, expected {expected}")]
    BadValue {
        /// The field.
        field: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// An army that does not fill its board.
    #[error("the army {army} has {} pieces, but the {board} board has {} squares", army.len(), board.squares().len())]
    ArmySize {
        /// All pieces of both sides.
        army: Material,
        /// The board.
        board: BoardSize,
    },
    /// An army of one colour only.
    #[error("the army {army} has no {} piece", missing.name())]
    OneSided {
        /// All pieces.
        army: Material,
        /// The colour without a piece.
        missing: Color,
    },
}

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Rules, RulesError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let base = NamedRules::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| RulesError::UnknownName(excerpt(name)))?;
        let Rules(mut setup) = base.rules();
        let mut army = None;
        let mut seen: Vec<&str> = Vec::new();
        for part in parts {
            let (field, value) = part.split_once('=').unwrap_or((part, ""));
            if seen.contains(&field) {
                return Err(RulesError::Twice(excerpt(field)));
            }
            seen.push(field);
            match field {
                "board" => setup.board = parse_board(value)?,
                "army" => army = Some(parse_army(value)?),
                "ladder" => setup.ladder = parse_ladder(value)?,
                "draw" => setup.draw = parse_draw(value)?,
                "repeat" => setup.repeat = parse_repeat(value)?,
                "chase" => setup.chase = parse_switch(value)?,
                _ => return Err(RulesError::UnknownField(excerpt(field))),
            }
        }
        setup.army = army.unwrap_or_else(|| usual_army(setup.board));
        setup.try_into()
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Fields that spell a preset out are that preset.
        let preset = NamedRules::ALL.into_iter().find(|preset| preset.rules() == *self).unwrap_or(self.0.base);
        let (setup, Rules(base)) = (&self.0, preset.rules());
        write!(f, "{}", preset.name())?;
        if setup.board != base.board {
            write!(f, ",board={}", setup.board)?;
        }
        if setup.army != usual_army(setup.board) {
            let red: Material = setup.army.pieces().filter(|piece| piece.color == Color::Red).collect();
            let army = if both_sides(red) == setup.army { red } else { setup.army };
            write!(f, ",army={army}")?;
        }
        if setup.ladder != base.ladder {
            write!(f, ",ladder={}", setup.ladder.name())?;
        }
        if setup.draw != base.draw {
            match setup.draw {
                Some(plies) => write!(f, ",draw={plies}")?,
                None => f.write_str(",draw=off")?,
            }
        }
        if setup.repeat != base.repeat || preset == NamedRules::Chen {
            match setup.repeat {
                Repeat::Off => f.write_str(",repeat=off")?,
                Repeat::Cycle(times) => write!(f, ",repeat=cycle:{times}")?,
                Repeat::Position(times) => write!(f, ",repeat=position:{times}")?,
            }
        }
        if setup.chase != base.chase {
            write!(f, ",chase={}", if setup.chase { "on" } else { "off" })?;
        }
        Ok(())
    }
}

const DRAW_VALUES: &str = "plies from 1 to 65535, or off";
const REPEAT_VALUES: &str = "off, cycle:N or position:N with N from 2 to 255";

fn bad(field: &'static str, value: &str, expected: &'static str) -> RulesError {
    RulesError::BadValue { field, value: excerpt(value), expected }
}

fn parse_board(value: &str) -> Result<BoardSize, RulesError> {
    BoardSize::ALL
        .into_iter()
        .find(|board| board.name() == value)
        .ok_or_else(|| bad("board", value, "2x2, 3x2, 2x4, 3x4, 4x4 or 4x8"))
}

/// Upper-case letters alone are the army of either side; with lower-case ones, both are spelled out.
fn parse_army(value: &str) -> Result<Material, RulesError> {
    let army: Material = value
        .parse()
        .map_err(|_| bad("army", value, "piece letters KGMRNCP for both sides alike, or KGMRNCPkgmrncp"))?;
    Ok(if army.of(Color::Black) == 0 { both_sides(army) } else { army })
}

fn parse_ladder(value: &str) -> Result<Ladder, RulesError> {
    Ladder::ALL
        .into_iter()
        .find(|ladder| ladder.name() == value)
        .ok_or_else(|| bad("ladder", value, "taiwan or hongkong"))
}

fn parse_draw(value: &str) -> Result<Option<u16>, RulesError> {
    match (value, number(value)) {
        ("off", _) => Ok(None),
        (_, Some(plies)) => Ok(Some(plies)),
        _ => Err(bad("draw", value, DRAW_VALUES)),
    }
}

fn parse_repeat(value: &str) -> Result<Repeat, RulesError> {
    let parsed = match value.split_once(':') {
        None if value == "off" => Some(Repeat::Off),
        Some(("cycle", count)) => number(count).map(Repeat::Cycle),
        Some(("position", count)) => number(count).map(Repeat::Position),
        _ => None,
    };
    parsed.ok_or_else(|| bad("repeat", value, REPEAT_VALUES))
}

fn parse_switch(value: &str) -> Result<bool, RulesError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad("chase", value, "on or off")),
    }
}
