/* A client of the Strata bus in C. strata.h says what each function does.
 *
 *   1 Memory          what is allocated, counted against `memory`
 *   2 JSON            the checker, the cursor, the writer
 *   3 The peer        its state, its options
 *   4 Headers         section 3 of the protocol
 *   5 Sending         frames into the queue of unsent bytes
 *   6 Declarations    and the hello that is made of them
 *   7 Own requests
 *   8 Served requests
 *   9 Life cycle      the calls at module/…
 *  10 Frames          bytes from the bus become frames
 *  11 Connection      reconnection, steps, the end
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for memfd_create, its seals, and MSG_CMSG_CLOEXEC */
#endif
#include "strata.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
  buckets = 64,             /* of each hash table */
  first_buffer = 4096,      /* bytes of a buffer at first, and while idle */
  idle_buffer = 64 * 1024,  /* a longer one is given back when it is empty */
  part_bytes = 40 * 1024,   /* of a hello before the next part begins */
  part_values = 3500,       /* the same in JSON values */
  header_room = 1024,       /* what the broker may add to a frame */
  settings_bytes = 24 * 1024,
  least_memory = 64 * 1024,
  message_bytes = 1024,
  most_unsent = 64, /* descriptors that wait to be sent: the broker takes no more of one peer */
  large_body = 256 * 1024,  /* from here on a memory file costs less than copying */
  set_aside = 16 * 1024     /* of the memory, for the answers that must be sent */
};
#define MOST_INTEGER INT64_C(9007199254740991)

/* ---- 1 Memory ---------------------------------------------------------- */

struct declaration;
struct own;

/* The descriptors of one frame. A number of -1 was taken. */
struct descriptors {
  size_t count;
  bool refused; /* some didn't come, because this process can't open so many */
  int numbers[STRATA_DESCRIPTORS];
};

/* One frame from the bus. Its header's texts and its body point into it, or the
 * body is in the file that is mapped. */
struct frame {
  char *bytes;
  size_t size;
  char *mapped;
  size_t mapped_size;
  size_t references;
  struct descriptors descriptors;
};

/* The descriptors that go with the frame which begins at this byte of the
 * connection. Their numbers follow those of the frames before. */
struct sending {
  uint64_t at;
  size_t count;
  size_t body; /* bytes of the frame's body if the only one is its file, else 0 */
};

struct instance {
  struct instance *next;
  struct declaration *interface;
  void *data;
  bool taken; /* `created` has consented */
  size_t size;
  char name[];
};

typedef enum { waiting, greeting, ready, ended } phase;

struct strata {
  strata_options options;
  size_t memory;
  pid_t process; /* a fork's child must not use the connection */
  char *name, *token, *socket, *level, *runtime;

  struct declaration *first, **last;
  struct declaration *actions[buckets];
  bool fixed; /* hello was made: only observations may be added */
  size_t settings_size;
  strata_steps steps;

  phase phase;
  int fd, lifeline, wake[2];
  int64_t retry_at, retry_delay, lost_at;
  bool tried, started, torn, stopping;
  int code;
  char last_code[64], last_message[256]; /* an error without id, until another frame comes */

  char *in;
  size_t in_size, in_start, in_end;
  bool taking;   /* the input may have more whole frames */
  uint64_t skip; /* bytes of a refused frame that are still to come */
  size_t frame_limit, header_limit;
  size_t body_limit; /* of a body in a memory file; 0 if the bus takes none */

  char *out;
  size_t out_size, out_start, out_end;
  uint64_t written; /* bytes of this connection that the kernel took */

  bool carries; /* hello said that the program's descriptors go with frames */
  /* Those of an unfinished frame, and those that the next read brings: one read brings one frame's. */
  struct descriptors received[2];
  size_t received_count;
  struct sending sending[most_unsent];
  size_t sending_count;
  int unsent_numbers[most_unsent];
  size_t unsent_count;
  size_t unsent_bodies; /* bytes of bodies in memory files among them */

  uint64_t next_id;
  struct own *own[buckets];
  size_t own_count;
  strata_request *served[buckets];
  size_t served_count;
  struct instance *instances;
  size_t nested;
  bool starved; /* a part was refused for want of room */
  bool urgent;  /* an answer is being written that must be sent */

  struct declaration *subscribing; /* the next observation that gets a number */
  char *settings, *features;
  size_t settings_length, features_length;
};

static void *standard_allocator(void *context, void *old, size_t old_size, size_t size) {
  (void)context, (void)old_size;
  if (size == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, size);
}

/* All memory comes from here, so `memory` bounds all of it. */
static void *resize(strata *bus, void *old, size_t old_size, size_t size) {
  size_t most = bus->options.memory - (bus->urgent ? 0 : set_aside);
  if (size > old_size && (bus->memory > most || size - old_size > most - bus->memory)) return NULL;
  void *block = bus->options.allocator(bus->options.allocator_context, old, old_size, size);
  if (block == NULL && size > 0) return NULL;
  bus->memory = bus->memory - old_size + size;
  return block;
}

static void *grab(strata *bus, size_t size) {
  void *block = resize(bus, NULL, 0, size);
  if (block != NULL) memset(block, 0, size);
  return block;
}

static void release(strata *bus, void *block, size_t size) {
  if (block != NULL) resize(bus, block, size, 0);
}

static char *copy_text(strata *bus, const char *text, size_t length) {
  char *copy = resize(bus, NULL, 0, length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static void release_text(strata *bus, char *text) {
  if (text != NULL) release(bus, text, strlen(text) + 1);
}

static void close_all(int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] >= 0) close(numbers[i]);
}

static void drop_frame(strata *bus, struct frame *frame) {
  if (frame == NULL || --frame->references > 0) return;
  close_all(frame->descriptors.numbers, frame->descriptors.count);
  if (frame->mapped != NULL) munmap(frame->mapped, frame->mapped_size);
  release(bus, frame->bytes, frame->size);
  release(bus, frame, sizeof *frame);
}

/* ---- 2 JSON ------------------------------------------------------------ */

/* Whether a byte of a string stands for itself: ASCII, but no quote, backslash
 * or control. */
static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

/* Where the bytes end that stand for themselves. Looks at eight at once. A subtraction sets the
 * high bit of the first byte that is less than what is taken from it: a control
 * below 0x20, or the 0 that a quote or a backslash becomes below 1. */
static const unsigned char *plain_end(const unsigned char *at, const unsigned char *end) {
  const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
  for (uint64_t bytes; end - at >= 8; at += 8) {
    memcpy(&bytes, at, 8);
    uint64_t quotes = bytes ^ ones * '"', slashes = bytes ^ ones * '\\';
    if ((bytes | (bytes - ones * 0x20) | (quotes - ones) | (slashes - ones)) & high) break;
  }
  while (at < end && is_plain(*at)) at++;
  return at;
}

/* Reads one code point of UTF-8, or -2 if there is none: no overlong form, no
 * surrogate, nothing beyond U+10FFFF. */
static int32_t utf8(const unsigned char **at, const unsigned char *end) {
  const unsigned char *p = *at;
  if (p >= end) return -2;
  int32_t point = *p++;
  if (point >= 0x80) {
    int more = point >= 0xF0 ? 3 : point >= 0xE0 ? 2 : 1;
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (point < 0xC2 || point > 0xF4 || end - p < more) return -2;
    point &= 0x3F >> more;
    for (int i = 0; i < more; i++, p++) {
      if ((*p & 0xC0) != 0x80) return -2;
      point = point << 6 | (*p & 0x3F);
    }
    if (point < least[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return -2;
  }
  *at = p;
  return point;
}

static int32_t four_digits(const unsigned char *p, const unsigned char *end) {
  if (end - p < 4) return -2;
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    int c = p[i], digit;
    if (c >= '0' && c <= '9') digit = c - '0';
    else if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    else return -2;
    value = value << 4 | digit;
  }
  return value;
}

/* Reads one code point inside a string: -1 after the closing quote, -2 if it
 * is none. */
static int32_t string_point(const unsigned char **at, const unsigned char *end) {
  if (*at >= end || **at < 0x20) return -2;
  if (**at == '"') return ++*at, -1;
  if (**at != '\\') return utf8(at, end);
  if (end - *at < 2) return -2;
  int c = (*at)[1];
  *at += 2;
  switch (c) {
    case '"': case '\\': case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return -2;
  }
  int32_t unit = four_digits(*at, end);
  if (unit < 0) return -2;
  *at += 4;
  if (unit < 0xD800 || unit >= 0xE000) return unit;
  if (unit >= 0xDC00 || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') return -2;
  int32_t low = four_digits(*at + 2, end);
  if (low < 0xDC00 || low >= 0xE000) return -2;
  *at += 6;
  return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* The checker keeps where each name of the open objects begins. At an object's
 * end its names, the last ones, are sorted: equal ones are then neighbours. */
struct checker {
  strata *bus;
  const unsigned char *text, *at, *end;
  int depth, most;
  uint32_t *names, few[64];
  size_t count, size;
  bool no_memory;
};

static int compare_names(const struct checker *c, uint32_t a, uint32_t b) {
  const unsigned char *p = c->text + a, *q = c->text + b;
  for (;;) {
    while (*p == *q && is_plain(*p)) p++, q++;
    if (is_plain(*p) && is_plain(*q)) return *p < *q ? -1 : 1;
    int32_t x = string_point(&p, c->end), y = string_point(&q, c->end);
    if (x != y) return x < y ? -1 : 1;
    if (x < 0) return 0;
  }
}

static void sift(const struct checker *c, uint32_t *names, size_t at, size_t count) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && compare_names(c, names[child], names[child + 1]) < 0) child++;
    if (compare_names(c, names[at], names[child]) >= 0) return;
    uint32_t other = names[at];
    names[at] = names[child];
    names[child] = other;
  }
}

static bool unique(const struct checker *c, uint32_t *names, size_t count) {
  if (count <= 8) { /* as a header has: few comparisons, which end at the first letters */
    for (size_t i = 1; i < count; i++)
      for (size_t j = 0; j < i; j++)
        if (compare_names(c, names[i], names[j]) == 0) return false;
    return true;
  }
  for (size_t i = count / 2; i-- > 0;) sift(c, names, i, count);
  for (size_t left = count; left > 1;) {
    uint32_t most = names[0];
    names[0] = names[--left];
    names[left] = most;
    sift(c, names, 0, left);
  }
  for (size_t i = 1; i < count; i++)
    if (compare_names(c, names[i - 1], names[i]) == 0) return false;
  return true;
}

static bool keep_name(struct checker *c) {
  if (c->count == c->size) {
    size_t size = c->size * 2;
    uint32_t *names = c->names == c->few ? NULL : c->names;
    size_t old = names == NULL ? 0 : c->size * sizeof *names;
    names = c->bus != NULL ? resize(c->bus, names, old, size * sizeof *names)
                           : realloc(names, size * sizeof *names);
    if (names == NULL) return c->no_memory = true, false;
    if (c->names == c->few) memcpy(names, c->few, sizeof c->few);
    c->names = names;
    c->size = size;
  }
  c->names[c->count++] = (uint32_t)(c->at - c->text);
  return true;
}

static void check_spaces(struct checker *c) {
  while (c->at < c->end && is_space(*c->at)) c->at++;
}

static bool check_byte(struct checker *c, int byte) {
  if (c->at == c->end || *c->at != byte) return false;
  c->at++;
  return true;
}

static bool check_string(struct checker *c) {
  for (;;) {
    c->at = plain_end(c->at, c->end);
    int32_t point = string_point(&c->at, c->end);
    if (point < 0) return point == -1;
  }
}

static bool check_digits(struct checker *c) {
  if (c->at == c->end || !is_digit(*c->at)) return false;
  while (c->at < c->end && is_digit(*c->at)) c->at++;
  return true;
}

static bool check_number(struct checker *c) {
  check_byte(c, '-');
  if (!check_byte(c, '0') && !check_digits(c)) return false;
  if (check_byte(c, '.') && !check_digits(c)) return false;
  if (check_byte(c, 'e') || check_byte(c, 'E')) {
    if (!check_byte(c, '+')) check_byte(c, '-');
    return check_digits(c);
  }
  return true;
}

static bool check_word(struct checker *c, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  c->at += length;
  return true;
}

static bool check_value(struct checker *c);

static bool check_object(struct checker *c) {
  size_t first = c->count;
  check_spaces(c);
  if (check_byte(c, '}')) return true;
  do {
    check_spaces(c);
    if (!check_byte(c, '"') || !keep_name(c) || !check_string(c)) return false;
    check_spaces(c);
    if (!check_byte(c, ':') || !check_value(c)) return false;
  } while (check_byte(c, ','));
  if (!check_byte(c, '}') || !unique(c, c->names + first, c->count - first)) return false;
  c->count = first;
  return true;
}

static bool check_array(struct checker *c) {
  check_spaces(c);
  if (check_byte(c, ']')) return true;
  do {
    if (!check_value(c)) return false;
  } while (check_byte(c, ','));
  return check_byte(c, ']');
}

/* Also takes the white space on both sides. */
static bool check_value(struct checker *c) {
  check_spaces(c);
  if (c->at == c->end) return false;
  bool right;
  switch (*c->at) {
    case '{': case '[':
      if (c->depth == c->most) return false;
      c->depth++;
      right = *c->at++ == '{' ? check_object(c) : check_array(c);
      c->depth--;
      break;
    case '"': c->at++, right = check_string(c); break;
    case 't': right = check_word(c, "true"); break;
    case 'f': right = check_word(c, "false"); break;
    case 'n': right = check_word(c, "null"); break;
    default: right = check_number(c);
  }
  check_spaces(c);
  return right;
}

static strata_status check_json(strata *bus, const char *text, size_t length, int depth) {
  if (length > UINT32_MAX) return STRATA_INVALID;
  struct checker c = {.bus = bus, .most = depth, .size = 64};
  c.text = c.at = (const unsigned char *)text;
  c.end = c.text + length;
  c.names = c.few;
  bool right = check_value(&c) && c.at == c.end;
  if (c.names != c.few) {
    if (bus != NULL) release(bus, c.names, c.size * sizeof *c.names);
    else free(c.names);
  }
  return right ? STRATA_OK : c.no_memory ? STRATA_NO_MEMORY : STRATA_INVALID;
}

strata_status strata_json_check(strata *bus, const char *text, size_t length) {
  return check_json(bus, text, length, 512);
}

strata_json strata_json_of(const char *text, size_t length) {
  while (length > 0 && is_space(*text)) text++, length--;
  while (length > 0 && is_space(text[length - 1])) length--;
  strata_json value = {text, length};
  return value;
}

char strata_json_type(strata_json value) {
  if (value.length == 0) return 0;
  switch (*value.at) {
    case '{': return 'o';
    case '[': return 'a';
    case '"': return 's';
    case 't': return 't';
    case 'f': return 'f';
    case 'n': return 'z';
    default: return *value.at == '-' || is_digit(*value.at) ? 'n' : 0;
  }
}

/* Where the value that begins at `at` ends; never beyond the text. */
static size_t value_end(const char *text, size_t length, size_t at) {
  size_t depth = 0;
  while (at < length) {
    char c = text[at];
    if (c == '"') {
      for (at++; at < length && text[at] != '"'; at++)
        if (text[at] == '\\') at++;
      if (at >= length) return length;
      at++;
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || c == ':' || is_space(c))) {
      return at;
    }
    at++;
  }
  return length;
}

bool strata_json_next(strata_json container, size_t *position, strata_json *name, strata_json *value) {
  char type = strata_json_type(container);
  if (type != 'o' && type != 'a') return false;
  const char *text = container.at;
  size_t at = *position == 0 ? 1 : *position, end = container.length;
  while (at < end && (is_space(text[at]) || text[at] == ',')) at++;
  if (at >= end || text[at] == '}' || text[at] == ']') return false;
  size_t stop = value_end(text, end, at);
  if (stop == at) return false;
  if (type == 'o') {
    if (name != NULL) *name = (strata_json){text + at, stop - at};
    at = stop;
    while (at < end && (is_space(text[at]) || text[at] == ':')) at++;
    stop = value_end(text, end, at);
    if (stop == at) return false;
  }
  *value = (strata_json){text + at, stop - at};
  *position = stop;
  return true;
}

static bool same_text(strata_json value, const char *text) {
  if (value.length < 2 || *value.at != '"') return false;
  /* Nearly all names differ at once, or are the same bytes. */
  if (value.at[1] != *text && value.at[1] != '\\' && value.at[1] != '"') return false;
  if (strlen(text) == value.length - 2 && memcmp(value.at + 1, text, value.length - 2) == 0) return true;
  const unsigned char *at = (const unsigned char *)value.at + 1, *end = at + value.length - 1;
  const unsigned char *other = (const unsigned char *)text, *other_end = other + strlen(text);
  for (;;) {
    int32_t point = string_point(&at, end);
    if (point == -1) return other == other_end;
    if (point < 0 || other == other_end || utf8(&other, other_end) != point) return false;
  }
}

bool strata_json_member(strata_json object, const char *name, strata_json *value) {
  if (strata_json_type(object) != 'o') return false;
  strata_json key, found;
  for (size_t position = 0; strata_json_next(object, &position, &key, &found);)
    if (same_text(key, name)) return *value = found, true;
  return false;
}

static size_t put_utf8(char *to, int32_t point) {
  if (point < 0x80) return to[0] = (char)point, 1;
  if (point < 0x800) return to[0] = (char)(0xC0 | point >> 6), to[1] = (char)(0x80 | (point & 0x3F)), 2;
  if (point < 0x10000) {
    to[0] = (char)(0xE0 | point >> 12), to[1] = (char)(0x80 | (point >> 6 & 0x3F));
    return to[2] = (char)(0x80 | (point & 0x3F)), 3;
  }
  to[0] = (char)(0xF0 | point >> 18), to[1] = (char)(0x80 | (point >> 12 & 0x3F));
  to[2] = (char)(0x80 | (point >> 6 & 0x3F)), to[3] = (char)(0x80 | (point & 0x3F));
  return 4;
}

/* A decoded string is never longer than it was, so `buffer` may be the string
 * itself. */
bool strata_json_string(strata_json value, char *buffer, size_t size, size_t *length) {
  if (strata_json_type(value) != 's') return false;
  const unsigned char *at = (const unsigned char *)value.at + 1, *end = at + value.length - 1;
  size_t count = 0;
  for (;;) {
    size_t run = (size_t)(plain_end(at, end) - at);
    if (run >= size - count) return false;
    memmove(buffer + count, at, run);
    count += run, at += run;
    int32_t point = string_point(&at, end);
    if (point == -2) return false;
    char piece[4];
    size_t bytes = point < 0 ? 0 : put_utf8(piece, point);
    if (count + bytes >= size) return false;
    if (point == -1) break;
    memcpy(buffer + count, piece, bytes);
    count += bytes;
  }
  buffer[count] = 0;
  if (length != NULL) *length = count;
  return true;
}

bool strata_json_int(strata_json value, int64_t *number) {
  if (strata_json_type(value) != 'n') return false;
  bool negative = *value.at == '-';
  uint64_t sum = 0, most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
  size_t i = negative ? 1 : 0;
  if (i == value.length) return false;
  for (; i < value.length; i++) {
    if (!is_digit(value.at[i])) return false;
    uint64_t digit = (uint64_t)(value.at[i] - '0');
    if (sum > (most - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *number = negative ? (sum == most ? INT64_MIN : -(int64_t)sum) : (int64_t)sum;
  return true;
}

bool strata_json_double(strata_json value, double *number) {
  char text[512];
  if (strata_json_type(value) != 'n' || value.length >= sizeof text) return false;
  memcpy(text, value.at, value.length);
  text[value.length] = 0;
  /* strtod wants the point of the program's locale. */
  char *point = strchr(text, '.');
  if (point != NULL) *point = *localeconv()->decimal_point;
  char *end;
  double found = strtod(text, &end);
  if (end != text + value.length || !isfinite(found)) return false;
  *number = found;
  return true;
}

bool strata_json_bool(strata_json value, bool *truth) {
  char type = strata_json_type(value);
  if (type != 't' && type != 'f') return false;
  *truth = type == 't';
  return true;
}

strata_writer strata_write(char *buffer, size_t size) {
  strata_writer writer = {buffer, size, 0, false};
  return writer;
}

static void put_raw(strata_writer *w, const char *text, size_t length) {
  if (w->failed || length > w->size - w->length) {
    w->failed = true;
    return;
  }
  memcpy(w->buffer + w->length, text, length);
  w->length += length;
}

static void put_comma(strata_writer *w) {
  if (w->length > 0 && strchr("{[:", w->buffer[w->length - 1]) == NULL) put_raw(w, ",", 1);
}

void strata_put_object(strata_writer *w) { put_comma(w), put_raw(w, "{", 1); }
void strata_put_object_end(strata_writer *w) { put_raw(w, "}", 1); }
void strata_put_array(strata_writer *w) { put_comma(w), put_raw(w, "[", 1); }
void strata_put_array_end(strata_writer *w) { put_raw(w, "]", 1); }
void strata_put_null(strata_writer *w) { put_comma(w), put_raw(w, "null", 4); }
void strata_put_bool(strata_writer *w, bool truth) { put_comma(w), put_raw(w, truth ? "true" : "false", truth ? 4 : 5); }

void strata_put_bytes(strata_writer *w, const char *text, size_t length) {
  const unsigned char *at = (const unsigned char *)text, *end = at + length;
  put_comma(w);
  put_raw(w, "\"", 1);
  while (at < end && !w->failed) {
    const unsigned char *start = at;
    at = plain_end(at, end);
    put_raw(w, (const char *)start, (size_t)(at - start));
    if (at == end) break;
    start = at;
    if (utf8(&at, end) < 0) {
      w->failed = true;
    } else if (*start == '"' || *start == '\\') {
      put_raw(w, "\\", 1);
      put_raw(w, (const char *)start, 1);
    } else if (*start < 0x20) {
      char escape[7];
      snprintf(escape, sizeof escape, "\\u%04x", *start);
      put_raw(w, escape, 6);
    } else {
      put_raw(w, (const char *)start, (size_t)(at - start));
    }
  }
  put_raw(w, "\"", 1);
}

void strata_put_string(strata_writer *w, const char *text) { strata_put_bytes(w, text, strlen(text)); }
void strata_put_name(strata_writer *w, const char *name) { strata_put_string(w, name), put_raw(w, ":", 1); }

void strata_put_int(strata_writer *w, int64_t number) {
  char text[24], *digit = text + sizeof text;
  uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do *--digit = (char)('0' + left % 10);
  while ((left /= 10) > 0);
  if (number < 0) *--digit = '-';
  put_comma(w);
  put_raw(w, digit, (size_t)(text + sizeof text - digit));
}

void strata_put_double(strata_writer *w, double number) {
  char text[40];
  if (!isfinite(number)) {
    strata_put_null(w);
    return;
  }
  int length = snprintf(text, sizeof text, "%.17g", number);
  char *point = strchr(text, *localeconv()->decimal_point);
  if (point != NULL) *point = '.';
  put_comma(w);
  put_raw(w, text, (size_t)length);
}

void strata_put_json(strata_writer *w, const char *json, size_t length) {
  put_comma(w);
  if (length == 0) put_raw(w, "null", 4);
  else put_raw(w, json, length);
}

static void put_member(strata_writer *w, const char *name, const char *text) {
  if (text == NULL) return;
  strata_put_name(w, name);
  strata_put_string(w, text);
}

static void put_integer(strata_writer *w, const char *name, int64_t number) {
  strata_put_name(w, name);
  strata_put_int(w, number);
}

/* ---- 3 The peer -------------------------------------------------------- */

const char *strata_status_code(strata_status status) {
  switch (status) {
    case STRATA_OK: return "";
    case STRATA_UNAVAILABLE: return "unavailable";
    case STRATA_OVERLOADED: case STRATA_NO_MEMORY: case STRATA_NO_CREDIT: return "overloaded";
    case STRATA_TOO_LARGE: return "too-large";
    case STRATA_ENDED: return "cancelled";
    case STRATA_INVALID: break;
  }
  return "bad-params";
}

static void log_line(strata *bus, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *c = line; *c != 0; c++)
    if ((unsigned char)*c < 0x20) *c = ' ';
  if (bus->options.log != NULL) bus->options.log(bus->options.log_context, line);
  else fprintf(stderr, "%s\n", line);
}

static const char *own_name(const strata *bus) { return bus->name != NULL ? bus->name : "strata"; }

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static size_t hash(const char *text) {
  uint32_t sum = 2166136261u;
  for (; *text != 0; text++) sum = (sum ^ (unsigned char)*text) * 16777619u;
  return (sum ^ sum >> 16) % buckets;
}

static size_t hash_id(int64_t id) { return (size_t)((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 58); }

static const char *environment(const char *name, const char *fallback) {
  const char *value = getenv(name);
  return value != NULL && *value != 0 ? value : fallback;
}

static char *copy_option(strata *bus, const char *text, bool *failed) {
  if (text == NULL) return NULL;
  char *copy = copy_text(bus, text, strlen(text));
  if (copy == NULL) *failed = true;
  return copy;
}

strata *strata_new(const strata_options *given) {
  strata_options options = {0};
  if (given != NULL) options = *given;
  if (options.memory == 0) options.memory = (size_t)64 << 20;
  if (options.frame == 0) options.frame = ((size_t)16 << 20) + header_room;
  if (options.queued == 0) options.queued = (size_t)8 << 20;
  if (options.calls == 0) options.calls = 1024;
  if (options.served == 0) options.served = 1024;
  if (options.nesting == 0) options.nesting = 16;
  if (options.allocator == NULL) options.allocator = standard_allocator;
  if (options.memory < least_memory) return NULL;

  strata *bus = options.allocator(options.allocator_context, NULL, 0, sizeof *bus);
  if (bus == NULL) return NULL;
  memset(bus, 0, sizeof *bus);
  bus->options = options;
  bus->memory = sizeof *bus;
  bus->process = getpid();
  bus->last = &bus->first;
  bus->fd = bus->lifeline = bus->wake[0] = bus->wake[1] = -1;
  bus->header_limit = 16384;
  bus->frame_limit = 65536;

  bool failed = false;
  const char *name = options.is_operator ? NULL : environment("STRATA_MODULE", options.name);
  bus->name = copy_option(bus, name, &failed);
  bus->token = copy_option(bus, environment("STRATA_TOKEN", NULL), &failed);
  bus->socket = copy_option(bus, options.socket != NULL ? options.socket : environment("STRATA_SOCKET", NULL), &failed);
  bus->level = copy_option(bus, options.level, &failed);
  bus->runtime = copy_option(bus, options.runtime != NULL ? options.runtime : "c 1.0", &failed);
  bus->in = resize(bus, NULL, 0, first_buffer);
  if (failed || bus->in == NULL || pipe(bus->wake) != 0) {
    strata_free(bus);
    return NULL;
  }
  bus->in_size = first_buffer;
  for (int i = 0; i < 2; i++) {
    fcntl(bus->wake[i], F_SETFD, FD_CLOEXEC);
    fcntl(bus->wake[i], F_SETFL, O_NONBLOCK);
  }
  const char *lifeline = environment("STRATA_LIFELINE", NULL);
  if (lifeline != NULL) {
    char *end;
    long number = strtol(lifeline, &end, 10);
    if (*end == 0 && number >= 0 && number < 1 << 20) {
      bus->lifeline = (int)number;
      fcntl(bus->lifeline, F_SETFD, FD_CLOEXEC);
    }
  }
  return bus;
}

size_t strata_memory(const strata *bus) { return bus->memory; }
int strata_exit_code(const strata *bus) { return bus->code; }
const char *strata_settings(const strata *bus) { return bus->settings != NULL ? bus->settings : "{}"; }

bool strata_has_feature(const strata *bus, const char *name) {
  strata_json list = {bus->features, bus->features_length}, value;
  for (size_t position = 0; strata_json_next(list, &position, NULL, &value);)
    if (same_text(value, name)) return true;
  return false;
}

/* ---- 4 Headers --------------------------------------------------------- */

enum kind { no_kind, call_kind, reply_kind, error_kind, notice_kind, cancel_kind, credit_kind };

struct header {
  enum kind kind;
  bool more, retained;
  int64_t id, subscription, missed, deadline, credit, descriptors, memory;
  const char *to, *from, *level, *name, *object, *via, *url, *code, *message, *ran, *trace;
  strata_json root, meta;
};

/* The members that a client needs, their types and their ranges. */
static const struct {
  const char *name;
  char type; /* as strata_json_type() */
  size_t offset;
  int64_t least;
} members[] = {
    {"id", 'n', offsetof(struct header, id), 1},
    {"to", 's', offsetof(struct header, to), 0},
    {"from", 's', offsetof(struct header, from), 0},
    {"level", 's', offsetof(struct header, level), 0},
    {"name", 's', offsetof(struct header, name), 0},
    {"object", 's', offsetof(struct header, object), 0},
    {"via", 's', offsetof(struct header, via), 0},
    {"subscription", 'n', offsetof(struct header, subscription), -MOST_INTEGER},
    {"missed", 'n', offsetof(struct header, missed), -MOST_INTEGER},
    {"url", 's', offsetof(struct header, url), 0},
    {"deadline", 'n', offsetof(struct header, deadline), -MOST_INTEGER},
    {"credit", 'n', offsetof(struct header, credit), 0},
    {"descriptors", 'n', offsetof(struct header, descriptors), 1},
    {"memory", 'n', offsetof(struct header, memory), 1},
    {"code", 's', offsetof(struct header, code), 0},
    {"message", 's', offsetof(struct header, message), 0},
    {"ran", 's', offsetof(struct header, ran), 0},
    {"trace", 's', offsetof(struct header, trace), 0},
    {"root", 'o', offsetof(struct header, root), 0},
    {"meta", 'o', offsetof(struct header, meta), 0},
};

/* Decodes the string in place, so it ends with a NUL where its quote was. */
static const char *decode_in_place(strata_json value) {
  char *text = (char *)(uintptr_t)value.at;
  return strata_json_string(value, text, value.length, NULL) ? text : NULL;
}

/* Reads a header of the bus, and changes its text. */
static bool read_header(strata *bus, char *text, size_t length, struct header *header) {
  static const char *const kinds[] = {"", "call", "reply", "error", "notice", "cancel", "credit"};
  memset(header, 0, sizeof *header);
  if (check_json(bus, text, length, 32) != STRATA_OK) return false;
  strata_json object = strata_json_of(text, length), name, value;
  if (strata_json_type(object) != 'o') return false;
  bool has_kind = false;
  for (size_t position = 0; strata_json_next(object, &position, &name, &value);) {
    if (same_text(name, "kind")) {
      if (strata_json_type(value) != 's') return false;
      has_kind = true;
      for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (same_text(value, kinds[i])) header->kind = (enum kind)i;
      continue;
    }
    if (same_text(name, "more") && !strata_json_bool(value, &header->more)) return false;
    if (same_text(name, "retained") && !strata_json_bool(value, &header->retained)) return false;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
      if (!same_text(name, members[i].name)) continue;
      void *field = (char *)header + members[i].offset;
      if (strata_json_type(value) != members[i].type) return false;
      if (members[i].type == 'n') {
        int64_t number;
        if (!strata_json_int(value, &number) || number < members[i].least || number > MOST_INTEGER) return false;
        *(int64_t *)field = number;
      } else if (members[i].type == 's') {
        *(const char **)field = decode_in_place(value);
      } else {
        *(strata_json *)field = value;
      }
      break;
    }
  }
  return has_kind;
}

/* ---- 5 Sending --------------------------------------------------------- */

static void lose(strata *bus);
static void broken(strata *bus, const char *what);

static size_t unsent(const strata *bus) { return bus->out_end - bus->out_start; }

/* Duplicates the descriptors of the frame that is queued next. */
static strata_status hold_descriptors(strata *bus, const int *numbers, size_t count) {
  if (count == 0) return STRATA_OK;
  if (count > STRATA_DESCRIPTORS || !bus->carries || !strata_has_feature(bus, "descriptors")) return STRATA_INVALID;
  if (count > most_unsent - bus->unsent_count) return STRATA_OVERLOADED;
  int *own = bus->unsent_numbers + bus->unsent_count;
  for (size_t i = 0; i < count; i++) {
    own[i] = fcntl(numbers[i], F_DUPFD_CLOEXEC, 0);
    if (own[i] >= 0) continue;
    strata_status status = errno == EBADF ? STRATA_INVALID : STRATA_OVERLOADED;
    close_all(own, i);
    return status;
  }
  bus->sending[bus->sending_count++] = (struct sending){bus->written + unsent(bus), count, 0};
  bus->unsent_count += count;
  return STRATA_OK;
}

/* Writes a body into a file in memory that nobody can change any more. -1 if that fails. */
static int body_file(const char *body, size_t length) {
  int file = memfd_create("strata-body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  size_t written = 0;
  while (file >= 0 && written < length) {
    ssize_t count = write(file, body + written, length - written);
    if (count > 0) written += (size_t)count;
    else if (count == 0 || errno != EINTR) break;
  }
  if (file < 0) return -1;
  if (written == length && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0) return file;
  close(file);
  return -1;
}

/* Puts a large body into a file for the frame that is queued next, if the bus takes such files.
 * If `in_file` is false then, the body goes in the frame. */
static strata_status hold_body(strata *bus, const char *body, size_t length, bool *in_file) {
  bool fits = length <= bus->frame_limit;
  *in_file = false;
  if (length < large_body || length > bus->body_limit) return fits ? STRATA_OK : STRATA_TOO_LARGE;
  /* The broker holds no more bytes of one peer either. */
  bool has_room = bus->unsent_count < most_unsent && length <= bus->body_limit - bus->unsent_bodies;
  int file = has_room ? body_file(body, length) : -1;
  if (file < 0) return fits ? STRATA_OK : STRATA_OVERLOADED;
  bus->sending[bus->sending_count++] = (struct sending){bus->written + unsent(bus), 1, length};
  bus->unsent_numbers[bus->unsent_count++] = file;
  bus->unsent_bodies += length;
  *in_file = true;
  return STRATA_OK;
}

/* The frame that they were held for can't be queued. */
static void release_descriptors(strata *bus, size_t count) {
  if (count == 0) return;
  bus->unsent_bodies -= bus->sending[--bus->sending_count].body;
  bus->unsent_count -= count;
  close_all(bus->unsent_numbers + bus->unsent_count, count);
}

/* The first frame's are sent, or all are dropped. */
static void drop_unsent(strata *bus, size_t frames) {
  size_t count = 0;
  for (size_t i = 0; i < frames; i++) count += bus->sending[i].count, bus->unsent_bodies -= bus->sending[i].body;
  close_all(bus->unsent_numbers, count);
  bus->sending_count -= frames;
  bus->unsent_count -= count;
  memmove(bus->sending, bus->sending + frames, bus->sending_count * sizeof *bus->sending);
  memmove(bus->unsent_numbers, bus->unsent_numbers + count, bus->unsent_count * sizeof *bus->unsent_numbers);
}

/* The descriptors that came and whose frames aren't complete yet. */
static void drop_received(strata *bus) {
  for (size_t i = 0; i < bus->received_count; i++) close_all(bus->received[i].numbers, bus->received[i].count);
  bus->received_count = 0;
}

/* Makes room for so many bytes behind the unsent ones. */
static bool reserve(strata *bus, size_t bytes) {
  if (bytes <= bus->out_size - bus->out_end) return true;
  if (bus->out_start > 0) {
    memmove(bus->out, bus->out + bus->out_start, unsent(bus));
    bus->out_end -= bus->out_start;
    bus->out_start = 0;
    if (bytes <= bus->out_size - bus->out_end) return true;
  }
  size_t least = bus->out_end + bytes, size = bus->out_size * 2;
  if (size < least) size = least;
  if (size < first_buffer) size = first_buffer;
  char *out = resize(bus, bus->out, bus->out_size, size);
  if (out == NULL && size > least) out = resize(bus, bus->out, bus->out_size, size = least);
  if (out == NULL) return false;
  bus->out = out;
  bus->out_size = size;
  return true;
}

static void big_endian(char *to, size_t number) {
  for (int i = 0; i < 4; i++) to[i] = (char)(number >> (24 - 8 * i) & 0xFF);
}

/* A header is written straight into the queue, behind 8 bytes for the lengths;
 * end_frame() adds the body. `texts` is how long its texts are together. */
static bool begin_frame(strata *bus, strata_writer *w, size_t texts, size_t body) {
  size_t most = 512 + 6 * texts;
  if (bus->fd < 0 || texts > (size_t)1 << 24 || !reserve(bus, 8 + most + body)) return false;
  *w = strata_write(bus->out + bus->out_end + 8, most);
  strata_put_object(w);
  return true;
}

static strata_status end_frame(strata *bus, strata_writer *w, const char *body, size_t length) {
  strata_put_object_end(w);
  if (w->failed) return STRATA_INVALID;
  if (w->length > bus->header_limit || 4 + w->length + length > bus->frame_limit) return STRATA_TOO_LARGE;
  char *frame = bus->out + bus->out_end;
  big_endian(frame, 4 + w->length + length);
  big_endian(frame + 4, w->length);
  if (length > 0) memcpy(frame + 8 + w->length, body, length);
  bus->out_end += 8 + w->length + length;
  return STRATA_OK;
}

/* A short frame about a request. */
static void send_about(strata *bus, const char *kind, uint64_t id, int64_t credit) {
  strata_writer w;
  bus->urgent = true;
  bool begun = begin_frame(bus, &w, 0, 0);
  bus->urgent = false;
  if (!begun) {
    if (bus->fd >= 0) broken(bus, "there is no memory for a frame");
    return;
  }
  put_member(&w, "kind", kind);
  put_integer(&w, "id", (int64_t)id);
  if (credit > 0) put_integer(&w, "credit", credit);
  end_frame(bus, &w, NULL, 0);
}

/* How much of a text fits, without cutting a character. */
static size_t cut(const char *text, size_t most) {
  size_t length = strnlen(text, most + 1);
  if (length <= most) return length;
  for (length = most; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;) length--;
  return length;
}

static strata_status queue_error(strata *bus, int64_t id, const char *code, const char *message, const char *ran,
                                 const char *body, size_t length) {
  strata_writer w;
  size_t code_length = cut(code, 128), message_length = message == NULL ? 0 : cut(message, message_bytes);
  if (!begin_frame(bus, &w, code_length + message_length, length)) return STRATA_NO_MEMORY;
  put_member(&w, "kind", "error");
  put_integer(&w, "id", id);
  strata_put_name(&w, "code");
  strata_put_bytes(&w, code, code_length);
  if (message_length > 0) {
    strata_put_name(&w, "message");
    strata_put_bytes(&w, message, message_length);
  }
  put_member(&w, "ran", ran);
  return end_frame(bus, &w, body, length);
}

/* An error that must be sent, whatever it costs: without it a request would
 * never end. The connection's end ends all requests. */
static void send_error(strata *bus, int64_t id, const char *code, const char *message, const char *ran) {
  if (bus->fd < 0) return;
  bus->urgent = true;
  strata_status status = queue_error(bus, id, code, message, ran, NULL, 0);
  if (status == STRATA_INVALID) status = queue_error(bus, id, "failed", "the error's text is not UTF-8", ran, NULL, 0);
  bus->urgent = false;
  if (status != STRATA_OK) broken(bus, "there is no memory for an answer");
}

/* ---- 6 Declarations ---------------------------------------------------- */

enum declared {
  an_interface, an_action, a_url, an_observation, a_broadcast, a_report, an_event, a_requirement, a_setting,
  declared_kinds
};

struct declaration {
  struct declaration *next, *next_hashed;
  enum declared kind;
  unsigned flags;
  const char *a, *b, *c; /* what they are depends on the kind */
  strata_handler *handler, *released;
  void *context;
  int64_t subscription;  /* an observation's number, 0 if it has none now */
  bool in_hello, dead;
  unsigned char takes, gives; /* an action's descriptors, with a call and a reply */
  void (*begun)(strata *, strata_status, void *);
  void *begun_context;
  size_t size;
  char texts[];
};

static struct declaration *declare(strata *bus, enum declared kind, const char *a, const char *b, const char *c) {
  const char *given[3] = {a, b, c}, *kept[3] = {NULL, NULL, NULL};
  size_t size = sizeof(struct declaration);
  for (int i = 0; i < 3; i++)
    if (given[i] != NULL) size += strlen(given[i]) + 1;
  struct declaration *d = grab(bus, size);
  if (d == NULL) return NULL;
  char *at = d->texts;
  for (int i = 0; i < 3; i++) {
    if (given[i] == NULL) continue;
    size_t length = strlen(given[i]) + 1;
    memcpy(at, given[i], length);
    kept[i] = at;
    at += length;
  }
  d->kind = kind, d->size = size;
  d->a = kept[0], d->b = kept[1], d->c = kept[2];
  *bus->last = d;
  bus->last = &d->next;
  return d;
}

static struct declaration *find(const strata *bus, enum declared kind, const char *a) {
  for (struct declaration *d = bus->first; d != NULL; d = d->next)
    if (d->kind == kind && !d->dead && strcmp(d->a, a) == 0) return d;
  return NULL;
}

static struct declaration *find_action(const strata *bus, const char *path) {
  for (struct declaration *d = bus->actions[hash(path)]; d != NULL; d = d->next_hashed)
    if (strcmp(d->a, path) == 0) return d;
  return NULL;
}

/* The interface of this name, which is made if it isn't there. */
static struct declaration *interface_of(strata *bus, const char *name, size_t length) {
  char text[65];
  if (length == 0 || length >= sizeof text) return NULL;
  memcpy(text, name, length);
  text[length] = 0;
  struct declaration *d = find(bus, an_interface, text);
  if (d != NULL) return d;
  return declare(bus, an_interface, text, NULL, NULL);
}

strata_status strata_action(strata *bus, const char *path, unsigned flags, strata_handler *handler, void *context) {
  const char *slash = path == NULL ? NULL : strchr(path, '/');
  if (bus->fixed || slash == NULL || handler == NULL || strlen(slash) > 65) return STRATA_INVALID;
  if (find_action(bus, path) != NULL) return STRATA_INVALID;
  struct declaration *interface = interface_of(bus, path, (size_t)(slash - path));
  if (interface == NULL) return STRATA_INVALID;
  struct declaration *d = declare(bus, an_action, path, slash + 1, NULL);
  if (d == NULL) return STRATA_NO_MEMORY;
  d->handler = handler, d->context = context, d->flags = flags;
  d->c = interface->a;
  d->next_hashed = bus->actions[hash(path)];
  bus->actions[hash(path)] = d;
  return STRATA_OK;
}

strata_status strata_descriptors(strata *bus, const char *path, unsigned params, unsigned reply) {
  struct declaration *d = path == NULL ? NULL : find_action(bus, path);
  if (bus->fixed || d == NULL || *d->b == 0 || params > STRATA_DESCRIPTORS || reply > STRATA_DESCRIPTORS) return STRATA_INVALID;
  d->takes = (unsigned char)params, d->gives = (unsigned char)reply;
  return STRATA_OK;
}

/* Whether descriptors go with frames: the program says so, or an action does. */
static bool wants_descriptors(const strata *bus) {
  if (bus->options.descriptors) return true;
  for (const struct declaration *d = bus->first; d != NULL; d = d->next)
    if (d->kind == an_action && (d->takes > 0 || d->gives > 0)) return true;
  return false;
}

strata_status strata_version(strata *bus, const char *interface, const char *version) {
  struct declaration *d = find(bus, an_interface, interface);
  if (bus->fixed || d == NULL || d->b != NULL) return STRATA_INVALID;
  d->b = copy_text(bus, version, strlen(version));
  return d->b == NULL ? STRATA_NO_MEMORY : STRATA_OK;
}

strata_status strata_instances(strata *bus, const char *interface, strata_handler *created, strata_handler *released,
                               void *context) {
  if (bus->fixed) return STRATA_INVALID;
  struct declaration *d = interface_of(bus, interface, strlen(interface));
  if (d == NULL) return STRATA_INVALID;
  d->flags = 1;
  d->handler = created, d->released = released, d->context = context;
  return STRATA_OK;
}

static strata_status declare_only(strata *bus, enum declared kind, const char *a, const char *b, const char *c,
                                  unsigned flags, strata_handler *handler, void *context) {
  if (bus->fixed || a == NULL) return STRATA_INVALID;
  struct declaration *d = declare(bus, kind, a, b, c);
  if (d == NULL) return STRATA_NO_MEMORY;
  d->flags = flags, d->handler = handler, d->context = context;
  return STRATA_OK;
}

strata_status strata_url(strata *bus, const char *host, const char *path, const char *to) {
  return declare_only(bus, a_url, host, path, to, 0, NULL, NULL);
}
strata_status strata_event(strata *bus, const char *name, strata_handler *handler, void *context) {
  return declare_only(bus, an_event, name, NULL, NULL, 0, handler, context);
}
strata_status strata_requires(strata *bus, const char *interface) {
  return declare_only(bus, a_requirement, interface, NULL, NULL, 0, NULL, NULL);
}
strata_status strata_broadcasts(strata *bus, const char *name) {
  return declare_only(bus, a_broadcast, name, NULL, NULL, 0, NULL, NULL);
}
strata_status strata_reports(strata *bus, const char *module, const char *name) {
  return declare_only(bus, a_report, module, name, NULL, 0, NULL, NULL);
}
strata_status strata_setting(strata *bus, const char *key, unsigned flags) {
  size_t size = bus->settings_size + strlen(key) + 32;
  if (size > settings_bytes) return STRATA_TOO_LARGE;
  bus->settings_size = size;
  return declare_only(bus, a_setting, key, NULL, NULL, flags, NULL, NULL);
}
strata_status strata_life(strata *bus, const strata_steps *steps) {
  if (bus->fixed) return STRATA_INVALID;
  bus->steps = *steps;
  return STRATA_OK;
}

/* Where a hello in parts has come to. `item` is the next declaration of
 * `kind`; an interface's actions may be divided. */
struct part {
  enum declared kind;
  struct declaration *item, *action;
  bool divided;
  size_t bytes, values, observations;
};

static bool full(struct part *part, const strata_writer *w) {
  return part->bytes != SIZE_MAX && (w->length > part->bytes || part->values > part_values);
}

static struct declaration *next_of(struct declaration *d, enum declared kind) {
  while (d != NULL && (d->kind != kind || d->dead)) d = d->next;
  return d;
}

static void put_interface(strata *bus, struct part *part, strata_writer *w) {
  struct declaration *interface = part->item;
  strata_put_name(w, interface->a);
  strata_put_object(w);
  if (part->divided) {
    strata_put_name(w, "add");
    strata_put_bool(w, true);
  } else {
    put_member(w, "version", interface->b);
    if (interface->flags) put_member(w, "instances", "multiple");
    part->action = bus->first;
  }
  strata_put_name(w, "actions");
  strata_put_object(w);
  part->values += 5;
  for (; part->action != NULL && !full(part, w); part->action = part->action->next) {
    struct declaration *d = part->action;
    if (d->kind != an_action || d->c != interface->a || *d->b == 0) continue;
    strata_put_name(w, d->b);
    strata_put_object(w);
    if (d->flags & STRATA_AUTH) strata_put_name(w, "auth"), strata_put_bool(w, true);
    if (d->flags & STRATA_STREAM) strata_put_name(w, "stream"), strata_put_bool(w, true);
    if (d->takes > 0 || d->gives > 0) {
      strata_put_name(w, "descriptors");
      strata_put_object(w);
      put_integer(w, "params", d->takes), put_integer(w, "reply", d->gives);
      strata_put_object_end(w);
      part->values += 3;
    }
    strata_put_object_end(w);
    part->values += 3;
  }
  strata_put_object_end(w);
  strata_put_object_end(w);
  part->divided = part->action != NULL;
}

static void put_report(struct declaration *first, struct declaration *report, strata_writer *w) {
  for (struct declaration *d = first; d != report; d = d->next)
    if (d->kind == a_report && strcmp(d->a, report->a) == 0) return; /* it was written with that one */
  strata_put_name(w, report->a);
  strata_put_array(w);
  for (struct declaration *d = report; d != NULL; d = d->next)
    if (d->kind == a_report && strcmp(d->a, report->a) == 0) strata_put_string(w, d->b);
  strata_put_array_end(w);
}

/* Whether a segment of an observed name stands for others: `*`, or `>` at the end. */
static bool is_pattern(const char *name) {
  for (const char *segment = name;; segment++) {
    size_t length = strcspn(segment, ".");
    bool is_last = segment[length] == '\0';
    if (length == 1 && (*segment == '*' || (*segment == '>' && is_last))) return true;
    if (is_last) return false;
    segment += length;
  }
}

/* The flags of an observation. */
enum { keeps_latest = 1, shares = 2 };

static void put_observation(struct declaration *d, strata_writer *w) {
  strata_put_object(w);
  put_member(w, is_pattern(d->a) ? "pattern" : "name", d->a);
  put_member(w, "object", d->b);
  if (d->flags & keeps_latest) put_member(w, "keep", "latest");
  if (d->flags & shares) strata_put_name(w, "share"), strata_put_bool(w, true);
  strata_put_object_end(w);
}

static void put_item(strata *bus, struct part *part, strata_writer *w) {
  struct declaration *d = part->item;
  switch (d->kind) {
    case an_interface: put_interface(bus, part, w); break;
    case a_url:
      strata_put_object(w);
      put_member(w, "host", d->a), put_member(w, "path", d->b), put_member(w, "to", d->c);
      strata_put_object_end(w);
      break;
    case an_observation:
      put_observation(d, w);
      d->in_hello = true;
      part->observations++;
      break;
    case a_report: put_report(bus->first, d, w); break;
    case a_setting:
      if (!(d->flags & STRATA_SECRET)) {
        strata_put_string(w, d->a);
        break;
      }
      strata_put_object(w);
      put_member(w, "name", d->a);
      strata_put_name(w, "secret"), strata_put_bool(w, true);
      strata_put_object_end(w);
      break;
    default: strata_put_string(w, d->a);
  }
  part->values += 4;
}

/* Writes the members of hello, or of the next part, until it is full. Returns
 * whether all is written. The settings must be in hello itself. */
static bool put_part(strata *bus, struct part *part, strata_writer *w) {
  static const char *const names[] = {"interfaces", "", "urls", "observes", "broadcasts", "reports", "events",
                                      "requires", "settings"};
  for (; part->kind < declared_kinds; part->kind = (enum declared)(part->kind + 1), part->item = bus->first) {
    if (part->kind == an_action || part->kind == a_setting) continue;
    part->item = next_of(part->item, part->kind);
    if (part->item == NULL) continue;
    if (full(part, w)) return false;
    bool is_object = part->kind == an_interface || part->kind == a_report;
    strata_put_name(w, names[part->kind]);
    is_object ? strata_put_object(w) : strata_put_array(w);
    while (part->item != NULL && !full(part, w)) {
      put_item(bus, part, w);
      if (!part->divided) part->item = next_of(part->item->next, part->kind);
    }
    is_object ? strata_put_object_end(w) : strata_put_array_end(w);
    if (part->item != NULL) return false;
  }
  return true;
}

/* Writes hello's body. Returns whether it has all, and needs no parts. */
static bool put_hello(strata *bus, struct part *part, strata_writer *w, bool for_bus) {
  strata_put_object(w);
  put_integer(w, "protocol", 1);
  if (for_bus) strata_put_name(w, "memory"), strata_put_bool(w, true);
  if (wants_descriptors(bus)) strata_put_name(w, "descriptors"), strata_put_bool(w, true);
  if (bus->options.is_operator) {
    put_member(w, "role", "operator");
    strata_put_object_end(w);
    return true;
  }
  put_member(w, "module", bus->name);
  if (for_bus) put_member(w, "token", bus->token);
  put_member(w, "level", bus->level);
  put_member(w, "runtime", bus->runtime);
  if (for_bus && bus->started) strata_put_name(w, "resumed"), strata_put_bool(w, true);
  if (bus->steps.retiring != NULL) strata_put_name(w, "retiring"), strata_put_bool(w, true);
  struct part settings = {.kind = a_setting, .item = next_of(bus->first, a_setting)};
  if (settings.item != NULL) {
    strata_put_name(w, "settings");
    strata_put_array(w);
    for (; settings.item != NULL; settings.item = next_of(settings.item->next, a_setting))
      put_item(bus, &settings, w);
    strata_put_array_end(w);
  }
  part->values += settings.values;
  bool whole = put_part(bus, part, w);
  if (!whole) strata_put_name(w, "more"), strata_put_bool(w, true);
  strata_put_object_end(w);
  return whole;
}

strata_status strata_describe(strata *bus, int descriptor) {
  for (size_t size = 16384;; size *= 2) {
    char *text = grab(bus, size);
    if (text == NULL) return STRATA_NO_MEMORY;
    strata_writer w = strata_write(text, size);
    struct part part = {.item = bus->first, .bytes = SIZE_MAX};
    part.values = 0;
    bool whole = put_hello(bus, &part, &w, false);
    bool fits = whole && !w.failed && w.length < size;
    if (fits) {
      text[w.length++] = '\n';
      for (size_t at = 0; at < w.length;) {
        ssize_t count = write(descriptor, text + at, w.length - at);
        if (count < 0 && errno != EINTR) break;
        if (count > 0) at += (size_t)count;
      }
    }
    release(bus, text, size);
    if (fits) return STRATA_OK;
  }
}

/* ---- 7 Own requests ---------------------------------------------------- */

struct own {
  struct own *next;
  int64_t id;
  strata_answered *answered, *part;
  void *context;
  int64_t window, consumed; /* parts taken at once; those since credit was given */
  uint64_t begin;           /* where its frame begins in this connection's bytes */
  bool cancelled;
};

static struct own **find_own(strata *bus, int64_t id) {
  struct own **at = &bus->own[hash_id(id)];
  while (*at != NULL && (*at)->id != id) at = &(*at)->next;
  return at;
}

static struct own *add_own(strata *bus) {
  struct own *own = grab(bus, sizeof *own);
  if (own == NULL) return NULL;
  own->id = (int64_t)++bus->next_id;
  own->begin = bus->written + unsent(bus);
  own->next = bus->own[hash_id(own->id)];
  bus->own[hash_id(own->id)] = own;
  bus->own_count++;
  return own;
}

static void remove_own(strata *bus, int64_t id) {
  struct own **at = find_own(bus, id), *own = *at;
  if (own == NULL) return;
  *at = own->next;
  bus->own_count--;
  release(bus, own, sizeof *own);
}

/* Removes the request before its callback, which may make others. */
static void answer_own(strata *bus, struct own *own, const strata_answer *answer) {
  strata_answered *answered = own->answered;
  void *context = own->context;
  remove_own(bus, own->id);
  if (answered != NULL) answered(bus, answer, context);
}

static strata_answer error_answer(const char *code, const char *message, const char *ran) {
  strata_answer answer = {0};
  answer.code = code, answer.message = message, answer.ran = ran;
  answer.body = "null", answer.length = 4;
  return answer;
}

static int64_t request_id(const strata_request *request);
static bool request_open(const strata_request *request);

static size_t length_of(const char *text) { return text == NULL ? 0 : strlen(text); }

/* Whether a large body may go in a memory file: the bus reads the bodies of calls to itself. */
static bool may_have_file(strata_kind kind, const strata_message *m) {
  if (m->descriptor_count > 0) return false;
  return kind == STRATA_REPORT || (kind == STRATA_CALL && m->to != NULL && strncmp(m->to, "bus/", 4) != 0);
}

static strata_status send_message(strata *bus, strata_kind kind, const strata_message *m, uint64_t *id) {
  static const char *const kinds[] = {"call", "open", "broadcast", "report", "call"};
  bool numbered = kind != STRATA_BROADCAST || m->answered != NULL;
  size_t length = m->body == NULL ? 0 : m->length > 0 ? m->length : strlen(m->body);
  if (id != NULL) *id = 0;
  if (bus->fd < 0 || bus->phase == waiting || bus->phase == ended) return STRATA_UNAVAILABLE;
  if (m->parent != NULL && !request_open(m->parent)) return STRATA_ENDED;
  if (numbered && bus->own_count >= bus->options.calls) return STRATA_OVERLOADED;
  const char *trace = m->trace;
  if (trace == NULL && m->parent != NULL) trace = strata_trace(m->parent);
  size_t texts = length_of(m->to) + length_of(m->name) + length_of(m->object) + length_of(trace) + length_of(m->meta) + length_of(m->key);
  bool may_be_long = may_have_file(kind, m) && length >= large_body && length <= bus->body_limit;
  if (texts > bus->header_limit || (length > bus->frame_limit && !may_be_long)) return STRATA_TOO_LARGE;
  if (unsent(bus) > 0 && unsent(bus) + texts + (may_be_long ? 0 : length) > bus->options.queued) return STRATA_OVERLOADED;
  /* A header that can't be read would end the connection. */
  if (m->key != NULL && (*m->key == 0 || strlen(m->key) > 64)) return STRATA_INVALID;
  if (m->meta != NULL && (*m->meta != '{' || check_json(bus, m->meta, strlen(m->meta), 31) != STRATA_OK)) return STRATA_INVALID;
  if (m->descriptor_count > 0 && kind != STRATA_CALL && kind != STRATA_REPORT) return STRATA_INVALID;
  bool in_file = false;
  strata_status status = may_be_long ? hold_body(bus, m->body, length, &in_file)
                                     : hold_descriptors(bus, m->descriptors, m->descriptor_count);
  if (status != STRATA_OK) return status;
  size_t held = in_file ? 1 : m->descriptor_count, rest = in_file ? 0 : length; /* the body in the frame */
  if (may_be_long && !in_file && unsent(bus) > 0 && unsent(bus) + texts + length > bus->options.queued) return STRATA_OVERLOADED;

  struct own *own = NULL;
  status = STRATA_NO_MEMORY;
  if (numbered) {
    own = add_own(bus);
    if (own == NULL) return release_descriptors(bus, held), status;
    own->answered = m->answered, own->part = m->part, own->context = m->context;
    own->window = m->credit > 0 ? m->credit : 16;
  }
  strata_writer w;
  if (begin_frame(bus, &w, texts, rest)) {
    put_member(&w, "kind", kinds[kind]);
    if (own != NULL) put_integer(&w, "id", own->id);
    if (kind == STRATA_OPEN) put_member(&w, "url", m->to);
    else if (kind == STRATA_EMIT) put_member(&w, "to", "bus/emit");
    else if (kind != STRATA_BROADCAST) put_member(&w, "to", m->to);
    if (kind >= STRATA_BROADCAST) put_member(&w, "name", m->name);
    if (kind == STRATA_BROADCAST || kind == STRATA_REPORT) put_member(&w, "object", m->object);
    if (m->parent != NULL && request_id(m->parent) > 0) put_integer(&w, "parent", request_id(m->parent));
    if (m->deadline > 0) put_integer(&w, "deadline", m->deadline);
    /* Only a deadline of 0 beside credit means none. */
    if (m->deadline < 0) put_integer(&w, "deadline", 0);
    if (m->credit > 0 || m->deadline < 0) put_integer(&w, "credit", own != NULL ? own->window : 0);
    if (kind == STRATA_BROADCAST && m->retain) strata_put_name(&w, "retain"), strata_put_bool(&w, true);
    if (kind != STRATA_BROADCAST && kind != STRATA_EMIT) put_member(&w, "key", m->key);
    if (m->skip_auth) put_member(&w, "auth", "skip");
    if (m->descriptor_count > 0) put_integer(&w, "descriptors", (int64_t)m->descriptor_count);
    if (in_file) put_integer(&w, "memory", (int64_t)length);
    put_member(&w, "trace", trace);
    if (m->meta != NULL) strata_put_name(&w, "meta"), strata_put_json(&w, m->meta, strlen(m->meta));
    status = end_frame(bus, &w, m->body, rest);
  }
  if (own != NULL && status == STRATA_OK && id != NULL) *id = (uint64_t)own->id;
  if (status != STRATA_OK) release_descriptors(bus, held);
  if (own != NULL && status != STRATA_OK) remove_own(bus, own->id);
  return status;
}

strata_status strata_send(strata *bus, strata_kind kind, const strata_message *message, uint64_t *id) {
  if (id != NULL) *id = 0;
  return bus->phase == ready ? send_message(bus, kind, message, id) : STRATA_UNAVAILABLE;
}

void strata_cancel(strata *bus, uint64_t id) {
  struct own *own = *find_own(bus, (int64_t)id);
  if (own == NULL || own->cancelled || bus->fd < 0) return;
  own->cancelled = true;
  send_about(bus, "cancel", id, 0);
}

struct waiter {
  bool done;
  strata_result *result;
  strata_answered *part;
  void *part_context;
};

/* Keeps the frame that the answer points into. */
static void wait_answered(strata *bus, const strata_answer *answer, void *context) {
  struct waiter *waiter = context;
  (void)bus;
  waiter->done = true;
  waiter->result->answer = *answer;
  if (answer->internal != NULL) ((struct frame *)answer->internal)->references++;
}

static void wait_part(strata *bus, const strata_answer *answer, void *context) {
  struct waiter *waiter = context;
  if (waiter->part != NULL) waiter->part(bus, answer, waiter->part_context);
}

bool strata_wait(strata *bus, strata_kind kind, const strata_message *message, strata_result *result) {
  struct waiter waiter = {false, result, message->part, message->context};
  strata_message copy = *message;
  copy.answered = wait_answered, copy.part = wait_part, copy.context = &waiter;
  strata_status status = STRATA_OVERLOADED;
  if (bus->nested < bus->options.nesting) status = strata_send(bus, kind, &copy, NULL);
  if (status != STRATA_OK) {
    result->answer = error_answer(strata_status_code(status), "the client did not send it", "no");
    return false;
  }
  bus->nested++;
  while (!waiter.done && strata_step(bus, -1)) continue;
  bus->nested--;
  if (!waiter.done) result->answer = error_answer("died", "this peer ended", "maybe");
  return result->answer.ok;
}

void strata_result_free(strata *bus, strata_result *result) {
  drop_frame(bus, result->answer.internal);
  result->answer.internal = NULL;
}

/* Takes a frame's descriptor over; -1 if there is none. */
static int take_descriptor(struct frame *frame, size_t index) {
  if (frame == NULL || index >= frame->descriptors.count) return -1;
  int number = frame->descriptors.numbers[index];
  frame->descriptors.numbers[index] = -1;
  return number;
}

int strata_take_answered(const strata_answer *answer, size_t index) { return take_descriptor(answer->internal, index); }

/* The answer that a frame has; its body was checked. */
static strata_answer answer_of(const struct header *header, struct frame *frame, const char *body, size_t length) {
  strata_answer answer = {0};
  answer.ok = header->kind == reply_kind;
  answer.code = header->code != NULL ? header->code : answer.ok ? "" : "failed";
  answer.message = header->message != NULL ? header->message : "";
  answer.ran = header->ran != NULL ? header->ran : answer.ok ? "yes" : "maybe";
  answer.body = length == 0 ? "null" : body;
  answer.length = length == 0 ? 4 : length;
  if (header->root.length > 0) answer.root = header->root.at, answer.root_length = header->root.length;
  if (header->meta.length > 0) answer.meta = header->meta.at, answer.meta_length = header->meta.length;
  answer.descriptor_count = frame->descriptors.count;
  answer.internal = frame;
  return answer;
}

/* A partial reply. Credit is given once half of it is used, so that a stream
 * neither stops nor costs a frame for each part. */
static void take_part(strata *bus, struct own *own, const strata_answer *answer) {
  int64_t id = own->id;
  if (own->cancelled) return;
  if (own->part != NULL) own->part(bus, answer, own->context);
  own = *find_own(bus, id);
  if (own == NULL || own->cancelled || bus->fd < 0) return;
  if (++own->consumed * 2 < own->window) return;
  send_about(bus, "credit", (uint64_t)id, own->consumed);
  own->consumed = 0;
}

/* ---- 8 Served requests ------------------------------------------------- */

enum served { a_call, a_notice, an_emit, a_step, a_create };

struct strata_request {
  strata_request *next;
  strata *bus;
  enum served kind;
  struct header header;
  struct frame *frame;
  strata_json body;
  struct declaration *declaration;
  struct instance *instance;
  char instance_name[96];
  int64_t credit;
  int busy;  /* its handlers that are running */
  bool kept, answered, cancelled, refused, starts;
  strata_handler *on_cancel, *on_writable;
  void *cancel_context, *writable_context;
  char *undo; /* the settings before, for a module that refuses new ones */
  size_t undo_length;
};

static int64_t request_id(const strata_request *request) { return request->header.id; }
static bool request_open(const strata_request *request) { return !request->answered && !request->cancelled; }

strata *strata_bus(const strata_request *request) { return request->bus; }
const char *strata_body(const strata_request *request) { return request->body.at; }
size_t strata_length(const strata_request *request) { return request->body.length; }
static const char *or_empty(const char *text) { return text == NULL ? "" : text; }
const char *strata_to(const strata_request *request) { return or_empty(request->header.to); }
const char *strata_from(const strata_request *request) { return or_empty(request->header.from); }
const char *strata_name(const strata_request *request) { return or_empty(request->header.name); }
const char *strata_object(const strata_request *request) { return request->header.object; }
const char *strata_url_of(const strata_request *request) { return request->header.url; }
const char *strata_trace(const strata_request *request) { return request->header.trace; }
const char *strata_meta(const strata_request *request, size_t *length) {
  *length = request->header.meta.length;
  return request->header.meta.at;
}
int64_t strata_missed(const strata_request *request) { return request->header.missed; }
bool strata_retained(const strata_request *request) { return request->header.retained; }
int64_t strata_deadline(const strata_request *request) { return request->header.deadline; }
bool strata_cancelled(const strata_request *request) { return request->cancelled; }
int64_t strata_credit(const strata_request *request) { return request->credit; }
const char *strata_instance(const strata_request *request) { return request->instance_name; }
void **strata_instance_data(strata_request *request) {
  return request->instance == NULL ? NULL : &request->instance->data;
}
size_t strata_descriptor_count(const strata_request *request) {
  return request->frame == NULL ? 0 : request->frame->descriptors.count;
}
int strata_take_descriptor(strata_request *request, size_t index) { return take_descriptor(request->frame, index); }
void strata_keep(strata_request *request) { request->kept = true; }

void strata_on_cancel(strata_request *request, strata_handler *handler, void *context) {
  request->on_cancel = handler, request->cancel_context = context;
}

void strata_on_writable(strata_request *request, strata_handler *handler, void *context) {
  request->on_writable = handler, request->writable_context = context;
}

static struct instance **find_instance(strata *bus, const char *name) {
  struct instance **at = &bus->instances;
  while (*at != NULL && strcmp((*at)->name, name) != 0) at = &(*at)->next;
  return at;
}

static void remove_instance(strata *bus, struct instance *instance) {
  struct instance **at = find_instance(bus, instance->name);
  if (*at == NULL) return;
  *at = instance->next;
  for (size_t i = 0; i < buckets; i++)
    for (strata_request *r = bus->served[i]; r != NULL; r = r->next)
      if (r->instance == instance) r->instance = NULL;
  release(bus, instance, instance->size);
}

static strata_request **find_served(strata *bus, int64_t id) {
  strata_request **at = &bus->served[hash_id(id)];
  while (*at != NULL && ((*at)->header.id != id || !request_open(*at))) at = &(*at)->next;
  return at;
}

static void free_request(strata_request *request) {
  strata *bus = request->bus;
  for (strata_request **at = &bus->served[hash_id(request->header.id)]; *at != NULL; at = &(*at)->next) {
    if (*at != request) continue;
    *at = request->next;
    break;
  }
  bus->served_count--;
  if (request->undo != NULL) release(bus, request->undo, request->undo_length + 1);
  drop_frame(bus, request->frame);
  release(bus, request, sizeof *request);
}

/* What follows from a final answer, or from a cancel, before it is sent. */
static void conclude(strata_request *request, bool refused) {
  strata *bus = request->bus;
  request->refused = refused;
  if (request->starts && request->answered) bus->started = true;
  if (request->kind == a_create && request->instance != NULL) {
    if (refused) remove_instance(bus, request->instance);
    else request->instance->taken = true;
  }
  if (request->undo != NULL) {
    char *old = refused ? bus->settings : request->undo;
    size_t length = refused ? bus->settings_length : request->undo_length;
    if (refused) bus->settings = request->undo, bus->settings_length = request->undo_length;
    request->undo = NULL;
    release(bus, old, length + 1);
  }
}

static strata_status queue_reply(strata_request *request, const char *body, size_t length, bool more, size_t descriptors,
                                 bool in_file) {
  strata *bus = request->bus;
  strata_writer w;
  size_t rest = in_file ? 0 : length;
  if (!begin_frame(bus, &w, 0, rest)) return STRATA_NO_MEMORY;
  put_member(&w, "kind", "reply");
  put_integer(&w, "id", request->header.id);
  if (more) strata_put_name(&w, "more"), strata_put_bool(&w, true);
  if (descriptors > 0) put_integer(&w, "descriptors", (int64_t)descriptors);
  if (in_file) put_integer(&w, "memory", (int64_t)length);
  return end_frame(bus, &w, body, rest);
}

/* Frees a request that needs nothing any more. */
static void settle(strata_request *request) {
  if (request->busy > 0) return;
  if (request->answered || (request->cancelled && !request->kept)) free_request(request);
}

static bool must_answer(strata_request *request, strata_status *status) {
  if (request->answered) return *status = STRATA_ENDED, false;
  bool late = request->cancelled;
  request->answered = true;
  if (late) *status = STRATA_ENDED;
  return !late;
}

strata_status strata_reply(strata_request *request, const char *body, size_t length) {
  return strata_reply_with(request, body, length, NULL, 0);
}

strata_status strata_reply_with(strata_request *request, const char *body, size_t length, const int *descriptors,
                                size_t count) {
  strata *bus = request->bus;
  strata_status status = STRATA_OK;
  if (must_answer(request, &status)) {
    conclude(request, false);
    if (body != NULL && length == 0) length = strlen(body);
    if (body == NULL) length = 0;
    if (request->header.id > 0 && bus->fd >= 0) {
      bool in_file = false;
      /* The bus reads the answers to its own calls. */
      if (request->kind == a_call && count == 0) status = hold_body(bus, body, length, &in_file);
      else if (length > bus->frame_limit) status = STRATA_TOO_LARGE;
      else if (count > 0 && request->kind != a_call) status = STRATA_INVALID;
      if (status == STRATA_OK && !in_file && unsent(bus) > 0 && unsent(bus) + length > 2 * bus->options.queued)
        status = STRATA_OVERLOADED;
      if (status == STRATA_OK && !in_file) status = hold_descriptors(bus, descriptors, count);
      if (status == STRATA_OK) {
        status = queue_reply(request, body, length, false, count, in_file);
        if (status != STRATA_OK) release_descriptors(bus, in_file ? 1 : count);
      }
      if (status == STRATA_INVALID && count > 0) {
        send_error(bus, request->header.id, "failed", "the answer's descriptors can't be sent", "yes");
      } else if (status == STRATA_TOO_LARGE) {
        send_error(bus, request->header.id, "failed", "the answer exceeds the bus's limit", "yes");
      } else if (status != STRATA_OK) {
        send_error(bus, request->header.id, "overloaded", "there was no room for the answer", "yes");
      }
    }
  }
  settle(request);
  return status;
}

strata_status strata_fail_with(strata_request *request, const char *code, const char *message, const char *ran,
                               const char *body, size_t length) {
  strata *bus = request->bus;
  strata_status status = STRATA_OK;
  if (must_answer(request, &status)) {
    conclude(request, true);
    if (body != NULL && length == 0) length = strlen(body);
    if (body == NULL) length = 0;
    if (request->header.id > 0 && bus->fd >= 0) {
      if (length > bus->frame_limit) status = STRATA_TOO_LARGE;
      else if (unsent(bus) > 0 && unsent(bus) + length > 2 * bus->options.queued) status = STRATA_OVERLOADED;
      else status = queue_error(bus, request->header.id, or_empty(code), message, ran, body, length);
      if (status == STRATA_INVALID) send_error(bus, request->header.id, "failed", NULL, ran);
      else if (status != STRATA_OK) send_error(bus, request->header.id, or_empty(code), message, ran);
    }
  }
  settle(request);
  return status;
}

strata_status strata_fail(strata_request *request, const char *code, const char *message) {
  return strata_fail_with(request, code, message, NULL, NULL, 0);
}

strata_status strata_reply_written(strata_request *request, const strata_writer *writer) {
  if (!writer->failed) return strata_reply(request, writer->length == 0 ? NULL : writer->buffer, writer->length);
  strata_fail(request, "failed", "the answer didn't fit into the module's buffer");
  return STRATA_TOO_LARGE;
}

strata_status strata_part(strata_request *request, const char *body, size_t length) {
  strata *bus = request->bus;
  if (!request_open(request)) return STRATA_ENDED;
  if (request->credit == 0) return STRATA_NO_CREDIT;
  if (bus->fd < 0) return STRATA_UNAVAILABLE;
  if (body != NULL && length == 0) length = strlen(body);
  if (body == NULL) length = 0;
  if (length > bus->frame_limit) return STRATA_TOO_LARGE;
  strata_status status = STRATA_OVERLOADED;
  if (unsent(bus) == 0 || unsent(bus) + length <= bus->options.queued) status = queue_reply(request, body, length, true, 0, false);
  if (status == STRATA_OK) request->credit--;
  if (status == STRATA_OVERLOADED || status == STRATA_NO_MEMORY) bus->starved = true;
  return status;
}

/* Runs one of a request's handlers. It may free the request by answering it
 * after it was kept: that waits until the handler has returned. */
static void run_handler(strata_request *request, strata_handler *handler, void *context) {
  request->busy++;
  if (handler != NULL) handler(request, context);
  request->busy--;
}

/* Calls a request's first handler, and sees that it is answered. */
static void serve(strata_request *request, strata_handler *handler, void *context) {
  run_handler(request, handler, context);
  if (!request->answered && !request->cancelled && !request->kept) {
    if (request->kind == a_call) strata_fail(request, "failed", "the handler ended without an answer");
    else strata_reply(request, request->kind == an_emit ? "true" : NULL, 0);
    return;
  }
  settle(request);
}

static void cancel_served(strata_request *request) {
  if (!request_open(request)) return;
  request->cancelled = true;
  conclude(request, request->kind != a_create);
  strata_handler *handler = request->on_cancel;
  request->on_cancel = NULL;
  run_handler(request, handler, request->cancel_context);
  settle(request);
}

/* ---- 9 Life cycle ------------------------------------------------------ */

static bool keep_text(strata *bus, char **text, size_t *length, strata_json value) {
  char *copy = copy_text(bus, value.at, value.length);
  if (copy == NULL) return false;
  if (*text != NULL) release(bus, *text, *length + 1);
  *text = copy;
  *length = value.length;
  return true;
}

static void tear_down(strata *bus) {
  if (bus->torn) return;
  bus->torn = true;
  strata_request *request = grab(bus, sizeof *request);
  if (request == NULL || bus->steps.tear_down == NULL) {
    release(bus, request, sizeof *request);
    return;
  }
  request->bus = bus, request->kind = a_step, request->body = strata_json_of("null", 4);
  request->next = bus->served[hash_id(0)];
  bus->served[hash_id(0)] = request;
  bus->served_count++;
  serve(request, bus->steps.tear_down, bus->steps.context);
}

static void create_instance(strata_request *request) {
  strata *bus = request->bus;
  const char *hash_sign = strchr(request->instance_name, '#');
  struct declaration *interface = NULL;
  if (hash_sign != NULL) {
    char name[96];
    size_t length = (size_t)(hash_sign - request->instance_name);
    memcpy(name, request->instance_name, length);
    name[length] = 0;
    interface = find(bus, an_interface, name);
  }
  if (interface == NULL || !interface->flags) {
    strata_fail_with(request, "unknown-action", "there is no such interface with instances", "no", NULL, 0);
    return;
  }
  size_t size = sizeof(struct instance) + strlen(request->instance_name) + 1;
  struct instance *instance = grab(bus, size);
  if (instance == NULL) {
    strata_fail_with(request, "overloaded", "the module's memory is used up", "no", NULL, 0);
    return;
  }
  instance->size = size, instance->interface = interface;
  memcpy(instance->name, request->instance_name, strlen(request->instance_name) + 1);
  instance->next = bus->instances;
  bus->instances = instance;
  request->instance = instance;
  request->kind = a_create;
  strata_json params;
  if (strata_json_member(request->body, "params", &params)) {
    request->body = params;
    ((char *)(uintptr_t)params.at)[params.length] = 0; /* the object's end, or a comma */
  } else {
    request->body = strata_json_of("null", 4);
  }
  serve(request, interface->handler, interface->context);
}

static void release_instance(strata_request *request) {
  strata *bus = request->bus;
  struct instance *instance = *find_instance(bus, request->instance_name);
  if (instance == NULL) {
    strata_reply(request, NULL, 0);
    return;
  }
  request->instance = instance;
  struct declaration *interface = instance->interface;
  bool taken = instance->taken;
  instance->taken = false; /* a lost connection must not release it again */
  run_handler(request, taken ? interface->released : NULL, interface->context);
  if (request->instance != NULL) remove_instance(bus, request->instance);
  request->kept = false;
  if (request_open(request)) strata_reply(request, NULL, 0);
  else settle(request);
}

/* The connection is lost: so are the instances, without a call of the bus. */
static void lose_instances(strata *bus) {
  while (bus->instances != NULL) {
    struct instance *instance = bus->instances;
    strata_request *request = instance->taken && instance->interface->released != NULL ? grab(bus, sizeof *request) : NULL;
    if (request == NULL) {
      remove_instance(bus, instance);
      continue;
    }
    request->bus = bus, request->kind = a_step, request->body = strata_json_of("null", 4);
    snprintf(request->instance_name, sizeof request->instance_name, "%s", instance->name);
    request->next = bus->served[hash_id(0)];
    bus->served[hash_id(0)] = request;
    bus->served_count++;
    release_instance(request);
  }
}

static void new_settings(strata_request *request, bool may_refuse) {
  strata *bus = request->bus;
  strata_json settings;
  if (!strata_json_member(request->body, "settings", &settings)) return;
  char *old = bus->settings;
  size_t old_length = bus->settings_length;
  if (may_refuse) bus->settings = NULL;
  if (!keep_text(bus, &bus->settings, &bus->settings_length, settings)) {
    bus->settings = old;
    return;
  }
  if (may_refuse) request->undo = old, request->undo_length = old_length;
}

/* A call of the bus at module/…. */
static void serve_step(strata_request *request, const char *step) {
  strata *bus = request->bus;
  const strata_steps *steps = &bus->steps;
  strata_json instance;
  strata_handler *handler = NULL;
  request->kind = a_step;
  if (strata_json_member(request->body, "instance", &instance))
    strata_json_string(instance, request->instance_name, sizeof request->instance_name, NULL);

  if (strcmp(step, "ping") == 0) {
    strata_reply(request, "{}", 2);
    return;
  } else if (strcmp(step, "event") == 0) {
    struct declaration *event = find(bus, an_event, strata_name(request));
    request->kind = an_emit;
    if (event != NULL) {
      serve(request, event->handler, event->context);
      return;
    }
  } else if (strcmp(step, "create") == 0) {
    create_instance(request);
    return;
  } else if (strcmp(step, "released") == 0) {
    release_instance(request);
    return;
  } else if (strcmp(step, "setUp") == 0) {
    new_settings(request, false);
    handler = steps->set_up;
  } else if (strcmp(step, "initialize") == 0) {
    handler = steps->initialize;
  } else if (strcmp(step, "didStart") == 0) {
    request->starts = true;
    handler = steps->did_start;
  } else if (strcmp(step, "settings") == 0) {
    handler = steps->settings;
    if (handler != NULL) new_settings(request, true);
  } else if (strcmp(step, "retiring") == 0) {
    handler = steps->retiring;
  } else if (strcmp(step, "tearDown") == 0) {
    handler = bus->torn ? NULL : steps->tear_down;
    bus->torn = true;
  } else if (strcmp(step, "metrics") == 0) {
    handler = steps->metrics;
  } else if (strcmp(step, "contracts") == 0) {
    handler = steps->contracts;
  } else if (strcmp(step, "instanceEnded") == 0) {
    handler = steps->instance_ended;
  }
  if (handler != NULL) serve(request, handler, steps->context);
  else strata_fail_with(request, "unknown-action", "the module has nothing to do for this step", "no", NULL, 0);
}

/* ---- 10 Frames --------------------------------------------------------- */

/* `Box#3/put` is the action `Box/put` of the instance `Box#3`. */
static void serve_call(strata_request *request) {
  strata *bus = request->bus;
  const char *to = strata_to(request), *slash = strchr(to, '/'), *number = strchr(to, '#');
  char path[200];
  if (strncmp(to, "module/", 7) == 0) {
    serve_step(request, to + 7);
    return;
  }
  struct declaration *action = NULL;
  if (slash != NULL && strlen(to) < sizeof path) {
    bool named = number != NULL && number < slash;
    size_t interface = (size_t)((named ? number : slash) - to);
    memcpy(path, to, interface);
    memcpy(path + interface, slash, strlen(slash) + 1);
    action = find_action(bus, path);
    path[interface + 1] = 0;
    if (action == NULL) action = find_action(bus, path);
    if (named) {
      snprintf(path, sizeof path, "%.*s", (int)(slash - to), to);
      request->instance = *find_instance(bus, path);
      snprintf(request->instance_name, sizeof request->instance_name, "%.95s", path);
      if (request->instance == NULL) {
        strata_fail_with(request, "unknown-action", "there is no such instance", "no", NULL, 0);
        return;
      }
    }
  }
  if (action == NULL) {
    strata_fail_with(request, "unknown-action", "the module has no such action", "no", NULL, 0);
    return;
  }
  request->declaration = action;
  serve(request, action->handler, action->context);
}

static void serve_notice(strata_request *request) {
  struct declaration *d = request->bus->first;
  while (d != NULL && (d->kind != an_observation || d->dead || d->subscription != request->header.subscription)) d = d->next;
  request->kind = a_notice;
  serve(request, d == NULL ? NULL : d->handler, d == NULL ? NULL : d->context);
}

/* Ends a request that can't be served. A broadcast's notice has no answer. */
static void refuse(strata *bus, const struct header *header, const char *code, const char *message) {
  if (header->id > 0) send_error(bus, header->id, code, message, strcmp(code, "overloaded") == 0 ? "no" : NULL);
  else log_line(bus, "%s: a notice of %s is lost: %s", own_name(bus), or_empty(header->name), message);
}

static void take_request(strata *bus, const struct header *header, struct frame *frame, strata_json body,
                         strata_status checked) {
  if (checked != STRATA_OK) {
    bool bad = checked == STRATA_INVALID;
    refuse(bus, header, bad ? "bad-params" : "overloaded",
           bad ? "the body is no JSON value with unique names" : "the module's memory is used up");
    return;
  }
  /* The bus's own calls always find room, within `memory`. */
  bool step = header->to != NULL && strncmp(header->to, "module/", 7) == 0;
  if (!step && bus->served_count >= bus->options.served) {
    refuse(bus, header, "overloaded", "the module serves as many requests as it may");
    return;
  }
  strata_request *request = grab(bus, sizeof *request);
  if (request == NULL) {
    refuse(bus, header, "overloaded", "the module's memory is used up");
    return;
  }
  request->bus = bus, request->header = *header, request->frame = frame, request->body = body;
  request->credit = header->credit;
  frame->references++;
  request->next = bus->served[hash_id(header->id)];
  bus->served[hash_id(header->id)] = request;
  bus->served_count++;
  if (header->kind == call_kind) serve_call(request);
  else serve_notice(request);
}

/* Takes the descriptors that came with a frame: as many as it says, or the file of its body. */
static bool take_received(strata *bus, const struct header *header, struct descriptors *to) {
  int64_t count = header->memory > 0 ? 1 : header->descriptors;
  to->count = 0, to->refused = false;
  if (count == 0) return true;
  if (bus->received_count > 0) {
    *to = bus->received[0];
    bus->received[0] = bus->received[1];
    bus->received_count--;
  }
  if (to->refused || (int64_t)to->count == count) return true;
  broken(bus, "the bus sent a frame without its descriptors");
  return false;
}

/* Maps a sealed file, so that a NUL follows its bytes. Returns NULL if it can't. */
static char *map_file(int file, size_t length, size_t *mapped_size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), last = length / page * page;
  if (length > SIZE_MAX / 2) return NULL;
  /* The file lies over memory that is longer. Its last page is changed in this process only: its
   * sender may have written there behind the end. */
  char *start = mmap(NULL, last + page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  bool is_whole = mmap(start, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED &&
                  mprotect(start + last, page, PROT_READ | PROT_WRITE) == 0;
  if (!is_whole) return munmap(start, last + page), NULL;
  start[length] = 0;
  *mapped_size = last + page;
  return start;
}

/* Maps the file that holds a frame's body. The broker has checked it, so only a broken one sends
 * another. Returns what is wrong, NULL for nothing. */
static const char *take_body(struct frame *frame, size_t length) {
  static const char other[] = "the bus sent a body in a file that isn't sealed or has another length";
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  int file = frame->descriptors.numbers[0];
  struct stat status;
  int found = fcntl(file, F_GET_SEALS);
  bool is_right = found >= 0 && (found & seals) == seals && fstat(file, &status) == 0 &&
                  (uintmax_t)status.st_size == length;
  if (is_right) frame->mapped = map_file(file, length, &frame->mapped_size);
  close(file);
  frame->descriptors.count = 0;
  return is_right ? NULL : other;
}

/* Ends the request of a frame that isn't taken: one that is served, or an own one. */
static void refuse_frame(strata *bus, const struct header *header, const char *own_code, const char *message) {
  if (header->kind == call_kind || header->kind == notice_kind) {
    refuse(bus, header, "overloaded", message);
  } else if (header->kind == reply_kind || header->kind == error_kind) {
    struct own *own = *find_own(bus, header->id);
    if (own == NULL) return;
    if (header->more) strata_cancel(bus, (uint64_t)header->id);
    strata_answer answer = error_answer(own_code, message, "yes");
    answer_own(bus, own, &answer);
  }
}

/* A frame is complete. Its body ends with a NUL. */
static void dispatch(strata *bus, struct frame *frame, size_t head, size_t whole) {
  struct header header;
  if (!read_header(bus, frame->bytes + 8, head, &header)) {
    broken(bus, "the bus sent a header that can't be read");
    return;
  }
  if (!take_received(bus, &header, &frame->descriptors)) return;
  char *text = frame->bytes + 8 + head;
  size_t length = whole - 8 - head;
  if (frame->descriptors.refused) {
    refuse_frame(bus, &header, "overloaded", "the module can't open as many files as came (RLIMIT_NOFILE)");
    return;
  }
  if (header.memory > 0) {
    const char *problem = length > 0 ? "the bus sent a body beside a memory file" : take_body(frame, (size_t)header.memory);
    if (problem != NULL) {
      broken(bus, problem);
      return;
    }
    if (frame->mapped == NULL) {
      refuse_frame(bus, &header, "overloaded", "the module can't map the body that came in a memory file");
      return;
    }
    text = frame->mapped, length = (size_t)header.memory;
  }
  strata_json body = length == 0 ? strata_json_of("null", 4) : (strata_json){text, length};
  strata_status checked = STRATA_OK;
  if (length > 0 && header.kind != cancel_kind && header.kind != credit_kind)
    checked = strata_json_check(bus, text, length);
  if (!(header.kind == error_kind && header.id == 0)) bus->last_code[0] = 0;

  if (header.kind == call_kind || header.kind == notice_kind) {
    if (header.kind == call_kind && header.id == 0) broken(bus, "the bus sent a call without id");
    else take_request(bus, &header, frame, body, checked);
  } else if (header.kind == error_kind && header.id == 0) {
    /* The last frame of this connection, or a remark: its end will tell. */
    snprintf(bus->last_code, sizeof bus->last_code, "%s", or_empty(header.code));
    snprintf(bus->last_message, sizeof bus->last_message, "%s", or_empty(header.message));
    log_line(bus, "%s: the bus says: %s: %s", own_name(bus), bus->last_code, bus->last_message);
  } else if (header.kind == reply_kind || header.kind == error_kind) {
    struct own *own = *find_own(bus, header.id);
    if (own == NULL) return;
    bool part = header.kind == reply_kind && header.more;
    strata_answer answer = answer_of(&header, frame, text, length);
    if (checked != STRATA_OK) {
      bool bad = checked == STRATA_INVALID;
      if (part) strata_cancel(bus, (uint64_t)header.id);
      answer = error_answer(bad ? "bad-params" : "overloaded", "the answer can't be read", "yes");
      answer_own(bus, own, &answer);
    } else if (part) {
      take_part(bus, own, &answer);
    } else {
      answer_own(bus, own, &answer);
    }
  } else if (header.id == 0) {
    return;
  } else if (header.kind == cancel_kind) {
    strata_request *request = *find_served(bus, header.id);
    if (request != NULL) cancel_served(request);
  } else if (header.kind == credit_kind) {
    strata_request *request = *find_served(bus, header.id);
    if (request == NULL) return;
    request->credit = header.credit > MOST_INTEGER - request->credit ? MOST_INTEGER : request->credit + header.credit;
    run_handler(request, request->on_writable, request->writable_context);
    settle(request);
  }
}

/* A frame that is too large is told by its header, and its body skipped. */
static void dispatch_too_large(strata *bus, char *head_text, size_t head) {
  static const char message[] = "the frame exceeds the bounds of the module";
  struct header header;
  struct descriptors unwanted;
  if (!read_header(bus, head_text, head, &header)) {
    broken(bus, "the bus sent a header that can't be read");
    return;
  }
  bool has_come = take_received(bus, &header, &unwanted);
  close_all(unwanted.numbers, unwanted.count);
  if (!has_come) return;
  refuse_frame(bus, &header, "too-large", message);
}

static size_t length_at(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Room in the input buffer for `bytes` from its start. It grows with what has
 * come, at most twofold, whatever length the bus announces. */
static bool make_room(strata *bus, size_t bytes) {
  if (bus->in_start > 0) {
    memmove(bus->in, bus->in + bus->in_start, bus->in_end - bus->in_start);
    bus->in_end -= bus->in_start;
    bus->in_start = 0;
  }
  if (bus->in_end < bus->in_size) return true;
  size_t size = bus->in_size * 2 < bytes ? bus->in_size * 2 : bytes;
  if (size <= bus->in_size) return true;
  char *in = resize(bus, bus->in, bus->in_size, size);
  if (in == NULL) return false;
  bus->in = in;
  bus->in_size = size;
  return true;
}

static struct frame *new_frame(strata *bus, const char *bytes, size_t whole) {
  struct frame *frame = grab(bus, sizeof *frame);
  if (frame == NULL) return NULL;
  frame->bytes = resize(bus, NULL, 0, whole + 1);
  if (frame->bytes == NULL) {
    release(bus, frame, sizeof *frame);
    return NULL;
  }
  memcpy(frame->bytes, bytes, whole);
  frame->bytes[whole] = 0;
  frame->size = whole + 1;
  frame->references = 1;
  return frame;
}

/* Gives back the memory of a long frame when the input is empty. */
static void shrink(strata *bus) {
  if (bus->in_start != bus->in_end) return;
  bus->in_start = bus->in_end = 0;
  if (bus->in_size <= idle_buffer) return;
  char *in = resize(bus, bus->in, bus->in_size, first_buffer);
  if (in != NULL) bus->in = in, bus->in_size = first_buffer;
}

/* Takes one frame from the input. False if more bytes are needed. */
static bool take_frame(strata *bus) {
  size_t have = bus->in_end - bus->in_start;
  if (bus->skip > 0) {
    size_t count = bus->skip < have ? (size_t)bus->skip : have;
    bus->skip -= count;
    bus->in_start += count;
    return bus->skip == 0 && have > count;
  }
  if (have < 8) {
    make_room(bus, first_buffer);
    return false;
  }
  size_t rest = length_at(bus->in + bus->in_start), head = length_at(bus->in + bus->in_start + 4);
  if (rest < 4 || head > rest - 4) return broken(bus, "the bus sent lengths that don't fit"), false;
  if (head > bus->header_limit + header_room) return broken(bus, "the bus sent too long a header"), false;
  size_t whole = 4 + rest, need = have < 8 + head ? 8 + head : whole;
  bool refused = rest > bus->options.frame;
  if (refused && rest > bus->frame_limit + header_room) return broken(bus, "the bus sent too long a frame"), false;
  if (refused) need = 8 + head;
  if (have < need) {
    if (make_room(bus, need)) return false;
    if (have < 8 + head) return broken(bus, "there is no memory for a header"), false;
    refused = true;
  }
  struct frame *frame = refused ? NULL : new_frame(bus, bus->in + bus->in_start, whole);
  if (frame != NULL) {
    bus->in_start += whole;
    dispatch(bus, frame, head, whole);
    drop_frame(bus, frame);
    return bus->fd >= 0;
  }
  /* The header moves to the stack: a callback may read on. What the frame has
   * used so far is given back for the answer. */
  char text[16384 + header_room];
  char *copy = head <= sizeof text ? text : bus->in + bus->in_start + 8;
  if (copy == text) memcpy(text, bus->in + bus->in_start + 8, head);
  size_t taken = have < whole ? have : whole;
  bus->in_start += taken;
  bus->skip = whole - taken;
  if (copy == text) shrink(bus);
  dispatch_too_large(bus, copy, head);
  return bus->fd >= 0;
}

/* ---- 11 Connection ----------------------------------------------------- */

static void end(strata *bus, int code) {
  bus->phase = ended;
  bus->code = code;
}

/* The connection is gone: everything that was open ends. */
static void lose(strata *bus) {
  if (bus->fd < 0) return;
  close(bus->fd);
  bus->fd = -1;
  bool was_ready = bus->phase == ready;
  if (bus->phase != ended) bus->phase = waiting;
  bus->in_start = bus->in_end = 0;
  bus->skip = 0;
  bus->out_start = bus->out_end = 0;
  drop_unsent(bus, bus->sending_count);
  drop_received(bus);
  for (struct declaration *d = bus->first; d != NULL; d = d->next)
    if (d->kind == an_observation) d->subscription = 0, d->in_hello = false;
  for (size_t i = 0; i < buckets; i++) {
    while (bus->own[i] != NULL) {
      strata_answer answer = error_answer("died", "the connection to the bus was lost",
                                          bus->own[i]->begin < bus->written ? "maybe" : "no");
      answer_own(bus, bus->own[i], &answer);
    }
  }
  for (size_t i = 0; i < buckets; i++) {
    strata_request *request = bus->served[i];
    while (request != NULL) {
      if (!request_open(request) || request->header.id == 0) {
        request = request->next;
        continue;
      }
      cancel_served(request);
      request = bus->served[i];
    }
  }
  lose_instances(bus);
  if (was_ready && bus->steps.connection != NULL) bus->steps.connection(bus, false, bus->steps.context);
}

static bool again_later(const char *code) {
  return *code == 0 || strcmp(code, "slow-consumer") == 0 || strcmp(code, "overloaded") == 0 ||
         strcmp(code, "name-taken") == 0;
}

static void give_up(strata *bus, const char *why) {
  end(bus, 1);
  log_line(bus, "%s: the bus %s isn't there: %s", own_name(bus),
           bus->socket == NULL ? "(no STRATA_SOCKET)" : bus->socket, why);
}

/* The next try comes after a pause that doubles, until 30 s have passed. */
static void retry_later(strata *bus) {
  int64_t time = now();
  if (bus->lost_at == 0) bus->lost_at = time, bus->retry_delay = 10;
  if (time - bus->lost_at > 30000) {
    give_up(bus, "it did not come back within 30 s");
    return;
  }
  bus->retry_at = time + bus->retry_delay;
  bus->retry_delay = bus->retry_delay * 2 < 1000 ? bus->retry_delay * 2 : 1000;
}

/* The connection ended with this code, "" for none. What follows? */
static void disconnected(strata *bus, const char *code, const char *message) {
  char kept_code[64], kept_message[256];
  snprintf(kept_code, sizeof kept_code, "%s", code);
  snprintf(kept_message, sizeof kept_message, "%s", message);
  bus->last_code[0] = 0;
  bool again = again_later(kept_code) && !bus->options.is_operator;
  if (!again) end(bus, strcmp(kept_code, "shutting-down") == 0 ? 0 : 1);
  lose(bus);
  if (!again) {
    if (bus->code != 0) log_line(bus, "%s: the bus ended the connection: %s: %s", own_name(bus), *kept_code ? kept_code : "closed",
                                 kept_message);
    return;
  }
  retry_later(bus);
}

/* The connection can't go on, by what came or for want of memory. */
static void broken(strata *bus, const char *what) {
  if (bus->fd < 0) return;
  log_line(bus, "%s: %s; the connection is made anew", own_name(bus), what);
  disconnected(bus, "", "");
}

static void end_observation(strata *bus, const struct declaration *d) {
  if (bus->phase != ready || d->subscription == 0) return;
  char body[64];
  int length = snprintf(body, sizeof body, "{\"subscription\":%lld}", (long long)d->subscription);
  strata_message message = {.to = "bus/unobserve", .body = body, .length = (size_t)length};
  send_message(bus, STRATA_CALL, &message, NULL);
}

/* Frees an observation that has ended, once nothing refers to it. */
static void remove_observation(strata *bus, struct declaration *ended_one) {
  if (ended_one->in_hello && ended_one->subscription == 0) return; /* its number is still to come */
  struct declaration **at = &bus->first;
  while (*at != ended_one) at = &(*at)->next;
  *at = ended_one->next;
  if (bus->last == &ended_one->next) bus->last = at;
  if (bus->subscribing == ended_one) bus->subscribing = ended_one->next;
  release(bus, ended_one, ended_one->size);
}

static void observed(strata *bus, const strata_answer *answer, void *context) {
  struct declaration *d = context;
  strata_json number;
  int64_t subscription;
  strata_status status = STRATA_UNAVAILABLE;
  if (answer->ok && strata_json_member(strata_json_of(answer->body, answer->length), "subscription", &number) &&
      strata_json_int(number, &subscription)) {
    d->subscription = subscription;
    status = STRATA_OK;
    if (d->dead) end_observation(bus, d);
  } else if (strcmp(answer->code, "died") != 0) {
    log_line(bus, "%s: the observation of %s failed: %s", own_name(bus), d->a, answer->message);
    d->dead = true;
    d->in_hello = false;
    status = STRATA_INVALID;
  }
  void (*begun)(strata *, strata_status, void *) = d->begun;
  d->begun = NULL;
  void *begun_context = d->begun_context;
  if (d->dead) remove_observation(bus, d);
  if (begun != NULL) begun(bus, status, begun_context);
}

static strata_status begin_observation(strata *bus, struct declaration *d) {
  size_t size = 64 + 6 * (strlen(d->a) + length_of(d->b));
  char *body = grab(bus, size);
  if (body == NULL) return STRATA_NO_MEMORY;
  strata_writer w = strata_write(body, size);
  put_observation(d, &w);
  strata_message message = {.to = "bus/observe", .body = body, .length = w.length, .answered = observed, .context = d};
  strata_status status = w.failed ? STRATA_INVALID : send_message(bus, STRATA_CALL, &message, NULL);
  d->in_hello = status == STRATA_OK;
  release(bus, body, size);
  return status;
}

strata_status strata_observe(strata *bus, const strata_observation *observation) {
  if (observation->name == NULL || observation->handler == NULL) return STRATA_INVALID;
  struct declaration *d = declare(bus, an_observation, observation->name, observation->object, NULL);
  if (d == NULL) return STRATA_NO_MEMORY;
  d->flags = (observation->latest ? keeps_latest : 0u) | (observation->share ? shares : 0u), d->handler = observation->handler, d->context = observation->context;
  d->begun = observation->begun, d->begun_context = observation->begun_context;
  if (bus->phase != ready) return STRATA_OK;
  strata_status status = begin_observation(bus, d);
  if (status != STRATA_OK) d->dead = true;
  return status;
}

strata_status strata_unobserve(strata *bus, const char *name) {
  for (struct declaration *d = bus->first, *next; d != NULL; d = next) {
    next = d->next;
    if (d->kind != an_observation || d->dead || strcmp(d->a, name) != 0) continue;
    d->dead = true;
    end_observation(bus, d);
    remove_observation(bus, d);
  }
  return STRATA_OK;
}

/* The numbers of a hello's or a part's observations, in their order. */
static void number_observations(strata *bus, const strata_answer *answer, size_t count) {
  strata_json list, value;
  if (!strata_json_member(strata_json_of(answer->body, answer->length), "subscriptions", &list)) return;
  for (size_t position = 0; count > 0 && strata_json_next(list, &position, NULL, &value); count--) {
    while (bus->subscribing != NULL && !(bus->subscribing->kind == an_observation && bus->subscribing->in_hello))
      bus->subscribing = bus->subscribing->next;
    if (bus->subscribing == NULL) return;
    struct declaration *d = bus->subscribing;
    strata_json_int(value, &d->subscription);
    bus->subscribing = d->next;
    void (*begun)(strata *, strata_status, void *) = d->begun;
    d->begun = NULL;
    if (begun != NULL) begun(bus, STRATA_OK, d->begun_context);
  }
}

static void part_answered(strata *bus, const strata_answer *answer, void *context) {
  if (answer->ok) number_observations(bus, answer, (size_t)(uintptr_t)context);
  else if (bus->fd >= 0) disconnected(bus, answer->code, answer->message);
}

static void read_limit(strata_json limits, const char *name, size_t *limit) {
  strata_json value;
  int64_t number;
  if (strata_json_member(limits, name, &value) && strata_json_int(value, &number) && number > 0)
    *limit = (size_t)number;
}

static void send_parts(strata *bus, struct part part);

/* What hello's answer needs to know: how many observations hello had, and
 * where its parts go on. */
struct hello_state {
  struct part part;
  bool whole;
};

static void hello_answered(strata *bus, const strata_answer *answer, void *context) {
  struct hello_state state = *(struct hello_state *)context;
  release(bus, context, sizeof state);
  if (!answer->ok) {
    if (bus->fd >= 0) disconnected(bus, answer->code, answer->message);
    return;
  }
  strata_json body = strata_json_of(answer->body, answer->length), value;
  if (strata_json_member(body, "limits", &value)) {
    read_limit(value, "frame", &bus->frame_limit);
    read_limit(value, "header", &bus->header_limit);
    read_limit(value, "body", &bus->body_limit);
  }
  if (strata_json_member(body, "features", &value)) keep_text(bus, &bus->features, &bus->features_length, value);
  if (strata_json_member(body, "settings", &value)) keep_text(bus, &bus->settings, &bus->settings_length, value);
  bus->subscribing = bus->first;
  number_observations(bus, answer, state.part.observations);
  bus->phase = ready;
  bus->lost_at = 0;
  if (!state.whole) send_parts(bus, state.part);
  for (struct declaration *d = bus->first; d != NULL; d = d->next)
    if (d->kind == an_observation && !d->in_hello && !d->dead) begin_observation(bus, d);
  if (bus->fd >= 0 && bus->steps.connection != NULL) bus->steps.connection(bus, true, bus->steps.context);
}

static void send_parts(strata *bus, struct part part) {
  size_t size = 64 * 1024;
  bool whole = false;
  while (!whole) {
    char *text = grab(bus, size);
    if (text == NULL) {
      broken(bus, "there is no memory for a part of the hello");
      return;
    }
    strata_writer w = strata_write(text, size);
    part.values = part.observations = 0;
    strata_put_object(&w);
    whole = put_part(bus, &part, &w);
    if (!whole) strata_put_name(&w, "more"), strata_put_bool(&w, true);
    strata_put_object_end(&w);
    strata_message message = {.to = "bus/register", .body = text, .length = w.length, .answered = part_answered};
    message.context = (void *)(uintptr_t)part.observations;
    strata_status status = w.failed ? STRATA_TOO_LARGE : send_message(bus, STRATA_CALL, &message, NULL);
    release(bus, text, size);
    if (status != STRATA_OK) {
      end(bus, 1);
      log_line(bus, "%s: a part of the hello can't be sent: %s", own_name(bus), strata_status_code(status));
      lose(bus);
      return;
    }
  }
}

static void say_hello(strata *bus) {
  size_t size = 64 * 1024;
  bus->phase = greeting;
  bus->fixed = true;
  bus->carries = wants_descriptors(bus);
  bus->frame_limit = 65536;
  bus->header_limit = 16384;
  bus->body_limit = 0;
  struct hello_state *state = grab(bus, sizeof *state);
  char *text = state == NULL ? NULL : grab(bus, size);
  strata_status status = STRATA_NO_MEMORY;
  if (text != NULL) {
    strata_writer w = strata_write(text, size);
    state->part = (struct part){.item = bus->first, .bytes = part_bytes};
    state->whole = put_hello(bus, &state->part, &w, true);
    strata_message message = {.to = "bus/hello", .body = text, .length = w.length, .answered = hello_answered};
    message.context = state;
    status = w.failed ? STRATA_TOO_LARGE : send_message(bus, STRATA_CALL, &message, NULL);
  }
  release(bus, text, size);
  if (status == STRATA_OK) return;
  release(bus, state, sizeof *state);
  end(bus, 1);
  log_line(bus, "%s: the hello can't be sent: %s", own_name(bus), strata_status_code(status));
  lose(bus);
}

/* Makes one try. A full backlog is EAGAIN: the socket doesn't block. */
static void try_connection(strata *bus) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  bool first = !bus->tried;
  if (bus->socket == NULL || strlen(bus->socket) >= sizeof address.sun_path) {
    give_up(bus, "set STRATA_SOCKET to a path of at most 107 bytes");
    return;
  }
  strcpy(address.sun_path, bus->socket);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), error;
  bool connected = false;
  if (fd >= 0) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
  }
  error = errno;
  if (connected) {
    bus->tried = true;
    bus->fd = fd;
    bus->written = 0;
    say_hello(bus);
    return;
  }
  if (fd >= 0) close(fd);
  bool full_backlog = error == EAGAIN || error == EINTR;
  bool waited = bus->lost_at != 0 && now() - bus->lost_at > 2000;
  if (first && (!full_backlog || waited)) give_up(bus, strerror(error));
  else retry_later(bus);
}

/* Room for the descriptors of one frame beside its bytes. */
union beside {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * STRATA_DESCRIPTORS)];
};

/* Writes bytes. The kernel hands the first unsent frame's descriptors over with the first of them. */
static ssize_t write_with(strata *bus, size_t length) {
  union beside beside;
  size_t size = bus->sending[0].count * sizeof(int);
  struct iovec part = {bus->out + bus->out_start, length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  memset(&beside, 0, sizeof beside);
  message.msg_control = beside.bytes, message.msg_controllen = CMSG_SPACE(size);
  beside.header.cmsg_level = SOL_SOCKET, beside.header.cmsg_type = SCM_RIGHTS, beside.header.cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(&beside.header), bus->unsent_numbers, size);
  ssize_t count = sendmsg(bus->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) drop_unsent(bus, 1);
  return count;
}

/* Writes up to the next frame with descriptors, which begins a write of its own. */
static ssize_t write_some(strata *bus) {
  bool with = bus->sending_count > 0 && bus->sending[0].at == bus->written;
  size_t length = unsent(bus), next = with ? 1 : 0;
  if (next < bus->sending_count) length = (size_t)(bus->sending[next].at - bus->written);
  if (with) return write_with(bus, length);
  return send(bus->fd, bus->out + bus->out_start, length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void write_out(strata *bus) {
  while (bus->fd >= 0 && unsent(bus) > 0) {
    ssize_t count = write_some(bus);
    if (count < 0 && errno == EINTR) continue;
    /* What the bus said last is still to be read, so its end is seen there. */
    if (count < 0 && (errno == EAGAIN || errno == EPIPE || errno == ECONNRESET)) break;
    if (count < 0) {
      broken(bus, strerror(errno)); /* such as too many descriptors that the bus hasn't read */
      break;
    }
    bus->out_start += (size_t)count;
    bus->written += (uint64_t)count;
  }
  if (unsent(bus) > 0) return;
  bus->out_start = bus->out_end = 0;
  if (bus->out_size <= first_buffer) return;
  release(bus, bus->out, bus->out_size);
  bus->out = NULL;
  bus->out_size = 0;
}

static void take_frames(strata *bus) {
  bus->taking = true;
  while (bus->fd >= 0 && take_frame(bus)) continue;
  bus->taking = false;
  shrink(bus);
}

/* Reads bytes, and the descriptors that come with one of them. False if the connection ended for them. */
static bool read_with(strata *bus, ssize_t *count) {
  union beside beside;
  struct descriptors came = {0};
  struct iovec part = {bus->in + bus->in_end, bus->in_size - bus->in_end};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.bytes, .msg_controllen = sizeof beside};
  *count = recvmsg(bus->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (*count < 0) return true;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    came.count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(came.numbers, CMSG_DATA(header), came.count * sizeof(int));
  }
  if (message.msg_flags & MSG_CTRUNC) { /* the kernel drops those for which there is no room */
    close_all(came.numbers, came.count);
    came = (struct descriptors){.refused = true};
  }
  if (came.count == 0 && !came.refused) return true;
  if (bus->received_count < 2) {
    bus->received[bus->received_count++] = came;
    return true;
  }
  close_all(came.numbers, came.count);
  broken(bus, "the bus sent descriptors without a frame that names them");
  return false;
}

static void read_in(strata *bus) {
  if (bus->in_end == bus->in_size && !make_room(bus, bus->in_size)) return;
  ssize_t count;
  if (!read_with(bus, &count)) return;
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    disconnected(bus, bus->last_code, bus->last_message);
    return;
  }
  bus->in_end += (size_t)count;
  bool filled = bus->in_end == bus->in_size && bus->in_size < idle_buffer;
  take_frames(bus);
  /* A frame's first byte brings its descriptors, so those of one unfinished frame may be here. */
  if (bus->fd >= 0 && bus->received_count > (bus->in_start != bus->in_end ? 1u : 0u))
    broken(bus, "the bus sent descriptors without a frame that names them");
  if (filled && bus->fd >= 0 && bus->in_end == 0 && bus->in_size < idle_buffer) {
    char *in = resize(bus, bus->in, bus->in_size, bus->in_size * 2);
    if (in != NULL) bus->in = in, bus->in_size *= 2;
  }
}

/* Streams that had no room may go on. */
static void wake_writers(strata *bus) {
  if (!bus->starved || unsent(bus) * 2 > bus->options.queued) return;
  bus->starved = false;
  for (size_t i = 0; i < buckets; i++) {
    for (strata_request *r = bus->served[i], *next; r != NULL; r = next) {
      next = r->next;
      if (!request_open(r) || r->on_writable == NULL || r->credit == 0 || r->busy > 0) continue;
      int64_t id = r->header.id;
      run_handler(r, r->on_writable, r->writable_context);
      settle(r);
      /* The list may have changed: go on behind the same number, or at the end. */
      strata_request *same = *find_served(bus, id);
      next = same == NULL ? NULL : same->next;
      if (same == NULL) bus->starved = true;
    }
  }
}

/* SIGTERM, and the launcher's end: tear down, send what is left, and end. */
static void stop(strata *bus) {
  if (bus->stopping) return;
  bus->stopping = true;
  tear_down(bus);
  int64_t until = now() + 1000;
  while (bus->fd >= 0 && unsent(bus) > 0) {
    struct pollfd wait = {.fd = bus->fd, .events = POLLOUT};
    int64_t left = until - now();
    if (left <= 0) break;
    poll(&wait, 1, (int)left);
    if (wait.revents & (POLLERR | POLLHUP)) break;
    write_out(bus);
  }
  end(bus, 0);
  lose(bus);
}

int strata_fd(const strata *bus) { return bus->fd; }
int strata_lifeline(const strata *bus) { return bus->lifeline; }
short strata_events(const strata *bus) { return (short)(unsent(bus) > 0 ? POLLIN | POLLOUT : POLLIN); }

int strata_timeout(const strata *bus) {
  if (bus->phase == ended || (bus->starved && unsent(bus) == 0)) return 0;
  if (bus->fd >= 0) return -1;
  int64_t left = bus->retry_at - now();
  return left < 0 ? 0 : (int)left;
}

bool strata_step(strata *bus, int milliseconds) {
  if (bus->phase == ended) return false;
  if (bus->process != getpid()) {
    /* A child of fork: the connection is its parent's. */
    bus->phase = ended;
    bus->code = 1;
    return false;
  }
  /* Inside a handler that waits: the frames behind its own come first. */
  if (bus->taking) {
    take_frames(bus);
    write_out(bus);
    return bus->phase != ended;
  }
  if (bus->fd < 0 && now() >= bus->retry_at) try_connection(bus);
  if (bus->phase == ended) return false;
  write_out(bus);
  int timeout = strata_timeout(bus);
  if (timeout < 0 || (milliseconds >= 0 && milliseconds < timeout)) timeout = milliseconds;
  struct pollfd wait[3] = {
      {.fd = bus->fd, .events = strata_events(bus)}, {.fd = bus->lifeline, .events = POLLIN}, {.fd = bus->wake[0], .events = POLLIN}};
  if (poll(wait, 3, timeout) > 0) {
    char bytes[64];
    bool stopped = (wait[2].revents & POLLIN) && read(bus->wake[0], bytes, sizeof bytes) > 0;
    if (wait[1].revents != 0) {
      ssize_t count = read(bus->lifeline, bytes, sizeof bytes);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) stopped = true;
    }
    if (stopped) {
      stop(bus);
      return false;
    }
    if (bus->fd >= 0 && wait[0].revents & (POLLIN | POLLHUP | POLLERR)) read_in(bus);
  }
  write_out(bus);
  if (bus->fd >= 0) wake_writers(bus);
  return bus->phase != ended;
}

bool strata_connect(strata *bus) {
  while (bus->phase != ready && strata_step(bus, -1)) continue;
  return bus->phase == ready;
}

void strata_stop(strata *bus) {
  int error = errno;
  ssize_t count = write(bus->wake[1], "", 1);
  (void)count;
  errno = error;
}

static strata *volatile stopped_by_signal;

static void signalled(int number) {
  (void)number;
  if (stopped_by_signal != NULL) strata_stop(stopped_by_signal);
}

int strata_run(strata *bus, int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--describe") == 0) return strata_describe(bus, 1) == STRATA_OK ? 0 : 1;
  struct sigaction action = {.sa_handler = signalled}, old_term, old_int;
  sigemptyset(&action.sa_mask);
  stopped_by_signal = bus;
  sigaction(SIGTERM, &action, &old_term);
  sigaction(SIGINT, &action, &old_int);
  while (strata_step(bus, -1)) continue;
  sigaction(SIGTERM, &old_term, NULL);
  sigaction(SIGINT, &old_int, NULL);
  stopped_by_signal = NULL;
  return bus->code;
}

void strata_free(strata *bus) {
  if (bus == NULL) return;
  if (bus->fd >= 0) close(bus->fd);
  drop_unsent(bus, bus->sending_count);
  drop_received(bus);
  for (int i = 0; i < 2; i++)
    if (bus->wake[i] >= 0) close(bus->wake[i]);
  for (size_t i = 0; i < buckets; i++) {
    while (bus->own[i] != NULL) {
      if (bus->own[i]->answered == hello_answered) release(bus, bus->own[i]->context, sizeof(struct hello_state));
      remove_own(bus, bus->own[i]->id);
    }
    while (bus->served[i] != NULL) {
      bus->served[i]->busy = 0;
      free_request(bus->served[i]);
    }
  }
  while (bus->instances != NULL) remove_instance(bus, bus->instances);
  for (struct declaration *d = bus->first, *next; d != NULL; d = next) {
    next = d->next;
    if (d->kind == an_interface && d->b != NULL) release_text(bus, (char *)(uintptr_t)d->b);
    release(bus, d, d->size);
  }
  release_text(bus, bus->name);
  release_text(bus, bus->token);
  release_text(bus, bus->socket);
  release_text(bus, bus->level);
  release_text(bus, bus->runtime);
  if (bus->settings != NULL) release(bus, bus->settings, bus->settings_length + 1);
  if (bus->features != NULL) release(bus, bus->features, bus->features_length + 1);
  release(bus, bus->in, bus->in_size);
  release(bus, bus->out, bus->out_size);
  bus->options.allocator(bus->options.allocator_context, bus, sizeof *bus, 0);
}
