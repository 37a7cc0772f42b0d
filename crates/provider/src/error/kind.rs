//! The kinds of errors.

use turnkeep_runtime::port::{Cause, ModelError};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $word:literal, $title:literal, $remedy:literal;)*) => {
        /// What went wrong. Its word is the class of the `ModelError` that an agent sees and records.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ProviderErrorKind {
            $($(#[$doc])* $kind,)*
        }

        impl ProviderErrorKind {
            /// Every kind.
            pub const ALL: &'static [ProviderErrorKind] = &[$(ProviderErrorKind::$kind,)*];

            /// Its word.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ProviderErrorKind::$kind => $word,)*
                }
            }

            pub(super) fn title(self) -> &'static str {
                match self {
                    $(ProviderErrorKind::$kind => $title,)*
                }
            }

            pub(super) fn remedy(self) -> &'static str {
                match self {
                    $(ProviderErrorKind::$kind => $remedy,)*
                }
            }
        }
    };
}

kinds! {
    /// 400 and its like: the vendor does not take the request.
    Invalid = "invalid_request", "the request was refused",
        "`turnkeep lint` says which rule of the vendor a session breaks";
    /// The history is longer than the model can read.
    ContextOverflow = "context_overflow", "the conversation is too long for the model",
        "shorten it (`--window`, `--condense`) or take a model that reads more";
    /// 401: no key, or a wrong one.
    Unauthorized = "unauthorized", "the key was not accepted",
        "check the endpoint's `key`, and that it belongs to this provider";
    /// 403: the key may not do that.
    Forbidden = "forbidden", "the key may not do that",
        "check what the account may use, and from where";
    /// 402: nobody pays.
    Unpaid = "unpaid", "the account has no credit left", "top it up, or take another endpoint";
    /// 404: no such model or address.
    NotFound = "not_found", "there is no such model or address",
        "check the endpoint's `model` and `base_url`";
    /// 413: the request is too large.
    RequestTooLarge = "request_too_large", "the request is too large",
        "send less: leave out media, or shorten the conversation";
    /// 429: too many requests, or too many tokens.
    RateLimited = "rate_limited", "too many requests", "wait, or take another endpoint (`fallback`)";
    /// 500: the vendor failed.
    ServerError = "server_error", "the vendor failed", "try again later, or take another endpoint (`fallback`)";
    /// 502, 503, 504, 408: the vendor cannot be reached just now.
    Unavailable = "unavailable", "the vendor is not available",
        "try again later, or take another endpoint (`fallback`)";
    /// 529: the vendor has too much to do.
    Overloaded = "overloaded", "the vendor is overloaded", "try again later, or take another endpoint (`fallback`)";
    /// A status that none of the others is.
    Unexpected = "unexpected_status", "the answer has a status that was not expected", "check the endpoint's `base_url`";
    /// 3xx: the endpoint is somewhere else.
    Redirect = "redirect", "the endpoint redirects, and a key is not sent to an address that nobody chose",
        "set `base_url` to where it is";
    /// Nothing of an answer came in time.
    FirstByteTimeout = "first_byte_timeout", "no answer began in time",
        "raise `timeouts.first_byte`, or stream the answer";
    /// An answer stopped arriving.
    IdleTimeout = "idle_timeout", "the answer stopped arriving", "ask again, or raise `timeouts.idle`";
    /// The connection ended before an answer began.
    Closed = "closed", "the connection was closed before an answer began", "try again";
    /// The connection ended in the middle of an answer.
    Cut = "cut", "the answer was cut off", "ask again: nothing of it was recorded";
    /// The answer is not what the wire says.
    Malformed = "malformed", "the answer cannot be read", "check the endpoint's `wire` and `base_url`";
    /// A page, or something else that no vendor answers.
    WrongContentType = "wrong_content_type", "something else than a vendor answered",
        "check `base_url`, and whether a proxy or a login page stands in between";
    /// An error came in the middle of a stream.
    StreamError = "stream_error", "the vendor broke off its answer", "ask again: nothing of it was recorded";
    /// The answer is larger than allowed.
    TooLarge = "too_large", "the answer is too large", "raise `max_body`, or stream the answer";
    /// TLS cannot be agreed on.
    Tls = "tls", "no secure connection", "check the certificate, or name its issuer with `ca_file`";
    /// Nobody listens there.
    Refused = "refused", "no connection", "check `base_url`, and that the server runs";
    /// The host has no address.
    Dns = "dns", "the host has no address", "check `base_url`, and the network";
    /// A replay has no such exchange.
    Mismatch = "mismatch", "the recording has no such exchange", "record it again";
    /// The request cannot be sent.
    Unsendable = "unsendable", "the request cannot be sent", "check the endpoint's `base_url`, `headers` and `proxy`";
}

impl ProviderErrorKind {
    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<ProviderErrorKind> {
        ProviderErrorKind::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }

    /// The kind of what an agent saw.
    pub fn of(error: &ModelError) -> Option<ProviderErrorKind> {
        error.class.as_deref().and_then(ProviderErrorKind::from_word)
    }

    /// The kind of a status.
    pub(crate) fn of_status(status: u16) -> ProviderErrorKind {
        match status {
            300..400 => ProviderErrorKind::Redirect,
            400 | 405 | 409 | 415 | 422 => ProviderErrorKind::Invalid,
            401 => ProviderErrorKind::Unauthorized,
            402 => ProviderErrorKind::Unpaid,
            403 => ProviderErrorKind::Forbidden,
            404 | 410 => ProviderErrorKind::NotFound,
            413 => ProviderErrorKind::RequestTooLarge,
            429 => ProviderErrorKind::RateLimited,
            // 520 to 527 are Cloudflare's, which stands before several vendors.
            408 | 425 | 502..=504 | 520..=527 => ProviderErrorKind::Unavailable,
            // Anthropic's own.
            529 => ProviderErrorKind::Overloaded,
            500..600 => ProviderErrorKind::ServerError,
            400..500 => ProviderErrorKind::Invalid,
            _ => ProviderErrorKind::Unexpected,
        }
    }

    /// The cause, as a journal tells it.
    pub fn cause(self) -> Cause {
        use ProviderErrorKind as Kind;
        match self {
            Kind::Invalid | Kind::NotFound | Kind::RequestTooLarge | Kind::Unsendable => Cause::BadRequest,
            Kind::ContextOverflow => Cause::TooLong,
            Kind::Unauthorized | Kind::Forbidden | Kind::Unpaid => Cause::Auth,
            Kind::RateLimited => Cause::RateLimited,
            Kind::ServerError | Kind::Unavailable | Kind::Closed | Kind::Refused | Kind::Dns | Kind::Tls => {
                Cause::Unavailable
            }
            Kind::Overloaded => Cause::Overloaded,
            Kind::FirstByteTimeout => Cause::TimedOut,
            Kind::IdleTimeout | Kind::Cut | Kind::StreamError => Cause::Interrupted,
            Kind::Malformed | Kind::WrongContentType | Kind::Mismatch => Cause::Mismatch,
            Kind::Redirect | Kind::Unexpected | Kind::TooLarge => Cause::Failed,
        }
    }

    /// Whether the same request may succeed later. An answer that had begun is never asked for again.
    pub fn may_pass(self) -> bool {
        matches!(
            self,
            ProviderErrorKind::RateLimited
                | ProviderErrorKind::ServerError
                | ProviderErrorKind::Unavailable
                | ProviderErrorKind::Overloaded
                | ProviderErrorKind::Closed
                | ProviderErrorKind::Refused
                | ProviderErrorKind::Dns
        )
    }
}
