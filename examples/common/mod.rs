//! Where the examples find their server: at `REDIS_URL`, else one is started for them.

#[path = "../../tests/common/mod.rs"]
mod harness;

/// A server's URL, and the server itself where it is a private one, gone when this is dropped.
pub(crate) struct Place {
    url: String,
    _server: Option<harness::Server>,
}

impl Place {
    pub(crate) fn find() -> Self {
        match std::env::var("REDIS_URL") {
            Ok(url) if !url.is_empty() => Self { url, _server: None },
            _ => {
                let server = harness::Server::start();
                Self {
                    url: server.url(),
                    _server: Some(server),
                }
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}
