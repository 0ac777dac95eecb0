/* A service that does nothing: it passes bytes on between a unix socket of its own and another one.
 * What it adds to a request is the least that any service in between could add.
 *
 *   hop LISTEN CONNECT      a process for each connection, until it is killed */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    return a;
}

static int must(int rc, const char *what)
{
    if (rc < 0) {
        perror(what);
        exit(1);
    }
    return rc;
}

/* Passes on what is there; false at the end. */
static bool pass(int from, int to)
{
    char buffer[65536];
    ssize_t n = read(from, buffer, sizeof buffer);
    for (ssize_t done = 0; done < n;) {
        ssize_t wrote = write(to, buffer + done, (size_t)(n - done));
        if (wrote <= 0)
            return false;
        done += wrote;
    }
    return n > 0;
}

static void serve(int client, const char *path)
{
    struct sockaddr_un a = address(path);
    int server = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    must(connect(server, (const struct sockaddr *)&a, sizeof a), path);
    struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    for (bool open = true; open && poll(fds, 2, -1) > 0;)
        for (int i = 0; i < 2; i++)
            if (fds[i].revents)
                open = open && pass(fds[i].fd, fds[1 - i].fd);
    close(server);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: hop LISTEN CONNECT\n");
        return 2;
    }
    struct sockaddr_un a = address(argv[1]);
    int listener = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    unlink(argv[1]);
    must(bind(listener, (const struct sockaddr *)&a, sizeof a), argv[1]);
    must(listen(listener, 8), argv[1]);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int client = must(accept(listener, NULL, NULL), "accept");
        if (must(fork(), "fork") == 0) {
            serve(client, argv[2]);
            return 0;
        }
        close(client);
    }
}
