/* Owns the object of an estimate with its uncertainty. */
#include "server/api/band.h"

static const struct api_member band_members[] = {
    API_NUMBER_OR_NULL(range, low, "10th percentile"),
    API_NUMBER_OR_NULL(range, mid, "Median"),
    API_NUMBER_OR_NULL(range, high, "90th percentile"),
    {0},
};

const struct api_schema band_schema = {"Band", .members = band_members};

json_t *band_print(const struct range *r)
{
    return api_print(&band_schema, r);
}
