/* trainyard policy [SPEC]: prints or changes the active policy. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"

/* " knob=3 order=strict". */
static void add_parameters(const json_t *parameters, struct str *out)
{
    for (void *i = json_object_iter((json_t *)parameters); i;
         i = json_object_iter_next((json_t *)parameters, i)) {
        const json_t *value = json_object_iter_value(i);
        str_add(out, "  ");
        screen_add(out, json_object_iter_key(i));
        str_add(out, "=");
        if (json_is_string(value)) {
            screen_add(out, json_string_value(value));
        } else {
            AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
            screen_add(out, text ? text : "");
        }
    }
}

static void add_policy(const json_t *policy, struct str *out)
{
    static const char *const axes[] = {"allocate", "place", "share"};
    const json_t *parameters = json_object_get(policy, "parameters");
    screen_add(out, member_text(policy, "policy"));
    str_add(out, "\n");
    for (size_t i = 0; i < COUNT_OF(axes); i++) {
        struct str name = {0};
        screen_add(&name, member_text(policy, axes[i]));
        str_addf(out, "  %-9s %s", axes[i], name.at);
        add_parameters(json_object_get(parameters, axes[i]), out);
        str_add(out, "\n");
        str_done(&name);
    }
    if (json_is_string(json_object_get(policy, "chosen"))) {
        str_add(out, "  ");
        screen_add(out, member_text(policy, "chosen"));
        str_add(out, "\n");
    }
}

static int run(const struct args *args)
{
    const char *spec = args->operands.n ? args->operands.at[0] : NULL;
    AUTO_LINK struct server_link link = {0};
    json_auto_t *policy = NULL, *body = spec ? json_pack("{s:s}", "policy", spec) : NULL;
    struct str out = {0};
    struct err err;
    if (spec && !body) {
        err_set(&err, ERR_INVALID, "the name of the policy is not valid UTF-8");
        return command_fail(args->command, &err);
    }
    if (server_link_open(args, NULL, &link, &err) < 0 ||
        server_link_call(&link, spec ? "PUT" : "GET", "/policy", body, &policy, &err) < 0)
        return command_fail(args->command, &err);
    if (args_get(args, "json")) {
        wire_out_line(policy, &out);
    } else if (args_get(args, "quiet")) {
        screen_add(&out, member_text(policy, "policy"));
        str_add(&out, "\n");
    } else {
        add_policy(policy, &out);
    }
    fputs(out.at, stdout);
    str_done(&out);
    return 0;
}

static const struct option options[] = {
    OPTION_JSON("print one object, as the API returns it"),
    OPTION_QUIET("print only its name"),
    OPTION_SERVER,
    {},
};

const struct command command_policy = {
    .name = "policy",
    .summary = "Print the active policy, or activate another one",
    .operands = "[SPEC]",
    .details =
        "A new policy applies at once, also to running jobs. SPEC is written as for `trainyard\n"
        "sim`; `trainyard policies` lists the policies.",
    .examples = "  trainyard policy\n"
                "  trainyard policy las:thresholds=3250\n"
                "  trainyard policy allocate=afs-l,place=best-fit,share=hard",
    .options = options,
    .max_operands = 1,
    .completes = "POLICY",
    .run = run,
};
