//! Connections that nobody else can read, and whom we take for the server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, ErrorKind, Result};

/// Whom we take for the server. Certificates are those of a file, or the ones that the system trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Whoever answers: nobody else can read along, but whoever answers may be anybody.
    Anyone,
    /// Whoever has a certificate of an issuer that we trust.
    Issuer(Option<PathBuf>),
    /// Whoever has one, for the very name that we asked for.
    IssuerAndName(Option<PathBuf>),
}

/// What makes encrypted connections.
pub(super) fn connector(trust: &Trust) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anyone => Arc::new(Verifier { issuer: None, provider }),
        Trust::Issuer(file) => {
            let issuer = Some(issuer(file.as_deref(), &provider)?);
            Arc::new(Verifier { issuer, provider })
        }
        Trust::IssuerAndName(file) => issuer(file.as_deref(), &provider)?,
    };
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn issuer(file: Option<&Path>, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>> {
    let roots = Arc::new(roots(file)?);
    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider)).build().map_err(unusable)
}

/// The certificates of a file, or the ones that the system trusts.
fn roots(file: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let unreadable =
                |error| Error::new(ErrorKind::Io, "the certificates cannot be read").file(file).because(error);
            for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
                roots.add(certificate.map_err(unreadable)?).map_err(|error| unusable(error).file(file))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let what = "no certificates are there to check the server's against";
        return Err(Error::new(ErrorKind::Unsupported, what).hint("name a file of them with `sslrootcert=FILE`"));
    }
    Ok(roots)
}

fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unsupported, "encryption cannot be set up")
        .hint("check the file that `sslrootcert` names")
        .because(error)
}

/// Takes whoever proves to have the certificate it shows, and checks its issuer, but not its name.
#[derive(Debug)]
struct Verifier {
    issuer: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(issuer) = &self.issuer else {
            return Ok(ServerCertVerified::assertion());
        };
        match issuer.verify_server_cert(certificate, between, name, stapled, now) {
            // The name is looked at last: everything else is as it must be.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            done => done,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
