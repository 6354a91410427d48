//! A client without generated code: messages are bytes.

use tonic::body::Body;
use tonic::client::{Grpc, GrpcService};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder, Streaming};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::tokio_stream::StreamExt as _;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tower_outcome::stack::KeptWrites;
use tower_outcome::transport::TonicChannel;
use tower_outcome::{Stack, Watch};

use bytes::{Buf as _, BufMut as _};

pub(crate) type Kept = KeptWrites<TonicChannel>;

/// A refund service's client.
#[derive(Clone)]
pub(crate) struct Refunds<S = Kept>(Grpc<S>);

impl Refunds {
    pub(crate) fn over(stack: &Stack, channel: Channel) -> Self {
        Self(Grpc::new(stack.keep(channel)))
    }
}

impl<S> Refunds<S>
where
    S: GrpcService<Body>,
    S::ResponseBody: Send + 'static,
    <S::ResponseBody as tonic::codegen::Body>::Error: Into<tower_outcome::BoxError> + Send,
{
    pub(crate) async fn refund(
        &mut self,
        request: Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/refunds.Refunds/Refund");
        self.0.unary(request, path, Bytes).await
    }

    pub(crate) async fn watch(
        &mut self,
        request: Request<Vec<u8>>,
    ) -> Result<Streaming<Vec<u8>>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/refunds.Refunds/Watch");
        let answer = self.0.server_streaming(request, path, Bytes).await?;
        Ok(answer.into_inner())
    }

    pub(crate) async fn collect(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<u8>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/refunds.Refunds/Collect");
        let parts = tonic::codegen::tokio_stream::iter(parts).filter(|_| true);
        let answer = self.0.client_streaming(Request::new(parts), path, Bytes);
        Ok(answer.await?.into_inner())
    }

    async fn ready(&mut self) -> Result<(), Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::from_error(error.into()))
    }
}

/// A refund, and the watch that goes with it.
pub(crate) fn refund() -> (Request<Vec<u8>>, Watch) {
    let watch = Watch::new();
    let mut request = Request::new(b"A-1".to_vec());
    request.extensions_mut().insert(watch.clone());
    (request, watch)
}

/// Messages as they are.
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let bytes = from.copy_to_bytes(from.remaining());
        Ok(Some(bytes.to_vec()))
    }
}
