/* Owns the making of the HTML report: the page is a string of the program, the
 * data of the results goes into it.
 *
 * Nothing that a trace can hold gets out of the data: it is JSON in a script
 * element, where only "<" could end the element, and every "<" is escaped. */
#include "sim/report/report.h"

#include "sim/report/outfile.h"
#include "sim/report/page.h"
#include "sim/report/page_data.h"
#include "sim/report/page_prepare.h"

/* In JSON a "<" is always part of a string. */
static void write_data(const struct str *data, FILE *out)
{
    const char *from = data->at, *end = data->at + data->n;
    for (const char *p = from; p < end; p++)
        if (*p == '<') {
            fwrite(from, 1, (size_t)(p - from), out);
            fputs("\\u003c", out);
            from = p + 1;
        }
    fwrite(from, 1, (size_t)(end - from), out);
}

static void write_title(const char *trace, FILE *out)
{
    const char *slash = strrchr(trace, '/');
    struct str title = {0};
    str_add_html(&title, slash && slash[1] ? slash + 1 : trace);
    fputs(title.n ? title.at : "", out);
    str_done(&title);
}

/* Writes the page up to the mark, and returns what follows the mark. */
static const char *write_until(const char *page, const char *mark, FILE *out)
{
    const char *at = strstr(page, mark);
    if (!at)
        return page;
    fwrite(page, 1, (size_t)(at - page), out);
    return at + strlen(mark);
}

static void write_page(const struct report *p, const struct str *data, FILE *out)
{
    const char *rest = write_until(report_page, "@TITLE@", out);
    write_title(p->trace, out);
    rest = write_until(rest, "@DATA@", out);
    write_data(data, out);
    fputs(rest, out);
}

int report_write(const struct sim_result *r, uint32_t n, const struct cluster *c, const char *trace,
                 const char *nodes, const char *path, struct err *err)
{
    struct report p = {.r = r, .n = n, .cluster = c, .trace = trace, .nodes = nodes};
    struct outfile file;
    if (n == 0)
        return err_set(err, ERR_INVALID, "a report needs at least one policy");
    if (report_prepare(&p, err) < 0 || outfile_open(&file, path, err) < 0)
        return -1;
    struct str data = {0};
    report_add_data(&data, &p);
    write_page(&p, &data, file.stream);
    str_done(&data);
    return outfile_commit(&file, err);
}
