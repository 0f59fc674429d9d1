package leasehold.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Another process that takes locks as it is told.
 *
 * <p>A line of input is {@code <thread> <verb> <argument>..}. Each thread named has its own, and does
 * what it is told in that order. A line of output is {@code <thread> <began> <ended> <answer>}, both
 * times in ns by CLOCK_MONOTONIC, which all processes of a machine share. The first line says who
 * this is. The end of input is the end of the process, as abrupt as by a kill.
 */
public final class Neighbour {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private Neighbour() {}

    public static void main(String[] args) throws IOException {
        Locks locks = switch (args[0]) {
            case "redisson" -> new RedissonLocks(args[1], Integer.parseInt(args[2]), Long.parseLong(args[3]));
            case "classic" -> new ClassicLocks(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
            default -> throw new IllegalArgumentException(args[0]);
        };
        OUT.println("ready " + locks.version());
        Map<String, ExecutorService> threads = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            threads.computeIfAbsent(words[0], name -> Executors.newSingleThreadExecutor())
                    .execute(() -> answer(locks, words));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(Locks locks, String[] words) {
        long began = System.nanoTime();
        String answer;
        try {
            answer = locks.answer(words[1], Arrays.copyOfRange(words, 2, words.length));
        } catch (Exception | LinkageError failure) {
            answer = "error " + failure;
        }
        OUT.println(words[0] + " " + began + " " + System.nanoTime() + " " + answer.replace('\n', ' '));
    }
}
