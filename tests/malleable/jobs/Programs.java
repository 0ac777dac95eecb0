// Java at work until stdin ends: a parallel stream, a fixed pool, and garbage to collect.
import java.util.concurrent.Executors;
import java.util.stream.LongStream;

public class Programs {
    static long round(java.util.concurrent.ExecutorService pool) throws Exception {
        long sum = LongStream.range(0, 2_000_000).parallel().map(i -> i % 7).sum();
        var part = pool.submit(() -> LongStream.range(0, 100_000).mapToObj(Long::toString).count());
        return sum + part.get();
    }

    public static void main(String[] args) throws Exception {
        int processors = Runtime.getRuntime().availableProcessors();
        var pool = Executors.newFixedThreadPool(processors);
        long right = round(pool);
        System.out.println("ready");
        while (System.in.available() == 0) {
            if (round(pool) != right || Runtime.getRuntime().availableProcessors() != processors)
                System.exit(3);
        }
        System.exit(0);
    }
}
