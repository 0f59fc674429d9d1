package leasehold.interop;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** {@code RLock}, of whatever version of Redisson is there. */
final class RedissonLocks implements Locks {
    private static final long TURN_WITHIN_MS = 10_000;

    private final RedissonClient client;

    RedissonLocks(String host, int port, long watchdogMs) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE); // the codec of old versions does not load on Java 17
        config.setThreads(4).setNettyThreads(4);
        config.setLockWatchdogTimeout(watchdogMs);
        config.useSingleServer()
                .setAddress("redis://" + host + ":" + port)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(16)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
        client = Redisson.create(config);
    }

    @Override
    public String version() {
        return "Redisson " + Redisson.class.getPackage().getImplementationVersion();
    }

    @Override
    public String answer(String verb, String[] args) throws Exception {
        RLock lock = client.getLock(args[0]);
        return switch (verb) {
            case "lock" -> {
                lock.lock();
                yield "locked";
            }
            case "tryLock" -> String.valueOf(tryLock(lock, Long.parseLong(args[1]), Long.parseLong(args[2])));
            case "unlock" -> {
                lock.unlock();
                yield "unlocked";
            }
            case "forceUnlock" -> String.valueOf(lock.forceUnlock());
            case "isLocked" -> String.valueOf(lock.isLocked());
            case "isMine" -> String.valueOf(lock.isHeldByCurrentThread());
            case "holdCount" -> String.valueOf(lock.getHoldCount());
            case "remaining" -> String.valueOf(lock.remainTimeToLive());
            case "holders" -> holders(args[0]);
            case "turns" -> Turns.take(args, () -> lock.tryLock(TURN_WITHIN_MS, TimeUnit.MILLISECONDS), lock::unlock);
            default -> throw new IllegalArgumentException(verb);
        };
    }

    /** A lease of 0 is the watchdog's. */
    private static boolean tryLock(RLock lock, long waitMs, long leaseMs) throws InterruptedException {
        return leaseMs == 0
                ? lock.tryLock(waitMs, TimeUnit.MILLISECONDS)
                : lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
    }

    /** The lock's hash, as {@code <owner>=<count>}, sorted. */
    private String holders(String name) {
        Map<String, String> hash = client.<String, String>getMap(name, StringCodec.INSTANCE).readAllMap();
        StringBuilder text = new StringBuilder("holders");
        new TreeMap<>(hash).forEach((owner, count) -> text.append(' ').append(owner).append('=').append(count));
        return text.toString();
    }
}
