import Glibc

/// The control group that was delegated to the launcher, with a child group for each process of a
/// module. The kernel enforces the modules' memory limits there.
///
/// A group is delegated by systemd's `Delegate=yes`, for example, or in a container. It is a cgroup
/// v2 with the memory controller whose files the launcher may write, and the launcher is its only
/// process. No other group is touched.
final class ControlGroups {
    /// The child group that the launcher and its broker move to: a group whose children have
    /// controllers may not contain processes.
    private static let own = "launcher"

    private let root: ControlGroup
    private let leaf: ControlGroup
    private let pid: Int32
    private var made = 0
    /// Groups that still contained a process when they were to be removed.
    private var stale: [ControlGroup] = []

    /// Takes over the folder of the launcher's own group.
    /// - Returns: Nil if the group was not delegated; nothing has changed then.
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

    /// Returns the path of this process's own group; nil if there is no cgroup v2.
    static func ownPath(membership: String, mounts: String) -> String? {
        guard let line = membership.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let own = line.dropFirst("0::".count)
        for mount in mounts.split(separator: "\n") {
            // The format is … ROOT MOUNTPOINT OPTIONS … - TYPE …; a space in a path is written as
            // \040.
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

    /// Takes over this process's own group; nil if it was not delegated.
    static func delegated() -> ControlGroups? {
        let files = ["cgroup", "mountinfo"].map { ControlGroup.text(of: "/proc/self/\($0)") }
        guard let path = ownPath(membership: files[0], mounts: files[1]) else { return nil }
        return ControlGroups(root: path, pid: getpid())
    }

    /// Creates a group for a process of a module.
    /// - Returns: Nil if the kernel refuses.
    func make(_ module: String, memory: UInt64?) -> ControlGroup? {
        made += 1
        guard let group = ControlGroup.make("\(root.path)/\(module)-\(made)") else { return nil }
        guard group.limitMemory(memory) else {
            _ = group.remove()
            return nil
        }
        return group
    }

    /// Kills what is left in the group of an ended process, and removes the group. If that takes a
    /// while, the next `sweep` removes it.
    func end(_ group: ControlGroup) {
        group.kill()
        if !group.remove() { stale.append(group) }
    }

    /// Removes the groups that could not be removed before. Called each second.
    func sweep() {
        stale.removeAll { $0.remove() }
    }

    /// Restores the original state. Called when no other process is left.
    func close() {
        sweep()
        _ = root.write("-memory", to: "cgroup.subtree_control")
        _ = root.add(pid)
        _ = leaf.remove()
    }
}
