import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// A broker that may have fewer descriptors than connections.
@Suite(.timeLimit(.hang))
struct DescriptorLimitTests {
    /// Runs `strata-broker` behind a shell that first lowers its limit.
    private func run(limit: Int, _ test: (TestBus, String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let program = "\(folder.path)/broker"
        let broker = try BuiltExecutable.path("strata-broker")
        let script = "#!/bin/sh\nulimit -n \(limit)\nexec \"\(broker)\" \"$@\" 2>\(folder.path)/said\n"
        try WrittenProgram.write(script, to: program)
        try TestBus.run(.sixModules(), executable: program) { try test($0, "\(folder.path)/said") }
    }

    private func text(of file: String) -> String {
        guard let stream = fopen(file, "r") else { return "" }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, stream)], as: UTF8.self)
    }

    @Test(.promise("13.12")) func theLimitIsReportedAtTheStartAndOnRefusal() throws {
        try run(limit: 64) { bus, said in
            _ = try bus.launcher()
            let words = text(of: said)
            #expect(words.contains("may open 64 descriptors (RLIMIT_NOFILE)"), "\(words)")
            #expect(words.contains("takes 32 connections, not the 4096 of limits.connections"), "\(words)")
            let tools = try (0..<31).map { number in
                let tool = try bus.connect("tool \(number)")
                try tool.hello(role: "operator")
                return tool
            }
            let error = try bus.connect("one more").expectEnd("overloaded")
            #expect(error.message.contains("32 connections (RLIMIT_NOFILE, 64 descriptors)"), "\(error)")
            // The descriptors that the broker needs for itself are still there.
            try tools[1].asked("bus/handOver")
            tools[0].close()
            try tools[1].settle()
            try tools[1].settle()
            try bus.connect("next").hello(role: "operator")
        }
    }

    /// The limit is lowered while the broker runs. Open connections stay, and a new one gets an
    /// error.
    @Test(.promise("13.12")) func aConnectionWithoutADescriptorGetsAnError() throws {
        try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let broker = try #require(bus.brokerPID)
            let tool = try bus.operator()
            let kept = try bus.connect("kept")
            try kept.hello(role: "operator")
            // As many connections as there are gaps, and no more.
            let numbers = try descriptors(of: broker)
            let limit = Int(try #require(numbers.max())) + 1
            try ProcessControl.limitFiles(of: broker, to: UInt64(limit))
            for gap in numbers.count..<limit { try bus.connect("gap \(gap)").hello(role: "operator") }
            for _ in 0..<3 {
                let error = try bus.connect("one more").expectEnd("overloaded")
                #expect(error.message.contains("(RLIMIT_NOFILE)"), "\(error)")
            }
            try tool.settle()
            kept.close()
            try tool.settle()
            try tool.settle()
            try bus.connect("next").hello(role: "operator")
        }
    }

    /// Without even the spare descriptor, the listener rests. Otherwise the waiting connection
    /// would wake it in each round.
    @Test(.promise("13.12")) func aListenerWithoutDescriptorsRests() throws {
        try TestBus.run(.sixModules(), executable: try BuiltExecutable.path("strata-broker")) { bus in
            let broker = try #require(bus.brokerPID)
            let tool = try bus.operator()
            let watched = try watchedDescriptors(of: broker)
            try ProcessControl.limitFiles(of: broker, to: 4)
            _ = try bus.connect("waiting")
            var looks = 0
            while try watchedDescriptors(of: broker) == watched, looks < 1_000 {
                try tool.settle()
                looks += 1
            }
            #expect(looks < 1_000, "the listener is watched all the time")
        }
    }

    private func descriptors(of pid: Int32) throws -> [Int32] {
        let stream = try #require(opendir("/proc/\(pid)/fd"))
        defer { closedir(stream) }
        var numbers: [Int32] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }

    /// Returns what the process's event loops watch, according to the kernel.
    private func watchedDescriptors(of pid: Int32) throws -> Set<String> {
        var watched: Set<String> = []
        for descriptor in try descriptors(of: pid) {
            let lines = text(of: "/proc/\(pid)/fdinfo/\(descriptor)").split(separator: "\n")
            for line in lines where line.hasPrefix("tfd:") {
                watched.insert("\(line.split(separator: " ", maxSplits: 2).prefix(2))")
            }
        }
        return watched
    }
}
