//! What a page may ask over the socket. `docs/PAGE.md` tells it to people.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use anqi_rules::excerpt;

/// One request.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    Hello {},
    New {
        first: String,
        second: String,
        #[serde(default)]
        rules: Option<String>,
        #[serde(default)]
        clock: Option<String>,
        #[serde(default)]
        position: Option<String>,
    },
    Open {
        game: String,
    },
    OpenLink {
        link: String,
    },
    Close {},
    Play {
        #[serde(rename = "move")]
        mv: String,
        ply: usize,
        /// Warn before a blunder instead of playing it.
        #[serde(default)]
        teach: bool,
    },
    TakeBack {},
    Resign {},
    Hint {},
    At {
        ply: usize,
    },
    Analyse {
        ply: usize,
        /// Think no longer than this.
        #[serde(default)]
        nodes: Option<u64>,
    },
    StopAnalysis {},
    Review {},
    Link {},
}

/// A request with the number that its answer carries.
pub(crate) struct Numbered {
    pub(crate) re: Option<u64>,
    pub(crate) request: Result<Request, String>,
}

impl Numbered {
    pub(crate) fn parse(text: &str) -> Numbered {
        let wrong = |error: String| format!("{error}; the message reads {:?}", excerpt(text));
        let mut fields: Map<String, Value> = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(error) => return Numbered { re: None, request: Err(wrong(error.to_string())) },
        };
        let re = match fields.remove("re") {
            None => None,
            Some(re) => match re.as_u64() {
                Some(re) => Some(re),
                None => return Numbered { re: None, request: Err(wrong("re is not a whole number".to_owned())) },
            },
        };
        let request = serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(error.to_string()));
        Numbered { re, request }
    }
}

/// An answer as text, with the number of its request in it.
pub(crate) fn answer(re: Option<u64>, mut value: Value) -> String {
    if let (Some(re), Some(fields)) = (re, value.as_object_mut()) {
        fields.insert("re".to_owned(), re.into());
    }
    value.to_string()
}

/// Something could not be done.
pub(crate) fn error(re: Option<u64>, message: &str) -> String {
    answer(re, json!({ "type": "error", "message": message }))
}
