//! What the targets share: any reply, and every strategy.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use arbitrary::Arbitrary;
use leasehold::strategy::{
    Attempt, Claim, Dialect, Hold, Holder, Kept, Left, LockStrategy, Reentrant, Timestamp, Token,
};
use leasehold::{
    Answer, Client, Exchange, Fault, LeaseTime, Name, Reply, ServerError, Step, WallTime,
};

/// A reply of whatever shape.
#[derive(Arbitrary, Debug)]
pub enum Any {
    Nil,
    Int(i64),
    Small(i8),
    Bytes(Vec<u8>),
    Digits(u64),
    Owner([u8; 16], u64),
    Status(String),
    Array(Vec<Any>),
    Error(String, String),
}

impl From<Any> for Reply {
    fn from(any: Any) -> Self {
        match any {
            Any::Nil => Self::Nil,
            Any::Int(number) => Self::Int(number),
            Any::Small(number) => Self::Int(number.into()),
            Any::Bytes(bytes) => Self::Bytes(bytes),
            Any::Digits(number) => Self::Bytes(number.to_string().into_bytes()),
            Any::Owner(client, number) => Self::Bytes(owner(client, number).into_bytes()),
            Any::Status(text) => Self::Status(text),
            Any::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Any::Error(code, message) => Self::Error(ServerError::new(code, message)),
        }
    }
}

fn owner(client: [u8; 16], number: u64) -> String {
    let hex: String = client.iter().map(|byte| format!("{byte:02x}")).collect();
    let dashed = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-");
    format!("{dashed}:{number}")
}

/// What the server says to the questions of one exchange, each at some time.
#[derive(Arbitrary, Debug)]
pub struct Script {
    pub strategy: u8,
    pub replies: Vec<(u32, Any)>,
}

impl Script {
    /// Answers the questions of `exchange` in their order; `None` where it asks more than there are
    /// answers.
    pub fn run<T>(self, mut exchange: Exchange<T>) -> Option<Result<T, Fault>> {
        for (second, reply) in self.replies {
            let at = WallTime::from_epoch(Duration::from_secs(second.into()));
            // Whoever runs it looks at the question, too.
            drop(format!("{:?} {}", exchange.call(), exchange.call().name()));
            match exchange.answer(Answer::new(reply.into(), at)) {
                Ok(Step::Done(result)) => return Some(Ok(result)),
                Ok(Step::Ask(next)) => exchange = next,
                Err(fault) => {
                    drop(fault.to_string());
                    return Some(Err(fault));
                }
            }
        }
        None
    }

    /// The strategy that is asked.
    pub fn strategy(&self) -> &'static dyn LockStrategy {
        let all = &*STRATEGIES;
        &*all[usize::from(self.strategy) % all.len()]
    }
}

static STRATEGIES: LazyLock<Vec<Box<dyn LockStrategy>>> = LazyLock::new(|| {
    let hour = Duration::from_secs(3_600);
    vec![
        Box::new(Token::default()),
        Box::new(Token::commands()),
        Box::new(Reentrant::default()),
        Box::new(Timestamp::guarded(Dialect::seconds(), hour)),
        Box::new(Timestamp::guarded(Dialect::java_millis(), hour)),
        Box::new(Timestamp::classic(Dialect::seconds())),
        Box::new(Timestamp::classic(Dialect::java_millis())),
    ]
});

pub fn lease() -> LeaseTime {
    LeaseTime::new(Duration::from_secs(30)).expect("it is one")
}

pub fn claim() -> Claim {
    Claim::new(Name::new("lock").expect("it is one"), lease())
}

/// A hold. A client alone makes one: this is what it asks a strategy to release for an operator.
pub fn hold() -> &'static Hold {
    static HOLD: LazyLock<Hold> = LazyLock::new(|| {
        let spy = Spy::default();
        let client = Client::builder("redis://127.0.0.1:1/")
            .strategy(spy.clone())
            .build();
        let lock = client
            .and_then(|client| client.lock("lock"))
            .expect("nothing is sent");
        let _ = lock.force_release(&Holder::of("1369146406"));
        let hold = spy.0.lock().expect("nobody panicked").take();
        hold.expect("it was asked")
    });
    &HOLD
}

#[derive(Clone, Debug, Default)]
struct Spy(Arc<Mutex<Option<Hold>>>);

impl LockStrategy for Spy {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        Token::default().acquire(claim)
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        Token::default().extend(hold, lease)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        *self.0.lock().expect("nobody panicked") = Some(hold.clone());
        Token::default().leave(hold)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        Token::default().inspect(name)
    }
}
