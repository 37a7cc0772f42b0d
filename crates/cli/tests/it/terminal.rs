//! A terminal as a person has it: what a command prints there is read back.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What a command shows on a terminal, on standard output and standard error, and how it ends. Its input is no terminal.
pub(crate) fn shown(mut command: Command, input: &str) -> (String, i32) {
    let (ours, theirs) = pair();
    let clone = theirs.try_clone().unwrap();
    command.stdin(Stdio::piped()).stdout(theirs).stderr(clone);
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("CLICOLOR");
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody holds the other side of it.
    drop(command);
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
    let text = read_all(File::from(ours));
    // A terminal begins a line by itself.
    (text.replace("\r\n", "\n"), child.wait().unwrap().code().unwrap_or(-1))
}

fn pair() -> (OwnedFd, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    (ours, theirs.into())
}

fn read_all(mut terminal: File) -> String {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match terminal.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The other side is gone.
            Err(_) => break,
        }
    }
    String::from_utf8(bytes).unwrap()
}
