//! The laws of stores, for every driver.

turnkeep_testkit::store_laws! {
    memory = "memory",
    file = "file",
    #[cfg(feature = "sqlite")]
    sqlite = "sqlite",
    #[cfg(feature = "postgres")]
    postgres = "postgres",
}

#[test]
fn every_driver_is_under_the_laws() {
    let mut tested = vec!["memory", "file"];
    tested.extend(cfg!(feature = "sqlite").then_some("sqlite"));
    tested.extend(cfg!(feature = "postgres").then_some("postgres"));

    turnkeep_testkit::laws::store::check_drivers(&tested);
}
