//! The scripts, each joined of its pieces in `scripts/`. The head of each piece names its
//! keys, its arguments and every answer it can give.

use std::sync::LazyLock;

use crate::exchange::Script;

macro_rules! scripts {
    ($($name:ident = $($piece:literal)+;)+) => {$(
        pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(concat!($(include_str!(concat!("scripts/", $piece, ".lua"))),+))
        });
    )+};
}

scripts! {
    TOKEN_ACQUIRE = "prelude" "fence" "token_acquire";
    TOKEN_EXTEND = "prelude" "fence" "token_extend";
    TOKEN_LEAVE = "prelude" "token_leave";
    REENTRANT_ACQUIRE = "prelude" "fence" "reentrant_acquire";
    REENTRANT_EXTEND = "prelude" "fence" "reentrant_extend";
    REENTRANT_LEAVE = "prelude" "reentrant_leave";
    STAMP_ACQUIRE = "prelude" "fence" "stamp" "stamp_acquire";
    STAMP_EXTEND = "prelude" "fence" "stamp" "stamp_extend";
    STAMP_LEAVE = "prelude" "stamp" "stamp_leave";
    BRIDGE_MOVE = "prelude" "bridge_move";
    STAMP_SWAP = "stamp_swap";
    STAMP_INSPECT = "prelude" "stamp" "stamp_inspect";
}
