//! Forged results: each kind by name, and many of them.

use anqi_engine::Resources;
use anqi_fleet::{FleetKey, MOST_BYTES, Role, Subject, seal};
use anqi_lab::{Allowed, Cast, Plan, PlayedPair, play_pair};
use anqi_task::Stop;

use crate::scene::{Scene, key, plan, played_here, trusting, wait_until};

/// The honest text of a pair.
fn honest(plan: &Plan, cast: &Cast, number: u64) -> String {
    play_pair(plan, number, cast, &Stop::default()).expect("players of ours").to_text()
}

/// The text as records of ours are written, so that nothing but its content is wrong.
fn canonical(text: &str) -> String {
    PlayedPair::from_text(0, text).expect("two games").to_text()
}

/// A tag of the first game.
fn tag<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(&format!("[{name} "))).expect(name)
}

/// Texts for pair 0 that no honest worker can send, by name, and what the coordinator must say of each.
fn lies(plan: &Plan, cast: &Cast) -> Vec<(&'static str, String, &'static str)> {
    let (text, other) = (honest(plan, cast, 0), honest(plan, cast, 1));
    let first_ply = text.split("\n1. ").nth(1).and_then(|plies| plies.split(' ').next()).expect("a ply");
    // The deal of another pair, under the names of this one.
    let other_deal = ["Round", "Seed", "DealCommit"].into_iter().fold(other, |other: String, name| {
        let games: Vec<&str> = text.split("\n[Event ").collect();
        let mut halves: Vec<String> = other.split("\n[Event ").map(str::to_owned).collect();
        for (half, game) in halves.iter_mut().zip(games) {
            *half = half.replace(tag(half, name), tag(game, name)).clone();
        }
        halves.join("\n[Event ")
    });
    let other_result = match tag(&text, "Result") {
        r#"[Result "1-0"]"# => text.replacen("1-0", "0-1", 2),
        r#"[Result "0-1"]"# => text.replacen("0-1", "1-0", 2),
        _ => text.replacen("1/2-1/2", "1-0", 2),
    };
    let one_ply = "[Event \"forged\"]\n[Result \"0-1\"]\n[Termination \"resignation\"]\n\n1. a1(k) 0-1\n";
    let lost = format!("{one_ply}\n{}", one_ply.replace("0-1", "1-0"));
    vec![
        ("illegal ply", canonical(&text.replacen(&format!("\n1. {first_ply}"), "\n1. a1-a2", 1)), "ply 1:"),
        ("other deal", canonical(&other_deal), "the deal does not show"),
        ("wrong result", canonical(&other_result), "should be"),
        ("other event", canonical(&text.replace(tag(&text, "Event"), "[Event \"mine\"]")), "should be"),
        ("other player", canonical(&text.replacen("chen:basic", "chen:var3", 2)), "should be"),
        ("other fingerprint of a player", canonical(&text.replacen("Engine \"p1-", "Engine \"p1-0", 1)), "should be"),
        ("games of one ply with another event and no deal", canonical(&lost), "game 1:"),
        ("not two games", text.split("\n[Event ").next().expect("a game").to_owned(), "1 games, expected 2"),
        ("no games", "1-0".to_owned(), "pair 0"),
        ("other spelling", text.replacen("\n1. ", "\n1.  ", 1), "not as a pair is written"),
    ]
}

/// Messages about pair 0 that are not what they should be, by name, and how they are refused. None has a content that counts.
fn forgeries(job: &str, engines: &str, text: &str, trusted: &FleetKey) -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let about = Subject { role: Role::Worker, job, item: "0", engines };
    let sealed = seal(trusted, &about, text);
    let (foreign, other_job) = (key(), "0".repeat(32));
    let put =
        |from: &str, to: &str| String::from_utf8(sealed.clone()).expect("text").replacen(from, to, 1).into_bytes();
    let by_foreign = String::from_utf8(seal(&foreign, &about, text)).expect("text");
    let own = trusted.public().to_string();
    vec![
        ("unsigned", text.as_bytes().to_vec(), "unsigned"),
        ("foreign key", seal(&foreign, &about, text), "foreign key"),
        ("wrong role", seal(trusted, &Subject { role: Role::Coordinator, ..about }, text), "other role"),
        ("other item", seal(trusted, &Subject { item: "1", ..about }, text), "other item"),
        ("other job", seal(trusted, &Subject { job: &other_job, ..about }, text), "other job"),
        ("other engines", seal(trusted, &Subject { engines: "p1-0\n", ..about }, text), "other engines"),
        ("changed payload", put("[Event ", "[Event  "), "changed payload"),
        ("borrowed signature", by_foreign.replace(&foreign.public().to_string(), &own).into_bytes(), "bad signature"),
        ("malformed", put("signer ", "signer"), "malformed"),
        ("no text", [b"anqi fleet 1\n\xFF\xFE\n\n", text.as_bytes()].concat(), "malformed"),
    ]
}

#[test]
fn forged_results_of_every_kind_are_refused_and_the_match_is_as_played_here() {
    let scene = Scene::new();
    let plan = plan("", 4);
    let cast = Cast::new(&plan, &Resources::default()).expect("players of ours");
    let (worker, text) = (key(), honest(&plan, &cast, 0));
    let lies = lies(&plan, &cast);
    let liars: Vec<FleetKey> = lies.iter().map(|_| key()).collect();
    let mut trusted = trusting(&[(&worker, "honest")]);
    liars.iter().zip(&lies).for_each(|(liar, (name, ..))| trusted.add(liar.public(), name));
    let coordinator = scene.coordinate("match", &plan, trusted, 0.0);
    let job = scene.job_key();

    let engines = cast.to_lines();
    let about = Subject { role: Role::Worker, job: &job, item: "0", engines: &engines };
    // Under the subject of the honest worker, too: the first message there must not keep its results out.
    let subject = format!("anqi.fleet.results.{job}.0.{}", worker.public());
    let forged = forgeries(&job, &engines, &text, &worker);
    scene.publish(forged.iter().map(|(_, message, _)| (subject.clone(), message.clone())));
    scene.publish(lies.iter().zip(&liars).map(|((_, lie, _), liar)| (subject.clone(), seal(liar, &about, lie))));
    scene.publish([(format!("anqi.fleet.results.{job}.nothing.me"), seal(&worker, &about, &text))]);
    // The server itself refuses what is larger than anything of ours.
    let large = scene.by_hand(async |context| {
        let stored = context.publish(subject.clone(), vec![b'x'; MOST_BYTES + 1].into()).await;
        match stored {
            Ok(stored) => stored.await.map(drop).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    });
    assert!(large.is_err(), "a message of {} bytes was stored", MOST_BYTES + 1);

    for (_, _, reason) in &forged {
        coordinator.log.wait_for(&format!("refused: {reason}"));
    }
    for (name, _, what) in &lies {
        wait_until(name, || {
            let log = coordinator.log.text();
            log.lines().any(|line| line.starts_with(&format!("worker {name} (")) && line.contains(what))
        });
    }
    coordinator.log.wait_for("its subject names no item");
    assert!(!coordinator.is_finished());

    let _worker = scene.worker(&worker, Allowed::default());
    let log = coordinator.log.clone();
    assert!(coordinator.finish() == played_here(&plan), "{}", log.text());
    assert!(log.has("messages refused: "), "{}", log.text());
}

/// Forged results while an honest worker plays: none counts.
fn none_of(forgeries_at_least: usize) {
    let scene = Scene::new();
    let plan = plan("", 12);
    let cast = Cast::new(&plan, &Resources::default()).expect("players of ours");
    let (worker, liar) = (key(), key());
    let coordinator = scene.coordinate("match", &plan, trusting(&[(&worker, "honest"), (&liar, "liar")]), 0.0);
    let (job, engines) = (scene.job_key(), cast.to_lines());
    let text = honest(&plan, &cast, 0).replace("1-0", "0-1");
    let mut sent = 0;
    while sent < forgeries_at_least {
        for (_, message, _) in forgeries(&job, &engines, &text, &worker) {
            scene.publish([(format!("anqi.fleet.results.{job}.{}.{}", sent % 12, worker.public()), message)]);
            sent += 1;
        }
        for (_, lie, _) in lies(&plan, &cast) {
            let item = (sent % 12).to_string();
            let about = Subject { role: Role::Worker, job: &job, item: &item, engines: &engines };
            scene.publish([(format!("anqi.fleet.results.{job}.{item}.{}", liar.public()), seal(&liar, &about, &lie))]);
            sent += 1;
        }
    }
    let _worker = scene.worker(&worker, Allowed::default());
    let log = coordinator.log.clone();
    assert!(coordinator.finish() == played_here(&plan), "of {sent} forged results one counted: {}", log.text());
    let counted: usize = log
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("messages refused: "))
        .expect("a summary")
        .split(", ")
        .map(|part| part.split(' ').next().and_then(|count| count.parse::<usize>().ok()).expect("a count"))
        .sum();
    assert_eq!(counted, sent);
    println!("{sent} forged results, 0 counted");
}

#[test]
fn of_60_forged_results_none_counts() {
    none_of(60);
}

#[test]
#[ignore = "long: 1,000 forged results"]
fn of_1000_forged_results_none_counts() {
    none_of(1000);
}
