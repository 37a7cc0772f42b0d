//! The table of laws, and the tests that run it.

use turnkeep_codec::{Codec, format};

/// A law with its name.
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// Panics where it does not hold.
    pub check: fn(&dyn Codec),
}

/// Builds a table of laws, and a macro that makes a test of every law for every format it is given.
macro_rules! laws {
    ($d:tt $(#[$doc:meta])* $table:ident, $(#[$suite_doc:meta])* $suite:ident: [$($law:ident = $path:path,)*]) => {
        $(#[$doc])*
        pub const $table: &[Law] = &[$(Law { name: stringify!($law), check: $path },)*];

        $(#[$suite_doc])*
        #[macro_export]
        macro_rules! $suite {
            ($d($d module:ident = $d format:literal,)*) => {
                /// The formats whose laws are tested here.
                const UNDER_LAWS: &[&str] = &[$d($d format,)*];

                $d(mod $d module {
                    $(#[test]
                    fn $law() {
                        $crate::laws::check($crate::laws::$table, stringify!($law), $d format);
                    })*
                })*
            };
        }
    };
}

laws! { $
    /// The laws of every codec.
    CODEC_LAWS,
    /// A test of every law of codecs for each format, as `module = "format.id",`; each in its own module.
    codec_laws: [
        honest_loss = super::honest_loss,
        stable = super::stable,
        total = super::total::total,
        sniffs_itself = super::sniffs_itself,
        recognised_in_any_layout = super::recognised_in_any_layout,
        pure = super::pure,
        unknown_fields_are_not_hidden = super::unknown_fields_are_not_hidden,
        keys_come_back = super::keys_come_back,
        golden = super::golden,
        has_fixtures = super::has_fixtures,
        has_fuzz_target = super::has_fuzz_target,
    ]
}

laws! { $
    /// The laws of the native formats, beside those of every codec.
    NATIVE_LAWS,
    /// A test of every law of native formats for each format, as `module = "format.id",`; each in its own module.
    native_laws: [
        lossless = super::lossless,
        unknown_fields_survive = super::unknown_fields_survive,
    ]
}

macro_rules! own_codec_laws {
    ($d:tt [$($law:ident = $path:path,)*]) => {
        /// The laws of a codec that is in no table: those that need neither fixtures nor the other formats' consent.
        pub const OWN_CODEC_LAWS: &[Law] = &[$(Law { name: stringify!($law), check: $path },)*];

        /// A test of every law of codecs for a codec of your own, given as an expression of `&dyn Codec`.
        #[macro_export]
        macro_rules! own_codec_laws {
            ($d codec:expr) => {
                $(#[test]
                fn $law() {
                    $crate::laws::check_own_codec(stringify!($law), $d codec);
                })*
            };
        }
    };
}

own_codec_laws! { $ [
    honest_loss = super::honest_loss,
    stable = super::stable,
    total = super::total::total,
    recognises_only_itself = super::recognises_only_itself,
    pure = super::pure,
    unknown_fields_are_not_hidden = super::unknown_fields_are_not_hidden,
] }

/// Checks the law `name` for a codec of your own.
///
/// # Panics
/// Where it does not hold, or where there is no such law.
#[expect(clippy::expect_used, reason = "a misspelled name is a failed test")]
pub fn check_own_codec(name: &str, codec: &dyn Codec) {
    let law = OWN_CODEC_LAWS.iter().find(|law| law.name == name).expect("a law of the table");
    (law.check)(codec);
}

/// Checks the law `name` of a table for one format.
///
/// # Panics
/// Where it does not hold, or where there is no such law or format.
#[expect(clippy::expect_used, reason = "a misspelled name is a failed test")]
pub fn check(table: &[Law], name: &str, format: &str) {
    let codec = format::by_id(format).expect("a registered format");
    let law = table.iter().find(|law| law.name == name).expect("a law of the table");
    (law.check)(codec);
}

/// Checks that `tested` names every registered format for which `wanted` holds.
///
/// # Panics
/// With the formats that are missing, or not registered.
pub fn check_list(tested: &[&str], wanted: fn(&str) -> bool) {
    let registered = format::ALL.iter().map(|codec| codec.spec().id);
    let registered: Vec<_> = registered.filter(|id| wanted(id)).collect();
    assert_eq!(tested, registered, "the formats under test must be those registered, in their order");
}
