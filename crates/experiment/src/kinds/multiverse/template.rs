//! `Template`: a text with places for the values of axes.

use std::collections::BTreeMap;

use anqi_rules::excerpt;

/// What each axis is set to.
pub type Setting = BTreeMap<String, String>;

/// A text such as `chen,repeat={repeat}`. `{3175*share}` is a whole number times the value of an axis, rounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Value(String),
    Times(u64, String),
}

/// Why a text cannot be filled in.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TemplateError {
    /// A brace without its partner.
    #[error("{0:?}: a {{ is not closed")]
    Open(String),
    /// No such axis.
    #[error("{text:?}: unknown axis {name:?}, expected one of {known}")]
    Unknown {
        /// The whole text.
        text: String,
        /// What stands between the braces.
        name: String,
        /// The axes that there are.
        known: String,
    },
    /// A product with something that is no number.
    #[error("axis {axis}: {value:?} is not a number from 0 on, and {text:?} multiplies by it")]
    Factor {
        /// Which axis.
        axis: String,
        /// Its value.
        value: String,
        /// The whole text.
        text: String,
    },
}

/// What lab puts in the command line of a program; no axis.
pub(super) const SEED: &str = "seed";

impl Template {
    pub(super) fn new(text: &str, axes: &[&str]) -> Result<Template, TemplateError> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (inside, behind) = after.split_once('}').ok_or_else(|| TemplateError::Open(excerpt(text)))?;
            pieces.push(Piece::Text(before.to_owned()));
            let product = inside.split_once('*').and_then(|(number, axis)| Some((number.parse().ok()?, axis)));
            let axis = product.map_or(inside, |(_, axis)| axis);
            pieces.push(match product {
                None if inside == SEED => Piece::Text(format!("{{{SEED}}}")),
                _ if !axes.contains(&axis) => {
                    let (text, name, known) = (excerpt(text), excerpt(inside), axes.join(", "));
                    return Err(TemplateError::Unknown { text, name, known });
                }
                None => Piece::Value(axis.to_owned()),
                Some((number, _)) => Piece::Times(number, axis.to_owned()),
            });
            rest = behind;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Template(pieces))
    }

    /// The axes that it has places for.
    pub(super) fn axes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(axis) | Piece::Times(_, axis) => Some(axis.as_str()),
        })
    }

    /// The text with the values in their places.
    pub(super) fn fill(&self, setting: &Setting) -> Result<String, TemplateError> {
        let value = |axis: &str| setting.get(axis).map_or("", String::as_str);
        let fill = |piece: &Piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::Value(axis) => Ok(value(axis).to_owned()),
            Piece::Times(number, axis) => {
                let factor = value(axis).parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 0.0);
                let product = factor.map(|factor| (*number as f64 * factor).round() as u64);
                product.map(|product| product.to_string()).ok_or_else(|| TemplateError::Factor {
                    axis: axis.clone(),
                    value: excerpt(value(axis)),
                    text: excerpt(&self.text()),
                })
            }
        };
        self.0.iter().map(fill).collect()
    }

    /// The text as it was written.
    fn text(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(axis) => format!("{{{axis}}}"),
            Piece::Times(number, axis) => format!("{{{number}*{axis}}}"),
        };
        self.0.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Setting, Template};

    #[test]
    fn fills_in() {
        let axes = ["nodes", "repeat", "share"];
        let setting: Setting = [("nodes", "500"), ("repeat", "cycle:3"), ("share", "0.25")]
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .into();
        for (text, filled) in [
            ("chen", "chen"),
            ("chen,repeat={repeat}", "chen,repeat=cycle:3"),
            ("{nodes}{nodes}", "500500"),
            ("a name=x playouts={3175*share}", "a name=x playouts=794"),
            ("cmd='x --seed {seed}' nodes={nodes}", "cmd='x --seed {seed}' nodes=500"),
        ] {
            assert_eq!(Template::new(text, &axes).unwrap().fill(&setting).unwrap(), filled);
        }
        for (text, message) in [
            ("x{nodes", "\"x{nodes\": a { is not closed"),
            ("{tea}", "\"{tea}\": unknown axis \"tea\", expected one of nodes, repeat, share"),
            ("{2*tea}", "\"{2*tea}\": unknown axis \"2*tea\", expected one of nodes, repeat, share"),
            ("{x*nodes}", "\"{x*nodes}\": unknown axis \"x*nodes\", expected one of nodes, repeat, share"),
        ] {
            assert_eq!(Template::new(text, &axes).unwrap_err().to_string(), message);
        }
        assert_eq!(
            Template::new("n={3*repeat}", &axes).unwrap().fill(&setting).unwrap_err().to_string(),
            "axis repeat: \"cycle:3\" is not a number from 0 on, and \"n={3*repeat}\" multiplies by it"
        );
    }
}
