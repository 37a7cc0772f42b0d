//! The numbers of errors and closes. Clients decide by them whether to come back.

/// Why a connection was closed or a message refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Code {
    /// The app wants TLS.
    TlsOnly = 4000,
    /// No app has this key.
    UnknownApp = 4001,
    /// The app is switched off.
    AppDisabled = 4003,
    /// The app has as many connections as it may have.
    ConnectionLimit = 4004,
    /// There is nothing at this path.
    PathNotFound = 4005,
    /// The client's version is no version.
    InvalidVersion = 4006,
    /// A version of the protocol that this server does not speak.
    UnsupportedProtocol = 4007,
    /// The client named no version of the protocol.
    NoProtocol = 4008,
    /// A signature or an origin that is not accepted.
    Unauthorized = 4009,
    /// The server is full, or the client reads too slowly.
    OverCapacity = 4100,
    /// Come back at once: a message that is none, or a server that goes away.
    Reconnect = 4200,
    /// The client did not answer a ping.
    PongTimeout = 4201,
    /// Nothing was heard of the client.
    Inactive = 4202,
    /// A client event that is not accepted, or one too many.
    ClientEvent = 4301,
}

/// What a client does after a close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reconnect {
    /// It stays away.
    Never,
    /// It comes back after a second or more.
    Later,
    /// It comes back at once.
    AtOnce,
}

/// Every code, with what the server says when it gives no other reason.
const MESSAGES: &[(Code, &str)] = &[
    (Code::TlsOnly, "Application only accepts TLS connections"),
    (Code::UnknownApp, "Application does not exist"),
    (Code::AppDisabled, "Application disabled"),
    (Code::ConnectionLimit, "Application is over its connection quota"),
    (Code::PathNotFound, "Path not found"),
    (Code::InvalidVersion, "Invalid version string format"),
    (Code::UnsupportedProtocol, "Unsupported protocol version"),
    (Code::NoProtocol, "No protocol version supplied"),
    (Code::Unauthorized, "Connection is unauthorized"),
    (Code::OverCapacity, "Over capacity"),
    (Code::Reconnect, "Invalid message format"),
    (Code::PongTimeout, "Pong reply not received in time"),
    (Code::Inactive, "Closed after inactivity"),
    (Code::ClientEvent, "The app does not have client messaging enabled."),
];

impl Code {
    /// The number on the wire.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// What the server says when it gives no other reason.
    pub fn message(self) -> &'static str {
        MESSAGES.iter().find(|(code, _)| *code == self).map_or("", |(_, message)| message)
    }

    /// What a client does when its connection is closed with this code.
    pub fn reconnect(self) -> Reconnect {
        match self.number() {
            4100..4200 => Reconnect::Later,
            4200..4300 => Reconnect::AtOnce,
            _ => Reconnect::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_number_in_its_range_and_a_message() {
        let never = MESSAGES.iter().filter(|(code, _)| code.reconnect() == Reconnect::Never);

        assert!(MESSAGES.iter().all(|(code, message)| code.message() == *message && !message.is_empty()));
        assert_eq!(
            never.map(|(code, _)| code.number()).collect::<Vec<_>>(),
            [4000, 4001, 4003, 4004, 4005, 4006, 4007, 4008, 4009, 4301]
        );
        assert_eq!(Code::OverCapacity.reconnect(), Reconnect::Later);
        assert_eq!(Code::PongTimeout.reconnect(), Reconnect::AtOnce);
    }
}
