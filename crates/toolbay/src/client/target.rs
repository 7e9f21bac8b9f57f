//! Where a server is: a program to start, a URL, or a server in this process.

use std::{ffi::OsString, future::Future, sync::Arc};

use toolbay_transport::{
    Approach, Connection, Error, Kind, Service, connect, duplex::Options, http::client as http,
    stdio::child::ServerCommand,
};

/// Something that a client can connect to: a URL as text, a [`command`], or a [`Server`](crate::Server) in this process.
#[diagnostic::on_unimplemented(
    message = "a client cannot connect to `{Self}`",
    note = "give the URL of an endpoint as text, `command(program, arguments)`, or a `Server`"
)]
pub trait Target: Send + Sync + 'static {
    /// Connects, once or anew.
    fn connect(&self, approach: Approach) -> impl Future<Output = Result<Connection, Error>> + Send;
}

/// A program that is started and speaks over its standard input and output.
///
/// ```no_run
/// # async fn run() -> Result<(), toolbay::client::ClientError> {
/// use toolbay::client::{Client, command};
///
/// let client = Client::connect(command("uvx", ["mcp-server-time"])).await?;
/// # Ok(())
/// # }
/// ```
pub fn command<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> ServerCommand {
    ServerCommand::new(program).args(args)
}

impl Target for ServerCommand {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        connect::child(self.clone(), approach).await
    }
}

impl Target for String {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        let url = self.parse().map_err(|error| {
            let what = format!("{self:?} is no URL; for a program to start, give `command(program, arguments)`");
            Error::new(Kind::Unreachable, what).caused_by(http_error(error))
        })?;
        http::connect(http::Target::new(url), approach).await
    }
}

fn http_error(error: impl std::fmt::Display) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, error.to_string())
}

impl Target for &'static str {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        Target::connect(&(*self).to_owned(), approach).await
    }
}

impl Target for http::Target {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        http::connect(self.clone(), approach).await
    }
}

impl<S: Send + Sync + 'static> Target for crate::Server<S> {
    async fn connect(&self, approach: Approach) -> Result<Connection, Error> {
        in_process(Arc::new(self.clone()), approach).await
    }
}

async fn in_process<S: Service>(service: Arc<S>, approach: Approach) -> Result<Connection, Error> {
    connect::memory(service, Options::default(), approach).await
}
