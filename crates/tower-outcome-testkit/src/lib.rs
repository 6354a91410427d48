//! A server that counts what it really did, to test what a client stack really does.
//!
//! A test of "this write is made at most once" has to ask the other side. [`Billing`] is that other
//! side: a server on a loopback socket that speaks HTTP/1.1, HTTP/2 in the clear (with prior
//! knowledge) and gRPC, whichever the client begins with; that commits refunds, counts them, and
//! fails at whatever byte its script says. It lives in the test's process, and whatever happens to the
//! client, up to the kill of its process, the counts stand.
//!
//! | request | answer |
//! |---|---|
//! | a write (any method but GET, HEAD, OPTIONS, TRACE) at any path | what the next [`Step`] says; an empty script commits and answers 201 `{"id":"re_1","order":…,"amount":…}` with the members of the JSON that was sent, and `reference` if it had one |
//! | a write of `application/grpc` | the same, but an empty script answers with one message, the id as the string in its field 1, and `grpc-status: 0`; what was sent stays opaque, so that look-ups show its order and amount as `null` |
//! | a read at the same path, `?key=` and/or `?reference=` | 200 `{"found":[…]}`: what was committed at the path, as the 201 showed it; takes no step |
//!
//! [`assert_at_most_once`] exposes a whole client stack to every fault of a [list](Scenario::all).
//! [`ReplayingProxy`] stands in front of the service and repeats what it got, [`Refusing`] and
//! [`Unreachable`] are not to be reached, and [`BrokenTls`] never ends a handshake. With the
//! feature `tls` the service itself speaks TLS.
//!
//! Ids count up from `re_1` over all paths. Requests are kept in memory whole, heads up to 1 MiB.
//! Nothing waits for a clock but [`Step::AnswerAfter`]; a test waits for
//! [events](Billing::wait_for). Under tokio's paused clock sockets work as ever, but time jumps to
//! the next timer whenever every task waits, even if it is for a packet on its way: put no
//! `timeout` of tokio's around the waits there.
//!
//! ```
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::TcpStream;
//! use tower_outcome_testkit::{Billing, Step};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let billing = Billing::start().await?;
//! billing.script([Step::CommitThenClose]);
//!
//! let request = b"POST /refunds HTTP/1.1\r\nhost: billing\r\nidempotency-key: k1\r\n\
//!     content-length: 28\r\n\r\n{\"order\":\"A-1\",\"amount\":1000}";
//! for expected in ["", "HTTP/1.1 201 "] {
//!     let mut client = TcpStream::connect(billing.addr()).await?;
//!     client.write_all(request).await?;
//!     let mut start = vec![0; expected.len().max(1)];
//!     let read = client.read(&mut start).await?;
//!     assert_eq!(&start[..read], expected.as_bytes());
//! }
//! // The first answer was lost; the second request was answered and changed nothing.
//! assert_eq!(billing.received().len(), 2);
//! assert_eq!(billing.commits_of("k1"), 1);
//! # Ok(())
//! # }
//! ```

mod at_most_once;
mod billing;
mod books;
mod broken_tls;
mod connection;
mod door;
mod error_code;
mod frames;
mod h1;
mod h2;
mod line;
mod listening;
mod query;
mod received;
mod refunds;
mod refusing;
mod replaying_proxy;
mod reply;
mod report;
mod scenario;
mod socket;
mod step;
mod timeline;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_socket;
mod unreachable;

pub use self::at_most_once::{assert_at_most_once, at_most_once};
pub use self::billing::Billing;
pub use self::broken_tls::{BrokenTls, TlsFault};
pub use self::error_code::ErrorCode;
pub use self::frames::{Frames, LastStream};
pub use self::received::Received;
pub use self::refunds::LookUp;
pub use self::refusing::Refusing;
pub use self::replaying_proxy::{Relay, ReplayingProxy};
pub use self::reply::Reply;
pub use self::report::{Observation, Report, Told};
pub use self::scenario::{Scenario, Server};
pub use self::step::{End, Step};
pub use self::timeline::{Event, What};
#[cfg(feature = "tls")]
pub use self::tls::Tls;
pub use self::unreachable::Unreachable;
