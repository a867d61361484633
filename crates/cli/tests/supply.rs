//! Licences, bans and sources of all that anqi is built and tested with, as `deny.toml` has them. `cargo deny check` reads
//! the same file, and asks for advisories on the network as well.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// `deny.toml`. A key that is not checked here is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Deny {
    licenses: Licences,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Licences {
    /// How sure `cargo deny` must be of the text of a licence; here only what packages say counts.
    #[serde(rename = "confidence-threshold")]
    _confidence_threshold: f64,
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bans {
    multiple_versions: String,
    wildcards: String,
    allow_wildcard_paths: bool,
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Banned {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: String,
    unknown_git: String,
}

/// What `cargo metadata` says of a package.
#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// What is wrong with a package.
fn problems(package: &Package, deny: &Deny) -> Vec<String> {
    let mut found = Vec::new();
    let Package { name, version, license, source, dependencies } = package;
    let mut wrong = |what: String| found.push(format!("{name} {version}: {what}"));
    let allowed: Vec<Licensee> = deny.licenses.allow.iter().map(|name| Licensee::parse(name).unwrap()).collect();
    match license {
        None => wrong("it names no licence".to_owned()),
        // Some packages have a slash for OR, as it was once written.
        Some(text) => match Expression::parse_mode(text, ParseMode::LAX) {
            Err(error) => wrong(format!("its licence {text:?} is no expression: {}", error.reason)),
            Ok(licence) if !licence.evaluate(|term| allowed.iter().any(|allowed| allowed.satisfies(term))) => {
                wrong(format!("its licence {text:?} is not allowed"));
            }
            Ok(_) => {}
        },
    }
    if deny.bans.deny.iter().any(|banned| banned.name == *name) {
        wrong("it is banned".to_owned());
    }
    match source.as_deref() {
        None | Some(CRATES_IO) => {}
        Some(other) => wrong(format!("it comes from {other}")),
    }
    for Dependency { name: other, req, path } in dependencies.iter().filter(|_| source.is_none()) {
        if req == "*" && path.is_none() {
            wrong(format!("any version of {other} would do"));
        }
    }
    found
}

fn deny() -> Deny {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml")).unwrap();
    let deny: Deny = toml::from_str(&text).unwrap();
    let Bans { multiple_versions, wildcards, allow_wildcard_paths, .. } = &deny.bans;
    let Sources { unknown_registry, unknown_git } = &deny.sources;
    // Other words would ask for checks that are not here.
    let words = [multiple_versions, wildcards, unknown_registry, unknown_git].map(String::as_str);
    assert_eq!((words, *allow_wildcard_paths), (["allow", "deny", "deny", "deny"], true));
    deny
}

#[test]
fn licences_bans_and_sources() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--all-features", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    assert!(metadata.packages.len() > 200, "{} packages", metadata.packages.len());
    let deny = deny();
    let found: Vec<String> = metadata.packages.iter().flat_map(|package| problems(package, &deny)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The check finds what it is for.
#[test]
fn what_is_not_allowed_is_found() {
    let deny = deny();
    let sound = Package {
        name: "some".to_owned(),
        version: "1.0.0".to_owned(),
        license: Some("MIT/Apache-2.0".to_owned()),
        source: Some(CRATES_IO.to_owned()),
        dependencies: Vec::new(),
    };
    let licence = |text: Option<&str>| Package { license: text.map(str::to_owned), ..sound.clone() };
    let source = |text: &str| Package { source: Some(text.to_owned()), ..sound.clone() };
    let any = Dependency { name: "other".to_owned(), req: "*".to_owned(), path: None };
    let ours = Package { source: None, dependencies: vec![any], ..sound.clone() };
    let sound_ones = [
        sound.clone(),
        licence(Some("GPL-3.0-only OR (MIT AND Unicode-3.0)")),
        licence(Some("Apache-2.0 WITH LLVM-exception")),
    ];
    for package in sound_ones {
        assert!(problems(&package, &deny).is_empty(), "{:?}", problems(&package, &deny));
    }
    let wrong = [
        (licence(None), "it names no licence"),
        (licence(Some("GPL-3.0-only")), "its licence \"GPL-3.0-only\" is not allowed"),
        (licence(Some("MIT AND LGPL-2.1-or-later")), "its licence \"MIT AND LGPL-2.1-or-later\" is not allowed"),
        (licence(Some("my own")), "its licence \"my own\" is no expression: "),
        (Package { name: "openssl-sys".to_owned(), ..sound.clone() }, "it is banned"),
        (source("git+https://example.org/some"), "it comes from git+https://example.org/some"),
        (source("registry+https://example.org/index"), "it comes from registry+https://example.org/index"),
        (ours, "any version of other would do"),
    ];
    for (package, told) in wrong {
        let found = problems(&package, &deny);
        assert!(found.len() == 1 && found[0].contains(told), "{found:?}, expected {told}");
    }
}
