/* Descriptors and large bodies through the real broker, at STRATA_SOCKET: a module
 * that gives and takes files, another one that asks it, both stepped by this
 * program, and a peer that takes none. */
#define _XOPEN_SOURCE 700
#include "strata.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int passed, failed;

#define check(condition)                                                       \
  do {                                                                         \
    if (condition) passed++;                                                   \
    else failed++, printf("files: line %d: %s\n", __LINE__, #condition);       \
  } while (0)

static strata *module, *tool;
static strata_request *kept;
static int answers, others, observed;
static char code[64];

static int open_files(void) {
  DIR *directory = opendir("/proc/self/fd");
  int count = -1;
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

static int file(const char *content) {
  char name[] = "/tmp/strata-files-XXXXXX";
  int number = mkstemp(name);
  unlink(name);
  if (pwrite(number, content, strlen(content), 0) < 0) abort();
  return number;
}

static bool holds(int number, const char *content) {
  char text[64] = "";
  bool same = pread(number, text, sizeof text - 1, 0) >= 0 && strcmp(text, content) == 0;
  return close(number) == 0 && same;
}

/* Answers with the files that came, in reverse. */
static void swap(strata_request *request, void *context) {
  int numbers[STRATA_DESCRIPTORS];
  size_t count = strata_descriptor_count(request);
  (void)context;
  for (size_t i = 0; i < count; i++) numbers[count - 1 - i] = strata_take_descriptor(request, i);
  check(strata_reply_with(request, strata_body(request), strata_length(request), numbers, count) == STRATA_OK);
  for (size_t i = 0; i < count; i++) close(numbers[i]);
}

static void echo(strata_request *request, void *context) {
  (void)context;
  strata_reply(request, strata_body(request), strata_length(request));
}

static void keep(strata_request *request, void *context) {
  (void)context;
  kept = request;
  strata_keep(request);
}

static void notice(strata_request *request, void *context) {
  (void)context;
  observed++;
  check(strata_descriptor_count(request) == 2 && holds(strata_take_descriptor(request, 1), "two"));
}

static void answered(strata *bus, const strata_answer *answer, void *context) {
  size_t count = (size_t)(uintptr_t)context;
  (void)bus;
  answers++;
  snprintf(code, sizeof code, "%s", answer->code);
  if (!answer->ok) return;
  check(answer->descriptor_count == count);
  for (size_t i = 0; i < count; i++) check(holds(strata_take_answered(answer, i), (count - 1 - i) % 2 ? "two" : "one"));
}

static void other(strata *bus, const strata_answer *answer, void *context) {
  (void)bus, (void)context;
  check(answer->ok && answer->descriptor_count == 0);
  others++;
}

/* Both ends turn until so many answers have come. */
static void until(const int *number, int count) {
  while (*number < count) {
    if (!strata_step(module, 1) || !strata_step(tool, 1)) {
      check(!"both are connected");
      return;
    }
  }
}

static void ask(const char *to, const char *body, size_t length, const int *numbers, size_t count, size_t replied) {
  strata_message message = {.to = to, .body = body, .length = length, .descriptors = numbers, .descriptor_count = count,
                            .answered = answered, .context = (void *)(uintptr_t)replied};
  check(strata_send(tool, STRATA_CALL, &message, NULL) == STRATA_OK);
}

static void ping(const char *body, size_t length) {
  strata_message message = {.to = "Files/echo", .body = body, .length = length, .answered = other};
  check(strata_send(tool, STRATA_CALL, &message, NULL) == STRATA_OK);
}

/* ---- Large bodies ---- */

enum { large = 20 << 20, little = 300000 };
static char *text; /* `large` bytes of JSON, a string */

static bool is_text(const char *body, size_t length, size_t expected) {
  return length == expected && body[0] == '"' && body[length - 1] == '"' && body[length] == 0 &&
         memcmp(body + 1, text + 1, length - 2) == 0;
}

/* Answers with as many bytes as it is asked for, or with what came. */
static void give_text(strata_request *request, void *context) {
  int64_t length;
  (void)context;
  if (!strata_json_int(strata_json_of(strata_body(request), strata_length(request)), &length)) {
    check(is_text(strata_body(request), strata_length(request), large) && strata_descriptor_count(request) == 0);
    strata_reply(request, strata_body(request), strata_length(request));
    return;
  }
  text[length - 1] = '"';
  strata_reply(request, text, (size_t)length);
  if (length < large) text[length - 1] = 'x';
}

static void notice_text(strata_request *request, void *context) {
  (void)context;
  observed++;
  check(is_text(strata_body(request), strata_length(request), large));
}

static void text_answered(strata *bus, const strata_answer *answer, void *context) {
  size_t expected = (size_t)(uintptr_t)context;
  (void)bus;
  answers++;
  snprintf(code, sizeof code, "%s", answer->code);
  if (answer->ok && expected > 0) check(is_text(answer->body, answer->length, expected));
}

static void send_text(strata_kind kind, const char *to, size_t length, size_t expected) {
  strata_message message = {.to = to, .name = "text", .body = text, .length = length, .answered = text_answered,
                            .context = (void *)(uintptr_t)expected};
  text[length - 1] = '"';
  check(strata_send(tool, kind, &message, NULL) == STRATA_OK);
  if (length < large) text[length - 1] = 'x';
}

static int plain; /* the socket of a module that takes no files */

static void put_frame(const char *header, const char *body) {
  char frame[512];
  size_t head = strlen(header), rest = 4 + head + strlen(body);
  for (int i = 0; i < 4; i++) frame[i] = (char)(rest >> (24 - 8 * i)), frame[4 + i] = (char)(head >> (24 - 8 * i));
  snprintf(frame + 8, sizeof frame - 8, "%s%s", header, body);
  if (write(plain, frame, 4 + rest) != (ssize_t)(4 + rest)) abort();
}

static void read_bytes(char *to, size_t length) {
  for (ssize_t count; length > 0; to += count, length -= (size_t)count) {
    count = recv(plain, to, length, MSG_DONTWAIT);
    if (count == 0) abort();
    if (count < 0) count = 0, strata_step(module, 1), strata_step(tool, 1);
  }
}

/* Reads a frame while the others turn. Returns the length of its body. */
static size_t next_frame(char *header, char *body) {
  unsigned char lengths[8];
  read_bytes((char *)lengths, 8);
  size_t rest = (size_t)lengths[0] << 24 | (size_t)lengths[1] << 16 | (size_t)lengths[2] << 8 | lengths[3];
  size_t head = (size_t)lengths[6] << 8 | lengths[7], length = rest - 4 - head;
  read_bytes(header, head), header[head] = 0;
  read_bytes(body, length), body[length] = 0;
  return length;
}

static void large_bodies(void) {
  int before = open_files();
  char header[4096], *body = malloc(1 << 24);
  text = malloc(large + 1);
  if (text == NULL || body == NULL) abort();
  memset(text, 'x', large), text[0] = '"', text[large] = 0;

  /* Call and reply, report; three at once. */
  answers = observed = 0;
  send_text(STRATA_CALL, "Files/text", large, large);
  until(&answers, 1);
  send_text(STRATA_REPORT, "Files", large, 0);
  until(&answers, 2);
  check(*code == 0 && observed == 1);
  for (int i = 0; i < 3; i++) send_text(STRATA_CALL, "Files/text", large, large);
  until(&answers, 5);
  check(*code == 0 && open_files() == before);

  /* More than the bus's limit (`body: 70000000`). */
  strata_message message = {.to = "Files/text", .body = text, .length = 70000001};
  check(strata_send(tool, STRATA_CALL, &message, NULL) == STRATA_TOO_LARGE);

  /* A module that takes no files gets the bytes in the frame, if they fit. */
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", getenv("STRATA_SOCKET"));
  plain = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(plain, (struct sockaddr *)&address, sizeof address) != 0) abort();
  put_frame("{\"kind\":\"call\",\"id\":1,\"to\":\"bus/hello\"}",
            "{\"protocol\":1,\"module\":\"Plain\",\"interfaces\":{\"Plain\":{\"actions\":{\"take\":{}}}}}");
  next_frame(header, body);
  check(strstr(header, "\"id\":1") != NULL && strstr(header, "reply") != NULL);
  do { /* the steps of its life */
    char reply[64];
    strata_json id;
    next_frame(header, body);
    if (!strata_json_member(strata_json_of(header, strlen(header)), "id", &id)) abort();
    snprintf(reply, sizeof reply, "{\"kind\":\"reply\",\"id\":%.*s}", (int)id.length, id.at);
    put_frame(reply, "");
  } while (strstr(header, "didStart") == NULL);
  send_text(STRATA_CALL, "Plain/take", little, 0);
  text[little - 1] = '"';
  check(is_text(body, next_frame(header, body), little) && strstr(header, "memory") == NULL);
  text[little - 1] = 'x';
  send_text(STRATA_CALL, "Plain/take", large, 0);
  until(&answers, 6);
  check(strcmp(code, "too-large") == 0);
  put_frame("{\"kind\":\"call\",\"id\":2,\"to\":\"Files/text\"}", "300000");
  check(next_frame(header, body) == little && strstr(header, "reply") != NULL && strstr(header, "memory") == NULL);
  put_frame("{\"kind\":\"call\",\"id\":3,\"to\":\"Files/text\"}", "20971520");
  next_frame(header, body);
  check(strstr(header, "\"too-large\"") != NULL && strstr(header, "\"ran\":\"yes\"") != NULL);
  close(plain);
  until(&answers, 7);
  check(strcmp(code, "died") == 0 && open_files() == before);
  free(text), free(body);
}

static void connection(strata *bus, bool connected, void *context) {
  (void)bus;
  *(bool *)context = connected;
}

int main(void) {
  static int sixteen[STRATA_DESCRIPTORS];
  bool is_connected[2] = {false, false};
  int two[2] = {file("one"), file("two")};
  for (int i = 0; i < STRATA_DESCRIPTORS; i++) sixteen[i] = two[i % 2];
  strata_options options = {.name = "Files", .descriptors = true};
  module = strata_new(&options);
  options.name = "Tool";
  tool = strata_new(&options);
  strata_action(module, "Files/swap", 0, swap, NULL), strata_descriptors(module, "Files/swap", 16, 16);
  strata_action(module, "Files/keep", 0, keep, NULL), strata_descriptors(module, "Files/keep", 16, 0);
  strata_action(module, "Files/echo", 0, echo, NULL);
  strata_observation observation = {.name = "file", .handler = notice};
  strata_observe(module, &observation);
  strata_action(module, "Files/text", 0, give_text, NULL);
  strata_observation texts = {.name = "text", .handler = notice_text};
  strata_observe(module, &texts);
  strata_life(module, &(strata_steps){.connection = connection, .context = &is_connected[0]});
  strata_life(tool, &(strata_steps){.connection = connection, .context = &is_connected[1]});
  while (!is_connected[0] || !is_connected[1])
    if (!strata_step(module, 1) || !strata_step(tool, 1)) return puts("0 passed, 1 failed"), 1;
  ping("1", 1); /* once it is answered, the module is ready */
  until(&others, 1);
  int before = open_files();

  ask("Files/swap", "1", 1, two, 2, 2);
  until(&answers, 1);
  ask("Files/swap", "1", 1, sixteen, 16, 16);
  until(&answers, 2);
  check(open_files() == before);

  ask("Files/echo", "1", 1, two, 1, 0);
  until(&answers, 3);
  check(strcmp(code, "bad-params") == 0);
  strata_message report = {.to = "Files", .name = "file", .descriptors = two, .descriptor_count = 2, .answered = answered};
  check(strata_send(tool, STRATA_REPORT, &report, NULL) == STRATA_OK);
  until(&answers, 4);
  check(*code == 0 && observed == 1 && open_files() == before);

  /* Long frames and others, before and behind. */
  size_t size = 200000;
  char *body = malloc(size);
  if (body == NULL) abort();
  memset(body, '1', size);
  for (int i = 0; i < 8; i++) {
    ping(body, i % 2 ? 1 : size);
    ask("Files/swap", body, size, sixteen, (size_t)i % 3, (size_t)i % 3);
    ping(body, i % 2 ? size : 1);
  }
  until(&answers, 12), until(&others, 17);
  check(open_files() == before);

  large_bodies();
  answers = 12;

  /* The callee ends: what it kept is closed, and the broker has none of it. */
  ask("Files/keep", "1", 1, two, 2, 0);
  while (kept == NULL) strata_step(module, 1), strata_step(tool, 1);
  check(open_files() == before + 2);
  int connected = strata_fd(module) >= 0, pipes = 2;
  strata_free(module);
  check(open_files() == before - connected - pipes);
  while (answers < 13 && strata_step(tool, -1)) continue;
  check(strcmp(code, "died") == 0);
  strata_free(tool);
  check(open_files() == before - 2 * (connected + pipes));
  close(two[0]), close(two[1]), free(body);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
