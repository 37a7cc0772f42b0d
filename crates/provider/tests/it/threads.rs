//! Systems that can start no more threads: an error with a remedy, not a panic.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use turnkeep_provider::http::Http;
use turnkeep_provider::{HttpOptions, Proxy, Retry, WireModel};

use crate::kit;

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

#[test]
#[ignore = "the other test of this file starts it"]
fn the_user() {
    let options = HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() };
    let provider = turnkeep_provider::Provider::by_name("groq").unwrap();
    let transport = Arc::new(Http::new(&options).unwrap());
    let model = WireModel::new(provider, "m-1", transport).unwrap();
    let model = model.with_base_url("http://127.0.0.1:9").with_retry(Retry::never());
    let error = kit::asked(&model).unwrap_err();
    println!("\nasked: {error}");
}

#[test]
fn a_request_that_cannot_start_threads_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new("sh");
    // Shells differ in the letter.
    command.args(["-c", "ulimit -u 1 2>/dev/null || ulimit -p 1; exec \"$@\"", "sh"]).arg(&program);
    command.args(["--exact", "threads::the_user", "--ignored", "--nocapture"]);
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(NOBODY).gid(NOBODY);
    }

    let output = command.output().unwrap();

    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told} {}", String::from_utf8_lossy(&output.stderr));
    let asked = told.lines().find(|line| line.starts_with("asked: ")).unwrap_or_default();
    assert!(asked.contains("no thread for the network can be started") && asked.contains("ulimit -u"), "{told}");
}
