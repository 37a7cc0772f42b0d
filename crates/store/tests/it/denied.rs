//! Folders that may not be written to and disks without room, as an ordinary user meets them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use pollster::block_on;
use turnkeep_model::Seq;
use turnkeep_store::{ErrorKind, Finding, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said, talk};

const URL: &str = "TURNKEEP_USER_URL";

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

/// A line that does not become smaller.
fn noise(at: Seq) -> String {
    let mut random = at.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:08x}", random >> 32)
    };
    (0..800).map(|_| next()).collect()
}

#[test]
#[ignore = "the other tests of this file start it"]
fn the_user() {
    let url = std::env::var(URL).unwrap();
    let store = match open(&url) {
        Ok(store) => store,
        Err(error) => return println!("\nrefused {:?}: {error}; help: {:?}", error.kind(), error.remedy()),
    };
    let mut at = block_on(store.last(&id("s"))).unwrap_or_default();
    for _ in 0..400 {
        match block_on(store.append(&id("s"), at, &said(at, &noise(at)))) {
            Ok(last) => at = last,
            Err(error) => return println!("\nacknowledged {at}\nrefused {:?}", error.kind()),
        }
    }
}

/// What the user was told, after `shell` has run its words.
fn user(home: &Home, program: &Path, shell: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$@\""), "sh"]).arg(program);
    command.args(["--exact", "denied::the_user", "--ignored", "--nocapture"]).env(URL, home.url());
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// This program where everybody may run it.
fn program() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::TempDir::new().unwrap();
    let program = folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    allow(folder.path(), 0o755);
    allow(&program, 0o755);
    (folder, program)
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn a_folder_that_may_not_be_written_to(scheme: &str) {
    let home = Home::new(scheme);
    block_on(talk(&*home.open(), &id("s"), 2));
    let folder = if scheme == "file" { home.path() } else { home.folder().to_owned() };
    for (file, _) in contents(&folder) {
        allow(Path::new(&file), 0o444);
    }
    let before = contents(&folder);
    let (_kept, program) = program();
    allow(home.folder(), 0o755);
    allow(&folder, 0o555);

    let told = user(&home, &program, "");
    allow(&folder, 0o755);

    assert!(told.contains(&format!("refused {:?}", ErrorKind::Io)), "{told}");
    assert_eq!(contents(&folder), before);
    for (file, _) in contents(&folder) {
        allow(Path::new(&file), 0o600);
    }
    assert_eq!(block_on(home.open().load(&id("s"))).unwrap().session.turns.len(), 2);
}

fn a_disk_without_room(scheme: &str) {
    let (home, (_kept, program)) = (Home::new(scheme), program());
    allow(home.folder(), 0o777);

    // A file may not be longer than this; what would be is refused as on a full disk.
    let told = user(&home, &program, "trap '' XFSZ; ulimit -f 400;");

    let acknowledged = told.lines().find_map(|line| line.strip_prefix("acknowledged ")).unwrap_or_default();
    let acknowledged = Seq(acknowledged.parse().unwrap_or_else(|_| panic!("{told}")));
    assert!(told.contains(&format!("refused {:?}", ErrorKind::Io)), "{told}");
    let store = home.open();
    let journal = block_on(store.journal(&id("s"))).unwrap();
    assert!(acknowledged > Seq::START && journal.last() == acknowledged, "{acknowledged} and {}", journal.last());
    assert!(journal.batches.iter().all(|batch| *batch == said(Seq(batch.seq.0 - 1), &noise(Seq(batch.seq.0 - 1)))));
    let findings = block_on(store.verify(&id("s"))).unwrap().findings;
    assert!(findings.iter().all(|finding| matches!(finding, Finding::TornTail { .. })), "{findings:?}");
    block_on(store.append(&id("s"), acknowledged, &said(acknowledged, "on"))).unwrap();
}

/// Opens a store where so many threads can be started, and no more.
fn with_few_threads(scheme: &str) {
    if let Some(reason) = Home::missing(scheme) {
        return eprintln!("skipped: {scheme} ({reason})");
    }
    let (_kept, program) = program();
    for threads in [1, 2, 3, 4, 6, 8] {
        let home = Home::new(scheme);
        allow(home.folder(), 0o777);

        // Shells differ in the letter.
        let told = user(&home, &program, &format!("ulimit -u {threads} 2>/dev/null || ulimit -p {threads};"));

        let refused = told.lines().find(|line| line.starts_with("refused")).unwrap_or_default();
        assert!(refused.is_empty() || refused.contains("Unavailable"), "{threads}: {told}");
        assert!(refused.is_empty() || refused.contains("raise the limit of processes"), "{threads}: {told}");
        assert!(threads > 1 || !refused.is_empty(), "one thread is not enough: {told}");
    }
}

#[test]
fn file_that_cannot_start_threads_is_refused_with_a_remedy() {
    with_few_threads("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_that_cannot_start_threads_is_refused_with_a_remedy() {
    with_few_threads("sqlite");
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_that_cannot_start_threads_is_refused_with_a_remedy() {
    with_few_threads("postgres");
}

/// Makes something that is not a file.
type Made = (&'static str, fn(&Path));

const NO_FILES: &[Made] = &[
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a named pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
    ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ("a device", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
];

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_refuses_what_is_not_a_file() {
    for (what, make) in NO_FILES {
        let home = Home::new("sqlite");
        make(&home.path());

        let Err(error) = open(&home.url()) else { panic!("{what} was opened") };

        assert_eq!(error.kind(), ErrorKind::Unsupported, "{what}: {error}");
        assert!(error.to_string().contains(what.trim_start_matches("a ")), "{what}: {error}");
        assert!(error.remedy().unwrap().contains("name a file"), "{what}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_waits_for_nobody_at_a_log_that_is_not_a_file() {
    for (what, make) in NO_FILES {
        for suffix in ["-wal", "-shm"] {
            let home = Home::new("sqlite");
            drop(home.open());
            make(Path::new(&format!("{}{suffix}", home.path().display())));

            let Err(error) = open(&home.url()) else { panic!("{what} was opened as {suffix}") };

            assert!(error.remedy().is_some(), "{what} {suffix}: {error}");
        }
    }
}

#[test]
fn file_refuses_what_is_not_a_folder() {
    for (what, make) in &NO_FILES[1..] {
        let home = Home::new("file");
        make(&home.path());

        let Err(error) = open(&home.url()) else { panic!("{what} was opened") };

        assert_eq!((error.kind(), error.remedy()), (ErrorKind::Io, Some("name another place")), "{what}: {error}");
    }
}

#[test]
fn file_waits_for_nobody_at_what_is_not_a_journal() {
    for (what, make) in NO_FILES {
        for name in ["s.turnkeep.jsonl", ".lock"] {
            let home = Home::new("file");
            fs::create_dir(home.path()).unwrap();
            make(&home.path().join(name));
            let store = open(&home.url()).unwrap();

            let refused = block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "a"))).unwrap_err();

            assert_eq!(refused.kind(), ErrorKind::Io, "{what} as {name}: {refused}");
            assert!(refused.remedy().is_some(), "{what} as {name}");
        }
    }
}

#[test]
fn file_refuses_a_folder_that_may_not_be_written_to() {
    a_folder_that_may_not_be_written_to("file");
}

#[test]
fn file_loses_nothing_where_there_is_no_room() {
    a_disk_without_room("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_refuses_a_folder_that_may_not_be_written_to() {
    a_folder_that_may_not_be_written_to("sqlite");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_loses_nothing_where_there_is_no_room() {
    a_disk_without_room("sqlite");
}
