//! Several servers that know nothing of each other, a majority of which decides.
//!
//! The promises of locks are run over such servers by `conformance`. What is here is their own: how
//! long they take, what they leave, what they survive, and where the uptime rule is needed.

mod common;
mod ground;

mod redlock {
    mod costs;
    mod faults;
    mod fences;
    mod refused;
    mod residue;
    mod restart;
    mod votes;
}
