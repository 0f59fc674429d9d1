//! Where it was measured.

use std::fs;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

/// What can be told of this machine; what cannot is left out.
pub fn describe() -> Value {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    json!({
        "system": said("uname", &["-sr"]).unwrap_or_else(|| "unknown".to_owned()),
        "processor": processor().unwrap_or_else(|| "unknown".to_owned()),
        "cores": cores,
        "memory_gib": memory_gib(),
    })
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok();
    let info = info.as_deref().and_then(|info| {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    info.or_else(|| said("sysctl", &["-n", "machdep.cpu.brand_string"]))
        .or_else(|| said("uname", &["-m"]))
}

fn memory_gib() -> Value {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    kib.map_or(Value::Null, |kib| json!((kib / 1024.0 / 1024.0).round()))
}

fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
