//! Keys and tokens that vendors issue, by the letters they begin with.

use std::ops::Range;

use super::{SecretKind, SecretMatch, begins, ends, run, run_back};

/// Which characters follow a prefix.
#[derive(Clone, Copy)]
pub(super) enum Class {
    /// Letters and digits.
    Alnum,
    /// Hexadecimal digits.
    Hex,
    /// Capitals and digits.
    Upper,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same and `.`.
    Dotted,
    /// The same, `/` and `+`, as in a path or base64.
    Path,
}

impl Class {
    fn holds(self, byte: u8) -> bool {
        match self {
            Class::Alnum => byte.is_ascii_alphanumeric(),
            Class::Hex => byte.is_ascii_hexdigit(),
            Class::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Class::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Class::Dotted => Class::Word.holds(byte) || byte == b'.',
            Class::Path => Class::Dotted.holds(byte) || matches!(byte, b'/' | b'+' | b'=' | b'~' | b':'),
        }
    }
}

/// A kind of key: how it begins, what follows, and how long that is at least and at most.
pub(super) struct Vendor {
    pub(super) prefix: &'static str,
    class: Class,
    least: usize,
    most: usize,
}

/// No upper limit.
const OPEN: usize = 4096;

macro_rules! vendors {
    ($($prefix:literal $class:ident $least:literal $(..= $most:expr)?;)*) => {
        &[$(Vendor { prefix: $prefix, class: Class::$class, least: $least, most: vendors!(@ $($most)?) }),*]
    };
    (@) => { OPEN };
    (@ $most:expr) => { $most };
}

/// Every prefix. Lengths are those that vendors document, the shortest where they changed.
#[rustfmt::skip]
pub(super) const TABLE: &[Vendor] = vendors! {
    // Models
    "sk-" Word 20; "gsk_" Alnum 40; "xai-" Alnum 40; "pplx-" Alnum 40; "r8_" Alnum 32; "hf_" Alnum 30; "fw_" Alnum 20; "nvapi-" Word 40;
    "AIza" Word 35 ..= 35; "ya29." Dotted 20; "GOCSPX-" Word 24; "tgp_v1_" Word 40; "csk-" Alnum 40; "sess-" Alnum 40; "key_" Hex 32;
    // Clouds
    "AKIA" Upper 16 ..= 16; "ASIA" Upper 16 ..= 16; "ABIA" Upper 16 ..= 16; "ACCA" Upper 16 ..= 16; "LTAI" Alnum 17 ..= 21; "ABSK" Path 40;
    "dop_v1_" Hex 64; "doo_v1_" Hex 64; "dor_v1_" Hex 64; "dapi" Hex 32 ..= 34; "hvs." Word 24; "hvb." Word 24; "hvr." Word 24; "dp.pt." Alnum 40; "dp.st." Dotted 40;
    "pul-" Hex 40; "fo1_" Word 40; "FlyV1 " Path 40; "HRKU-" Word 36; "nfp_" Alnum 36; "pscale_" Dotted 32; "sbp_" Hex 40; "sb_secret_" Word 22; "vercel_" Alnum 24;
    "dt0c01." Dotted 60; "tskey-" Word 20; "AGE-SECRET-KEY-1" Upper 50; "CFPAT-" Word 40; "v1.0-" Word 140; "ops_eyJ" Word 40;
    // Code
    "ghp_" Alnum 36; "gho_" Alnum 36; "ghu_" Alnum 36; "ghs_" Alnum 36; "ghr_" Alnum 36; "github_pat_" Word 40;
    "glpat-" Word 20; "gldt-" Word 20; "glrt-" Word 20; "glptt-" Word 40; "glcbt-" Word 20; "glsoat-" Word 20; "glft-" Word 20;
    "npm_" Alnum 36; "pypi-" Word 40; "dckr_pat_" Word 27; "rubygems_" Hex 48; "CLOJARS_" Alnum 60; "oy2" Alnum 43 ..= 43; "cio" Alnum 32 ..= 32; "AKCp" Alnum 60;
    "ATATT3" Path 40; "ATCTT3" Path 40; "ATBB" Alnum 24; "CCIPAT_" Word 30; "PMAK-" Word 40; "lin_api_" Alnum 32; "lin_oauth_" Alnum 32; "figd_" Word 30; "bkua_" Hex 40; "sgp_" Word 40; "sonar_" Alnum 40; "sqp_" Hex 40; "squ_" Hex 40; "jfrt" Alnum 60;
    // Talk
    "xoxb-" Word 20; "xoxp-" Word 20; "xoxa-" Word 20; "xoxr-" Word 20; "xoxs-" Word 20; "xoxe-" Word 20; "xoxe." Dotted 20; "xoxc-" Word 20; "xoxd-" Path 20; "xapp-" Word 20;
    "hooks.slack.com/services/" Path 20; "discord.com/api/webhooks/" Path 40; "discordapp.com/api/webhooks/" Path 40; "webhook.office.com/" Path 40;
    "SG." Dotted 40; "key-" Hex 32 ..= 32; "SK" Hex 32 ..= 32; "xkeysib-" Word 64; "secret_" Alnum 40; "ntn_" Alnum 40; "re_" Word 30; "tfp_" Word 40; "pat-na1-" Word 30; "pat-eu1-" Word 30; "EAACEdEose0cBA" Alnum 20; "EAAG" Alnum 80; "EAAB" Alnum 80; "IGQV" Word 80;
    // Money
    "sk_live_" Alnum 16; "sk_test_" Alnum 16; "rk_live_" Alnum 16; "rk_test_" Alnum 16; "whsec_" Path 24; "sq0atp-" Word 22; "sq0csp-" Word 40; "EAAA" Word 60 ..= 64; "shpat_" Hex 32; "shpca_" Hex 32; "shppa_" Hex 32; "shpss_" Hex 32;
    "access-sandbox-" Word 36; "access-production-" Word 36; "access_token$production$" Alnum 20; "FLWSECK" Word 20; "live_" Hex 35; "test_" Hex 35; "shippo_live_" Hex 40; "shippo_test_" Hex 40; "duffel_live_" Word 40; "EZAK" Alnum 54; "rzp_live_" Alnum 14; "rzp_test_" Alnum 14;
    // Watch
    "NRAK-" Alnum 27; "NRJS-" Hex 19; "NRII-" Word 32; "glsa_" Word 32; "glc_eyJ" Path 30; "sntrys_" Path 40; "sntryu_" Hex 64; "phc_" Alnum 40; "phx_" Alnum 40; "ddp_" Alnum 36; "ls__" Alnum 32; "lsv2_" Word 32; "pk-lf-" Word 36; "sk-lf-" Word 36; "wandb_" Word 40; "rdme_" Alnum 60; "pnu_" Alnum 36; "atlasv1." Dotted 60; "prefect_" Alnum 36;
};

impl Vendor {
    /// The key that begins here, if one does.
    pub(super) fn check(&'static self, text: &str, at: Range<usize>) -> Option<SecretMatch> {
        let spelled = text.get(at.clone())? == self.prefix;
        if !spelled || !begins(text, at.start) {
            return None;
        }
        let length = run(text, at.end, |byte| self.class.holds(byte));
        let end = at.end + length;
        let body = text.get(at.end..end)?.trim_end_matches(['.', ':', '-']);
        let end = at.end + body.len();
        let fits = (self.least..=self.most).contains(&body.len()) && (self.most == OPEN || ends(text, end));
        (fits && is_random(body)).then_some(SecretMatch { range: at.start..end, kind: SecretKind::Key })
    }
}

/// Whether a text is made by a machine rather than of words: digits among letters, or both cases mixed.
fn is_random(text: &str) -> bool {
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let distinct = super::assigned::distinct(text);
    distinct >= 5 && (mixed || digits >= 2)
}

/// `123456789:AA…`
pub(super) fn telegram(text: &str, colon: usize) -> Option<SecretMatch> {
    let digits = run_back(text, colon, |byte| byte.is_ascii_digit());
    let tail = run(text, colon + 1, |byte| Class::Word.holds(byte));
    let start = colon - digits;
    let fits =
        (8..=10).contains(&digits) && tail == 35 && begins(text, start) && text.get(colon + 1..colon + 3) == Some("AA");
    fits.then_some(SecretMatch { range: start..colon + 1 + tail, kind: SecretKind::Key })
}

/// 32 hexadecimal digits and `-us12`.
pub(super) fn mailchimp(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    let hex = run_back(text, at.start, |byte| byte.is_ascii_hexdigit());
    let centre = run(text, at.end, |byte| byte.is_ascii_digit());
    let (start, end) = (at.start - hex, at.end + centre);
    let fits = hex == 32 && (1..=2).contains(&centre) && begins(text, start) && ends(text, end);
    fits.then_some(SecretMatch { range: start..end, kind: SecretKind::Key })
}

/// Three characters, `7Q~` or `8Q~`, and at least 31 more.
pub(super) fn azure(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    let is_part = |byte: u8| Class::Dotted.holds(byte) || byte == b'~';
    let start = at.start.checked_sub(4)?;
    let head = text.get(start..at.end)?;
    let tail = run(text, at.end, is_part);
    let fits = head.bytes().all(is_part) && head.ends_with("Q~") && begins(text, start) && (30..=40).contains(&tail);
    fits.then_some(SecretMatch { range: start..at.end + tail, kind: SecretKind::Key })
}
