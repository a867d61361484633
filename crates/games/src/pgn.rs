//! PGN: games of chess.

use anqi_rules::{Seat, excerpt};

use crate::board::WinOrDraw;
use crate::chess::Chess;
use crate::reader::{Cut, GameFlaw, Splitter};
use crate::record::{GameRecord, GameStart, Recorder};
use crate::score::{EngineValue, finite, mate_from};

/// A record ends in front of the first tag after its moves, and after a result that closes its line. A second `[Event "`
/// begins another record wherever it stands, so that one which breaks off does not swallow those behind it.
#[derive(Debug, Default)]
pub(crate) struct PgnLines {
    /// Whether the record has its first tag, or something that broke off there.
    in_tags: bool,
    in_moves: bool,
    in_comment: bool,
}

impl Splitter for PgnLines {
    fn line(&mut self, line: &[u8]) -> Cut {
        let is_first = line.starts_with(b"[Event \"");
        if is_first || line.starts_with(b"[") && !self.in_comment {
            let torn = !line.trim_ascii_end().ends_with(b"]");
            if self.in_moves || is_first && self.in_tags {
                *self = PgnLines::default();
                return Cut::Before;
            }
            self.in_tags |= is_first || torn;
            self.in_comment = false;
            return Cut::Nowhere;
        }
        if line.starts_with(b"%") && !self.in_comment {
            return Cut::Nowhere;
        }
        self.in_moves |= !line.trim_ascii().is_empty();
        for &byte in line {
            match byte {
                b';' if !self.in_comment => break,
                b'{' => self.in_comment = true,
                b'}' => self.in_comment = false,
                _ => {}
            }
        }
        let last = line.trim_ascii().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let over = !self.in_comment && RESULTS.iter().any(|(text, _)| text.as_bytes() == last);
        if over {
            *self = PgnLines::default();
            return Cut::After(line.len());
        }
        Cut::Nowhere
    }
}

const RESULTS: [(&str, Option<WinOrDraw>); 4] = [
    ("1-0", Some(WinOrDraw::Win(Seat::First))),
    ("0-1", Some(WinOrDraw::Win(Seat::Second))),
    ("1/2-1/2", Some(WinOrDraw::Draw)),
    ("*", None),
];

/// What the text of a game consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Tag(&'a str, &'a str),
    Comment(&'a str),
    Open,
    Close,
    Word(&'a str),
}

/// Cuts the text into tokens; `Err` with what is left where it cannot be done.
struct Tokens<'a> {
    rest: &'a str,
    /// Whether a line begins here.
    fresh: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, GameFlaw>;

    fn next(&mut self) -> Option<Result<Token<'a>, GameFlaw>> {
        loop {
            let trimmed = self.rest.trim_start();
            self.fresh |= self.rest[..self.rest.len() - trimmed.len()].contains('\n');
            self.rest = trimmed;
            let fresh = std::mem::replace(&mut self.fresh, false);
            let (first, after) = trimmed.split_at_checked(trimmed.chars().next()?.len_utf8())?;
            match first {
                "%" if fresh => self.skip_line(),
                ";" => {
                    let comment = trimmed.lines().next().unwrap_or_default();
                    self.skip_line();
                    return Some(Ok(Token::Comment(&comment[1..])));
                }
                "{" => {
                    let Some((comment, rest)) = after.split_once('}') else {
                        self.rest = "";
                        return Some(Err(GameFlaw::Truncated { plies: 0, missing: "the end of a comment" }));
                    };
                    self.rest = rest;
                    return Some(Ok(Token::Comment(comment)));
                }
                "[" => return Some(self.tag(after)),
                "(" | ")" => {
                    self.rest = after;
                    return Some(Ok(if first == "(" { Token::Open } else { Token::Close }));
                }
                _ => {
                    let stops = |c: char| c.is_whitespace() || "{}();[".contains(c);
                    let length = trimmed.find(stops).unwrap_or(trimmed.len());
                    // A stray bracket is a word of its own.
                    let (word, rest) = trimmed.split_at(length.max(first.len()));
                    self.rest = rest;
                    return Some(Ok(Token::Word(word)));
                }
            }
        }
    }
}

impl<'a> Tokens<'a> {
    fn skip_line(&mut self) {
        self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
    }

    /// A tag after its bracket. Values may contain escaped quotes.
    fn tag(&mut self, after: &'a str) -> Result<Token<'a>, GameFlaw> {
        let line = after.lines().next().unwrap_or_default();
        let parse = || {
            let (name, value) = line.split_once('"')?;
            let mut escaped = false;
            let end = value.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            let closing = value[end + 1..].trim_start();
            closing.starts_with(']').then(|| (name.trim(), &value[..end], &closing[1..]))
        };
        let Some((name, value, rest)) = parse() else { return Err(GameFlaw::syntax("bad tag", line)) };
        self.rest = &after[line.len() - rest.len()..];
        Ok(Token::Tag(name, value))
    }
}

/// Reads the text of one game.
pub(crate) fn parse(text: &str) -> Result<GameRecord, GameFlaw> {
    let text = text.trim_start_matches('\u{feff}');
    let mut tags: Vec<(&str, &str)> = Vec::new();
    let mut tokens = Tokens { rest: text, fresh: true }.peekable();
    while let Some(Ok(Token::Tag(name, value))) = tokens.peek() {
        tags.push((name, value));
        tokens.next();
    }
    let tag = |name: &str| tags.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value);
    if let Some(variant) = tag("Variant")
        && !["Standard", "Chess", "From Position", "Normal"].iter().any(|usual| usual.eq_ignore_ascii_case(variant))
    {
        return Err(GameFlaw::Unsupported(format!("the variant {:?}", excerpt(variant))));
    }
    let board = Chess::new(tag("FEN")).map_err(|bad| GameFlaw::BadStart(bad.into()))?;
    let start = GameStart::Chess(tag("FEN").map(|_| board.fen()));
    let mut game = Recorder::new(start, board);
    let end = read_moves(&mut tokens, &mut game)?;
    let tag_result = tag("Result").filter(|result| !result.is_empty());
    let (end, tagged) = (end.map(|end| (end, result_of(end))), tag_result.map(|tag| (tag, result_of(tag))));
    let (text, outcome) = match (end, tagged) {
        (None, _) => return Err(GameFlaw::Truncated { plies: game.plies(), missing: "a result after the moves" }),
        (Some((end, Some(by_end))), Some((tag, Some(by_tag)))) if by_end != by_tag => {
            return Err(GameFlaw::TwoResults { tag: excerpt(tag), end: excerpt(end) });
        }
        (Some((_, None)), Some((tag, known))) => (tag, known),
        (Some((end, known)), _) => (end, known),
    };
    let outcome = outcome.ok_or_else(|| GameFlaw::UnknownResult(excerpt(text)))?;
    let player = |name| tag(name).filter(|name| !name.is_empty() && *name != "?").map(str::to_owned);
    Ok(game.finish(outcome, [player("White"), player("Black")]))
}

fn result_of(text: &str) -> Option<WinOrDraw> {
    RESULTS.iter().find(|(known, _)| *known == text).and_then(|(_, outcome)| *outcome)
}

/// Plays the moves of the main line; the result behind them, if there is one.
fn read_moves<'a>(
    tokens: &mut impl Iterator<Item = Result<Token<'a>, GameFlaw>>,
    game: &mut Recorder<Chess>,
) -> Result<Option<&'a str>, GameFlaw> {
    let mut depth = 0_usize;
    for token in tokens {
        let token = token.map_err(|flaw| match flaw {
            GameFlaw::Truncated { missing, .. } => GameFlaw::Truncated { plies: game.plies(), missing },
            flaw => flaw,
        })?;
        match token {
            Token::Open => depth += 1,
            Token::Close => {
                depth = depth.checked_sub(1).ok_or_else(|| GameFlaw::syntax("no variation ends with", ")"))?;
            }
            _ if depth > 0 => {}
            Token::Tag(name, _) => return Err(GameFlaw::syntax("a tag among the moves:", name)),
            Token::Comment(text) => read_comment(text, game),
            Token::Word(word) if RESULTS.iter().any(|(text, _)| *text == word) => return Ok(Some(word)),
            Token::Word(word) => play(word, game)?,
        }
    }
    if depth > 0 {
        return Err(GameFlaw::Truncated { plies: game.plies(), missing: "the end of a variation" });
    }
    Ok(None)
}

/// A word is a move, with its number perhaps (`12.e4`, `12...`, `12`), or a mark.
fn play(word: &str, game: &mut Recorder<Chess>) -> Result<(), GameFlaw> {
    let unnumbered = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_castling = word.starts_with("0-0");
    let mv = match unnumbered.strip_prefix('.') {
        _ if is_castling => word,
        Some(mv) => mv.trim_start_matches('.'),
        None if unnumbered.is_empty() => "",
        None => word,
    };
    let is_mark = mv.starts_with('$') || mv.bytes().all(|byte| b"!?.".contains(&byte));
    if is_mark {
        return Ok(());
    }
    let flaw = |bad| GameFlaw::BadMove { ply: game.plies() + 1, bad };
    let uci = game.board().uci(mv).map_err(|illegal| flaw(illegal.into()))?;
    let ply = game.plies() + 1;
    game.play(&uci).map_err(|bad| GameFlaw::BadMove { ply, bad })
}

/// Two habits are understood. `[%eval 0.35]` or `[%eval #-3]` is said by White of the position after the move, in pawns;
/// `+0.35/18 1.2s` or `-M3/20` is said by the engine that moved of the position before its move.
fn read_comment(text: &str, game: &mut Recorder<Chess>) {
    let ply = game.plies();
    if let Some(value) = text.split_once("[%eval ").and_then(|(_, after)| after.split([',', ']', ' ']).next())
        && let Some(turn) = game.turn(ply)
    {
        return match pawns_or_mate(value, '#') {
            Some(evaluation) => game.comment(ply, evaluation.seen_by(turn)),
            None => game.bad_value(ply, value),
        };
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    if let Some((value, depth)) = first.split_once('/')
        && !depth.is_empty()
        && depth.bytes().all(|byte| byte.is_ascii_digit())
        && let Some(evaluation) = pawns_or_mate(value, 'M')
        && let Some(before) = ply.checked_sub(1)
    {
        game.comment(before, evaluation);
    }
}

/// `0.35`, or a mate with its mark: `#3`, `#-3`, `M3`, `-M3`, `+M3`.
fn pawns_or_mate(text: &str, mark: char) -> Option<EngineValue> {
    match text.split_once(mark) {
        Some(("", distance)) => mate_from(distance),
        Some((sign @ ("+" | "-"), distance)) if !distance.starts_with(['+', '-']) => {
            mate_from(&format!("{sign}{distance}"))
        }
        Some(_) => None,
        None => finite(text).map(|pawns| EngineValue::Centipawns((pawns * 100.0).round())),
    }
}
