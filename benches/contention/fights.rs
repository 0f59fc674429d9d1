//! Processes and threads that want the same locks.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::args::{Args, Rival};
use crate::kinds::{BASELINES, WAITING};
use crate::player::Player;
use crate::record::{Record, Records};
use crate::support::harness::Server;
use crate::support::harness::process::Scratch;
use crate::support::rows::{ROWS, Servers};
use crate::worker::Stage;

/// Who fights whom for what.
#[derive(Debug, Clone, Copy)]
struct Scene {
    id: &'static str,
    processes: u32,
    threads: u32, // of all processes together
    names: u64,
    hold_us: u64,
    /// Whether who has been inside asks again only after another was: hand-overs, and no luck of
    /// who has just released.
    turns: bool,
    millis: u64,
}

/// The cases. A new one is a line here.
const SCENES: [Scene; 4] = [
    Scene::new("handover", 2, 2, 1, 1_000).in_turns(),
    Scene::new("crowd", 5, 50, 1, 200),
    Scene::new("threads", 1, 8, 1, 200).in_turns(),
    Scene::new("names", 4, 16, 8, 1_000),
];

impl Scene {
    const fn new(id: &'static str, processes: u32, threads: u32, names: u64, hold_us: u64) -> Self {
        Self {
            id,
            processes,
            threads,
            names,
            hold_us,
            turns: false,
            millis: 0,
        }
    }

    const fn in_turns(self) -> Self {
        Self {
            turns: true,
            ..self
        }
    }

    fn lasting(self, millis: u64) -> Self {
        Self { millis, ..self }
    }

    /// How many threads the process of that number has: as many as any other, or one more.
    fn threads_of(&self, process: u32) -> u32 {
        self.threads / self.processes + u32::from(process < self.threads % self.processes)
    }
}

/// One who fights.
struct Fighter<'a> {
    id: String,
    title: String,
    kind: &'static str,
    waiting: String,
    crosses: bool,
    server: &'a Server,
    rival: Option<Rival>,
}

impl Fighter<'_> {
    fn start(&self) -> Player {
        match &self.rival {
            Some(rival) => Player::rival(rival, &self.server.url()),
            None => Player::ours(&self.id, &self.server.url()),
        }
    }
}

/// Everybody who fights.
pub struct Field<'a>(Vec<Fighter<'a>>);

impl<'a> Field<'a> {
    /// All strategies, `Token` in every way of waiting, the baselines and the rivals.
    pub fn new(servers: &'a Servers, rivals: Vec<Rival>) -> Field<'a> {
        let mut fighters = Vec::new();
        for row in &ROWS {
            let Some(server) = servers.of(row) else {
                continue;
            };
            let ways = if row.id == "token" {
                &WAITING[..]
            } else {
                &WAITING[..1]
            };
            fighters.extend(ways.iter().map(|waiting| Fighter {
                id: format!("{}@{}", row.id, waiting.id),
                title: row.title.to_owned(),
                kind: "strategy",
                waiting: waiting.title.to_owned(),
                crosses: true,
                server,
                rival: None,
            }));
        }
        fighters.extend(BASELINES.iter().map(|baseline| Fighter {
            id: baseline.id.to_owned(),
            title: baseline.title.to_owned(),
            kind: "baseline",
            waiting: baseline.waiting.to_owned(),
            crosses: baseline.crosses,
            server: servers.found(),
            rival: None,
        }));
        fighters.extend(rivals.into_iter().map(|rival| Fighter {
            id: rival.id.clone(),
            title: rival.title.clone(),
            kind: "rival",
            waiting: "its own way".to_owned(),
            crosses: true,
            server: servers.found(),
            rival: Some(rival),
        }));
        Field(fighters)
    }

    /// Everybody in every case.
    pub fn fights(&self, records: &mut Records, args: &Args) {
        for scene in SCENES.map(|scene| scene.lasting(args.pick(500, 3_000))) {
            for fighter in self.fit_for(scene) {
                fight(records, "fight", fighter, scene);
            }
        }
    }

    /// From 1 waiter to 64.
    pub fn waiters(&self, records: &mut Records, args: &Args) {
        let growth = args.pick(&[1, 4, 16, 64][..], &[1, 2, 4, 8, 16, 32, 64]);
        for &waiters in growth {
            let threads = waiters + 1;
            let scene = Scene::new("waiters", threads.min(4), threads, 1, 200);
            let scene = scene.in_turns().lasting(args.pick(400, 2_000));
            for fighter in self.fit_for(scene).filter(|fighter| grows(fighter)) {
                fight(records, "waiters", fighter, scene);
            }
        }
    }

    /// From 1 name to 10,000.
    pub fn names(&self, records: &mut Records, args: &Args) {
        for names in [1, 10, 100, 1_000, 10_000] {
            let scene = Scene::new("names", 4, 16, names, 0).lasting(args.pick(400, 2_000));
            for fighter in self.fit_for(scene).filter(|fighter| grows(fighter)) {
                fight(records, "names", fighter, scene);
            }
        }
    }

    fn fit_for(&self, scene: Scene) -> impl Iterator<Item = &Fighter<'a>> {
        let fits = move |fighter: &&Fighter<'a>| {
            fighter.crosses || (scene.processes == 1 && scene.names == 1)
        };
        self.0.iter().filter(fits)
    }
}

/// Whether it is measured in growing crowds: other strategies wait as `Token` does.
fn grows(fighter: &Fighter<'_>) -> bool {
    fighter.kind != "strategy" || fighter.id.starts_with("token@")
}

fn fight(records: &mut Records, table: &str, fighter: &Fighter<'_>, scene: Scene) {
    let Scene {
        processes, threads, ..
    } = scene;
    let what = format!(
        "{table}: {} with {threads} threads in {processes}",
        fighter.title
    );
    records.progress(&what);
    let record = Record::new(table)
        .shown("scene", scene.id)
        .shown("id", &fighter.id)
        .text("title", &fighter.title)
        .text("kind", fighter.kind)
        .text("waiting", &fighter.waiting)
        .figure("processes", f64::from(processes))
        .told("threads", f64::from(threads))
        .told("names", scene.names as f64)
        .figure("hold_us", scene.hold_us as f64)
        .figure("turns", f64::from(u8::from(scene.turns)))
        .figure("seconds", scene.millis as f64 / 1e3);
    let record = match brawl(fighter, scene) {
        Ok(outcome) => outcome.record(record, scene),
        Err(fault) => Outcome::default().record(record.text("fault", &fault), scene),
    };
    records.add(&record);
}

/// What came of a fight.
struct Outcome {
    counts: Vec<f64>,
    longest_ns: f64,
    waits: Histogram<u64>,
    handovers: Histogram<u64>,
    late: f64,
    vain: Option<f64>,
    client_cpu_ns: f64,
    server: Usage,
    missed: i64,
    faults: Vec<String>,
}

impl Default for Outcome {
    fn default() -> Outcome {
        let times = || Histogram::new(3).expect("three digits are possible");
        Outcome {
            counts: Vec::new(),
            longest_ns: 0.0,
            waits: times(),
            handovers: times(),
            late: 0.0,
            vain: None,
            client_cpu_ns: 0.0,
            server: Usage::default(),
            missed: 0,
            faults: Vec::new(),
        }
    }
}

fn brawl(fighter: &Fighter<'_>, scene: Scene) -> Result<Outcome, String> {
    let dir = Scratch::new();
    let path = dir.path().join("stage");
    let stage = Stage::create(&path, scene.names).map_err(|error| error.to_string())?;
    let _: String = fighter.server.command(&["FLUSHALL"]);
    let mut players: Vec<_> = (0..scene.processes).map(|_| fighter.start()).collect();
    for (number, player) in (0..).zip(&mut players) {
        player.tell(&format!(
            "fight {} {} {} {} {} {}",
            path.display(),
            scene.names,
            scene.threads_of(number),
            scene.hold_us,
            u8::from(scene.turns),
            scene.millis
        ));
    }
    for player in &mut players {
        let said = player.hear()?;
        if said != "ready" {
            return Err(format!("it said {said:?}"));
        }
    }
    let before = Usage::of(fighter.server);
    for player in &mut players {
        player.tell("go");
    }
    let mut outcome = Outcome::default();
    for player in &mut players {
        outcome.collect(player)?;
    }
    outcome.server = Usage::of(fighter.server).since(before);
    let entered: u64 = (0..scene.names).map(|name| stage.read(name).0).sum();
    let counted: f64 = outcome.counts.iter().sum();
    #[allow(clippy::cast_possible_truncation, reason = "counts of seconds")]
    let counted = counted as i64;
    outcome.missed = counted - i64::try_from(entered).unwrap_or(i64::MAX);
    Ok(outcome)
}

impl Outcome {
    /// Takes in what a process says, until it is done.
    fn collect(&mut self, player: &mut Player) -> Result<(), String> {
        loop {
            let line = match player.hear() {
                Ok(line) => line,
                Err(fault) if fault == "it is gone" => return Err(fault),
                Err(fault) => {
                    self.faults.push(fault);
                    continue;
                }
            };
            let words: Vec<_> = line.split(' ').collect();
            let number = |word: &str| word.parse::<u64>().unwrap_or(0);
            match words[..] {
                ["thread", count, longest] => {
                    self.counts.push(number(count) as f64);
                    self.longest_ns = self.longest_ns.max(number(longest) as f64);
                }
                ["wait", ns, times] => add(&mut self.waits, number(ns), number(times)),
                ["handover", ns, times] => add(&mut self.handovers, number(ns), number(times)),
                ["late", times] => self.late += number(times) as f64,
                ["cpu", ns] => self.client_cpu_ns += number(ns) as f64,
                ["vain", times] => *self.vain.get_or_insert(0.0) += number(times) as f64,
                ["done"] => return Ok(()),
                _ => return Err(format!("it said {line:?}")),
            }
        }
    }

    fn check(&self) -> String {
        if self.counts.is_empty() {
            "failed: it did not come to a fight".to_owned()
        } else if self.missed != 0 {
            format!("failed: {} updates were lost", self.missed)
        } else if let Some(fault) = self.faults.first() {
            format!("failed: {fault}")
        } else {
            "passed".to_owned()
        }
    }

    fn record(&self, record: Record, scene: Scene) -> Record {
        let count: f64 = self.counts.iter().sum();
        let all = count + self.late; // who came late has cost as much
        let some = |times: &Histogram<u64>, value: u64| (!times.is_empty()).then_some(value as f64);
        let handover = |share| some(&self.handovers, self.handovers.value_at_quantile(share));
        let wait = |share| some(&self.waits, self.waits.value_at_quantile(share));
        let asked = self.server.reads > 0.0; // some locks are not at this server
        let us = |ns: Option<f64>| ns.map(|ns| ns / 1e3);
        let least = self.counts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.counts.iter().copied().fold(0.0, f64::max);
        let squares: f64 = self.counts.iter().map(|count| count * count).sum();
        record
            .figure("acquisitions", count)
            .told("per_s", count / (scene.millis as f64 / 1e3))
            .figure("handovers", self.handovers.len() as f64)
            .figure("handover_p10_us", us(handover(0.1)))
            .told("handover_p50_us", us(handover(0.5)))
            .figure("handover_p90_us", us(handover(0.9)))
            .told("handover_p99_us", us(handover(0.99)))
            .figure(
                "handover_max_us",
                us(some(&self.handovers, self.handovers.max())),
            )
            .figure("wait_p50_us", us(wait(0.5)))
            .figure("wait_p99_us", us(wait(0.99)))
            .figure("longest_wait_ms", self.longest_ns / 1e6)
            .told("commands", asked.then_some(self.server.reads / all))
            .figure("vain", self.vain.map(|vain| vain / all))
            .figure("server_cpu_us", asked.then_some(self.server.cpu_us / all))
            // To watch for one's turn costs more than the lock does.
            .figure(
                "client_cpu_us",
                (!scene.turns).then_some(self.client_cpu_ns / 1e3 / all),
            )
            .figure("least", least)
            .figure("most", most)
            // 1 where all had as many, 1/n where one had all (Jain's index).
            .figure(
                "fairness",
                count * count / (self.counts.len() as f64 * squares),
            )
            .figure("lost_updates", self.missed as f64)
            .shown("check", &self.check())
    }
}

fn add(times: &mut Histogram<u64>, value: u64, count: u64) {
    times
        .record_n(value, count)
        .expect("the histogram grows with what it is given");
}

/// What a server says of itself.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    /// How often it has read from a client: once a command, unless several are sent at once. It does
    /// not count what scripts call, and costs nothing while it counts, as a monitor would.
    reads: f64,
    cpu_us: f64,
}

impl Usage {
    fn of(server: &Server) -> Usage {
        let info: String = server.command(&["INFO", "everything"]);
        let field = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|value| value.strip_prefix(':')?.trim().parse::<f64>().ok());
            value.unwrap_or(f64::NAN)
        };
        Usage {
            reads: field("total_reads_processed"),
            cpu_us: (field("used_cpu_user") + field("used_cpu_sys")) * 1e6,
        }
    }

    /// The difference, but for the reads of the harness: its question, and the end of its
    /// connection.
    fn since(self, before: Usage) -> Usage {
        Usage {
            reads: (self.reads - before.reads - 2.0).max(0.0),
            cpu_us: self.cpu_us - before.cpu_us,
        }
    }
}

/// That counting reads is counting commands, on this server.
pub fn calibrate(server: &Server) {
    let mut connection = server.connection();
    let _: Usage = Usage::of(server);
    let began = Instant::now();
    loop {
        let before = Usage::of(server);
        for _ in 0..100 {
            let _: String = redis::cmd("PING")
                .query(&mut connection)
                .expect("it answers");
        }
        let reads = Usage::of(server).since(before).reads;
        if (reads - 100.0).abs() < 1.5 {
            return;
        }
        let elapsed = began.elapsed();
        assert!(
            elapsed < Duration::from_secs(5),
            "100 commands are {reads} reads"
        );
    }
}
