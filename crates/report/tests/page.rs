//! The page of a small tournament: everything is there, nothing comes from outside, nothing leaks out of its place.

use anqi_engine::{Resources, Stop};
use anqi_lab::{Cast, MatchJournal, Plan, run};
use anqi_report::MatchReport;

fn page(plan: &str, games: usize) -> String {
    let plan: Plan = plan.parse().expect("a plan");
    let dir = tempfile::tempdir().expect("a folder");
    let mut journal = MatchJournal::open_or_create(dir.path(), &plan).expect("a journal");
    let cast = Cast::new(&plan, &Resources::default()).expect("no files");
    run(&mut journal, 1, &cast, &Stop::default(), |_| {}).expect("a run");
    let mut report = MatchReport::new(&plan, games);
    for number in 0..journal.len() {
        report.add(&journal.pair(number).expect("a pair")).expect("legal games");
    }
    report.to_html()
}

const TOURNAMENT: &str = r#"
    event = "one </script><b>bold</b> & 'more'"
    rules = "chen,board=3x4"
    pairs = 6
    players = ["chen:var1 depth=2 name='A <i>'", "random", "chen:basic depth=1"]
"#;

fn games(page: &str) -> serde_json::Value {
    let json = "type=\"application/json\">";
    let start = page.find(json).expect("the games") + json.len();
    let end = start + page[start..].find("</script>").expect("their end");
    serde_json::from_str(&page[start..end]).expect("JSON")
}

#[test]
fn everything_is_there_and_escaped() {
    let page = page(TOURNAMENT, 100);
    for heading in ["Cross table", "Pairings", "Plots", "Games"] {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    assert_eq!(page.matches("<figure>").count(), 6);
    assert_eq!(page.matches("Ptnml(0-2)").count(), 3);
    assert!(page.contains("<h1>one &lt;/script&gt;&lt;b&gt;bold&lt;/b&gt; &amp; 'more'</h1>"));
    assert!(!page.contains("<b>bold") && !page.contains("A <i>"));
    // Nothing is fetched: the only addresses are the names of namespaces.
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    for fetched in ["src=", "href=", "@import", "url(http", "fetch("] {
        assert!(!page.contains(fetched), "{fetched}");
    }
}

#[test]
fn changes_lead_from_the_first_board_to_the_last() {
    let games = games(&page(TOURNAMENT, 100));
    let games = games.as_array().expect("games");
    assert_eq!(games.len(), 36);
    for game in games {
        let mut board: Vec<char> = game["start"].as_str().expect("a board").chars().collect();
        assert_eq!(board, vec!['x'; 12]);
        for ply in game["plies"].as_array().expect("plies") {
            let changes = ply[1].as_array().expect("changes");
            let text = ply[0].as_str().expect("a ply");
            // A flip changes one square, a move or capture two.
            assert_eq!(changes.len(), if text.contains('-') { 2 } else { 1 }, "{text}");
            for change in changes {
                let place = change[0].as_u64().expect("a place") as usize;
                board[place] = change[1].as_str().and_then(|face| face.chars().next()).expect("a face");
            }
        }
        let colours =
            [board.iter().any(char::is_ascii_uppercase), board.iter().any(|c| c.is_ascii_lowercase() && *c != 'x')];
        if game["ending"] == "elimination" {
            assert_eq!(colours.iter().filter(|there| **there).count(), 1, "{board:?}");
        }
    }
}

#[test]
fn only_so_many_games_are_shown() {
    let page = page(TOURNAMENT, 5);
    assert_eq!(games(&page).as_array().map(Vec::len), Some(5));
    assert!(page.contains("The first 5 of 36 games"));
}

#[test]
fn a_page_without_games() {
    let plan: Plan = TOURNAMENT.parse().expect("a plan");
    assert!(MatchReport::new(&plan, 10).to_html().contains("Nothing was played yet."));
}
