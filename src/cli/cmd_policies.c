/* trainyard policies [NAME]: lists the policies, or explains one. */
#include <stdio.h>

#include "base/str.h"
#include "cli/commands.h"
#include "policy/combo.h"
#include "policy/policy.h"
#include "policy/registry.h"

enum { WIDTH = 80 };

/* Prints text wrapped to the width; blank lines separate paragraphs. */
static void print_filled(const char *text, const char *indent)
{
    size_t column = 0;
    while (*text) {
        if (*text == '\n') {
            printf("\n\n");
            column = 0;
            text += strspn(text, "\n");
            continue;
        }
        size_t n = strcspn(text, " \n");
        if (column && column + 1 + n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : indent, (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_policy(const struct policy *p)
{
    printf("%s (%s): %s\n\n", p->name, axis_name(p->axis), p->summary);
    print_filled(p->rule, "  ");
    printf("\nSource:\n");
    print_filled(p->source, "  ");
    printf("\nParameters:%s\n", p->params ? "" : " none");
    for (size_t i = 0; p->params && p->params[i].name; i++) {
        char text[160];
        param_describe(&p->params[i], text, sizeof text);
        printf("  %s\n      %s\n", text, p->params[i].help);
    }
}

static void print_preset(const struct preset *preset)
{
    struct combo combo;
    struct err err;
    printf("%s: %s\n\nThe same as:\n  %s\n", preset->name, preset->summary, preset->spec);
    if (combo_parse(preset->spec, &combo, &err) < 0)
        return;
    for (int axis = 0; axis < AXES; axis++) {
        printf("\n");
        print_policy(combo.policy[axis]);
    }
}

static void print_list(void)
{
    for (int axis = 0; axis < AXES; axis++) {
        printf("%s%s:\n", axis ? "\n" : "", axis_name((enum axis)axis));
        for (size_t i = 0; policies[i]; i++)
            if ((int)policies[i]->axis == axis)
                printf("  %-18s %s\n", policies[i]->name, policies[i]->summary);
    }
    printf("\npresets:\n");
    for (size_t i = 0; presets[i].name; i++)
        printf("  %-18s %s\n", presets[i].name, presets[i].summary);
    printf("\n`trainyard policies NAME` prints the rule, source and parameters of one.\n"
           "Combine them like this: allocate=afs-l,place=best-fit,share=hard\n");
}

static void print_policy_json(const struct policy *p, struct str *out)
{
    str_addf(out, "{\"name\":\"%s\",\"axis\":\"%s\",\"summary\":", p->name, axis_name(p->axis));
    str_add_json(out, p->summary);
    str_add(out, ",\"rule\":");
    str_add_json(out, p->rule);
    str_add(out, ",\"source\":");
    str_add_json(out, p->source);
    str_add(out, ",\"parameters\":[");
    for (size_t i = 0; p->params && p->params[i].name; i++) {
        str_addf(out, "%s{\"name\":\"%s\",\"default\":\"%s\",\"help\":", i ? "," : "",
                 p->params[i].name, p->params[i].preset);
        str_add_json(out, p->params[i].help);
        str_add(out, "}");
    }
    str_add(out, "]}\n");
}

static void print_all_names(void)
{
    for (size_t i = 0; policies[i]; i++)
        printf("%s\n", policies[i]->name);
    for (size_t i = 0; presets[i].name; i++)
        printf("%s\n", presets[i].name);
}

static void print_preset_json(const struct preset *preset, struct str *out)
{
    str_addf(out, "{\"name\":\"%s\",\"axis\":\"preset\",\"summary\":", preset->name);
    str_add_json(out, preset->summary);
    str_addf(out, ",\"same_as\":\"%s\"}\n", preset->spec);
}

/* Prints the policy of this name, or all of them; false when there is none. */
static bool print_json(const char *name)
{
    struct str out = {0};
    for (size_t i = 0; policies[i]; i++)
        if (!name || !strcmp(policies[i]->name, name))
            print_policy_json(policies[i], &out);
    for (size_t i = 0; presets[i].name; i++)
        if (!name || !strcmp(presets[i].name, name))
            print_preset_json(&presets[i], &out);
    bool found = out.n > 0;
    if (found)
        fputs(out.at, stdout);
    str_done(&out);
    return found;
}

/* A policy and a preset may have the same name: both are explained. */
static bool explain(const char *name)
{
    bool found = false;
    for (size_t i = 0; policies[i]; i++)
        if (!strcmp(policies[i]->name, name)) {
            print_policy(policies[i]);
            found = true;
        }
    for (size_t i = 0; presets[i].name; i++)
        if (!strcmp(presets[i].name, name)) {
            printf("%s", found ? "\nAs a preset, " : "");
            print_preset(&presets[i]);
            found = true;
        }
    return found;
}

static int run(const struct args *args)
{
    const char *name = args->operands.n ? args->operands.at[0] : NULL;
    bool json = args_get(args, "json");
    struct combo combo;
    struct err err;
    if (args_get(args, "names")) {
        print_all_names();
        return 0;
    }
    if (!name && !json) {
        print_list();
        return 0;
    }
    if (json ? print_json(name) : explain(name))
        return 0;
    if (combo_parse(name, &combo, &err) == 0)
        err_set(&err, ERR_INVALID, "'%s': expected only the name of a policy or preset", name);
    return command_fail(args->command, &err);
}

static const struct option options[] = {
    {"json", 0, NULL, "print one JSON object per line", false},
    {"names", 0, NULL, "print only the names, one per line", false},
    {},
};

const struct command command_policies = {
    .name = "policies",
    .summary = "List the scheduling policies, or explain one",
    .operands = "[NAME]",
    .options = options,
    .max_operands = 1,
    .completes = "POLICY",
    .examples = "  trainyard policies\n  trainyard policies afs-l",
    .run = run,
};
