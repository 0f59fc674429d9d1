"""Another process that takes locks of redis-py as it is told.

It speaks as Neighbour.java does: `<thread> <verb> <argument>..` in, `<thread> <began> <ended> <answer>`
out, both times in ns by CLOCK_MONOTONIC. The first line says who this is.

    neighbour.py HOST PORT
"""

import os
import queue
import sys
import threading
import time

import redis
from redis.exceptions import LockError

TURN_WITHIN_S = 10
TURN_LEASE_S = 5
STDOUT = threading.Lock()


class Locks:
    """What one thread can be asked to do."""

    def __init__(self, client):
        self.client = client
        self.locks = {}

    def answer(self, verb, name, *args):
        return getattr(self, verb)(name, *args)

    def tryLock(self, name, wait_ms, lease_ms):  # noqa: N802, the verbs are those of Neighbour.java
        lock = self.client.lock(name, timeout=int(lease_ms) / 1000)
        if not lock.acquire(blocking_timeout=int(wait_ms) / 1000):
            return "false"
        self.locks[name] = lock
        return "true"

    def unlock(self, name):
        self.locks[name].release()
        return "unlocked"

    def extend(self, name, lease_ms):
        self.locks[name].extend(int(lease_ms) / 1000, replace_ttl=True)
        return "extended"

    def isMine(self, name):  # noqa: N802
        return "true" if self.locks[name].owned() else "false"

    def turns(self, name, file, span_ms, abandon, hold_ms, pause_ms):
        lock = self.client.lock(name, timeout=TURN_LEASE_S, blocking_timeout=TURN_WITHIN_S)
        until = time.monotonic_ns() + int(span_ms) * 1_000_000
        turns = longest = 0
        while time.monotonic_ns() < until:
            if not lock.acquire():
                raise TimeoutError(f"no turn for {TURN_WITHIN_S} s, after {turns}")
            got = time.monotonic_ns()
            add_one(file, int(hold_ms))
            turns += 1
            if int(abandon) == 0 or turns % int(abandon) != 0:
                lock.release()
                longest = max(longest, time.monotonic_ns() - got)
            time.sleep(int(pause_ms) / 1000)
        return f"{turns} {longest // 1_000_000}"


def add_one(file, hold_ms):
    with open(file) as counter:
        read = int(counter.read())
    time.sleep(hold_ms / 1000)
    with open(file, "w") as counter:
        counter.write(str(read + 1))


def work(thread, tasks, client):
    locks = Locks(client)
    while True:
        words = tasks.get()
        began = time.monotonic_ns()
        try:
            answer = locks.answer(*words)
        except (LockError, redis.RedisError, OSError, ValueError, KeyError) as failure:
            answer = f"error {type(failure).__name__}: {failure}"
        say(f"{thread} {began} {time.monotonic_ns()} {answer}")


def say(line):
    with STDOUT:
        print(line, flush=True)


def main(host, port):
    client = redis.Redis(host=host, port=int(port))
    client.ping()
    say(f"ready redis-py {redis.__version__}")
    threads = {}
    for line in sys.stdin:
        thread, *words = line.split()
        if thread not in threads:
            threads[thread] = queue.Queue()
            threading.Thread(
                target=work, args=(thread, threads[thread], client), daemon=True
            ).start()
        threads[thread].put(words)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
