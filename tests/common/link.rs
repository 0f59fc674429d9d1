//! One connection through a [`Proxy`](super::proxy::Proxy).

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::Instant,
};

use parking_lot::Mutex;

use super::{
    faults::{Fate, Gate},
    frames::{Dialogue, Frames, Message, Way},
    proxy::{Shared, State, spawn},
};

/// A client's connection to the proxy and the one to the server that belongs to it.
#[derive(Debug)]
pub(super) struct Link {
    client: Wire,
    server: Wire,
    dialogue: Mutex<Dialogue>,
    /// Set before the last message is delivered: whatever that one brings about, a reply or another
    /// request, finds the connection closed, however fast it is.
    severed: AtomicBool,
}

/// A message, and what is to become of it when.
struct Parcel {
    bytes: Vec<u8>,
    message: Message,
    fate: Fate,
    due: Instant,
}

impl Link {
    pub(super) fn new(client: Wire, server: Wire) -> io::Result<Arc<Link>> {
        client.send_at_once()?;
        server.send_at_once()?;
        Ok(Arc::new(Link {
            client,
            server,
            dialogue: Mutex::default(),
            severed: AtomicBool::new(false),
        }))
    }

    /// Starts the threads that carry messages, two for each way: while one waits for a message's
    /// time to come, the other takes the next, so that two that come together also go together.
    pub(super) fn run(self: &Arc<Self>, shared: &Arc<Shared>) -> Vec<JoinHandle<()>> {
        let mut threads = Vec::new();
        for way in [Way::Request, Way::Reply] {
            let (sender, queue) = channel();
            let (link, told) = (Arc::clone(self), Arc::clone(shared));
            threads.push(spawn("proxy-read", move || link.read(&told, way, &sender)));
            let (link, told) = (Arc::clone(self), Arc::clone(shared));
            threads.push(spawn("proxy-write", move || link.write(&told, way, queue)));
        }
        threads
    }

    pub(super) fn cut(&self) {
        self.sever();
        self.client.shutdown(Shutdown::Both);
        self.server.shutdown(Shutdown::Both);
    }

    fn read(&self, shared: &Shared, way: Way, sender: &Sender<Parcel>) {
        let mut frames = Frames::of(self.ends(way).0);
        while let Some(bytes) = frames.next() {
            if self.is_severed() {
                return;
            }
            let message = match way {
                Way::Request => Dialogue::request(&bytes),
                Way::Reply => self.dialogue.lock().reply(&bytes),
            };
            let (fate, due) = shared.judge(&message);
            let parcel = Parcel {
                bytes,
                message,
                fate,
                due,
            };
            if sender.send(parcel).is_err() {
                return;
            }
        }
    }

    fn write(&self, shared: &Shared, way: Way, queue: Receiver<Parcel>) {
        for parcel in queue {
            if !self.carry(shared, parcel) {
                self.cut();
                return;
            }
        }
        match way {
            // The client has closed; the server learns it after what the client has sent.
            Way::Request => self.server.shutdown(Shutdown::Write),
            Way::Reply => self.client.shutdown(Shutdown::Both),
        }
    }

    /// Delivers a message, or not; `false` if the connection ends with it.
    fn carry(&self, shared: &Shared, parcel: Parcel) -> bool {
        let Parcel {
            bytes,
            message,
            fate,
            due,
        } = parcel;
        let due = if let Fate::Delay(delay) = fate {
            due + delay
        } else {
            due
        };
        if shared.wait_or_end(Some(due), |_| false) || self.is_severed() {
            return false;
        }
        match fate {
            Fate::Lose => return true,
            Fate::CutBefore => return false,
            Fate::CutWithin(length) => {
                self.sever();
                self.deliver(message.way, &bytes[..length.min(bytes.len())]);
                return false;
            }
            Fate::Hold(gate) => {
                shared.change(|state| state.gates[gate] = Gate::Caught(message.clone()));
                let opened = |state: &State| state.gates[gate] == Gate::Opened;
                if shared.wait_or_end(None, opened) || self.is_severed() {
                    return false;
                }
            }
            Fate::CutAfter => self.sever(),
            Fate::Pass | Fate::Delay(_) => {}
        }
        if message.way == Way::Request {
            self.dialogue.lock().sent(&message);
        }
        self.deliver(message.way, &bytes);
        if let Fate::Hold(gate) = fate {
            shared.change(|state| state.gates[gate] = Gate::Delivered);
        }
        fate != Fate::CutAfter
    }

    fn sever(&self) {
        self.severed.store(true, Ordering::SeqCst);
    }

    fn is_severed(&self) -> bool {
        self.severed.load(Ordering::SeqCst)
    }

    /// Who is gone gets nothing; the other way notices by itself.
    fn deliver(&self, way: Way, bytes: &[u8]) {
        let _ = self.ends(way).1.send(bytes);
    }

    fn ends(&self, way: Way) -> (&Wire, &Wire) {
        match way {
            Way::Request => (&self.client, &self.server),
            Way::Reply => (&self.server, &self.client),
        }
    }
}

/// One end.
#[derive(Debug)]
pub(super) enum Wire {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Wire {
    fn send_at_once(&self) -> io::Result<()> {
        match self {
            Wire::Tcp(stream) => stream.set_nodelay(true),
            Wire::Unix(_) => Ok(()),
        }
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Wire::Tcp(stream) => (&mut &*stream).write_all(bytes),
            Wire::Unix(stream) => (&mut &*stream).write_all(bytes),
        }
    }

    fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Wire::Tcp(stream) => stream.shutdown(how),
            Wire::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl Read for &Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Tcp(stream) => (&mut &*stream).read(buffer),
            Wire::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}
