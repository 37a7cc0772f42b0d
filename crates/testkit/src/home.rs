//! A place where a store of some driver can be opened, closed and opened again.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use turnkeep_store::url::{DRIVERS, Driver};
use turnkeep_store::{Options, Store, open_with};

/// A home for one store, removed when it is dropped.
pub struct Home {
    folder: TempDir,
    /// The driver of the store.
    pub driver: &'static Driver,
}

impl Home {
    /// An empty home for a store of this scheme.
    ///
    /// # Panics
    /// Where no driver has the scheme, or no folder can be made.
    #[expect(clippy::expect_used, reason = "a test cannot go on without it")]
    pub fn new(scheme: &str) -> Home {
        let driver = DRIVERS.iter().find(|driver| driver.scheme == scheme).expect("a driver of the table");
        Home { folder: TempDir::new().expect("a temporary folder"), driver }
    }

    /// The URL of the store.
    pub fn url(&self) -> String {
        let scheme = self.driver.scheme;
        if self.driver.usage.len() == scheme.len() + 1 {
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
        open_with(&self.url(), options).expect("the store opens")
    }
}
