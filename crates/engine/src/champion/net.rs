//! Which network the champion has.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::eval::Network;
use crate::options::{OptionValue, Range};

/// Which learned evaluation a player has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum NetOption {
    /// The one that is part of the program.
    #[default]
    Own,
    /// None: evaluation by hand.
    Off,
    /// One from a file.
    File(PathBuf),
}

/// The champion's own network: `training/README.md` says how it was made.
static OWN: LazyLock<Option<Arc<Network>>> =
    LazyLock::new(|| Network::read(include_bytes!("champion.net")).map(Arc::new));

/// Networks that were read: players come and go with every game.
static READ: LazyLock<Mutex<HashMap<PathBuf, Arc<Network>>>> = LazyLock::new(Mutex::default);

impl NetOption {
    /// The network, if the file holds one.
    pub(super) fn network(&self) -> Option<Arc<Network>> {
        let path = match self {
            NetOption::Own => return OWN.clone(),
            NetOption::Off => return None,
            NetOption::File(path) => path,
        };
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(network) = read.get(path) {
            return Some(Arc::clone(network));
        }
        let network = Arc::new(Network::read(&std::fs::read(path).ok()?)?);
        read.insert(path.clone(), Arc::clone(&network));
        Some(network)
    }
}

impl OptionValue for NetOption {
    fn read(text: &str) -> Option<NetOption> {
        match text {
            "own" => Some(NetOption::Own),
            "off" => Some(NetOption::Off),
            _ => {
                let option = NetOption::File(PathBuf::from(text));
                option.network().map(|_| option)
            }
        }
    }

    fn write(&self) -> String {
        match self {
            NetOption::Own => "own".to_owned(),
            NetOption::Off => "off".to_owned(),
            NetOption::File(path) => path.display().to_string(),
        }
    }
}

/// The range of a choice of networks.
pub(super) struct AnyNet;

impl Range<NetOption> for AnyNet {
    fn holds(&self, _: &NetOption) -> bool {
        true
    }

    fn describe(&self) -> String {
        "own, off, or a file of weights made by training/train.py".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_an_own_network() {
        assert!(NetOption::Own.network().is_some());
    }
}
