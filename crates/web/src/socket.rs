//! One page's socket: requests in, answers and news out. A page that falls silent or does not read is let go.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anqi_play::{Analysis, Analyst, Command, GameSeries, Grade, LEVELS, Review, Terms, loss_of, rewind, rounded};
use anqi_rules::{Game, Rules, Seat};
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, timeout};

use crate::connections::Connection;
use crate::hosted::{HostedError, HostedGame, journal_path};
use crate::house::{House, OpenGame};
use crate::limits::LimitError;
use crate::link;
use crate::metrics::count;
use crate::presence::Sitting;
use crate::request_error::RequestError;
use crate::scheduler::{Permit, Urgency};
use crate::seat::{Held, Tokens};
use crate::study::Study;
use crate::tasks::{OwnedTask, on_disk};
use crate::view::{GameView, PositionView};
use crate::visitors::Visitor;
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
/// As Chen et al. had it.
const GAMES_IN_EACH_ORDER: u32 = 5;

/// Talks with a page until it goes, or the server ends.
pub(crate) async fn talk(mut socket: WebSocket, house: Arc<House>, visitor: Arc<Visitor>, connection: Arc<Connection>) {
    let (news, mut to_send) = mpsc::channel::<News>(16);
    let mut closing = house.closing();
    let mut page = Page {
        house,
        visitor,
        connection,
        news,
        schema: Schema::default(),
        open: None,
        asked: JoinSet::new(),
        study: None,
        review: None,
    };
    let mut ping = tokio::time::interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard = Instant::now();
    loop {
        let text = tokio::select! {
            received = socket.recv() => match received {
                Some(Ok(message)) => {
                    page.pace().await;
                    heard = Instant::now();
                    match message {
                        Message::Text(text) => {
                            let answered = on_disk(|| page.hear(&text));
                            page.house.metrics.answers.add(heard.elapsed());
                            answered
                        }
                        Message::Binary(_) => Some(page.answer(None, &Response::Error(RequestError::Binary.into()))),
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
                News::NoBlunder { re, mv, ply } => {
                    let played = or_error(on_disk(|| page.play(&mv, ply)));
                    Some(page.answer(re, &played))
                }
                News::Answer { re, response } => Some(page.answer(re, &response)),
            },
            () = ended(&mut closing) => {
                let reason = Utf8Bytes::from_static("the server is ending");
                let frame = CloseFrame { code: close_code::AWAY, reason };
                let _ = timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
                break;
            }
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
}

/// Waits until the server ends.
pub(crate) async fn ended(closing: &mut watch::Receiver<bool>) {
    // An error says that it has ended.
    drop(closing.wait_for(|is_closing| *is_closing).await);
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
    /// To be sent as the answer to a request.
    Answer { re: Option<u64>, response: Response },
    /// In teaching mode: the move after the blunder check.
    NoBlunder { re: Option<u64>, mv: String, ply: usize },
}

/// An analysis or a review. Dropping it ends it at once.
struct Task {
    _work: OwnedTask,
    _permit: Permit,
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
    visitor: Arc<Visitor>,
    connection: Arc<Connection>,
    news: mpsc::Sender<News>,
    schema: Schema,
    open: Option<Open>,
    /// Hints and warnings that are being thought about. All work of a page ends with it.
    asked: JoinSet<()>,
    study: Option<Task>,
    review: Option<Task>,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Page {
    /// Waits until the visitor may send one message more.
    async fn pace(&self) {
        count(&self.house.metrics.messages);
        while let Err(wait) = self.visitor.take_message(&self.house.limits) {
            count(&self.house.metrics.throttled);
            tokio::time::sleep(wait.min(Duration::from_secs(1))).await;
        }
    }

    /// A response as text. Refusals are counted.
    fn answer(&self, re: Option<u64>, response: &Response) -> String {
        if let Response::Error(refused) = response {
            self.house.metrics.refused(refused.kind);
        }
        answer(re, response)
    }

    /// Does what a message asks; an answer that takes longer comes as news.
    fn hear(&mut self, text: &str) -> Option<String> {
        let Asked { re, request } = Asked::parse(text);
        let response = match request {
            Ok(request) => self.act(re, request).map_err(Into::into),
            Err(malformed) => Err(malformed),
        };
        let response = response.unwrap_or_else(|refused| Some(Response::Error(refused)))?;
        Some(self.answer(re, &response))
    }

    fn act(&mut self, re: Option<u64>, request: Request) -> Result<Option<Response>, RequestError> {
        let response = match request {
            Request::Hello { schema } => {
                self.schema = schema.unwrap_or_default();
                welcome(self.schema)
            }
            Request::New { first, second, rules, clock, position, invite, contribute } => {
                self.house.check_new_game(&self.visitor)?;
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
                self.house.check_new_game(&self.visitor)?;
                let open_game = self.house.keep_open(&link::to_record(&link)?)?;
                self.enter(open_game, Held::NONE, None, None)
            }
            Request::GoOn {} => {
                let held = self.held()?;
                self.house.check_new_game(&self.visitor)?;
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
            Request::BeginSeries { person, rank, program, rules, clock, each } => {
                let series = GameSeries {
                    person,
                    rank,
                    program,
                    rules: rules.unwrap_or_else(|| Rules::chen().to_string()),
                    clock,
                    each: each.unwrap_or(GAMES_IN_EACH_ORDER),
                    ..GameSeries::default()
                };
                Response::Series(self.house.begin_series(series)?)
            }
            Request::Series { series } => Response::Series(self.house.series(&series)?),
            Request::NextGame { series } => {
                let open_game = self.house.next_game(&series, &self.visitor)?;
                self.enter(open_game, Held::ALL, None, None)
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
                self.study = None;
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
        self.study = None;
        self.review = None;
        self.connection.set_has_game(false);
        if let Some(Open { open_game, changes, .. }) = self.open.take() {
            drop(changes);
            self.house.left(&open_game);
        }
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
        if !open_game.is_watched() {
            open_game.set_visitor(self.visitor.id());
        }
        let (view, changes) = open_game.watch();
        self.connection.set_has_game(true);
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
        open_game.set_visitor(self.visitor.id());
        let (done, is_opening) = {
            let mut hosted = open_game.hosted();
            let is_opening = hosted.to_move().is_none();
            (self.within_bounds(&mut hosted, |hosted, dir| act(hosted, dir, held)), is_opening)
        };
        // Even if it failed: a ply may have been played, and only the record of the game not been written.
        self.house.go_on(&open_game);
        if is_opening {
            self.house.wait_for_players(&open_game);
        }
        done?;
        Ok(Response::Done {})
    }

    /// Changes the game if that may be written down.
    fn within_bounds(
        &self,
        hosted: &mut HostedGame,
        act: impl FnOnce(&mut HostedGame, &Path) -> Result<(), HostedError>,
    ) -> Result<(), RequestError> {
        let (dir, limits) = (self.house.dir(), &self.house.limits);
        let path = journal_path(dir, hosted.id());
        // When a game is over there is no journal any more, and what it grew by last is not counted.
        let size = || fs::metadata(&path).map_or(0, |found| found.len());
        let (before, plies) = (size(), hosted.game().plies().len());
        self.visitor.check_growth(limits)?;
        if before >= limits.game_bytes {
            return Err(LimitError::GameSize(before).into());
        }
        let done = act(hosted, dir);
        self.visitor.spend_growth(limits, size().saturating_sub(before));
        if hosted.game().plies().len() > plies {
            count(&self.house.metrics.plies);
        }
        Ok(done?)
    }

    fn play(&mut self, mv: &str, ply: usize) -> Result<Response, RequestError> {
        self.change(|hosted, dir, held| hosted.play_person(dir, held, mv, ply))
    }

    fn play_unless_blunder(&mut self, re: Option<u64>, mv: String, ply: usize) -> Result<(), RequestError> {
        let held = self.held()?;
        let (wanted, game) = {
            let hosted = self.open()?.hosted();
            hosted.check_no_help()?;
            (hosted.person_move(held, &mv)?, hosted.game().clone())
        };
        let (permit, mut turn) = self.house.scheduler.request(self.visitor.id(), Urgency::Move)?;
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        self.ask(async move {
            let thought = turn.run(move |stop| {
                let choice = house.analyst.think(&game, TEACH_NODES, stop)?;
                let loss = loss_of(&game, &choice, wanted)?;
                Some((choice, loss))
            });
            let thought = thought.await.flatten();
            let reply = match thought.filter(|(_, loss)| Grade::of(*loss) == Some(Grade::Blunder)) {
                Some((choice, loss)) => {
                    let better = choice.mv.to_string();
                    News::Answer { re, response: Response::Warning { mv, better, loss: rounded(loss) } }
                }
                None => News::NoBlunder { re, mv, ply },
            };
            drop(permit);
            let _ = news.send(reply).await;
        });
        Ok(())
    }

    /// Thinks about an answer, as long as the page is there.
    fn ask(&mut self, thinking: impl Future<Output = ()> + Send + 'static) {
        while self.asked.try_join_next().is_some() {}
        self.asked.spawn(thinking);
    }

    fn hint(&mut self, re: Option<u64>) -> Result<(), RequestError> {
        self.open()?.hosted().check_no_help()?;
        let game = self.open()?.hosted().game().clone();
        let (permit, mut turn) = self.house.scheduler.request(self.visitor.id(), Urgency::Move)?;
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        self.ask(async move {
            let thought = turn.run(move |stop| house.analyst.think(&game, HINT_NODES, stop)).await.flatten();
            let hint = thought.map(|choice| Response::Hint { mv: choice.mv.to_string() });
            let response = or_error(hint.ok_or(RequestError::NothingToPlay));
            drop(permit);
            let _ = news.send(News::Answer { re, response }).await;
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
        let limit = self.house.limits.analysis_nodes;
        let most = nodes.unwrap_or(Analyst::STAGES[Analyst::STAGES.len() - 1].min(limit));
        if most > limit {
            return Err(RequestError::TooManyNodes { asked: most, most: limit });
        }
        self.open()?.hosted().check_no_help()?;
        let game = Arc::new(self.game_at(ply)?);
        let id: Arc<str> = self.open()?.hosted().id().into();
        self.study = None;
        let (permit, mut turn) = self.house.scheduler.request(self.visitor.id(), Urgency::Study)?;
        let (house, news, schema) = (Arc::clone(&self.house), self.news.clone(), self.schema);
        let work = OwnedTask::spawn(async move {
            for stage in Analyst::STAGES.into_iter().filter(|&stage| stage < most).chain([most]) {
                let (house, game, id) = (Arc::clone(&house), Arc::clone(&game), Arc::clone(&id));
                let thought = turn.run(move |stop| {
                    let choice = house.analyst.think(&game, stage, stop)?;
                    // A search that ended by itself has proven what there is to prove.
                    let is_last = stage == most || choice.stats.nodes < stage;
                    let analysis = Analysis { is_during_search: !is_last, ..house.analyst.analysis(&game, &choice) };
                    let study = Study::new(&id, analysis, schema);
                    Some((wire::text(&Event::Analysis(Box::new(study))), is_last))
                });
                let Some((text, is_last)) = thought.await.flatten() else { return };
                if news.send(News::Text(text)).await.is_err() || is_last {
                    return;
                }
            }
        });
        self.study = Some(Task { _work: work, _permit: permit });
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
            hosted.check_no_help()?;
            (hosted.id().to_owned(), hosted.game().clone())
        };
        self.review = None;
        let (permit, mut turn) = self.house.scheduler.request(self.visitor.id(), Urgency::Study)?;
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        let work = OwnedTask::spawn(async move {
            let mut reviews = Vec::new();
            for ply in 0..game.plies().len() {
                let (game, house) = (game.clone(), Arc::clone(&house));
                let looked = turn.run(move |stop| {
                    let mut before = game.clone();
                    rewind(&mut before, ply);
                    house.analyst.review(&before, &game, stop)
                });
                let Some(review) = looked.await.flatten() else { return };
                let told = wire::text(&Event::ReviewPly { game: id.clone(), review: review.clone() });
                reviews.push(review);
                if news.send(News::Text(told)).await.is_err() {
                    return;
                }
            }
            let whole = wire::text(&Event::Review(Review::new(&id, &reviews)));
            let _ = news.send(News::Text(whole)).await;
        });
        self.review = Some(Task { _work: work, _permit: permit });
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
        let settings = HouseSettings { deals: Some(anqi_rules::Seed::from(1)), ..HouseSettings::default() };
        let house = House::open(dir.path(), settings).unwrap();
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
