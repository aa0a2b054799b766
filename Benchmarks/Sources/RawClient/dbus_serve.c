#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dbus_message.h"
#include "scenarios.h"

// dbus-broker has no socket by itself: its controller gives it one, with a policy.
// The usual controller, dbus-broker-launch, needs systemd's journal; this one doesn't.

static const char policy_signature[] = "(a(u(bta(btbs)a(btssssuutt)a(btssssuutt)))"
                                       "a(buu(bta(btbs)a(btssssuutt)a(btssssuutt)))a(ss)bs)";

static pid_t start_broker(int controller) {
    pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(controller, 3);
    // As much as it can count: none of its limits is met.
    execlp("dbus-broker", "dbus-broker", "--controller", "3", "--machine-id", "0123456789abcdef0123456789abcdef",
           "--max-bytes", "1000000000000", "--max-fds", "1000000", "--max-matches", "1000000", "--max-objects",
           "1000000000", NULL);
    _exit(127);
}

static size_t begin_array(struct writer *w) {
    dbus_u32(w, 0);
    size_t at = w->size;
    dbus_align(w, 8);
    return at;
}

// `at`: behind the array's size; the padding there isn't counted.
static void end_array(struct writer *w, size_t at) {
    uint32_t size = (uint32_t)(w->size - ((at + 7) & ~(size_t)7));
    memcpy(w->start + at - 4, &size, 4);
}

// All messages that anybody sends or gets.
static void allow_messages(struct writer *w) {
    size_t at = begin_array(w);
    dbus_align(w, 8);
    dbus_u32(w, 1);
    dbus_u64(w, 1);
    for (int i = 0; i < 4; i++) dbus_string(w, "");
    dbus_u32(w, 0);
    dbus_u32(w, 0);
    dbus_u64(w, 0);
    dbus_u64(w, UINT64_MAX);
    end_array(w, at);
}

// Everybody may connect, have any name, and send and get everything.
static void put_policy(struct writer *w) {
    dbus_signature(w, policy_signature);
    dbus_align(w, 8);
    size_t users = begin_array(w);
    dbus_u32(w, UINT32_MAX);
    dbus_align(w, 8);
    dbus_u32(w, 1);
    dbus_u64(w, 1);
    size_t names = begin_array(w);
    dbus_u32(w, 1);
    dbus_u64(w, 1);
    dbus_u32(w, 1);
    dbus_string(w, "");
    end_array(w, names);
    allow_messages(w);
    allow_messages(w);
    end_array(w, users);
    end_array(w, begin_array(w));
    end_array(w, begin_array(w));
    dbus_u32(w, 0);
    dbus_string(w, "session");
}

static void send_with_descriptor(struct connection *c, int descriptor) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {c->out, c->out_count};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    if (sendmsg(c->fd, &message, 0) != (ssize_t)c->out_count) fail("sendmsg: %s", strerror(errno));
    c->out_count = 0;
}

static void add_listener(struct connection *c, int listener) {
    struct writer w = dbus_begin(c, METHOD_CALL, 4096);
    w.start[2] = 0;
    dbus_string_field(&w, FIELD_PATH, 'o', "/org/bus1/DBus/Broker");
    dbus_string_field(&w, FIELD_INTERFACE, 's', "org.bus1.DBus.Broker");
    dbus_string_field(&w, FIELD_MEMBER, 's', "AddListener");
    dbus_field(&w, FIELD_UNIX_FDS, 'u');
    dbus_u32(&w, 1);
    dbus_signature_field(&w, "ohv");
    dbus_end_fields(&w);
    size_t body_at = w.size;
    dbus_string(&w, "/org/bus1/DBus/Listener/0");
    dbus_u32(&w, 0);
    put_policy(&w);
    dbus_end(&w, body_at);
    send_with_descriptor(c, listener);
    dbus_await_return(c);
}

static int listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("the path is too long: %s", path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 511) < 0)
        fail("%s: %s", path, strerror(errno));
    return fd;
}

void dbus_serve(const char *path) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) fail("socketpair: %s", strerror(errno));
    pid_t broker = start_broker(ends[1]);
    close(ends[1]);
    struct connection c;
    connection_adopt(&c, ends[0]);
    dbus_authenticate(&c, 1);
    int listener = listen_at(path);
    add_listener(&c, listener);
    close(listener);
    // The broker's process is the one that is measured.
    say("ready %d", broker);
    char byte;
    while (read(0, &byte, 1) > 0) continue;
    kill(broker, SIGKILL);
    waitpid(broker, NULL, 0);
}
