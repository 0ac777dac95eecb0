// oneTBB at work until stdin ends.
#include <oneapi/tbb.h>

#include <atomic>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

static double add_up(const std::vector<double> &v)
{
    using range = tbb::blocked_range<size_t>;
    return tbb::parallel_deterministic_reduce(
        range(0, v.size(), 1000), 0.0,
        [&](const range &r, double sum) {
            return std::accumulate(v.begin() + static_cast<long>(r.begin()),
                                   v.begin() + static_cast<long>(r.end()), sum);
        },
        std::plus<>());
}

int main()
{
    std::vector<double> v(1000000);
    std::iota(v.begin(), v.end(), 0.5);
    double right = add_up(v);
    int processors = tbb::this_task_arena::max_concurrency();
    std::atomic<bool> ended{false};
    std::cout << "ready " << processors << std::endl;
    std::thread([&] {
        std::cin.get();
        ended = true;
    }).detach();
    while (!ended)
        if (add_up(v) != right || tbb::this_task_arena::max_concurrency() != processors)
            return 3;
}
