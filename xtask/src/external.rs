//! Checks by others: the vendors' own types, their stream readers, and a mock server. They come from the network into
//! `target/external`; what cannot be had is skipped by name.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::Outcome;
use crate::cargo::Cargo;
use crate::workspace::Workspace;

/// The package of the mock server.
const MOCK: &str = "@copilotkit/aimock";

/// The packages that servers of our broadcasters check signatures with.
const PEERS: [&str; 2] = ["pusher@5", "standardwebhooks@1"];

/// Runs every check that can be had; the names of the others come back.
pub(crate) fn check(workspace: &Workspace) -> Outcome<Vec<String>> {
    let place = Place::of(workspace)?;
    let mut skipped = Vec::new();
    let mock = place.mock();
    match &mock {
        Some(program) => place.models(workspace, program)?,
        None => skipped.push(format!("the mock server ({MOCK} could not be installed)")),
    }
    match place.packages("peers", &PEERS) {
        Some(folder) => place.broadcasters(workspace, &folder)?,
        None => skipped.push(format!("signatures of broadcasters ({} could not be installed)", PEERS.join(", "))),
    }
    let Some(python) = place.python() else {
        skipped.push(
            "the vendors' own types, and bodies at the mock server (no venv with the SDKs could be made)".to_owned(),
        );
        return Ok(skipped);
    };
    let bodies = place.written(workspace, "TURNKEEP_BODIES", "bodies_for_checkers_of_others")?;
    place.run(&python, "check_bodies.py", &[&bodies])?;
    if std::env::var_os("TURNKEEP_CORPUS").is_some() {
        let streams = place.written(workspace, "TURNKEEP_STREAMS", "streams_for_checkers_of_others")?;
        place.run(&python, "check_streams.py", &[&streams])?;
    } else {
        skipped.push("the SDKs' stream readers (TURNKEEP_CORPUS names no folder)".to_owned());
    }
    if let Some(program) = &mock {
        place.serve(workspace, &python, program, &bodies)?;
    }
    Ok(skipped)
}

/// Where the checkers live, and where what they need is put.
struct Place {
    scripts: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn of(workspace: &Workspace) -> Outcome<Place> {
        let place =
            Place { scripts: workspace.root.join("xtask/external"), folder: workspace.root.join("target/external") };
        fs::create_dir_all(&place.folder)?;
        Ok(place)
    }

    /// A Python with the SDKs, installed unless it was before.
    fn python(&self) -> Option<PathBuf> {
        let (venv, wanted) = (self.folder.join("venv"), self.scripts.join("requirements.txt"));
        let (python, done) = (venv.join("bin/python"), venv.join("installed.txt"));
        let requirements = fs::read_to_string(&wanted).ok()?;
        if fs::read_to_string(&done).is_ok_and(|installed| installed == requirements) {
            return Some(python);
        }
        succeeds(Command::new("python3").arg("-m").arg("venv").arg(&venv)).then_some(())?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        succeeds(Command::new(&python).args(install).arg(&wanted)).then_some(())?;
        fs::write(done, requirements).ok()?;
        Some(python)
    }

    /// The program of the mock server, installed unless it was before.
    fn mock(&self) -> Option<PathBuf> {
        let program = self.packages("npm", &[MOCK])?.join("node_modules/.bin/llmock");
        program.exists().then_some(program)
    }

    /// A folder with these packages of npm, installed unless they were before.
    fn packages(&self, name: &str, packages: &[&str]) -> Option<PathBuf> {
        let folder = self.folder.join(name);
        let (done, wanted) = (folder.join("installed.txt"), packages.join("\n"));
        if !fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
            fs::create_dir_all(&folder).ok()?;
            let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
            succeeds(Command::new("npm").args(install).arg(&folder).args(packages)).then_some(())?;
            fs::write(done, wanted).ok()?;
        }
        Some(folder)
    }

    /// Lets broadcasters publish to servers that check every signature with packages of others.
    fn broadcasters(&self, workspace: &Workspace, packages: &Path) -> Outcome<()> {
        let mut command = Command::new("node");
        command.arg(self.scripts.join("peers.mjs")).arg(packages);
        let peers = Mock::of(command)?;
        let arguments = ["test", "--quiet", "--package", "turnkeep-broadcast", "--all-features", "--test", "it", "--"];
        let arguments = [&arguments[..], &["peers::", "--nocapture"]].concat();
        Cargo::new(workspace, &arguments).env("TURNKEEP_PEERS", &peers.url).run()
    }

    /// Lets models ask the mock server over HTTP.
    fn models(&self, workspace: &Workspace, program: &Path) -> Outcome<()> {
        let mock = Mock::start(program, &self.scripts.join("model_fixtures.json"))?;
        let arguments = ["test", "--quiet", "--package", "turnkeep-provider", "--test", "it", "--", "mock::"];
        let arguments = [&arguments[..], &["--nocapture"]].concat();
        Cargo::new(workspace, &arguments).env("TURNKEEP_AIMOCK", &mock.url).run()
    }

    /// Lets a test write the file that its variable names.
    fn written(&self, workspace: &Workspace, variable: &str, test: &str) -> Outcome<PathBuf> {
        let file = self.folder.join(format!("{variable}.jsonl"));
        let name = file.to_str().ok_or("the path of the workspace is not a text")?;
        codec_test(workspace, test).env(variable, name).run()?;
        Ok(file)
    }

    fn run(&self, python: &Path, script: &str, arguments: &[&Path]) -> Outcome<()> {
        let fits = succeeds(Command::new(python).arg(self.scripts.join(script)).args(arguments));
        if fits { Ok(()) } else { Err(format!("{script} found what does not fit").into()) }
    }

    /// Sends bodies to the mock server, and reads what it answers.
    fn serve(&self, workspace: &Workspace, python: &Path, mock: &Path, bodies: &Path) -> Outcome<()> {
        let answers = self.folder.join("answers");
        if answers.exists() {
            fs::remove_dir_all(&answers)?;
        }
        self.run(python, "check_mock.py", &[mock, bodies, &answers])?;
        let folder = answers.to_str().ok_or("the path of the workspace is not a text")?;
        codec_test(workspace, "answers_of_others").env("TURNKEEP_ANSWERS", folder).run()?;
        Ok(())
    }
}

/// A mock server that runs; it ends with this value.
struct Mock {
    server: Child,
    url: String,
}

impl Mock {
    /// Starts one on a free port of this machine, with what it answers.
    fn start(program: &Path, fixtures: &Path) -> Outcome<Mock> {
        let mut command = Command::new(program);
        command.args(["--port", "0", "--host", "127.0.0.1", "--validate-on-load", "--fixtures"]).arg(fixtures);
        Mock::of(command)
    }

    /// Starts a program that says where it listens.
    fn of(mut command: Command) -> Outcome<Mock> {
        let server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        // It ends with this value from here on, whatever comes.
        let mut mock = Mock { server, url: String::new() };
        let mut told = BufReader::new(mock.server.stdout.take().ok_or("the mock server has no output")?).lines();
        let address = told.by_ref().map_while(Result::ok).find_map(|line| address_in(&line));
        mock.url = address.ok_or("the mock server does not start")?;
        // It would wait for someone who reads what it tells of every request.
        thread::spawn(move || told.for_each(drop));
        Ok(mock)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The address that the mock server says it listens on.
fn address_in(line: &str) -> Option<String> {
    line.split_once("listening on ").map(|(_, address)| address.trim().to_owned())
}

/// One test of the codecs.
fn codec_test(workspace: &Workspace, name: &str) -> Cargo {
    Cargo::new(workspace, &["test", "--quiet", "--package", "turnkeep-codec", "--test", "it", "--", name])
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
