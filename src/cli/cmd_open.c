/* trainyard open: opens the dashboard in a browser, logged in by a link that works once. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/member.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"

extern char **environ;

static int make_link(const struct args *args, json_t **reply, char **url, struct err *err)
{
    AUTO_LINK struct server_link link = {0};
    json_auto_t *body = json_object();
    struct str text = {0};
    if (server_link_open(args, NULL, &link, err) < 0 ||
        server_link_call(&link, "POST", "/links", body, reply, err) < 0)
        return -1;
    if (link.url) /* as we reach the server, so does the browser */
        str_addf(&text, "%s%s", link.url, member_text(*reply, "path"));
    else
        str_add(&text, member_text(*reply, "url"));
    *url = text.at;
    return 0;
}

/* A browser needs a display, unless $BROWSER names one that does not. */
static const char *find_browser(void)
{
    const char *browser = getenv("BROWSER");
    if (browser && *browser)
        return browser;
    return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") ? "xdg-open" : NULL;
}

static int start_browser(const char *browser, const char *url, struct err *err)
{
    char *const argv[] = {(char *)browser, (char *)url, NULL};
    pid_t pid;
    int status = 0, code = posix_spawnp(&pid, browser, NULL, NULL, argv, environ);
    if (code)
        return err_set(err, ERR_IO, "cannot start %s: %s; open the link yourself, or use --print",
                       browser, strerror(code));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status)
        return err_set(err, ERR_IO, "%s has failed; open the link yourself, or use --print",
                       browser);
    return 0;
}

static int run(const struct args *args)
{
    AUTO_FREE char *url = NULL;
    json_auto_t *reply = NULL;
    struct err err;
    if (make_link(args, &reply, &url, &err) < 0)
        return command_fail(args->command, &err);
    const char *browser = args_get(args, "print") ? NULL : find_browser();
    printf("%s\n", url);
    fflush(stdout);
    if (!browser && !args_get(args, "print"))
        fprintf(stderr, "There is no display here; open the link in a browser within two minutes. "
                        "It works once.\n");
    if (browser && start_browser(browser, url, &err) < 0)
        return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"print", 0, NULL, "only print the link", false},
    OPTION_SERVER,
    {},
};

const struct command command_open = {
    .name = "open",
    .summary = "Open the dashboard in a browser, logged in",
    .details = "The link works once, within two minutes; the browser then stays logged in for 30 "
               "days, as you. The server must listen on TCP. The browser is $BROWSER, or what "
               "xdg-open starts.",
    .examples = "  trainyard serve --listen 127.0.0.1:8080 &\n"
                "  trainyard open",
    .options = options,
    .run = run,
};
