/* Tests of TrainingJob objects: what is read from them, and their status. */
#include "server/kubernetes/resource.h"

#include <jansson.h>

#include "server/kubernetes/crd.h"
#include "support/test.h"

static const char object_text[] =
    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"generation\":3,"
    "\"finalizers\":[\"other/one\"]},\"spec\":{\"image\":\"i\",\"command\":[\"true\"],"
    "\"replicas\":2}}";

static void reads_objects(void **state)
{
    struct resource r;
    (void)state;
    json_auto_t *object = json_loads(object_text, 0, NULL);
    assert_true(resource_read(object, &r));
    assert_string_equal(r.uid, "u-1");
    assert_int_equal(r.generation, 3);
    assert_int_equal(r.replicas, 2);
    assert_false(r.kept);
    assert_false(r.deleting);
    json_auto_t *request = resource_request(&r);
    assert_string_equal(json_string_value(json_object_get(request, "name")), "a");
    assert_null(json_object_get(request, "replicas"));
    json_auto_t *empty = json_object();
    assert_false(resource_read(empty, &r));
}

static void keeps_the_finalisers_of_others(void **state)
{
    (void)state;
    json_auto_t *object = json_loads(object_text, 0, NULL);
    json_auto_t *patch = resource_finalizer_patch(object, true);
    char *text = json_dumps(patch, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"metadata\":{\"finalizers\":[\"other/one\",\"trainyard.dev/job\"],"
                              "\"resourceVersion\":\"7\"}}");
    free(text);
}

static json_t *make_status(const char *job_text, const char *problem, bool refused, usec_t now,
                           const json_t *old)
{
    json_auto_t *job = job_text ? json_loads(job_text, 0, NULL) : NULL;
    struct resource_news n = {
        .job = job, .problem = problem, .refused = refused, .generation = 3, .now = now};
    return resource_status(&n, old);
}

static const char running[] =
    "{\"id\":4,\"state\":\"running\",\"reason\":\"\",\"attempt\":1,\"node\":\"n1\",\"cpus\":1.5,"
    "\"gpus\":0,\"code\":null,\"started\":1700000000.5,\"ended\":null,\"progress\":{\"fraction\":"
    "0.421,\"loss\":0.5,\"step\":42,\"total\":100,\"expected_end\":1700000100}}";

static void a_job_that_runs(void **state)
{
    json_auto_t *s = make_status(running, "", false, 1700000001 * USEC_PER_SEC, NULL);
    const json_t *c;
    size_t i;
    (void)state;
    assert_string_equal(json_string_value(json_object_get(s, "progress")), "42%");
    assert_int_equal(json_integer_value(json_object_get(s, "replicas")), 2);
    assert_string_equal(json_string_value(json_object_get(s, "expectedEnd")),
                        "2023-11-14T22:15:00Z");
    assert_int_equal(json_array_size(json_object_get(s, "conditions")), 5);
    json_array_foreach(json_object_get(s, "conditions"), i, c)
    {
        assert_null(json_object_get(c, "message")); /* there is nothing to tell */
        assert_true(json_is_string(json_object_get(c, "reason")));
        assert_string_equal(json_string_value(json_object_get(c, "lastTransitionTime")),
                            "2023-11-14T22:13:21Z");
    }
}

static void conditions_keep_the_time_of_their_change(void **state)
{
    (void)state;
    json_auto_t *first = make_status(running, "", false, 1700000001 * USEC_PER_SEC, NULL);
    json_auto_t *second = make_status(running, "", false, 1700000055 * USEC_PER_SEC, first);
    assert_false(resource_status_urgent(first, second));
    json_auto_t *third = make_status(running, "too many", false, 1700000055 * USEC_PER_SEC, first);
    assert_true(resource_status_urgent(first, third));
    assert_true(resource_status_urgent(NULL, first));
}

static void a_refusal_is_told(void **state)
{
    (void)state;
    json_auto_t *s = make_status(NULL, "spec.cpus: no", true, 1700000001 * USEC_PER_SEC, NULL);
    assert_string_equal(json_string_value(json_object_get(s, "state")), "refused");
    assert_string_equal(json_string_value(json_object_get(s, "message")), "spec.cpus: no");
    const json_t *c = json_array_get(json_object_get(s, "conditions"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "status")), "False");
}

static void an_event_has_one_name(void **state)
{
    struct resource r;
    (void)state;
    json_auto_t *object = json_loads(object_text, 0, NULL);
    assert_true(resource_read(object, &r));
    json_auto_t *s = make_status(running, "", false, 1700000001 * USEC_PER_SEC, NULL);
    json_auto_t *a = resource_event(&r, "ns", s, 1700000001 * USEC_PER_SEC);
    json_auto_t *b = resource_event(&r, "ns", s, 1700000099 * USEC_PER_SEC);
    const json_t *name = json_object_get(json_object_get(a, "metadata"), "name");
    assert_true(json_is_string(name));
    assert_true(json_equal(name, json_object_get(json_object_get(b, "metadata"), "name")));
    assert_string_equal(json_string_value(json_object_get(a, "reason")), "Running");
}

static void the_definition_has_the_fields_of_a_job(void **state)
{
    struct str out = {0};
    (void)state;
    crd_print(&out);
    assert_non_null(strstr(out.at, "time_limit:"));
    assert_non_null(strstr(out.at, "specReplicasPath: \".spec.replicas\""));
    assert_null(strstr(out.at, " array:"));
    str_done(&out);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_objects),
    cmocka_unit_test(keeps_the_finalisers_of_others),
    cmocka_unit_test(a_job_that_runs),
    cmocka_unit_test(conditions_keep_the_time_of_their_change),
    cmocka_unit_test(a_refusal_is_told),
    cmocka_unit_test(an_event_has_one_name),
    cmocka_unit_test(the_definition_has_the_fields_of_a_job),
};

int main(void)
{
    return RUN(tests);
}
