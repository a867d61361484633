//! TLS: the server's certificate and key, read once.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, crypto::ring};

/// What a server shows and holds to speak TLS.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it holds a key")]
pub struct Tls(TlsAcceptor);

/// Why TLS cannot be spoken with these files.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read the {what} {path}: {error}")]
    Pem {
        /// Which of the two.
        what: &'static str,
        /// The file.
        path: String,
        /// What is wrong.
        error: pem::Error,
    },
    /// A file without a certificate.
    #[error("there is no certificate in {0}")]
    Empty(String),
    /// Certificate and key cannot be used.
    #[error("cannot use the certificate {path} with this key: {error}")]
    Unusable {
        /// The file of the certificate.
        path: String,
        /// What is wrong.
        error: rustls::Error,
    },
}

impl Tls {
    /// Reads a chain of certificates, the server's first, and its private key, both in PEM.
    ///
    /// # Errors
    /// If a file cannot be read, or they do not belong together.
    pub fn read(chain: &Path, key: &Path) -> Result<Tls, TlsError> {
        let unreadable = |what, path: &Path| {
            let path = path.display().to_string();
            move |error| TlsError::Pem { what, path, error }
        };
        let certificates = CertificateDer::pem_file_iter(chain).map_err(unreadable("certificate", chain))?;
        let certificates = certificates.collect::<Result<Vec<_>, _>>().map_err(unreadable("certificate", chain))?;
        if certificates.is_empty() {
            return Err(TlsError::Empty(chain.display().to_string()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(unreadable("key", key))?;
        let unusable = |error| TlsError::Unusable { path: chain.display().to_string(), error };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, secret)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A session costs memory that strangers could fill; a handshake is cheap enough.
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }

    /// Shakes hands with a client.
    pub(crate) async fn accept<S>(&self, stream: S) -> io::Result<tokio_rustls::server::TlsStream<S>>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    {
        self.0.accept(stream).await
    }
}
