"""Python's locks, as the harness of benches/contention.rs drives them: worker.py KIND URL.

What is said and heard stands at the head of benches/worker/mod.rs.
"""

import os
import random
import struct
import sys
import threading
import time

import redis
import redis_lock

PLACE = struct.Struct("=QQ")  # how often it was entered, when the last one began to leave
LEASE = 30


class RedisPy:
    """redis-py's Lock, set up as in its documentation."""

    settings = "timeout 30 s, polls every 100 ms (its default), one client for all threads"

    def __init__(self, url):
        self.client = redis.Redis.from_url(url)

    def lock(self, name):
        return self.client.lock(name, timeout=LEASE)


class PythonRedisLock:
    """python-redis-lock, set up as in its documentation: expiring and renewed."""

    settings = "expire 30 s, auto_renewal; waiters sleep in BLPOP on one signal"

    def __init__(self, url):
        self.client = redis.StrictRedis.from_url(url)

    def lock(self, name):
        return redis_lock.Lock(self.client, name, expire=LEASE, auto_renewal=True)


KINDS = {"redis-py": RedisPy, "python-redis-lock": PythonRedisLock}


def say(*words):
    print(*words, flush=True)


def hear():
    return sys.stdin.readline()


def fault(error):
    return " ".join(f"{type(error).__name__}: {error}".split())


def cycle(kind, name, times):
    took = []
    for _ in range(times):
        began = time.monotonic_ns()
        with kind.lock(name):
            pass
        took.append(time.monotonic_ns() - began)
    took.sort()
    say("batch", took[len(took) // 2], sum(took) // len(took))


def check(kind, name):
    with kind.lock(name):
        say("inside")
        hear()
    say("outside")


class Fight:
    def __init__(self, kind, file, names, hold, turns, millis):
        self.kind = kind
        self.file = os.open(file, os.O_RDWR)
        self.names, self.hold = names, hold / 1e6
        self.turns, self.lasts = turns, millis * 1_000_000
        self.ends = 0
        self.begins = threading.Event()
        self.fates = []
        self.faults = []

    def read(self, name):
        return PLACE.unpack(os.pread(self.file, PLACE.size, name * PLACE.size))

    def write(self, name, count, left):
        os.pwrite(self.file, PLACE.pack(count, left), name * PLACE.size)

    def thread(self, number, ready):
        fate = {"count": 0, "late": 0, "longest": 0, "waits": [], "handovers": []}
        self.fates.append(fate)
        try:
            with self.kind.lock(f"warm-up-{number}"):
                pass
        finally:
            ready.release()
        self.begins.wait()
        try:
            while time.monotonic_ns() < self.ends:
                self.once(fate)
        except Exception as error:  # whatever its lock may raise
            self.faults.append(fault(error))

    def once(self, fate):
        name = random.randrange(self.names)
        asked = time.monotonic_ns()
        entered_as = None
        with self.kind.lock(f"name-{name}"):
            entered = time.monotonic_ns()
            fate["longest"] = max(fate["longest"], entered - asked)
            if entered >= self.ends:
                fate["late"] += 1
                return
            count, left = self.read(name)
            fate["count"] += 1
            fate["waits"].append(entered - asked)
            if asked <= left < entered:
                fate["handovers"].append(entered - left)
            self.write(name, count + 1, left)
            if self.hold:
                time.sleep(self.hold)
            self.write(name, count + 1, time.monotonic_ns())
            entered_as = count + 1
        while self.turns and self.read(name)[0] == entered_as and time.monotonic_ns() < self.ends:
            time.sleep(20e-6)

    def run(self, threads):
        ready = threading.Semaphore(0)
        started = [threading.Thread(target=self.thread, args=(at, ready)) for at in range(threads)]
        for thread in started:
            thread.start()
        for _ in started:
            ready.acquire()
        say("ready")
        hear()
        ran = time.process_time_ns()
        self.ends = time.monotonic_ns() + self.lasts
        self.begins.set()
        for thread in started:
            thread.join()
        ran = time.process_time_ns() - ran
        for error in self.faults:
            say("fault", error)
        for fate in self.fates:
            say("thread", fate["count"], fate["longest"])
            for word, times in (("wait", fate["waits"]), ("handover", fate["handovers"])):
                for ns in times:
                    say(word, ns, 1)
        say("late", sum(fate["late"] for fate in self.fates))
        say("cpu", ran)
        say("done")


def main():
    kind = KINDS[sys.argv[1]](sys.argv[2])
    for line in iter(hear, ""):
        try:
            match line.split():
                case ["cycle", name, times]:
                    cycle(kind, name, int(times))
                case ["check", name]:
                    check(kind, name)
                case ["settings"]:
                    say("settings", kind.settings)
                case ["fight", file, *numbers]:
                    names, threads, hold, turns, millis = map(int, numbers)
                    Fight(kind, file, names, hold, turns, millis).run(threads)
                case _:
                    say("fault what is", repr(line))
        except Exception as error:  # whatever its lock may raise
            say("fault", fault(error))


main()
