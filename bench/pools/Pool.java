// The same training as pool.c, on Java's fixed thread pool.
//
//   java Pool.java THREADS SECONDS
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class Pool {
    static final int PARTS = 16, ROWS = 64, COLUMNS = 512;
    static final float[][][] x = new float[PARTS][ROWS][COLUMNS];
    static final float[][] gradient = new float[PARTS][COLUMNS];
    static final float[] w = new float[COLUMNS];

    static Double learn(int part) {
        float[] sum = gradient[part];
        double loss = 0;
        java.util.Arrays.fill(sum, 0);
        for (float[] row : x[part]) {
            float error = -row[0];
            for (int k = 0; k < COLUMNS; k++)
                error += row[k] * w[k];
            for (int k = 0; k < COLUMNS; k++)
                sum[k] += error * row[k];
            loss += error * error;
        }
        return loss;
    }

    static double step(ExecutorService pool, List<Callable<Double>> tasks) throws Exception {
        double loss = 0;
        for (var done : pool.invokeAll(tasks))
            loss += done.get();
        for (float[] part : gradient)
            for (int k = 0; k < COLUMNS; k++)
                w[k] -= 1e-5f * part[k];
        return loss / (PARTS * ROWS);
    }

    static double cpuTime() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[0]));
        double seconds = Double.parseDouble(args[1]), loss = 0;
        List<Callable<Double>> tasks = new ArrayList<>();
        Random random = new Random(1);
        for (int part = 0; part < PARTS; part++) {
            final int mine = part;
            tasks.add(() -> learn(mine));
            for (float[] row : x[part])
                for (int k = 0; k < COLUMNS; k++)
                    row[k] = random.nextFloat() * 2 - 1;
        }
        long began = System.nanoTime(), steps = 0;
        while (System.nanoTime() - began < 1e9) // for the compiler
            step(pool, tasks);
        double used = cpuTime();
        for (began = System.nanoTime(); System.nanoTime() - began < seconds * 1e9; steps++)
            loss = step(pool, tasks);
        System.out.printf("%.2f steps per CPU second, loss %.4f%n", steps / (cpuTime() - used), loss);
        System.exit(0);
    }
}
