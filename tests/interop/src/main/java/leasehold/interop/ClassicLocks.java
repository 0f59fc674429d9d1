package leasehold.interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import redis.clients.jedis.Jedis;

/** {@link ClassicLock} over Jedis; each thread has its own connection and its own locks. */
final class ClassicLocks implements Locks {
    private static final int TURN_WITHIN_MS = 10_000;

    private final ThreadLocal<Jedis> connection;
    private final ThreadLocal<Map<String, ClassicLock>> locks = ThreadLocal.withInitial(HashMap::new);
    private final int expireMsecs;

    ClassicLocks(String host, int port, int expireMsecs) {
        this.connection = ThreadLocal.withInitial(() -> new Jedis(host, port));
        this.expireMsecs = expireMsecs;
    }

    @Override
    public String version() {
        Properties made = new Properties();
        try (InputStream file = Jedis.class.getResourceAsStream("pom.properties")) {
            made.load(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return "Jedis " + made.getProperty("version");
    }

    @Override
    public String answer(String verb, String[] args) throws Exception {
        Jedis jedis = connection.get();
        ClassicLock lock = locks.get().computeIfAbsent(args[0], key -> new ClassicLock(key, expireMsecs));
        return switch (verb) {
            case "tryLock" -> String.valueOf(lock.acquire(jedis, Integer.parseInt(args[1])));
            case "unlock" -> {
                lock.release(jedis);
                yield "unlocked";
            }
            case "turns" -> Turns.take(args, () -> lock.acquire(jedis, TURN_WITHIN_MS), () -> lock.release(jedis));
            default -> throw new IllegalArgumentException(verb);
        };
    }
}
