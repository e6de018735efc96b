//! The formatting of numbers, sizes and paths.

use uresnet::Precision;

/// Names of the classes by their label.
pub const CLASS_NAMES: [&str; uresnet::CLASSES] = ["background", "cosmic", "neutrino"];

/// The number type of a precision.
pub fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp32 => "float32",
        Precision::Bf16 => "bfloat16",
        Precision::Fp16 => "float16",
    }
}

/// A percentage.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", 100.0 * share))
}

/// A size in readable units.
pub fn size(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.0} KiB", number / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.0} MiB", number / 1_048_576.0),
        _ => format!("{:.1} GiB", number / 1_073_741_824.0),
    }
}

/// GFLOP/s by definition: a method that saves multiplications is counted as if it performed all of them.
pub fn rate(macs: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { 2.0 * macs as f64 / seconds / 1e9 } else { 0.0 }
}

/// The path of a module with its repetitions counted: `net_core.main_module.main_module` is `net_core.main_module×2`.
pub fn short_path(path: &str) -> String {
    let deep = path.matches(".main_module").count();
    match deep {
        0 | 1 => path.to_owned(),
        _ => path.replacen(&".main_module".repeat(deep), &format!(".main_module×{deep}"), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_paths() {
        assert_eq!(
            [size(12), size(100_000), size(5 << 20), size(3_000_000_000)],
            ["12 bytes", "98 KiB", "5 MiB", "2.8 GiB"]
        );
        assert_eq!(short_path("net_core.main_module.main_module.up_blocks"), "net_core.main_module×2.up_blocks");
        assert_eq!(short_path("net_core.main_module.up_blocks"), "net_core.main_module.up_blocks");
    }
}
