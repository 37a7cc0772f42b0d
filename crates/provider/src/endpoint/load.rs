//! Where configurations are.

use std::path::{Path, PathBuf};

use turnkeep_model::{Error, ErrorKind, Result};

use super::Endpoints;

/// The name of the file.
const FILE: &str = "turnkeep.toml";

/// A file of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub level: Level,
    /// What it says.
    pub text: String,
}

/// Whose a configuration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The user's, for all projects.
    User,
    /// A project's. It comes with a project, so it may not run commands.
    Project,
}

impl Endpoints {
    /// The endpoints of the user and of the project around `folder`.
    ///
    /// # Errors
    /// As [`Endpoints::read`]; `Io` where a file cannot be read.
    pub fn load(folder: &Path) -> Result<Endpoints> {
        Endpoints::read(&Source::around(folder)?)
    }
}

impl Source {
    /// The files of the user and of the project around `folder`, the more general first.
    ///
    /// # Errors
    /// `Io` where a file cannot be read.
    pub fn around(folder: &Path) -> Result<Vec<Source>> {
        sources(user_file().as_deref(), folder)
    }

    /// A file that a person named: it is trusted as the user's own.
    ///
    /// # Errors
    /// `Io` where it cannot be read.
    pub fn named(path: &Path) -> Result<Source> {
        read(path.to_owned(), Level::User)
    }
}

/// The files that speak of endpoints, the more general first.
fn sources(user: Option<&Path>, folder: &Path) -> Result<Vec<Source>> {
    let project = folder.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file());
    let user = user.filter(|path| path.is_file());
    let project = project.filter(|path| Some(path.as_path()) != user);
    let files = [(user.map(Path::to_owned), Level::User), (project, Level::Project)];
    files.into_iter().filter_map(|(path, level)| Some((path?, level))).map(|(path, level)| read(path, level)).collect()
}

fn read(path: PathBuf, level: Level) -> Result<Source> {
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Error::new(ErrorKind::Io, "the configuration cannot be read").file(path.display().to_string()).because(error)
    })?;
    Ok(Source { path, level, text })
}

/// The user's file: in `TURNKEEP_CONFIG_HOME`, or in `turnkeep` under the usual folder for configurations.
fn user_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        let root = folder("XDG_CONFIG_HOME").or_else(|| folder("APPDATA"));
        root.or_else(|| folder("HOME").map(|home| home.join(".config"))).map(|root| root.join("turnkeep"))
    };
    folder("TURNKEEP_CONFIG_HOME").or_else(usual).map(|folder| folder.join(FILE))
}

impl Source {
    /// A path in the file: from the file's folder where it is not a whole one, and `~` is the user's home.
    pub fn path_of(&self, text: &str) -> PathBuf {
        if let Some(rest) = text.strip_prefix("~/")
            && let Some(home) = std::env::var_os("HOME")
        {
            return Path::new(&home).join(rest);
        }
        self.path.parent().unwrap_or(Path::new("")).join(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_file_comes_before_the_nearest_of_the_project() {
        let root = tempfile::tempdir().unwrap();
        let (home, inner) = (root.path().join("home"), root.path().join("project/a/b"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(home.join(FILE), "# user").unwrap();
        std::fs::write(root.path().join(FILE), "# far").unwrap();
        std::fs::write(root.path().join("project").join(FILE), "# near").unwrap();

        let found = sources(Some(&home.join(FILE)), &inner).unwrap();

        let texts: Vec<_> = found.iter().map(|source| (source.level, source.text.as_str())).collect();
        assert_eq!(texts, [(Level::User, "# user"), (Level::Project, "# near")]);
    }
}
