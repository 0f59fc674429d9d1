package leasehold.interop;

import redis.clients.jedis.Jedis;

/**
 * The lock that Java services were given around 2012: the value under the key is the lock's end, in
 * ms; whoever finds one that has passed replaces it by GETSET, and has won where that gives back
 * what GET had read. Its hazards are left as they were.
 */
final class ClassicLock {
    private static final int PAUSE_MSECS = 100;

    private final String key;
    private final int expireMsecs;
    private boolean locked;

    /** {@code expireMsecs} is how long a holder may hold. */
    ClassicLock(String key, int expireMsecs) {
        this.key = key;
        this.expireMsecs = expireMsecs;
    }

    /** Tries until {@code timeoutMsecs} of pauses are used up. */
    boolean acquire(Jedis jedis, int timeoutMsecs) throws InterruptedException {
        for (int left = timeoutMsecs; left >= 0; left -= PAUSE_MSECS) {
            if (tryOnce(jedis)) {
                locked = true;
                return true;
            }
            Thread.sleep(PAUSE_MSECS);
        }
        return false;
    }

    @SuppressWarnings("deprecation") // GETSET is what such classes send
    private boolean tryOnce(Jedis jedis) {
        String end = String.valueOf(System.currentTimeMillis() + expireMsecs + 1);
        if (jedis.setnx(key, end) == 1) {
            return true;
        }
        String read = jedis.get(key);
        if (read == null || Long.parseLong(read) >= System.currentTimeMillis()) {
            return false;
        }
        return read.equals(jedis.getSet(key, end));
    }

    /** Deletes whatever stands there, if the lock was had. */
    void release(Jedis jedis) {
        if (locked) {
            jedis.del(key);
            locked = false;
        }
    }
}
