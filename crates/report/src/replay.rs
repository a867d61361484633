//! Games that can be replayed on a page, on the board of `anqi serve`.

use maud::{Markup, PreEscaped, html};

use crate::moves::Moves;
use crate::page::json_in_script;

/// The modules of the script, each after those that it imports. All but the last are those of `anqi serve`.
const MODULES: [(&str, &str); 4] = [
    ("dom.js", include_str!("page/dom.js")),
    ("glyphs.js", include_str!("page/glyphs.js")),
    ("board.js", include_str!("page/board.js")),
    ("replay.js", include_str!("replay.js")),
];

/// Modules as one script. A page that is a single file has nothing to import from, so lines that import are left out, and
/// what was exported is simply there.
fn bundle() -> String {
    let lines = MODULES.iter().flat_map(|(_, text)| text.lines()).filter(|line| !line.starts_with("import "));
    lines.map(|line| line.strip_prefix("export ").unwrap_or(line).to_owned() + "\n").collect()
}

/// A list of games, a board, and the plies.
pub(crate) fn replay(games: &[Moves]) -> Markup {
    let steps = [("start", "|◀"), ("back", "◀"), ("forward", "▶"), ("end", "▶|")];
    let button = |place: usize| {
        let (step, sign) = steps[place];
        html! { button type="button" data-go=(step) aria-label=(step) { (sign) } }
    };
    html! {
        div #replay {
            div {
                input #filter type="search" placeholder="player, result or ending" aria-label="filter games";
                div #list {}
            }
            div {
                div #board {}
                div.steps {
                    (button(0)) (button(1))
                    input #slider type="range" min="0" value="0" aria-label="ply";
                    (button(2)) (button(3))
                    label { input #letters type="checkbox"; " letters" }
                }
                p #heading {}
                p #note {}
            }
            div #plies {}
        }
        noscript { p { "Replaying games needs JavaScript; everything else on this page does not." } }
        script #games type="application/json" { (json_in_script(&games)) }
        script type="module" { (PreEscaped(bundle())) }
    }
}

#[cfg(test)]
mod tests {
    use super::{MODULES, bundle};

    #[test]
    fn every_import_is_in_the_script() {
        for (place, (name, text)) in MODULES.iter().enumerate() {
            let imports = text.lines().filter(|line| line.starts_with("import "));
            for line in imports {
                let from = line.rsplit_once("from './").and_then(|(_, from)| from.strip_suffix("';"));
                let known = MODULES[..place].iter().any(|(known, _)| Some(*known) == from);
                assert!(known, "{name}: {line:?} must name a module before it on one line");
                assert!(!line.contains(" as "), "{name}: {line:?} renames what it imports");
            }
        }
        let script = bundle();
        for word in ["import ", "export ", "</script"] {
            assert!(!script.lines().any(|line| line.starts_with(word)), "{word}");
        }
    }
}
