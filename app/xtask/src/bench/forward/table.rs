//! The output of `cargo xtask bench forward`.

use serde_json::Value;
use std::collections::BTreeMap;

/// The program with which each of ours is compared: the same environment, the same number of threads.
const NATIVE_PEERS: [&str; 2] = ["onnxruntime, native", "torch, native"];
const WEB_PEERS: [&str; 1] = ["onnxruntime-web"];

/// One table of all measurements for a size, and one of each of ours by kind of layer.
pub(super) fn print(size: &str, lines: &[Value]) {
    let macs = lines.iter().find_map(|line| line["macs"].as_f64()).unwrap_or(0.0);
    println!("\nuresnet at {size}, {:.1} GMAC, best run of each\n", macs / 1e9);
    println!(
        "{:<22} {:>7} {:>9} {:>9} {:>9}  {:>9} {:>9}  note",
        "", "threads", "seconds", "processor", "GFLOP/s", "wasm MB", "peak MB"
    );
    for line in lines {
        let name = line["name"].as_str().unwrap_or("?");
        let threads = line["threads"].to_string();
        let Some(seconds) = line["seconds"].as_f64() else {
            println!("{name:<22} {threads:>7}  {}", line["failure"].as_str().unwrap_or("no time"));
            continue;
        };
        let megabytes = |key: &str| line[key].as_f64().map_or("-".to_string(), |bytes| format!("{:.0}", bytes / 1e6));
        let wasm = if name.ends_with("native") { "-".to_string() } else { megabytes("memory") };
        println!(
            "{name:<22} {threads:>7} {seconds:>9.3} {:>9} {:>9.1}  {wasm:>9} {:>9}  {}",
            line["processor"].as_f64().map_or("-".to_string(), |seconds| format!("{seconds:.3}")),
            2.0 * macs / seconds / 1e9,
            megabytes("resident"),
            note(line),
        );
    }
    println!();
    for line in lines.iter().filter(|line| line["parts"].is_array()) {
        for peer in lines.iter().filter(|peer| is_peer(line, peer)) {
            let ratio = |key: &str| Some(peer[key].as_f64()? / line[key].as_f64()?);
            if let Some(faster) = ratio("seconds") {
                let (name, peer) = (line["name"].as_str().unwrap_or("?"), peer["name"].as_str().unwrap_or("?"));
                print!("{name}, {} threads: {faster:.2} times as fast as {peer}", line["threads"]);
                // Other load on the machine affects wall-clock time, but hardly processor time.
                println!("{}", ratio("processor").map_or(String::new(), |r| format!("; by CPU time {r:.2}")));
            }
        }
    }
    let ours: Vec<&Value> = lines.iter().filter(|line| line["bits"].is_string()).collect();
    for (i, one) in ours.iter().enumerate() {
        for other in &ours[i + 1..] {
            if one["instructions"] == other["instructions"] {
                let same = if one["bits"] == other["bits"] { "bit-identical" } else { "NOT BIT-IDENTICAL" };
                let name = other["name"].as_str().unwrap_or("?");
                println!("{name}, {} and {} threads: {same}", one["threads"], other["threads"]);
            }
        }
    }
    for line in ours.iter().filter(|line| line["threads"] == 1) {
        by_kind(line);
    }
}

fn is_peer(ours: &Value, other: &Value) -> bool {
    let native = ours["name"].as_str().is_some_and(|name| name.ends_with("native"));
    let peers: &[&str] = if native { &NATIVE_PEERS } else { &WEB_PEERS };
    other["name"].as_str().is_some_and(|name| peers.contains(&name)) && other["threads"] == ours["threads"]
}

fn note(line: &Value) -> String {
    if let Some(far) = line["far"].as_f64() {
        let version = line["version"].as_str().unwrap_or("?");
        return format!("version {version}, {far:.1e} of the range from ours");
    }
    let peak = line["peak"].as_f64().unwrap_or(0.0);
    format!("{}, one thread multiplies and adds {peak:.0} GFLOP/s", line["instructions"].as_str().unwrap_or("?"))
}

/// Time and share of the peak by kind of layer. Winograd's method multiplies less than the definition, so its rate can
/// exceed the peak; the rate of its actual multiplications is shown next to it.
fn by_kind(line: &Value) {
    println!("\n{}, 1 thread, by kind of layer", line["name"].as_str().unwrap_or("?"));
    println!("{:<16} {:<10} {:>9} {:>9} {:>10} {:>12}", "", "", "ms", "GFLOP/s", "of peak", "multiplied");
    let peak = line["peak"].as_f64().unwrap_or(f64::INFINITY);
    let mut kinds: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let parts = line["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    for part in parts {
        let (kind, place) = (part["kind"].as_str().unwrap_or("?"), part["place"].as_str().unwrap_or("?"));
        let (seconds, macs) = (part["seconds"].as_f64().unwrap_or(0.0), part["macs"].as_f64().unwrap_or(0.0));
        row(kind, place, seconds, macs, peak);
        let sum = kinds.entry(kind).or_default();
        *sum = (sum.0 + seconds, sum.1 + macs);
    }
    for (kind, (seconds, macs)) in kinds {
        row(kind, "all", seconds, macs, peak);
    }
}

fn row(kind: &str, place: &str, seconds: f64, macs: f64, peak: f64) {
    let rate = 2.0 * macs / seconds / 1e9;
    let multiplied = match kind {
        kind if kind.ends_with("winograd4") => 4.0,
        kind if kind.ends_with("winograd2") => 2.25,
        _ => 1.0,
    };
    let (share, real) = (100.0 * rate / peak, 100.0 * rate / multiplied / peak);
    println!("{kind:<16} {place:<10} {:>9.2} {rate:>9.1} {share:>8.0} % {real:>10.0} %", seconds * 1e3);
}
