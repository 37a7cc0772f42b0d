//! The laws of stores, for every driver.

turnkeep_testkit::store_laws! {
    memory = "memory",
    file = "file",
    #[cfg(feature = "sqlite")]
    sqlite = "sqlite",
}

#[test]
fn every_driver_is_under_the_laws() {
    let tested = if cfg!(feature = "sqlite") { &["memory", "file", "sqlite"][..] } else { &["memory", "file"][..] };

    turnkeep_testkit::laws::store::check_drivers(tested);
}
