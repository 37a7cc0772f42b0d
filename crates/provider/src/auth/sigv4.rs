//! Amazon's signature of a request, version 4.

use std::fmt::Write;

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use super::add;
use crate::address::{encoded, host_of};
use crate::secret::Secret;
use crate::transport::{HeaderValue, HttpRequest, Method};

/// The keys of an account at AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsKeys {
    /// The id of the access key. It is sent, and no secret.
    pub access_key: String,
    /// The key itself: it signs, and is never sent.
    pub secret_key: Secret,
    /// What comes with keys that are lent for a time.
    pub session_token: Option<Secret>,
    /// The region that is asked.
    pub region: String,
}

impl AwsKeys {
    pub(super) fn secrets(&self) -> Vec<Secret> {
        [Some(self.secret_key.clone()), self.session_token.clone()].into_iter().flatten().collect()
    }
}

/// Signs a request: adds when, with which token, and the signature of it all.
pub(crate) fn sign(request: &mut HttpRequest, keys: &AwsKeys, service: &str, now: Timestamp) {
    let time = now.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
    add(request, "x-amz-date", HeaderValue::Plain(time.clone()));
    if let Some(token) = &keys.session_token {
        add(request, "x-amz-security-token", HeaderValue::Secret(token.clone()));
    }
    let date = time.get(..8).unwrap_or_default();
    let scope = format!("{date}/{}/{service}/aws4_request", keys.region);
    let (canonical, signed) = canonical(request);
    let to_sign =
        format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", HEXLOWER.encode(&Sha256::digest(canonical.as_bytes())));
    let key = [date, &keys.region, service, "aws4_request"]
        .iter()
        .fold(format!("AWS4{}", keys.secret_key.reveal()).into_bytes(), |key, part| mac(&key, part.as_bytes()));
    let signature = HEXLOWER.encode(&mac(&key, to_sign.as_bytes()));
    let shown = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed}, Signature={signature}",
        keys.access_key
    );
    add(request, "authorization", HeaderValue::Secret(Secret::new(shown)));
}

/// The request as it is signed, and the names of the headers in it.
fn canonical(request: &HttpRequest) -> (String, String) {
    let method = match request.method {
        Method::Get => "GET",
        Method::Post => "POST",
    };
    let (path, query) = path_and_query(&request.url);
    let mut headers: Vec<(String, String)> = vec![("host".to_owned(), host_of(&request.url).to_owned())];
    for header in request.headers.iter().filter(|header| header.name != "host") {
        let value = match &header.value {
            HeaderValue::Plain(text) => text.as_str(),
            HeaderValue::Secret(secret) => secret.reveal(),
        };
        let words: Vec<&str> = value.split_ascii_whitespace().collect();
        headers.push((header.name.clone(), words.join(" ")));
    }
    headers.sort();
    let signed: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let signed = signed.join(";");
    let mut text = format!("{method}\n{path}\n{query}\n");
    for (name, value) in &headers {
        let _ = writeln!(text, "{name}:{value}");
    }
    let _ = write!(text, "\n{signed}\n{}", HEXLOWER.encode(&Sha256::digest(&request.body)));
    (text, signed)
}

/// The path, encoded once more, and the query in order.
fn path_and_query(url: &str) -> (String, String) {
    let after_host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let from = after_host.find(['/', '?']).unwrap_or(after_host.len());
    let rest = after_host.get(from..).unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = if path.is_empty() { "/" } else { path };
    let path: Vec<String> = path.split('/').map(encoded).collect();
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.sort_unstable();
    let pairs: Vec<String> =
        pairs.into_iter().map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") }).collect();
    (path.join("/"), pairs.join("&"))
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Header;

    /// The keys and the moment of AWS's published test suite.
    fn keys(token: Option<&str>) -> AwsKeys {
        AwsKeys {
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: token.map(Secret::new),
            region: "us-east-1".to_owned(),
        }
    }

    fn signature(method: Method, url: &str, headers: &[(&str, &str)], body: &str) -> String {
        let header = |(name, value): &(&str, &str)| Header {
            name: (*name).to_owned(),
            value: HeaderValue::Plain((*value).to_owned()),
        };
        let mut request = HttpRequest {
            method,
            url: url.to_owned(),
            headers: headers.iter().map(header).collect(),
            body: body.as_bytes().to_vec(),
        };
        sign(&mut request, &keys(None), "service", "2015-08-30T12:36:00Z".parse().unwrap());
        match &request.headers.last().unwrap().value {
            HeaderValue::Secret(secret) => secret.reveal().to_owned(),
            HeaderValue::Plain(_) => panic!("a signature is not shown"),
        }
    }

    fn shown(signed: &str, signature: &str) -> String {
        format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders={signed}, Signature={signature}"
        )
    }

    #[test]
    fn get_vanilla() {
        assert_eq!(
            signature(Method::Get, "https://example.amazonaws.com/", &[], ""),
            shown("host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        );
    }

    #[test]
    fn get_vanilla_query_order_key_case() {
        assert_eq!(
            signature(Method::Get, "https://example.amazonaws.com/?Param2=value2&Param1=value1", &[], ""),
            shown("host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
        );
    }

    #[test]
    fn post_vanilla() {
        assert_eq!(
            signature(Method::Post, "https://example.amazonaws.com/", &[], ""),
            shown("host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
        );
    }

    #[test]
    fn post_x_www_form_urlencoded() {
        assert_eq!(
            signature(
                Method::Post,
                "https://example.amazonaws.com/",
                &[("content-type", "application/x-www-form-urlencoded")],
                "Param1=value1"
            ),
            shown("content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
        );
    }
}
