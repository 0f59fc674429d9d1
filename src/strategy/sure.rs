//! Bad news is not believed from a replica.

use crate::exchange::{Call, Exchange, Fault, Reply, ServerError, Step};

/// The same exchange, but where its result is `bad`, the server is asked whether it is a
/// primary at all: a replica that has not heard of a lock says "not yours" as a matter of
/// course, and does not refuse to, since its script never comes to a write.
///
/// A server that does not let us ask is believed.
pub(crate) fn sure<T: Send + 'static>(
    exchange: Exchange<T>,
    bad: impl FnOnce(&T) -> bool + Send + 'static,
) -> Exchange<T> {
    exchange.and_then(move |result| {
        if !bad(&result) {
            return Step::Done(result);
        }
        Step::Ask(Exchange::one(Call::command("ROLE"), |reply| {
            if is_replica(reply) {
                Err(Fault::Refused(ServerError::new(
                    "READONLY",
                    "what a replica says of a lock is not believed",
                )))
            } else {
                Ok(result)
            }
        }))
    })
}

fn is_replica(role: Reply) -> bool {
    role.array()
        .ok()
        .and_then(|parts| parts.into_iter().next())
        .is_some_and(|role| role.text().is_ok_and(|role| role == "slave"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_says_so_is_a_replica() {
        let role = |name: &str| Reply::Array(vec![Reply::Bytes(name.into()), Reply::Int(7)]);
        assert!(is_replica(role("slave")));
        assert!(!is_replica(role("master")));
        assert!(!is_replica(Reply::Error(ServerError::new("NOPERM", ""))));
        assert!(!is_replica(Reply::Array(vec![])));
    }
}
