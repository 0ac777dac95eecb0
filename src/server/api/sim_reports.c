/* Owns the endpoints for simulator reports. A report is a page with scripts of its own that
 * somebody uploaded: the sandbox in its content-security policy keeps it from the session, the
 * API and every other server. */
#include <string.h>

#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/reports_dir.h"

#define REPORT_POLICY                                                                              \
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "      \
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "              \
    "frame-ancestors 'none'"

struct report_view {
    const char *name;
    int64_t bytes;
    double at;
};

static const struct api_member report_members[] = {
    API_STRING(report_view, name, "Name"),
    API_INTEGER(report_view, bytes, "Size"),
    API_NUMBER_OR_NULL(report_view, at, "When it was written"),
    {0},
};

static const struct api_schema report_schema = {"SimReport", .members = report_members};

static const struct api_member list_members[] = {
    API_MEMBER("reports", "SimReport[]", "In no order"),
    {0},
};

static const struct api_schema list_schema = {"SimReportList", .members = list_members};

static void add_report(void *ctx, const char *name, int64_t bytes, usec_t changed)
{
    struct report_view v = {name, bytes, api_seconds(changed)};
    json_array_append_new(ctx, api_print(&report_schema, &v));
}

static void list_reports(const struct api_call *c)
{
    json_t *list = json_array();
    struct err err;
    if (reports_list(c->yard->config.state_dir, add_report, list, &err) < 0) {
        json_decref(list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    reply_json(c->reply, 200, json_pack("{s:o}", "reports", list));
}

/* NULL after a refusal. */
static const char *read_name(const struct api_call *c)
{
    const char *name = request_param(c->request, "report");
    if (report_name_is(name))
        return name;
    api_refuse(c, "report",
               "a name has letters, digits, '.', '-' and '_', at most 100, and does not begin "
               "with '.'");
    return NULL;
}

static void show_report(const struct api_call *c)
{
    const char *name = read_name(c);
    char *bytes;
    size_t n;
    struct err err;
    if (!name)
        return;
    if (report_read(c->yard->config.state_dir, name, &bytes, &n, &err) < 0) {
        reply_problem(c->reply, &err, "report");
        return;
    }
    reply_header(c->reply, "Content-Security-Policy", REPORT_POLICY);
    reply_bytes(c->reply, 200, "text/html; charset=utf-8", bytes, n);
}

static void put_report(const struct api_call *c)
{
    const char *name = read_name(c);
    const struct request *q = c->request;
    struct err err;
    if (!name)
        return;
    if (q->body_n < 15 || strncasecmp(q->body, "<!doctype html>", 15) != 0)
        api_refuse(c, "body", "expected a page that `trainyard sim --report FILE` wrote");
    else if (report_write_file(c->yard->config.state_dir, name, q->body, q->body_n, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        list_reports(c);
}

static void delete_report(const struct api_call *c)
{
    const char *name = read_name(c);
    struct err err;
    if (!name)
        return;
    if (report_remove(c->yard->config.state_dir, name, &err) < 0)
        reply_problem(c->reply, &err, "report");
    else
        list_reports(c);
}

static const struct api_schema *const schemas[] = {&report_schema, &list_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "reports_list",
        .method = "GET",
        .path = API_V1 "/reports",
        .handle = list_reports,
        .summary = "List the simulator reports that the server keeps",
        .description = "At most 200, from the folder `reports` of its state.",
        .replies = {{200, "SimReportList", "The reports"}},
    },
    {
        .name = "report_show",
        .method = "GET",
        .path = API_V1 "/reports/{report}",
        .handle = show_report,
        .summary = "Read a simulator report",
        .description = "A page, which runs in a sandbox: it reaches neither the session nor any "
                       "server.",
        .replies = {{200, "text/html", "The report"}},
        .errors = {404},
    },
    {
        .name = "report_put",
        .method = "PUT",
        .path = API_V1 "/reports/{report}",
        .handle = put_report,
        .summary = "Upload a simulator report",
        .description = "A page that `trainyard sim --report FILE` wrote, of at most 8 MB. It "
                       "replaces one of the same name.",
        .body = API_BYTES,
        .replies = {{200, "SimReportList", "All reports"}},
    },
    {
        .name = "report_delete",
        .role = ROLE_ADMIN,
        .method = "DELETE",
        .path = API_V1 "/reports/{report}",
        .handle = delete_report,
        .summary = "Remove a simulator report",
        .description = "It cannot be brought back.",
        .replies = {{200, "SimReportList", "The reports that are left"}},
        .errors = {404},
    },
    {0},
};

const struct api_part api_part_sim_reports = {"Simulator", endpoints, schemas};
