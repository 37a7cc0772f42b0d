//! One store that is opened twice in a process, by whatever name, while other processes use it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(feature = "sqlite")]
use std::sync::Arc;
use std::thread;

use pollster::block_on;
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::{ErrorKind, Store, StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, said};

#[cfg(feature = "sqlite")]
const FILE: &str = "TURNKEEP_OTHER_FILE";
const URL: &str = "TURNKEEP_OTHER_URL";
const NAME: &str = "TURNKEEP_OTHER_NAME";

/// How many lines every appender appends.
const EACH: usize = 20;

/// The path from where this process runs.
fn relative(path: &Path) -> PathBuf {
    let ups = std::env::current_dir().unwrap().components().count() - 1;
    let root: PathBuf = (0..ups).map(|_| "..").collect();
    root.join(path.strip_prefix("/").unwrap())
}

/// Every way to name the store of a home.
fn names(home: &Home) -> Vec<(&'static str, String)> {
    let url = home.url();
    let scheme = url.split(':').next().unwrap_or_default();
    if scheme == "postgres" {
        let other = home.url().replacen("postgres://", "postgresql://", 1);
        return vec![("the URL", home.url()), ("the other scheme", other)];
    }
    let (path, folder) = (home.path(), home.folder());
    let aside = folder.join("aside");
    fs::create_dir(&aside).unwrap();
    symlink(&path, aside.join("link")).unwrap();
    symlink(folder, aside.join("folder")).unwrap();
    let mut names = vec![
        ("the URL", path.clone()),
        ("a URL with slashes", PathBuf::from(format!("//{}", path.display()))),
        ("a relative path", relative(&path)),
        ("a path with dots", aside.join("../store")),
        ("a symbolic link", aside.join("link")),
        ("a folder that is a link", aside.join("folder/store")),
    ];
    if scheme == "sqlite" {
        fs::hard_link(&path, aside.join("hard")).unwrap();
        names.push(("a hard link", aside.join("hard")));
    }
    names.into_iter().map(|(what, path)| (what, format!("{scheme}:{}", path.display()))).collect()
}

/// A home with a store in it.
fn home(scheme: &str) -> Option<Home> {
    if let Some(reason) = Home::missing(scheme) {
        eprintln!("skipped: {scheme} ({reason})");
        return None;
    }
    let home = Home::new(scheme);
    block_on(home.open().append(&id("s"), Seq::START, &said(Seq(0), "first"))).unwrap();
    Some(home)
}

/// Appends a line to a session that others append to as well.
fn insist(store: &dyn Store, session: &SessionId, line: &str) {
    loop {
        let at = block_on(store.last(session)).unwrap();
        match block_on(store.append(session, at, &said(at, line))) {
            Ok(_) => return,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
        }
    }
}

fn lines(name: &str) -> Vec<String> {
    (0..EACH).map(|n| format!("{name} {n}")).collect()
}

/// This program as another process that runs one of the tests below.
fn this_program(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("double::{test}"), "--ignored"]);
    command
}

#[test]
#[ignore = "the other tests of this file start it"]
fn another_appender() {
    let (url, name) = (std::env::var(URL).unwrap(), std::env::var(NAME).unwrap());
    for line in lines(&name) {
        // Opened and closed for every line, so that it is the last to close the store whenever that is possible.
        insist(&*open(&url).unwrap(), &id("s"), &line);
    }
}

fn appends_beside_another_process(scheme: &str) {
    let Some(home) = home(scheme) else { return };
    for (what, name) in names(&home) {
        let other = this_program("another_appender").env(URL, home.url()).env(NAME, what).spawn().unwrap();
        let first = open(&home.url()).unwrap();
        for line in lines("through both") {
            let second = open(&name).unwrap();
            insist(&*second, &id("s"), &format!("{what}, second: {line}"));
            drop(second);
            insist(&*first, &id("s"), &format!("{what}, first: {line}"));
        }
        drop(first);
        assert!(other.wait_with_output().unwrap().status.success());

        let logs = block_on(home.open().load(&id("s"))).unwrap().session.logs;
        let has = |line: &String| logs.contains(line);
        assert!(lines(what).iter().all(has), "{scheme}, {what}: lines of the other process are lost");
        for who in ["first", "second"] {
            let own: Vec<String> = lines("through both").iter().map(|line| format!("{what}, {who}: {line}")).collect();
            assert!(own.iter().all(has), "{scheme}, {what}: lines of the {who} store are lost");
        }
    }
}

#[test]
fn file_loses_nothing_when_it_is_opened_twice_beside_another_process() {
    appends_beside_another_process("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_loses_nothing_when_it_is_opened_twice_beside_another_process() {
    appends_beside_another_process("sqlite");
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_loses_nothing_when_it_is_opened_twice_beside_another_process() {
    appends_beside_another_process("postgres");
}

/// Many threads that open and close one store, each for every line.
fn threads_open_and_close(scheme: &str) {
    let Some(home) = home(scheme) else { return };
    let mut names = names(&home);
    // Whoever opens it first by its other name beside another process has another log.
    names.retain(|(what, _)| *what != "a hard link");
    let other = this_program("another_appender").env(URL, home.url()).env(NAME, "other").spawn().unwrap();

    thread::scope(|scope| {
        for (what, name) in &names {
            scope.spawn(move || {
                for line in lines(what) {
                    insist(&*open(name).unwrap(), &id("s"), &line);
                }
            });
        }
    });

    assert!(other.wait_with_output().unwrap().status.success());
    let mut logs = block_on(home.open().load(&id("s"))).unwrap().session.logs;
    let mut wanted: Vec<String> = names.iter().flat_map(|(what, _)| lines(what)).chain(lines("other")).collect();
    wanted.push("first".to_owned());
    logs.sort();
    wanted.sort();
    assert_eq!(logs, wanted);
}

#[test]
fn file_is_opened_and_closed_by_many_threads() {
    threads_open_and_close("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_is_opened_and_closed_by_many_threads() {
    threads_open_and_close("sqlite");
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_is_opened_and_closed_by_many_threads() {
    threads_open_and_close("postgres");
}

#[cfg(feature = "sqlite")]
mod locks {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use turnkeep_store::{Durability, Options, open_with};

    use super::*;

    #[test]
    #[ignore = "the other tests of this file start it"]
    fn another_reader() {
        let connection = rusqlite::Connection::open(std::env::var(FILE).unwrap()).unwrap();
        connection.query_row("SELECT count(*) FROM batch", [], |row| row.get::<_, i64>(0)).unwrap();
    }

    /// Processes that open the database, read, and close it: whoever takes itself for the last one removes the log.
    fn others(home: &Home) -> Vec<(&'static str, Command)> {
        let python = "import os, sqlite3\n\
             c = sqlite3.connect(os.environ['TURNKEEP_OTHER_FILE'])\n\
             c.execute('SELECT count(*) FROM batch').fetchone()\nc.close()";
        let mut older = Command::new("python3");
        older.args(["-c", python]);
        let mut others = vec![("this SQLite", this_program("locks::another_reader"))];
        // An older SQLite, where there is one.
        if Command::new("python3").args(["-c", "import sqlite3"]).status().is_ok_and(|status| status.success()) {
            others.push(("Python's SQLite", older));
        }
        for (_, command) in &mut others {
            command.env(FILE, home.path());
        }
        others
    }

    #[test]
    fn another_process_never_takes_itself_for_the_last_one() {
        let home = home("sqlite").unwrap();
        let names = names(&home);
        for (what, name) in &names {
            for (who, mut other) in others(&home) {
                let first = home.open();
                let second = open(name).unwrap();
                insist(&*second, &id("s"), &format!("{what} {who} before"));
                drop(second);
                let log = PathBuf::from(format!("{}-wal", home.path().display()));
                assert!(fs::metadata(&log).unwrap().len() > 0);

                assert!(other.status().unwrap().success());

                let after = format!("{what} {who} after");
                insist(&*first, &id("s"), &after);
                assert!(fs::metadata(&log).is_ok_and(|log| log.len() > 0), "{what}, {who}: the log was removed");
                drop(first);
                let logs = block_on(home.open().load(&id("s"))).unwrap().session.logs;
                assert_eq!(logs.last(), Some(&after), "{what}, {who}");
            }
        }
    }

    #[test]
    #[ignore = "the other tests of this file start it"]
    fn another_holder() {
        let store = open(&std::env::var(URL).unwrap()).unwrap();
        insist(&*store, &id("s"), "held");
        println!("\nheld");
        // Until the other side closes the pipe.
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }

    #[test]
    fn a_hard_link_is_refused_while_another_process_uses_another_name() {
        let home = home("sqlite").unwrap();
        let (_, link) = names(&home).pop().unwrap();
        let mut other = this_program("locks::another_holder")
            .args(["--nocapture"])
            .env(URL, home.url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Kept until the end: a program whose output nobody takes does not end well.
        let mut lines = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "held"));

        let refused = open(&link).err().map(|error| (error.kind(), error.remedy().is_some()));
        let by_its_name = open(&home.url()).map(|store| block_on(store.last(&id("s"))).unwrap());

        assert_eq!(refused, Some((ErrorKind::Unavailable, true)));
        assert_eq!(by_its_name.unwrap(), Seq(2));
        drop(other.stdin.take());
        lines.for_each(drop);
        assert!(other.wait().unwrap().success());
        assert_eq!(block_on(open(&link).unwrap().last(&id("s"))).unwrap(), Seq(2));
    }

    #[test]
    fn stores_of_one_file_keep_their_own_limits_and_clocks_and_the_higher_durability() {
        use turnkeep_store::{Clock, Query};
        let home = home("sqlite").unwrap();
        let clocked = |time: i64, max_batch: usize, durability: Durability| {
            let options = Options { clock: Clock::new(move || time), max_batch, durability, ..Options::default() };
            open_with(&home.url(), options).unwrap()
        };
        let mut untimed = said(Seq(0), &"x".repeat(500));
        untimed.time = None;
        let updated = |store: &Arc<dyn Store>, name: &str| {
            let query = Query { id: Some(id(name)), ..Query::default() };
            block_on(store.list(&query)).unwrap().sessions[0].updated
        };

        let small = clocked(1_000, 100, Durability::Process);
        let large = clocked(2_000, 10_000, Durability::Power);
        let refused = block_on(small.append(&id("new"), Seq::START, &untimed)).unwrap_err();
        block_on(large.append(&id("new"), Seq::START, &untimed)).unwrap();

        assert_eq!(refused.kind(), ErrorKind::TooLarge);
        assert_eq!((updated(&small, "new"), updated(&large, "new")), (2_000, 2_000));
    }
}
