//! The certificate of a server that speaks TLS.

use std::fmt;
use std::io;
use std::sync::Arc;

use rcgen::CertifiedKey;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A self-signed certificate for `localhost` and `127.0.0.1`, and its key.
///
/// A client that takes the certificate for a root trusts the service. With reqwest that is
/// `ClientBuilder::tls_certs_only` and `Certificate::from_der`; with rustls:
///
/// ```
/// use std::sync::Arc;
///
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
/// use tokio_rustls::TlsConnector;
/// use tokio_rustls::rustls::crypto::ring::default_provider;
/// use tokio_rustls::rustls::{ClientConfig, RootCertStore};
/// use tower_outcome_testkit::{Billing, Tls};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = Tls::new()?.with_alpn(["http/1.1"]);
/// let billing = Billing::start_tls(&tls).await?;
///
/// let mut roots = RootCertStore::empty();
/// roots.add(tls.der().to_vec().into())?;
/// let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
///     .with_safe_default_protocol_versions()?
///     .with_root_certificates(roots)
///     .with_no_client_auth();
///
/// let stream = TcpStream::connect(billing.addr()).await?;
/// let connector = TlsConnector::from(Arc::new(config));
/// let mut stream = connector.connect("localhost".try_into()?, stream).await?;
/// stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}").await?;
/// let mut answer = [0; 12];
/// stream.read_exact(&mut answer).await?;
/// assert_eq!(&answer, b"HTTP/1.1 201");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    der: Vec<u8>,
    pem: String,
}

impl Tls {
    /// Makes a key and a certificate. TLS 1.2 and 1.3 are spoken, and no protocol is negotiated.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers.
    pub fn new() -> io::Result<Self> {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], PrivateKeyDer::Pkcs8(key))
            .map_err(io::Error::other)?;
        Ok(Self {
            config: Arc::new(config),
            der: cert.der().to_vec(),
            pem: cert.pem(),
        })
    }

    /// Negotiates one of these protocols, the first that the client has too, and refuses clients
    /// that have none of them. `h2` and `http/1.1` are the names of HTTP's versions.
    #[must_use]
    pub fn with_alpn(mut self, protocols: impl IntoIterator<Item = &'static str>) -> Self {
        let protocols = protocols.into_iter().map(|name| name.as_bytes().to_vec());
        Arc::make_mut(&mut self.config).alpn_protocols = protocols.collect();
        self
    }

    /// The certificate in DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
