/* Disk: how much room the packages take, and which take the most. A module in
 * C. It counts when it is asked first, and anew after a change in Storage. */
#include "strata.h"

#include <stdlib.h>
#include <string.h>

enum { most = 50, most_waiting = 64, most_watching = 16 };

struct package {
  char name[128];
  int64_t kib;
};

/* The count, and who waits for it. */
static struct {
  struct package largest[most]; /* the largest first */
  size_t known;
  int64_t total, packages;
  bool valid, counting, changed;
  struct {
    strata_request *request;
    size_t limit;
  } waiting[most_waiting];
  size_t waits;
  strata_request *watching[most_watching]; /* they get a part after each count */
} disk;

static void put_count(strata_writer *w, size_t limit) {
  strata_put_object(w);
  strata_put_name(w, "kib"), strata_put_int(w, disk.total);
  strata_put_name(w, "packages"), strata_put_int(w, disk.packages);
  strata_put_name(w, "largest");
  strata_put_array(w);
  for (size_t i = 0; i < limit && i < disk.known; i++) {
    strata_put_object(w);
    strata_put_name(w, "name"), strata_put_string(w, disk.largest[i].name);
    strata_put_name(w, "kib"), strata_put_int(w, disk.largest[i].kib);
    strata_put_object_end(w);
  }
  strata_put_array_end(w);
  strata_put_object_end(w);
}

static void reply_count(strata_request *request, size_t limit) {
  static char text[most * 320 + 256];
  strata_writer w = strata_write(text, sizeof text);
  put_count(&w, limit);
  strata_reply_written(request, &w);
}

static void add_package(strata_json package) {
  strata_json value;
  struct package new_one = {.kib = 0};
  disk.packages++;
  if (!strata_json_member(package, "installedSize", &value) || !strata_json_int(value, &new_one.kib)) return;
  disk.total += new_one.kib;
  if (!strata_json_member(package, "name", &value)) return;
  if (!strata_json_string(value, new_one.name, sizeof new_one.name, NULL)) return;
  size_t at = disk.known < most ? disk.known++ : most;
  for (; at > 0 && disk.largest[at - 1].kib < new_one.kib; at--)
    if (at < most) disk.largest[at] = disk.largest[at - 1];
  if (at < most) disk.largest[at] = new_one;
}

/* One batch of Storage's packages. */
static void batch(strata *bus, const strata_answer *part, void *context) {
  strata_json packages, package;
  (void)bus, (void)context;
  if (!strata_json_member(strata_json_of(part->body, part->length), "packages", &packages)) return;
  for (size_t position = 0; strata_json_next(packages, &position, NULL, &package);) add_package(package);
}

static void count(strata *bus);

static void tell_watching(void) {
  char text[256];
  strata_writer w = strata_write(text, sizeof text);
  put_count(&w, 0);
  for (size_t i = 0; i < most_watching; i++)
    /* A slow reader misses this one: the next has all there is to know. */
    if (disk.watching[i] != NULL) strata_part(disk.watching[i], text, w.length);
}

static void counted(strata *bus, const strata_answer *answer, void *context) {
  (void)context;
  disk.counting = false;
  if (answer->ok && disk.changed) {
    count(bus);
    if (disk.counting) return;
  }
  disk.valid = answer->ok && !disk.changed;
  size_t waits = disk.waits;
  disk.waits = 0;
  for (size_t i = 0; i < waits; i++) {
    strata_request *request = disk.waiting[i].request;
    if (disk.valid) reply_count(request, disk.waiting[i].limit);
    else strata_fail_with(request, "Disk.no-count", answer->message, NULL, NULL, 0);
  }
  if (disk.valid) tell_watching();
}

static void count(strata *bus) {
  if (disk.counting) return;
  disk.known = 0;
  disk.total = disk.packages = 0;
  disk.valid = disk.changed = false;
  strata_message message = {.to = "Storage/dump", .credit = 4, .answered = counted, .part = batch};
  disk.counting = strata_send(bus, STRATA_CALL, &message, NULL) == STRATA_OK;
}

static void stop_waiting(strata_request *request, void *context) {
  (void)context;
  for (size_t i = 0; i < disk.waits; i++)
    if (disk.waiting[i].request == request) disk.waiting[i] = disk.waiting[--disk.waits];
  strata_fail(request, "cancelled", NULL);
}

static void largest(strata_request *request, void *context) {
  int64_t limit = 0;
  strata_json value;
  (void)context;
  const char *settings = strata_settings(strata_bus(request));
  if (strata_json_member(strata_json_of(settings, strlen(settings)), "disk.largest", &value))
    strata_json_int(value, &limit);
  bool given = strata_json_member(strata_json_of(strata_body(request), strata_length(request)), "limit", &value);
  if (given && (!strata_json_int(value, &limit) || limit < 0 || limit > most)) {
    strata_fail(request, "bad-params", "$.limit: expected an integer from 0 to 50");
    return;
  }
  if (disk.valid) {
    reply_count(request, (size_t)limit);
    return;
  }
  count(strata_bus(request));
  if (!disk.counting || disk.waits == most_waiting) {
    strata_fail_with(request, "overloaded", "too many wait for the count", "no", NULL, 0);
    return;
  }
  strata_keep(request);
  strata_on_cancel(request, stop_waiting, NULL);
  disk.waiting[disk.waits].request = request;
  disk.waiting[disk.waits++].limit = (size_t)limit;
}

static void stop_watching(strata_request *request, void *context) {
  (void)context;
  for (size_t i = 0; i < most_watching; i++)
    if (disk.watching[i] == request) disk.watching[i] = NULL;
  strata_fail(request, "cancelled", NULL);
}

/* A stream: what there is now, and again after each change. */
static void watch(strata_request *request, void *context) {
  (void)context;
  size_t i = 0;
  while (i < most_watching && disk.watching[i] != NULL) i++;
  if (i == most_watching) {
    strata_fail_with(request, "overloaded", "16 watch already", "no", NULL, 0);
    return;
  }
  disk.watching[i] = request;
  strata_keep(request);
  strata_on_cancel(request, stop_watching, NULL);
  if (disk.valid) tell_watching();
  else count(strata_bus(request));
}

static void changed(strata_request *request, void *context) {
  (void)context;
  bool watched = false;
  for (size_t i = 0; i < most_watching; i++) watched = watched || disk.watching[i] != NULL;
  disk.valid = false;
  disk.changed = disk.counting;
  if (watched) count(strata_bus(request));
}

int main(int argc, char **argv) {
  strata_options options = {.name = "Disk", .level = "topout"};
  strata_observation changes = {.name = "storage.changed", .latest = true, .handler = changed};
  strata *bus = strata_new(&options);
  if (bus == NULL || strata_action(bus, "Disk/largest", 0, largest, NULL) != STRATA_OK ||
      strata_action(bus, "Disk/watch", STRATA_STREAM, watch, NULL) != STRATA_OK ||
      strata_requires(bus, "Storage") != STRATA_OK || strata_setting(bus, "disk.largest", 0) != STRATA_OK ||
      strata_observe(bus, &changes) != STRATA_OK)
    return 1;
  int code = strata_run(bus, argc, argv);
  strata_free(bus);
  return code;
}
