//! Orders of layers that do not compile, and what the compiler says of them.
//!
//! What does compile is still honest: see `orders` and `between`.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn a_layer_above_the_one_that_makes_verdicts_is_told_to_stand_below() {
    for above in [
        "DeadlineLayer::new(SECOND)",
        "ShieldLayer::new()",
        "KeyLayer::new()",
    ] {
        let said = Said::of(&format!(
            "Client::new(({above}, OutcomeLayer::new()).layer(wire));"
        ));
        said.has("calls of this service may end in `tower_outcome::Error` instead of a verdict");
        said.has("`OutcomeLayer` has to be the outermost layer");
    }
}

#[test]
fn layers_without_the_one_that_makes_verdicts_are_told_to_have_it_outermost() {
    let said =
        Said::of("Client::new((DeadlineLayer::new(SECOND), ShieldLayer::new()).layer(wire));");
    said.has("calls of this service do not end in a verdict");
    said.has("`OutcomeLayer` makes the verdicts: it has to be the outermost layer");
}

#[test]
fn a_layer_that_reads_answers_does_not_stand_above_verdicts() {
    let pairs = [
        ("OutcomeLayer::new()", "OutcomeService<OutcomeService<"),
        (
            "ClaimLayer::without_ledger()",
            "ClaimService<OutcomeService<",
        ),
    ];
    for (above, named) in pairs {
        let said = Said::of(&format!(
            "Client::new(({above}, OutcomeLayer::new()).layer(wire));"
        ));
        said.has("expected `Response<ReplyBody<_>>`, found `Verdict<");
        said.has(named);
    }
}

/// A retry between the gate and the client would send what the gate has not seen.
#[test]
fn a_stack_stands_over_a_client_and_over_no_layer() {
    let said = Said::of("let _ = Stack::new().over(KeyLayer::new().layer(wire));");
    said.has("`Key<Wire<T>>` is not a client that tower-outcome knows");
    let said = Said::of("let _ = Stack::new().layer(KeyLayer::new().layer(wire));");
    said.has("expected `Wire<_>`, found `Key<Wire<T>>`");
}

/// What the compiler says of a program that it refuses.
struct Said(String);

impl Said {
    /// # Panics
    ///
    /// It refuses nothing.
    fn of(body: &str) -> Self {
        let libraries = Libraries::find();
        match libraries.compile(body) {
            Ok(()) => panic!("it compiles: {body}"),
            Err(said) => Self(said),
        }
    }

    fn has(&self, message: &str) {
        assert!(self.0.contains(message), "{message}\n{}", self.0);
    }
}

/// The crates as they were built for this test.
struct Libraries {
    dir: PathBuf,
    tower_layer: PathBuf,
    tower_outcome: PathBuf,
}

impl Libraries {
    /// Those with which the layers in their right order compile: there may be others, that were
    /// built with other features.
    fn find() -> Self {
        let test = env::current_exe().unwrap();
        let dir = test.parent().unwrap();
        for tower_outcome in newest_first(dir, "libtower_outcome-") {
            for tower_layer in newest_first(dir, "libtower_layer-") {
                let libraries = Self {
                    dir: dir.into(),
                    tower_layer,
                    tower_outcome: tower_outcome.clone(),
                };
                if libraries.compile(RIGHT).is_ok() {
                    return libraries;
                }
            }
        }
        panic!("no library in {} has all layers", dir.display());
    }

    /// Compiles a function over a transport; the error is what the compiler says.
    fn compile(&self, body: &str) -> Result<(), String> {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("uncompiled");
        fs::create_dir_all(&out).unwrap();
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = Command::new(rustc)
            .args(["-", "--edition=2024", "--crate-type=lib", "--emit=metadata"])
            .args([
                "--crate-name=uncompiled",
                "--color=never",
                "--diagnostic-width=1000",
            ])
            .arg("--out-dir")
            .arg(out)
            .arg("-L")
            .arg(format!("dependency={}", self.dir.display()))
            .arg("--extern")
            .arg(format!("tower_layer={}", self.tower_layer.display()))
            .arg("--extern")
            .arg(format!("tower_outcome={}", self.tower_outcome.display()))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let program = format!("{HEAD} {{ {body} }}");
        rustc
            .stdin
            .take()
            .unwrap()
            .write_all(program.as_bytes())
            .unwrap();
        let ended = rustc.wait_with_output().unwrap();
        if ended.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&ended.stderr).into_owned())
    }
}

fn newest_first(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let mut found: Vec<_> = files
        .filter(|file| {
            let name = file.file_name().and_then(|name| name.to_str());
            let is_library = file.extension().is_some_and(|it| it == "rlib");
            is_library && name.is_some_and(|name| name.starts_with(prefix))
        })
        .collect();
    found.sort_by_key(|file| fs::metadata(file).and_then(|it| it.modified()).ok());
    found.reverse();
    found
}

const RIGHT: &str = "
    Client::new((
        OutcomeLayer::new(),
        DeadlineLayer::new(SECOND),
        ShieldLayer::new(),
        ClaimLayer::without_ledger(),
        KeyLayer::new(),
    ).layer(wire));
";

const HEAD: &str = "
    use std::time::Duration;
    use tower_layer::Layer as _;
    use tower_outcome::transport::{Transport, Wire};
    use tower_outcome::*;

    pub const SECOND: Duration = Duration::from_secs(1);

    pub fn over<T>(wire: Wire<T>)
    where
        T: Transport<Body: Send, Future: Send + 'static> + Clone + Send + Sync + 'static,
";
