//! Whom to trust.

use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;

use crate::transport::{TransportError, TransportErrorKind};

/// TLS as the system trusts it, and as `ca_file` does. Its cryptography is named here, so that a process that has chosen
/// another one for itself is not disturbed.
pub(super) fn config(ca_file: Option<&Path>) -> Result<ClientConfig, TransportError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(ca_file, provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn verifier(ca_file: Option<&Path>, provider: Arc<CryptoProvider>) -> Result<Verifier, TransportError> {
    let extra = ca_file.map_or_else(|| Ok(Vec::new()), certificates)?;
    Verifier::new_with_extra_roots(extra, provider).map_err(unusable)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let name = path.display();
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(tls(format!("{name} holds no certificate in PEM"))),
        Ok(found) => Ok(found),
        Err(error) => Err(tls(format!("the certificates in {name} cannot be read: {error}"))),
    }
}

fn unusable(error: rustls::Error) -> TransportError {
    tls(format!("TLS cannot be set up: {error}"))
}

fn tls(message: String) -> TransportError {
    TransportError::new(TransportErrorKind::Tls, message)
}
