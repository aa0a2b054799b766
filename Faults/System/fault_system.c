#include "fault_system.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

pid_t fault_launch(const char *const *words, const char *const *environment, int output, int network) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child < 0 ? -errno : child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before prctl took effect.
    if (getppid() != parent) _exit(127);
    setsid();
    if (network >= 0 && setns(network, CLONE_NEWNET) < 0) _exit(126);
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(output, 1);
    dup2(output, 2);
    for (int fd = 3; fd < 256; fd++) close(fd);
    execve(words[0], (char *const *)words, (char *const *)environment);
    fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

int fault_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0; }

static int is_connection_to(int fd, const char *path) {
    struct sockaddr_un peer = {0};
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX &&
           strncmp(peer.sun_path, path, sizeof peer.sun_path) == 0;
}

int fault_cut(pid_t pid, const char *path) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process < 0) return -errno;
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd", pid);
    DIR *folder = opendir(name);
    int count = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        int copy = (int)syscall(SYS_pidfd_getfd, process, atoi(entry->d_name), 0);
        if (copy < 0) continue;
        if (entry->d_name[0] != '.' && is_connection_to(copy, path)) {
            shutdown(copy, SHUT_RDWR);
            count++;
        }
        close(copy);
    }
    if (folder != NULL) closedir(folder);
    close(process);
    return count;
}

int fault_private_disk(const char *path, size_t bytes) {
    char options[64];
    snprintf(options, sizeof options, "size=%zu,mode=0700", bytes);
    if (unshare(CLONE_NEWNS) < 0) return -errno;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return -errno;
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0 ? -errno : 0;
}

int fault_listens(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
    return status == 0;
}

int fault_network(void) {
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (own < 0) return -errno;
    int made = -1;
    if (unshare(CLONE_NEWNET) == 0) made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int code = errno;
    // A process in the wrong network can't do anything of what follows.
    if (setns(own, CLONE_NEWNET) < 0) abort();
    close(own);
    return made < 0 ? -code : made;
}

int fault_free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = bind(fd, (struct sockaddr *)&address, sizeof address);
    if (status == 0) status = getsockname(fd, (struct sockaddr *)&address, &size);
    int port = status < 0 ? -errno : ntohs(address.sin_port);
    close(fd);
    return port;
}

void fault_end_private_disk(const char *path) { umount2(path, MNT_DETACH); }

int fault_limit_files(pid_t pid, long bytes) {
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) < 0) return -errno;
    limit.rlim_cur = bytes < 0 ? limit.rlim_max : (rlim_t)bytes;
    return prlimit(pid, RLIMIT_FSIZE, &limit, NULL) < 0 ? -errno : 0;
}
