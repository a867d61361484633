//! The pure crates use no files, environment, processes, threads, sockets, standard streams or clocks, and keep nothing in
//! statics, but in modules and functions behind an opt-in feature. Their sources are read, as they are without features.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, Meta, TraitItem, UseTree};

const PURE: [&str; 9] = ["rules", "playout", "records", "endgame", "solve", "engine", "stats", "play", "task"];

/// What is not pure yet: crate, file and word, and what is to become of it. An entry that is no longer needed fails, too.
const EXCEPTIONS: [(&str, &str, &str, &str); 0] = [];

/// Paths that nothing pure mentions, by their beginnings.
const FORBIDDEN: [&str; 14] = [
    "std::fs",
    "std::env",
    "std::process",
    "std::thread",
    "std::net",
    "std::os",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "std::time::Instant",
    "std::time::SystemTime",
    "memmap2",
    "rayon",
    "tempfile",
];
/// The same where a module was imported before.
const FORBIDDEN_ENDS: [&str; 5] = ["io::stdin", "io::stdout", "io::stderr", "time::Instant", "time::SystemTime"];
const FORBIDDEN_MACROS: [&str; 6] = ["print", "println", "eprint", "eprintln", "dbg", "thread_local"];
/// Types that change behind a shared reference. `LazyLock` is not among them: it is a constant, if what it holds is one.
const CELLS: [&str; 10] =
    ["Cell", "RefCell", "UnsafeCell", "OnceCell", "OnceLock", "LazyCell", "Mutex", "RwLock", "Condvar", "Once"];

/// Whether `cfg` attributes leave something out of a build without features and tests.
fn is_off(attributes: &[Attribute]) -> bool {
    let cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes.iter().filter(cfg).any(|attribute| holds(&attribute.parse_args::<Meta>().unwrap()) == Some(false))
}

/// Whether a condition holds without features and tests; `None` if that depends on the machine.
fn holds(condition: &Meta) -> Option<bool> {
    match condition {
        Meta::NameValue(pair) if pair.path.is_ident("feature") => Some(false),
        Meta::Path(path) if path.is_ident("test") => Some(false),
        Meta::List(list) => {
            let inner = list.parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated);
            let inner: Vec<Option<bool>> = inner.unwrap().iter().map(holds).collect();
            let (is_all, is_any) = (list.path.is_ident("all"), list.path.is_ident("any"));
            if list.path.is_ident("not") {
                inner[0].map(|holds| !holds)
            } else if is_all && inner.contains(&Some(false))
                || is_any && inner.iter().all(|inner| *inner == Some(false))
            {
                Some(false)
            } else if is_all && inner.iter().all(|inner| *inner == Some(true)) || is_any && inner.contains(&Some(true))
            {
                Some(true)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// One file of a crate, with the items that are in a build without features.
struct Source {
    path: PathBuf,
    items: Vec<Item>,
}

/// The files of a crate from its root on, without modules that are left out.
fn sources(root: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), root.parent().unwrap().to_owned())];
    while let Some((path, folder)) = open.pop() {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        if is_off(&file.attrs) {
            continue;
        }
        declared_modules(&file.items, &folder, &mut open);
        found.push(Source { path, items: file.items });
    }
    found
}

fn declared_modules(items: &[Item], folder: &Path, open: &mut Vec<(PathBuf, PathBuf)>) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        if is_off(&module.attrs) {
            continue;
        }
        assert!(!module.attrs.iter().any(|attribute| attribute.path().is_ident("path")), "#[path] is not followed");
        let below = folder.join(module.ident.to_string());
        match &module.content {
            Some((_, items)) => declared_modules(items, &below, open),
            None => {
                let beside = folder.join(format!("{}.rs", module.ident));
                open.push((if beside.exists() { beside } else { below.join("mod.rs") }, below));
            }
        }
    }
}

/// What is found in items: words that are not pure.
#[derive(Default)]
struct Findings {
    words: BTreeSet<String>,
    /// Types of ours that change behind a shared reference.
    cells: BTreeSet<String>,
}

impl Findings {
    fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        if is_off(attributes(item)) {
            return;
        }
        match item {
            Item::Mod(module) => module.content.iter().for_each(|(_, items)| self.items(items)),
            Item::Use(item) => self.imports(&item.tree, ""),
            Item::Impl(item) => {
                let is_on = |part: &&ImplItem| !is_off(attributes_of_part(part));
                item.items.iter().filter(is_on).for_each(|part| self.tokens(part.to_token_stream()));
            }
            Item::Trait(item) => {
                let is_on = |part: &&TraitItem| match part {
                    TraitItem::Fn(part) => !is_off(&part.attrs),
                    _ => true,
                };
                item.items.iter().filter(is_on).for_each(|part| self.tokens(part.to_token_stream()));
            }
            item => self.tokens(item.to_token_stream()),
        }
    }

    fn imports(&mut self, tree: &UseTree, before: &str) {
        match tree {
            UseTree::Path(path) => self.imports(&path.tree, &format!("{before}{}::", path.ident)),
            UseTree::Name(name) => self.path(&format!("{before}{}", name.ident)),
            UseTree::Rename(name) => self.path(&format!("{before}{}", name.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.imports(tree, before)),
            // Everything of a module that has something forbidden in it.
            UseTree::Glob(_) => {
                if FORBIDDEN.iter().any(|path| path.starts_with(before)) {
                    self.words.insert(format!("{before}*"));
                }
                self.path(before.trim_end_matches("::"));
            }
        }
    }

    fn path(&mut self, path: &str) {
        // `use std::fs::{self}` ends with self.
        let path = path.strip_suffix("::self").unwrap_or(path);
        let begins = |forbidden: &&&str| path == **forbidden || path.starts_with(&format!("{forbidden}::"));
        self.words.extend(FORBIDDEN.iter().filter(begins).map(ToString::to_string));
        if let Some(word) = FORBIDDEN_ENDS.iter().find(|end| path.starts_with(**end)) {
            self.words.insert((*word).to_owned());
        }
    }

    /// Looks at everything, macros included; leaves out what follows a `cfg` that does not hold.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(sign) if sign.as_char() == '#' && is_cfg_off(tokens.get(at + 1)) => {
                    at = end_of_element(&tokens, at + 2);
                }
                TokenTree::Ident(first) => {
                    let first = first.to_string();
                    let is_lifetime = at > 0 && is_sign(tokens.get(at - 1), '\'');
                    if first == "static" && !is_lifetime {
                        self.static_item(&tokens[at..]);
                    }
                    if FORBIDDEN_MACROS.contains(&first.as_str()) && is_sign(tokens.get(at + 1), '!') {
                        self.words.insert(format!("{first}!"));
                    }
                    let mut path = first;
                    at += 1;
                    while is_sign(tokens.get(at), ':')
                        && is_sign(tokens.get(at + 1), ':')
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 2)
                    {
                        path = format!("{path}::{next}");
                        at += 3;
                    }
                    // A `use` inside a function, with what it takes in braces.
                    if let (true, Some(TokenTree::Group(group))) = (is_sign(tokens.get(at), ':'), tokens.get(at + 2)) {
                        for name in group.stream() {
                            self.path(&format!("{path}::{name}"));
                        }
                    }
                    self.path(&path);
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// A `static` must be a constant.
    fn static_item(&mut self, tokens: &[TokenTree]) {
        if let Some(TokenTree::Ident(word)) = tokens.get(1) {
            let name = word.to_string();
            let is_end = |token: &TokenTree| is_sign(Some(token), '=') || is_sign(Some(token), ';');
            let kind: TokenStream = tokens[2..].iter().take_while(|token| !is_end(token)).cloned().collect();
            let is_cell = |word: &String| {
                CELLS.contains(&word.as_str()) || word.starts_with("Atomic") || self.cells.contains(word)
            };
            let cell = words(kind).into_iter().find(is_cell);
            if let Some(cell) = cell.or((word == "mut").then(|| "mut".to_owned())) {
                self.words.insert(format!("static {name}: {cell}"));
            }
        }
    }
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether brackets after `#` hold a `cfg` that does not hold.
fn is_cfg_off(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = token else { return false };
    let Ok(meta) = syn::parse2::<Meta>(group.stream()) else { return false };
    let Meta::List(list) = meta else { return false };
    list.path.is_ident("cfg") && holds(&list.parse_args::<Meta>().unwrap()) == Some(false)
}

/// The end of a statement, field or argument. What ends too early is looked at; that can only find too much.
fn end_of_element(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => [';', ','].contains(&sign.as_char()),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens[from..].iter().position(ends).map_or(tokens.len(), |end| from + end + 1)
}

/// All identifiers.
fn words(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            _ => {}
        }
    }
    found
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn attributes_of_part(part: &ImplItem) -> &[Attribute] {
    match part {
        ImplItem::Const(part) => &part.attrs,
        ImplItem::Fn(part) => &part.attrs,
        _ => &[],
    }
}

/// Types with a cell in them, or with a type in them that has one.
#[derive(Default)]
struct Types(Vec<(String, BTreeSet<String>)>);

impl Visit<'_> for Types {
    fn visit_item_struct(&mut self, item: &syn::ItemStruct) {
        self.0.push((item.ident.to_string(), types_of(item.fields.iter())));
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        self.0.push((item.ident.to_string(), types_of(item.variants.iter().flat_map(|variant| &variant.fields))));
        visit::visit_item_enum(self, item);
    }
}

fn types_of<'a>(fields: impl Iterator<Item = &'a syn::Field>) -> BTreeSet<String> {
    fields.flat_map(|field| words(field.ty.to_token_stream())).collect()
}

fn cells(sources: &[Source]) -> BTreeSet<String> {
    let mut types = Types::default();
    sources.iter().flat_map(|source| &source.items).for_each(|item| types.visit_item(item));
    let mut cells: BTreeSet<String> = BTreeSet::new();
    loop {
        let is_cell =
            |word: &String| CELLS.contains(&word.as_str()) || word.starts_with("Atomic") || cells.contains(word);
        let more: Vec<String> =
            types.0.iter().filter(|(_, parts)| parts.iter().any(is_cell)).map(|(name, _)| name.clone()).collect();
        let before = cells.len();
        cells.extend(more);
        if cells.len() == before {
            return cells;
        }
    }
}

/// Every file of a crate and what is not pure in it.
fn impurities(root: &Path) -> Vec<(PathBuf, String)> {
    let sources = sources(root);
    let cells = cells(&sources);
    let mut found = Vec::new();
    for source in sources {
        let mut findings = Findings { words: BTreeSet::new(), cells: cells.clone() };
        findings.items(&source.items);
        found.extend(findings.words.into_iter().map(|word| (source.path.clone(), word)));
    }
    found
}

#[test]
fn pure_crates_are_pure() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for name in PURE {
        let folder = crates.join(name).join("src");
        for (path, word) in impurities(&folder.join("lib.rs")) {
            let file = path.strip_prefix(&folder).unwrap().display().to_string();
            match EXCEPTIONS.iter().position(|(of, at, what, _)| *of == name && *at == file && *what == word) {
                Some(exception) => drop(used.insert(exception)),
                None => wrong.push(format!("crates/{name}/src/{file}: {word}")),
            }
        }
    }
    assert!(wrong.is_empty(), "not pure without features:\n{}", wrong.join("\n"));
    let unused: Vec<_> = EXCEPTIONS.iter().enumerate().filter(|(at, _)| !used.contains(at)).collect();
    assert!(unused.is_empty(), "these exceptions are no longer needed: {unused:?}");
}

/// Writes a crate with one file and finds what is not pure in it.
fn planted(text: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("lib.rs");
    fs::write(&root, text).unwrap();
    impurities(&root).into_iter().map(|(_, word)| word).collect()
}

#[test]
fn violations_are_found() {
    for (text, word) in [
        ("use std::fs;", "std::fs"),
        ("use std::{fmt, fs::{self, File}};", "std::fs"),
        ("use std::fs::*;", "std::fs"),
        ("use std::*;", "std::*"),
        ("use std::io as streams; fn f() { let _ = std::io::stderr(); }", "std::io::stderr"),
        ("use std::io; fn f() { let _ = io::stderr(); }", "io::stderr"),
        ("use std::io::{Read, stdin};", "std::io::stdin"),
        ("fn f() { use std::{env, fmt}; }", "std::env"),
        ("fn f() { let _ = std::env::var(\"X\"); }", "std::env"),
        ("fn f() { let _ = vec![std::process::id()]; }", "std::process"),
        ("impl X { fn f(&self) { std::thread::yield_now(); } }", "std::thread"),
        ("trait X { fn f(&self) { std::thread::yield_now(); } }", "std::thread"),
        ("mod inner { use std::net::TcpStream; }", "std::net"),
        ("fn f() { if true { eprintln!(\"x\"); } }", "eprintln!"),
        ("thread_local! { static X: u8 = 0; }", "thread_local!"),
        ("use std::time::{Duration, Instant};", "std::time::Instant"),
        ("use std::time; fn f() { time::SystemTime::now(); }", "time::SystemTime"),
        ("use rayon::prelude::*;", "rayon"),
        ("static X: Mutex<u8> = Mutex::new(0);", "static X: Mutex"),
        ("fn f() { static X: AtomicU64 = AtomicU64::new(0); }", "static X: AtomicU64"),
        ("static X: LazyLock<Mutex<HashMap<u8, u8>>> = LazyLock::new(Mutex::default);", "static X: Mutex"),
        ("static mut X: u8 = 0;", "static mut: mut"),
        (
            "struct Inner(Mutex<u8>); struct Cache { inner: Arc<Inner> } static X: LazyLock<Cache> = LazyLock::new(f);",
            "static X: Cache",
        ),
        ("#[cfg(not(feature = \"files\"))] use std::fs;", "std::fs"),
        ("#[cfg(any(feature = \"files\", unix))] use std::fs;", "std::fs"),
        ("fn f() { #[cfg(feature = \"x\")] g(); std::fs::read(\"x\"); }", "std::fs"),
    ] {
        assert_eq!(planted(text), [word], "{text}");
    }
}

#[test]
fn what_is_left_out_without_features_may_do_anything() {
    for text in [
        "#[cfg(feature = \"files\")] mod files; #[cfg(test)] mod tests { use std::fs; }",
        "#[cfg(all(unix, feature = \"files\"))] fn f() { std::fs::read(\"x\"); }",
        "impl X { #[cfg(feature = \"files\")] fn f() { std::fs::read(\"x\"); } }",
        "fn f() { #[cfg(feature = \"threads\")] { std::thread::yield_now(); } }",
        "fn f() { #[cfg(feature = \"threads\")] std::thread::yield_now(); }",
        "use std::io::{self, Read}; use std::time::Duration; use std::sync::Mutex;",
        "static X: LazyLock<[u8; 4]> = LazyLock::new(|| [0; 4]); const Y: &str = \"std::fs\";",
        "struct Many(Mutex<u8>); enum Few { Many(u8) } static X: [Few; 1] = [Few::Many(1)]; fn f() -> &'static Many { g() }",
        "/// Reads with std::fs.\nfn f() {}",
    ] {
        assert_eq!(planted(text), Vec::<String>::new(), "{text}");
    }
}
