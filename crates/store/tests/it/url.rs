//! From URLs to stores.

use turnkeep_store::{ErrorKind, open};

#[test]
fn unknown_urls_are_refused_with_what_is_known() {
    for url in ["", "nowhere", "ftp:x", "sqlite:", "file:", "memory:?durability=eternal"] {
        let Err(error) = open(url) else { panic!("{url} was opened") };
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{url}");
        assert!(error.remedy().is_some(), "{url}");
    }
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_driver_that_is_not_built_in_names_its_feature() {
    let Err(error) = open("postgres://localhost/x") else { panic!("it was opened") };

    assert_eq!(error.remedy(), Some("build with the feature `postgres`"));
}
