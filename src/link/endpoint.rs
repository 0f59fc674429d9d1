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
    /// What is said to a new connection: who we are, which database.
    greetings: Vec<(&'static str, redis::Cmd)>,
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
        let greetings = greetings(info.redis_settings(), scheme == "rediss");
        let redis = redis::RedisConnectionInfo::default()
            .set_protocol(redis::ProtocolVersion::RESP2)
            .set_skip_set_lib_name();
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        let info = info.set_redis_settings(redis).set_tcp_settings(tcp);
        #[cfg(feature = "tls")]
        choose_cryptography();
        let client = redis::Client::open(info).map_err(|error| refuse(&error.to_string()))?;
        Ok(Self {
            client,
            address,
            greetings,
        })
    }

    /// The address, as errors name it.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Connects, says who we are, and chooses the database.
    ///
    /// The client library does the same, and keeps of a refusal neither its code nor its text.
    pub(crate) fn dial(&self, timeout: Duration) -> Result<redis::Connection, Failure> {
        let dial = || -> redis::RedisResult<_> {
            let mut connection = self.client.get_connection_with_timeout(timeout)?;
            if self.greetings.is_empty() {
                return Ok((connection, Vec::new()));
            }
            connection.set_read_timeout(Some(timeout))?;
            connection.set_write_timeout(Some(timeout))?;
            let packed = self
                .greetings
                .iter()
                .map(|(_, greeting)| greeting.get_packed_command());
            let sent = connection.send_packed_command(&packed.collect::<Vec<_>>().concat());
            let mut replies = Vec::new();
            for _ in &self.greetings {
                match connection.recv_response() {
                    Ok(reply) => replies.push(reply),
                    // A server that hangs up has said why before, in the first reply.
                    Err(_) if matches!(replies[..], [redis::Value::ServerError(_), ..]) => break,
                    Err(error) => return Err(sent.err().unwrap_or(error)),
                }
            }
            Ok((connection, replies))
        };
        let (connection, replies) = dial().map_err(|error| Failure::Unreachable {
            address: self.address.clone(),
            source: Arc::new(error),
        })?;
        for ((name, _), reply) in self.greetings.iter().zip(replies) {
            if let redis::Value::ServerError(error) = reply {
                let message = error.details().unwrap_or_default();
                let fault = Fault::Refused(ServerError::new(error.code(), message));
                return Err(Failure::from_fault(fault, name));
            }
        }
        Ok(connection)
    }
}

/// What is said to a new connection.
///
/// TLS shakes hands with the first bytes that are written. A PING has it do so while the
/// connection is made, where a refusal means that nothing was done.
fn greetings(settings: &redis::RedisConnectionInfo, tls: bool) -> Vec<(&'static str, redis::Cmd)> {
    let mut greetings = Vec::new();
    if let Some(password) = settings.password() {
        let mut auth = redis::cmd("AUTH");
        if let Some(user) = settings.username() {
            auth.arg(user);
        }
        auth.arg(password);
        greetings.push(("AUTH", auth));
    } else if tls {
        greetings.push(("PING", redis::cmd("PING")));
    }
    if settings.db() != 0 {
        let mut select = redis::cmd("SELECT");
        select.arg(settings.db());
        greetings.push(("SELECT", select));
    }
    greetings
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

/// Has rustls use ring, unless the program has chosen something else. Without a choice it
/// panics at the first connection.
#[cfg(feature = "tls")]
fn choose_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The scheme of a URL. Of one that cannot be read nothing else is known to be no secret.
fn redacted(url: &str) -> String {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    match scheme.filter(|scheme| {
        scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '+')
    }) {
        Some(scheme) => format!("\"{scheme}://..\""),
        None => "\"..\"".to_owned(),
    }
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
            "redis://:hunter2?x@localhost:99999",
            "ftp://user:hunter2",
        ] {
            let error = Endpoint::parse(url).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("ter2"), "{url}");
        }
    }
}
