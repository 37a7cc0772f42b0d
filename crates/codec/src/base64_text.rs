//! Base64 as the files of others write it: in either alphabet, with and without padding.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Refuses set bits beyond the last byte: such a text would not come back as it was.
const EXACT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT);

/// Reads whatever has bytes in it.
const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT.with_decode_allow_trailing_bits(true));

/// The text of some bytes, padded.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a text in either alphabet.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(in_standard_alphabet(text).trim_end_matches('=')).ok()
}

/// The same bytes in the standard alphabet, padded, if the text is base64 at all; white space is passed over.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let bytes = EXACT.decode(in_standard_alphabet(&dense(text)).trim_end_matches('=')).ok()?;
    Some(STANDARD.encode(bytes))
}

/// Whether a text in the standard alphabet is base64; white space is passed over.
pub(crate) fn is_standard(text: &str) -> bool {
    LENIENT.decode(dense(text).as_bytes()).is_ok()
}

fn dense(text: &str) -> Cow<'_, str> {
    if text.contains(|c: char| c.is_ascii_whitespace()) {
        return text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>().into();
    }
    text.into()
}

fn in_standard_alphabet(text: &str) -> Cow<'_, str> {
    if text.contains(['-', '_']) { text.replace('-', "+").replace('_', "/").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_the_standard_alphabet() {
        let table = [
            ("AAAA", Some("AAAA")),
            ("_-_-", Some("/+/+")),
            ("AA\nAA", Some("AAAA")),
            ("AA", Some("AA==")),
            ("AA==", Some("AA==")),
            ("AAA", Some("AAA=")),
            ("", Some("")),
            ("A", None),
            ("Az", None),
            ("{data}", None),
            ("ä", None),
        ];
        for (given, wanted) in table {
            assert_eq!(canonical(given).as_deref(), wanted, "{given}");
        }
    }

    #[test]
    fn either_alphabet_is_read_with_and_without_padding() {
        for text in ["+/8=", "+/8==", "+/8", "-_8=", "-_8", "-/8", "-_9"] {
            assert_eq!(decode(text), Some(vec![0xfb, 0xff]), "{text}");
        }
        assert_eq!(decode("no bytes"), None);
        assert_eq!(encode(&[0xfb, 0xff]), "+/8=");
    }
}
