/* Owns the opening of listening sockets: a unix socket with its file, and TCP. */
#include "http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/internal.h"
#include "http/listener.h"

#define BACKLOG 1024

/* Makes room for a unix socket: removes a dead one, and fails for anything else. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
    const char *path = address->sun_path;
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_CONFLICT,
                       "%s exists and is not a socket; remove it or choose "
                       "another path",
                       path);
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN)
        return err_set(err, ERR_CONFLICT, "a server is already running at %s", path);
    if (errno != ECONNREFUSED && errno != ENOENT)
        return err_set(err, ERR_CONFLICT, "cannot tell whether %s is in use: %s", path,
                       strerror(errno));
    if (unlink(path) < 0 && errno != ENOENT)
        return err_set(err, ERR_IO, "cannot remove the dead socket %s: %s", path, strerror(errno));
    return 0;
}

/* A descriptor that is bound and listens; -1 on failure. */
static int bind_unix(const struct sockaddr_un *address, gid_t group, struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode of the file: others must not be able to connect at any time. */
    if (fd >= 0 && fchmod(fd, 0600) == 0 &&
        bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
        (!group || (chown(address->sun_path, (uid_t)-1, group) == 0 &&
                    chmod(address->sun_path, 0660) == 0)) &&
        listen(fd, BACKLOG) == 0)
        return fd;
    err_set(err, errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO, "cannot listen at %s: %s",
            address->sun_path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int http_server_listen_unix(struct http_server *s, const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    if (!*path || strlen(path) >= sizeof address.sun_path)
        return err_set(err, ERR_INVALID,
                       "socket path '%s': must have 1 to %zu bytes; choose a "
                       "shorter one",
                       path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (clear_path(&address, err) < 0)
        return -1;
    int fd = bind_unix(&address, s->group, err);
    if (fd < 0)
        return -1;
    bool found = stat(path, &st) == 0;
    struct listener *l = listener_add(s, fd, true, err);
    if (!l) {
        unlink(path);
        return -1;
    }
    if (found) {
        l->path = xstrdup(path);
        l->dev = st.st_dev;
        l->ino = st.st_ino;
    }
    return 0;
}

static bool is_in_place(const struct listener *l)
{
    struct stat st;
    return lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino;
}

int http_server_restore(struct http_server *s, struct err *err)
{
    for (struct listener *l = s->listeners; l; l = l->next) {
        if (!l->path || l->closed || is_in_place(l))
            continue;
        if (http_server_listen_unix(s, l->path, err) < 0)
            return -1;
        listener_close(l);
    }
    return 0;
}

/* Splits "HOST:PORT" or "[HOST]:PORT" in place. */
static int split_address(char *where, const char **host, const char **port, struct err *err)
{
    char *colon = strrchr(where, ':');
    int64_t number;
    if (!colon)
        return err_set(err, ERR_INVALID, "'%s': expected ADDR:PORT, for example 127.0.0.1:8080",
                       where);
    if (str_parse_int(colon + 1, 0, 65535, &number, err) < 0)
        return err_prefix(err, "port of '%s'", where);
    bool brackets = where[0] == '[' && colon > where + 1 && colon[-1] == ']';
    if (!brackets && memchr(where, ':', (size_t)(colon - where)))
        return err_set(err, ERR_INVALID, "'%s': write an IPv6 address in brackets, [::1]:8080",
                       where);
    colon[brackets ? -1 : 0] = '\0';
    *host = where + brackets;
    *port = colon + 1;
    return 0;
}

static int bind_tcp(const struct addrinfo *a)
{
    int on = 1, off = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* "[::]" and "" also accept IPv4. */
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Binds the first possible address of the name; -1 when there is none. */
static int bind_name(const char *host, const char *port, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    int fd = -1, rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(err, ERR_INVALID, "address '%s': %s", host, gai_strerror(rc));
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = bind_tcp(a);
    if (fd < 0)
        err_set(err, errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO, "cannot listen at %s port %s: %s",
                host, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

/* All addresses of both families, or of IPv4 where there is no IPv6. */
static int bind_any(const char *port, struct err *err)
{
    int fd = bind_name("::", port, NULL);
    return fd >= 0 ? fd : bind_name("0.0.0.0", port, err);
}

/* Whether only this machine can reach the address. */
static bool is_loopback(const struct sockaddr_in6 *bound)
{
    struct sockaddr_in v4;
    if (bound->sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&bound->sin6_addr))
        return bound->sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
    if (bound->sin6_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&bound->sin6_addr);
    memcpy(&v4, bound, sizeof v4);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int http_server_listen_tcp(struct http_server *s, const char *where, unsigned *port, bool *open,
                           struct err *err)
{
    AUTO_FREE char *copy = xstrdup(where);
    const char *host, *service;
    struct sockaddr_in6 bound = {0};
    socklen_t size = sizeof bound;
    if (!s->identify)
        return err_set(err, ERR_INVALID, "listening at %s needs a way to know its clients", where);
    if (split_address(copy, &host, &service, err) < 0)
        return -1;
    int fd = *host ? bind_name(host, service, err) : bind_any(service, err);
    if (fd < 0)
        return -1;
    (void)getsockname(fd, (struct sockaddr *)&bound, &size);
    if (port) /* it is at the same offset in both families */
        *port = ntohs(bound.sin6_port);
    if (open)
        *open = !is_loopback(&bound);
    return listener_add(s, fd, false, err) ? 0 : -1;
}
