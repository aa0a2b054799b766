#include "launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void become(const char *const *words, int cpu, const int descriptors[4], pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    for (int i = 0; i < 4; i++) {
        if (descriptors[i] >= 0 && descriptors[i] != i) dup2(descriptors[i], i);
        if (descriptors[i] == i) fcntl(i, F_SETFD, 0);
    }
    if (descriptors[3] < 0) close(3);
    // Past 3 nothing is meant for it.
    for (int fd = 4; fd < 256; fd++) close(fd);
    execvp(words[0], (char *const *)words);
    fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

pid_t launch(const char *const *words, int cpu, const int descriptors[4]) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) become(words, cpu, descriptors, parent);
    return child < 0 ? -errno : child;
}

int launch_memory_file(const void *bytes, size_t count) {
    int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0) return -errno;
    for (size_t at = 0; at < count;) {
        ssize_t written = write(fd, (const char *)bytes + at, count - at);
        if (written < 0) return -errno;
        at += (size_t)written;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

int launch_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

int launch_listens(const char *path, int port) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (path != NULL) strncpy(local.sun_path, path, sizeof local.sun_path - 1);
    int fd = socket(path != NULL ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = path != NULL ? connect(fd, (struct sockaddr *)&local, sizeof local)
                              : connect(fd, (struct sockaddr *)&tcp, sizeof tcp);
    close(fd);
    return status == 0;
}

int launch_free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int failed = bind(fd, (struct sockaddr *)&address, size) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0;
    int port = failed ? -errno : ntohs(address.sin_port);
    close(fd);
    return port;
}
