//! A trusted worker that makes results up: legal games of the right deal, but not those that the players would have played.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anqi_engine::Resources;
use anqi_fleet::{FleetKey, Role, Subject, Tell, fleet_status, seal};
use anqi_lab::{Allowed, Cast, MatchJournal, Plan, play_pair};
use anqi_task::Stop;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt;

use crate::scene::{Scene, key, plan, played_here, trusting, wait_until};

/// What players with a tenth of the budget play, told as if they had had all of it.
fn made_up(plan: &Plan, number: u64) -> String {
    let weak: Plan = plan.to_string().replace("nodes=200", "nodes=20").parse().expect("a plan");
    let cast = Cast::new(&weak, &Resources::default()).expect("players of ours");
    play_pair(&weak, number, &cast, &Stop::default()).expect("played").to_text().replace("nodes=20\"", "nodes=200\"")
}

#[test]
fn a_worker_that_lies_is_excluded_and_its_pairs_are_played_again() {
    let scene = Scene::new();
    let plan = plan("", 24);
    let (liar, honest) = (key(), key());
    let trusted = || trusting(&[(&liar, "liar"), (&honest, "honest")]);
    let coordinator = scene.coordinate("match", &plan, trusted(), 0.4);
    let job = scene.job_key();
    let engines = Cast::new(&plan, &Resources::default()).expect("players of ours").to_lines();

    // It does what a worker does, but for playing.
    let (over, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    let lie = |liar: &FleetKey| {
        scene.by_hand(async |context| {
            let work = context.get_stream("ANQI_FLEET_WORK").await.expect("the stream is there");
            let workers = work
                .get_or_create_consumer(
                    "workers",
                    pull::Config { durable_name: Some("workers".into()), ..Default::default() },
                )
                .await
                .expect("a consumer");
            while !over.load(Ordering::Relaxed) && answered.load(Ordering::Relaxed) < 12 {
                let batch = workers.batch().max_messages(1).expires(Duration::from_millis(500)).messages().await;
                let Some(Ok(message)) = batch.expect("the server answers").next().await else { continue };
                let item = message.subject.split('.').nth(4).expect("an item").to_owned();
                let number: u64 = item.parse().expect("a pair");
                let about = Subject { role: Role::Worker, job: &job, item: &item, engines: &engines };
                let result = seal(liar, &about, &made_up(&plan, number));
                let subject = format!("anqi.fleet.results.{job}.{item}.{}", liar.public());
                context.publish(subject, result.into()).await.expect("sent").await.expect("stored");
                message.ack_with(AckKind::Ack).await.expect("sent");
                answered.fetch_add(1, Ordering::Relaxed);
            }
        });
    };
    lie(&liar);
    wait_until("made-up pairs count, for now", || {
        MatchJournal::read(&scene.dir.path().join("match")).is_ok_and(|journal| journal.len() > 2)
    });

    let _worker = scene.worker(&honest, Allowed::default());
    coordinator.log.wait_for("is excluded: pair");
    let log = coordinator.log.clone();
    let records = coordinator.finish();
    over.store(true, Ordering::Relaxed);
    assert!(records == played_here(&plan), "what the liar has sent is in the records: {}", log.text());
    assert!(log.has(&format!("worker liar ({})", liar.public())), "{}", log.text());
    assert!(log.has("EXCLUDED: pair"), "{}", log.text());
    assert!(!log.has(&format!("worker honest ({})", honest.public())), "{}", log.text());
    let journal = fs::read_to_string(scene.dir.path().join("match/journal")).expect("a journal");
    assert!(journal.lines().any(|line| line.starts_with("discard ")), "nothing was discarded");

    // The operator sees it.
    let mut everyone = trusted();
    everyone.add(scene.coordinator.public(), "boss");
    let member = scene.member(&key(), everyone, &Default::default());
    let status = fleet_status(&member.server, &member.trusted, &Tell::new(|_| {})).expect("the server answers");
    let boss = status.members.iter().find(|member| member.name == "boss").expect("the coordinator has said how it is");
    let excluded: Vec<&str> =
        boss.status.workers.iter().filter(|worker| worker.excluded.is_some()).map(|worker| &*worker.name).collect();
    assert_eq!(excluded, ["liar"]);
    assert_eq!((boss.status.job.as_ref().map(|job| (job.done, job.all)), status.unknown), (Some((24, 24)), 0));
}

/// With one worker the coordinator plays the chosen pairs itself.
#[test]
fn a_lonely_worker_is_checked_too() {
    let scene = Scene::new();
    let plan = plan("seed = 9", 6);
    let worker = key();
    let coordinator = scene.coordinate("match", &plan, trusting(&[(&worker, "alone")]), 1.0);
    let _worker = scene.worker(&worker, Allowed::default());
    let log = coordinator.log.clone();
    assert!(coordinator.finish() == played_here(&plan), "{}", log.text());
    let ledger = fs::read_to_string(scene.dir.path().join("match/fleet")).expect("a ledger");
    assert_eq!(ledger.lines().filter(|line| line.starts_with("checked ")).count(), 6, "{ledger}");
}

/// A coordinator that starts again knows whom it has excluded, and which pairs that concerns.
#[test]
fn an_exclusion_outlives_the_coordinator() {
    let scene = Scene::new();
    let plan: Arc<Plan> = plan("seed = 3", 3);
    let (liar, honest) = (key(), key());
    let trusted = || trusting(&[(&liar, "liar"), (&honest, "honest")]);
    let engines = Cast::new(&plan, &Resources::default()).expect("players of ours").to_lines();
    let coordinator = scene.coordinate("match", &plan, trusted(), 0.0);
    let job = scene.job_key();
    let send = |number: u64, text: &str| {
        let item = number.to_string();
        let about = Subject { role: Role::Worker, job: &job, item: &item, engines: &engines };
        scene.publish([(format!("anqi.fleet.results.{job}.{item}.{}", liar.public()), seal(&liar, &about, text))]);
    };
    let journal = || fs::read_to_string(scene.dir.path().join("match/journal")).unwrap_or_default();
    send(0, &made_up(&plan, 0));
    wait_until("it counts, for now", || journal().contains("\npair 0 "));
    send(1, "forged");
    wait_until("its pair is discarded", || journal().contains("\ndiscard 0 "));
    // What it sends from now on does not count.
    send(2, &made_up(&plan, 2));
    coordinator.log.wait_for("refused: excluded worker");
    thread::sleep(Duration::from_millis(50));
    assert!(!journal().contains("\npair 2 "));
    let _worker = scene.worker(&honest, Allowed::default());
    assert!(coordinator.finish() == played_here(&plan));
    // The same folder again: nothing is left to do, and nothing has to be taken back.
    let again = scene.coordinate("match", &plan, trusted(), 0.0);
    assert!(again.finish() == played_here(&plan));
}
