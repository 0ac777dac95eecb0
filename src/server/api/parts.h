/* The parts of the API. Each is defined in the file of its name. */
#ifndef SERVER_API_PARTS_H
#define SERVER_API_PARTS_H

#include "server/api/endpoint.h"

extern const struct api_part api_part_about, api_part_submit, api_part_job_list, api_part_jobs,
    api_part_actions, api_part_logs, api_part_job_view, api_part_job_history, api_part_growth,
    api_part_nodes, api_part_policy, api_part_policies, api_part_events, api_part_session,
    api_part_tokens, api_part_load, api_part_metrics, api_part_best, api_part_whatif,
    api_part_estimate, api_part_uploads, api_part_notify, api_part_schedulearn,
    api_part_sim_reports;

#endif
