/* Owns the layout of tables. Each column is as wide as its widest cell. When a line would be
 * too long, columns that may shrink do so, the widest first; then columns that can be spared
 * are left out. The last cell of a line is not padded. */
#include "cli/grid.h"

#include <stdarg.h>

#include "cli/screen_text.h"

enum { GAP = 2 };

void grid_init(struct grid *t, const struct grid_column *columns, size_t n)
{
    *t = (struct grid){.columns = xreallocarray(NULL, n, sizeof *columns), .n = n};
    memcpy(t->columns, columns, n * sizeof *columns);
}

void grid_done(struct grid *t)
{
    for (size_t i = 0; i < t->cells.n; i++)
        free(t->cells.at[i].text);
    VEC_DONE(&t->cells);
    free(t->columns);
}

void grid_add(struct grid *t, enum colour colour, const char *text)
{
    struct str safe = {0};
    screen_add(&safe, text);
    VEC_PUSH(&t->cells, (struct grid_cell){safe.at, colour});
}

void grid_addf(struct grid *t, enum colour colour, const char *fmt, ...)
{
    struct str text = {0};
    va_list args;
    va_start(args, fmt);
    str_addv(&text, fmt, args);
    va_end(args);
    grid_add(t, colour, text.at);
    str_done(&text);
}

struct layout {
    size_t *widths; /* of each column */
    bool *shown;
};

static size_t line_width(const struct grid *t, const struct layout *l)
{
    size_t sum = 0;
    for (size_t i = 0; i < t->n; i++)
        if (l->shown[i])
            sum += l->widths[i] + (sum ? GAP : 0);
    return sum;
}

/* The widest column that may still shrink; t->n when there is none. */
static size_t widest(const struct grid *t, const struct layout *l)
{
    size_t best = t->n;
    for (size_t i = 0; i < t->n; i++) {
        unsigned least = t->columns[i].shrinks_to;
        if (l->shown[i] && least && l->widths[i] > least &&
            (best == t->n || l->widths[i] > l->widths[best]))
            best = i;
    }
    return best;
}

static size_t most_spare(const struct grid *t, const struct layout *l)
{
    size_t best = t->n;
    for (size_t i = 0; i < t->n; i++)
        if (l->shown[i] && t->columns[i].spare &&
            (best == t->n || t->columns[i].spare > t->columns[best].spare))
            best = i;
    return best;
}

static void lay_out(const struct grid *t, size_t width, struct layout *l)
{
    size_t i;
    for (i = 0; i < t->n; i++) {
        l->widths[i] = screen_width(t->columns[i].head);
        l->shown[i] = true;
    }
    for (i = 0; i < t->cells.n; i++) {
        size_t w = screen_width(t->cells.at[i].text);
        if (w > l->widths[i % t->n])
            l->widths[i % t->n] = w;
    }
    while (width && line_width(t, l) > width) {
        if ((i = widest(t, l)) < t->n)
            l->widths[i]--;
        else if ((i = most_spare(t, l)) < t->n)
            l->shown[i] = false;
        else
            break;
    }
}

static void pad(struct str *out, size_t n)
{
    str_addf(out, "%*s", (int)n, "");
}

/* Draws one line; `cells` NULL = the heads. The mark replaces the colours of cells and reaches
 * to the end of the line. */
static void draw_line(const struct grid *t, const struct layout *l, const struct grid_cell *cells,
                      const struct grid_look *look, bool marked, struct str *out)
{
    size_t used = 0, last = t->n, limit = look->width ? look->width : SIZE_MAX;
    for (size_t i = 0; i < t->n; i++)
        last = l->shown[i] ? i : last;
    colour_begin(out, COLOUR_REVERSE, marked);
    for (size_t i = 0; i < t->n && used < limit; i++) {
        if (!l->shown[i])
            continue;
        const char *text = cells ? cells[i].text : t->columns[i].head;
        enum colour colour = !cells ? COLOUR_DIM : marked ? COLOUR_NONE : cells[i].colour;
        size_t room = l->widths[i] < limit - used ? l->widths[i] : limit - used;
        size_t w = screen_width(text) < room ? screen_width(text) : room;
        if (t->columns[i].right)
            pad(out, room - w);
        colour_begin(out, colour, look->colours && *text);
        screen_add_cut(out, text, room);
        colour_end(out, colour, look->colours && *text);
        used += room;
        if (!t->columns[i].right && (i != last || marked))
            pad(out, room - w);
        if (i != last && used < limit) {
            size_t gap = limit - used < GAP ? limit - used : GAP;
            pad(out, gap);
            used += gap;
        }
    }
    if (marked && look->width)
        pad(out, look->width - used);
    colour_end(out, COLOUR_REVERSE, marked);
    str_add(out, "\n");
}

void grid_draw(const struct grid *t, const struct grid_look *look, struct str *out)
{
    AUTO_FREE size_t *widths = xcalloc(t->n, sizeof *widths);
    AUTO_FREE bool *shown = xcalloc(t->n, sizeof *shown);
    struct layout l = {widths, shown};
    size_t rows = t->cells.n / t->n, end = look->rows ? look->first + look->rows : rows;
    lay_out(t, look->width, &l);
    draw_line(t, &l, NULL, look, false, out);
    for (size_t i = look->first; i < rows && i < end; i++)
        draw_line(t, &l, &t->cells.at[i * t->n], look, i + 1 == look->marked, out);
}
