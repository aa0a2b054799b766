#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "frames.h"
#include "scenarios.h"

// Credit for partial replies that were taken, all that a read brought at once.
static void put_credit(struct connection *c, uint64_t id, unsigned count) {
    char header[96];
    int size = snprintf(header, sizeof header, "{\"kind\":\"credit\",\"id\":%llu,\"credit\":%u}", (unsigned long long)id, count);
    put_frame(c, (uint32_t)size, header, (size_t)size, NULL, 0);
}

void run_monitor(const struct bus *bus, const struct options *options) {
    static const char hello[] = "{\"protocol\":1,\"role\":\"operator\"}";
    struct connection c;
    uint8_t header[160];
    connection_open(&c, options->address);
    size_t size = request_header(&c, header, ",\"to\":\"bus/hello\"}");
    put_frame(&c, (uint32_t)size, (char *)header, size, (const uint8_t *)hello, strlen(hello));
    // The numbers of requests begin at 1, and hello was the first.
    const int is_silent = strcmp(options->word, "silent") == 0;
    const char *rest = ",\"to\":\"bus/monitor\",\"credit\":4096}";
    if (is_silent) rest = ",\"to\":\"bus/monitor\",\"credit\":1}";
    if (strcmp(options->word, "traffic") == 0) rest = ",\"to\":\"bus/traffic\",\"credit\":4096}";
    char body[32] = "";
    if (strcmp(options->word, "most") == 0) snprintf(body, sizeof body, "{\"most\":%u}", options->open);
    size = request_header(&c, header, rest);
    put_frame(&c, (uint32_t)size, (char *)header, size, (const uint8_t *)body, strlen(body));
    connection_flush(&c);
    say("ready");
    struct pollfd waiting[] = {{.fd = 0, .events = POLLIN}, {.fd = c.fd, .events = POLLIN}};
    unsigned long long count = 0;
    for (;;) {
        if (poll(waiting, 2, -1) < 0 || waiting[0].revents != 0) break;
        connection_fill(&c);
        struct message m;
        unsigned taken = 0;
        uint64_t id = 0;
        for (size_t frame; (frame = bus->next(&c, &m)) > 0; connection_take(&c, frame)) {
            if (m.id < 2) continue;
            id = m.id;
            taken++;
        }
        count += taken;
        if (taken == 0 || is_silent) continue;
        put_credit(&c, id, taken);
        connection_flush(&c);
    }
    say("done %llu", count);
}
