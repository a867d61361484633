//! Names go round, and a wrong one is shown.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use anqi_playout::{Path, Policy, Reading, UnknownName};

fn go_round<T>(values: impl IntoIterator<Item = T>)
where
    T: FromStr<Err = UnknownName> + Display + Debug + PartialEq,
{
    for value in values {
        assert_eq!(value.to_string().parse(), Ok(value));
    }
}

#[test]
fn names_go_round() {
    go_round(Policy::ALL);
    go_round(Reading::ALL);
    go_round(Path::available());
}

#[test]
fn errors_show_the_text() {
    let error = "greedy".parse::<Policy>().unwrap_err();
    assert_eq!(error.to_string(), r#"unknown policy "greedy", expected one of random, capture"#);
    let error = "Paper".parse::<Reading>().unwrap_err();
    assert_eq!(error.to_string(), r#"unknown reading "Paper", expected one of rules, paper"#);
    let error = "gpu".parse::<Path>().unwrap_err();
    assert!(error.to_string().starts_with(r#"unknown path on this machine "gpu", expected one of scalar, portable"#));
}
