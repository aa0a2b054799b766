/* Tests of the client against a broker that this program plays itself, on one
 * thread: it writes frames, lets the client step, and reads what came. Nothing
 * sleeps; a reconnection's pause is the client's own. */
#define _GNU_SOURCE
#include "strata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int passed, failed;
static const char *test_name;

#define check(condition)                                                          \
  do {                                                                            \
    if (condition) passed++;                                                      \
    else failed++, printf("%s: line %d: %s\n", test_name, __LINE__, #condition); \
  } while (0)

/* ---- The broker that is played ---- */

static char folder[64], path[96];
static int listener = -1, peer = -1;
static strata *bus;
static char got[1 << 20]; /* the last frame's header, then its body */
static char *got_body;
static char input[1 << 21];
static size_t input_length;
static int came[256]; /* the descriptors that came from the client */
static size_t came_count;
static size_t counted; /* bytes that the allocator has given out */
static size_t peak;

static char last_line[512];
static void quiet(void *context, const char *line) { (void)context, snprintf(last_line, sizeof last_line, "%s", line); }

static void *count_memory(void *context, void *old, size_t old_size, size_t size) {
  (void)context;
  counted = counted - old_size + size;
  if (counted > peak) peak = counted;
  if (size == 0) return free(old), NULL;
  return realloc(old, size);
}

static void listen_anew(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  unlink(path);
  strcpy(address.sun_path, path);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4) != 0) abort();
  fcntl(listener, F_SETFL, O_NONBLOCK);
}

static void make(strata_options options) {
  options.name = "T";
  options.socket = path;
  if (options.log == NULL) options.log = quiet;
  options.allocator = count_memory;
  counted = peak = 0;
  bus = strata_new(&options);
  if (bus == NULL) abort();
}

static void drop_peer(void) {
  if (peer >= 0) close(peer);
  peer = -1;
  input_length = 0;
}

static void done(void) {
  strata_free(bus);
  check(counted == 0);
  drop_peer();
  /* On a slow machine the client has come back in the last steps. The next test's client must be the first in the queue. */
  for (int left; (left = accept(listener, NULL, NULL)) >= 0;) close(left);
}

static void write_all(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = send(peer, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      bytes += count;
      length -= (size_t)count;
    } else if (errno == EAGAIN) {
      if (!strata_step(bus, 0)) return;
    } else {
      return;
    }
  }
}

static size_t frame_of(char *to, const char *header, const char *body, size_t body_length) {
  size_t head = strlen(header), rest = 4 + head + body_length;
  for (int i = 0; i < 4; i++) to[i] = (char)(rest >> (24 - 8 * i)), to[4 + i] = (char)(head >> (24 - 8 * i));
  memcpy(to + 8, header, head);
  if (body_length > 0) memcpy(to + 8 + head, body, body_length);
  return 4 + rest;
}

static void give(const char *header, const char *body) {
  static char frame[1 << 16];
  write_all(frame, frame_of(frame, header, body, strlen(body)));
}

static void step(void) {
  for (int i = 0; i < 3; i++) strata_step(bus, 0);
}

union beside {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * 32)];
};

/* Writes bytes whose first one has descriptors. */
static void write_with(const char *bytes, size_t length, const int *numbers, size_t count) {
  union beside beside;
  struct iovec part = {(void *)(uintptr_t)bytes, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  memset(&beside, 0, sizeof beside);
  beside.header.cmsg_level = SOL_SOCKET, beside.header.cmsg_type = SCM_RIGHTS, beside.header.cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(&beside.header), numbers, count * sizeof(int));
  ssize_t written;
  do written = sendmsg(peer, &message, MSG_NOSIGNAL);
  while (written < 0 && errno == EINTR);
  check(written > 0);
  if (written > 0) write_all(bytes + written, length - (size_t)written);
}

static void give_with(const char *header, const char *body, const int *numbers, size_t count) {
  static char frame[1 << 16];
  write_with(frame, frame_of(frame, header, body, strlen(body)), numbers, count);
}

/* Reads bytes of the client, and keeps the descriptors that come with them. */
static ssize_t receive(void) {
  union beside beside;
  struct iovec part = {input + input_length, sizeof input - input_length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof beside};
  ssize_t count = recvmsg(peer, &message, MSG_DONTWAIT);
  if (count < 0) return count;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    size_t size = header->cmsg_len - CMSG_LEN(0);
    memcpy(came + came_count, CMSG_DATA(header), size);
    came_count += size / sizeof(int);
  }
  return count;
}

/* The next frame of the client, or false if there is none. */
static bool next(void) {
  for (int idle = 0; idle < 100;) {
    if (input_length >= 8) {
      const unsigned char *b = (const unsigned char *)input;
      size_t rest = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
      size_t head = (size_t)b[4] << 24 | (size_t)b[5] << 16 | (size_t)b[6] << 8 | b[7];
      if (input_length >= 4 + rest) {
        memcpy(got, input + 8, head);
        got[head] = 0;
        got_body = got + head + 1;
        size_t body = rest - 4 - head;
        memcpy(got_body, input + 8 + head, body);
        got_body[body] = 0;
        input_length -= 4 + rest;
        memmove(input, input + 4 + rest, input_length);
        return true;
      }
    }
    strata_step(bus, 0);
    ssize_t count = peer < 0 ? 0 : receive();
    if (count > 0) input_length += (size_t)count, idle = 0;
    else idle++;
  }
  got[0] = 0, got_body = got;
  return false;
}

static bool is(const char *header, const char *body) {
  if (!next()) return printf("%s: no frame, but expected %s\n", test_name, header), false;
  if (strcmp(got, header) == 0 && (body == NULL || strcmp(got_body, body) == 0)) return true;
  return printf("%s: got %s %.300s\n", test_name, got, got_body), false;
}

static bool has(const char *piece) { return strstr(got, piece) != NULL; }

/* Waits for the client's connection; it may be in a pause. */
static bool accept_client(void) {
  drop_peer();
  for (int i = 0; i < 200 && peer < 0; i++) {
    if (!strata_step(bus, 0) && strata_exit_code(bus) != 0) return false;
    peer = accept(listener, NULL, NULL);
    if (peer < 0) strata_step(bus, strata_timeout(bus));
  }
  return peer >= 0;
}

static const char welcome[] =
    "{\"app\":\"a\",\"settings\":{\"k\":1},\"subscriptions\":[11,12,13],\"limits\":{\"frame\":16777216,\"header\":16384},"
    "\"features\":[\"contracts\",\"descriptors\"]}";
static const char *welcomed = welcome;

static void greet(void) {
  if (!accept_client() || !next()) {
    check(!"the client said hello");
    return;
  }
  char header[96];
  strata_json id = {NULL, 0};
  strata_json_member(strata_json_of(got, strlen(got)), "id", &id);
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%.*s}", (int)id.length, id.at);
  char hello[4096];
  snprintf(hello, sizeof hello, "%.4000s", got_body);
  give(header, welcomed);
  step();
  strcpy(got, hello);
}

/* ---- Handlers ---- */

static strata_request *kept;
static int calls, cancels, retained, writables, released, torn, lost;
static char seen[256];

static void echo(strata_request *r, void *c) { (void)c, calls++, retained += strata_retained(r), strata_reply(r, strata_body(r), strata_length(r)); }
static void forget(strata_request *r, void *c) { (void)r, (void)c; }
static void on_cancel(strata_request *r, void *c) {
  (void)c, cancels++;
  strata_fail(r, "cancelled", "late");
  kept = NULL;
}
static void keep(strata_request *r, void *c) {
  (void)c;
  kept = r;
  strata_keep(r);
  strata_on_cancel(r, on_cancel, NULL);
}
static void on_writable(strata_request *r, void *c) { (void)c, (void)r, writables++; }
static void parts(strata_request *r, void *c) {
  keep(r, c);
  strata_on_writable(r, on_writable, NULL);
  while (strata_part(r, "1", 1) == STRATA_OK) continue;
}
static void wait_in(strata_request *r, void *c) {
  strata_message m = {.to = "B/b", .parent = r};
  strata_result result;
  (void)c;
  strata_wait(strata_bus(r), STRATA_CALL, &m, &result);
  strata_reply(r, result.answer.body, result.answer.length);
  strata_result_free(strata_bus(r), &result);
}
static void refuse(strata_request *r, void *c) { (void)c, strata_fail(r, "T.no", "no"); }
static void release(strata_request *r, void *c) { (void)c, (void)r, released++; }
static void tear_down(strata_request *r, void *c) { (void)c, (void)r, torn++; }
static void connection(strata *b, bool connected, void *c) { (void)b, (void)c, lost += !connected; }
static void answered(strata *b, const strata_answer *a, void *c) {
  (void)b, (void)c;
  snprintf(seen, sizeof seen, "%s %s %.*s", a->ok ? "ok" : a->code, a->ran, (int)a->length, a->body);
}
static int parts_seen;
static void part(strata *b, const strata_answer *a, void *c) { (void)b, (void)a, (void)c, parts_seen++; }

static void declare(void) {
  strata_action(bus, "T/echo", 0, echo, NULL);
  strata_action(bus, "T/forget", 0, forget, NULL);
  strata_action(bus, "T/keep", 0, keep, NULL);
  strata_action(bus, "T/parts", STRATA_STREAM, parts, NULL);
  strata_action(bus, "T/wait", 0, wait_in, NULL);
  strata_action(bus, "Box/refuse", 0, refuse, NULL);
  strata_instances(bus, "Box", NULL, release, NULL);
  strata_observation one = {.name = "one", .handler = refuse}, two = {.name = "two", .latest = true, .handler = echo};
  strata_observe(bus, &one), strata_observe(bus, &two);
  strata_steps steps = {.tear_down = tear_down, .settings = refuse, .connection = connection};
  strata_life(bus, &steps);
  kept = NULL;
  calls = cancels = writables = released = torn = lost = parts_seen = 0;
  seen[0] = 0;
}

static void start(strata_options options) {
  make(options);
  declare();
  greet();
}

/* ---- Tests ---- */

static void json(void) {
  static const char *const good[] = {"1", " [1 , 2] ", "{\"a\":{\"b\":[]},\"b\":0}", "\"\\ud83d\\ude00\"", "-0.5e+3", "null",
                                     "{\"\":1,\"a\":1}", "\"\xf0\x9f\x98\x80\""};
  static const char *const bad[] = {"", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "\"\\ud800\"", "\"\\udc00\"", "01", "1.", "[1,]",
                                    "{\"a\":1,}", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "tru", "1 2", "\"\t\"",
                                    "\xef\xbb\xbf" "1", "+1", "\"\\x\"", "[", "{\"a\"}", "nan", "-", "1e", "\"\xe2\x82\""};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    test_name = good[i];
    check(strata_json_check(NULL, good[i], strlen(good[i])) == STRATA_OK);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    test_name = bad[i];
    check(strata_json_check(NULL, bad[i], strlen(bad[i])) == STRATA_INVALID);
  }
  test_name = "json";
  char deep[1100];
  for (size_t depth = 512; depth <= 513; depth++) {
    memset(deep, '[', depth), memset(deep + depth, ']', depth);
    check((strata_json_check(NULL, deep, 2 * depth) == STRATA_OK) == (depth == 512));
  }
  size_t size = 100000 * 12, count = 0;
  char *many = malloc(size + 2);
  many[count++] = '{';
  for (int i = 0; i < 100000; i++) count += (size_t)sprintf(many + count, "%s\"n%d\":0", i ? "," : "", (i * 7919) % 100000);
  many[count++] = '}';
  check(strata_json_check(NULL, many, count) == STRATA_OK);
  count += (size_t)sprintf(many + count - 1, ",\"n5\":1}") - 1;
  check(strata_json_check(NULL, many, count) == STRATA_INVALID);
  free(many);

  char text[256];
  strata_writer w = strata_write(text, sizeof text);
  strata_put_object(&w);
  strata_put_name(&w, "a\n"), strata_put_int(&w, INT64_MIN);
  strata_put_name(&w, "b"), strata_put_array(&w), strata_put_bool(&w, true), strata_put_string(&w, "\"\\\x01é"), strata_put_array_end(&w);
  strata_put_name(&w, "c"), strata_put_double(&w, 0.1);
  strata_put_object_end(&w);
  check(!w.failed && strata_json_check(NULL, text, w.length) == STRATA_OK);
  strata_json object = strata_json_of(text, w.length), value, element;
  int64_t number;
  double real;
  bool truth;
  size_t position = 0;
  char string[16];
  check(strata_json_member(object, "a\n", &value) && strata_json_int(value, &number) && number == INT64_MIN);
  check(strata_json_member(object, "c", &value) && strata_json_double(value, &real) && real == 0.1);
  check(strata_json_member(object, "b", &value) && strata_json_next(value, &position, NULL, &element));
  check(strata_json_bool(element, &truth) && truth);
  check(strata_json_next(value, &position, NULL, &element) && strata_json_string(element, string, sizeof string, NULL));
  check(strcmp(string, "\"\\\x01é") == 0 && !strata_json_next(value, &position, NULL, &element));
  check(!strata_json_string(element, string, 5, NULL) && !strata_json_member(object, "d", &value));
  check(!strata_json_int(strata_json_of("9223372036854775808", 19), &number) && !strata_json_int(strata_json_of("1.0", 3), &number));
  w = strata_write(text, 3);
  strata_put_string(&w, "abc");
  check(w.failed);
  w = strata_write(text, sizeof text);
  strata_put_string(&w, "\xff");
  check(w.failed);
}

static void served(void) {
  test_name = "served";
  start((strata_options){0});
  check(has("\"observes\":[{\"name\":\"one\"},{\"name\":\"two\",\"keep\":\"latest\"}]") && !has("resumed"));
  check(strata_has_feature(bus, "contracts") && !strata_has_feature(bus, "x"));
  check(strcmp(strata_settings(bus), "{\"k\":1}") == 0);
  give("{\"kind\":\"call\",\"id\":9007199254740991,\"to\":\"T/echo\",\"credit\":0}", "[1]");
  check(is("{\"kind\":\"reply\",\"id\":9007199254740991}", "[1]"));
  give("{\"kind\":\"call\",\"id\":2,\"to\":\"T/echo\"}", "{\"a\":1,\"a\":1}");
  check(next() && has("\"id\":2,\"code\":\"bad-params\"") && calls == 1);
  give("{\"kind\":\"call\",\"id\":3,\"to\":\"T/forget\"}", "");
  check(next() && has("\"id\":3,\"code\":\"failed\""));
  give("{\"kind\":\"call\",\"id\":4,\"to\":\"T/nothing\"}", "");
  check(next() && has("\"id\":4,\"code\":\"unknown-action\""));
  give("{\"kind\":\"call\",\"id\":5,\"to\":\"module/ping\"}", "");
  check(is("{\"kind\":\"reply\",\"id\":5}", NULL));
  give("{\"kind\":\"call\",\"id\":6,\"to\":\"module/whatever\"}", "");
  check(next() && has("\"id\":6,\"code\":\"unknown-action\""));

  give("{\"kind\":\"call\",\"id\":7,\"to\":\"T/keep\"}", "");
  check(!next() && kept != NULL);
  check(strata_reply(kept, "7", 1) == STRATA_OK && is("{\"kind\":\"reply\",\"id\":7}", "7"));
  give("{\"kind\":\"call\",\"id\":8,\"to\":\"T/keep\"}", "");
  give("{\"kind\":\"cancel\",\"id\":8}", "");
  check(!next() && cancels == 1);
  give("{\"kind\":\"cancel\",\"id\":8}", ""), give("{\"kind\":\"credit\",\"id\":8,\"credit\":1}", "");
  give("{\"kind\":\"reply\",\"id\":999}", "1"), give("{\"kind\":\"credit\"}", ""), give("{\"kind\":\"new\"}", "");
  check(!next());

  give("{\"kind\":\"call\",\"id\":9,\"to\":\"T/parts\",\"credit\":2}", "");
  check(is("{\"kind\":\"reply\",\"id\":9,\"more\":true}", "1") && is("{\"kind\":\"reply\",\"id\":9,\"more\":true}", "1"));
  check(!next() && strata_part(kept, "1", 1) == STRATA_NO_CREDIT);
  give("{\"kind\":\"credit\",\"id\":9,\"credit\":3}", "");
  check(!next() && writables == 1 && strata_credit(kept) == 3);
  strata_fail_with(kept, "T.x", "m", "maybe", "{}", 2);
  check(is("{\"kind\":\"error\",\"id\":9,\"code\":\"T.x\",\"message\":\"m\",\"ran\":\"maybe\"}", "{}"));

  give("{\"kind\":\"notice\",\"id\":20,\"name\":\"one\",\"subscription\":11}", "");
  check(next() && has("\"kind\":\"error\",\"id\":20,\"code\":\"T.no\""));
  give("{\"kind\":\"notice\",\"id\":21,\"name\":\"two\",\"subscription\":12}", "");
  check(next() && has("\"kind\":\"reply\",\"id\":21"));
  give("{\"kind\":\"notice\",\"name\":\"two\",\"subscription\":12}", "1");
  give("{\"kind\":\"notice\",\"id\":22,\"name\":\"two\",\"subscription\":99}", "1");
  check(is("{\"kind\":\"reply\",\"id\":22}", "") && calls == 3 && retained == 0);
  give("{\"kind\":\"notice\",\"name\":\"two\",\"subscription\":12,\"retained\":true}", "1");
  check(!next() && calls == 4 && retained == 1);

  give("{\"kind\":\"call\",\"id\":30,\"to\":\"module/settings\"}", "{\"settings\":{\"k\":2}}");
  check(next() && has("T.no") && strcmp(strata_settings(bus), "{\"k\":1}") == 0);
  give("{\"kind\":\"call\",\"id\":31,\"to\":\"module/create\"}", "{\"instance\":\"Box#3\",\"params\":null}");
  check(is("{\"kind\":\"reply\",\"id\":31}", ""));
  give("{\"kind\":\"call\",\"id\":32,\"to\":\"Box#4/refuse\"}", "");
  check(next() && has("unknown-action"));
  give("{\"kind\":\"call\",\"id\":33,\"to\":\"Box#3/refuse\"}", "");
  check(next() && has("T.no"));
  drop_peer();
  step();
  check(released == 1 && lost == 1);
  done();
}

static void nested(void) {
  test_name = "nested";
  start((strata_options){0});
  give("{\"kind\":\"call\",\"id\":5,\"to\":\"T/wait\",\"trace\":\"00-1\"}", "");
  give("{\"kind\":\"call\",\"id\":6,\"to\":\"module/ping\"}", "");
  give("{\"kind\":\"call\",\"id\":7,\"to\":\"T/echo\"}", "7");
  give("{\"kind\":\"reply\",\"id\":2}", "\"done\"");
  check(next() && has("\"id\":2,\"to\":\"B/b\",\"parent\":5,\"trace\":\"00-1\""));
  check(is("{\"kind\":\"reply\",\"id\":6}", NULL) && is("{\"kind\":\"reply\",\"id\":7}", "7"));
  check(is("{\"kind\":\"reply\",\"id\":5}", "\"done\""));
  done();
}

static void own(void) {
  test_name = "own";
  start((strata_options){0});
  uint64_t id;
  strata_message m = {.to = "B/b", .credit = 2, .deadline = STRATA_FOREVER, .answered = answered, .part = part};
  check(strata_send(bus, STRATA_CALL, &m, &id) == STRATA_OK && id == 2);
  check(is("{\"kind\":\"call\",\"id\":2,\"to\":\"B/b\",\"deadline\":0,\"credit\":2}", ""));
  give("{\"kind\":\"reply\",\"id\":2,\"more\":true}", "1");
  check(is("{\"kind\":\"credit\",\"id\":2,\"credit\":1}", "") && parts_seen == 1);
  strata_cancel(bus, id);
  check(is("{\"kind\":\"cancel\",\"id\":2}", ""));
  give("{\"kind\":\"reply\",\"id\":2,\"more\":true}", "1");
  give("{\"kind\":\"error\",\"id\":2,\"code\":\"cancelled\",\"ran\":\"maybe\"}", "");
  check(!next() && parts_seen == 1 && strcmp(seen, "cancelled maybe null") == 0);
  give("{\"kind\":\"call\",\"id\":7,\"to\":\"T/keep\"}", "");
  step();
  m = (strata_message){.to = "M", .name = "n", .object = "o", .body = "1", .parent = kept, .answered = answered, .key = "k"};
  check(strata_send(bus, STRATA_REPORT, &m, NULL) == STRATA_OK);
  check(is("{\"kind\":\"report\",\"id\":3,\"to\":\"M\",\"name\":\"n\",\"object\":\"o\",\"parent\":7,\"key\":\"k\"}", "1"));
  give("{\"kind\":\"reply\",\"id\":3}", "{\"a\":0,\"a\":0}");
  step();
  check(strcmp(seen, "bad-params yes null") == 0);
  m = (strata_message){.name = "n", .body = "2", .key = "not of a broadcast"};
  check(strata_send(bus, STRATA_BROADCAST, &m, NULL) == STRATA_OK && is("{\"kind\":\"broadcast\",\"name\":\"n\"}", "2"));
  m.retain = true;
  check(strata_send(bus, STRATA_BROADCAST, &m, NULL) == STRATA_OK && is("{\"kind\":\"broadcast\",\"name\":\"n\",\"retain\":true}", "2"));

  m = (strata_message){.to = "B/b", .meta = "{\"a\":1,\"a\":1}"};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID);
  char long_key[66];
  memset(long_key, 'k', 65), long_key[65] = 0;
  m = (strata_message){.to = "B/b", .key = long_key};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID);
  m.key = "";
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID);

  /* An observation that ends before it has begun. */
  strata_observation late = {.name = "late", .object = "o", .handler = echo, .share = true};
  check(strata_observe(bus, &late) == STRATA_OK && is("{\"kind\":\"call\",\"id\":4,\"to\":\"bus/observe\"}", "{\"name\":\"late\",\"object\":\"o\",\"share\":true}"));
  strata_unobserve(bus, "late");
  give("{\"kind\":\"reply\",\"id\":4}", "{\"subscription\":77}");
  check(is("{\"kind\":\"call\",\"id\":5,\"to\":\"bus/unobserve\"}", "{\"subscription\":77}"));
  give("{\"kind\":\"reply\",\"id\":5}", "{}");

  /* What was not begun to be written ends with `no`. */
  m = (strata_message){.to = "B/b", .answered = answered};
  strata_send(bus, STRATA_CALL, &m, NULL);
  shutdown(peer, SHUT_RDWR);
  drop_peer();
  step();
  check(strcmp(seen, "died no null") == 0 && cancels == 1);
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_UNAVAILABLE);
  greet();
  strata_send(bus, STRATA_CALL, &m, NULL);
  check(next());
  drop_peer();
  step();
  check(strcmp(seen, "died maybe null") == 0);
  done();
}

/* The launcher's end, a child of fork, and a bus that isn't there. */
static void ends(void) {
  test_name = "ends";
  int lifeline[2];
  char number[16];
  if (pipe(lifeline) != 0) abort();
  snprintf(number, sizeof number, "%d", lifeline[0]);
  setenv("STRATA_LIFELINE", number, 1);
  start((strata_options){0});
  unsetenv("STRATA_LIFELINE");
  check(strata_step(bus, 0) && torn == 0 && strata_lifeline(bus) == lifeline[0]);
  pid_t child = fork();
  if (child == 0) _exit(strata_step(bus, 0) ? 1 : 7);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  check(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  give("{\"kind\":\"call\",\"id\":7,\"to\":\"T/echo\"}", "7");
  check(is("{\"kind\":\"reply\",\"id\":7}", "7"));
  close(lifeline[1]);
  check(!strata_step(bus, 0) && torn == 1 && strata_exit_code(bus) == 0);
  close(lifeline[0]);
  done();
  make((strata_options){.is_operator = true});
  close(listener);
  check(!strata_connect(bus) && strata_exit_code(bus) == 1);
  listen_anew();
  done();
}

/* A bus whose backlog is full isn't gone. */
static void backlog(void) {
  test_name = "backlog";
  int fill[64], count = 0;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, path);
  listen(listener, 1);
  for (; count < 64; count++) {
    fill[count] = socket(AF_UNIX, SOCK_STREAM, 0);
    fcntl(fill[count], F_SETFL, O_NONBLOCK);
    if (connect(fill[count], (struct sockaddr *)&address, sizeof address) != 0) break;
  }
  make((strata_options){0});
  declare();
  check(strata_step(bus, 0) && strata_fd(bus) == -1 && strata_timeout(bus) >= 0);
  for (int i = 0; i <= count; i++) {
    int taken = accept(listener, NULL, NULL);
    if (taken >= 0) close(taken);
    close(fill[i]);
  }
  greet();
  check(strata_connect(bus));
  listen(listener, 4);
  done();
}

static void interrupted(int number) { (void)number; }

static void session(void) {
  test_name = "session";
  start((strata_options){0});
  give("{\"kind\":\"call\",\"id\":3,\"to\":\"module/didStart\"}", "");
  check(next());
  give("{\"kind\":\"error\",\"code\":\"slow-consumer\",\"message\":\"m\"}", "");
  step();
  drop_peer();
  greet();
  check(has("\"resumed\":true"));
  /* A remark doesn't end the session, and a later end isn't its. */
  give("{\"kind\":\"error\",\"code\":\"forbidden\"}", ""), give("{\"kind\":\"call\",\"id\":5,\"to\":\"module/ping\"}", "");
  check(next());
  drop_peer();
  greet();
  give("{\"kind\":\"call\",\"id\":7,\"to\":\"module/tearDown\"}", "");
  check(is("{\"kind\":\"reply\",\"id\":7}", "") && torn == 1);
  give("{\"kind\":\"error\",\"code\":\"shutting-down\"}", "");
  step();
  drop_peer();
  check(!strata_step(bus, 0) || !strata_step(bus, 0));
  check(strata_exit_code(bus) == 0 && torn == 1);
  done();

  start((strata_options){0});
  give("{\"kind\":\"error\",\"code\":\"forbidden\"}", "");
  step();
  drop_peer();
  step();
  check(!strata_step(bus, 0) && strata_exit_code(bus) == 1);
  done();

  start((strata_options){0});
  strata_stop(bus);
  check(!strata_step(bus, 0) && torn == 1 && strata_exit_code(bus) == 0);
  done();

  make((strata_options){0});
  check(accept_client() && next());
  give("{\"kind\":\"error\",\"id\":1,\"code\":\"name-taken\"}", "");
  step();
  greet();
  check(strata_connect(bus));
  done();

  make((strata_options){0});
  char name[32];
  for (int i = 0; i < 5000; i++) {
    snprintf(name, sizeof name, "Big/action%d", i);
    strata_action(bus, name, 0, echo, NULL);
  }
  strata_observation last = {.name = "last", .handler = echo};
  strata_observe(bus, &last);
  check(accept_client() && next() && strstr(got_body, "\"more\":true") != NULL);
  give("{\"kind\":\"reply\",\"id\":1}", welcome);
  int more = 0;
  while (next() && strstr(got_body, "\"more\":true") != NULL) {
    more++;
    check(strstr(got_body, "\"add\":true") != NULL);
  }
  check(has("bus/register") && more > 0 && strstr(got_body, "\"add\":true,\"actions\":{") != NULL);
  check(strstr(got_body, "action4999") != NULL && strstr(got_body, "\"last\"") != NULL);
  done();
}

/* The same bytes whole and one at a time. */
static void pieces(void) {
  test_name = "pieces";
  start((strata_options){0});
  static char bytes[9000];
  size_t length = 0;
  char body[2000];
  for (int i = 0; i < 3; i++) {
    memset(body, 'x', sizeof body);
    body[0] = body[1998] = '"', body[1999] = 0;
    char header[64];
    snprintf(header, sizeof header, "{\"kind\":\"call\",\"id\":%d,\"to\":\"T/echo\"}", 40 + i);
    length += frame_of(bytes + length, header, body, 1999);
  }
  write_all(bytes, length);
  for (int i = 0; i < 3; i++) check(next() && strcmp(got_body, body) == 0);
  for (size_t i = 0; i < length; i++) {
    write_all(bytes + i, 1);
    strata_step(bus, 0);
  }
  for (int i = 0; i < 3; i++) check(next() && strcmp(got_body, body) == 0);
  write_all(bytes, 700);
  step();
  drop_peer();
  greet();
  give("{\"kind\":\"call\",\"id\":1,\"to\":\"T/echo\"}", "1");
  check(is("{\"kind\":\"reply\",\"id\":1}", "1"));

  static const char *const lies[] = {"\0\0\0\3\0\0\0\0", "\0\0\0\x10\0\0\0\x20", "\xff\xff\xff\xff\xff\xff\xff\xf0"};
  for (size_t i = 0; i < 3; i++) {
    lost = 0;
    write_all(lies[i], 8);
    step();
    check(lost == 1);
    greet();
  }
  static const char *const headers[] = {"{\"kind\":\"call\",\"id\":1,\"id\":2}", "{}", "[]", "{\"kind\":\"call\",\"id\":1.0}", "{\"kind\":\"call\",\"id\":null}",
                                        "{\"kind\":\"call\",\"id\":9007199254740992}", "{\"kind\":\"call\"}"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    lost = 0;
    give(headers[i], "");
    step();
    check(lost == 1);
    greet();
  }
  unsigned seed = 1;
  for (int round = 0; round < 100; round++) {
    char noise[64];
    for (size_t i = 0; i < sizeof noise; i++) seed = seed * 1103515245u + 12345u, noise[i] = (char)(seed >> 16);
    noise[0] = noise[1] = noise[2] = noise[4] = noise[5] = noise[6] = 0;
    write_all(noise, sizeof noise);
    step();
    if (strata_fd(bus) < 0) greet();
  }
  done();
}

static void bounds(void) {
  test_name = "bounds";
  size_t size = 3 << 20;
  char *frame = malloc(size + 100), *body = malloc(size);
  memset(body, ' ', size);
  body[0] = '1';
  /* Too large for `frame`, then for `memory` alone: answered by the header. */
  for (int i = 0; i < 2; i++) {
    start((strata_options){.frame = i == 0 ? 1 << 20 : 0, .memory = i == 0 ? 0 : 1 << 20});
    write_all(frame, frame_of(frame, "{\"kind\":\"call\",\"id\":5,\"to\":\"T/echo\"}", body, size));
    check(next() && has("\"id\":5,\"code\":\"overloaded\"") && has("\"ran\":\"no\""));
    strata_message m = {.to = "B/b", .answered = answered};
    strata_send(bus, STRATA_CALL, &m, NULL);
    check(next());
    write_all(frame, frame_of(frame, "{\"kind\":\"reply\",\"id\":2}", body, size));
    give("{\"kind\":\"call\",\"id\":6,\"to\":\"T/echo\"}", "1");
    check(is("{\"kind\":\"reply\",\"id\":6}", "1") && strcmp(seen, "too-large yes null") == 0 && lost == 0);
    check(peak <= (i == 0 ? (size_t)64 << 20 : (size_t)1 << 20));
    check(strata_memory(bus) == counted && counted < 100 << 10);
    done();
  }

  start((strata_options){0});
  body[0] = body[899999] = '"', memset(body + 1, 'x', 899998);
  write_all(frame, frame_of(frame, "{\"kind\":\"call\",\"id\":5,\"to\":\"T/echo\"}", body, 900000));
  check(next() && strlen(got_body) == 900000 && memcmp(got_body, body, 900000) == 0);
  check(strata_memory(bus) < 100 << 10);
  done();

  /* A peer that never reads. */
  start((strata_options){.queued = 100000, .calls = 50});
  body[1000] = 0;
  strata_message m = {.name = "n", .body = body, .length = 1000};
  int count = 0;
  strata_status status;
  while ((status = strata_send(bus, STRATA_BROADCAST, &m, NULL)) == STRATA_OK && count < 100000) {
    count++;
    strata_step(bus, 0);
  }
  check(status == STRATA_OVERLOADED && counted < 300000 && lost == 0);
  while (next()) count--;
  check(count == 0);
  m = (strata_message){.to = "B/b"};
  while ((status = strata_send(bus, STRATA_CALL, &m, NULL)) == STRATA_OK && count < 1000) count++;
  check(status == STRATA_OVERLOADED && count == 50);
  done();

  start((strata_options){.served = 2});
  give("{\"kind\":\"call\",\"id\":1,\"to\":\"T/keep\"}", ""), give("{\"kind\":\"call\",\"id\":2,\"to\":\"T/keep\"}", "");
  give("{\"kind\":\"call\",\"id\":3,\"to\":\"T/keep\"}", ""), give("{\"kind\":\"call\",\"id\":4,\"to\":\"module/ping\"}", "");
  check(next() && has("\"id\":3,\"code\":\"overloaded\"") && is("{\"kind\":\"reply\",\"id\":4}", NULL));
  drop_peer();
  step();
  check(cancels == 2);
  done();
  check(strata_new(&(strata_options){.memory = 100}) == NULL);
  free(frame), free(body);
}

/* ---- Descriptors ---- */

/* How many this process has, the one that counts them left out. */
static int open_files(void) {
  DIR *directory = opendir("/proc/self/fd");
  int count = -1;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count - 2; /* `.` and `..` */
}

/* A file that is to be read from its start. */
static int file(const char *content) {
  char name[96];
  snprintf(name, sizeof name, "%s/file", folder);
  int number = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  unlink(name);
  if (pwrite(number, content, strlen(content), 0) < 0) abort();
  return number;
}

/* Whether the file has this content; closes it. */
static bool holds(int number, const char *content) {
  char text[64] = "";
  bool same = pread(number, text, sizeof text - 1, 0) >= 0 && strcmp(text, content) == 0;
  return close(number) == 0 && same;
}

static void drop_came(void) {
  for (size_t i = 0; i < came_count; i++) close(came[i]);
  came_count = 0;
}

static int given[STRATA_DESCRIPTORS + 1]; /* what `give_files` answers with */
static size_t given_count, seen_count;
static strata_status given_status;

static void take_files(strata_request *r, void *c) {
  (void)c;
  seen_count = strata_descriptor_count(r);
  int first = strata_take_descriptor(r, 0);
  check(first >= 0 && fcntl(first, F_GETFD) == FD_CLOEXEC && holds(first, "one"));
  check(strata_take_descriptor(r, 0) == -1 && strata_take_descriptor(r, seen_count) == -1);
  strata_reply(r, NULL, 0);
}

static void give_files(strata_request *r, void *c) {
  (void)c;
  given_status = strata_reply_with(r, "true", 0, given, given_count);
}

static void files_answered(strata *b, const strata_answer *a, void *c) {
  (void)b, (void)c;
  seen_count = a->descriptor_count;
  if (seen_count == 2) check(holds(strata_take_answered(a, 1), "two") && strata_take_answered(a, 1) == -1);
}

static void start_files(strata_options options, bool declares) {
  make(options);
  declare();
  strata_observation files = {.name = "files", .handler = take_files};
  strata_observe(bus, &files);
  strata_action(bus, "T/take", 0, take_files, NULL);
  strata_action(bus, "T/give", 0, give_files, NULL);
  strata_event(bus, "give", give_files, NULL);
  if (declares) {
    check(strata_descriptors(bus, "T/take", 16, 0) == STRATA_OK && strata_descriptors(bus, "T/give", 0, 2) == STRATA_OK);
    check(strata_descriptors(bus, "T/none", 1, 0) == STRATA_INVALID && strata_descriptors(bus, "T/take", 17, 0) == STRATA_INVALID);
  }
  greet();
}

static void descriptors(void) {
  test_name = "descriptors";
  int before = open_files(), two[2];
  static int sixteen[STRATA_DESCRIPTORS + 1];
  two[0] = file("one"), two[1] = file("two");
  for (int i = 0; i <= STRATA_DESCRIPTORS; i++) sixteen[i] = two[0];

  /* What comes: calls, reports, replies. What isn't taken is closed. */
  start_files((strata_options){0}, true);
  int connected = open_files();
  check(has("\"memory\":true,\"descriptors\":true,\"module\"") && has("\"take\":{\"descriptors\":{\"params\":16,\"reply\":0}}"));
  check(strata_descriptors(bus, "T/take", 1, 0) == STRATA_INVALID);
  give_with("{\"kind\":\"call\",\"id\":1,\"to\":\"T/take\",\"descriptors\":2}", "", two, 2);
  check(is("{\"kind\":\"reply\",\"id\":1}", NULL) && seen_count == 2 && open_files() == connected);
  give_with("{\"kind\":\"call\",\"id\":2,\"to\":\"T/take\",\"descriptors\":16}", "", sixteen, 16);
  check(is("{\"kind\":\"reply\",\"id\":2}", NULL) && seen_count == 16 && open_files() == connected);
  give_with("{\"kind\":\"notice\",\"id\":3,\"name\":\"files\",\"subscription\":13,\"via\":\"report\",\"descriptors\":1}", "", two, 1);
  check(is("{\"kind\":\"reply\",\"id\":3}", NULL) && seen_count == 1 && open_files() == connected);
  give_with("{\"kind\":\"call\",\"id\":4,\"to\":\"T/none\",\"descriptors\":2}", "", two, 2);
  check(next() && has("unknown-action") && open_files() == connected);
  give_with("{\"kind\":\"call\",\"id\":5,\"to\":\"T/take\",\"descriptors\":2}", "{", two, 2);
  check(next() && has("bad-params") && open_files() == connected);
  give_with("{\"kind\":\"reply\",\"id\":77,\"descriptors\":2}", "", two, 2);
  step();
  check(open_files() == connected);
  give_with("{\"kind\":\"call\",\"id\":6,\"to\":\"T/keep\",\"descriptors\":2}", "", two, 2);
  step();
  check(open_files() == connected + 2);
  give("{\"kind\":\"cancel\",\"id\":6}", "");
  step();
  check(cancels == 1 && open_files() == connected);

  strata_message m = {.to = "B/b", .answered = files_answered};
  uint64_t id = 0;
  char header[96];
  check(strata_send(bus, STRATA_CALL, &m, &id) == STRATA_OK && next());
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%d,\"descriptors\":2}", (int)id);
  give_with(header, "1", two, 2);
  step();
  check(seen_count == 2 && open_files() == connected);

  /* Several frames in one read, and one in pieces: each has its own. */
  char bytes[1024];
  size_t length = frame_of(bytes, "{\"kind\":\"call\",\"id\":7,\"to\":\"T/echo\"}", "7", 1);
  write_all(bytes, length);
  give_with("{\"kind\":\"call\",\"id\":8,\"to\":\"T/take\",\"descriptors\":2}", "", two, 2);
  length = frame_of(bytes, "{\"kind\":\"call\",\"id\":9,\"to\":\"T/take\",\"descriptors\":1}", "", 0);
  write_with(bytes, 1, two, 1);
  step();
  for (size_t i = 1; i < length; i++) write_all(bytes + i, 1), strata_step(bus, 0);
  check(is("{\"kind\":\"reply\",\"id\":7}", "7") && is("{\"kind\":\"reply\",\"id\":8}", NULL));
  check(is("{\"kind\":\"reply\",\"id\":9}", NULL) && seen_count == 1 && open_files() == connected);

  length = frame_of(bytes, "{\"kind\":\"call\",\"id\":20,\"to\":\"T/take\",\"descriptors\":2}", "", 0);
  write_with(bytes, 1, two, 2);
  step();
  write_all(bytes + 1, length - 1);
  give_with("{\"kind\":\"call\",\"id\":21,\"to\":\"T/take\",\"descriptors\":1}", "", two, 1);
  check(is("{\"kind\":\"reply\",\"id\":20}", NULL) && is("{\"kind\":\"reply\",\"id\":21}", NULL) && open_files() == connected);

  /* What goes out. The caller's own stay open. */
  given[0] = two[1], given[1] = two[0], given_count = 2;
  give("{\"kind\":\"call\",\"id\":10,\"to\":\"T/give\"}", "");
  check(is("{\"kind\":\"reply\",\"id\":10,\"descriptors\":2}", "true") && given_status == STRATA_OK && came_count == 2);
  check(holds(came[0], "two") && holds(came[1], "one") && open_files() == connected);
  came_count = 0;
  give("{\"kind\":\"call\",\"id\":13,\"to\":\"module/event\",\"name\":\"give\"}", "");
  check(next() && has("\"id\":13,\"code\":\"failed\"") && given_status == STRATA_INVALID && open_files() == connected);
  given_count = 17;
  give("{\"kind\":\"call\",\"id\":11,\"to\":\"T/give\"}", "");
  check(next() && has("\"id\":11,\"code\":\"failed\"") && given_status == STRATA_INVALID);
  given[1] = 100000, given_count = 2;
  give("{\"kind\":\"call\",\"id\":12,\"to\":\"T/give\"}", "");
  check(next() && has("\"id\":12,\"code\":\"failed\"") && given_status == STRATA_INVALID && open_files() == connected);
  m = (strata_message){.to = "B/b", .descriptors = sixteen, .descriptor_count = 16};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && has("\"descriptors\":16") && came_count == 16);
  drop_came();
  m.name = "n", m.descriptors = two + 1, m.descriptor_count = 1;
  check(strata_send(bus, STRATA_REPORT, &m, NULL) == STRATA_OK && next() && has("\"descriptors\":1") && came_count == 1);
  check(holds(came[0], "two"));
  came_count = 0;
  check(strata_send(bus, STRATA_BROADCAST, &m, NULL) == STRATA_INVALID && strata_send(bus, STRATA_OPEN, &m, NULL) == STRATA_INVALID);
  m.descriptors = sixteen, m.descriptor_count = 17;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID);
  m.descriptor_count = 1, m.to = "\xff";
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID && open_files() == connected && !next());
  check(came_count == 0);

  /* Long frames, with others before and behind: the socket takes none whole. */
  size_t size = 300000;
  char *body = malloc(size);
  memset(body, '1', size);
  for (int i = 0; i < 12; i++) {
    int third[3] = {two[i % 2], two[0], two[1]};
    m = (strata_message){.to = "B/b", .body = body, .length = i % 4 == 3 ? 1 : size, .descriptors = third, .descriptor_count = (size_t)i % 4};
    check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK);
  }
  size_t taken = 0;
  for (int i = 0; i < 12; i++) {
    check(next() && strlen(got_body) == (i % 4 == 3 ? 1 : size) && has("\"descriptors\"") == (i % 4 > 0));
    if (i % 4 > 0) check(came_count >= taken + (size_t)i % 4 && holds(came[taken], i % 2 ? "two" : "one"));
    for (size_t j = 1; j < (size_t)i % 4; j++) check(holds(came[taken + j], j == 1 ? "one" : "two"));
    taken += (size_t)i % 4;
  }
  check(came_count == taken && open_files() == connected);
  came_count = 0;

  /* At most 64 wait to be sent; the connection's end closes them. */
  m = (strata_message){.to = "B/b", .body = body, .length = size};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK);
  m = (strata_message){.to = "B/b", .descriptors = sixteen, .descriptor_count = 16};
  for (int i = 0; i < 4; i++) check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK);
  m.descriptor_count = 1;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OVERLOADED && open_files() == connected + 64);
  step();
  drop_peer();
  step();
  check(open_files() == connected - 2 && lost == 1);
  greet();
  check(open_files() == connected && strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK);
  give_with("{\"kind\":\"call\",\"id\":6,\"to\":\"T/keep\",\"descriptors\":2}", "", two, 2);
  length = frame_of(bytes, "{\"kind\":\"call\",\"id\":9,\"to\":\"T/take\",\"descriptors\":1}", "", 0);
  write_with(bytes, 8, two, 1);
  step();
  while (next()) continue;
  drop_came();
  check(open_files() == connected + 3 && strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK);
  done(); /* with a kept request, an unfinished frame, and an unsent one */
  check(open_files() == before + 2);

  /* A result keeps them until it is freed. */
  start_files((strata_options){.descriptors = true}, false);
  m = (strata_message){.to = "B/b"};
  strata_result result;
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":2,\"descriptors\":2}");
  give_with(header, "1", two, 2);
  check(strata_wait(bus, STRATA_CALL, &m, &result) && result.answer.descriptor_count == 2 && open_files() == connected + 2);
  check(holds(strata_take_answered(&result.answer, 0), "one"));
  strata_result_free(bus, &result);
  check(open_files() == connected && strata_take_answered(&result.answer, 1) == -1);

  /* A frame that is refused for its length. */
  done();
  start_files((strata_options){.frame = 1000, .descriptors = true}, false);
  memset(body, ' ', 5000), body[0] = '1', body[5000] = 0;
  give_with("{\"kind\":\"call\",\"id\":9,\"to\":\"T/take\",\"descriptors\":2}", body, two, 2);
  check(next() && has("\"id\":9,\"code\":\"overloaded\"") && open_files() == connected);

  /* What doesn't match ends the connection. */
  const char *names_two = "{\"kind\":\"reply\",\"id\":9,\"descriptors\":2}", *none = "{\"kind\":\"reply\",\"id\":9}";
  give_with(names_two, "", two, 1);
  step();
  check(lost == 1 && open_files() == connected - 1);
  greet(), give(names_two, ""), step();
  check(lost == 2);
  greet(), give_with(none, "", two, 2), step();
  check(lost == 3);
  greet(), write_with("", 1, two, 1), write_with("", 1, two, 1), step();
  check(lost == 4 && open_files() == connected - 1);
  /* The kernel drops what has no room, as it does when the process may open no more files: the
   * request ends, and the connection goes on. */
  greet();
  give_with("{\"kind\":\"call\",\"id\":9,\"to\":\"T/take\",\"descriptors\":2}", "", sixteen, 17);
  check(next() && has("\"id\":9,\"code\":\"overloaded\"") && has("RLIMIT_NOFILE") && has("\"ran\":\"no\""));
  give_with("{\"kind\":\"notice\",\"id\":10,\"name\":\"files\",\"subscription\":13,\"via\":\"report\",\"descriptors\":1}", "", sixteen, 17);
  check(next() && has("\"id\":10,\"code\":\"overloaded\""));
  m = (strata_message){.to = "B/b", .answered = answered};
  check(strata_send(bus, STRATA_CALL, &m, &id) == STRATA_OK && next());
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%d,\"descriptors\":2}", (int)id);
  give_with(header, "", sixteen, 17), step();
  check(strcmp(seen, "overloaded yes null") == 0 && lost == 4 && open_files() == connected);
  give("{\"kind\":\"call\",\"id\":11,\"to\":\"T/echo\"}", "7");
  check(is("{\"kind\":\"reply\",\"id\":11}", "7"));
  /* Three sets without a frame that names them, the third inside a handler that waits. */
  length = frame_of(bytes, "{\"kind\":\"call\",\"id\":5,\"to\":\"T/wait\"}", "", 0);
  write_with(bytes, 1, two, 1), step();
  write_all(bytes + 1, length - 1), write_with("", 1, two, 1), write_with("", 1, two, 1);
  strata_step(bus, 0);
  check(lost == 5 && open_files() == connected - 1);
  done();

  /* Neither this end nor an older bus may carry some. */
  for (int i = 0; i < 2; i++) {
    if (i == 1) welcomed = "{\"features\":[]}";
    start_files((strata_options){.descriptors = i == 1}, false);
    check(has("\"descriptors\"") == (i == 1));
    m = (strata_message){.to = "B/b", .descriptors = two, .descriptor_count = 1};
    check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID && !next());
    given_count = 1;
    give("{\"kind\":\"call\",\"id\":11,\"to\":\"T/give\"}", "");
    check(next() && has("\"code\":\"failed\"") && given_status == STRATA_INVALID && open_files() == connected);
    done();
  }
  welcomed = welcome;
  free(body);
  close(two[0]), close(two[1]);
  check(open_files() == before);
}

/* ---- Bodies in memory files ---- */

static const char welcome_body[] =
    "{\"subscriptions\":[11,12,13],\"limits\":{\"frame\":1000000,\"header\":16384,\"body\":25000000},"
    "\"features\":[\"descriptors\",\"memory\"]}";

enum { all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* A file that holds a text of `length` bytes in quotes, sealed like this. Something follows its end in
 * the last page, as a sender may leave it. */
static int text_file(size_t length, int seals) {
  int number = memfd_create("body", MFD_ALLOW_SEALING);
  if (number < 0 || ftruncate(number, (off_t)length) != 0) abort();
  char *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
  if (bytes == MAP_FAILED) abort();
  memset(bytes, 'x', (length + 4095) / 4096 * 4096);
  bytes[0] = bytes[length - 1] = '"';
  munmap(bytes, length);
  if (fcntl(number, F_ADD_SEALS, seals) != 0) abort();
  return number;
}

/* Whether a body is such a text, with a NUL behind it. */
static bool is_text(const char *body, size_t length, size_t expected) {
  if (length != expected || body[0] != '"' || body[length - 1] != '"' || body[length] != 0) return false;
  return body[1] == 'x' && memcmp(body + 1, body + 2, length - 3) == 0;
}

/* Whether the only descriptor that came is a sealed file with such a text; closes it. */
static bool came_text(size_t length) {
  if (came_count != 1) return false;
  char *bytes = malloc(length + 2);
  ssize_t count = pread(came[0], bytes, length + 1, 0);
  bytes[length] = 0;
  bool same = count == (ssize_t)length && is_text(bytes, length, length) && (fcntl(came[0], F_GET_SEALS) & all_seals) == all_seals;
  free(bytes);
  drop_came();
  return same;
}

static size_t expected_length;
static int texts_seen;
static void take_text(strata_request *r, void *c) {
  (void)c;
  check(is_text(strata_body(r), strata_length(r), expected_length) && strata_descriptor_count(r) == 0);
  texts_seen++;
}
static void echo_text(strata_request *r, void *c) { take_text(r, c), echo(r, c); }
static void keep_text(strata_request *r, void *c) { take_text(r, c), keep(r, c); }
static void text_answered(strata *b, const strata_answer *a, void *c) {
  (void)b, (void)c;
  check(a->ok && is_text(a->body, a->length, expected_length) && a->descriptor_count == 0);
  texts_seen++;
}
static void long_reply(strata_request *r, void *c) { strata_reply(r, c, 0); }
static strata_status long_status;
static void long_part(strata_request *r, void *c) {
  long_status = strata_part(r, c, 0);
  strata_fail_with(r, "T.long", NULL, NULL, c, 0);
}

static void start_texts(char *body) {
  make((strata_options){0});
  declare();
  strata_observation texts = {.name = "text", .handler = take_text};
  strata_observe(bus, &texts);
  strata_action(bus, "T/echoText", 0, echo_text, NULL);
  strata_action(bus, "T/keepText", 0, keep_text, NULL);
  strata_action(bus, "T/long", 0, long_reply, body);
  strata_action(bus, "T/longPart", STRATA_STREAM, long_part, body);
  strata_event(bus, "long", long_reply, body);
  greet();
  texts_seen = 0;
}

static void large_bodies(void) {
  test_name = "large bodies";
  int before = open_files();
  const size_t large = 20 << 20, little = 300000; /* whole pages, and not */
  char header[128], *body = malloc(26000001);
  memset(body, 'x', 26000000), body[0] = '"', body[26000000] = 0;
  int file = text_file(large, all_seals), little_file = text_file(little, all_seals);
  welcomed = welcome_body;
  start_texts(body);
  int connected = open_files();
  check(has("\"protocol\":1,\"memory\":true"));

  /* What comes: a call, a report's notice, a reply. */
  for (int i = 0; i < 2; i++) {
    expected_length = i == 0 ? large : little;
    snprintf(header, sizeof header, "{\"kind\":\"call\",\"id\":%d,\"to\":\"T/echoText\",\"memory\":%zu}", 5 + i, expected_length);
    give_with(header, "", i == 0 ? &file : &little_file, 1);
    snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%d,\"memory\":%zu}", 5 + i, expected_length);
    check(is(header, "") && came_text(expected_length));
  }
  check(texts_seen == 2 && open_files() == connected && strata_memory(bus) < 100 << 10);
  expected_length = large;
  snprintf(header, sizeof header, "{\"kind\":\"notice\",\"id\":7,\"name\":\"text\",\"subscription\":13,\"memory\":%zu}", large);
  give_with(header, "", &file, 1);
  check(is("{\"kind\":\"reply\",\"id\":7}", "") && texts_seen == 3 && open_files() == connected);
  strata_message m = {.to = "B/b", .answered = text_answered};
  uint64_t id = 0;
  check(strata_send(bus, STRATA_CALL, &m, &id) == STRATA_OK && next());
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%d,\"memory\":%zu}", (int)id, large);
  give_with(header, "", &file, 1), step();
  check(texts_seen == 4 && open_files() == connected);
  give_with(header, "", &file, 1), step(); /* for nobody */
  check(texts_seen == 4 && open_files() == connected);

  /* It is there as long as its request. */
  expected_length = little;
  snprintf(header, sizeof header, "{\"kind\":\"call\",\"id\":8,\"to\":\"T/keepText\",\"memory\":%zu}", little);
  give_with(header, "", &little_file, 1), step();
  check(is_text(strata_body(kept), strata_length(kept), little) && open_files() == connected);
  strata_reply(kept, NULL, 0);
  check(is("{\"kind\":\"reply\",\"id\":8}", ""));
  strata_result result;
  m = (strata_message){.to = "B/b"};
  snprintf(header, sizeof header, "{\"kind\":\"reply\",\"id\":%d,\"memory\":%zu}", (int)id + 1, little);
  give_with(header, "", &little_file, 1);
  check(strata_wait(bus, STRATA_CALL, &m, &result) && is_text(result.answer.body, result.answer.length, little));
  strata_result_free(bus, &result);
  check(next());

  /* What goes out. */
  body[large - 1] = '"';
  m = (strata_message){.to = "B/b", .body = body, .length = large};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && has("\"memory\":20971520") && came_text(large));
  m.name = "n";
  check(strata_send(bus, STRATA_REPORT, &m, NULL) == STRATA_OK && next() && has("\"memory\":20971520") && came_text(large));
  check(open_files() == connected);
  body[large - 1] = 'x';
  m.length = 256 * 1024 - 1, m.to = "B/b";
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && !has("memory") && strlen(got_body) == m.length);
  m.length = 256 * 1024;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && has("\"memory\":262144") && came_count == 1 && *got_body == 0);
  drop_came();

  /* What goes in the frame: broadcasts, opens, calls of the bus, parts, errors, and bodies with descriptors. */
  m.to = "bus/x";
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && !has("memory") && strlen(got_body) == m.length);
  check(strata_send(bus, STRATA_BROADCAST, &m, NULL) == STRATA_OK && next() && !has("memory") && strlen(got_body) == m.length);
  check(strata_send(bus, STRATA_OPEN, &m, NULL) == STRATA_OK && next() && !has("memory") && strlen(got_body) == m.length);
  m.length = large;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_TOO_LARGE && strata_send(bus, STRATA_BROADCAST, &m, NULL) == STRATA_TOO_LARGE);
  body[400000] = 0;
  give("{\"kind\":\"call\",\"id\":9,\"to\":\"T/longPart\",\"credit\":1}", "");
  check(next() && has("\"more\":true") && !has("memory") && strlen(got_body) == 400000 && long_status == STRATA_OK);
  check(next() && has("T.long") && !has("memory") && strlen(got_body) == 400000);
  give("{\"kind\":\"call\",\"id\":10,\"to\":\"module/event\",\"name\":\"long\"}", "");
  check(next() && has("\"kind\":\"reply\",\"id\":10}") && strlen(got_body) == 400000);
  body[400000] = 'x';

  /* Beyond the limit. */
  m = (strata_message){.to = "B/b", .body = body, .length = 25000001};
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_TOO_LARGE && strata_send(bus, STRATA_REPORT, &m, NULL) == STRATA_TOO_LARGE);
  give("{\"kind\":\"call\",\"id\":11,\"to\":\"T/long\"}", "");
  check(next() && has("\"id\":11,\"code\":\"failed\",\"message\":\"the answer exceeds") && has("\"ran\":\"yes\""));

  /* What isn't sent yet has as many bytes at most, and is closed with the connection. */
  m.length = large;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && open_files() == connected + 1);
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OVERLOADED && open_files() == connected + 1);
  m.to = "\xff";
  m.length = 4000000;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_INVALID && open_files() == connected + 1);
  m.to = "B/b";
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && open_files() == connected + 2);
  drop_peer(), step();
  check(lost == 1 && open_files() == connected - 2);
  greet();
  m.length = little;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && has("memory") && came_count == 1);
  drop_came();

  /* Without a file the body goes in the frame, if it fits. */
  struct rlimit files, few;
  int number = dup(0); /* the lowest that is free */
  close(number);
  getrlimit(RLIMIT_NOFILE, &files);
  few = files, few.rlim_cur = (rlim_t)number;
  setrlimit(RLIMIT_NOFILE, &few);
  strata_status in_frame = strata_send(bus, STRATA_CALL, &m, NULL);
  m.length = large;
  strata_status none = strata_send(bus, STRATA_CALL, &m, NULL);
  give("{\"kind\":\"call\",\"id\":12,\"to\":\"T/long\"}", "");
  body[large] = 0;
  step();
  setrlimit(RLIMIT_NOFILE, &files);
  check(in_frame == STRATA_OK && next() && !has("memory") && strlen(got_body) == little && none == STRATA_OVERLOADED);
  check(next() && has("\"id\":12,\"code\":\"overloaded\"") && has("\"ran\":\"yes\""));

  /* A file for which this process has no room ends its request. */
  snprintf(header, sizeof header, "{\"kind\":\"call\",\"id\":13,\"to\":\"T/echoText\",\"memory\":%zu}", little);
  int many[STRATA_DESCRIPTORS + 1]; /* the kernel drops what has no room */
  for (int i = 0; i <= STRATA_DESCRIPTORS; i++) many[i] = little_file;
  give_with(header, "", many, STRATA_DESCRIPTORS + 1);
  check(next() && has("\"id\":13,\"code\":\"overloaded\"") && has("\"ran\":\"no\"") && lost == 1 && open_files() == connected);

  /* What the kernel doesn't take ends the connection: here a file that is closed already. */
  m.length = little;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && close(number) == 0);
  strata_step(bus, 0);
  check(lost == 2 && strstr(last_line, strerror(EBADF)) != NULL);

  /* Nor does a file that can be changed, has another length, or comes with a body. */
  int unsealed = text_file(little, F_SEAL_SHRINK | F_SEAL_GROW);
  greet(), give_with(header, "", &unsealed, 1), step();
  check(lost == 3);
  greet(), give_with(header, "", &file, 1), step();
  check(lost == 4);
  greet(), give_with(header, "1", &little_file, 1), step();
  check(lost == 5);
  greet(), give(header, ""), step();
  close(unsealed);
  check(lost == 6 && open_files() == connected - 1);
  done();

  /* An older bus takes none. */
  welcomed = welcome;
  start_texts(body);
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_OK && next() && !has("memory") && strlen(got_body) == little);
  m.length = large;
  check(strata_send(bus, STRATA_CALL, &m, NULL) == STRATA_TOO_LARGE);
  done();
  close(file), close(little_file), free(body);
  check(open_files() == before);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  snprintf(folder, sizeof folder, "/tmp/strata-unit-XXXXXX");
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/bus", folder);
  unsetenv("STRATA_MODULE"), unsetenv("STRATA_TOKEN"), unsetenv("STRATA_LIFELINE");
  listen_anew();
  json(), served(), nested(), own(), descriptors(), large_bodies(), session(), ends(), backlog();
  /* Signals interrupt every call of the system. */
  struct sigaction action = {.sa_handler = interrupted};
  struct itimerval often = {{0, 4000}, {0, 4000}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  pieces();
  setitimer(ITIMER_REAL, &never, NULL);
  bounds();
  close(listener);
  unlink(path), rmdir(folder);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
