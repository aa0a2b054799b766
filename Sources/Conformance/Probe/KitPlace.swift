internal import CUV
internal import Glibc
import StrataCore

/// Where the kit plays the broker: a listening socket in a folder of its own, which is removed at the end.
package final class KitPlace {
    /// The socket's path.
    package let path: String
    private let folder: String
    private let listener: Int32
    /// SIGINT and SIGTERM arrive here, so that the folder is removed and the program is killed.
    private let signals: Int32

    package init() throws(ConformanceError) {
        // In /tmp, because a socket's path has at most 107 bytes, and TMPDIR may be long.
        var template = Array("/tmp/strata-c-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ConformanceError.system("make a folder in /tmp", errno) }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        path = folder + "/probe.sock"
        signals = strata_interruptions()
        listener = strata_unix_socket()
        guard strata_unix_bind(listener, path) == 0, listen(listener, 16) == 0 else {
            throw ConformanceError.system("listen at \(path)", errno)
        }
    }

    deinit {
        close(listener)
        close(signals)
        unlink(path)
        rmdir(folder)
    }

    /// Waits for the next connection of the client; nil if none comes in time.
    package func accept(from program: ProbeProgram, until moment: Moment) throws(Finding) -> ProbeConnection? {
        while true {
            let descriptor = strata_accept(listener)
            if descriptor >= 0 { return ProbeConnection(descriptor) }
            // Looks again after the end: it may have connected before that.
            if program.end != nil { return nil }
            guard try wait(program, listener, Int16(POLLIN), until: moment) else { return nil }
        }
    }

    /// Drops connections that nobody has accepted.
    package func dropWaiting() {
        while case let descriptor = strata_accept(listener), descriptor >= 0 {
            close(descriptor)
        }
    }

    /// Waits until the descriptor is ready or the program has written something or ended.
    /// - Returns: whether that came before the moment.
    package func wait(
        _ program: ProbeProgram, _ descriptor: Int32, _ events: Int16, until moment: Moment
    ) throws(Finding) -> Bool {
        var watched = [pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
        if descriptor >= 0 { watched.append(pollfd(fd: descriptor, events: events, revents: 0)) }
        watched += program.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = poll(&watched, nfds_t(watched.count), moment.left)
        if watched[0].revents != 0 { throw Finding.interruption }
        if count > 0 { program.readOutput() }
        return count != 0
    }
}
