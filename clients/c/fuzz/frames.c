/* Feeds bytes from a bus to a client, through a pair of sockets. The first byte
 * says how many bytes come at a time. */
#include "../strata.c"

static void quiet(void *context, const char *line) { (void)context, (void)line; }

static void reply(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, strata_body(request), strata_length(request));
}

static void keep(strata_request *request, void *context) {
  (void)context;
  strata_keep(request);
  while (strata_part(request, "1", 1) == STRATA_OK) continue;
}

static void answered_any(strata *bus, const strata_answer *answer, void *context) {
  (void)bus, (void)context;
  if (strlen(answer->body) < answer->length) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int ends[2];
  if (size < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  strata_options options = {.name = "F", .socket = "/nowhere/at/all", .log = quiet, .memory = 256 * 1024};
  strata *bus = strata_new(&options);
  strata_action(bus, "F/a", 0, reply, NULL);
  strata_action(bus, "F/k", STRATA_STREAM, keep, NULL);
  strata_instances(bus, "B", reply, reply, NULL);
  strata_observation observation = {.name = "n", .handler = reply};
  strata_observe(bus, &observation);
  strata_steps steps = {.set_up = reply, .settings = reply, .did_start = keep, .instance_ended = reply};
  strata_life(bus, &steps);
  bus->fd = ends[0];
  fcntl(bus->fd, F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  bus->phase = ready, bus->tried = true, bus->retry_at = INT64_MAX;
  bus->first->subscription = 1;
  strata_message message = {.to = "X/y", .answered = answered_any, .part = answered_any};
  for (int i = 0; i < 3; i++) strata_send(bus, STRATA_CALL, &message, NULL);
  size_t at = 1, piece = data[0] == 0 ? size : data[0];
  char drain[4096];
  while (at < size && bus->fd >= 0) {
    size_t count = size - at < piece ? size - at : piece;
    ssize_t sent = send(ends[1], data + at, count, MSG_NOSIGNAL);
    if (sent > 0) at += (size_t)sent;
    strata_step(bus, 0);
    while (recv(ends[1], drain, sizeof drain, 0) > 0) continue;
    bus->retry_at = INT64_MAX;
  }
  strata_step(bus, 0);
  if (strata_memory(bus) > options.memory) abort();
  strata_free(bus);
  close(ends[1]);
  return 0;
}
