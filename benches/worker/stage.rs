//! What the locks guard: numbers in a file that only a holder may change.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A place for each name: how often it was entered, and when the last one began to leave.
#[derive(Debug)]
pub struct Stage(File);

const PLACE: usize = 16;

impl Stage {
    /// Makes an empty one.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn create(path: &Path, names: u64) -> io::Result<Stage> {
        let file = File::create(path)?;
        file.set_len(names * PLACE as u64)?;
        Stage::open(path)
    }

    /// Opens one that another process has made.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn open(path: &Path) -> io::Result<Stage> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Stage(file))
    }

    /// How often that place was entered, and when the last one began to leave it.
    ///
    /// # Panics
    ///
    /// If the file is gone.
    pub fn read(&self, name: u64) -> (u64, u64) {
        let mut place = [0; PLACE];
        let read = self.0.read_exact_at(&mut place, name * PLACE as u64);
        read.expect("the file is there");
        let (entered, left) = place.split_at(PLACE / 2);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
        (number(entered), number(left))
    }

    /// Writes over what was read: what another has written in between is lost, and missed in the
    /// sum.
    ///
    /// # Panics
    ///
    /// If the file is gone.
    pub fn write(&self, name: u64, entered: u64, left: u64) {
        let mut place = [0; PLACE];
        place[..PLACE / 2].copy_from_slice(&entered.to_ne_bytes());
        place[PLACE / 2..].copy_from_slice(&left.to_ne_bytes());
        let written = self.0.write_all_at(&place, name * PLACE as u64);
        written.expect("the file is there");
    }
}
