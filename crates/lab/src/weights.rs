//! Weights files in player strings: whoever is told `weights=FILE` plays by what the file held at that moment.

use std::fs;
use std::io;

use anqi_engine::{Evaluation, WeightsError};
use anqi_rules::excerpt;

/// Why a file gives no weights.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WeightsFileError {
    /// It cannot be read.
    #[error("cannot read weights {path:?}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// It does not hold weights.
    #[error("weights {path:?}: {error}")]
    Bad {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: WeightsError,
    },
    /// They are another evaluation's.
    #[error("weights {path:?} are those of evaluation {found}, not of {wanted:?}")]
    Other {
        /// The file.
        path: String,
        /// Whose they are.
        found: &'static str,
        /// Whose they should be.
        wanted: String,
    },
}

/// The most that a weights file may have: a few lines.
const MOST_BYTES: u64 = 64 * 1024;

/// A player string in which every `weights=FILE` has become the weights themselves, so that plans, journals and
/// records say what was played, and other machines need no file.
///
/// # Errors
/// If a file cannot be read or holds something else.
pub fn with_weights_from_files(player: &str) -> Result<String, WeightsFileError> {
    let parts: Vec<&str> = player.split(',').collect();
    let named = |wanted: &str| parts.iter().find_map(|part| part.strip_prefix(wanted));
    let wanted = named("eval=").or_else(|| named("eval:"));
    let resolve = |part: &&str| match part.strip_prefix("weights=") {
        // Only lists of numbers begin so: a file of such a name is ./1200.
        Some(path) if !path.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && path != "own" => {
            let (eval, weights) = read(path)?;
            if let Some(wanted) = wanted.filter(|wanted| *wanted != eval.name()) {
                return Err(WeightsFileError::Other {
                    path: excerpt(path),
                    found: eval.name(),
                    wanted: excerpt(wanted),
                });
            }
            let weights: Vec<String> = weights.iter().map(ToString::to_string).collect();
            Ok(format!("weights={}", weights.join("/")))
        }
        _ => Ok((*part).to_owned()),
    };
    Ok(parts.iter().map(resolve).collect::<Result<Vec<_>, _>>()?.join(","))
}

fn read(path: &str) -> Result<(Evaluation, Vec<i32>), WeightsFileError> {
    let unreadable = |error: io::Error| WeightsFileError::Unreadable { path: excerpt(path), reason: error.to_string() };
    if fs::metadata(path).map_err(unreadable)?.len() > MOST_BYTES {
        let large = io::Error::new(io::ErrorKind::FileTooLarge, "too large for a weights file");
        return Err(unreadable(large));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    Evaluation::read_weights_text(&text).map_err(|error| WeightsFileError::Bad { path: excerpt(path), error })
}

#[cfg(test)]
mod tests {
    use super::with_weights_from_files;
    use crate::Contender;

    #[test]
    fn a_file_becomes_its_weights() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tuned");
        std::fs::write(
            &path,
            "# a comment\neval static\nking 9\nguard 8\nminister 7\nrook 6\nknight 5\ncannon 4\npawn 3\n",
        )
        .unwrap();
        let path = path.display();
        let contender: Contender = format!("chen:var1,weights={path} name=tuned depth=2").parse().unwrap();
        assert_eq!(contender.to_string(), "chen:var1,weights=9/8/7/6/5/4/3 name=tuned depth=2");
        assert_eq!(contender.to_string().parse::<Contender>().unwrap(), contender);
        let error = |player: String| with_weights_from_files(&player).unwrap_err().to_string();
        assert!(
            error(format!("chen:var1,eval=dynamic,weights={path}"))
                .ends_with("of evaluation static, not of \"dynamic\"")
        );
        assert!(error("chen:var1,weights=nowhere".to_owned()).starts_with("cannot read weights \"nowhere\": "));
        let wrong = format!("negascout,weights={path}").parse::<Contender>().unwrap_err().to_string();
        assert_eq!(
            wrong,
            "player negascout: evaluation course has 8 weights \
             (king, guard, minister, rook, knight, cannon, pawn, mobility), found 7"
        );
    }
}
