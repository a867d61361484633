//! Which network the champion has.

use crate::options::{OptionValue, Range};

/// Which learned evaluation a player has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum NetOption {
    /// The one that is part of the program.
    #[default]
    Own,
    /// None: evaluation by hand.
    Off,
    /// One from a file, by its name.
    File(String),
}

impl OptionValue for NetOption {
    fn read(text: &str) -> Option<NetOption> {
        match text {
            "own" => Some(NetOption::Own),
            "off" => Some(NetOption::Off),
            "" => None,
            file => Some(NetOption::File(file.to_owned())),
        }
    }

    fn write(&self) -> String {
        match self {
            NetOption::Own => "own".to_owned(),
            NetOption::Off => "off".to_owned(),
            NetOption::File(name) => name.clone(),
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
