/* Owns the conductor's side of the page that is shared with the job: it writes orders and reads
 * whether they were obeyed. The job may do anything to the file. A page that the job has truncated
 * is abandoned, because reading it would kill the conductor.
 *
 * After an order the page is read again: soon at first, because most jobs start a parallel
 * region within milliseconds, then at growing intervals. After a second the answer is that the
 * job is late; if it obeys later, that is reported too. Before the first order the page is only
 * watched for software that must not be resized. */
#include "conductor/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "conductor/library.h"
#include "malleable/page.h"

enum { FIRST_PAUSE = 500, LONGEST_PAUSE = 8000, SIGNALS = 64 };
enum { BOUND = 1000000, LONGEST_LATE_PAUSE = 32000000 };

/* Creates and maps the file, with its first order. */
static int make_page(struct threads *t, int dir, const struct launch_malleable *m, usec_t now,
                     struct err *err)
{
    AUTO_CLOSE int fd =
        openat(dir, "control", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || ftruncate(fd, PAGE_BYTES) < 0)
        return err_set(err, ERR_IO, "cannot make the file control: %s", strerror(errno));
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return err_set(err, ERR_IO, "cannot map the file control: %s", strerror(errno));
    page_init(page, (uint32_t)m->processors, (uint32_t)m->threads, now * 1000);
    t->page = page;
    t->fd = fd_take(&fd);
    return 0;
}

static int name_page(const struct threads *t, struct launch_spec *spec, struct arena *a,
                     struct err *err)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", t->fd);
    ssize_t n = readlink(link, path, sizeof path);
    if (n < 0 || n == sizeof path)
        return err_set(err, ERR_IO, "cannot find the path of the file control: %s",
                       strerror(n < 0 ? errno : ENAMETOOLONG));
    launch_spec_set(spec, a, PAGE_VARIABLE, "%.*s", (int)n, path);
    return 0;
}

int threads_open(struct threads *t, int dir, struct launch_spec *spec, struct arena *a, usec_t now,
                 struct err *err)
{
    const struct launch_malleable *m = &spec->malleable;
    *t = (struct threads){.fd = -1};
    if (!m->threads)
        return 0;
    if ((m->library && library_check(m->library, m->probe, err) < 0) ||
        make_page(t, dir, m, now, err) < 0)
        return -1;
    if (name_page(t, spec, a, err) < 0) {
        threads_done(t);
        return -1;
    }
    if (m->library) {
        library_preload(spec, a, m->library);
        t->asks = (struct applied_message){.id = -1, .cpus = spec->cpus};
        t->watches = true;
        t->pause = FIRST_PAUSE;
        t->next = now + t->pause;
    }
    return 0;
}

void threads_done(struct threads *t)
{
    if (t->page)
        munmap(t->page, PAGE_BYTES);
    if (t->fd >= 0)
        close(t->fd);
    *t = (struct threads){.fd = -1};
}

/* Whether the page still has its full size. */
static bool has_page(struct threads *t)
{
    struct stat st;
    if (t->page && fstat(t->fd, &st) == 0 && st.st_size >= PAGE_BYTES)
        return true;
    t->waits = false;
    return false;
}

static const char *misfit_name(uint32_t misfit)
{
    return misfit == PAGE_ONNX_RUNTIME ? "ONNX Runtime" : NULL;
}

static struct applied_message answer(struct threads *t, usec_t in, bool late)
{
    struct applied_message a = t->asks;
    a.threads = page_threads(PAGE_GET(t->page, applied));
    a.regions = (int64_t)(PAGE_GET(t->page, whole) + PAGE_GET(t->page, clamped));
    a.in = in > 0 ? in : 0;
    a.late = late;
    t->misfit = PAGE_GET(t->page, misfit);
    a.misfit = misfit_name(t->misfit);
    return a;
}

static bool is_obeyed(const struct threads *t)
{
    return page_generation(PAGE_GET(t->page, applied)) == t->generation;
}

/* No command waits for the first order, but its result is reported. */
static void look_on(struct threads *t, usec_t now)
{
    t->waits = t->late = t->first = true;
    t->since = now;
    t->pause = LONGEST_PAUSE;
    t->next = now + t->pause;
}

bool threads_order(struct threads *t, usec_t now, const struct applied_message *asks,
                   uint32_t threads, struct applied_message *out)
{
    t->watches = false;
    bool waited = t->waits && has_page(t), replaces = waited && !t->late;
    if (replaces)
        *out = answer(t, now - t->since, !is_obeyed(t));
    if (!has_page(t)) {
        *out = *asks;
        out->late = true;
        return true;
    }
    uint64_t order = PAGE_GET(t->page, order);
    t->asks = *asks;
    if (page_threads(order) == threads && !replaces) { /* same order as before */
        *out = answer(t, 0, waited && !t->first);
        t->generation = page_generation(order);
        if (!waited && !is_obeyed(t))
            look_on(t, now);
        return true;
    }
    t->since = now;
    t->generation = page_order(t->page, threads, now * 1000);
    t->waits = true;
    t->late = t->first = false;
    t->pause = FIRST_PAUSE;
    t->next = now + t->pause;
    return replaces;
}

usec_t threads_next(const struct threads *t)
{
    return t->waits || t->watches ? t->next : USEC_NEVER;
}

static bool watch(struct threads *t, usec_t now, struct applied_message *out)
{
    t->watches = has_page(t) && PAGE_GET(t->page, misfit) == PAGE_FITS;
    t->pause = t->pause * 2 < LONGEST_LATE_PAUSE ? t->pause * 2 : LONGEST_LATE_PAUSE;
    t->next = now + t->pause;
    if (t->watches || !has_page(t))
        return false;
    *out = answer(t, 0, false);
    return true;
}

bool threads_look(struct threads *t, usec_t now, struct applied_message *out)
{
    if (t->watches && now >= t->next)
        return watch(t, now, out);
    if (!t->waits || now < t->next)
        return false;
    if (!has_page(t)) {
        *out = t->asks;
        out->late = true;
        return true;
    }
    bool obeyed = is_obeyed(t), told = t->late;
    usec_t longest = told ? LONGEST_LATE_PAUSE : LONGEST_PAUSE;
    t->waits = !obeyed;
    t->late = !obeyed && (told || now >= t->since + BOUND);
    t->pause = t->late && !told ? BOUND : t->pause * 2 < longest ? t->pause * 2 : longest;
    t->next = now + t->pause;
    bool news = PAGE_GET(t->page, misfit) != t->misfit;
    if (!obeyed && t->late == told && !news)
        return false;
    usec_t in = obeyed ? PAGE_GET(t->page, applied_ns) / 1000 - t->since : now - t->since;
    *out = answer(t, in, !obeyed && !t->first);
    return true;
}

bool threads_listener(struct threads *t, pid_t *pid, int *signal)
{
    if (!has_page(t))
        return false;
    *pid = (pid_t)PAGE_GET(t->page, listener_pid);
    *signal = (int)PAGE_GET(t->page, listener_signal);
    return *pid > 0 && *signal > 0 && *signal <= SIGNALS;
}
