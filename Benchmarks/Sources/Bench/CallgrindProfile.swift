/// What callgrind counted in one run, or the difference of two.
struct CallgrindProfile {
    /// Instructions of each function itself, by its name.
    var instructions: [Substring: Int] = [:]
    /// How often each function was called.
    var calls: [Substring: Int] = [:]

    var total: Int { instructions.values.reduce(0, +) }

    /// Functions that take memory: each call is one allocation.
    private static let allocators: [Substring] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]

    var allocations: Int { Self.allocators.reduce(0) { $0 + (calls[$1] ?? 0) } }

    /// What this run had more than a shorter one.
    func minus(_ shorter: CallgrindProfile) -> CallgrindProfile {
        var difference = self
        difference.instructions.merge(shorter.instructions.mapValues { -$0 }, uniquingKeysWith: +)
        difference.calls.merge(shorter.calls.mapValues { -$0 }, uniquingKeysWith: +)
        return difference
    }

    /// Functions by what they cost themselves, the dearest first.
    var dearest: [(name: Substring, instructions: Int)] {
        instructions.map { ($0.key, $0.value) }.sorted { ($0.1, $1.0) > ($1.1, $0.0) }
    }

    /// Reads callgrind's file. A name is written out once and then given by its
    /// number; the line behind `calls=` has the callee's cost, which isn't the
    /// function's own.
    init(parsing text: String) throws {
        var names: [Substring: Substring] = [:]
        func name(_ field: Substring) -> Substring {
            guard field.first == "(", let close = field.firstIndex(of: ")") else { return field }
            let number = field[...close]
            let rest = field[field.index(after: close)...].drop { $0 == " " }
            if !rest.isEmpty { names[number] = rest }
            return names[number] ?? number
        }
        var function: Substring = ""
        var callee: Substring = ""
        var isCallsCost = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("fn=") {
                function = name(line.dropFirst(3))
            } else if line.hasPrefix("cfn=") {
                callee = name(line.dropFirst(4))
            } else if line.hasPrefix("calls=") {
                calls[callee, default: 0] += Int(line.dropFirst(6).prefix { $0 != " " }) ?? 0
                isCallsCost = true
            } else if let first = line.first, first.isNumber || first == "+" || first == "-" || first == "*" {
                let cost = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                if !isCallsCost { instructions[function, default: 0] += cost ?? 0 }
                isCallsCost = false
            }
        }
        guard !instructions.isEmpty else { throw Failure("callgrind's file has no costs") }
    }
}
