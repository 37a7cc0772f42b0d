//! Sessions that other processes change, and followers that are told of it.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::{StoreExt, open};
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{Follower, id, said};

const URL: &str = "TURNKEEP_CHILD_URL";

/// Another process that appends to the sessions it is told of, one line of its input each.
struct OtherProcess {
    child: Child,
    input: Option<ChildStdin>,
    // It ends badly where nobody reads what it prints.
    _output: Lines<BufReader<ChildStdout>>,
}

impl OtherProcess {
    fn start(url: &str) -> OtherProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "watch::the_child", "--ignored", "--nocapture"])
            .env(URL, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(output.by_ref().map_while(Result::ok).any(|line| line.ends_with("ready")));
        let input = child.stdin.take();
        OtherProcess { child, input, _output: output }
    }

    fn append(&mut self, session: &SessionId) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{session}").unwrap();
        input.flush().unwrap();
    }

    fn end(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
#[ignore = "the other tests of this file start it"]
fn the_child() {
    let store = open(&std::env::var(URL).unwrap()).unwrap();
    println!("\nready");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let (session, store) = (SessionId::new(line), &*store);
        let at = block_on(store.last(&session)).unwrap_or_default();
        block_on(store.append(&session, at, &said(at, "from another process"))).unwrap();
    }
}

fn another_process_wakes_followers(scheme: &str) {
    if let Some(reason) = Home::missing(scheme) {
        eprintln!("skipped: {scheme} ({reason})");
        return;
    }
    let home = Home::new(scheme);
    let store = home.open();
    let sessions = [id("a"), id("../b é")];
    let followers = sessions.each_ref().map(|session| Follower::of(&store, session).unwrap());
    let mut other = OtherProcess::start(&home.url());

    for last in (1..=5).map(Seq) {
        for (session, follower) in sessions.iter().zip(&followers) {
            other.append(session);
            follower.sees(Some(last));
        }
    }

    other.end();
}

#[test]
fn another_process_wakes_followers_of_files() {
    another_process_wakes_followers("file");
}

#[cfg(feature = "sqlite")]
#[test]
fn another_process_wakes_followers_of_sqlite() {
    another_process_wakes_followers("sqlite");
}

#[cfg(feature = "postgres")]
#[test]
fn another_process_wakes_followers_of_postgres() {
    another_process_wakes_followers("postgres");
}

#[cfg(target_os = "linux")]
#[test]
fn however_many_follow_a_store_has_one_watcher_and_without_them_none() {
    let alone = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "watch::the_process_of_one_store", "--ignored"])
        .output()
        .unwrap();

    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stdout));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "another test starts it: no other store may be in its process"]
fn the_process_of_one_store() {
    let home = Home::new("file");
    let store = home.open();
    block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "x"))).unwrap();

    assert_eq!(watchers(), 0);
    let mut many: Vec<_> = (0..100).map(|n| store.watch().unwrap().watch(&id(&format!("s{n}"))).unwrap()).collect();
    // Told once, so the thread is there.
    assert!(block_on(many[0].next()).is_some());
    assert_eq!(watchers(), 1);
    drop((many, store));
    assert_eq!(watchers(), 0);
}

/// How many threads of this process watch stores.
#[cfg(target_os = "linux")]
fn watchers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("turnkeep-watch")).count()
}

#[test]
fn the_file_of_a_lock_stays_small() {
    let home = Home::new("file");
    let store = home.open();
    let lock = home.path().join(".lock");
    std::fs::write(&lock, vec![b'.'; 1 << 16]).unwrap();

    let follower = Follower::of(&store, &id("s")).unwrap();
    for at in (0..3).map(Seq) {
        block_on(store.append(&id("s"), at, &said(at, "x"))).unwrap();
        follower.sees(Some(at.next()));
    }

    assert_eq!(std::fs::metadata(&lock).unwrap().len(), 3);
}

#[cfg(all(unix, feature = "postgres"))]
mod postgres {
    use std::sync::Arc;

    use turnkeep_store::Store;
    use turnkeep_testkit::postgres_server::{Fsync, PostgresServer, StopMode};

    use super::*;
    use crate::postgres::{home, psql};

    #[test]
    fn a_server_that_restarts_keeps_its_followers() {
        if home().is_none() {
            return;
        }
        let mut server = PostgresServer::start(Fsync::Off).unwrap();
        let (store, other) = (open(&server.url()).unwrap(), open(&server.url()).unwrap());
        let follower = Follower::of(&store, &id("s")).unwrap();
        let append = |store: &Arc<dyn Store>, at| block_on(store.append(&id("s"), at, &said(at, "x"))).unwrap();
        follower.sees(Some(append(&other, Seq::START)));

        for (at, stop) in (1..).map(Seq).zip([StopMode::Fast, StopMode::Crash]) {
            server.stop(stop).unwrap();
            server.resume().unwrap();

            follower.sees(Some(append(&other, at)));
        }
    }

    #[test]
    fn what_happens_while_the_connection_is_lost_is_told_when_it_is_back() {
        let Some(home) = home() else { return };
        let (store, other) = (home.open(), home.open());
        let follower = Follower::of(&store, &id("s")).unwrap();

        for at in (0..5).map(Seq) {
            let lost =
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN turnkeep_%'";
            psql(&home, lost);
            follower.sees(Some(block_on(other.append(&id("s"), at, &said(at, "x"))).unwrap()));
        }
    }

    #[test]
    fn a_change_that_nobody_told_of_is_found() {
        let Some(home) = home() else { return };
        let store = home.open();
        block_on(store.append(&id("s"), Seq::START, &said(Seq(0), "x"))).unwrap();
        let follower = Follower::of(&store, &id("s")).unwrap();
        follower.sees(Some(Seq(1)));

        // As of a process that died after its append.
        psql(&home, "UPDATE session SET last = 7 WHERE id = 's'");

        follower.sees(Some(Seq(7)));
    }
}
