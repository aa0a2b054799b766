import Glibc

// Connects descriptor 3, a socket that is shared with the test, to the path that
// is given: the connection is this process's then, as the kernel tells the
// broker, and the test speaks on it. Stays until it is killed or the test ends.

var address = sockaddr_un()
address.sun_family = sa_family_t(AF_UNIX)
withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: CommandLine.arguments[1].utf8) }
let status = withUnsafePointer(to: &address) { address in
    address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(3, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
}
close(3)
write(1, status == 0 ? "yes\n" : "no!\n", 4)
var output = pollfd(fd: 1, events: 0, revents: 0)
while status == 0, poll(&output, 1, -1) < 0 {}
