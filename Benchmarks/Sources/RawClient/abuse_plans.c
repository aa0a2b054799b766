#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abuse.h"
#include "frames.h"

static void named(char *text, size_t room, const char *name, unsigned index, const char *more) {
    snprintf(text, room, "{\"protocol\":1,\"module\":\"%s%u\"%s}", name, index, more);
}

static void hello_flooder(char *text, size_t room, unsigned index) { named(text, room, "Flooder", index, ""); }

static void hello_sink(char *text, size_t room, unsigned index) {
    named(text, room, "Sink", index, ",\"interfaces\":{\"Sink\":{}}");
}

static void hello_bad(char *text, size_t room, unsigned index) {
    (void)index;
    snprintf(text, room, "{\"protocol\":1,\"module\":\"not a name\"}");
}

// As many values as a hello may have before anybody is known, each with a name of its own,
// and refused for the last.
static void hello_large(char *text, size_t room, unsigned index) {
    (void)index;
    size_t count = (size_t)snprintf(text, room, "{\"protocol\":1,\"other\":{");
    for (unsigned i = 0; i < 4090; i++)
        count += (size_t)snprintf(text + count, room - count, "%s\"n%04u\":%u", i > 0 ? "," : "", i, i % 10);
    snprintf(text + count, room - count, "},\"module\":\"not a name\"}");
}

static void hello_sender(char *text, size_t room, unsigned index) {
    (void)index;
    snprintf(text, room, "{\"protocol\":1,\"module\":\"Sender\"}");
}

static void hello_keeps_all(char *text, size_t room, unsigned index) {
    named(text, room, "SlowAll", index, ",\"observes\":[\"item.changed\"]");
}

static void hello_keeps_latest(char *text, size_t room, unsigned index) {
    named(text, room, "SlowLatest", index, ",\"observes\":[{\"name\":\"item.changed\",\"keep\":\"latest\"}]");
}

static void hello_reads(char *text, size_t room, unsigned index) {
    named(text, room, "Reader", index, ",\"observes\":[\"item.changed\"]");
}

// A thousand observations: as many as one peer may have.
static void hello_many(char *text, size_t room, unsigned index, bool same) {
    size_t count = (size_t)snprintf(text, room, "{\"protocol\":1,\"module\":\"Many%u\",\"observes\":[", index);
    for (unsigned i = 0; i < 1000; i++) {
        const char *comma = i > 0 ? "," : "";
        count += same ? (size_t)snprintf(text + count, room - count, "%s\"item.changed\"", comma)
                      : (size_t)snprintf(text + count, room - count, "%s\"item.%u\"", comma, index * 1000 + i);
    }
    snprintf(text + count, room - count, "]}");
}

static void hello_many_same(char *text, size_t room, unsigned index) { hello_many(text, room, index, true); }
static void hello_many_distinct(char *text, size_t room, unsigned index) { hello_many(text, room, index, false); }

// 128 patterns of 64 segments: 32 shapes, each with four literals at its end. Eight such
// peers have all shapes that one host may have.
static void hello_patterns(char *text, size_t room, unsigned index) {
    size_t count = (size_t)snprintf(
        text, room, "{\"protocol\":1,\"module\":\"Mapped%u\",\"interfaces\":{\"Mapped%u\":{}},\"urls\":[", index, index);
    for (unsigned i = 0; i < 128; i++) {
        unsigned shape = index * 32 + i / 4;
        count += (size_t)snprintf(text + count, room - count, "%s{\"host\":\"h\",\"path\":\"", i > 0 ? "," : "");
        for (unsigned s = 0; s < 63; s++)
            count += s < 8 && (shape >> s & 1) != 0 ? (size_t)snprintf(text + count, room - count, "/:b%u", s)
                                                    : (size_t)snprintf(text + count, room - count, "/a");
        count += (size_t)snprintf(text + count, room - count, "/%u\",\"to\":\"Mapped%u/act\"}", i % 4, index);
    }
    snprintf(text + count, room - count, "]}");
}

// Sixteen interfaces with long names, of 56 actions with long names each.
static void hello_interfaces(char *text, size_t room, unsigned index) {
    size_t count = (size_t)snprintf(text, room, "{\"protocol\":1,\"module\":\"Listed%u\",\"interfaces\":{", index);
    for (unsigned i = 0; i < 16; i++) {
        count += (size_t)snprintf(text + count, room - count, "%s\"Listed%055u\":{\"actions\":{", i > 0 ? "," : "",
                                  index * 16 + i);
        for (unsigned a = 0; a < 56; a++)
            count += (size_t)snprintf(text + count, room - count, "%s\"act%055u\":{}", a > 0 ? "," : "", a);
        count += (size_t)snprintf(text + count, room - count, "}}");
    }
    snprintf(text + count, room - count, "}}");
}

// A string of so many bytes, quotes included; a plan asks for one size alone.
static const char *filler(size_t count) {
    static char *bytes;
    static size_t room;
    if (room < count) {
        free(bytes);
        bytes = malloc(room = count);
        memset(bytes, 'x', count);
    }
    bytes[0] = bytes[count - 1] = '"';
    return bytes;
}

static void put_calls(struct party *p, const char *rest, unsigned count, size_t body) {
    for (unsigned i = 0; i < count; i++) {
        uint8_t header[128];
        size_t size = request_header(&p->c, header, rest);
        put_frame(&p->c, (uint32_t)size, (char *)header, size, (const uint8_t *)filler(body), body);
    }
    tally.sent += count;
}

static void call_sink(struct party *p) { put_calls(p, ",\"to\":\"Sink/act\"}", 256, 64); }
static void call_sink_larger(struct party *p) { put_calls(p, ",\"to\":\"Sink/act\"}", 16, 4096); }
static void call_nobody(struct party *p) { put_calls(p, ",\"to\":\"Nobody/act\"}", 256, 64); }
// The largest frame there may be.
static void call_sink_largest(struct party *p) { put_calls(p, ",\"to\":\"Sink/act\"}", 1, (16 << 20) - 128); }

// A URL that fails at its last segment.
static void open_nothing(struct party *p) {
    for (unsigned i = 0; i < 64; i++) {
        char header[256];
        size_t size = (size_t)snprintf(header, sizeof header, "{\"kind\":\"open\",\"id\":%llu,\"url\":\"bench://h",
                                       (unsigned long long)p->c.next_id++);
        for (unsigned s = 0; s < 63; s++) size += (size_t)snprintf(header + size, sizeof header - size, "/a");
        size += (size_t)snprintf(header + size, sizeof header - size, "/none\"}");
        put_frame(&p->c, (uint32_t)size, header, size, NULL, 0);
    }
    tally.sent += 64;
}

static void list_interfaces(struct party *p) { put_calls(p, ",\"to\":\"bus/interfaces\"}", 16, 2); }

static void put_broadcasts(struct party *p, unsigned count, bool same) {
    for (unsigned i = 0; i < count; i++, p->turn++) {
        char header[96];
        int size = same ? snprintf(header, sizeof header, "%s", broadcast_header)
                        : snprintf(header, sizeof header, "{\"kind\":\"broadcast\",\"name\":\"item.%u\"}",
                                   (unsigned)(p->turn % 10000));
        put_frame(&p->c, (uint32_t)size, header, (size_t)size, (const uint8_t *)filler(64), 64);
    }
    tally.sent += count;
}

static void broadcast_hundred(struct party *p) { put_broadcasts(p, 100, true); }
static void broadcast_one(struct party *p) { put_broadcasts(p, 1, true); }
static void broadcast_distinct(struct party *p) { put_broadcasts(p, 10, false); }

// A frame of a thousand bytes, one of them at a time.
static void one_byte(struct party *p) {
    static const uint8_t lengths[] = {0, 0, 3, 0xE8, 0, 0, 1, 0xF4};
    uint8_t byte = p->turn < sizeof lengths ? lengths[p->turn] : ' ';
    connection_add(&p->c, &byte, 1);
    p->turn++;
    tally.sent++;
}

// A frame that is larger than any may be.
static void bad_frame(struct party *p) {
    static const uint8_t bytes[64] = {0xFF, 0xFF, 0xFF, 0xFF};
    connection_add(&p->c, bytes, sizeof bytes);
    tally.sent++;
}

static const struct part
    sink = {.hello = hello_sink, .answer = 66},
    sink_of_large = {.hello = hello_sink, .answer = 64 << 10},
    deaf_sink = {.hello = hello_sink, .is_deaf = true, .life = 1, .returns = true},
    flooder = {.hello = hello_flooder, .produce = call_sink},
    refused = {.hello = hello_flooder, .produce = call_nobody},
    flooder_larger = {.hello = hello_flooder, .produce = call_sink_larger},
    flooder_largest = {.hello = hello_flooder, .produce = call_sink_largest},
    deaf_flooder = {.hello = hello_flooder, .produce = call_sink, .is_deaf = true, .life = 0.5, .returns = true},
    trickler = {.hello = hello_flooder, .produce = one_byte, .gap = 1, .returns = true},
    idle = {.hello = hello_flooder},
    stormer = {.hello = hello_flooder, .life = 1e-9, .returns = true},
    bad_framer = {.hello = hello_flooder, .produce = bad_frame, .gap = 1, .returns = true},
    silent = {.returns = true},
    bad_greeter = {.hello = hello_bad, .returns = true},
    large_greeter = {.hello = hello_large, .returns = true},
    leaver = {.hello = hello_flooder, .life = 0.5, .returns = true},
    mapped = {.hello = hello_patterns},
    opener = {.hello = hello_flooder, .produce = open_nothing},
    listed = {.hello = hello_interfaces},
    lister = {.hello = hello_flooder, .produce = list_interfaces},
    hundred = {.hello = hello_sender, .produce = broadcast_hundred, .gap = 0.001},
    seldom = {.hello = hello_sender, .produce = broadcast_one, .gap = 0.1},
    distinct = {.hello = hello_sender, .produce = broadcast_distinct, .gap = 0.001},
    many_same = {.hello = hello_many_same},
    many_distinct = {.hello = hello_many_distinct},
    slow_all = {.hello = hello_keeps_all, .slowness = 0.005, .returns = true},
    slow_latest = {.hello = hello_keeps_latest, .slowness = 0.005, .returns = true},
    reads = {.hello = hello_reads, .returns = true};

static const struct plan plans[] = {
    {"calls", {{&sink, 1}, {&flooder, 1}}},
    {"refused-calls", {{&refused, 1}}},
    {"deaf-callers", {{&sink_of_large, 1}, {&deaf_flooder, 8}}},
    {"deaf-callee", {{&deaf_sink, 1}, {&flooder_larger, 4}}},
    {"trickle", {{&trickler, 100}}},
    {"connections", {{&idle, 4096}}},
    {"storm", {{&stormer, 1}}},
    {"observations-same", {{&many_same, 10}, {&seldom, 1}}},
    {"observations-distinct", {{&many_distinct, 10}, {&distinct, 1}}},
    {"publisher-all", {{&slow_all, 1}, {&reads, 1}, {&hundred, 1}}},
    {"publisher-latest", {{&slow_latest, 1}, {&reads, 1}, {&hundred, 1}}},
    {"large-frames", {{&sink, 1}, {&flooder_largest, 1}}},
    {"bad-frames", {{&bad_framer, 1}}},
    {"bad-hellos", {{&bad_greeter, 1}}},
    {"large-hellos", {{&large_greeter, 1}}},
    {"leaves", {{&leaver, 1000}}},
    {"silent", {{&silent, 70}}},
    {"opens", {{&mapped, 8}, {&opener, 1}}},
    {"interfaces", {{&listed, 16}, {&lister, 1}}},
};

const struct plan *find_plan(const char *name) {
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (strcmp(plans[i].name, name) == 0) return &plans[i];
    fail("there is no abuse %s", name);
}
