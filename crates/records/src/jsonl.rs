//! JSON Lines: one object a game, for other people's tools. Written only.

use std::io::Write;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::clock::ClockTime;
use crate::error::WriteError;
use crate::eval::Eval;
use crate::record::{PlayedPly, Record};
use crate::tags::Tags;

/// The name and version of the layout, in every object.
const SCHEMA: &str = "anqi-record-1";

#[derive(Serialize)]
struct JsonRecord<'a> {
    schema: &'static str,
    tags: JsonTags<'a>,
    start: String,
    plies: Vec<JsonPly<'a>>,
    result: &'static str,
    termination: Option<&'a str>,
}

/// Names and values in the order of the record.
struct JsonTags<'a>(&'a Tags);

impl Serialize for JsonTags<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct JsonPly<'a> {
    ply: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wdl: Option<[u16; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clk_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emt_ms: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    comment: &'a str,
}

impl<'a> From<&'a PlayedPly> for JsonPly<'a> {
    fn from(PlayedPly { ply, comment }: &'a PlayedPly) -> JsonPly<'a> {
        JsonPly {
            ply: ply.to_string(),
            eval: comment.eval.map(Eval::get),
            wdl: comment.wdl.map(|wdl| [wdl.win(), wdl.draw(), wdl.loss()]),
            clk_ms: comment.clk.map(ClockTime::millis),
            emt_ms: comment.emt.map(ClockTime::millis),
            comment: comment.text(),
        }
    }
}

/// Writes a record as one line of JSON: `schema`, `tags`, `start`, `plies` (each `ply`, and `eval`,
/// `wdl`, `clk_ms`, `emt_ms`, `comment` where the record has them), `result`, `termination`.
///
/// ```
/// let record: anqi_records::Record = "[Rules \"server,board=2x2\"]\n\n1. a1(K) {[%clk 0:01:00] ha} *".parse()?;
/// let mut line = Vec::new();
/// anqi_records::write_json_line(&mut line, &record)?;
/// assert_eq!(String::from_utf8(line)?, concat!(
///     r#"{"schema":"anqi-record-1","tags":{"Result":"*","Rules":"server,board=2x2"},"#,
///     r#""start":"xx/xx - KPkp","plies":[{"ply":"a1(K)","clk_ms":60000,"comment":"ha"}],"#,
///     r#""result":"*","termination":null}"#, "\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the output fails, or if the tags say no start.
pub fn write_json_line(out: &mut impl Write, record: &Record) -> Result<(), WriteError> {
    let object = JsonRecord {
        schema: SCHEMA,
        tags: JsonTags(record.tags()),
        start: record.start(&record.rules()?.unwrap_or_default())?.to_string(),
        plies: record.plies().iter().map(JsonPly::from).collect(),
        result: record.result().name(),
        termination: record.tags().get("Termination"),
    };
    let mut line = serde_json::to_vec(&object).map_err(std::io::Error::from)?;
    line.push(b'\n');
    Ok(out.write_all(&line)?)
}
