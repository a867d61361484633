//! One page's socket: requests in, answers and news out. A page that falls silent or does not read is let go.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_rules::Game;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, timeout};

use crate::house::{House, Seated};
use crate::level::LEVELS;
use crate::link;
use crate::message::{Numbered, Request, answer, error};
use crate::review::{Review, is_blunder, look, loss_of};
use crate::study::{STAGES, Study, think};
use crate::table::{Table, TableError, Wish, rewind};
use crate::view::PositionView;

/// No message of a page is longer.
pub(crate) const LONGEST_MESSAGE: usize = 16 * 1024;
/// How often a page is asked whether it is there.
const PING: Duration = Duration::from_secs(4);
/// How long it may say nothing at all, and how long it may take to read what it is sent.
const SILENCE: Duration = Duration::from_secs(10);
/// Playouts before a hint, and before a warning.
const HINT_PLAYOUTS: u64 = 4000;
const TEACH_PLAYOUTS: u64 = 2000;

/// Talks with a page until it goes.
pub(crate) async fn talk(mut socket: WebSocket, house: Arc<House>) {
    let (news, mut to_send) = mpsc::channel::<String>(16);
    let mut page = Page { house, news, seated: None, views: None, study: Stop::default(), review: Stop::default() };
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
            changed = changed(&mut page.views) => changed.map(|view| view.to_string()),
            Some(text) = to_send.recv() => Some(text),
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
async fn changed(views: &mut Option<watch::Receiver<Arc<str>>>) -> Option<Arc<str>> {
    match views {
        None => std::future::pending().await,
        Some(receiver) => match receiver.changed().await {
            Ok(()) => Some(Arc::clone(&receiver.borrow_and_update())),
            Err(_) => {
                *views = None;
                None
            }
        },
    }
}

/// What one page has open.
struct Page {
    house: Arc<House>,
    news: mpsc::Sender<String>,
    seated: Option<Arc<Seated>>,
    views: Option<watch::Receiver<Arc<str>>>,
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
                Ok(Some(self.watch(seated)))
            }
            Request::Open { game } => {
                let seated = self.house.find(&game)?;
                Ok(Some(self.watch(seated)))
            }
            Request::OpenLink { link } => {
                let id = self.house.keep(&link::to_record(&link)?)?;
                let seated = self.house.find(&id)?;
                Ok(Some(self.watch(seated)))
            }
            Request::Close {} => {
                self.leave();
                Ok(Some(json!({ "type": "closed" })))
            }
            Request::Play { mv, ply, teach } => self.play(re, mv, ply, teach),
            Request::TakeBack {} => self.change(Table::take_back),
            Request::Resign {} => self.change(Table::resign),
            Request::Hint {} => self.hint(re),
            Request::At { ply } => {
                let game = self.game_at(ply)?;
                Ok(Some(json!({ "type": "position", "shown": PositionView::of(&game, ply, true) })))
            }
            Request::Analyse { ply } => self.analyse(ply),
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
        self.seated.as_ref().ok_or(Refusal::NothingOpen)
    }

    fn leave(&mut self) {
        self.study.raise();
        self.review.raise();
        self.views = None;
        self.seated = None;
    }

    /// Opens a game: its view is the answer, and every change is news from here on.
    fn watch(&mut self, seated: Arc<Seated>) -> Value {
        self.leave();
        let mut views = seated.views();
        views.mark_unchanged();
        let view = serde_json::from_str(&seated.view()).unwrap_or_default();
        self.views = Some(views);
        self.seated = Some(seated);
        view
    }

    /// Changes the table. The news of it is the answer's twin, so that the answer can be short.
    fn change(
        &mut self,
        act: impl FnOnce(&mut Table, &Path) -> Result<(), TableError>,
    ) -> Result<Option<Value>, Refusal> {
        let seated = Arc::clone(self.open()?);
        act(&mut seated.table(), self.house.dir())?;
        self.house.go_on(&seated);
        Ok(Some(json!({ "type": "done" })))
    }

    fn play(&mut self, re: Option<u64>, mv: String, ply: usize, teach: bool) -> Result<Option<Value>, Refusal> {
        if !teach {
            return self.change(|table, dir| table.play_person(dir, &mv, ply));
        }
        let seated = Arc::clone(self.open()?);
        let (wanted, game) = {
            let table = seated.table();
            (table.person_move(&mv)?, table.game().clone())
        };
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let Ok(_permit) = house.players.acquire().await else { return };
            let thought = tokio::task::spawn_blocking(move || think(&game, TEACH_PLAYOUTS, &Stop::default())).await;
            let choice = thought.ok().flatten();
            let loss = choice.as_ref().map_or(0.0, |choice| loss_of(choice, wanted));
            let reply = match choice.filter(|_| is_blunder(loss)) {
                Some(choice) => {
                    let better = choice.mv.to_string();
                    json!({ "type": "warning", "move": mv, "better": better, "loss": crate::study::rounded(loss) })
                }
                None => {
                    let played = seated.table().play_person(house.dir(), &mv, ply);
                    match played {
                        Ok(()) => {
                            house.go_on(&seated);
                            json!({ "type": "done" })
                        }
                        Err(error) => json!({ "type": "error", "message": error.to_string() }),
                    }
                }
            };
            let _ = news.send(answer(re, reply)).await;
        });
        Ok(None)
    }

    fn hint(&mut self, re: Option<u64>) -> Result<Option<Value>, Refusal> {
        let game = self.open()?.table().game().clone();
        let (house, news) = (Arc::clone(&self.house), self.news.clone());
        tokio::spawn(async move {
            let Ok(_permit) = house.players.acquire().await else { return };
            let thought = tokio::task::spawn_blocking(move || think(&game, HINT_PLAYOUTS, &Stop::default())).await;
            let reply = match thought.ok().flatten() {
                Some(choice) => json!({ "type": "hint", "move": choice.mv.to_string() }),
                None => json!({ "type": "error", "message": "there is nothing to play" }),
            };
            let _ = news.send(answer(re, reply)).await;
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

    /// Thinks about a position with more and more playouts, and tells after each stage.
    fn analyse(&mut self, ply: usize) -> Result<Option<Value>, Refusal> {
        let game = self.game_at(ply)?;
        let id = self.open()?.table().id().to_owned();
        self.study.raise();
        self.study = Stop::default();
        let (house, news, stop) = (Arc::clone(&self.house), self.news.clone(), self.study.clone());
        tokio::spawn(async move {
            for (stage, playouts) in STAGES.into_iter().enumerate() {
                let Ok(_permit) = house.students.acquire().await else { return };
                let (for_thread, game, id, stop) = (Arc::clone(&house), game.clone(), id.clone(), stop.clone());
                let studied = tokio::task::spawn_blocking(move || {
                    let choice = think(&game, playouts, &stop).filter(|_| !stop.is_raised())?;
                    let is_last = stage + 1 == STAGES.len();
                    serde_json::to_string(&Study::new(&id, &game, &choice, is_last, &for_thread.endings)).ok()
                });
                let Ok(Some(study)) = studied.await else { return };
                if news.send(study).await.is_err() {
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
                let (game, stop) = (game.clone(), stop.clone());
                let looked = tokio::task::spawn_blocking(move || {
                    let mut before = game.clone();
                    rewind(&mut before, ply);
                    look(&before, &game, &stop).filter(|_| !stop.is_raised())
                });
                let Ok(Some(review)) = looked.await else { return };
                let told = json!({ "type": "review-ply", "game": id, "review": review });
                reviews.push(review);
                if news.send(told.to_string()).await.is_err() {
                    return;
                }
            }
            let whole = json!(Review::new(&id, &reviews));
            let _ = news.send(whole.to_string()).await;
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
