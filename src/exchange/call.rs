//! What is sent: a command, or a script by its SHA with its source at hand.

use std::fmt;

/// A Lua script, with the SHA by which a server knows it.
///
/// # Examples
///
/// ```
/// use std::sync::LazyLock;
/// use leasehold::Script;
///
/// static TOUCH: LazyLock<Script> =
///     LazyLock::new(|| Script::new("return redis.call('PEXPIRE', KEYS[1], ARGV[1])"));
/// assert_eq!(TOUCH.sha().len(), 40);
/// ```
pub struct Script {
    source: &'static str,
    sha: String,
}

impl Script {
    /// Makes a script of its source.
    ///
    /// # Examples
    ///
    /// ```
    /// let script = leasehold::Script::new("return 1");
    /// assert_eq!(script.sha(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    /// ```
    pub fn new(source: &'static str) -> Self {
        let sha = redis::Script::new(source).get_hash().to_owned();
        Self { source, sha }
    }

    /// The SHA-1 of the source, in hexadecimal.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Script::new("return 1").sha().len(), 40);
    /// ```
    pub fn sha(&self) -> &str {
        &self.sha
    }

    /// The command that the script calls on line `line`, counted from 1.
    ///
    /// A server that refuses a command inside a script names the line alone.
    fn command_on_line(&self, line: usize) -> Option<&'static str> {
        let text = self.source.lines().nth(line.checked_sub(1)?)?;
        let (_, call) = text.split_once("call('")?;
        call.split_once('\'').map(|(command, _)| command)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Script").field(&self.sha).finish()
    }
}

/// One command, or one call of a script.
///
/// Its `Debug` form names the command and the key and counts the arguments: they may
/// hold what proves a lock to be somebody's.
///
/// # Examples
///
/// ```
/// use leasehold::Call;
///
/// let call = Call::command("SET").arg("orders:42").arg("secret").arg("NX");
/// assert!(!format!("{call:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct Call {
    what: What,
    keys: Vec<Vec<u8>>,
    args: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
enum What {
    Command(&'static str),
    Script(&'static Script),
}

impl Call {
    /// Starts a call of the command `name`.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("GET").arg("orders:42");
    /// # drop(call);
    /// ```
    pub fn command(name: &'static str) -> Self {
        Self::new(What::Command(name))
    }

    /// Starts a call of `script`, sent by its SHA.
    ///
    /// A server that does not know the SHA is sent the source, wherever the call runs.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use leasehold::{Call, Script};
    ///
    /// static GET: LazyLock<Script> =
    ///     LazyLock::new(|| Script::new("return redis.call('GET', KEYS[1])"));
    /// let call = Call::script(&GET).key("orders:42");
    /// # drop(call);
    /// ```
    pub fn script(script: &'static Script) -> Self {
        Self::new(What::Script(script))
    }

    fn new(what: What) -> Self {
        Self {
            what,
            keys: Vec::new(),
            args: Vec::new(),
        }
    }

    /// Adds a key: one of a script's `KEYS`, or an argument of a command.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("GET").key("orders:42");
    /// # drop(call);
    /// ```
    pub fn key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// Adds an argument: one of a script's `ARGV`, or an argument of a command.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("SET").key("orders:42").arg("value");
    /// # drop(call);
    /// ```
    pub fn arg(mut self, arg: impl Into<Vec<u8>>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a whole number as an argument.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("PEXPIRE").key("orders:42").number(30_000_u64);
    /// # drop(call);
    /// ```
    pub fn number(self, number: impl Into<u64>) -> Self {
        self.arg(number.into().to_string())
    }

    /// The command that the server receives.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::Call::command("GET").key("orders:42").name(), "GET");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name_on(None, false)
    }

    /// The script that is called, if one is.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(leasehold::Call::command("GET").key("orders:42").called().is_none());
    /// ```
    pub fn called(&self) -> Option<&'static Script> {
        match self.what {
            What::Command(_) => None,
            What::Script(script) => Some(script),
        }
    }

    /// The keys, in their order.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("GET").key("orders:42");
    /// assert_eq!(call.keys(), [b"orders:42"]);
    /// ```
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// The arguments, in their order, behind the keys.
    ///
    /// # Examples
    ///
    /// ```
    /// let call = leasehold::Call::command("PEXPIRE").key("orders:42").number(5_u64);
    /// assert_eq!(call.args(), [b"5"]);
    /// ```
    pub fn args(&self) -> &[Vec<u8>] {
        &self.args
    }

    /// Appends the call to `out` as the protocol wants it; a script by its SHA, or, where
    /// the server did not know that, by its source.
    pub(crate) fn pack(&self, out: &mut Vec<u8>, by_source: bool) {
        let rest = self.keys.len() + self.args.len();
        match self.what {
            What::Command(name) => {
                header(out, b'*', 1 + rest);
                bulk(out, name.as_bytes());
            }
            What::Script(script) => {
                header(out, b'*', 3 + rest);
                if by_source {
                    bulk(out, b"EVAL");
                    bulk(out, script.source.as_bytes());
                } else {
                    bulk(out, b"EVALSHA");
                    bulk(out, script.sha.as_bytes());
                }
                bulk(out, self.keys.len().to_string().as_bytes());
            }
        }
        for part in self.keys.iter().chain(&self.args) {
            bulk(out, part);
        }
    }

    pub(crate) fn is_script(&self) -> bool {
        self.called().is_some()
    }

    /// The command that the server receives or, where `line` of a script failed, the one that
    /// is called there.
    pub(crate) fn name_on(&self, line: Option<usize>, by_source: bool) -> &'static str {
        match self.what {
            What::Command(name) => name,
            What::Script(script) => line
                .and_then(|line| script.command_on_line(line))
                .unwrap_or(if by_source { "EVAL" } else { "EVALSHA" }),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        match self.what {
            What::Command(name) => call.field("command", &name),
            What::Script(script) => call.field("script", &script.sha),
        };
        if let Some(key) = self.keys.first() {
            call.field("key", &key.escape_ascii().to_string());
        }
        call.field("args", &self.args.len()).finish()
    }
}

fn header(out: &mut Vec<u8>, kind: u8, count: usize) {
    out.push(kind);
    out.extend_from_slice(count.to_string().as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    header(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    static SCRIPT: LazyLock<Script> =
        LazyLock::new(|| Script::new("-- a line\nreturn redis.call('GET', KEYS[1])\n"));

    fn packed(call: &Call, by_source: bool) -> String {
        let mut out = Vec::new();
        call.pack(&mut out, by_source);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_command_is_an_array_of_bulks() {
        let call = Call::command("GET").key("k");
        assert_eq!(packed(&call, false), "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    }

    #[test]
    fn a_script_goes_by_its_sha_or_by_its_source() {
        let call = Call::script(&SCRIPT).key("k").number(7_u64);
        let by_sha = packed(&call, false);
        assert!(by_sha.starts_with("*5\r\n$7\r\nEVALSHA\r\n$40\r\n"));
        assert!(by_sha.ends_with("$1\r\n1\r\n$1\r\nk\r\n$1\r\n7\r\n"));
        assert!(packed(&call, true).starts_with("*5\r\n$4\r\nEVAL\r\n$44\r\n-- a line"));
    }

    #[test]
    fn a_refused_line_names_its_command() {
        assert_eq!(Call::script(&SCRIPT).name_on(Some(2), false), "GET");
        assert_eq!(Call::script(&SCRIPT).name_on(Some(1), true), "EVAL");
        assert_eq!(Call::script(&SCRIPT).name_on(Some(0), false), "EVALSHA");
        assert_eq!(Call::script(&SCRIPT).name_on(None, false), "EVALSHA");
    }
}
