/// What the Swift runtime measures in each module: docs/observability.md.
enum RuntimeMetrics {
    /// By the name that the runtime gives it.
    static let help = [
        "strata_requests_total": "Requests that a module made.",
        "strata_request_duration_seconds": "From a module's request to its final answer.",
        "strata_open_requests": "Requests and reports that a module made and that have no answer yet.",
        "strata_handled_requests_total": "Calls, streams, events and steps of its life that a module handled.",
        "strata_handled_request_duration_seconds": "From a request's arrival at a module to its answer.",
        "strata_open_handled_requests": "Requests that a module is handling.",
        "strata_sent_notices_total": "Broadcasts and reports that a module sent.",
        "strata_handled_notices_total": "Notices that a module handled.",
        "strata_handled_notice_duration_seconds": "From a notice's arrival at a module to its observer's end.",
        "strata_open_handled_notices": "Notices that a module is handling, or that wait for it.",
        "strata_waiting_notices": "Notices that wait because a module handles as many as it may.",
        "strata_missed_notices_total": "Notices that an observation did not get, because a newer one took their place.",
        "strata_credit_wait_seconds": "How long elements of streams waited for their reader.",
        "strata_connections_total": "Hellos of a module that the bus answered.",
    ]
}
