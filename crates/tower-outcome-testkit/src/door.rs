//! What a connection passes before it is served.

use tokio::net::TcpStream;

use crate::socket::Socket;

/// Nothing, or a TLS handshake.
#[derive(Clone)]
pub(crate) enum Door {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tokio_rustls::TlsAcceptor),
}

impl Door {
    pub(crate) const fn scheme(&self) -> &'static str {
        match self {
            Self::Plain => "http",
            #[cfg(feature = "tls")]
            Self::Tls(_) => "https",
        }
    }

    /// `None` after a handshake that failed.
    #[cfg_attr(not(feature = "tls"), expect(clippy::unused_async))]
    pub(crate) async fn pass(&self, stream: TcpStream) -> Option<Socket> {
        match self {
            Self::Plain => Some(Socket::Plain(stream)),
            #[cfg(feature = "tls")]
            Self::Tls(acceptor) => {
                let stream = acceptor.accept(stream).await.ok()?;
                Some(Socket::Tls(Box::new(crate::tls_socket::TlsSocket::new(
                    stream,
                ))))
            }
        }
    }
}
