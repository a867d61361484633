//! `Allowed`: what plans from other machines may use here.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anqi_engine::PlayerSpec;
use anqi_protocol::{OutsideSpec, OutsideSpecError};
use anqi_rules::excerpt;

use crate::contender::{Contender, Who};

/// The programs and files of this machine that a plan from another one may use. By default none.
///
/// A plan names a program; its owner says what is run under that name. No other text of the plan reaches a process.
///
/// ```
/// use anqi_lab::Allowed;
///
/// let mut allowed = Allowed::default();
/// allowed.engine("Gold=/opt/gold/engine --quiet")?;
/// allowed.engine("Silver=cmd='./silver -q' proto=uci option.Hash=64")?;
/// assert_eq!(allowed.engine("Gold").unwrap_err().to_string(), "\"Gold\" is not NAME=COMMAND LINE");
/// # Ok::<(), anqi_lab::AllowedError>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Allowed {
    engines: BTreeMap<String, OutsideSpec>,
    /// Without links and `..`.
    folders: Vec<PathBuf>,
}

/// Why something cannot be allowed.
#[derive(Debug, thiserror::Error)]
pub enum AllowedError {
    /// Not a name and a command line.
    #[error("{0:?} is not NAME=COMMAND LINE")]
    Engine(String),
    /// Two programs for one name.
    #[error("{0:?} is allowed twice")]
    Twice(String),
    /// A command line that is none.
    #[error("{name}: {error}")]
    Spec {
        /// Whose.
        name: String,
        /// What is wrong.
        error: OutsideSpecError,
    },
    /// A folder that is not there.
    #[error("{path}: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

/// Why a contender of a plan from another machine does not play here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAllowed {
    /// A program without its owner's leave.
    #[error("the owner of this machine has not allowed an outside program {0:?} (--allow-engine NAME=COMMAND LINE)")]
    Engine(String),
    /// The plan wants to tell the program something that its owner does not.
    #[error("the plan sets other options or another protocol for {0:?} than this machine's --allow-engine")]
    Options(String),
    /// A file or folder without its owner's leave.
    #[error(
        "the plan of {name:?} names {path:?}, which is in no folder that the owner of this machine has allowed (--allow-files DIR)"
    )]
    Path {
        /// Whose plan string.
        name: String,
        /// What it names.
        path: String,
    },
}

impl Allowed {
    /// Allows a program: `NAME=COMMAND LINE`, or `NAME=cmd=… proto=uci option.Hash=64` as in a plan.
    ///
    /// # Errors
    /// If the text is neither, or the name has a program already.
    pub fn engine(&mut self, text: &str) -> Result<(), AllowedError> {
        let (name, line) = text
            .split_once('=')
            .filter(|(name, line)| !name.is_empty() && !line.trim().is_empty())
            .ok_or_else(|| AllowedError::Engine(excerpt(text)))?;
        let spec = if line.starts_with("cmd=") { line.parse() } else { OutsideSpec::words(line).map(OutsideSpec::new) };
        let spec = spec.map_err(|error| AllowedError::Spec { name: excerpt(name), error })?;
        if self.engines.insert(name.to_owned(), spec).is_some() {
            return Err(AllowedError::Twice(excerpt(name)));
        }
        Ok(())
    }

    /// Allows players of ours to read networks and tables in a folder.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn files(&mut self, dir: &Path) -> Result<(), AllowedError> {
        let folder = |error| AllowedError::Folder { path: dir.display().to_string(), error };
        self.folders.push(dir.canonicalize().map_err(folder)?);
        Ok(())
    }

    /// What is run for a contender of a plan from another machine; `None` for a player of ours, whose files are allowed.
    ///
    /// # Errors
    /// If the owner has not allowed it.
    pub fn program(&self, contender: &Contender) -> Result<Option<OutsideSpec>, NotAllowed> {
        match &contender.who {
            Who::Player(spec) => self.check_paths(&contender.name, spec).map(|()| None),
            Who::Outside(wanted) => {
                let name = || excerpt(&contender.name);
                let own = self.engines.get(&contender.name).ok_or_else(|| NotAllowed::Engine(name()))?;
                if (&wanted.options, wanted.protocol) != (&own.options, own.protocol) {
                    return Err(NotAllowed::Options(name()));
                }
                // How a referee treats it is the plan's; what is run, and where, is its owner's.
                let (command, dir, options) = (own.command.clone(), own.dir.clone(), own.options.clone());
                Ok(Some(OutsideSpec { command, dir, options, ..wanted.clone() }))
            }
        }
    }

    fn check_paths(&self, name: &str, spec: &PlayerSpec) -> Result<(), NotAllowed> {
        // Links are followed before the folders are compared. A pipe or a device could keep a reader waiting for ever.
        let is_allowed = |path: &&str| {
            let whole = Path::new(path).canonicalize().ok();
            whole.is_some_and(|path| {
                (path.is_file() || path.is_dir()) && self.folders.iter().any(|folder| path.starts_with(folder))
            })
        };
        match spec.paths().find(|path| !is_allowed(path)) {
            None => Ok(()),
            Some(path) => Err(NotAllowed::Path { name: excerpt(name), path: excerpt(path) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Allowed;
    use crate::Contender;

    fn check(allowed: &Allowed, contender: &str) -> Result<Option<Vec<String>>, String> {
        let contender: Contender = contender.parse().unwrap();
        let program = allowed.program(&contender).map_err(|refused| refused.to_string())?;
        Ok(program.map(|program| program.command))
    }

    #[test]
    fn the_command_line_is_the_owners() {
        let mut allowed = Allowed::default();
        allowed.engine("Gold=/opt/gold -q").unwrap();
        allowed.engine("Uci=cmd=/opt/uci proto=uci option.Hash=64").unwrap();
        let own = Some(vec!["/opt/gold".to_owned(), "-q".to_owned()]);
        assert_eq!(check(&allowed, "cmd='sh -c evil' name=Gold dir=/tmp tc=1:00"), Ok(own));
        assert_eq!(check(&allowed, "cmd=x name=Uci proto=uci option.Hash=64"), Ok(Some(vec!["/opt/uci".to_owned()])));
        assert!(check(&allowed, "cmd=x name=Uci proto=uci option.Log=/etc/x").unwrap_err().contains("other options"));
        assert!(check(&allowed, "cmd=x name=Gold proto=uci").unwrap_err().contains("another protocol"));
        assert!(check(&allowed, "cmd=/opt/gold").unwrap_err().contains("has not allowed an outside program \"gold\""));
        assert_eq!(check(&allowed, "chen:var1"), Ok(None));
    }

    #[test]
    fn files_are_read_in_allowed_folders_only() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("a.net"), "").unwrap();
        std::fs::write(dir.path().join("b.net"), "").unwrap();
        std::os::unix::fs::symlink(dir.path().join("b.net"), inside.join("link.net")).unwrap();
        let mut allowed = Allowed::default();
        let named = |name: &str| format!("champion,net={}", inside.join(name).display());
        assert!(check(&allowed, &named("a.net")).unwrap_err().contains("in no folder that the owner"));
        allowed.files(&inside).unwrap();
        assert_eq!(check(&allowed, &named("a.net")), Ok(None));
        for name in ["../b.net", "link.net", "none.net"] {
            assert!(check(&allowed, &named(name)).is_err(), "{name}");
        }
        assert!(check(&allowed, "champion,tables=/etc").is_err());
        assert_eq!(check(&allowed, &format!("champion,tables={}", inside.display())), Ok(None));
    }
}
