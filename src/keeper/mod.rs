//! What keeps leases honest.

pub(crate) mod validity;
