/* Measures round trips through the real broker: `bench` as an operator calls the
 * action Echo/echo of the module `bench` (with STRATA_MODULE), with bodies of
 * 64 bytes. The script bench.sh runs both, and says what is printed. */
#define _POSIX_C_SOURCE 200809L
#include "strata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char body[65];
static long left, open_now;
static double *times;
static size_t measured;
static struct timespec begins[64];

static double since(struct timespec begin) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - begin.tv_sec) * 1e6 + (double)(now.tv_nsec - begin.tv_nsec) / 1e3;
}

static void echo(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, strata_body(request), strata_length(request));
}

static void answered(strata *bus, const strata_answer *answer, void *context);

static void ask(strata *bus, struct timespec *begin) {
  strata_message message = {.to = "Echo/echo", .body = body, .answered = answered, .context = begin};
  clock_gettime(CLOCK_MONOTONIC, begin);
  if (strata_send(bus, STRATA_CALL, &message, NULL) != STRATA_OK) exit(1);
  open_now++;
}

static void answered(strata *bus, const strata_answer *answer, void *context) {
  struct timespec *begin = context;
  if (!answer->ok) exit(1);
  open_now--;
  times[measured++] = since(*begin);
  if (left > 0) left--, ask(bus, begin);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(strata *bus, int at_once, long count) {
  struct timespec begin;
  measured = 0;
  left = count - at_once;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < at_once; i++) ask(bus, &begins[i]);
  while (open_now > 0 && strata_step(bus, -1)) continue;
  double whole = since(begin);
  qsort(times, measured, sizeof *times, compare);
  printf("%d open: %.0f calls/s, median %.1f us, 99%% %.1f us\n", at_once, (double)measured / whole * 1e6,
         times[measured / 2], times[measured * 99 / 100]);
}

int main(int argc, char **argv) {
  bool serves = getenv("STRATA_MODULE") != NULL;
  strata_options options = {.is_operator = !serves};
  strata *bus = strata_new(&options);
  if (bus == NULL) return 1;
  if (serves) {
    strata_action(bus, "Echo/echo", 0, echo, NULL);
    return strata_run(bus, argc, argv);
  }
  long count = argc > 1 ? atol(argv[1]) : 20000;
  memset(body, 'x', 64);
  body[0] = body[63] = '"';
  times = malloc((size_t)count * sizeof *times);
  if (times == NULL || count < 64 || !strata_connect(bus)) return 1;
  measure(bus, 1, count);
  measure(bus, 64, count);
  free(times);
  strata_free(bus);
  return 0;
}
