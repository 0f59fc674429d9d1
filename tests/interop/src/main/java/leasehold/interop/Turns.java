package leasehold.interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Takes the same lock again and again, to count in a file that nothing else guards. */
final class Turns {
    /** One acquisition; false where the wait ran out. */
    interface Acquire {
        boolean run() throws Exception;
    }

    interface Release {
        void run() throws Exception;
    }

    private Turns() {}

    /**
     * Does {@code turns <name> <file> <span> <abandon> <hold> <pause>}, times in ms: holds so long
     * and pauses so long. Where {@code abandon} is not 0, each so many-th hold is not released.
     * Answers {@code <turns> <longest>}: how often one was added, and the longest hold that was
     * released, in ms.
     */
    static String take(String[] args, Acquire acquire, Release release) throws Exception {
        Path file = Path.of(args[1]);
        Duration span = Duration.ofMillis(Long.parseLong(args[2]));
        int abandon = Integer.parseInt(args[3]);
        long holdMs = Long.parseLong(args[4]);
        long pauseMs = Long.parseLong(args[5]);
        long until = System.nanoTime() + span.toNanos();
        long longest = 0;
        int turns = 0;
        while (System.nanoTime() < until) {
            long asked = System.nanoTime();
            if (!acquire.run()) {
                long waited = Duration.ofNanos(System.nanoTime() - asked).toMillis();
                throw new IllegalStateException("no turn for " + waited + " ms, after " + turns);
            }
            long got = System.nanoTime();
            addOne(file, holdMs);
            turns++;
            if (abandon == 0 || turns % abandon != 0) {
                release.run();
                longest = Math.max(longest, System.nanoTime() - got);
            }
            Thread.sleep(pauseMs);
        }
        return turns + " " + Duration.ofNanos(longest).toMillis();
    }

    private static void addOne(Path file, long holdMs) throws IOException, InterruptedException {
        long read = Long.parseLong(Files.readString(file));
        Thread.sleep(holdMs);
        Files.writeString(file, Long.toString(read + 1));
    }
}
