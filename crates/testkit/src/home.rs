//! A place where a store can be opened, closed and opened again.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use turnkeep_store::url::{DRIVERS, Driver, Keeps};
use turnkeep_store::{Options, Store, open_with};

/// The environment variable with the URL of a PostgreSQL database for tests.
pub const POSTGRES: &str = "TURNKEEP_POSTGRES";

/// A home for one store, removed when it is dropped.
pub struct Home {
    folder: TempDir,
    /// The schema of a database that other tests use, too.
    schema: String,
    opens: Opens,
}

/// What opens the store.
enum Opens {
    Driver(&'static Driver),
    Own(Keeps, OpenOwn),
}

/// Opens a store of one's own in a folder.
pub type OpenOwn = fn(&Path, Options) -> Arc<dyn Store>;

impl Home {
    /// An empty home for a store of this scheme.
    ///
    /// # Panics
    /// Where no driver has the scheme, or no folder can be made.
    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    pub fn new(scheme: &str) -> Home {
        let driver = DRIVERS.iter().find(|driver| driver.scheme == scheme).expect("a driver of the table");
        Home { folder: TempDir::new().expect("a temporary folder"), schema: schema(), opens: Opens::Driver(driver) }
    }

    /// An empty home for a store that is in no table: one of your own.
    ///
    /// # Panics
    /// Where no folder can be made.
    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    pub fn own(keeps: Keeps, open: OpenOwn) -> Home {
        let folder = TempDir::new().expect("a temporary folder");
        Home { folder, schema: schema(), opens: Opens::Own(keeps, open) }
    }

    /// How long the store keeps what is stored.
    pub fn keeps(&self) -> Keeps {
        match &self.opens {
            Opens::Driver(driver) => driver.keeps,
            Opens::Own(keeps, _) => *keeps,
        }
    }

    /// Why no store of this scheme can be tested here, if that is so.
    ///
    /// # Panics
    /// Where the continuous build (`CI=true`) would skip something.
    pub fn missing(scheme: &str) -> Option<String> {
        if scheme != "postgres" || std::env::var_os(POSTGRES).is_some() {
            return None;
        }
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{POSTGRES} must be set where CI=true");
        Some(format!("{POSTGRES} names no database"))
    }

    /// The URL of the store; a store that is in no table has only a path.
    pub fn url(&self) -> String {
        let Opens::Driver(driver) = &self.opens else {
            return self.path().display().to_string();
        };
        let scheme = driver.scheme;
        if scheme == "postgres" {
            let server = std::env::var(POSTGRES).unwrap_or_default();
            let mark = if server.contains('?') { '&' } else { '?' };
            return format!("{server}{mark}schema={}", self.schema);
        }
        if driver.usage.len() == scheme.len() + 1 {
            return format!("{scheme}:");
        }
        format!("{scheme}:{}", self.path().display())
    }

    /// Where the store is, if it is a file or a folder.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder().join("store")
    }

    /// The folder around it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the store. Tests need no disk to survive a loss of power, unless they ask for it.
    pub fn open(&self) -> Arc<dyn Store> {
        self.open_with(Options { durability: turnkeep_store::Durability::Process, ..Options::default() })
    }

    /// Opens the store with these options.
    ///
    /// # Panics
    /// Where it cannot be opened.
    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    pub fn open_with(&self, options: Options) -> Arc<dyn Store> {
        match &self.opens {
            Opens::Driver(_) => open_with(&self.url(), options).expect("the store opens"),
            Opens::Own(_, open) => open(self.folder(), options),
        }
    }
}

/// A name that no other test has.
fn schema() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    format!("test_{:016x}", RandomState::new().build_hasher().finish())
}

#[cfg(feature = "postgres")]
impl Drop for Home {
    fn drop(&mut self) {
        if let Some(place) = self.url().strip_prefix("postgres:") {
            // A store that was never opened has left nothing.
            let _ = turnkeep_store::PostgresStore::destroy(place);
        }
    }
}
