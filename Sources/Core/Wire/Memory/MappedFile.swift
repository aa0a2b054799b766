internal import CUV
internal import Glibc

/// A memory-mapped file in memory whose size can't change any more. Whatever refers to its bytes
/// keeps it alive.
public final class MappedFile {
    public let bytes: UnsafeRawBufferPointer
    private let start: UnsafeMutableRawPointer
    /// Whether pages that are no longer needed are given back, one part after another.
    let givesPagesBack: Bool

    /// Maps the whole of a file that this process wrote; the caller keeps the descriptor.
    /// - Throws: also if the file could shrink below what is mapped.
    public init(_ descriptor: Int32) throws(SystemError) {
        guard Self.keepsItsSize(descriptor) else {
            throw SystemError(EINVAL, "map descriptor \(descriptor), which is not a sealed file in memory")
        }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0,
            // Writable, because the system takes pages back only from such a mapping.
            let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED
        else { throw SystemError(size > 0 ? errno : EINVAL, "map a file of \(size) bytes") }
        self.start = start
        bytes = UnsafeRawBufferPointer(start: start, count: size)
        givesPagesBack = true
    }

    /// Checks a file that somebody else wrote: whether nobody can change its bytes or its size any more,
    /// and all its pages are there. Then reading it never fails (SIGBUS), and gives the same each time.
    /// - Parameter count: the size that its sender said, in bytes.
    /// - Throws: `bad-params`.
    public static func check(sealed descriptor: Int32, count: Int) throws(BusError) {
        let size = strata_sealed_size(descriptor)
        guard size >= 0 else {
            throw BusError(
                .badParams,
                "its descriptor is no sealed file in memory without holes: make one with memfd_create, write it, and "
                    + "seal it with F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE")
        }
        guard size == count else {
            throw BusError(.badParams, "its header says \"memory\": \(count), and the file has \(size) bytes")
        }
    }

    /// Maps the whole of such a file, to read it; the caller keeps the descriptor.
    /// - Throws: `bad-params` as above, `overloaded` if it can't be mapped.
    public init(sealed descriptor: Int32, count: Int) throws(BusError) {
        try Self.check(sealed: descriptor, count: count)
        guard let start = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
            let code = errno
            throw BusError(
                code == EACCES ? .badParams : .overloaded,
                "a file of \(count) bytes can't be mapped: \(String(cString: strerror(code)))")
        }
        self.start = start
        bytes = UnsafeRawBufferPointer(start: start, count: count)
        givesPagesBack = false
    }

    /// Whether the file is in memory and its size is sealed.
    private static func keepsItsSize(_ descriptor: Int32) -> Bool {
        let seals = strata_seals(descriptor)
        return seals >= 0 && seals & 0x6 == 0x6
    }

    deinit { munmap(start, bytes.count) }

    /// Returns the whole pages inside a part, since only those can be given back.
    func pages(of part: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        guard let base = part.baseAddress else { return .init(start: nil, count: 0) }
        let from = base.alignedUp(toMultipleOf: 4096)
        let end = (base + part.count).alignedDown(toMultipleOf: 4096)
        return .init(start: UnsafeMutableRawPointer(mutating: from), count: max(0, end - from))
    }

    /// Gives pages back, in the file as well; their bytes are lost.
    func discard(_ pages: UnsafeMutableRawBufferPointer) {
        if givesPagesBack, let start = pages.baseAddress, pages.count > 0 { strata_remove_pages(start, pages.count) }
    }
}
