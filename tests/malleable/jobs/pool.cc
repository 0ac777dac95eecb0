// A job on Eigen's thread pool that answers each line with one line.
//
//   rounds N US N rounds of 16 tasks, US microseconds each; the sum of what they did, and the median number of
//               workers that took part in a round
//   nested N    N rounds of tasks that wait for tasks of their own
//   idle        lets the pool rest until nothing has turned for a while
//   pools N     makes and ends N pools, each with a few rounds
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static void work(int microseconds)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < end)
        ;
}

// One round; returns how many workers took part.
static int run_round(Eigen::ThreadPool &pool, std::atomic<long> &sum, int microseconds)
{
    std::vector<std::atomic<bool>> took_part(static_cast<size_t>(pool.NumThreads()));
    Eigen::Barrier barrier(16);
    for (int i = 0; i < 16; i++)
        pool.Schedule([&, i] {
            took_part[static_cast<size_t>(pool.CurrentThreadId())] = true;
            work(microseconds);
            sum += i;
            barrier.Notify();
        });
    barrier.Wait();
    return static_cast<int>(std::count(took_part.begin(), took_part.end(), true));
}

static std::string rounds(Eigen::ThreadPool &pool, int n, int microseconds)
{
    std::atomic<long> sum{0};
    std::vector<int> workers;
    for (int i = 0; i < n; i++)
        workers.push_back(run_round(pool, sum, microseconds));
    std::sort(workers.begin(), workers.end());
    return std::to_string(sum) + " " + std::to_string(workers[workers.size() / 2]);
}

static long nested(Eigen::ThreadPool &pool, int n)
{
    std::atomic<long> sum{0};
    for (int i = 0; i < n; i++) {
        Eigen::Barrier all(3);
        for (int k = 0; k < 3; k++)
            pool.Schedule([&] {
                Eigen::Barrier own(4);
                for (int j = 0; j < 4; j++)
                    pool.Schedule([&] {
                        sum++;
                        own.Notify();
                    });
                own.Wait();
                all.Notify();
            });
        all.Wait();
    }
    return sum;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? std::stoi(argv[1]) : 4;
    Eigen::ThreadPool pool(threads);
    std::string line, word;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        int n = 0, microseconds = 20;
        words >> word >> n;
        if (!(words >> microseconds))
            microseconds = 20;
        if (word == "rounds") {
            std::cout << rounds(pool, n, microseconds) << std::endl;
        } else if (word == "nested") {
            std::cout << nested(pool, n) << std::endl;
        } else if (word == "idle") {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            std::cout << "rested" << std::endl;
        } else if (word == "pools") {
            for (int i = 0; i < n; i++) {
                Eigen::ThreadPool other(threads);
                rounds(other, 3, 20);
            }
            std::cout << n << std::endl;
        }
    }
}
