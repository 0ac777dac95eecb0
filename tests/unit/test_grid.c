/* Tests of cli/grid: widths, shrinking, columns that go, the mark, foreign text. */
#include "cli/grid.h"

#include "support/test.h"

static const struct grid_column columns[] = {
    {"ID", true, 0, 0},
    {"NAME", false, 6, 0},
    {"STATE", false, 0, 0},
    {"USER", false, 0, 1},
};

static void fill(struct grid *g)
{
    static const char *const cells[] = {
        "1", "train", "running", "ann", "23", "a-rather-long-name", "queued", "bob"};
    grid_init(g, columns, COUNT_OF(columns));
    for (size_t i = 0; i < COUNT_OF(cells); i++)
        grid_add(g, COLOUR_NONE, cells[i]);
}

static void draws(const struct grid *g, const struct grid_look *look, const char *text)
{
    struct str out = {0};
    grid_draw(g, look, &out);
    assert_string_equal(out.at, text);
    str_done(&out);
}

static void test_widths(void **state)
{
    (void)state;
    struct grid g;
    fill(&g);
    draws(&g, &(struct grid_look){0},
          "ID  NAME                STATE    USER\n"
          " 1  train               running  ann\n"
          "23  a-rather-long-name  queued   bob\n");
    draws(&g, &(struct grid_look){.width = 30},
          "ID  NAME         STATE    USER\n"
          " 1  train        running  ann\n"
          "23  a-rather-l…  queued   bob\n");
    draws(&g, &(struct grid_look){.width = 22},
          "ID  NAME    STATE\n"
          " 1  train   running\n"
          "23  a-rat…  queued\n");
    draws(&g, &(struct grid_look){.width = 12},
          "ID  NAME    \n"
          " 1  train   \n"
          "23  a-rat…  \n");
    draws(&g, &(struct grid_look){.width = 1}, "…\n1\n…\n");
    grid_done(&g);
}

static void test_part(void **state)
{
    (void)state;
    struct grid g;
    fill(&g);
    draws(&g, &(struct grid_look){.first = 1, .rows = 5},
          "ID  NAME                STATE    USER\n"
          "23  a-rather-long-name  queued   bob\n");
    draws(&g, &(struct grid_look){.first = 7, .rows = 5},
          "ID  NAME                STATE    USER\n");
    grid_done(&g);
}

static void test_colours(void **state)
{
    (void)state;
    static const struct grid_column two[] = {{"A", false, 0, 0}, {"B", true, 0, 0}};
    struct grid g;
    grid_init(&g, two, 2);
    grid_add(&g, COLOUR_GREEN, "x");
    grid_add(&g, COLOUR_NONE, "");
    grid_addf(&g, COLOUR_RED, "%s", "y");
    grid_addf(&g, COLOUR_NONE, "%d", 12);
    draws(&g, &(struct grid_look){.colours = true, .marked = 2, .width = 8},
          "\033[2mA\033[0m   \033[2mB\033[0m\n"
          "\033[32mx\033[0m    \n"
          "\033[7my  12   \033[0m\n");
    draws(&g, &(struct grid_look){.marked = 2, .width = 8},
          "A   B\nx    \n\033[7my  12   \033[0m\n");
    grid_done(&g);
}

/* A name cannot move the cursor, nor break the line. */
static void test_foreign(void **state)
{
    (void)state;
    static const struct grid_column one[] = {{"NAME", false, 0, 0}};
    struct grid g;
    grid_init(&g, one, 1);
    grid_add(&g, COLOUR_NONE, "\033[2Jevil\n");
    grid_add(&g, COLOUR_NONE, "東京");
    draws(&g, &(struct grid_look){0}, "NAME\n\\x1b[2Jevil\\n\n東京\n");
    grid_done(&g);
}

static const struct CMUnitTest tests[] = {
    TEST(test_widths),
    TEST(test_part),
    TEST(test_colours),
    TEST(test_foreign),
};

int main(void)
{
    return RUN(tests);
}
