//! Weights files: written by `anqi tune`, named in player strings. A player with `weights=FILE` plays by what the file held when
//! the string was read.

use std::io;
use std::path::Path;

use anqi_engine::{Evaluation, WeightsError};
use anqi_rules::excerpt;
use anqi_store::{Access, Damage, read_small, seal_text, unseal_text, write_whole};

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
    /// It is not what was written.
    #[error("weights {path:?}: {damage}; fit them again, or restore the file from a copy")]
    Damaged {
        /// The file.
        path: String,
        /// Where, and what is wrong there.
        damage: Damage,
    },
    /// It does not hold weights.
    #[error("weights {path:?}: {error}")]
    Bad {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: WeightsError,
    },
    /// A plan from another machine names the file.
    #[error(
        "weights {path:?}: a plan that is sent to another machine has the weights themselves, not the name of a file"
    )]
    NotSent {
        /// The file.
        path: String,
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
const MOST_BYTES: usize = 64 * 1024;
/// What the first line of a sealed file calls it.
const KIND: &str = "weights";

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
        Some(path) if names_file(path) => {
            let (eval, weights) = read_weights_file(Path::new(path))?;
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

/// The player string as it is, if it names no file of weights.
///
/// # Errors
/// If it names one.
pub(crate) fn without_weights_files(player: &str) -> Result<&str, WeightsFileError> {
    match player.split(',').filter_map(|part| part.strip_prefix("weights=")).find(|value| names_file(value)) {
        None => Ok(player),
        Some(path) => Err(WeightsFileError::NotSent { path: excerpt(path) }),
    }
}

/// Whether the value of `weights=` is the name of a file. Only lists of numbers begin with a digit or a sign: a file of such a
/// name is ./1200.
fn names_file(value: &str) -> bool {
    !value.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') && value != "own"
}

/// Reads a weights file; one without a seal, as earlier versions wrote it or as it is written by hand, is taken as it is.
///
/// # Errors
/// If it cannot be read, is damaged, or holds something else.
pub fn read_weights_file(path: &Path) -> Result<(Evaluation, Vec<i32>), WeightsFileError> {
    let shown = || excerpt(&path.display().to_string());
    let unreadable = |error: io::Error| WeightsFileError::Unreadable { path: shown(), reason: error.to_string() };
    let bytes = read_small(path, MOST_BYTES).map_err(unreadable)?;
    let text = match unseal_text(KIND, &bytes).map_err(|damage| WeightsFileError::Damaged { path: shown(), damage })? {
        Some(text) => text,
        None => String::from_utf8(bytes)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?,
    };
    Evaluation::read_weights_text(&text).map_err(|error| WeightsFileError::Bad { path: shown(), error })
}

/// Writes a weights file, sealed with checksums; it is there whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_weights_file(path: &Path, text: &str) -> io::Result<()> {
    write_whole(path, Access::Ordinary, |file| file.write_all(seal_text(KIND, text).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{with_weights_from_files, write_weights_file};
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
        // The sealed file that `anqi tune` writes; one that is damaged is refused with the line.
        let sealed = dir.path().join("sealed");
        write_weights_file(
            &sealed,
            "# fitted\neval static\nking 9\nguard 8\nminister 7\nrook 6\nknight 5\ncannon 4\npawn 3\n",
        )
        .unwrap();
        let named = format!("chen:var1,weights={}", sealed.display());
        assert_eq!(with_weights_from_files(&named).unwrap(), "chen:var1,weights=9/8/7/6/5/4/3");
        let text = std::fs::read_to_string(&sealed).unwrap();
        std::fs::write(&sealed, text.replace("rook 6", "rook 7")).unwrap();
        let told = error(named);
        assert!(told.contains("line 7 is damaged: its checksum is "), "{told}");
        assert!(error("chen:var1,weights=nowhere".to_owned()).starts_with("cannot read weights \"nowhere\": "));
        let wrong = format!("negascout,weights={path}").parse::<Contender>().unwrap_err().to_string();
        assert_eq!(
            wrong,
            "player negascout: evaluation course has 8 weights \
             (king, guard, minister, rook, knight, cannon, pawn, mobility), found 7"
        );
    }
}
