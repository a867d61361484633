//! One page's socket: requests in, answers and news out. A page that falls silent or does not read is let go.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_play::{Analysis, Analyst, Command, Grade, LEVELS, Review, Terms, loss_of, rewind, rounded};
use anqi_rules::{Game, Rules, Seat};
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, timeout};

use crate::hosted::{HostedError, HostedGame};
use crate::house::{House, OpenGame};
use crate::link;
use crate::presence::Sitting;
use crate::request_error::RequestError;
use crate::seat::{Held, Tokens};
use crate::study::Study;
use crate::view::{GameView, PositionView};
use crate::watchers::Told;
use crate::wire::{self, Asked, Event, OpenedGame, Request, Response, Schema, Welcome, You, answer};

/// No message of a page is longer.
pub(crate) const LONGEST_MESSAGE: usize = 16 * 1024;
/// How often a page is asked whether it is there.
const PING: Duration = Duration::from_secs(4);
/// How long it may say nothing at all, and how long it may take to read what it is sent.
const SILENCE: Duration = Duration::from_secs(10);
/// Positions looked at before a hint, and before a warning: some tenths of a second.
const HINT_NODES: u64 = 200_000;
const TEACH_NODES: u64 = 100_000;
/// An analysis looks at no more.
pub(crate) const MOST_NODES: u64 = 10_000_000;

/// Talks with a page until it goes.
pub(crate) async fn talk(mut socket: WebSocket, house: Arc<House>) {
    let (news, mut to_send) = mpsc::channel::<News>(16);
    let mut page =
        Page { house, news, schema: Schema::default(), open: None, study: Stop::default(), review: Stop::default() };
    let mut ping = tokio::time::interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        let text = tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(message)) => {
                    heard = Instant::now();
                    match message {
                        Message::Text(text) => page.hear(&text),
                        Message::Binary(_) => Some(answer(None, &Response::Error(RequestError::Binary.into()))),
                        Message::Close(_) => break,
                        Message::Ping(_) | Message::Pong(_) => None,
                    }
                }
                Some(Err(failure)) => {
                    // Too long, or not a socket's bytes at all: tell why, as far as that can still be told.
                    let frame = CloseFrame { code: close_code::SIZE, reason: Utf8Bytes::from(failure.to_string()) };
                    let _ = timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
                    break;
                }
                None => break,
            },
            text = changed(&mut page.open) => Some(text),
            Some(news) = to_send.recv() => match news {
                News::Text(text) => Some(text),
                News::NoBlunder { re, mv, ply } => Some(answer(re, &or_error(page.play(&mv, ply)))),
            },
            _ = ping.tick() => {
                if heard.elapsed() >= SILENCE {
                    break;
                }
                match timeout(SILENCE, socket.send(Message::Ping(Bytes::new()))).await {
                    Ok(Ok(())) => None,
                    _ => break,
                }
            }
        };
        if let Some(text) = text {
            match timeout(SILENCE, socket.send(Message::Text(text.into()))).await {
                Ok(Ok(())) => {}
                _ => break,
            }
        }
    }
    page.study.raise();
    page.review.raise();
}

/// The message of the next change of the open game; never, if there is none.
async fn changed(open: &mut Option<Open>) -> String {
    let Some(open) = open else { return std::future::pending().await };
    if let Ok(told) = open.changes.recv().await {
        match &mut open.whole {
            None => return told.text.clone(),
            Some(view) => {
                if view.apply(&told.change) {
                    return wire::text(&Event::Game(view.clone()));
                }
            }
        }
    }
    // The page was too far behind. (The channel of an open game is never closed.)
    let (view, changes) = open.open_game.watch();
    let view = Box::new(view);
    open.changes = changes;
    open.whole = open.whole.is_some().then(|| view.clone());
    wire::text(&Event::Game(view))
}

fn or_error(response: Result<Response, RequestError>) -> Response {
    response.unwrap_or_else(|refusal| Response::Error(refusal.into()))
}

/// What comes of thinking for a page.
enum News {
    /// To be sent as it is.
    Text(String),
    /// In teaching mode: the move after the blunder check.
    NoBlunder { re: Option<u64>, mv: String, ply: usize },
}

/// The game that a page has open.
struct Open {
    open_game: Arc<OpenGame>,
    changes: broadcast::Receiver<Arc<Told>>,
    /// The game as the page was told it last, if it wants the whole game every time.
    whole: Option<Box<GameView>>,
    /// Whom the page acts for.
    sitting: Sitting,
}

/// One page.
struct Page {
    house: Arc<House>,
    news: mpsc::Sender<News>,
    schema: Schema,
    open: Option<Open>,
    study: Stop,
    review: Stop,
}

impl Page {
    /// Does what a message asks; an answer that takes longer comes as news.
    fn hear(&mut self, text: &str) -> Option<String> {
        let Asked { re, request } = Asked::parse(text);
        let response = match request {
            Ok(request) => self.act(re, request).map_err(Into::into),
            Err(malformed) => Err(malformed),
        };
        response.unwrap_or_else(|refused| Some(Response::Error(refused))).map(|response| answer(re, &response))
    }

    fn act(&mut self, re: Option<u64>, request: Request) -> Result<Option<Response>, RequestError> {
        let response = match request {
            Request::Hello { schema } => {
                self.schema = schema.unwrap_or_default();
                welcome(self.schema)
            }
            Request::New { first, second, rules, clock, position, invite, contribute } => {
                let terms = Terms {
                    rules: rules.unwrap_or_else(|| Rules::default().to_string()),
                    position,
                    first,
                    second,
                    clock,
                    ..Terms::default()
                };
                let (open_game, tokens) =
                    self.house.begin(terms.with_persons(invite.map(Into::into), contribute == Some(true)))?;
                let held = match &tokens {
                    Some(tokens) => open_game.hosted().seats_of(Some(&tokens.own.text()), true)?,
                    None => Held::ALL,
                };
                self.enter(open_game, held, tokens, None)
            }
            Request::Open { game, token } => {
                let open_game = self.house.find(&game)?;
                let held = open_game.hosted().seats_of(token.as_deref(), self.house.is_public())?;
                let invited = open_game.hosted().invited().filter(|_| token.is_some() && held == Held::NONE);
                self.enter(open_game, held, None, invited)
            }
            Request::OpenLink { link } => {
                let open_game = self.house.keep_open(&link::to_record(&link)?)?;
                self.enter(open_game, Held::NONE, None, None)
            }
            Request::GoOn {} => {
                let held = self.held()?;
                let id = self.open()?.hosted().id().to_owned();
                let open_game = self.house.go_on_from_damage(&id)?;
                self.enter(open_game, held, None, None)
            }
            Request::Join { token } => {
                let open_game = Arc::clone(self.open()?);
                let joined = open_game.hosted().join(self.house.dir(), &token);
                self.house.go_on(&open_game);
                let (held, token) = joined?;
                self.enter(open_game, held, Some(Tokens { own: token, invitation: None }), None)
            }
            Request::Commit { commitment } => self.change(|hosted, dir, held| hosted.commit(dir, held, &commitment))?,
            Request::Reveal { seed, nonce } => {
                self.change(|hosted, dir, held| hosted.reveal(dir, held, &seed, &nonce))?
            }
            Request::Claim {} => {
                let waits = *self.house.waits();
                self.change(|hosted, dir, held| hosted.claim(dir, held, &waits))?
            }
            Request::Close {} => {
                self.leave();
                Response::Closed {}
            }
            Request::Play { mv, ply, teach: false } => self.play(&mv, ply)?,
            Request::Play { mv, ply, teach: true } => {
                self.play_unless_blunder(re, mv, ply)?;
                return Ok(None);
            }
            Request::TakeBack {} => self.change(|hosted, dir, _| hosted.take_back(dir))?,
            Request::Resign {} => self.change(HostedGame::resign)?,
            Request::OfferDraw {} => self.change(HostedGame::offer_draw)?,
            Request::AcceptDraw {} => {
                self.change(|hosted, dir, held| hosted.answer_draw(dir, held, &Command::Accept))?
            }
            Request::DeclineDraw {} => {
                self.change(|hosted, dir, held| hosted.answer_draw(dir, held, &Command::Decline))?
            }
            Request::Hint {} => {
                self.hint(re)?;
                return Ok(None);
            }
            Request::At { ply } => {
                let shown = PositionView::of(&self.game_at(ply)?, ply, true);
                Response::Position { shown: Box::new(shown) }
            }
            Request::Analyse { ply, nodes } => self.analyse(ply, nodes)?,
            Request::StopAnalysis {} => {
                self.study.raise();
                Response::Done {}
            }
            Request::Review {} => self.review()?,
            Request::Link {} => Response::Link { link: link::of_game(self.open()?.hosted().game()) },
        };
        Ok(Some(response))
    }

    fn open(&self) -> Result<&Arc<OpenGame>, RequestError> {
        self.open.as_ref().map(|open| &open.open_game).ok_or(RequestError::NothingOpen)
    }

    fn leave(&mut self) {
        self.study.raise();
        self.review.raise();
        self.open = None;
    }

    /// The seats that the page acts for; a spectator is refused.
    fn held(&self) -> Result<Held, RequestError> {
        let open = self.open.as_ref().ok_or(RequestError::NothingOpen)?;
        match open.sitting.held {
            Held::NONE if !open.open_game.hosted().is_record() => Err(HostedError::NotSeated.into()),
            held => Ok(held),
        }
    }

    /// Opens a game: its view is the answer, and every change is news from here on.
    fn enter(
        &mut self,
        open_game: Arc<OpenGame>,
        held: Held,
        tokens: Option<Tokens>,
        invited: Option<Seat>,
    ) -> Response {
        // A page that opens its game again does not leave it.
        let sitting = Sitting::new(&self.house, &open_game, held);
        self.leave();
        let (view, changes) = open_game.watch();
        // Engines begin to think when a page shows the game, so that it misses nothing.
        self.house.go_on(&open_game);
        let whole = (self.schema == Schema::Whole).then(|| Box::new(view.clone()));
        let is_seated = open_game.hosted().has_seats() || self.house.is_public();
        let you = is_seated.then(|| You {
            seats: held.seats().map(Into::into).collect(),
            invited: invited.map(Into::into),
            token: tokens.as_ref().map(|tokens| tokens.own.text()),
            invitation: tokens.and_then(|tokens| tokens.invitation).map(|token| token.text()),
        });
        self.open = Some(Open { open_game, changes, whole, sitting });
        Response::Game(Box::new(OpenedGame { view, you }))
    }

    /// Changes the game for a seat. Watchers, this page among them, are told what has changed; the answer is short and comes
    /// first.
    fn change(
        &mut self,
        act: impl FnOnce(&mut HostedGame, &Path, Held) -> Result<(), HostedError>,
    ) -> Result<Response, RequestError> {
        let (open_game, held) = (Arc::clone(self.open()?), self.held()?);
        let (done, is_opening) = {
            let mut hosted = open_game.hosted();
            let is_opening = hosted.to_move().is_none();
            (act(&mut hosted, self.house.dir(), held), is_opening)
        };
        // Even if it failed: a ply may have been played, and only the record of the game not been written.
        self.house.go_on(&open_game);
        if is_opening {
            self.house.wait_for_players(&open_game);
        }
        done?;
        Ok(Response::Done {})
    }

    fn play(&mut self, mv: &str, ply: usize) -> Result<Response, RequestError> {
        self.change(|hosted, dir, held| hosted.play_person(dir, held, mv, ply))
    }

    fn play_unless_blunder(&mut self, re: Option<u64>, mv: String, ply: usize) -> Result<(), RequestError> {
        let held = self.held()?;
        let (wanted, game) = {
            let hosted = self.open()?.hosted();
            (hosted.person_move(held, &mv)?, hosted.game().clone())
        };
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let Ok(_permit) = house.play_slots.acquire().await else { return };
            let teachers = Arc::clone(&house);
            let thought = tokio::task::spawn_blocking(move || {
                let choice = teachers.analyst.think(&game, TEACH_NODES, &Stop::default())?;
                let loss = loss_of(&game, &choice, wanted)?;
                Some((choice, loss))
            });
            let thought = thought.await.ok().flatten();
            let reply = match thought.filter(|(_, loss)| Grade::of(*loss) == Some(Grade::Blunder)) {
                Some((choice, loss)) => {
                    let better = choice.mv.to_string();
                    News::Text(answer(re, &Response::Warning { mv, better, loss: rounded(loss) }))
                }
                None => News::NoBlunder { re, mv, ply },
            };
            let _ = news.send(reply).await;
        });
        Ok(())
    }

    fn hint(&mut self, re: Option<u64>) -> Result<(), RequestError> {
        let game = self.open()?.hosted().game().clone();
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let thought = house.think(&house.play_slots, game, HINT_NODES, Stop::default()).await;
            let hint = thought.map(|choice| Response::Hint { mv: choice.mv.to_string() });
            let reply = or_error(hint.ok_or(RequestError::NothingToPlay));
            let _ = news.send(News::Text(answer(re, &reply))).await;
        });
        Ok(())
    }

    /// The open game as it stood before ply number `ply`.
    fn game_at(&self, ply: usize) -> Result<Game, RequestError> {
        let mut game = self.open()?.hosted().game().clone();
        let plies = game.plies().len();
        if ply > plies {
            return Err(RequestError::NoSuchPly { ply, plies });
        }
        rewind(&mut game, ply);
        Ok(game)
    }

    /// Thinks about a position with more and more nodes, and tells after each stage.
    fn analyse(&mut self, ply: usize, nodes: Option<u64>) -> Result<Response, RequestError> {
        let most = nodes.unwrap_or(Analyst::STAGES[Analyst::STAGES.len() - 1]);
        if most > MOST_NODES {
            return Err(RequestError::TooManyNodes(most));
        }
        let game = self.game_at(ply)?;
        let id = self.open()?.hosted().id().to_owned();
        self.study.raise();
        self.study = Stop::default();
        let (house, news, stop, schema) = (Arc::clone(&self.house), self.news.clone(), self.study.clone(), self.schema);
        tokio::spawn(async move {
            for stage in Analyst::STAGES.into_iter().filter(|&stage| stage < most).chain([most]) {
                let thought = house.think(&house.study_slots, game.clone(), stage, stop.clone()).await;
                let Some(choice) = thought.filter(|_| !stop.is_raised()) else { return };
                // A search that ended by itself has proven what there is to prove.
                let is_last = stage == most || choice.stats.nodes < stage;
                let analysis = Analysis { is_during_search: !is_last, ..house.analyst.analysis(&game, &choice) };
                let study = Study::new(&id, analysis, schema);
                let text = wire::text(&Event::Analysis(Box::new(study)));
                if news.send(News::Text(text)).await.is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Response::Done {})
    }

    /// Looks at every ply of a finished game, and tells about each as it goes.
    fn review(&mut self) -> Result<Response, RequestError> {
        let open_game = Arc::clone(self.open()?);
        let (id, game) = {
            let hosted = open_game.hosted();
            if hosted.is_in_play() {
                return Err(RequestError::StillPlayed);
            }
            (hosted.id().to_owned(), hosted.game().clone())
        };
        self.review.raise();
        self.review = Stop::default();
        let (house, news, stop) = (Arc::clone(&self.house), self.news.clone(), self.review.clone());
        tokio::spawn(async move {
            let mut reviews = Vec::new();
            for ply in 0..game.plies().len() {
                let Ok(_permit) = house.study_slots.acquire().await else { return };
                let (game, stop, house) = (game.clone(), stop.clone(), Arc::clone(&house));
                let looked = tokio::task::spawn_blocking(move || {
                    let mut before = game.clone();
                    rewind(&mut before, ply);
                    house.analyst.review(&before, &game, &stop).filter(|_| !stop.is_raised())
                });
                let Ok(Some(review)) = looked.await else { return };
                let told = wire::text(&Event::ReviewPly { game: id.clone(), review: review.clone() });
                reviews.push(review);
                if news.send(News::Text(told)).await.is_err() {
                    return;
                }
            }
            let whole = wire::text(&Event::Review(Review::new(&id, &reviews)));
            let _ = news.send(News::Text(whole)).await;
        });
        Ok(Response::Done {})
    }
}

/// What a page needs to begin.
fn welcome(schema: Schema) -> Response {
    Response::Welcome(Welcome {
        schema,
        version: env!("CARGO_PKG_VERSION"),
        levels: LEVELS.iter().map(Into::into).collect(),
        rules: anqi_rules::Rules::names().collect(),
        players: anqi_engine::PlayerSpec::presets().iter().map(|preset| preset.name).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::house::HouseSettings;

    fn next(open: &mut Option<Open>) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        serde_json::from_str(&runtime.block_on(changed(open))).unwrap()
    }

    /// A page that does not read for long is sent the whole game, and changes from there on.
    #[test]
    fn a_page_that_is_far_behind_is_sent_the_whole_game() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let dir = tempfile::tempdir().unwrap();
        let house = House::open(dir.path(), HouseSettings::default()).unwrap();
        let person = || "person".to_owned();
        let (open_game, _) = house
            .begin(Terms { rules: "server".to_owned(), first: person(), second: person(), ..Terms::default() })
            .unwrap();
        house.go_on(&open_game);
        let watch = |schema: Schema| {
            let (view, changes) = open_game.watch();
            let whole = (schema == Schema::Whole).then(|| Box::new(view));
            let sitting = Sitting::new(&house, &open_game, Held::ALL);
            Some(Open { open_game: Arc::clone(&open_game), changes, whole, sitting })
        };
        let (mut changes, mut whole) = (watch(Schema::Changes), watch(Schema::Whole));
        let play = |count: usize| {
            for _ in 0..count {
                let mv = open_game.hosted().game().legal_moves()[0];
                open_game.hosted().play(dir.path(), mv).unwrap();
                house.go_on(&open_game);
            }
        };
        play(1);
        let change = next(&mut changes);
        assert_eq!((&change["type"], &change["kept"], &change["version"]), (&json!("change"), &json!(0), &json!(1)));
        assert_eq!(next(&mut whole)["plies"], change["plies"]);
        play(20);
        let caught_up = next(&mut changes);
        assert_eq!((&caught_up["type"], &caught_up["version"]), (&json!("game"), &json!(21)));
        assert_eq!((caught_up["plies"].as_array().unwrap().len(), &caught_up), (21, &next(&mut whole)));
        play(1);
        let change = next(&mut changes);
        assert_eq!((&change["type"], &change["kept"], &change["version"]), (&json!("change"), &json!(21), &json!(22)));
        assert_eq!(next(&mut whole)["plies"].as_array().unwrap().len(), 22);
    }
}
