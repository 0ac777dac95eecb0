// Trains a small network with Eigen's Tensor module on Eigen::ThreadPool, the pool inside
// TensorFlow: two dense layers, squared error, plain gradient descent. Prints how many
// steps it made per second of CPU time.
//
//   eigen THREADS SECONDS [BATCH [HIDDEN]]
#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/Tensor>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

using Matrix = Eigen::Tensor<float, 2>;
using Pair = Eigen::array<Eigen::IndexPair<int>, 1>;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static double cpu_time()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Network {
    Matrix x, y, w1, w2, h, out, d_out, d_h, g1, g2;

    Network(int batch, int in, int hidden, int classes)
        : x(batch, in), y(batch, classes), w1(in, hidden), w2(hidden, classes), h(batch, hidden),
          out(batch, classes), d_out(batch, classes), d_h(batch, hidden), g1(in, hidden),
          g2(hidden, classes)
    {
        x.setRandom();
        y.setRandom();
        w1 = w1.random() * 0.1f - w1.constant(0.05f);
        w2 = w2.random() * 0.1f - w2.constant(0.05f);
    }

    float step(const Eigen::ThreadPoolDevice &device)
    {
        const Pair times{{{1, 0}}}, transposed_left{{{0, 0}}}, transposed_right{{{1, 1}}};
        h.device(device) = x.contract(w1, times).cwiseMax(0.0f);
        out.device(device) = h.contract(w2, times);
        d_out.device(device) = (out - y) * (2.0f / static_cast<float>(x.dimension(0)));
        g2.device(device) = h.contract(d_out, transposed_left);
        d_h.device(device) = d_out.contract(w2, transposed_right) * h.sign();
        g1.device(device) = x.contract(d_h, transposed_left);
        w1.device(device) = w1 - g1 * 0.01f;
        w2.device(device) = w2 - g2 * 0.01f;
        Eigen::Tensor<float, 0> loss = (out - y).square().mean();
        return loss();
    }
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int threads = std::atoi(argv[1]), batch = argc > 3 ? std::atoi(argv[3]) : 128;
    double seconds = std::atof(argv[2]);
    Eigen::ThreadPool pool(threads);
    Eigen::ThreadPoolDevice device(&pool, threads);
    Network network(batch, 256, argc > 4 ? std::atoi(argv[4]) : 256, 16);
    float loss = 0;
    for (int i = 0; i < 20; i++)
        loss = network.step(device);
    double began = now(), ended = began, used = cpu_time();
    long steps = 0;
    for (; ended - began < seconds; ended = now(), steps++)
        loss = network.step(device);
    std::printf("%.2f steps per CPU second, loss %.4f\n",
                static_cast<double>(steps) / (cpu_time() - used), loss);
    return loss < 10 ? 0 : 1;
}
