//! One page's socket: requests in, answers and news out. A page that falls silent or does not read is let go.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_play::LEVELS;
use anqi_rules::Game;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{MissedTickBehavior, timeout};

use crate::house::{House, Seated};
use crate::link;
use crate::message::{Numbered, Request, answer, error};
use crate::review::{Grade, Review, look, loss_of};
use crate::study::{MOST_NODES, STAGES, Study, rounded};
use crate::table::{Table, TableError, Wish, rewind};
use crate::view::PositionView;

/// No message of a page is longer.
pub(crate) const LONGEST_MESSAGE: usize = 16 * 1024;
/// How often a page is asked whether it is there.
const PING: Duration = Duration::from_secs(4);
/// How long it may say nothing at all, and how long it may take to read what it is sent.
const SILENCE: Duration = Duration::from_secs(10);
/// Positions looked at before a hint, and before a warning: some tenths of a second.
const HINT_NODES: u64 = 200_000;
const TEACH_NODES: u64 = 100_000;

/// Talks with a page until it goes.
pub(crate) async fn talk(mut socket: WebSocket, house: Arc<House>) {
    let (news, mut to_send) = mpsc::channel::<News>(16);
    let mut page = Page { house, news, open: None, study: Stop::default(), review: Stop::default() };
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
                        Message::Binary(_) => Some(error(None, "binary messages are not understood, expected JSON text")),
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
            view = changed(&mut page.open) => Some(view.to_string()),
            Some(news) = to_send.recv() => match news {
                News::Text(text) => Some(text),
                News::NoBlunder { re, mv, ply } => match page.play(&mv, ply) {
                    Ok(done) => Some(answer(re, done)),
                    Err(refusal) => Some(error(re, &refusal.to_string())),
                },
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

/// The next view of the open game; never, if there is none.
async fn changed(open: &mut Option<Open>) -> Arc<str> {
    let Some(Open { seated, views }) = open else { return std::future::pending().await };
    match views.recv().await {
        Ok(view) => view,
        // Too much has happened meanwhile. (Nobody closes the channel of a table that is open here.)
        Err(RecvError::Lagged(_) | RecvError::Closed) => {
            let (view, fresh) = seated.watch();
            *views = fresh;
            view
        }
    }
}

/// What comes of thinking for a page.
enum News {
    /// To be sent as it is.
    Text(String),
    /// A move that somebody who learns may play.
    NoBlunder { re: Option<u64>, mv: String, ply: usize },
}

/// The game that a page has open.
struct Open {
    seated: Arc<Seated>,
    views: broadcast::Receiver<Arc<str>>,
}

/// One page.
struct Page {
    house: Arc<House>,
    news: mpsc::Sender<News>,
    open: Option<Open>,
    study: Stop,
    review: Stop,
}

/// Why a request was not done.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("no game is open")]
    NothingOpen,
    #[error("a game is reviewed when it is over")]
    StillPlayed,
    #[error("{0} nodes are too many, expected {MOST_NODES} at most")]
    TooMuch(u64),
    #[error("ply {ply} is beyond the {plies} plies of the game")]
    NoSuchPly { ply: usize, plies: usize },
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Link(#[from] link::LinkError),
}

impl Page {
    /// Does what a message asks; an answer that takes longer comes as news.
    fn hear(&mut self, text: &str) -> Option<String> {
        let Numbered { re, request } = Numbered::parse(text);
        match request.map(|request| self.act(re, request)) {
            Ok(Ok(value)) => value.map(|value| answer(re, value)),
            Ok(Err(refusal)) => Some(error(re, &refusal.to_string())),
            Err(unreadable) => Some(error(re, &unreadable)),
        }
    }

    fn act(&mut self, re: Option<u64>, request: Request) -> Result<Option<Value>, Refusal> {
        match request {
            Request::Hello {} => Ok(Some(welcome())),
            Request::New { first, second, rules, clock, position } => {
                let seated = self.house.begin(&Wish { rules, position, first, second, clock })?;
                Ok(Some(self.sit_down(seated)))
            }
            Request::Open { game } => {
                let seated = self.house.find(&game)?;
                Ok(Some(self.sit_down(seated)))
            }
            Request::OpenLink { link } => {
                let id = self.house.keep(&link::to_record(&link)?)?;
                let seated = self.house.find(&id)?;
                Ok(Some(self.sit_down(seated)))
            }
            Request::Close {} => {
                self.leave();
                Ok(Some(json!({ "type": "closed" })))
            }
            Request::Play { mv, ply, teach: false } => self.play(&mv, ply).map(Some),
            Request::Play { mv, ply, teach: true } => self.play_unless_blunder(re, mv, ply),
            Request::TakeBack {} => self.change(Table::take_back).map(Some),
            Request::Resign {} => self.change(Table::resign).map(Some),
            Request::Hint {} => self.hint(re),
            Request::At { ply } => {
                let game = self.game_at(ply)?;
                Ok(Some(json!({ "type": "position", "shown": PositionView::of(&game, ply, true) })))
            }
            Request::Analyse { ply, nodes } => self.analyse(ply, nodes),
            Request::StopAnalysis {} => {
                self.study.raise();
                Ok(Some(json!({ "type": "done" })))
            }
            Request::Review {} => self.review(),
            Request::Link {} => {
                let link = link::of_game(self.open()?.table().game());
                Ok(Some(json!({ "type": "link", "link": link })))
            }
        }
    }

    fn open(&self) -> Result<&Arc<Seated>, Refusal> {
        self.open.as_ref().map(|open| &open.seated).ok_or(Refusal::NothingOpen)
    }

    fn leave(&mut self) {
        self.study.raise();
        self.review.raise();
        self.open = None;
    }

    /// Opens a game: its view is the answer, and every change is news from here on.
    fn sit_down(&mut self, seated: Arc<Seated>) -> Value {
        self.leave();
        let (view, views) = seated.watch();
        // Whoever thinks there begins when somebody looks, so that nothing is missed.
        self.house.go_on(&seated);
        self.open = Some(Open { seated, views });
        serde_json::from_str(&view).unwrap_or_default()
    }

    /// Changes the table. The news of it is the answer's twin, so that the answer can be short; it comes second.
    fn change(&mut self, act: impl FnOnce(&mut Table, &Path) -> Result<(), TableError>) -> Result<Value, Refusal> {
        let seated = Arc::clone(self.open()?);
        let done = act(&mut seated.table(), self.house.dir());
        // Even if it failed: a ply may have been played, and only the record of the game not been written.
        self.house.go_on(&seated);
        done?;
        Ok(json!({ "type": "done" }))
    }

    fn play(&mut self, mv: &str, ply: usize) -> Result<Value, Refusal> {
        self.change(|table, dir| table.play_person(dir, mv, ply))
    }

    fn play_unless_blunder(&mut self, re: Option<u64>, mv: String, ply: usize) -> Result<Option<Value>, Refusal> {
        let (wanted, game) = {
            let table = self.open()?.table();
            (table.person_move(&mv)?, table.game().clone())
        };
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let Ok(_permit) = house.players.acquire().await else { return };
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
                    let warning = json!({ "type": "warning", "move": mv, "better": better, "loss": rounded(loss) });
                    News::Text(answer(re, warning))
                }
                None => News::NoBlunder { re, mv, ply },
            };
            let _ = news.send(reply).await;
        });
        Ok(None)
    }

    fn hint(&mut self, re: Option<u64>) -> Result<Option<Value>, Refusal> {
        let game = self.open()?.table().game().clone();
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let reply = match house.think(&house.players, game, HINT_NODES, Stop::default()).await {
                Some(choice) => json!({ "type": "hint", "move": choice.mv.to_string() }),
                None => json!({ "type": "error", "message": "there is nothing to play" }),
            };
            let _ = news.send(News::Text(answer(re, reply))).await;
        });
        Ok(None)
    }

    /// The open game as it stood before ply number `ply`.
    fn game_at(&self, ply: usize) -> Result<Game, Refusal> {
        let mut game = self.open()?.table().game().clone();
        let plies = game.plies().len();
        if ply > plies {
            return Err(Refusal::NoSuchPly { ply, plies });
        }
        rewind(&mut game, ply);
        Ok(game)
    }

    /// Thinks about a position with more and more nodes, and tells after each stage.
    fn analyse(&mut self, ply: usize, nodes: Option<u64>) -> Result<Option<Value>, Refusal> {
        let most = nodes.unwrap_or(STAGES[STAGES.len() - 1]);
        if most > MOST_NODES {
            return Err(Refusal::TooMuch(most));
        }
        let game = self.game_at(ply)?;
        let id = self.open()?.table().id().to_owned();
        self.study.raise();
        self.study = Stop::default();
        let (house, news, stop) = (Arc::clone(&self.house), self.news.clone(), self.study.clone());
        tokio::spawn(async move {
            for stage in STAGES.into_iter().filter(|&stage| stage < most).chain([most]) {
                let thought = house.think(&house.students, game.clone(), stage, stop.clone()).await;
                let Some(choice) = thought.filter(|_| !stop.is_raised()) else { return };
                // A search that ended by itself has proven what there is to prove.
                let is_last = stage == most || choice.stats.nodes < stage;
                let study = Study::new(&id, &game, &choice, is_last, &house.analyst);
                let Ok(text) = serde_json::to_string(&study) else { return };
                if news.send(News::Text(text)).await.is_err() || is_last {
                    return;
                }
            }
        });
        Ok(Some(json!({ "type": "done" })))
    }

    /// Looks at every ply of a finished game, and tells about each as it goes.
    fn review(&mut self) -> Result<Option<Value>, Refusal> {
        let seated = Arc::clone(self.open()?);
        let (id, game) = {
            let table = seated.table();
            if table.is_in_play() {
                return Err(Refusal::StillPlayed);
            }
            (table.id().to_owned(), table.game().clone())
        };
        self.review.raise();
        self.review = Stop::default();
        let (house, news, stop) = (Arc::clone(&self.house), self.news.clone(), self.review.clone());
        tokio::spawn(async move {
            let mut reviews = Vec::new();
            for ply in 0..game.plies().len() {
                let Ok(_permit) = house.students.acquire().await else { return };
                let (game, stop, students) = (game.clone(), stop.clone(), Arc::clone(&house));
                let looked = tokio::task::spawn_blocking(move || {
                    let mut before = game.clone();
                    rewind(&mut before, ply);
                    look(&students.analyst, &before, &game, &stop).filter(|_| !stop.is_raised())
                });
                let Ok(Some(review)) = looked.await else { return };
                let told = json!({ "type": "review-ply", "game": id, "review": review });
                reviews.push(review);
                if news.send(News::Text(told.to_string())).await.is_err() {
                    return;
                }
            }
            let whole = json!(Review::new(&id, &reviews));
            let _ = news.send(News::Text(whole.to_string())).await;
        });
        Ok(Some(json!({ "type": "done" })))
    }
}

/// What a page needs to begin.
fn welcome() -> Value {
    let presets: Vec<&str> = anqi_engine::PlayerSpec::presets().iter().map(|preset| preset.name).collect();
    json!({
        "type": "welcome",
        "schema": "anqi-page-1",
        "version": env!("CARGO_PKG_VERSION"),
        "levels": LEVELS,
        "rules": anqi_rules::Rules::names().collect::<Vec<_>>(),
        "players": presets,
    })
}
