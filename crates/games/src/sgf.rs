//! SGF: games of Go. `sgf-parse` reads the text, this file the game.

use anqi_rules::{Seat, excerpt};
use sgf_parse::go::{Move, Point, Prop};
use sgf_parse::{Color, SgfNode};

use crate::board::WinOrDraw;
use crate::go::Go;
use crate::reader::{Cut, GameFlaw, Splitter};
use crate::record::{GameRecord, GameStart, LONGEST_GAME, Recorder};
use crate::score::EngineValue;

/// A record ends with its outermost parenthesis. A line that begins as only a whole record does begins one, so that a
/// record which breaks off does not swallow those behind it.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    depth: usize,
    in_value: bool,
    escaped: bool,
}

impl Splitter for Trees {
    fn line(&mut self, line: &[u8]) -> Cut {
        let begins = ["(;GM[", "(;FF["].iter().any(|start| line.starts_with(start.as_bytes()));
        if begins && self.depth > 0 {
            *self = Trees::default();
            return Cut::Before;
        }
        for (place, &byte) in line.iter().enumerate() {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' if self.in_value => self.escaped = true,
                b']' => self.in_value = false,
                _ if self.in_value => {}
                b'[' => self.in_value = true,
                b'(' => self.depth += 1,
                b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Cut::After(place + 1);
                    }
                }
                _ => {}
            }
        }
        Cut::Nowhere
    }
}

/// Nodes and parentheses of a text, and whether all that was opened is closed.
fn measure(text: &str) -> (usize, bool) {
    let (mut nodes, mut depth, mut in_value, mut escaped) = (0, 0_i64, false, false);
    for byte in text.bytes() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if in_value => escaped = true,
            b']' => in_value = false,
            _ if in_value => {}
            b'[' => in_value = true,
            b';' => nodes += 1,
            b'(' => (nodes, depth) = (nodes + 1, depth + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    (nodes, depth == 0 && !in_value)
}

/// The most nodes that a record may have, variations included: the tree is as deep as it has nodes, and so is the stack that
/// frees it.
const MOST_NODES: usize = 2 * LONGEST_GAME;

/// Reads the text of one game tree; of variations the first.
pub(crate) fn parse(text: &str) -> Result<GameRecord, GameFlaw> {
    // Some files begin with a line of mail.
    let text = text.find('(').map_or(text, |start| &text[start..]);
    let (nodes, closed) = measure(text);
    if nodes > MOST_NODES {
        return Err(GameFlaw::TooLong);
    }
    if !closed {
        let plies = text.matches(";B[").count() + text.matches(";W[").count();
        return Err(GameFlaw::Truncated { plies, missing: "the closing parenthesis" });
    }
    let trees = sgf_parse::parse(text).map_err(|error| GameFlaw::syntax(&format!("{error}:"), text))?;
    let Some(tree) = trees.first() else { return Err(GameFlaw::syntax("no game in", text)) };
    let root = tree.as_go_node().map_err(|_| GameFlaw::Unsupported("a game that is not Go".to_owned()))?;
    read(root)
}

fn read(root: &SgfNode<Prop>) -> Result<GameRecord, GameFlaw> {
    let mut info = Info::default();
    for prop in root.properties() {
        info.read(prop)?;
    }
    let start = info.start(first_mover(root))?;
    let GameStart::Go { size, turn, ref stones, .. } = start else {
        return Err(GameFlaw::Unsupported("a game that is not Go".to_owned()));
    };
    let mut board = Go::new(size).map_err(|bad| GameFlaw::BadStart(bad.into()))?;
    for (side, vertex) in stones {
        let bad = |_| GameFlaw::BadStart(crate::record::BadStart::Stone(excerpt(vertex)));
        board.place(*side, vertex).map_err(bad)?;
    }
    board.set_turn(turn);
    let mut game = Recorder::new(start, board);
    read_node(root, size, &mut game)?;
    for node in root.main_variation().skip(1) {
        let setup = node.properties().find(|prop| matches!(prop, Prop::AB(_) | Prop::AW(_) | Prop::AE(_)));
        if setup.is_some() {
            return Err(GameFlaw::Unsupported("a stone that is put down during the game".to_owned()));
        }
        read_node(node, size, &mut game)?;
    }
    let outcome = info.result.as_deref().and_then(outcome);
    let outcome = outcome.ok_or_else(|| GameFlaw::UnknownResult(excerpt(&info.result.unwrap_or_default())))?;
    Ok(game.finish(outcome, info.players))
}

/// The move of a node and what it says of the position after it.
fn read_node(node: &SgfNode<Prop>, size: usize, game: &mut Recorder<Go>) -> Result<(), GameFlaw> {
    for prop in node.properties() {
        let (side, mv) = match prop {
            Prop::B(mv) => (Seat::First, *mv),
            Prop::W(mv) => (Seat::Second, *mv),
            Prop::Invalid(name, values) if ["B", "W"].contains(&name.as_str()) => {
                return Err(bad_move(game, &values.join(" ")));
            }
            _ => continue,
        };
        if game.turn(game.plies()) != Some(side) {
            game.set_turn(side);
        }
        let vertex = match mv {
            Move::Pass => "pass".to_owned(),
            // The pass of older files, on boards that have no such point.
            Move::Move(Point { x: 19, y: 19 }) => "pass".to_owned(),
            Move::Move(point) => {
                vertex(point, size).ok_or_else(|| bad_move(game, &format!("{},{}", point.x, point.y)))?
            }
        };
        let ply = game.plies() + 1;
        game.play(&vertex).map_err(|bad| GameFlaw::BadMove { ply, bad })?;
    }
    let ply = game.plies();
    match (node.get_property("V"), game.turn(ply)) {
        (Some(Prop::V(value)), Some(turn)) if value.is_finite() => {
            game.comment(ply, EngineValue::Lead(*value).seen_by(turn));
        }
        (Some(Prop::V(value)), _) => game.bad_value(ply, &value.to_string()),
        (Some(Prop::Invalid(_, texts)), _) => game.bad_value(ply, &texts.join(" ")),
        _ => {}
    }
    Ok(())
}

fn bad_move(game: &Recorder<Go>, text: &str) -> GameFlaw {
    GameFlaw::BadMove { ply: game.plies() + 1, bad: crate::board::IllegalMove::new(text).into() }
}

/// SGF counts lines from the top, GTP from the bottom.
fn vertex(point: Point, size: usize) -> Option<String> {
    let (x, y) = (usize::from(point.x), usize::from(point.y));
    if x < size && y < size { Go::vertex(x, size - 1 - y) } else { None }
}

fn first_mover(root: &SgfNode<Prop>) -> Option<Seat> {
    root.main_variation().flat_map(SgfNode::properties).find_map(|prop| match prop {
        Prop::B(_) => Some(Seat::First),
        Prop::W(_) => Some(Seat::Second),
        _ => None,
    })
}

/// What the root says.
#[derive(Default)]
struct Info {
    size: Option<(u8, u8)>,
    komi: f64,
    stones: Vec<(Seat, Point)>,
    turn: Option<Seat>,
    result: Option<String>,
    players: [Option<String>; 2],
}

impl Info {
    fn read(&mut self, prop: &Prop) -> Result<(), GameFlaw> {
        match prop {
            Prop::SZ(size) => self.size = Some(*size),
            Prop::KM(komi) if komi.is_finite() => self.komi = *komi,
            Prop::KM(komi) => return Err(GameFlaw::Syntax(format!("bad komi {komi}"))),
            Prop::RE(result) => self.result = Some(result.text.trim().to_owned()),
            Prop::PB(name) => self.players[0] = Some(name.text.clone()),
            Prop::PW(name) => self.players[1] = Some(name.text.clone()),
            Prop::PL(color) => self.turn = Some(if *color == Color::Black { Seat::First } else { Seat::Second }),
            Prop::AB(points) => self.stones.extend(points.iter().map(|&point| (Seat::First, point))),
            Prop::AW(points) => self.stones.extend(points.iter().map(|&point| (Seat::Second, point))),
            Prop::Invalid(name, values) if ["SZ", "KM", "AB", "AW"].contains(&name.as_str()) => {
                return Err(GameFlaw::syntax(&format!("bad property {name}"), &values.join(" ")));
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, first_mover: Option<Seat>) -> Result<GameStart, GameFlaw> {
        let (width, height) = self.size.unwrap_or((19, 19));
        if width != height {
            return Err(GameFlaw::Unsupported(format!("a board of {width} by {height}")));
        }
        let size = usize::from(width);
        // Sets have no order of their own.
        self.stones.sort_by_key(|(side, point)| (*side == Seat::Second, point.y, point.x));
        let name = |(side, point): &(Seat, Point)| {
            let bad = || GameFlaw::BadStart(crate::record::BadStart::Stone(format!("{},{}", point.x, point.y)));
            Ok((*side, vertex(*point, size).ok_or_else(bad)?))
        };
        let stones = self.stones.iter().map(name).collect::<Result<_, GameFlaw>>()?;
        let turn = first_mover.or(self.turn).unwrap_or(Seat::First);
        Ok(GameStart::Go { size, komi: self.komi, stones, turn })
    }
}

/// `B+3.5`, `W+R`, `W+Resign`, `B+T`, `0`, `Draw`, `Jigo`. `Void` and `?` are no results.
fn outcome(text: &str) -> Option<WinOrDraw> {
    let upper = text.to_ascii_uppercase();
    match upper.split_once('+') {
        Some(("B", _)) => Some(WinOrDraw::Win(Seat::First)),
        Some(("W", _)) => Some(WinOrDraw::Win(Seat::Second)),
        Some(_) => None,
        None => ["0", "DRAW", "JIGO"].contains(&upper.as_str()).then_some(WinOrDraw::Draw),
    }
}
