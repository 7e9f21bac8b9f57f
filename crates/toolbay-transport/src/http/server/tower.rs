//! The endpoint as a tower service, for applications that are made of these.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Buf;
use http::{Request, Response};

use super::{body::Body, endpoint::Endpoint};
use crate::Service;

impl<S, B> tower_service::Service<Request<B>> for Endpoint<S>
where
    S: Service,
    B: http_body::Body + Send + 'static,
    B::Data: Buf + Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // How many may be served at once is decided for each, where an answer can say so.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let endpoint = self.clone();
        Box::pin(async move { Ok(endpoint.handle(request).await) })
    }
}
