// What the examples in the documentation begin with, unseen: `include!` it, and `server()` is
// the URL of a private, empty server that ends with the example's process.

#[path = "mod.rs"]
mod common;

fn server() -> String {
    let server = common::Server::start();
    let url = server.url();
    std::mem::forget(server); // its reaper outlives this process, and nothing outlives that
    url
}
