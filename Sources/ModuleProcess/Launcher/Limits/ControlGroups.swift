import Glibc

/// The control group that was delegated to the launcher, and a child of it for each
/// process of a module: there the kernel itself holds modules to their memory.
///
/// Delegated is what systemd's `Delegate=yes` gives a service, and what a container
/// may have: a cgroup v2 with the memory controller, whose files the launcher may
/// write, and in which it is the only process. Nothing else is touched.
final class ControlGroups {
    /// Since processes may not be where children have controllers, the launcher and
    /// its broker move here.
    private static let own = "launcher"

    private let root: ControlGroup
    private let leaf: ControlGroup
    private let pid: Int32
    private var made = 0
    /// Some process was still there when they were to go.
    private var stale: [ControlGroup] = []

    /// Takes the folder of the launcher's own group.
    /// - Returns: nil where it was not delegated; nothing has changed then.
    init?(root path: String, pid: Int32) {
        root = ControlGroup(path: path)
        self.pid = pid
        guard root.holds("memory", in: "cgroup.controllers"), root.mayWrite("cgroup.procs"),
            root.mayWrite("cgroup.subtree_control"), root.processes == [pid],
            let leaf = ControlGroup.make("\(path)/\(Self.own)")
        else { return nil }
        self.leaf = leaf
        guard leaf.add(pid), root.write("+memory", to: "cgroup.subtree_control") else {
            _ = root.add(pid)
            _ = leaf.remove()
            return nil
        }
    }

    /// This process's own group, as the kernel says; nil where there is no cgroup v2.
    static func ownPath(membership: String, mounts: String) -> String? {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let own = line.dropFirst("0::".count)
        for mount in mounts.split(separator: "\n") {
            // … ROOT MOUNTPOINT OPTIONS … - TYPE …; a space in a path is \040.
            let words = mount.split(separator: " ")
            guard let dash = words.firstIndex(of: "-"), dash + 1 < words.count, words[dash + 1] == "cgroup2", dash > 5,
                !words[4].contains("\\")
            else { continue }
            let (base, point) = (words[3] == "/" ? "" : words[3], words[4])
            guard own == base || own.hasPrefix("\(base)/") else { continue }
            let rest = own.dropFirst(base.count)
            return rest == "/" ? String(point) : "\(point)\(rest)"
        }
        return nil
    }

    /// That of this process, where it is delegated.
    static func delegated() -> ControlGroups? {
        let files = ["cgroup", "mountinfo"].map { ControlGroup.text(of: "/proc/self/\($0)") }
        guard let path = ownPath(membership: files[0], mounts: files[1]) else { return nil }
        return ControlGroups(root: path, pid: getpid())
    }

    /// A new group for a process of a module.
    /// - Returns: nil where the kernel refuses.
    func make(_ module: String, memory: UInt64?) -> ControlGroup? {
        made += 1
        guard let group = ControlGroup.make("\(root.path)/\(module)-\(made)") else { return nil }
        guard group.limitMemory(memory) else {
            _ = group.remove()
            return nil
        }
        return group
    }

    /// Its process has ended: what is left there is killed, and it goes, where that
    /// takes a while with the next `sweep`.
    func end(_ group: ControlGroup) {
        group.kill()
        if !group.remove() { stale.append(group) }
    }

    /// Removes what could not be removed before; called each second.
    func sweep() {
        stale.removeAll { $0.remove() }
    }

    /// All is as it was before; called when no other process is left.
    func close() {
        sweep()
        _ = root.write("-memory", to: "cgroup.subtree_control")
        _ = root.add(pid)
        _ = leaf.remove()
    }
}
