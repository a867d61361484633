//! Options declared once: name, default, range and help give parsing, printing, listing and errors.

use std::fmt;
use std::ops::RangeInclusive;

/// One option as `anqi players` lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionInfo {
    /// The key.
    pub name: &'static str,
    /// What it is when nothing is said.
    pub default: String,
    /// What it may be.
    pub range: String,
    /// What it does.
    pub help: &'static str,
}

/// Why an option cannot be set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OptionError {
    /// No such key.
    #[error("unknown option {key:?}, expected one of {known}")]
    Unknown {
        /// What was given.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// A value that the option does not take.
    #[error("bad value {value:?} for option {key}, expected {range}")]
    BadValue {
        /// The option.
        key: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        range: String,
    },
    /// Weights that the evaluation does not have.
    #[error(transparent)]
    Weights(#[from] crate::eval::WeightsError),
    /// Two options that exclude each other.
    #[error("options {0} and {1} exclude each other")]
    Apart(&'static str, &'static str),
    /// A key given twice.
    #[error("option {0:?} is given twice")]
    Twice(String),
}

/// A group of options, made by [`options!`].
pub(crate) trait OptionGroup: Sized {
    /// All options with these values as defaults.
    fn table(&self) -> Vec<OptionInfo>;
    /// Sets one option from text.
    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError>;
    /// What an option of older texts is called today.
    fn today<'a>(&self, key: &'a str, value: &'a str) -> (&'a str, &'a str) {
        (key, value)
    }
}

/// `key=value` for every option whose value differs from that in `base`.
pub(crate) fn differences<O: OptionGroup>(options: &O, base: &O) -> Vec<String> {
    let values = options.table().into_iter().zip(base.table());
    values
        .filter(|(ours, theirs)| ours.default != theirs.default)
        .map(|(ours, _)| format!("{}={}", ours.name, ours.default))
        .collect()
}

/// Sets options from `key=value` texts; a bare key means `key=on`.
pub(crate) fn set_all<'a, O: OptionGroup>(
    options: &mut O,
    texts: impl Iterator<Item = &'a str>,
) -> Result<(), OptionError> {
    let mut seen = Vec::new();
    for text in texts {
        let (key, value) = text.split_once('=').unwrap_or((text, "on"));
        let (key, value) = options.today(key, value);
        if seen.contains(&key) {
            return Err(OptionError::Twice(key.to_owned()));
        }
        seen.push(key);
        options.set(key, value)?;
    }
    Ok(())
}

/// A value that can stand in an option.
pub(crate) trait OptionValue: Sized {
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
}

macro_rules! number_options {
    ($($number:ty)*) => {$(
        impl OptionValue for $number {
            fn read(text: &str) -> Option<$number> { text.parse().ok() }
            fn write(&self) -> String { self.to_string() }
        }
    )*};
}
number_options!(u32 u64 f64);

impl OptionValue for bool {
    fn read(text: &str) -> Option<bool> {
        match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    }

    fn write(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }
}

/// Weights that take the place of an evaluation's own; empty for its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WeightList(pub Vec<i32>);

impl OptionValue for WeightList {
    fn read(text: &str) -> Option<WeightList> {
        if text == "own" { Some(WeightList::default()) } else { crate::eval::read_list(text).map(WeightList) }
    }

    fn write(&self) -> String {
        if self.0.is_empty() {
            return "own".to_owned();
        }
        self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
    }
}

/// The range of weights.
pub(crate) struct WeightRange;

impl Range<WeightList> for WeightRange {
    fn holds(&self, _: &WeightList) -> bool {
        true
    }

    fn describe(&self) -> String {
        "own or whole numbers such as 1200/800/400/200/120/300/120".to_owned()
    }
}

/// Which values an option takes.
pub(crate) trait Range<T> {
    fn holds(&self, value: &T) -> bool;
    fn describe(&self) -> String;
}

impl<T: PartialOrd + fmt::Display> Range<T> for RangeInclusive<T> {
    fn holds(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn describe(&self) -> String {
        format!("{} to {}", self.start(), self.end())
    }
}

/// The range of a switch.
pub(crate) struct OnOff;

impl Range<bool> for OnOff {
    fn holds(&self, _: &bool) -> bool {
        true
    }

    fn describe(&self) -> String {
        "on or off".to_owned()
    }
}

/// The range of a choice by name.
pub(crate) struct Names(pub(crate) &'static [&'static str]);

impl<T> Range<T> for Names {
    fn holds(&self, _: &T) -> bool {
        true
    }

    fn describe(&self) -> String {
        self.0.join(", ")
    }
}

/// Declares a group of options:
/// `options! { pub struct S { key: Type = default, range, "help"; … } }`.
macro_rules! options {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($key:ident: $value:ty = $default:expr, $range:expr, $help:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $name {
            $(#[doc = $help] pub $key: $value,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($key: $default,)* }
            }
        }

        impl $crate::options::OptionGroup for $name {
            fn table(&self) -> Vec<$crate::options::OptionInfo> {
                use $crate::options::{OptionInfo, OptionValue, Range};
                vec![$(OptionInfo {
                    name: stringify!($key),
                    default: <$value as OptionValue>::write(&self.$key),
                    range: Range::<$value>::describe(&$range),
                    help: $help,
                }),*]
            }

            fn set(&mut self, key: &str, value: &str) -> Result<(), $crate::options::OptionError> {
                use $crate::options::{OptionError, OptionValue, Range};
                match key {
                    $(stringify!($key) => {
                        let read = <$value as OptionValue>::read(value).filter(|v| $range.holds(v));
                        self.$key = read.ok_or_else(|| OptionError::BadValue {
                            key: stringify!($key),
                            value: value.to_owned(),
                            range: Range::<$value>::describe(&$range),
                        })?;
                        Ok(())
                    })*
                    _ => {
                        let known: &[&str] = &[$(stringify!($key)),*];
                        Err(OptionError::Unknown { key: key.to_owned(), known: known.join(", ") })
                    }
                }
            }
        }
    };
}

/// Declares a choice by name: `choices! { pub enum E { One = "one", "help"; … } }`.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($variant:ident = $text:literal, $help:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl $name {
            /// The names, in order.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// The name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl $crate::options::OptionValue for $name {
            fn read(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }

            fn write(&self) -> String {
                self.name().to_owned()
            }
        }
    };
}

pub(crate) use {choices, options};
