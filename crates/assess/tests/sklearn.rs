//! Metrics against scikit-learn and SciPy, installed into a virtual environment of their own under the target folder.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anqi_assess::{Assessment, Sample, Samples, Scale, Settings};
use anqi_stats::Points;

/// Reads `value result` lines, prints `name number` lines.
const SCRIPT: &str = r#"
import sys
import numpy as np
from scipy import stats
from sklearn import metrics

rows = np.array([line.split() for line in sys.stdin], dtype=float)
v, y = rows[:, 0], rows[:, 1].astype(int)
b = (v >= 0.5).astype(int)
print("ACC", repr(float(metrics.accuracy_score(y, b))))
print("FSC", repr(float(metrics.f1_score(y, b))))
print("ROC", repr(float(metrics.roc_auc_score(y, v))))
print("AP", repr(float(metrics.average_precision_score(y, v))))
print("Brier", repr(float(metrics.brier_score_loss(y, v))))
print("log loss", repr(float(metrics.log_loss(y, v))))
print("tau-b", repr(float(stats.kendalltau(v, y, variant="b").statistic)))
somers = stats.somersd(y, v).statistic
ties = np.mean([np.mean(v[y == 0] == value) for value in v[y == 1]])
print("tau (tables)", repr(float(somers + ties)))
print("E(v)", repr(float(abs(v[y == 1].mean() - v[y == 0].mean()))))
print("E(v)/sd", repr(float(abs(v[y == 1].mean() - v[y == 0].mean()) / v.std())))
order = np.argsort(-v, kind="stable")
if len(np.unique(v)) == len(v):
    print("BEP", repr(float(y[order][: y.sum()].mean())))
    if len(v) % 4 == 0:
        print("LFT", repr(float(y[order][: len(v) // 4].mean())))
bins = np.minimum((v * 10).astype(int), 9)
filled = [bins == k for k in range(10) if (bins == k).any()]
print("ECE", repr(float(sum(m.mean() * abs(v[m].mean() - y[m].mean()) for m in filled))))
print("reliability", repr(float(sum(m.mean() * (v[m].mean() - y[m].mean()) ** 2 for m in filled))))
print("resolution", repr(float(sum(m.mean() * (y[m].mean() - y.mean()) ** 2 for m in filled))))
print("uncertainty", repr(float(y.mean() * (1 - y.mean()))))
"#;

/// A Python that has the libraries; made once.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sklearn");
    let python = target.join("bin/python");
    let ready = target.join("ready");
    if !ready.exists() {
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&target));
        run(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "-q",
            "--only-binary",
            ":all:",
            "scikit-learn",
            "scipy",
        ]));
        std::fs::write(ready, "").unwrap();
    }
    python
}

/// Numbers from nowhere in particular (SplitMix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[test]
fn metrics_are_theirs() {
    let python = python();
    let mut compared = 0;
    // Steps of 1/7 are full of ties; `u64::MAX` has none.
    for (seed, count, steps) in [(1, 400, 7), (2, 1000, 50), (3, 400, u64::MAX), (4, 1000, u64::MAX), (5, 40, 3)] {
        let mut state = seed;
        let list: Vec<(f64, bool)> = (0..count)
            .map(|_| {
                let share = (random(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
                let value = if steps == u64::MAX { share } else { (share * (steps + 1) as f64).floor() / steps as f64 };
                // Values between 0.02 and 0.98: a certainty that fails has no logarithm.
                let value = 0.02 + 0.96 * value;
                let noise = (random(&mut state) >> 11) as f64 / (1_u64 << 53) as f64;
                (value, noise < 0.2 + 0.6 * value)
            })
            .collect();
        let mut samples = Samples::default();
        for (number, &(value, won)) in list.iter().enumerate() {
            let result = if won { Points::Win } else { Points::Loss };
            let (game, ply) = (number.to_string(), 0);
            samples.push(Sample { game, ply, value, result, tags: Vec::new() }).unwrap();
        }
        let settings = Settings { resamples: 1, scale: Some(Scale::Probability), ..Settings::default() };
        let assessment = Assessment::new("x", &samples, &settings).unwrap();
        let mut child =
            Command::new(&python).args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines: String = list.iter().map(|(value, won)| format!("{value:?} {}\n", u8::from(*won))).collect();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (name, theirs) = line.rsplit_once(' ').unwrap();
            let (ours, theirs) = (assessment.metric(name).unwrap().value, theirs.parse::<f64>().unwrap());
            assert!((ours - theirs).abs() < 1e-9, "data {seed}, {name}: ours {ours}, theirs {theirs}");
            compared += 1;
        }
    }
    assert!(compared >= 5 * 14, "only {compared} numbers were compared");
}
