/* trainyard deliver: delivers one notification for the server, which starts it. Reads
 * {"target":..., "secret":..., "message":{...}} from stdin, and prints "ok" or what is wrong. */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/member.h"
#include "http/client.h"
#include "wire/notice.h"

/* ---- over HTTP ------------------------------------------------------------- */

static int post(const char *url, const char *const *headers, const char *type, const char *body,
                struct err *err)
{
    struct http_client_config config = {.url = url, .headers = headers, .timeout_s = 20};
    struct http_answer answer = {0};
    struct http_client *c = NULL;
    if (http_client_create(&config, &c, err) < 0)
        return -1;
    int rc = http_client_send(c, "POST", "", type, body, strlen(body), &answer, err);
    if (rc == 0 && (answer.status < 200 || answer.status > 299))
        rc = err_set(err, ERR_IO, "the reply has status %d", answer.status);
    http_answer_done(&answer);
    http_client_free(c);
    return rc;
}

/* The message as it is; with a secret, its signature is in a header. */
static int send_webhook(const char *url, const char *secret, const json_t *message, struct err *err)
{
    AUTO_FREE char *body = json_dumps(message, JSON_COMPACT);
    char signature[96] = "", hex[SECRET_HEX];
    const char *headers[] = {"User-Agent: trainyard", NULL, NULL};
    if (*secret) {
        secret_sign(secret, body, strlen(body), hex);
        snprintf(signature, sizeof signature, "X-Trainyard-Signature: sha256=%s", hex);
        headers[1] = signature;
    }
    return post(url, headers, "application/json", body, err);
}

static int send_slack(const char *url, const json_t *message, struct err *err)
{
    json_auto_t *o = json_pack(
        "{s:o}", "text",
        json_sprintf("*%s*\n%s", member_text(message, "subject"), member_text(message, "text")));
    AUTO_FREE char *body = json_dumps(o, JSON_COMPACT);
    return post(url, NULL, "application/json", body, err);
}

static int send_ntfy(const char *url, const json_t *message, struct err *err)
{
    const char *event = member_text(message, "event");
    bool bad = strcmp(event, "start") != 0 && strcmp(event, "end") != 0;
    struct str title = {0}, click = {0};
    str_addf(&title, "Title: %s", member_text(message, "subject"));
    str_addf(&click, "Click: %s", member_text(message, "url"));
    const char *headers[] = {title.at, bad ? "Priority: high" : "Priority: default",
                             bad ? "Tags: warning" : "Tags: steam_locomotive",
                             *member_text(message, "url") ? click.at : NULL, NULL};
    int rc = post(url, headers, "text/plain; charset=utf-8", member_text(message, "text"), err);
    str_done(&title);
    str_done(&click);
    return rc;
}

/* ---- by a program ---------------------------------------------------------- */

/* Runs a program with this text on its stdin. */
static int run_program(char *const argv[], const char *input, struct err *err)
{
    int fds[2], status = 0;
    if (pipe(fds) < 0)
        return err_set(err, ERR_IO, "no pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[0], STDIN_FILENO);
        close(fds[0]);
        close(fds[1]);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* our own is for the server */
        execvp(argv[0], argv);
        _exit(127);
    }
    close(fds[0]);
    signal(SIGPIPE, SIG_IGN); /* a program need not read it */
    bool written = write(fds[1], input, strlen(input)) == (ssize_t)strlen(input);
    close(fds[1]);
    (void)written;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid < 0)
        return err_set(err, ERR_IO, "cannot start a process: %s", strerror(errno));
    if (WIFSIGNALED(status))
        return err_set(err, ERR_IO, "%s was ended by signal %d", argv[0], WTERMSIG(status));
    if (WEXITSTATUS(status) == 127)
        return err_set(err, ERR_IO, "there is no program %s", argv[0]);
    return WEXITSTATUS(status)
               ? err_set(err, ERR_IO, "%s ended with status %d", argv[0], WEXITSTATUS(status))
               : 0;
}

/* Header lines must be ASCII and of one line; the rest is UTF-8. */
static void add_header_text(struct str *out, const char *text)
{
    for (; *text; text++)
        str_addf(out, "%c", *text >= ' ' && *text < 127 ? *text : '?');
}

static int send_mail(const char *address, const json_t *message, struct err *err)
{
    const char *sendmail = getenv("TRAINYARD_SENDMAIL");
    char *const argv[] = {(char *)(sendmail && *sendmail ? sendmail : "/usr/sbin/sendmail"), "-i",
                          "--", (char *)address, NULL};
    struct str mail = {0};
    str_addf(&mail, "To: %s\nSubject: ", address);
    add_header_text(&mail, member_text(message, "subject"));
    str_addf(&mail,
             "\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
             "Content-Type: text/plain; charset=utf-8\n\n%s\n%s",
             member_text(message, "subject"), member_text(message, "text"));
    int rc = run_program(argv, mail.at, err);
    str_done(&mail);
    return rc;
}

static int run_command(const char *line, const json_t *message, struct err *err)
{
    AUTO_FREE char *body = json_dumps(message, JSON_COMPACT);
    char *const argv[] = {"/bin/sh", "-c", (char *)line, NULL};
    const json_t *job = json_object_get(message, "job");
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)json_integer_value(json_object_get(job, "id")));
    setenv("TRAINYARD_EVENT", member_text(message, "event"), 1);
    setenv("TRAINYARD_SUBJECT", member_text(message, "subject"), 1);
    setenv("TRAINYARD_JOB_ID", job ? id : "", 1);
    setenv("TRAINYARD_JOB_NAME", job ? member_text(job, "name") : "", 1);
    return run_program(argv, body, err);
}

/* ---- the command ----------------------------------------------------------- */

static int deliver(const json_t *in, struct err *err)
{
    const json_t *message = json_object_get(in, "message");
    struct notice_target t;
    if (notice_target_parse(member_text(in, "target"), &t, err) < 0)
        return -1;
    switch (t.kind) {
    case NOTICE_WEBHOOK:
        return send_webhook(t.address, member_text(in, "secret"), message, err);
    case NOTICE_SLACK:
        return send_slack(t.address, message, err);
    case NOTICE_NTFY:
        return send_ntfy(t.address, message, err);
    case NOTICE_COMMAND:
        return run_command(t.address, message, err);
    case NOTICE_MAIL:
        return send_mail(t.address, message, err);
    }
    return 0;
}

static int run(const struct args *args)
{
    json_error_t wrong;
    struct err err;
    json_auto_t *in = json_loadf(stdin, 0, &wrong);
    (void)args;
    if (!in) {
        printf("the input is not JSON: %s\n", wrong.text);
        return 2;
    }
    int rc = deliver(in, &err);
    printf("%s\n", rc < 0 ? err.text : "ok");
    return rc < 0 ? 1 : 0;
}

const struct command command_deliver = {
    .name = "deliver",
    .summary = "Deliver a notification (used by the server)",
    .hidden = true,
    .run = run,
};
