//! Names go round, and a wrong one is shown.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use anqi_playout::{Path, Policy, Reading};

fn go_round<T>(values: impl IntoIterator<Item = T>)
where
    T: FromStr<Err: Debug + PartialEq> + Display + Debug + PartialEq,
{
    for value in values {
        assert_eq!(value.to_string().parse(), Ok(value));
    }
}

#[test]
fn names_go_round() {
    go_round(Policy::ALL);
    go_round([Policy::AvoidTrap, Policy::AvoidCaptureTrap]);
    go_round(Reading::ALL);
    go_round(Path::available());
}

#[test]
fn errors_show_the_text() {
    let known = "random, capture, avoid, capture+avoid, avoid+capture, trap, capture+trap, capture+avoid+trap, \
                 avoid+trap, avoid+capture+trap";
    let reasons = [
        ("greedy", r#"unknown part "greedy" (parts are capture, avoid, trap)"#),
        ("", r#"unknown part "" (parts are capture, avoid, trap)"#),
        ("capture+", r#"unknown part "" (parts are capture, avoid, trap)"#),
        ("Capture", r#"unknown part "Capture" (parts are capture, avoid, trap)"#),
        ("capture+random", "random is what is left and cannot be a part"),
        ("capture+avoid+capture", "capture twice"),
        ("trap+trap", "trap twice"),
        ("trap+avoid", "trap always finds an action, so nothing can follow it"),
    ];
    for (text, reason) in reasons {
        let error = text.parse::<Policy>().unwrap_err();
        assert_eq!(error.to_string(), format!("{reason} in policy {text:?}; policies are {known}"));
    }
    let long = "capture+".repeat(1000).parse::<Policy>().unwrap_err();
    assert!(long.to_string().len() < 400, "{long}");
    let error = "Paper".parse::<Reading>().unwrap_err();
    assert_eq!(error.to_string(), r#"unknown reading "Paper", expected one of rules, paper"#);
    let error = "gpu".parse::<Path>().unwrap_err();
    assert!(error.to_string().starts_with(r#"unknown path on this machine "gpu", expected one of scalar, portable"#));
}
