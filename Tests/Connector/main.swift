import Glibc

// Connections from a separate process, as the user whose id may be given. So the kernel reports
// this process to the broker. It runs until it is killed or the test ends.
//
//     StrataConnector PATH [USER]           connects descriptor 3, a socket that it shares with
//                                           the test, and the test speaks on it
//     StrataConnector --listen PATH USER    listens, and accepts nothing
//     StrataConnector --flood PATH USER N   holds N silent connections, and reopens each one
//                                           that is closed

func address<Result>(_ path: String, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}

func connect(_ descriptor: Int32, to path: String) -> Bool { address(path) { connect(descriptor, $0, $1) == 0 } }

func become(_ user: String) {
    guard let user = UInt32(user), geteuid() == user || setgid(user) == 0 && setuid(user) == 0 else { exit(1) }
}

func say(_ isDone: Bool) { write(1, isDone ? "yes\n" : "no!\n", 4) }

/// Descriptor 1 reports the test's end.
let output = pollfd(fd: 1, events: 0, revents: 0)

func flood(_ path: String, _ count: Int) {
    func open() -> pollfd? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        return connect(descriptor, to: path) ? pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) : nil
    }
    let opened = (0..<count).compactMap { _ in open() }
    say(opened.count == count)
    var watched = [output] + opened
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while watched.count == count + 1 {
        _ = poll(&watched, nfds_t(watched.count), -1)
        if watched[0].revents != 0 { return }
        for index in watched.indices.dropFirst() where watched[index].revents != 0 {
            guard read(watched[index].fd, &buffer, buffer.count) <= 0 else { continue }
            close(watched[index].fd)
            guard let next = open() else { return }
            watched[index] = next
        }
    }
}

let words = CommandLine.arguments
if words[1] == "--flood" {
    become(words[3])
    flood(words[2], Int(words[4])!)  // because a test gives a number
} else if words[1] == "--listen" {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let isBound = address(words[2]) { bind(descriptor, $0, $1) == 0 }
    become(words[3])
    say(isBound && listen(descriptor, 1) == 0)
    var watched = output
    while poll(&watched, 1, -1) < 0 {}
} else {
    if words.count > 2 { become(words[2]) }
    let isDone = connect(3, to: words[1])
    close(3)
    say(isDone)
    var watched = output
    while isDone, poll(&watched, 1, -1) < 0 {}
}
