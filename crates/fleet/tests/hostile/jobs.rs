//! Forged jobs: no command runs that a worker's owner has not allowed, and other jobs go on.

use std::path::Path;

use anqi_fleet::{FleetKey, Role, Subject, seal};
use anqi_lab::Allowed;

use crate::scene::{Scene, key, plan, played_here, trusting, wait_until};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A job of two players, the first with this text.
fn job(player: &str) -> (String, String) {
    let text = format!("{VERSION}\npairs\n-\n-\n\nplayers = [\"{player}\", \"random name=other\"]\npairs = 1\n");
    (blake3::hash(text.as_bytes()).to_hex()[..32].to_owned(), text)
}

/// A command that leaves a trace.
fn evil(trace: &Path) -> String {
    format!("cmd='touch {}' name=Gold", trace.display())
}

/// A job and an item of it, as a coordinator would store them under a key.
fn stored(key: &str, signer: &FleetKey, job_message: Vec<u8>) -> Vec<(String, Vec<u8>)> {
    let about = Subject { role: Role::Coordinator, job: key, item: "0.0", engines: "" };
    vec![
        (format!("anqi.fleet.jobs.{key}.{}", signer.public()), job_message),
        (format!("anqi.fleet.work.{key}.0.0"), seal(signer, &about, "")),
    ]
}

#[test]
fn forged_jobs_run_nothing_and_keep_no_worker_from_others() {
    let scene = Scene::new();
    let trace = scene.dir.path().join("trace");
    let (worker_key, foreign) = (key(), key());
    // A first job makes the streams; it has to wait until the worker is through with the forged ones.
    let plan = plan("", 2);
    let worker = scene.worker(&worker_key, Allowed::default());
    wait_until("the streams are there", || {
        scene.by_hand(async |context| context.get_stream("ANQI_FLEET_STATUS").await.is_ok())
    });

    let sealed = |signer: &FleetKey, key: &str, text: &str| {
        seal(signer, &Subject { role: Role::Coordinator, job: key, item: "job", engines: "" }, text)
    };
    let (id, text) = job(&evil(&trace));
    let own = &scene.coordinator;
    let mut forged = vec![
        // A plan without a signature under any key, which earlier versions would have run.
        (format!("anqi.fleet.jobs.{id}.me"), text.clone().into_bytes()),
        (format!("anqi.fleet.work.{id}.0.0"), Vec::new()),
        ("anqi.fleet.work.x.y.z".to_owned(), vec![0xFF; 1000]),
        ("anqi.fleet.work.x.0.1".to_owned(), vec![b'x'; 99_000]),
    ];
    // Signed by a key that is not trusted, or for another role, job or item.
    let (foreign_id, foreign_text) = job(&format!("{} tc=1:00", evil(&trace)));
    forged.extend(stored(&foreign_id, &foreign, sealed(&foreign, &foreign_id, &foreign_text)));
    let about = Subject { role: Role::Worker, job: "r", item: "0.0", engines: "" };
    forged.push(("anqi.fleet.work.r.0.0".to_owned(), seal(own, &about, "")));
    let about = Subject { role: Role::Coordinator, job: "other", item: "0.0", engines: "" };
    forged.push(("anqi.fleet.work.j.0.0".to_owned(), seal(own, &about, "")));
    let about = Subject { role: Role::Coordinator, job: "i", item: "1.0", engines: "" };
    forged.push(("anqi.fleet.work.i.0.0".to_owned(), seal(own, &about, "")));
    let about = Subject { role: Role::Coordinator, job: "w", item: "0.0", engines: "" };
    forged.push(("anqi.fleet.work.w.0.0".to_owned(), seal(own, &about, "rm -rf")));
    // Signed by the coordinator, but under a key that is not its hash; and in place of a job another message of it.
    forged.extend(stored("aaaa", own, sealed(own, "aaaa", &text)));
    let (squatted, _) = job("random");
    forged.extend(stored(&squatted, own, b"players = [\"cmd='touch x'\"]".to_vec()));
    // Signed by the coordinator, with what the owner of this machine has not allowed.
    for player in [
        format!("{} tc=2:00", evil(&trace)),
        "chen:var1,weights=/etc/passwd".to_owned(),
        "champion,net=/dev/zero".to_owned(),
        "champion,tables=/etc".to_owned(),
        "no such player".to_owned(),
    ] {
        let (id, text) = job(&player);
        forged.extend(stored(&id, own, sealed(own, &id, &text)));
    }
    let (id, text) = job("random");
    let other_version = text.replacen(VERSION, "9.9.9", 1);
    let key_of_it = blake3::hash(other_version.as_bytes()).to_hex()[..32].to_owned();
    assert_ne!(key_of_it, id);
    forged.extend(stored(&key_of_it, own, sealed(own, &key_of_it, &other_version)));
    scene.publish(forged);

    let coordinator = scene.coordinate("match", &plan, trusting(&[(&worker_key, "worker")]), 0.0);
    assert!(coordinator.finish() == played_here(&plan));
    for reason in [
        "unsigned",
        "foreign key",
        "other role",
        "other job: other is signed, not j",
        "other item",
        "malformed: rm -rf",
        "is not the hash of the job",
        "has not allowed an outside program \"Gold\"",
        "weights \"/etc/passwd\": a plan that is sent",
        "names \"/dev/zero\", which is in no folder that the owner",
        "names \"/etc\", which is in no folder",
        "unknown player \"no\"",
        "the job is for anqi 9.9.9",
    ] {
        worker.log.wait_for(reason);
    }
    assert!(!trace.exists(), "a command ran: {}", worker.log.text());
}
