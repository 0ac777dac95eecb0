// Answers each line with what every way to ask says about the number of processors: OpenMP,
// the calling thread's affinity by two calls, another thread's, sysconf, get_nprocs, and
// C++. The word "bind" binds the calling thread to one processor first, as far as it may.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>

static int by_pid(pid_t pid)
{
    cpu_set_t set;
    return sched_getaffinity(pid, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static int by_thread(pthread_t thread)
{
    cpu_set_t set;
    return pthread_getaffinity_np(thread, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static void bind(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) ||
        pthread_setaffinity_np(pthread_self(), sizeof set, &set))
        std::cout << "refused ";
}

int main()
{
    // Asked before main by a constructor of another library, and kept.
    static const unsigned before = std::thread::hardware_concurrency();
    std::string line;
    while (std::getline(std::cin, line)) {
        int other = 0;
        if (line.rfind("bind ", 0) == 0)
            bind(std::stoi(line.substr(5)));
        std::thread([&other] { other = by_pid(0); }).join();
        std::cout << omp_get_num_procs() << ' ' << by_pid(0) << ' ' << by_pid(getpid()) << ' '
                  << by_thread(pthread_self()) << ' ' << other << ' '
                  << sysconf(_SC_NPROCESSORS_ONLN) << ' ' << get_nprocs() << ' '
                  << std::thread::hardware_concurrency() << ' ' << before << std::endl;
    }
}
