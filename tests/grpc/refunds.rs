//! A client of the refund service, as a generator would write it.

use bytes::{Buf as _, BufMut as _};
use futures_util::Stream;
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};
use tower_outcome::Stack;
use tower_outcome::stack::KeptWrites;
use tower_outcome::transport::TonicChannel;

pub(crate) struct Refunds {
    grpc: Grpc<KeptWrites<TonicChannel>>,
}

impl Refunds {
    pub(crate) fn new(stack: &Stack, channel: Channel) -> Self {
        Self {
            grpc: Grpc::new(stack.keep(channel)),
        }
    }

    pub(crate) async fn refund(
        &mut self,
        request: Request<String>,
    ) -> Result<Response<String>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/billing.Refunds/Refund");
        self.grpc.unary(request, path, Text).await
    }

    pub(crate) async fn refund_many<S>(
        &mut self,
        request: Request<S>,
    ) -> Result<Response<String>, Status>
    where
        S: Stream<Item = String> + Send + 'static,
    {
        self.ready().await?;
        let path = PathAndQuery::from_static("/billing.Refunds/RefundMany");
        self.grpc.client_streaming(request, path, Text).await
    }

    pub(crate) async fn refund_and_follow(
        &mut self,
        request: Request<String>,
    ) -> Result<Response<Streaming<String>>, Status> {
        self.ready().await?;
        let path = PathAndQuery::from_static("/billing.Refunds/RefundAndFollow");
        self.grpc.server_streaming(request, path, Text).await
    }

    /// The messages of a refund that has begun.
    pub(crate) async fn follow(&mut self, request: Request<String>) -> Streaming<String> {
        let answer = self.refund_and_follow(request).await;
        answer.unwrap().into_inner()
    }

    pub(crate) async fn refund_each<S>(
        &mut self,
        request: Request<S>,
    ) -> Result<Response<Streaming<String>>, Status>
    where
        S: Stream<Item = String> + Send + 'static,
    {
        self.ready().await?;
        let path = PathAndQuery::from_static("/billing.Refunds/RefundEach");
        self.grpc.streaming(request, path, Text).await
    }

    async fn ready(&mut self) -> Result<(), Status> {
        let ready = self.grpc.ready().await;
        ready.map_err(|error| Status::from_error(error.into()))
    }
}

/// Messages that are text.
pub(crate) struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, text: String, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put_slice(text.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let mut bytes = vec![0; from.remaining()];
        from.copy_to_slice(&mut bytes);
        let text = String::from_utf8(bytes);
        text.map(Some)
            .map_err(|error| Status::internal(error.to_string()))
    }
}
