//! Two ways of locking by PostgreSQL, as they are commonly done.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use postgres::{Client, NoTls};

use crate::text;
use crate::worker::{Contender, Kind};

/// How long a thread waits before it looks again whether a row is gone.
const PAUSE: Duration = Duration::from_millis(10);

fn connect(at: &str) -> Client {
    Client::connect(at, NoTls).expect("the server answers")
}

/// Makes the tables, once; several processes may come at the same time.
fn prepare(at: &str) {
    let made = connect(at).batch_execute(
        "SELECT pg_advisory_lock(1); \
         CREATE TABLE IF NOT EXISTS holders (name text PRIMARY KEY, holder text, until timestamptz); \
         CREATE TABLE IF NOT EXISTS names (name text PRIMARY KEY);",
    );
    made.expect("the tables can be made");
}

/// A row that is there while somebody holds: INSERT takes, DELETE gives back.
pub struct Rows(String);

impl Rows {
    pub fn new(at: &str) -> Rows {
        prepare(at);
        Rows(at.to_owned())
    }
}

impl Kind for Rows {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Row(connect(&self.0)))
    }

    fn settings(&self) -> String {
        "INSERT .. ON CONFLICT, every 10 ms. Survives a restart of the server and of the network; a \
         holder that dies stays until its row's time has passed"
            .to_owned()
    }
}

struct Row(Client);

impl Contender for Row {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let take = "INSERT INTO holders VALUES ($1, $2, now() + interval '30 s') \
                    ON CONFLICT (name) DO UPDATE SET holder = $2, until = now() + interval '30 s' \
                    WHERE holders.until < now()";
        let me = format!("{}-{:?}", std::process::id(), thread::current().id());
        let take = self.0.prepare(take).map_err(text)?;
        while self.0.execute(&take, &[&name, &me]).map_err(text)? == 0 {
            thread::sleep(PAUSE);
        }
        inside();
        let give = "DELETE FROM holders WHERE name = $1 AND holder = $2";
        match self.0.execute(give, &[&name, &me]).map_err(text)? {
            1 => Ok(()),
            _ => Err("the row was gone".to_owned()),
        }
    }
}

/// A row that is locked while its transaction lasts.
pub struct ForUpdate(String);

impl ForUpdate {
    pub fn new(at: &str) -> ForUpdate {
        prepare(at);
        ForUpdate(at.to_owned())
    }
}

impl Kind for ForUpdate {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Transaction {
            client: connect(&self.0),
            known: HashSet::new(),
        })
    }

    fn settings(&self) -> String {
        "SELECT .. FOR UPDATE in a transaction. Waiters stand in a line; a holder that dies lets go \
         at once, one that is cut off when the server notices. Has no lease, and a connection each \
         for holders and waiters"
            .to_owned()
    }
}

struct Transaction {
    client: Client,
    known: HashSet<String>,
}

impl Contender for Transaction {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        if self.known.insert(name.to_owned()) {
            let row = "INSERT INTO names VALUES ($1) ON CONFLICT DO NOTHING";
            self.client.execute(row, &[&name]).map_err(text)?;
        }
        let mut transaction = self.client.transaction().map_err(text)?;
        let row = "SELECT name FROM names WHERE name = $1 FOR UPDATE";
        transaction.query_one(row, &[&name]).map_err(text)?;
        inside();
        transaction.commit().map_err(text)
    }
}
