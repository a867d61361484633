//! Values as JSON strings, by their text forms; times as milliseconds.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

pub(crate) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(reader: D) -> Result<T, D::Error> {
    String::deserialize(reader)?.parse().map_err(D::Error::custom)
}

/// The same for what may be missing.
pub(crate) mod option {
    use super::{Deserialize, Deserializer, Display, Error, FromStr, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D>(reader: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(reader)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// A time as whole milliseconds.
pub(crate) mod millis {
    use std::time::Duration;

    use super::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.serialize_u64(time.as_millis() as u64),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(reader)?.map(Duration::from_millis))
    }

    /// The clocks of the first and the second player.
    pub(crate) mod both {
        use serde::Serialize;

        use super::{Deserialize, Deserializer, Duration, Serializer};

        type Clocks = Option<[Option<Duration>; 2]>;

        pub(crate) fn serialize<S: Serializer>(clocks: &Clocks, serializer: S) -> Result<S::Ok, S::Error> {
            clocks.map(|clocks| clocks.map(|time| time.map(|time| time.as_millis() as u64))).serialize(serializer)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<Clocks, D::Error> {
            let clocks = Option::<[Option<u64>; 2]>::deserialize(reader)?;
            Ok(clocks.map(|clocks| clocks.map(|time| time.map(Duration::from_millis))))
        }
    }
}
