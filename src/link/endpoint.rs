//! Where a server is and who we are there: a checked URL, dialled with a time-out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{ConnectionAddr, IntoConnectionInfo};

use super::Failure;
use crate::error::Error;
use crate::exchange::{Fault, ServerError};

/// Schemes that `build` accepts, with or without TLS.
const SCHEMES: &str = "redis://, rediss:// (feature `tls`), redis+unix:// or unix://";

/// A server, and user, password and database there.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: redis::Client,
    address: String,
}

impl Endpoint {
    /// Checks `url`; an error names everything but the password.
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let refuse = |why: &str| Error::config("url", redacted(url), why);
        let Some((scheme, _)) = url.split_once("://") else {
            return Err(refuse(&format!("it has no scheme; use {SCHEMES}")));
        };
        match scheme {
            "redis" | "redis+unix" | "unix" => {}
            "rediss" if cfg!(feature = "tls") => {}
            "rediss" => return Err(refuse("TLS is off; enable the feature `tls` of leasehold")),
            _ => {
                return Err(refuse(&format!(
                    "its scheme is not supported; use {SCHEMES}"
                )));
            }
        }
        let info = url
            .into_connection_info()
            .map_err(|error| refuse(&error.to_string()))?;
        if matches!(info.addr(), ConnectionAddr::TcpTls { insecure: true, .. }) {
            return Err(refuse("a certificate that is not checked protects nothing"));
        }
        let address = info.addr().to_string();
        let redis = info
            .redis_settings()
            .clone()
            .set_protocol(redis::ProtocolVersion::RESP2)
            .set_skip_set_lib_name();
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        let info = info.set_redis_settings(redis).set_tcp_settings(tcp);
        let client = redis::Client::open(info).map_err(|error| refuse(&error.to_string()))?;
        Ok(Self { client, address })
    }

    /// The address, as errors name it.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Connects, says who we are, and chooses the database.
    pub(crate) fn dial(&self, timeout: Duration) -> Result<redis::Connection, Failure> {
        self.client
            .get_connection_with_timeout(timeout)
            .map_err(|error| self.explain(error))
    }

    fn explain(&self, error: redis::RedisError) -> Failure {
        let answered = !error.is_io_error() && error.code().is_some();
        let denied = error.kind() == redis::ErrorKind::AuthenticationFailed;
        if answered || denied {
            let code = error.code().unwrap_or("WRONGPASS").to_owned();
            let message = error.detail().unwrap_or("password authentication failed");
            let fault = Fault::Refused(ServerError::new(code, message));
            return Failure::from_fault(fault, "AUTH");
        }
        Failure::Unreachable {
            address: self.address.clone(),
            source: Arc::new(error),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

/// The URL without what may be a secret: everything between the scheme and the last `@`,
/// and everything behind a `?`.
fn redacted(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(s, r)| (s, r));
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    let rest = rest
        .rsplit_once('@')
        .map_or(rest.to_owned(), |(_, host)| format!("..@{host}"));
    let slashes = if scheme.is_empty() { "" } else { "://" };
    format!("\"{scheme}{slashes}{}\"", rest.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_server_is_refused_and_says_why() {
        for (url, why) in [
            ("localhost", "it has no scheme"),
            ("ftp://localhost", "scheme is not supported"),
            ("redis://localhost:99999", "did not parse"),
            ("redis://localhost/x", "database number"),
            ("redis://", ""),
        ] {
            let error = Endpoint::parse(url).unwrap_err().to_string();
            assert!(
                error.contains("url") && error.contains(why),
                "{url}: {error}"
            );
        }
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn tls_names_the_feature_that_it_needs() {
        let error = Endpoint::parse("rediss://localhost").unwrap_err();
        assert!(error.to_string().contains("enable the feature `tls`"));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_certificate_is_always_checked() {
        assert!(Endpoint::parse("rediss://localhost").is_ok());
        assert!(Endpoint::parse("rediss://localhost/#insecure").is_err());
    }

    #[test]
    fn no_password_is_printed() {
        for url in [
            "redis://user:hunter2@localhost:6379/0",
            "redis://:hunter2@localhost",
            "redis+unix:///run/redis.sock?pass=hunter2",
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            assert!(!format!("{endpoint:?} {}", endpoint.address()).contains("hunter2"));
        }
        for url in [
            "redis://user:hunter2@localhost:99999",
            "ftp://user:hunter2@localhost",
            "user:hunter2@localhost",
            "unix:///run/redis.sock?db=x&pass=hunter2",
            "redis://u:hun@ter2@localhost:99999",
        ] {
            let error = Endpoint::parse(url).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("ter2"), "{url}");
        }
    }
}
