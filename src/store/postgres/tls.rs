//! Encryption, as `sslmode` asks for it. The modes mean what they mean to PostgreSQL's own programs.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::refused;
use crate::base::name;
use crate::run::store::StoreError;

/// Encrypts a connection.
pub(super) type Tls = MakeRustlsConnect;

/// Values of `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Plain text.
    Disable,
    /// Encrypted where the server can.
    Prefer,
    /// Encrypted or not at all; of the server's certificate nothing is checked, unless `sslrootcert` is given.
    Require,
    /// Also, the certificate is signed by one that is trusted.
    VerifyCa,
    /// Also, it is for the host that was asked for.
    VerifyFull,
}

const MODES: [(&str, Mode); 5] = [
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

impl Mode {
    /// The mode of that name; without one, [`Mode::Prefer`].
    pub(super) fn find(value: Option<&str>) -> Result<Mode, StoreError> {
        let Some(value) = value else {
            return Ok(Mode::Prefer);
        };
        let found = MODES.iter().find(|(name, _)| *name == value);
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            let names = MODES.map(|(name, _)| name);
            let hint = name::closest(value, names)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            let known = name::list(names);
            refused(&format!("has an `sslmode` that isn't one of {known}{hint}"))
        })
    }
}

/// What encrypts connections in that mode; tells the driver whether it may do without.
///
/// # Errors
/// Where the certificates that are to be trusted can't be read.
pub(super) fn prepare(
    mode: Mode,
    root: Option<&Path>,
    config: &mut Config,
) -> Result<Option<Tls>, StoreError> {
    config.ssl_mode(match mode {
        Mode::Disable => SslMode::Disable,
        Mode::Prefer => SslMode::Prefer,
        Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
    });
    // As PostgreSQL's own programs have it: who names a certificate wants it to count.
    let trust = match (mode, root) {
        (Mode::Disable, _) => return Ok(None),
        (Mode::Prefer | Mode::Require, None) => Trust::Any,
        (Mode::Prefer | Mode::Require | Mode::VerifyCa, _) => Trust::Signed,
        (Mode::VerifyFull, _) => Trust::Named,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: String| refused(&format!("asks for TLS, which can't be set up: {error}"));
    let inner: Option<Arc<dyn ServerCertVerifier>> = match (trust, root) {
        (Trust::Any, _) => None,
        (_, Some(path)) => {
            let roots = Arc::new(read_roots(path)?);
            let made = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
            Some(made.map_err(|error| failed(error.to_string()))?)
        }
        (_, None) => {
            let made = rustls_platform_verifier::Verifier::new(provider.clone());
            Some(Arc::new(made.map_err(|error| failed(error.to_string()))?))
        }
    };
    let verifier = Arc::new(Verifier {
        provider: provider.clone(),
        inner,
        trust,
    });
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(tls)))
}

fn read_roots(path: &Path) -> Result<RootCertStore, StoreError> {
    let shown = path.display();
    let unusable = |reason: String| {
        refused(&format!(
            "names `{shown}` as `sslrootcert`, which can't be used: {reason}"
        ))
    };
    let certificates =
        CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| unusable(error.to_string()))?;
    }
    match roots.is_empty() {
        true => Err(unusable("there is no certificate in it".to_owned())),
        false => Ok(roots),
    }
}

/// What a certificate must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Anything.
    Any,
    /// Signed by one that is trusted.
    Signed,
    /// Also for this host.
    Named,
}

#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Checks certificates; there where they are checked.
    inner: Option<Arc<dyn ServerCertVerifier>>,
    trust: Trust,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else {
            return Ok(ServerCertVerified::assertion());
        };
        match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The signature is checked before the name.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.trust == Trust::Signed => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
