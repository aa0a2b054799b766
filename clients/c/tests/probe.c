/* The probe of docs/conformance.md. */
#include "strata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t cancels;

/* Two growing texts: the steps and the notices, as elements of an array. */
struct text {
  char *bytes;
  size_t length, size;
};
static struct text steps, notices;

static void append(struct text *text, const char *bytes, size_t length) {
  if (text->length + length + 2 > text->size) {
    text->size = (text->length + length + 2) * 2;
    text->bytes = realloc(text->bytes, text->size);
    if (text->bytes == NULL) abort();
  }
  if (text->length > 0) text->bytes[text->length++] = ',';
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
}

static void reply_array(strata_request *request, const struct text *text) {
  char *array = malloc(text->length + 2);
  if (array == NULL) abort();
  array[0] = '[';
  if (text->length > 0) memcpy(array + 1, text->bytes, text->length);
  array[text->length + 1] = ']';
  strata_reply(request, array, text->length + 2);
  free(array);
}

static void note_step(const char *step, const char *detail) {
  char text[400];
  strata_writer w = strata_write(text, sizeof text);
  char line[320];
  snprintf(line, sizeof line, "%s%s", step, detail);
  strata_put_string(&w, line);
  append(&steps, text, w.length);
}

static strata_json params_of(strata_request *request) {
  return strata_json_of(strata_body(request), strata_length(request));
}

/* A text member in memory that the caller frees; NULL if there is none. */
static char *text_member(strata_json object, const char *name) {
  strata_json value;
  if (!strata_json_member(object, name, &value)) return NULL;
  char *text = malloc(value.length + 1);
  if (text != NULL && strata_json_string(value, text, value.length + 1, NULL)) return text;
  free(text);
  return NULL;
}

static strata_json raw_member(strata_json object, const char *name) {
  strata_json value = {NULL, 0};
  strata_json_member(object, name, &value);
  return value;
}

static int64_t int_member(strata_json object, const char *name, int64_t otherwise) {
  int64_t number = otherwise;
  strata_json value;
  if (strata_json_member(object, name, &value)) strata_json_int(value, &number);
  return number;
}

static void echo(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, strata_body(request), strata_length(request));
}

static void fail(strata_request *request, void *context) {
  (void)context;
  strata_json params = params_of(request), body = raw_member(params, "body");
  char *code = text_member(params, "code"), *message = text_member(params, "message"), *ran = text_member(params, "ran");
  strata_fail_with(request, code, message, ran, body.at, body.length);
  free(code), free(message), free(ran);
}

static void count_cancel(strata_request *request, void *context) {
  free(context);
  cancels++;
  if (strata_to(request)[0] != 0) strata_fail(request, "cancelled", "it was cancelled");
}

static void hang(strata_request *request, void *context) {
  (void)context;
  strata_on_cancel(request, count_cancel, NULL);
  strata_keep(request);
}

static void cancel_count(strata_request *request, void *context) {
  (void)context;
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)cancels);
  strata_reply(request, text, 0);
}

struct counting {
  int64_t next, to;
};

static void go_on(strata_request *request, void *context) {
  struct counting *counting = context;
  char text[24];
  while (counting->next <= counting->to) {
    snprintf(text, sizeof text, "%lld", (long long)counting->next);
    if (strata_part(request, text, 0) != STRATA_OK) return;
    counting->next++;
  }
  free(counting);
  strata_reply(request, NULL, 0);
}

static void count(strata_request *request, void *context) {
  (void)context;
  struct counting *counting = malloc(sizeof *counting);
  if (counting == NULL) abort();
  counting->next = 1;
  counting->to = int_member(params_of(request), "to", 0);
  strata_keep(request);
  strata_on_cancel(request, count_cancel, counting);
  strata_on_writable(request, go_on, counting);
  go_on(request, counting);
}

/* A request that is made for a served one. */
struct asking {
  strata_request *request;
  struct text parts;
  int64_t take, taken;
  uint64_t id;
  bool collects, done;
  const char *reply; /* how the answer is told: "reply" wraps it, NULL doesn't */
};

static void put_answer(strata_writer *w, const strata_answer *answer) {
  if (answer->ok) {
    strata_put_name(w, "reply");
    strata_put_json(w, answer->body, answer->length);
    return;
  }
  strata_put_name(w, "error");
  strata_put_object(w);
  strata_put_name(w, "code"), strata_put_string(w, answer->code);
  strata_put_name(w, "message"), strata_put_string(w, answer->message);
  strata_put_name(w, "ran"), strata_put_string(w, answer->ran);
  if (strcmp(answer->body, "null") != 0) strata_put_name(w, "body"), strata_put_json(w, answer->body, answer->length);
  strata_put_object_end(w);
}

static void tell(struct asking *asking, const strata_answer *answer) {
  size_t size = asking->parts.length + 8192 + (answer == NULL ? 0 : answer->length + 6 * strlen(answer->message));
  char *text = malloc(size);
  if (text == NULL) abort();
  strata_writer w = strata_write(text, size);
  if (asking->reply != NULL && answer != NULL && answer->ok) {
    strata_put_json(&w, answer->body, answer->length);
  } else {
    strata_put_object(&w);
    if (asking->collects) {
      strata_put_name(&w, "parts");
      strata_put_array(&w);
      if (asking->parts.length > 0) strata_put_json(&w, asking->parts.bytes, asking->parts.length);
      strata_put_array_end(&w);
    }
    if (answer != NULL) put_answer(&w, answer);
    strata_put_object_end(&w);
  }
  strata_reply_written(asking->request, &w);
  asking->request = NULL;
  free(text);
}

static void answered(strata *bus, const strata_answer *answer, void *context) {
  struct asking *asking = context;
  (void)bus;
  if (asking->request != NULL) tell(asking, answer);
  free(asking->parts.bytes);
  free(asking);
}

static void part_came(strata *bus, const strata_answer *answer, void *context) {
  struct asking *asking = context;
  append(&asking->parts, answer->body, answer->length);
  if (++asking->taken != asking->take) return;
  strata_cancel(bus, asking->id);
  tell(asking, NULL);
}

/* Sends, and answers the request when the answer comes. */
static void ask(strata_request *request, strata_kind kind, strata_message *message, bool collects, int64_t take) {
  struct asking *asking = calloc(1, sizeof *asking);
  if (asking == NULL) abort();
  asking->request = request, asking->collects = collects, asking->take = take;
  if (kind == STRATA_BROADCAST) asking->reply = "";
  message->parent = request;
  message->answered = answered, message->context = asking;
  if (collects) message->part = part_came;
  strata_keep(request);
  strata_status status = strata_send(strata_bus(request), kind, message, &asking->id);
  if (status == STRATA_OK) return;
  strata_answer refused = {.code = strata_status_code(status), .message = "it was not sent", .ran = "no", .body = "null", .length = 4};
  answered(strata_bus(request), &refused, asking);
}

/* call, open, collect, broadcast, report, create: the context says which. */
static void act(strata_request *request, void *context) {
  const char *what = context;
  strata_json params = params_of(request), body = raw_member(params, "params");
  char *to = text_member(params, "to"), *url = text_member(params, "url"), *name = text_member(params, "name"),
       *object = text_member(params, "object");
  strata_message message = {.to = to, .name = name, .object = object, .body = body.at, .length = body.length};
  strata_kind kind = STRATA_CALL;
  if (strcmp(what, "open") == 0) kind = STRATA_OPEN, message.to = url;
  if (strcmp(what, "broadcast") == 0) kind = STRATA_BROADCAST;
  if (strcmp(what, "report") == 0) kind = STRATA_REPORT;
  message.deadline = int_member(params, "deadline", 0);
  message.credit = int_member(params, "credit", 0);
  if (strcmp(what, "create") == 0) {
    message.to = "bus/create";
    message.body = strata_body(request), message.length = strata_length(request);
  }
  ask(request, kind, &message, strcmp(what, "collect") == 0, int_member(params, "take", 0));
  free(to), free(url), free(name), free(object);
}

static void release(strata_request *request, void *context) {
  (void)context;
  strata_message message = {.to = "bus/release", .body = strata_body(request), .length = strata_length(request)};
  ask(request, STRATA_CALL, &message, false, 0);
}

static void noticed(strata_request *request, void *context) {
  (void)context;
  size_t size = strata_length(request) + 8192;
  char *text = malloc(size);
  if (text == NULL) abort();
  strata_writer w = strata_write(text, size);
  strata_put_object(&w);
  strata_put_name(&w, "name"), strata_put_string(&w, strata_name(request));
  strata_put_name(&w, "object");
  if (strata_object(request) == NULL) strata_put_null(&w);
  else strata_put_string(&w, strata_object(request));
  strata_put_name(&w, "params"), strata_put_json(&w, strata_body(request), strata_length(request));
  strata_put_name(&w, "missed"), strata_put_int(&w, strata_missed(request));
  strata_put_object_end(&w);
  append(&notices, text, w.length);
  free(text);
  char *code = text_member(params_of(request), "fail");
  if (code != NULL) strata_fail(request, code, "the notice says so");
  free(code);
}

static void give_notices(strata_request *request, void *context) {
  (void)context;
  reply_array(request, &notices);
  notices.length = 0;
}

static void begun(strata *bus, strata_status status, void *context) {
  strata_request *request = context;
  (void)bus;
  if (status == STRATA_OK) strata_reply(request, NULL, 0);
  else strata_fail(request, "failed", "the observation did not begin");
}

static void observe(strata_request *request, void *context) {
  (void)context;
  strata_json params = params_of(request);
  char *name = text_member(params, "name"), *object = text_member(params, "object"), *keep = text_member(params, "keep");
  strata_observation observation = {.name = name, .object = object, .handler = noticed, .begun = begun, .begun_context = request};
  observation.latest = keep != NULL && strcmp(keep, "latest") == 0;
  strata_keep(request);
  if (strata_observe(strata_bus(request), &observation) != STRATA_OK) strata_fail(request, "bad-params", "no such observation");
  free(name), free(object), free(keep);
}

static void unobserve(strata_request *request, void *context) {
  (void)context;
  char *name = text_member(params_of(request), "name");
  if (name != NULL) strata_unobserve(strata_bus(request), name);
  free(name);
  strata_reply(request, NULL, 0);
}

static void settings(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, strata_settings(strata_bus(request)), 0);
}

static void give_steps(strata_request *request, void *context) {
  (void)context;
  reply_array(request, &steps);
}

static void step(strata_request *request, void *context) {
  (void)context;
  const char *name = strata_to(request);
  if (strncmp(name, "module/", 7) == 0) note_step(name + 7, "");
}

static void event(strata_request *request, void *context) {
  (void)context;
  note_step("event ", strata_name(request));
  strata_reply(request, "true", 4);
}

static const char *number_of(strata_request *request) {
  const char *sign = strchr(strata_instance(request), '#');
  return sign == NULL ? "" : sign + 1;
}

static void created(strata_request *request, void *context) {
  (void)context;
  bool refuse = false;
  strata_json_bool(raw_member(params_of(request), "refuse"), &refuse);
  if (refuse) {
    strata_fail(request, "Probe.no-box", "the params say so");
    return;
  }
  note_step("created ", number_of(request));
}

static void released(strata_request *request, void *context) {
  (void)context;
  note_step("released ", number_of(request));
  free(*strata_instance_data(request));
}

static void put(strata_request *request, void *context) {
  (void)context;
  void **data = strata_instance_data(request);
  free(*data);
  *data = malloc(strata_length(request) + 1);
  if (*data != NULL) memcpy(*data, strata_body(request), strata_length(request) + 1);
  strata_reply(request, NULL, 0);
}

static void get(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, *strata_instance_data(request), 0);
}

static void instance_ended(strata_request *request, void *context) {
  (void)context;
  note_step("ended ", strata_instance(request));
}

static int operate(strata *bus) {
  strata_message message = {.to = "Probe/echo", .body = "{\"by\":\"operator\"}"};
  strata_result result;
  if (!strata_connect(bus)) return 1;
  bool ok = strata_wait(bus, STRATA_CALL, &message, &result);
  if (ok) printf("%.*s\n", (int)result.answer.length, result.answer.body);
  else fprintf(stderr, "%s\n", result.answer.code);
  strata_result_free(bus, &result);
  return ok ? 0 : 1;
}

int main(int argc, char **argv) {
  strata_options options = {.name = "Probe", .runtime = "c 1.0"};
  options.is_operator = argc == 2 && strcmp(argv[1], "--operator") == 0;
  strata *bus = strata_new(&options);
  if (bus == NULL) return 1;
  if (options.is_operator) {
    int code = operate(bus);
    strata_free(bus);
    return code;
  }
  static const struct {
    const char *path;
    strata_handler *handler;
    const char *context;
    unsigned flags;
  } actions[] = {
      {"Probe/echo", echo, NULL, 0}, {"Probe/fail", fail, NULL, 0}, {"Probe/hang", hang, NULL, 0},
      {"Probe/cancels", cancel_count, NULL, 0}, {"Probe/count", count, NULL, STRATA_STREAM},
      {"Probe/call", act, "call", 0}, {"Probe/open", act, "open", 0}, {"Probe/collect", act, "collect", 0},
      {"Probe/broadcast", act, "broadcast", 0}, {"Probe/report", act, "report", 0}, {"Probe/create", act, "create", 0},
      {"Probe/release", release, NULL, 0}, {"Probe/observe", observe, NULL, 0}, {"Probe/unobserve", unobserve, NULL, 0},
      {"Probe/notices", give_notices, NULL, 0}, {"Probe/settings", settings, NULL, 0}, {"Probe/steps", give_steps, NULL, 0},
      {"Box/put", put, NULL, 0}, {"Box/get", get, NULL, 0},
  };
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    strata_action(bus, actions[i].path, actions[i].flags, actions[i].handler, (void *)(uintptr_t)actions[i].context);
  strata_instances(bus, "Box", created, released, NULL);
  strata_observation begins = {.name = "probe.begun", .handler = noticed};
  strata_observe(bus, &begins);
  strata_event(bus, "probe.event", event, NULL);
  strata_steps life = {.set_up = step, .initialize = step, .did_start = step, .settings = step, .instance_ended = instance_ended};
  strata_life(bus, &life);
  int code = strata_run(bus, argc, argv);
  strata_free(bus);
  free(steps.bytes), free(notices.bytes);
  return code;
}
